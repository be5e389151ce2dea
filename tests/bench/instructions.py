#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what a scope executes, by callgrind: the counts do not vary between runs and machines.

    instructions.py PROGRAM [--limits FILE] [--settings TEXT]

PROGRAM is instructions_bench. Without --limits prints a table: instructions, and in brackets the
loads and stores among them, per scope, the loop included. With --limits only the instructions are
counted and compared with those of FILE; exit status 1 if a count is over its limit, 77 if there is
no valgrind here or FILE is of another compiler. UPDATE=1 writes FILE: the counts, rounded down, +
1.
"""
import argparse
import collections
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
COUNTS_AGAIN = 2
COUNTED = "instructions_counted"
# The default, but in a process of its own: where an edge lies follows from its node's place in the
# arena, and whether another loop's edge lies there already is chance.
APART = {"STINT_PERCENTILES": "1"}
# Row of the table, loop of kernel.h, settings. Loops with the same settings share a process.
ROWS = (
    ("floor: two clock reads and a store", "floor", {}),
    ("one site (the default)", "one", {}),
    ("without percentiles", "one", {"STINT_PERCENTILES": "0"}),
    ("with a trace", "one", {"STINT_TRACE": "4M"}),
    ("off", "one", {"STINT_ENABLE": "0"}),
    ("nested 4 deep, four functions", "nested", {}),
    ("nested 4 deep, one function", "block", {}),
    ("64 sites", "sites", {}),
    ("alternating parents", "parents", APART),
    ("with info", "info", {}),
    ("with a threshold", "threshold", {}),
    ("recursion, 8 deep", "recursion", {}),
    ("recursion, 64 deep", "deep", {}),
    ("recursion through another scope", "mutual", {}),
    ("dynamic name", "dynamics", {}),
)
# Not of the hot path: they depend on the C library, too.
NO_LIMIT = ("floor", "dynamics")
VARIANTS = ("exe2", "exe1", "lib2", "lib1", "cxe2", "cxe1", "cxl2", "cxl1")
TITLES = {"exe": "exe", "lib": "lib", "cxe": "C++ exe", "cxl": "C++ lib"}


def settings_of(settings):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    # The counter is set explicitly: many virtual machines' kernels do not use it, and then it is
    # not the default. A call that lost the processor for a millisecond would make its scope a long
    # one, whose calls take the slow path.
    return dict(kept, STINT_REPORT="none", STINT_CLOCK="tsc", STINT_WAITS="0", **settings)


def parts_of(text):
    """The totals of callgrind's parts, in their order: (instructions, loads, stores)."""
    out = []
    for line in re.findall(r"^summary: (.*)$", text, re.M):
        numbers = [int(word) for word in line.split()]
        out.append(tuple((numbers + [0, 0])[:3]))
    return out


def count(program, loops, settings, with_memory):
    """{(variant, loop): per scope (instructions, loads, stores)}; the compiler of the program."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "callgrind")
        command = ["valgrind", "--tool=callgrind", "-q", "--toggle-collect=" + COUNTED,
                   "--dump-after=" + COUNTED, "--combine-dumps=yes", "--callgrind-out-file=" + file]
        if with_memory:
            command.append("--cache-sim=yes")
        done = subprocess.run(command + [program, *loops], env=settings_of(settings), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit("instructions.py: %s: status %d: %s" %
                     (" ".join(command + [program]), done.returncode, done.stderr[-500:]))
        parts = parts_of(pathlib.Path(file).read_text(encoding="utf-8"))
    compiler, *calls = done.stdout.splitlines()
    if len(parts) < len(calls):
        sys.exit("instructions.py: %d calls, but callgrind has %d parts" % (len(calls), len(parts)))
    all_parts = {}
    for line, part in zip(calls, parts):
        variant, loop, scopes = line.split()
        lengths = all_parts.setdefault((variant, loop), {})
        lengths.setdefault(int(scopes), []).append(part)
    return {key: per_scope(lengths) for key, lengths in all_parts.items()}, compiler


def per_scope(lengths):
    """The cost of a scope, from loops of two lengths. The most frequent count of each is used: now
    and then a call differs, because its time is a new maximum."""
    (few, few_part), (many, many_part) = (
        (scopes, collections.Counter(sorted(parts)).most_common(1)[0][0])
        for scopes, parts in sorted(lengths.items()))
    return tuple((b - a) / (many - few) for a, b in zip(few_part, many_part))


def count_all(program, with_memory):
    """{row title: {variant: counts}}, and the compiler."""
    processes = {}
    for _, loop, settings in ROWS:
        processes.setdefault(tuple(settings.items()), []).append(loop)
    figures, compiler = {}, ""
    for settings, loops in processes.items():
        counts, compiler = count(program, loops, dict(settings), with_memory)
        for title, loop, own in ROWS:
            if tuple(own.items()) == settings:
                figures[title] = {variant: c for (variant, name), c in counts.items()
                                  if name == loop}
    return figures, compiler


def columns_of(figures):
    return [v for v in VARIANTS if any(v in row for row in figures.values())]


def number(value):
    return "%.0f" % value


def table(figures):
    """Markdown, as in docs/performance.md."""
    columns = columns_of(figures)
    heads = ["%s %s" % (TITLES[v[:3]], v[3]) for v in columns]
    lines = ["| per scope | " + " | ".join(heads) + " |", "|---|" + "--:|" * len(columns)]
    for title, _, _ in ROWS:
        cells = []
        for variant in columns:
            counts = figures[title].get(variant, figures[title].get("all"))
            cells.append("%s (%s, %s)" % tuple(number(c) for c in counts))
        lines.append("| %s | %s |" % (title, " | ".join(cells)))
    return "\n".join(lines)


# ---- Limits -------------------------------------------------------------------------------------

# A table: the first line names the columns, a row is its title, a colon and the limits.
def limits_read(path):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")]
    compiler = lines[0]
    columns = lines[1].split()
    limits = {}
    for line in lines[2:]:
        title, numbers = line.rsplit(":", 1)
        limits[title] = dict(zip(columns, (int(n) for n in numbers.split())))
    return compiler, limits


def limits_write(path, figures, compiler):
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    columns = columns_of(figures)
    titles = [title for title, loop, _ in ROWS if loop not in NO_LIMIT]
    width = max(len(title) for title in titles) + 1
    lines = head + ["", compiler, "", " " * width + "".join("%6s" % c for c in columns)]
    for title in titles:
        numbers = "".join("%6d" % (int(figures[title][c][0]) + 1) for c in columns)
        lines.append((title + ":").ljust(width) + numbers)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def keep_lowest(figures, others):
    """A call that lost the processor takes the slow path: it executes more, and none executes less
    than its path has."""
    for title, row in figures.items():
        for variant, counts in row.items():
            row[variant] = min(counts, others[title].get(variant, counts))


def compare(figures, limits):
    """The counts that are over their limit or have none."""
    wrong = []
    for title, loop, _ in ROWS:
        if loop in NO_LIMIT:
            continue
        for variant, counts in figures[title].items():
            limit = limits.get(title, {}).get(variant)
            if limit is None:
                wrong.append("%s, %s: no limit" % (title, variant))
            elif counts[0] > limit:
                wrong.append("%s, %s: %.2f instructions per scope, the limit is %d" %
                             (title, variant, counts[0], limit))
    return wrong


def check(program, path):
    figures, compiler = count_all(program, False)
    if os.environ.get("UPDATE"):
        limits_write(path, figures, compiler)
        return 0
    expected, limits = limits_read(path)
    if compiler != expected:
        print("skipped: the limits are of %s, this is %s; the counts:" % (expected, compiler))
        print(table(figures))
        return SKIP
    wrong = compare(figures, limits)
    for _ in range(COUNTS_AGAIN):
        if wrong:
            keep_lowest(figures, count_all(program, False)[0])
            wrong = compare(figures, limits)
    for line in wrong:
        print(line)
    if wrong:
        print("The limits are in %s; a change that lowers the counts lowers them." % path)
    else:
        print("%d counts are within their limits" % sum(len(row) for row in limits.values()))
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("--limits", metavar="FILE", type=pathlib.Path)
    asked = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: no valgrind here")
        return SKIP
    if asked.limits:
        return check(asked.program, asked.limits)
    figures, compiler = count_all(asked.program, True)
    print("%s: instructions per scope (loads, stores)\n\n%s" % (compiler, table(figures)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
