#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program under a filter that ends it at getrusage and at the CPU time of the thread: with
STINT_WAITS=0 it runs to its end and has its report and its run file, by default it does not.

    sandbox_test.py TOOL PROGRAM CASE
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

SKIP = 77
ENDS = 3  # what the program returns at its end
SCOPES = 40

TOOL, PROGRAM, CASE = sys.argv[1:4]


def check(holds, *what):
    if not holds:
        sys.exit("\n".join(str(part) for part in what))


def run_program(*arguments, **settings):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    kept.update(settings, STINT_REPORT="table")
    done = subprocess.run([PROGRAM, *arguments], env=kept, text=True, capture_output=True,
                          check=False, timeout=300)
    if done.returncode == SKIP:
        print(done.stderr)
        sys.exit(SKIP)
    return done


def test_waits_off(folder):
    done = run_program(STINT_WAITS="0", STINT_FILE=str(folder / "run.stint"))
    check(done.returncode == ENDS, "exit status %d" % done.returncode, done.stdout, done.stderr)
    check(re.search(r"^long +%d " % SCOPES, done.stderr, re.M), done.stderr)
    usage = re.search(r"^peak RSS ([\d.]+) MiB, page faults (\d+) minor, \d+ major$", done.stderr,
                      re.M)
    check(usage and float(usage[1]) > 0 and int(usage[2]) > 0, done.stderr)
    exported = subprocess.run([TOOL, "export", "--to", "json", "-o", "-", folder / "run.stint"],
                              capture_output=True, text=True, check=True, timeout=300)
    rows = [(row["name"], row["calls"]) for row in json.loads(exported.stdout)["stats"]]
    check(rows == [("long", SCOPES)], rows)


def test_waits_on(folder):
    """The filter ends a process at either call: the other case would fail without STINT_WAITS=0."""
    for call in ("getrusage", "clock_gettime"):
        done = run_program(call, STINT_FILE=str(folder / "run.stint"))
        check(done.returncode == -signal.SIGSYS and "scopes end" not in done.stdout,
              "%s: exit status %d" % (call, done.returncode), done.stdout, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        {"waits_off": test_waits_off, "waits_on": test_waits_on}[CASE](pathlib.Path(folder))


if __name__ == "__main__":
    main()
