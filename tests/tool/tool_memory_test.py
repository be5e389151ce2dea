#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory of stint report grows by at most so many bytes with each name of the run file.

    tool_memory_test.py TOOL PROGRAM VIEW

The peak of the tool is counted without the blocks of the file. Two sizes: what each name adds
is the slope between them.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from cases import environment

TOOL, PROGRAM, VIEW = sys.argv[1:4]
FEW, MANY = 30000, 90000
BYTES_PER_NAME = {"table": 2000, "tree": 2000}


def is_sanitized():
    """The memory of a sanitizer is not the tool's."""
    with open(TOOL, "rb") as file:
        text = file.read()
    return any(name in text for name in (b"__asan_init", b"__tsan_init", b"__msan_init"))


def peak_bytes(file):
    """Beyond those of the file."""
    process = subprocess.Popen([TOOL, "report", "--view", VIEW, file], stdout=subprocess.DEVNULL,
                               env=environment())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.WEXITSTATUS(status)
    if status:
        sys.exit("stint report %s: status %d" % (file, status))
    return usage.ru_maxrss * 1024 - os.stat(file).st_blocks * 512


def main():
    if is_sanitized():
        print("skipped: a sanitizer's memory is not the tool's")
        return 77
    peak = {}
    with tempfile.TemporaryDirectory() as folder:
        for names in (FEW, MANY):
            file = str(pathlib.Path(folder) / ("%d.stint" % names))
            subprocess.run([PROGRAM, "many", str(names)], check=True, stderr=subprocess.DEVNULL,
                           env=environment(STINT_FILE=file, STINT_MEMORY="1024M"))
            peak[names] = peak_bytes(file)
    per_name = (peak[MANY] - peak[FEW]) / (MANY - FEW)
    print("%s: %.0f bytes for each name, limit %d" % (VIEW, per_name, BYTES_PER_NAME[VIEW]))
    return int(not 0 < per_name <= BYTES_PER_NAME[VIEW])


sys.exit(main())
