#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the memory that the report at the end of a program takes beside its recording with
limits.

    report_memory.py PROGRAM [NODES]

PROGRAM is report_nodes. Prints the bytes a node by which the peak of a process with a report is
above that of one without. Exit status 1 if one is above its limit.
"""
import os
import sys

NODES = 100000
# Bytes a node: names in a table have a row each, paths in a tree.
LIMITS = {("names", "table"): 650, ("names", "tree"): 650,
          ("paths", "table"): 160, ("paths", "tree"): 600}


def peak(program, shape, nodes, report):
    """In bytes."""
    settings = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    settings.update(STINT_REPORT=report, STINT_MEMORY="3G", STINT_OUTPUT=os.devnull)
    child = os.fork()
    if child == 0:
        os.execve(program, [program, shape, str(nodes)], settings)
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit("report_memory.py: %s %s: status %d" % (program, shape, status))
    return usage.ru_maxrss * 1024


def main():
    program, nodes = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else NODES
    failed = 0
    for (shape, view), most in LIMITS.items():
        a_node = (peak(program, shape, nodes, view) - peak(program, shape, nodes, "none")) / nodes
        print("%s, %s: %.0f bytes a node, at most %d" % (shape, view, a_node, most))
        failed |= a_node > most
    return failed


if __name__ == "__main__":
    sys.exit(main())
