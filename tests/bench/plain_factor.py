#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plain_factor.py CC CXX LIBRARY TOOL REPORT_COST: the cost of a scope that is built without -O.

CC and CXX compile plain_program.c with the headers of this source, CXX may be empty; REPORT_COST is
the file with PLAIN_TENTHS, which has to be within 20 % of how many instructions a scope of -O0
executes for each of one of -Og and of -O2, by callgrind. The reports of copies of their runs
by `stint merge` say which of them are built so.
"""
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import instructions

WITHIN = 0.2
HERE = pathlib.Path(__file__).resolve().parent


def build(folder, compiler, library, inline, level):
    language = "c++" if compiler == sys.argv[2] else "c"
    program = folder / ("%s%s%s" % (language, inline, level))
    subprocess.run([compiler, level, "-DWITH_TIMER", "-DSTINT_INLINE=" + inline,
                    "-I", HERE.parents[1] / "include", "-x", language, HERE / "plain_program.c",
                    "-x", "none", library, "-Wl,-rpath," + str(library.parent), "-o", program],
                   check=True)
    return program


def check_footer(program, tool):
    """The report of a copy of the program's run file."""
    file, copy = program.with_suffix(".stint"), program.with_suffix(".copy")
    subprocess.run([program], env=instructions.settings_of({"STINT_FILE": str(file)}), check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([tool, "merge", "-o", copy, file], check=True)
    text = subprocess.check_output([tool, "report", copy], text=True)
    said = re.search(r"^stint cost .* in all, 17792 calls of code built without -O;", text, re.M)
    if bool(said) != program.name.endswith("-O0"):
        sys.exit("plain_factor.py: %s: the footer is wrong:\n%s" % (program.name, text))


def main():
    *compilers, library, tool, source = sys.argv[1:]
    text = pathlib.Path(source).read_text(encoding="utf-8")
    factor = int(re.search(r"#define PLAIN_TENTHS (\d+)", text)[1]) / 10
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for compiler, inline in itertools.product(filter(None, compilers), "12"):
            programs = [build(pathlib.Path(folder), compiler, pathlib.Path(library), inline, level)
                        for level in ("-O0", "-Og", "-O2")]
            for program in programs:
                check_footer(program, tool)
            if not shutil.which("valgrind"):
                continue
            plain, *others = [instructions.count(str(program), ["one"], {}, False)[0][("all", "one")]
                              for program in programs]
            for program, other in zip(programs[1:], others):
                ratio = plain[0] / other[0]
                print("%s: %.0f instructions, -O0 %.0f: %.2f times" %
                      (program.name, other[0], plain[0], ratio))
                wrong += abs(factor / ratio - 1) > WITHIN
    if not shutil.which("valgrind"):
        print("skipped: no valgrind here; the footers are right")
        return instructions.SKIP
    if wrong:
        print("%d are not within %.0f %% of the factor, %.1f" % (wrong, 100 * WITHIN, factor))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
