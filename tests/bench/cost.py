#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cost.py WITH WITHOUT [ROUNDS|quick]: the footer's "stint cost" against the program's own
slowdown.

WITH and WITHOUT are cost_program with and without timers. Both run in turn, ROUNDS times; of each
the smallest CPU time counts, which is the least disturbed one. The footer's cost is the median of
its runs. Prints a line a case: the slowdown, what it is in all, the range that the footer says, and
the ratio of its two ends to the slowdown. `quick` is a test that all of this works; its figures are
not.
"""

import os
import re
import resource
import statistics
import subprocess
import sys

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# name, kind of program, iterations, settings
CASES = (
    ("short scope", "short", 4000000, {}),
    ("longer scope", "long", 4000000, {}),
    ("nested scopes", "nested", 1000000, {}),
    ("8 sites in turn", "sites", 4000000, {}),
    ("without percentiles", "short", 4000000, {"STINT_PERCENTILES": "0"}),
    ("trace", "short", 4000000, {"STINT_TRACE": "1M"}),
    ("slow clock", "short", 2000000, {"STINT_CLOCK": "monotonic"}),
    ("dynamic names", "dynamic", 3000000, {}),
    ("recursion, 8 deep", "recursion", 500000, {}),
)


def clean(settings):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    return dict(kept, **settings)


def run(program, kind, iterations, settings):
    """CPU seconds, and the report."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, kind, str(iterations)], env=clean(settings), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def footer_cost(report):
    """Seconds, at least and at most; without a range the two are equal."""
    time = r"([0-9.]+) (ns|us|ms|s)"
    found = re.search(r"^stint cost .*?, %s(?: to %s)? in all" % (time, time), report, re.M)
    if not found:
        sys.exit("cost.py: no cost in the report:\n" + report)
    least = float(found[1]) * UNITS[found[2]]
    return least, float(found[3]) * UNITS[found[4]] if found[3] else least


def measure(programs, case, rounds, part):
    name, kind, iterations, settings = case
    iterations //= part
    settings = dict(settings, STINT_REPORT="table")
    timed, plain, said = [], [], []
    for _ in range(rounds):
        seconds, report = run(programs[0], kind, iterations, settings)
        timed.append(seconds)
        said.append(footer_cost(report))
        plain.append(run(programs[1], kind, iterations, {})[0])
    slower, base = min(timed) - min(plain), min(plain)
    if part > 1:
        slower, base = max(slower, 1e-6), max(base, 1e-6)
    least, most = (statistics.median(end) for end in zip(*said))
    print("%-22s %8.0f %% %10.1f ms %8.1f to %5.1f ms %7.2f to %.2f" %
          (name, 100 * slower / base, slower * 1e3, least * 1e3, most * 1e3, least / slower,
           most / slower), flush=True)


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit("usage: cost.py WITH WITHOUT [ROUNDS|quick]")
    rounds, part = 7, 1
    if arguments[2:] == ["quick"]:
        rounds, part = 1, 1000
    elif arguments[2:]:
        rounds = int(arguments[2])
    print("%-22s %10s %13s %20s %15s" % ("case", "slower by", "difference", "footer", "ratio"))
    for case in CASES:
        measure(arguments[:2], case, rounds, part)


if __name__ == "__main__":
    main(sys.argv[1:])
