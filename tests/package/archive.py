# SPDX-License-Identifier: Apache-2.0
"""Programs that contain the runtime, as libstint.a or as the object of the amalgamated stint.c.

    archive.py --include DIR --cc CC [--cc CC]... FILE   FILE: the archive or the object

Each of its global names begins with stint_: a program with own functions of all internal names
links, and calls its own. A program that uses one kind of call gets its report at exit from the
archive: none refers to the constructors and the exit report, which come with the member that it
calls (session_is_linked in runtime/base/api.h). With timers off it takes nothing of the archive.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys
import tempfile

from package import expect, run

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "gen"))

import link_names

INTERNAL = "stint_internal_"  # the prefix of names that are in no header
# A program leaves this in the archive: with timers off all, with them what exports and joins jobs.
UNUSED = {"off": "stint_", "timer": INTERNAL + "(export|job)_"}
REPORT = ("stint table: ", "stint cost ")
ROW = REPORT + ("alone",)
LINE = ('Enable GPU Profiler Stat: [alone] "batch=1"',)
STATUS = ("======= StatSet: [GlobalStatInfo] status ======",)
PROGRAMS = {  # its only statements; what stderr must contain
    "timer": ('REGISTER_TIMER("alone");', ROW),
    "sample": ('stint_sample_add("alone", 1000);', ROW),
    "handle": ('static stint_timer h; TIMER_BEGIN(h, "alone"); TIMER_END(h);', ROW),
    "dynamic": ("REGISTER_TIMER_DYNAMIC(argv[0] ? \"alone\" : argv[0]);", ROW),
    "capture": ('REGISTER_GPU_PROFILER("alone", "batch=1");', LINE),
    "status": ("printAllStatus();", STATUS),
    "nothing": ("", ()),
    "off": ('REGISTER_TIMER("alone");', ()),
}
SECTIONS = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
WAYS = {  # how it is compiled and linked
    "plain": [],
    "gc_sections": SECTIONS,
    "optimised": ["-O2"] + SECTIONS,
}
SOURCE = """#include "stint/stint.h"
%s
int main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    %s
    return 0;
}
"""
OWN = """    for (int i = 0; i < %d; i++) {
        REGISTER_TIMER("alone");
        if (own[i]() != i) {
            return 1;
        }
    }
"""


def defined(path):
    """The global names of a file. Those that a sanitizer adds begin with an underscore; NVTX's headers
    define weak ones, of which a program has one for all its parts."""
    lines = run("nm", "-g", "--defined-only", path).splitlines()
    names = {line.split()[-1] for line in lines if re.match(r"[0-9a-f-]+ ", line)
             and not re.search(r" [VW] (nvtx|InitializeInjectionNvtx)", line)}
    return {name for name in names if not name.startswith("_")}


def check(options, compiler, name, source, words, way="plain"):
    """Builds and runs a program."""
    what = "%s, %s, %s" % (compiler, name, way)
    off = "#undef WITH_TIMER\n#undef WITH_PROFILER\n" if name == "off" else ""
    with tempfile.TemporaryDirectory() as folder:
        file, program = pathlib.Path(folder, "program.c"), pathlib.Path(folder, "program")
        file.write_text(off + source, encoding="utf-8")
        run(*compiler.split(), *WAYS[way], "-std=gnu11", "-DWITH_TIMER", "-DWITH_PROFILER", "-I",
            options.include, file, options.file, "-o", program, "-pthread", "-ldl", "-lm")
        said = run(program, env={"STINT_REPORT": "table", "STINT_WAITS": "0"})
        taken = defined(program)
    if not all(word in said for word in words) or (said and not words):
        sys.exit("%s: expected %s\n%s" % (what, words, said))
    expect(what, [one for one in taken if re.match(UNUSED.get(name, "$"), one)], [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--include", required=True)
    parser.add_argument("--cc", action="append", required=True)
    parser.add_argument("file")
    options = parser.parse_args()
    for key in [key for key in os.environ if key.startswith("STINT_")]:
        del os.environ[key]
    there = defined(options.file)
    expect("names", sorted(name for name in there if not name.startswith("stint_")), [])
    names = [name for name in link_names.find_names() if INTERNAL + name in there]
    expect("many of %d names" % len(names), len(names) >= 500, True)
    functions = "".join("int %s(void) {\n    return %d;\n}\n" % (name, number)
                        for number, name in enumerate(names))
    functions += "static int (*const own[])(void) = {%s};" % ", ".join(names)
    for compiler in filter(lambda one: shutil.which(one.split()[0]), options.cc):
        check(options, compiler, "names", SOURCE % (functions, OWN % len(names)), ROW)
    for name, (statements, words) in PROGRAMS.items():
        for way in WAYS if options.file.endswith(".a") else ():
            check(options, options.cc[0], name, SOURCE % ("", statements), words, way)


if __name__ == "__main__":
    main()
