#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what is beside the scope executes, by callgrind: blocks that are counted for their scope,
and ranges of other interfaces.

    beside.py RANGES LIBRARY [PAIRS LIBRARY] [--limits FILE]

RANGES is ranges_bench and PAIRS mem_pairs, each before the library that it is for. A pair of malloc
and free, or of new and delete, is what the library adds to it; a range is as many instructions as
its begin and end and the loop have. Without --limits prints a table. With --limits the counts are
compared with those of FILE; exit status 1 if one is over its limit, 77 if there is no valgrind here
or FILE is of another compiler. UPDATE=1 writes FILE: the counts, rounded down, + 1.
"""
import argparse
import os
import pathlib
import shutil
import sys

import instructions

RANGES = (("OMPT: a loop", "ompt"), ("ITT: a task", "itt"), ("Kokkos: a kernel", "kokkos"),
          ("roctx: a buffer", "roctx"), ("roctx: a literal", "literal"))
PAIRS = (("malloc and free", "malloc"), ("new and delete", "new"))


def count_ranges(program, library):
    counts, compiler = instructions.count(program, [library, "count"], {}, False)
    return {title: counts["ranges", loop][0] for title, loop in RANGES}, compiler


def count_pairs(program, library):
    plain = instructions.count(program, [], {}, False)[0]
    counted = instructions.count(program, [], {"LD_PRELOAD": library}, False)[0]
    return {title: counted["pairs", loop][0] - plain["pairs", loop][0] for title, loop in PAIRS}


def write(path, figures, compiler):
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    rows = ["%-22s%6d" % (title + ":", int(n) + 1) for title, n in figures.items()]
    path.write_text("\n".join(head + ["", compiler, "", "%28s" % "limit"] + rows) + "\n",
                    encoding="utf-8")


def check(path, figures, compiler):
    expected, limits = instructions.limits_read(path)
    if compiler != expected:
        print("skipped: the limits are of %s, this is %s" % (expected, compiler))
        return instructions.SKIP
    wrong = 0
    for title, number in figures.items():
        limit = limits.get(title, {}).get("limit", 0)
        if number > limit:
            print("%s: %.2f instructions, the limit is %d (%s)" % (title, number, limit, path))
            wrong = 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM LIBRARY")
    parser.add_argument("--limits", metavar="FILE", type=pathlib.Path)
    asked = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: no valgrind here")
        return instructions.SKIP
    figures, compiler = count_ranges(*asked.programs[:2])
    if asked.programs[2:]:
        figures.update(count_pairs(*asked.programs[2:]))
    for title, number in figures.items():
        print("%-22s%8.1f" % (title, number))
    if asked.limits and os.environ.get("UPDATE"):
        write(asked.limits, figures, compiler)
    elif asked.limits:
        return check(asked.limits, figures, compiler)
    return 0


if __name__ == "__main__":
    sys.exit(main())
