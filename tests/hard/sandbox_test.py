#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program under a filter that ends it at all system calls but those of the table in
docs/guarantees.md, by what it does. With STINT_WAITS=0 it runs to its end and has its report and
its run file where getrusage and the CPU time of the thread are forbidden, by default it does not.

    sandbox_test.py TOOL PROGRAM CASE
"""
import json
import pathlib
import platform
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tool"))
# pylint: disable=wrong-import-position
from cases import SKIPPED, environment, main, need

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "guarantees.md"
CLOCK = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
IN_USER_SPACE = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
OWN = ("clock_nanosleep", "nanosleep", "exit_group")
ENDS = 3  # what the program returns at its end
LONG = 40

TOOL, PROGRAM, CASE = sys.argv[1:4]

TABLE = PAGE.read_text().split("| what the program does | system calls |\n|---|---|\n")[1]
SCOPES, FILE, WAITS, LINE, REPORT, THREADS = (
    re.findall(r"`(\w+)`", line.split("|")[2]) for line in TABLE.split("\n\n")[0].splitlines())
BOTH = SCOPES + THREADS


def run_only(calls, more, ends, **settings):
    """The output; ends: the system call without which the filter ends the program, if any."""
    calls = [call for call in [*calls, *OWN] if call != ends]
    done = subprocess.run([PROGRAM, ",%s," % ",".join(calls), more], env=environment(**settings),
                          text=True, capture_output=True, check=False, timeout=300)
    if done.returncode == SKIPPED:
        print(done.stderr)
        sys.exit(SKIPPED)
    need(done.returncode == (-signal.SIGSYS if ends else ENDS), "exit status %d" % done.returncode,
          "without %s" % ends, settings, more, calls, done.stderr[-500:])
    return done.stderr


def case_waits_off(folder):
    said = run_only(BOTH + FILE + LINE + REPORT, "long", None, STINT_REPORT="table",
                    STINT_FILE=str(folder / "run.stint"))
    need(re.search(r"^long +%d " % LONG, said, re.M), said)
    usage = re.search(r"^peak RSS ([\d.]+) MiB, page faults (\d+) minor, \d+ major$", said, re.M)
    need(usage and float(usage[1]) > 0 and int(usage[2]) > 0, said[-500:])
    exported = subprocess.run([TOOL, "export", "--to", "json", "-o", "-", folder / "run.stint"],
                              capture_output=True, text=True, check=True, timeout=300)
    calls = {row["name"]: row["calls"] for row in json.loads(exported.stdout)["stats"]}
    need(calls["long"] == LONG and calls["often"] == 300, calls["long"], calls["often"])


def case_waits_on(_):
    """Scopes make both calls: the other cases would fail without STINT_WAITS=0."""
    for missing in WAITS:
        run_only(BOTH + WAITS, "long", missing, STINT_WAITS="")


def case_calls(folder):
    trace = {"STINT_TRACE": "200M"}  # the run file gets longer
    run_only(BOTH, "", None, **trace)
    run_only(BOTH + FILE, "", None, **trace, STINT_FILE=str(folder / "run.stint"))
    run_only(BOTH + WAITS, "long", None, STINT_WAITS="")
    run_only(BOTH + LINE, "line", None)
    run_only(BOTH + LINE + REPORT, "line,report", None)
    for missing in ("mmap", "prctl"):
        run_only(BOTH, "", missing)


if __name__ == "__main__":
    if platform.libc_ver()[0] != "glibc" or CLOCK.read_text().strip() not in IN_USER_SPACE:
        print("skipped: another C library, or the clock is read by a system call")
        sys.exit(SKIPPED)
    sys.exit(main(globals(), CASE))
