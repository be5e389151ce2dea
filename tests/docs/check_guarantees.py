#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/guarantees.md against the tests of a build.

    check_guarantees.py --ctest CTEST --build FOLDER [--config NAME]

Every row of a table "promise | tests" names tests, in back quotes in its last column; * matches
any characters. Each name must be a test. The table "tests | where" of tests/README.md lists those
that not every build has: of such a row all names are tests here, or none is. And each test labelled
hard or soak must keep a promise.
"""

import argparse
import fnmatch
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "guarantees.md"
WHERE = ROOT / "tests" / "README.md"
LABELS = {"hard", "soak"}
LEAST = 60  # promises; fewer means that the pattern for a row is wrong


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def names_in(cell):
    return re.findall(r"`([^`]+)`", cell)


def tables(page):
    """(header cells, [(line number, row cells)]) of each table."""
    found, rows = [], None
    lines = page.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.startswith("|"):
            rows = None
        elif rows is None:
            rows = []
            found.append((cells(line), rows))
        elif not re.match(r"\|[-:|]+$", line):
            rows.append((number, cells(line)))
    return found


def matches(pattern, tests):
    return [name for name in tests if fnmatch.fnmatchcase(name, pattern)]


class Judge:
    """The page, and the list of where tests are, against tests: {name: labels}."""

    def __init__(self, page, where, tests):
        self.tests, self.failures, self.count = tests, [], 0
        self.named, self.elsewhere = set(), set()
        for header, rows in tables(where):
            if header == ["tests", "where"]:
                for row in rows:
                    self.check_where(*row)
        for header, rows in tables(page):
            if header == ["promise", "tests"]:
                for row in rows:
                    self.check_promise(*row)
        for name, labels in sorted(tests.items()):
            if labels & LABELS and name not in self.named:
                self.fail("%s keeps no promise of the page" % name)

    def fail(self, text):
        self.failures.append(text)

    def check_where(self, number, row):
        names = names_in(row[0])
        there = [name for name in names if matches(name, self.tests)]
        if there and len(there) < len(names):
            self.fail("%s, line %d: no test %s" % (WHERE.relative_to(ROOT), number,
                                                   ", ".join(sorted(set(names) - set(there)))))
        if not there:
            self.elsewhere.update(names)

    def is_elsewhere(self, name):
        return any(fnmatch.fnmatchcase(name, other) for other in self.elsewhere)

    def check_promise(self, number, row):
        self.count += 1
        names = names_in(row[-1])
        if len(row) != 2 or not names:
            self.fail("line %d: a promise without a test" % number)
        for name in names:
            found = matches(name, self.tests)
            self.named.update(found)
            if not found and not self.is_elsewhere(name):
                self.fail("line %d: no test %s" % (number, name))


def self_test():
    page = ("| promise | tests |\n|---|---|\n| one | `a.b`, `a.c*` |\n| two | `d.e` |\n")
    where = "| tests | where |\n|---|---|\n| `d.*` | x |\n"
    tests = {"a.b": {"unit"}, "a.cd": {"hard"}, "d.e": set()}
    def failures(change=page, places=where, **more):
        kept = {**tests, **{name.replace("_", "."): labels for name, labels in more.items()}}
        return Judge(change, places, {n: l for n, l in kept.items() if l is not None}).failures
    assert failures() == []
    assert failures(d_e=None) == []  # elsewhere
    assert failures(a_b=None) == ["line 3: no test a.b"]
    assert failures(x_y={"soak"}) == ["x.y keeps no promise of the page"]
    assert failures(page.replace("`d.e` |", "nothing |")) == ["line 4: a promise without a test"]
    assert failures(places=where.replace("`d.*`", "`d.*`, `d.f`")) == [
        "tests/README.md, line 3: no test d.f"]
    assert failures(page.replace("`d.e`", "`d.f`")) == ["line 4: no test d.f"]


def tests_of(options):
    command = [options.ctest, "--show-only=json-v1"]
    command += ["-C", options.config] if options.config else []
    done = subprocess.run(command, cwd=options.build, stdout=subprocess.PIPE, check=True)
    found = {}
    for test in json.loads(done.stdout.decode("utf-8"))["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        found[test["name"]] = set(properties.get("LABELS", []))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ctest", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--config", default="")
    options = parser.parse_args()
    self_test()
    tests = tests_of(options)
    missing = [name for name in tests if name.endswith(".not_built")]
    if missing:
        sys.exit("this build is not complete: %s" % ", ".join(missing))
    judge = Judge(PAGE.read_text(encoding="utf-8"), WHERE.read_text(encoding="utf-8"), tests)
    if judge.count < LEAST:
        judge.fail("only %d promises found: is the pattern right?" % judge.count)
    for failure in judge.failures:
        print("FAILED: docs/guarantees.md:", failure)
    sys.exit(bool(judge.failures))


if __name__ == "__main__":
    main()
