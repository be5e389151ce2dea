#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much longer a program without ranges takes if `stint run --ranges` prepared it.

    start_bench.py TOOL [STARTS]

The program is true(1). It is started without and with the variables that the tool sets, and by the
tool without and with --ranges, in turn and in either order. The difference of the lowest, and of the
middle, times of a start is printed in milliseconds.
"""
import os
import shutil
import statistics
import subprocess
import sys
import time


def variables(tool):
    """The environment that `stint run --ranges` gives a program, without its run file."""
    shown = subprocess.run([tool, "run", "--ranges", "--report", "none", "--", "env", "-0"],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    return dict(word.split("=", 1) for word in shown.decode().split("\0") if "=" in word)


def start(command, env):
    quiet = [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    began = time.perf_counter()
    pid = os.posix_spawn(command[0], command, env, file_actions=quiet)
    _, _, usage = os.wait4(pid, 0)
    return (time.perf_counter() - began) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def compare(title, starts, sides):
    """sides: (command, environment) without and with ranges."""
    times = ([], [])
    for number in range(starts):
        for side in (0, 1) if number % 2 else (1, 0):
            times[side].append(start(*sides[side]))
    for what, at in (("wall", 0), ("CPU", 1)):
        for name, choose in (("lowest", min), ("median", statistics.median)):
            plain, ranges = (choose(one[at] for one in side) for side in times)
            print(f"{title}, {what} {name}: {plain:.3f} ms, with ranges {ranges:.3f} ms, "
                  f"more by {ranges - plain:.3f} ms")


def main():
    tool = sys.argv[1]
    starts = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    program = shutil.which("true")
    plain = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    compare("true", starts, (([program], plain), ([program], variables(tool))))
    run = [tool, "run", "--report", "none"]
    compare("stint run true", starts, (([*run, "--", program], plain),
                                       ([*run, "--ranges", "--", program], plain)))


main()
