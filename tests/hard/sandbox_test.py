#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program under a filter that ends it at all system calls but those of the table in
docs/guarantees.md, by what it does. With STINT_WAITS=0 it runs to its end and has its report and
its run file where getrusage and the CPU time of the thread are forbidden, by default it does not.

    sandbox_test.py TOOL PROGRAM CASE
"""
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "guarantees.md"
CLOCK = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
IN_USER_SPACE = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
OWN = ("clock_nanosleep", "nanosleep", "exit_group")
SKIP = 77
ENDS = 3  # what the program returns at its end
LONG = 40

TOOL, PROGRAM, CASE = sys.argv[1:4]

TABLE = PAGE.read_text().split("| what the program does | system calls |\n|---|---|\n")[1]
SCOPES, FILE, WAITS, LINE, REPORT, THREADS = (
    re.findall(r"`(\w+)`", line.split("|")[2]) for line in TABLE.split("\n\n")[0].splitlines())


def check(holds, *what):
    if not holds:
        sys.exit("\n".join(str(part) for part in what))


def run_only(calls, more, **settings):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    done = subprocess.run([PROGRAM, ",%s," % ",".join([*calls, *OWN]), more], text=True,
                          env={**kept, **settings}, capture_output=True, check=False, timeout=300)
    if done.returncode == SKIP:
        print(done.stderr)
        sys.exit(SKIP)
    return done.returncode, done.stderr


def test_waits_off(folder):
    status, said = run_only(SCOPES + THREADS + FILE + LINE + REPORT, "long", STINT_WAITS="0",
                            STINT_REPORT="table", STINT_FILE=str(folder / "run.stint"))
    check(status == ENDS, "exit status %d" % status, said[-500:])
    check(re.search(r"^long +%d " % LONG, said, re.M), said)
    usage = re.search(r"^peak RSS ([\d.]+) MiB, page faults (\d+) minor, \d+ major$", said, re.M)
    check(usage and float(usage[1]) > 0 and int(usage[2]) > 0, said[-500:])
    exported = subprocess.run([TOOL, "export", "--to", "json", "-o", "-", folder / "run.stint"],
                              capture_output=True, text=True, check=True, timeout=300)
    calls = {row["name"]: row["calls"] for row in json.loads(exported.stdout)["stats"]}
    check(calls["long"] == LONG and calls["often"] == 300, calls["long"], calls["often"])


def test_waits_on(_):
    """Scopes make both calls: the other cases would fail without STINT_WAITS=0."""
    for missing in WAITS:
        calls = [call for call in SCOPES + THREADS + WAITS if call != missing]
        status, said = run_only(calls, "long")
        check(status == -signal.SIGSYS, "without %s: exit status %d" % (missing, status), said)


def test_calls(folder):
    both = SCOPES + THREADS
    file_too = {"STINT_FILE": str(folder / "run.stint"), "STINT_TRACE": "200M"}  # it gets longer
    off = {"STINT_WAITS": "0"}
    for calls, more, settings in (
            (both, "", {**off, "STINT_TRACE": "200M"}),
            (both + FILE, "", {**off, **file_too}),
            (both + WAITS, "long", {}),
            (both + LINE, "line", off),
            (both + LINE + REPORT, "line,report", off)):
        status, said = run_only(calls, more, **settings)
        check(status == ENDS, "%s %s: exit status %d" % (settings, more, status), calls, said[-500:])
    for missing in ("mmap", "prctl"):  # the filter ends it
        status, said = run_only([call for call in both if call != missing], "", **off)
        check(status == -signal.SIGSYS, "without %s: exit status %d" % (missing, status), said)


def main():
    if platform.libc_ver()[0] != "glibc" or CLOCK.read_text().strip() not in IN_USER_SPACE:
        print("skipped: another C library, or the clock is read by a system call")
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as folder:
        {"waits_off": test_waits_off, "waits_on": test_waits_on,
         "calls": test_calls}[CASE](pathlib.Path(folder))


if __name__ == "__main__":
    main()
