#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""runs_test.py TOOL: the tool reads the run files in runs/, which earlier versions 1.x wrote.

Each file VERSION-NAME.stint.gz is exported as CSV and compared with VERSION-NAME.csv, which was
made when the file was. Columns that later versions add are not in it. Where there is a
VERSION-NAME.txt, it is the report. UPDATE=1 writes a .csv that is missing; one that is there is
never written again, nor is a file. For a new minor version add files:

    STINT_MEMORY=1M STINT_FILE=plain.stint PROGRAM
    STINT_MEMORY=1M STINT_TRACE=64K STINT_FILE=trace.stint PROGRAM

with a program that has nested scopes, notes, a second set, marks, steps and declared bytes.

The other three were written by a test program on the virtual clock: `groups` has a scope in which
number n of gen/measures.ini is 1000 + n, for all numbers of that time, `sampled` is the same
program with one call in ten timed (STINT_SAMPLE, which later versions do not have), and `merged` is
the merge of both.
"""
import csv
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

RUNS = pathlib.Path(__file__).resolve().parent / "runs"


def read(tool, packed, folder, *command):
    """The output of a command of the tool, to which the file is appended."""
    path = folder / packed.stem
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    done = subprocess.run([tool, *command, str(path)], env=dict(environment, TZ="UTC"),
                          capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        sys.exit("%s: status %d\n%s" % (packed.name, done.returncode, done.stderr))
    return done.stdout


def differences(then, now):
    """The differences in the rows and columns that existed then."""
    old, new = list(csv.DictReader(then.splitlines())), list(csv.DictReader(now.splitlines()))
    found = [] if len(old) == len(new) else ["%d rows, expected %d" % (len(new), len(old))]
    for number, (a, b) in enumerate(zip(old, new), 1):
        found += ["row %d, %s: %s, expected %s" % (number, key, b.get(key), value)
                  for key, value in a.items() if b.get(key) != value]
    return found


def main():
    packed = sorted(RUNS.glob("*.stint.gz"))
    if len(packed) < 2:
        sys.exit("%s: %d files" % (RUNS, len(packed)))
    failed = []
    for path in packed:
        expected = RUNS / path.name.replace(".stint.gz", ".csv")
        with tempfile.TemporaryDirectory() as folder:
            now = read(sys.argv[1], path, pathlib.Path(folder), "export", "--to", "csv")
            report = read(sys.argv[1], path, pathlib.Path(folder), "report")
        if os.environ.get("UPDATE") and not expected.exists():
            expected.write_text(now, encoding="utf-8")
        found = differences(expected.read_text(encoding="utf-8"), now)
        failed += ["%s: %s" % (path.name, line) for line in found]
        shown = expected.with_suffix(".txt")
        if shown.exists() and shown.read_text(encoding="utf-8") != report:
            failed.append("%s: the report is not %s:\n%s" % (path.name, shown.name, report))
    assert differences("a,b\n1,2\n", "a,c,b\n1,9,2\n") == []
    assert differences("a,b\n1,2\n", "a,b\n1,3\n") == ["row 1, b: 3, expected 2"]
    print("\n".join(failed) or "%d run files" % len(packed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
