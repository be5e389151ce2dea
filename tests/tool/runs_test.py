#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""runs_test.py TOOL PROGRAM: the tool reads the run files in runs/, which earlier versions wrote.

Each file FAMILY-NAME.stint.gz is exported as CSV and compared with FAMILY-NAME.csv, which was
made when the file was. Columns that later versions add are not in it. Where there is a
FAMILY-NAME.txt, it is the report.

UPDATE=1 records the family of the current format again, formatN-*, with PROGRAM (runs_program.c).
This is for changes of a format that no release has; files of earlier formats are never written
again. Those of the family 1.0, of format 4, have scopes, notes, a second set, marks, steps and
declared bytes in `plain` and `trace`.

The other three were written by a test program on the virtual clock: `groups` has a scope in which
number n of gen/records.ini is 1000 + n, for all numbers of that time, `sampled` is the same
program with one call in ten timed (STINT_SAMPLE, which later versions do not have), and `merged` is
the merge of both.
"""
import csv
import gzip
import os
import pathlib
import sys
import tempfile

import cases

RUNS = pathlib.Path(__file__).resolve().parent / "runs"
TICKS_PER_US, BOOT_ID = 152, 204  # their places in the header: docs/format.md
# The files of a family: what the program records, and with which variables. The last one is the
# merge of the two before it.
KINDS = {"plain": ("plain", {}), "trace": ("plain", {"STINT_TRACE": "64K"}),
         "groups": ("groups", {}), "added": ("added", {}), "merged": (None, {})}


def shell(*command, **more):
    """Returns the standard output of the command, which may write notes to the other one."""
    return cases.run(*command, **more).out


def run(program, kind, file, **more):
    shell(program, kind, STINT_MEMORY="1M", STINT_FILE=file, STINT_REPORT="none", **more)


def read(tool, packed, folder, *command):
    """The output of a command of the tool, to which the file is appended."""
    path = folder / packed.stem
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    done = cases.run(tool, *command, path, LC_ALL="C.UTF-8")
    cases.need(not done.err, packed.name, done.err)
    return done.out


def record(tool, program, family):
    """Writes the run files of a family, with what is expected of them."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: pathlib.Path(folder) / (name + ".stint") for name in KINDS}
        for name, (kind, more) in KINDS.items():
            if kind:
                run(program, kind, files[name], **more)
        shell(tool, "merge", files["groups"], files["added"], "-o", files["merged"])
        for name, file in files.items():
            packed = RUNS / ("%s-%s.stint.gz" % (family, name))
            packed.write_bytes(gzip.compress(file.read_bytes(), mtime=0))
            for suffix, command in ((".csv", ("export", "--to", "csv")), (".txt", ("report",))):
                shown = RUNS / (packed.name.replace(".stint.gz", suffix))
                shown.write_text(read(tool, packed, pathlib.Path(folder), *command),
                                 encoding="utf-8")


def check_added(tool, program):
    """Added samples are the same in a trace and in merges, whatever the clocks: totals add up, to
    the nanosecond."""
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("a", "b")]
        for file, rate in zip(files, (2600, 2400)):
            run(program, "added", file, STINT_TRACE="64K")
            with open(file, "r+b") as stream:
                stream.seek(TICKS_PER_US)
                stream.write((rate << 8).to_bytes(8, "little"))
                stream.seek(BOOT_ID)
                stream.write(b"%d" % rate)
        tables = []
        for number, keep in enumerate(("", "names", "threads")):
            out = os.path.join(folder, "out%d" % number) if keep else files[0]
            if keep:
                shell(tool, "merge", "--keep", keep, *files, "-o", out)
            shown = shell(tool, "export", "--to", "csv", out)
            tables.append({row["name"]: row for row in csv.DictReader(shown.splitlines())})
            found = shell(tool, "export", "--to", "chrome", out).count('"dur":0.007')
            assert keep == "names" or found == (114 if keep else 57), (keep, found)
        tables[0].pop("both")
        for name, row in tables[0].items():
            for merged in tables[1:]:
                for key in ("calls", "total_ns", "self_ns"):
                    assert int(merged[name][key]) == 2 * int(row[key]), (name, key)
                for key in ("min_ns", "max_ns", "first_ns", "p50_ns", "p99_ns"):
                    assert merged[name][key] == row[key], (name, key, merged[name][key], row[key])
    assert tables[0]["years"]["total_ns"] == str(3 * 31536000000000000), tables[0]


def differences(then, now):
    """The differences in the rows and columns that existed then."""
    old, new = list(csv.DictReader(then.splitlines())), list(csv.DictReader(now.splitlines()))
    found = [] if len(old) == len(new) else ["%d rows, expected %d" % (len(new), len(old))]
    for number, (a, b) in enumerate(zip(old, new), 1):
        found += ["row %d, %s: %s, expected %s" % (number, key, b.get(key), value)
                  for key, value in a.items() if b.get(key) != value]
    return found


def main():
    if os.environ.get("UPDATE"):
        record(sys.argv[1], sys.argv[2], "format" + shell(sys.argv[1], "--version").split()[-1])
    packed = sorted(RUNS.glob("*.stint.gz"))
    if len(packed) < 2:
        sys.exit("%s: %d files" % (RUNS, len(packed)))
    failed = []
    for path in packed:
        expected = RUNS / path.name.replace(".stint.gz", ".csv")
        with tempfile.TemporaryDirectory() as folder:
            now = read(sys.argv[1], path, pathlib.Path(folder), "export", "--to", "csv")
            report = read(sys.argv[1], path, pathlib.Path(folder), "report")
        found = differences(expected.read_text(encoding="utf-8"), now)
        failed += ["%s: %s" % (path.name, line) for line in found]
        shown = expected.with_suffix(".txt")
        if shown.exists() and shown.read_text(encoding="utf-8") != report:
            failed.append("%s: the report is not %s:\n%s" % (path.name, shown.name, report))
    assert differences("a,b\n1,2\n", "a,c,b\n1,9,2\n") == []
    check_added(sys.argv[1], sys.argv[2])
    assert differences("a,b\n1,2\n", "a,b\n1,3\n") == ["row 1, b: 3, expected 2"]
    print("\n".join(failed) or "%d run files" % len(packed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
