#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records runs of a program, one after the other: pairs_recorded.inc, for pairs_test.c.

    pairs_recorded.py PAIRS_VALUES RUNS PROGRAM [ARGUMENT...]

A line of the file is a run, in the order in which they ran, with the typical call of each scope
that takes 1 % of the first run's time: the number that `stint ab` compares. The file there is was
recorded with `transformer --tokens 24 --threads 1 README.md`, on a virtual machine with two
processors that other programs kept busy for a part of the time.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

FILE = pathlib.Path(__file__).resolve().parent / "pairs_recorded.inc"
HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of %s, recorded by pairs_recorded.py: the typical call of each scope in ns. */
enum { RECORDED_RUNS = %d, RECORDED_SCOPES = %d };

static const double recorded[RECORDED_RUNS][RECORDED_SCOPES] = {
%s};
"""


def record(command, path):
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True,
                   env=dict(os.environ, STINT_FILE=str(path), STINT_REPORT="none"))


def values(reader, path):
    """Name -> (nanoseconds, share of the time)."""
    done = subprocess.run([reader, path], stdout=subprocess.PIPE, check=True, universal_newlines=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: (float(ns), float(share)) for name, ns, share in rows}


def main(reader, runs, *command):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.stint")
        for _ in range(int(runs)):
            record(command, path)
            found.append(values(reader, path))
    scopes = [name for name, (ns, share) in found[0].items() if ns and share >= 0.01]
    lines = ["    {%s},\n" % ", ".join("%.5g" % run[name][0] for name in scopes) for run in found]
    FILE.write_text(HEAD % (os.path.basename(command[0]), len(found), len(scopes), "".join(lines)))


if __name__ == "__main__":
    main(*sys.argv[1:])
