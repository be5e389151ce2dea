#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs under filters that end them. At getrusage and at the CPU time of the thread: with
STINT_WAITS=0 one runs to its end and has its report and its run file, by default it does not. At
all system calls but those of the table in docs/guarantees.md, by what the program does.

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
SCOPES = 40

TOOL, PROGRAM, CASE = sys.argv[1:4]


def check(holds, *what):
    if not holds:
        sys.exit("\n".join(str(part) for part in what))


def run_program(*arguments, **settings):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    kept.update({"STINT_REPORT": "table", **settings})
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


def run_only(calls, more, **settings):
    done = run_program("only", ",%s," % ",".join([*calls, *OWN]), more, **settings)
    return done.returncode, done.stderr


def test_calls(folder):
    if platform.libc_ver()[0] != "glibc" or CLOCK.read_text().strip() not in IN_USER_SPACE:
        print("skipped: another C library, or the clock is read by a system call")
        sys.exit(SKIP)
    table = PAGE.read_text().split("| what the program does | system calls |\n|---|---|\n")[1]
    rows = [re.findall(r"`(\w+)`", line.split("|")[2])
            for line in table.split("\n\n")[0].splitlines()]
    scopes, file, waits, line, report, threads = rows
    both = scopes + threads
    file_too = {"STINT_FILE": str(folder / "run.stint"), "STINT_TRACE": "200M"}  # it gets longer
    off = {"STINT_WAITS": "0", "STINT_REPORT": "none"}
    for calls, more, settings in (
            (both, "", {**off, "STINT_TRACE": "200M"}),
            (both + file, "", {**off, **file_too}),
            (both + waits, "long", {"STINT_REPORT": "none"}),
            (both + line, "line", off),
            (both + file + line + report, "line,report", {**off, **file_too}),
            (both + line + report, "", {"STINT_WAITS": "0"})):
        status, said = run_only(calls, more, **settings)
        check(status == ENDS, "%s %s: exit status %d" % (settings, more, status), calls, said[-500:])
    for missing in ("mmap", "prctl"):  # the filter ends it
        status, said = run_only([call for call in both if call != missing], "", **off)
        check(status == -signal.SIGSYS, "without %s: exit status %d" % (missing, status), said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        {"waits_off": test_waits_off, "waits_on": test_waits_on,
         "calls": test_calls}[CASE](pathlib.Path(folder))


if __name__ == "__main__":
    main()
