# SPDX-License-Identifier: Apache-2.0
"""A program may have functions named like those inside the library: no global name of libstint.a, or
of the amalgamated stint.c, is without the prefix stint_.

    own_names.py --include DIR [--cc CC]... FILE   FILE: the archive or the object
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "gen"))

import link_names

INTERNAL = "stint_internal_"  # the prefix of names that are not in the headers
# A program takes of an archive what it needs: without timers nothing, with them no exports.
UNUSED = {"on": INTERNAL + "(export|job)_", "off": "stint_"}
HEAD = """#include <stdio.h>
#include <stint/stint.h>
#define OWN(name, number) int name(void) { return number; }
"""
MAIN = """int main(void) {
    int right = 0;
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
        STINT_TIMER("call");
        right += own[i]() == (int)i;
    }
    printf("%d\\n", right);
    return 0;
}
"""


def run(*command):
    env = {key: value for key, value in os.environ.items() if not key.startswith("STINT_")}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**env, "STINT_REPORT": "table"}, check=False)
    if done.returncode:
        sys.exit("%s\n%s%s" % (" ".join(map(str, command)), done.stdout, done.stderr))
    return done


def defined(path):
    """The global names of a file; those that a sanitizer adds begin with an underscore."""
    lines = run("nm", "-g", "--defined-only", path).stdout.splitlines()
    names = {line.split()[-1] for line in lines if re.match(r"[0-9a-f-]+ ", line)}
    return {name for name in names if not name.startswith("_")}


def check_program(compiler, options, names, folder):
    """A program that defines each of the names gets its own functions, and a report."""
    source = folder / "own.c"
    source.write_text(HEAD + "".join("OWN(%s, %d)\n" % (name, number)
                                     for number, name in enumerate(names)) +
                      "static int (*const own[])(void) = {%s};\n" % ", ".join(names) + MAIN)
    program = folder / "own"
    for switch in ["on", "off"] if options.file.endswith(".a") else ["on"]:
        run(*compiler.split(), *(["-DWITH_TIMER"] if switch == "on" else []), "-I", options.include,
            source, options.file, "-o", program, "-pthread", "-ldl", "-lm")
        done = run(program)
        calls = re.findall(r"(?m)^call +(\d+) ", done.stderr)
        count = [str(len(names))]
        if done.stdout.split() != count or calls != (count if switch == "on" else []):
            sys.exit("%s, %s: expected %s functions of the program, and calls if it is on:\n%s%s" % (
                compiler, switch, count, done.stdout, done.stderr))
        if options.file.endswith(".a"):
            taken = [name for name in defined(program) if re.match(UNUSED[switch], name)]
            if taken:
                sys.exit("%s, %s: the program has taken %s" % (compiler, switch, sorted(taken)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--include", required=True)
    parser.add_argument("--cc", action="append", default=[])
    parser.add_argument("file")
    options = parser.parse_args()
    there = defined(options.file)
    short = sorted(name for name in there if not name.startswith("stint_"))
    if short:
        sys.exit("%s: global names without a prefix: %s" % (options.file, " ".join(short)))
    names = [name for name in link_names.find_names() if INTERNAL + name in there]
    if len(names) < 500:
        sys.exit("%s: has only %d names with %s" % (options.file, len(names), INTERNAL))
    with tempfile.TemporaryDirectory() as folder:
        for compiler in options.cc:
            if shutil.which(compiler.split()[0]):
                check_program(compiler, options, names, pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
