#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A range of another interface executes at most as many instructions as a dynamic scope.

    cost_test.py BENCH LIBRARY

BENCH is ranges_bench.c, whose loops callgrind counts: the counts do not depend on what else the
machine does. Exit status 77: there is no valgrind.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 1.0
SCOPES = "run_scopes"
LOOPS = ("run_roctx", "run_kokkos", "run_fences", "run_itt", "run_ompt")


def count(loop, bench, library, folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
         f"--toggle-collect={loop}", bench, library, "3"],
        env={**env, "STINT_CLOCK": "tsc", "STINT_REPORT": "off",
             "STINT_WAITS": "0"}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=280, check=False, text=True)
    found = re.search(r"Collected : (\d+)", done.stdout)
    if done.returncode or not found:
        sys.exit(done.stdout)
    return int(found.group(1))


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        scopes = count(SCOPES, *sys.argv[1:], folder)
        ratios = {loop: count(loop, *sys.argv[1:], folder) / scopes for loop in LOOPS}
    for loop, ratio in ratios.items():
        print(f"{loop}: {ratio:.2f} of {SCOPES}")
    return max(ratios.values()) > MOST


sys.exit(main())
