#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long `stint report` takes on a large file.

    tool_report.py TOOL PROGRAM [NAMES]

PROGRAM is tests/tool/tool_program.c; NAMES distinct names (default 40 000) make a file of some
100 MB. Prints the least of five times for each view. Figures, no test.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def main():
    tool, program = sys.argv[1:3]
    names = sys.argv[3] if len(sys.argv) > 3 else "40000"
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        file = pathlib.Path(folder) / "r.stint"
        subprocess.run([program, "many", names], check=True,
                       env=dict(os.environ, STINT_FILE=str(file), STINT_MEMORY="1024M"))
        info = subprocess.run([tool, "info", str(file)], check=True, stdout=subprocess.PIPE).stdout
        used = int(next(l for l in info.decode().split("\n") if l.startswith("in use")).split()[2])
        for view in ("table", "tree", "legacy"):
            least = float("inf")
            for _ in range(5):
                begin = time.perf_counter()
                subprocess.run([tool, "report", "--view", view, str(file)], check=True,
                               stdout=subprocess.DEVNULL)
                least = min(least, time.perf_counter() - begin)
            print("%-7s %s names, %.0f MB: %.3f s, %.2f s for 100 MB"
                  % (view, names, used / 1e6, least, least / used * 1e8))
    return 0


if __name__ == "__main__":
    sys.exit(main())
