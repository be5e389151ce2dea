#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how much of the runtime and the tool the tests ran, from the files that a build with
--coverage wrote.

    coverage.py SOURCE BUILD [--lines]

A line counts once, whichever of the builds of its file ran it (the library, and the one on the
tests' clock). --lines also prints the lines that never ran.
"""
import collections
import json
import pathlib
import subprocess
import sys


def read(source, build):
    """{file: {line: times}} of the runtime and the tool."""
    found = collections.defaultdict(lambda: collections.defaultdict(int))
    runtime = source / "runtime"
    notes = [path for path in build.rglob("*.gcno") if "/runtime/" in str(path)]
    for path in notes:
        done = subprocess.run(["gcov", "--json-format", "--stdout", str(path)],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                              cwd=str(build))
        for text in done.stdout.decode().splitlines():
            for file in json.loads(text)["files"]:
                name = pathlib.Path(file["file"])
                name = name if name.is_absolute() else build / name
                name = name.resolve()
                if name.suffix == ".c" and runtime in name.parents:
                    for line in file["lines"]:
                        found[str(name.relative_to(runtime))][line["line_number"]] += line["count"]
    return found


def spans(numbers):
    """"3, 7-9" of [3, 7, 8, 9]."""
    out = []
    for n in numbers:
        if out and n == out[-1][1] + 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return ", ".join("%d" % a if a == b else "%d-%d" % (a, b) for a, b in out)


def main():
    source, build = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    total = ran = 0
    for name, lines in sorted(read(source, build).items()):
        missed = sorted(line for line, times in lines.items() if not times)
        total += len(lines)
        ran += len(lines) - len(missed)
        share = 100.0 * (len(lines) - len(missed)) / len(lines)
        more = ": " + spans(missed) if missed and "--lines" in sys.argv else ""
        print("%-28s %5.1f %% of %4d%s" % (name, share, len(lines), more))
    if not total:
        sys.exit("coverage: nothing there; is it a build with --coverage?")
    print("%-28s %5.1f %% of %4d" % ("all", 100.0 * ran / total, total))


if __name__ == "__main__":
    main()
