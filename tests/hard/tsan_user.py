#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program under ThreadSanitizer with the ordinary shared library and the suppression file that is
installed: no race is reported.

    tsan_user.py --cc CC --source ROOT --library FILE
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

SKIP = 77
RUNS = 5 # which threads meet is chance


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cc", required=True)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--library", required=True, type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder, "program"))
        built = subprocess.run(
            [options.cc, "-O1", "-g", "-fsanitize=thread", "-DWITH_TIMER",
             f"-I{options.source}/include", str(options.source / "tests/hard/tsan_user.c"),
             str(options.library), f"-Wl,-rpath,{options.library.parent}", "-pthread",
             "-o", program], capture_output=True, text=True, check=False)
        if built.returncode:
            print(f"skipped: {options.cc} does not build with -fsanitize=thread\n{built.stderr}")
            return SKIP
        suppressions = options.source / "packaging/tsan.supp"
        environment = dict(os.environ, TSAN_OPTIONS=f"suppressions={suppressions}")
        for _ in range(RUNS):
            done = subprocess.run([program], env=environment, capture_output=True, text=True,
                                  check=False)
            if "unexpected memory mapping" in done.stderr:
                print("skipped: ThreadSanitizer cannot map its memory on this machine")
                return SKIP
            if done.returncode or "WARNING: ThreadSanitizer" in done.stderr:
                print(f"exit code {done.returncode}\n{done.stderr[-4000:]}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
