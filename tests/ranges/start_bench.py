#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much longer a program without ranges takes if `stint run --ranges` prepared it.

    start_bench.py TOOL [STARTS]

The program is true(1). It is started in turn without and with the variables that the tool sets; the
difference of the lowest, and of the middle, times of a start is printed in milliseconds.
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


def start(program, env):
    began = time.perf_counter()
    pid = os.posix_spawn(program, [program], env)
    _, _, usage = os.wait4(pid, 0)
    return (time.perf_counter() - began) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def main():
    tool = sys.argv[1]
    starts = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    program = shutil.which("true")
    plain = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    sides = {"plain": plain, "ranges": variables(tool)}
    times = {name: [] for name in sides}
    for _ in range(starts):
        for name, env in sides.items():
            times[name].append(start(program, env))
    for what, at in (("wall", 0), ("CPU", 1)):
        for title, choose in (("lowest", min), ("median", statistics.median)):
            value = {name: choose(one[at] for one in all_of) for name, all_of in times.items()}
            print(f"{what} {title}: {value['plain']:.3f} ms, with ranges {value['ranges']:.3f} ms, "
                  f"more by {value['ranges'] - value['plain']:.3f} ms")


main()
