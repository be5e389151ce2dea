#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what functions of the public header execute, by callgrind, and compares that with the
price list of docs/macros.md.

    prices.py PROGRAM PAGE

Exit status 1 if a call executes more than the page says or less than half of it, 77 without
valgrind. UPDATE=1 writes the page: the counts and a twentieth, rounded up to two digits.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
COUNTED = "prices_counted"
BEGIN, END = "<!-- prices: begin -->\n", "<!-- prices: end -->\n"
# Other names, threads that recorded the name, its places in the tree on each of them, and the calls
# in each place.
COLUMNS = ((10, 1, 1, 1), (10, 1, 1, 1000), (10000, 1, 1, 1000), (10, 4, 1, 1000),
           (10, 1, 100, 1000))


def count(program, column):
    """{function: instructions}"""
    settings = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "callgrind")
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "-q", "--toggle-collect=" + COUNTED,
             "--dump-after=" + COUNTED, "--combine-dumps=yes", "--callgrind-out-file=" + file,
             program, *map(str, column)],
            env=dict(settings, STINT_REPORT="none", STINT_WAITS="0"), text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            sys.exit("prices.py: %s: status %d: %s" %
                     (program, done.returncode, done.stderr[-500:]))
        parts = [int(part) for part in re.findall(
            r"^summary: (\d+)", pathlib.Path(file).read_text(encoding="utf-8"), re.M)]
    parts = [part for part in parts if part]
    names = done.stdout.splitlines()
    if len(parts) != len(names):
        sys.exit("prices.py: %d calls, but callgrind has %d parts" % (len(names), len(parts)))
    return dict(zip(names, parts))


def rounded(n):
    n += n // 20
    step = 10 ** max(len(str(n)) - 2, 0)
    return -(-n // step) * step


def title(column):
    names, threads, places, calls = column
    return "%d names, %d thread%s, %d place%s, %d call%s" % (
        names, threads, "s" * (threads > 1), places, "s" * (places > 1), calls, "s" * (calls > 1))


def render(figures):
    lines = ["| call | " + " | ".join(title(c) for c in COLUMNS) + " |",
             "|---|" + "--:|" * len(COLUMNS)]
    for name in figures[0]:
        what = re.sub(r"stint_\w+", r"`\g<0>`", name)
        lines.append("| %s | %s |" % (what, " | ".join(
            "{:,}".format(rounded(f[name])).replace(",", " ") for f in figures)))
    return "\n".join(lines) + "\n"


def read(table):
    """{function: [instructions]}"""
    out = {}
    for line in table.splitlines()[2:]:
        what, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        out[what.replace("`", "")] = [int(cell.replace(" ", "")) for cell in cells]
    return out


def main():
    program, page = sys.argv[1], pathlib.Path(sys.argv[2])
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return SKIP
    figures = [count(program, column) for column in COLUMNS]
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    if os.environ.get("UPDATE"):
        page.write_text(before + BEGIN + render(figures) + END + after, encoding="utf-8")
        return 0
    said = read(table)
    failed = 0
    for name in figures[0]:
        for k, column in enumerate(COLUMNS):
            is_, most = figures[k][name], said.get(name, [0] * len(COLUMNS))[k]
            if not most / 2 <= is_ <= most:
                print("%s, %s: %d instructions, docs/macros.md says %d" %
                      (name, title(column), is_, most))
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
