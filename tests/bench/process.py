#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what a process pays for its start and its end: instructions and system calls more than
without stint, by valgrind, and the bytes of the run file.

    process.py WITH WITHOUT [--limits FILE]

WITH and WITHOUT are process_program with and without timers. Without --limits prints a table. With
it the figures are compared with those of FILE; exit status 1 if one is over its limit, 77 without
valgrind or where FILE is of another compiler or C library. UPDATE=1 writes FILE: the figures with a
fifth more, because files of /proc, which are read, differ between machines.
"""
import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
FILE = "run.stint"
ROWS = (
    ("in memory", {}),
    ("STINT_REPORT=none", {"STINT_REPORT": "none"}),
    ("STINT_REPORT=table", {"STINT_REPORT": "table"}),
    ("STINT_FILE", {"STINT_FILE": FILE}),
    ("STINT_FILE, STINT_TRACE=64M", {"STINT_FILE": FILE, "STINT_TRACE": "64M"}),
)
COLUMNS = ("instructions", "system calls", "bytes on disk")
# Not a call of the kernel but for valgrind: clock_gettime of a clock of the machine.
CALL = re.compile(r"SYSCALL\[\d+,\d+\]\( *\d+\) (?!sys_clock_gettime\( [0147],)\w+")


def under_valgrind(folder, program, settings, *options):
    """Returns what valgrind says. Nothing but PATH is in the environment: stint reads all of it."""
    variables = dict(settings, PATH=os.environ["PATH"], STINT_CLOCK="tsc")
    done = subprocess.run(["valgrind", *options, program], env=variables, cwd=folder,
                          capture_output=True, check=False)
    said = done.stderr.decode(errors="replace")
    if done.returncode:
        sys.exit("process.py: status %d: %s" % (done.returncode, said[-500:]))
    return said


def count(program, settings):
    """Instructions, system calls, and the bytes of the run file."""
    with tempfile.TemporaryDirectory() as folder:
        said = under_valgrind(folder, program, settings, "--tool=callgrind",
                              "--callgrind-out-file=callgrind")
        instructions = int(re.search(r"Collected : (\d+)", said)[1])
        said = under_valgrind(folder, program, settings, "--tool=none", "--trace-syscalls=yes")
        path = pathlib.Path(folder, FILE)
        size = path.stat().st_blocks * 512 if path.exists() else 0
        return instructions, len(CALL.findall(said)), size


def count_all(programs):
    """{row title: figures}, all but the bytes without those of the program without stint."""
    plain = count(programs[1], {})
    figures = {title: count(programs[0], settings) for title, settings in ROWS}
    return {title: (f[0] - plain[0], f[1] - plain[1], f[2]) for title, f in figures.items()}


def compiler():
    return "%s, %s" % (" ".join(platform.libc_ver()), platform.machine())


def table(figures):
    lines = ["| more than without stint | " + " | ".join(COLUMNS) + " |", "|---|--:|--:|--:|"]
    for title, row in figures.items():
        lines.append("| %s | %s |" % (title, " | ".join("{:,}".format(f).replace(",", " ")
                                                       for f in row)))
    return "\n".join(lines)


def read_limits(path):
    rows = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        found = re.fullmatch(r"(.+): +(\d+) +(\d+) +(\d+)", line)
        if found:
            rows[found[1]] = tuple(int(word) for word in found.groups()[1:])
    return rows


def write_limits(path, figures):
    head = path.read_text(encoding="utf-8").split("\n\n")[0]
    lines = [head, "", compiler(), "", "%-28s %13s %13s %14s" % ("", *COLUMNS)]
    for title, row in figures.items():
        lines.append("%-28s %13d %13d %14d" % (title + ":", *(f + f // 5 for f in row)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare(path, figures):
    limits = read_limits(path)
    over = 0
    for title, row in figures.items():
        for name, have, limit in zip(COLUMNS, row, limits.get(title, (0, 0, 0))):
            if have > limit:
                print("%s: %d %s, limit %d" % (title, have, name, limit))
                over = 1
    print(table(figures))
    return over


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs=2)
    parser.add_argument("--limits", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: no valgrind here")
        return SKIP
    limits = arguments.limits
    if limits and not os.environ.get("UPDATE") and compiler() not in limits.read_text():
        print("skipped: the limits are not of %s" % compiler())
        return SKIP
    figures = count_all(arguments.programs)
    if limits and os.environ.get("UPDATE"):
        write_limits(limits, figures)
    elif limits:
        return compare(limits, figures)
    else:
        print(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
