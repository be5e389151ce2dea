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
import subprocess
import sys
import tempfile

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


def run(*command, env=None):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env,
                          check=False)


def defined(path):
    """The global names of a file; those that a sanitizer adds begin with an underscore."""
    lines = run("nm", "-g", "--defined-only", path).stdout.splitlines()
    names = {line.split()[-1] for line in lines if re.match(r"[0-9a-f-]+ ", line)}
    return {name for name in names if not name.startswith("_")}


class Builder:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def check(self, compiler, name, source, words, way="plain"):
        """Builds and runs a program. Returns a list of faults."""
        file, program = self.folder / "program.c", self.folder / "program"
        off = "#undef WITH_TIMER\n#undef WITH_PROFILER\n" if name == "off" else ""
        file.write_text(off + source, encoding="utf-8")
        built = run(*compiler.split(), *WAYS[way], "-std=gnu11", "-DWITH_TIMER", "-DWITH_PROFILER",
                    "-I", self.options.include, file, self.options.file, "-o", program,
                    "-pthread", "-ldl", "-lm")
        if built.returncode:
            return [built.stderr]
        env = {key: value for key, value in os.environ.items() if not key.startswith("STINT_")}
        done = run(program, env={**env, "STINT_REPORT": "table", "STINT_WAITS": "0"})
        faults = ["no %s" % word for word in words if word not in done.stderr]
        if done.returncode or (done.stderr and not words):
            faults.append("status %d" % done.returncode)
        if name in UNUSED:
            faults += ["takes " + taken for taken in defined(program)
                       if re.match(UNUSED[name], taken)]
        return faults + [done.stderr] if faults else []


def check_all(options, folder):
    there = defined(options.file)
    yield "names", sorted(name for name in there if not name.startswith("stint_"))
    names = [name for name in link_names.find_names() if INTERNAL + name in there]
    yield "names", ["few: %d" % len(names)] if len(names) < 500 else []
    builder = Builder(options, folder)
    functions = "".join("int %s(void) {\n    return %d;\n}\n" % (name, number)
                        for number, name in enumerate(names))
    functions += "static int (*const own[])(void) = {%s};" % ", ".join(names)
    for compiler in filter(lambda one: shutil.which(one.split()[0]), options.cc):
        source = SOURCE % (functions, OWN % len(names))
        yield compiler + ", names", builder.check(compiler, "names", source, ROW)
    for name, (statements, words) in PROGRAMS.items():
        for way in WAYS if options.file.endswith(".a") else ():
            yield "%s, %s" % (name, way), builder.check(options.cc[0], name,
                                                        SOURCE % ("", statements), words, way)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--include", required=True)
    parser.add_argument("--cc", action="append", required=True)
    parser.add_argument("file")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, faults in check_all(options, pathlib.Path(folder)):
            if faults:
                failed = 1
                print("%s: %s" % (what, "\n".join(faults)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
