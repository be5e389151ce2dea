# SPDX-License-Identifier: Apache-2.0
"""A program that uses only one kind of call gets its report at exit from libstint.a. No such
program refers to the constructors and the exit report; they come with the archive's member that it
calls (session_is_linked in runtime/base/api.h)."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

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
}
SECTIONS = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
WAYS = {  # how it is compiled and linked
    "plain": [],
    "gc_sections": SECTIONS,
    "optimised": ["-O2"] + SECTIONS,
}
SOURCE = """#include "stint/stint.h"
int main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    %s
    return 0;
}
"""


def check_program(options, folder, name, way):
    """Builds and runs a program. Returns the fault, or None."""
    statements, words = PROGRAMS[name]
    source = folder / (name + ".c")
    program = folder / (name + "_" + way)
    source.write_text(SOURCE % statements, encoding="utf-8")
    command = [*options.cc.split(";"), *options.flags.split(), *WAYS[way], "-std=gnu11",
               "-I", options.include, source, options.archive, "-o", program,
               "-pthread", "-ldl", "-lm"]
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           check=False)
    if built.returncode:
        return built.stdout
    env = {key: value for key, value in os.environ.items() if not key.startswith("STINT_")}
    done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**env, "STINT_REPORT": "table", "STINT_WAITS": "0"}, check=False)
    missing = [word for word in words if word not in done.stderr]
    if done.returncode or missing:
        return "status %d, lacks %s in:\n%s" % (done.returncode, missing, done.stderr)
    if not words and done.stderr:
        return "a program without timers prints:\n%s" % done.stderr
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--flags", default="")
    parser.add_argument("--include")
    parser.add_argument("--archive")
    parser.add_argument("program", nargs="?", choices=sorted(PROGRAMS))
    options = parser.parse_args()
    if options.list:
        print("\n".join(PROGRAMS))
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            wrong = check_program(options, pathlib.Path(folder), options.program, way)
            if wrong:
                failed = 1
                print("%s, %s: %s" % (options.program, way, wrong))
    return failed


if __name__ == "__main__":
    sys.exit(main())
