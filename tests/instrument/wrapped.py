# SPDX-License-Identifier: Apache-2.0
"""Functions that the tests of `stint instrument` share; arguments: TOOL LIBRARY [unittest
arguments]."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "gen", "instrument"))

import clang_ast  # noqa: E402

CC = os.environ.get("CC", "cc")
CXX = os.environ.get("CXX", "")
FLAGS = os.environ.get("CFLAGS", "").split()
ARGUMENTS = sys.argv[1:3]


class Wrapped(unittest.TestCase):
    """A test in a folder of its own."""

    def setUp(self):
        # Spaces and more than ASCII in every path.
        self.top = tempfile.TemporaryDirectory()
        self.addCleanup(self.top.cleanup)
        self.folder = os.path.join(self.top.name, "a b \u00e9")
        os.makedirs(self.path("source"))
        os.makedirs(self.path("build"))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_in(self, *words, env=None):
        return subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.PIPE, universal_newlines=True,
                              env=dict(os.environ, **(env or {})))

    def instrument(self, *words, options=("--functions", "*")):
        return self.run_in(ARGUMENTS[0], "instrument", *options, "--library", ARGUMENTS[1], "--",
                           *words)

    def good(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def calls(self, *program):
        """The output of the program, and the number of calls of each scope."""
        done = self.run_in(*program, env={"STINT_FILE": self.path("run.stint")})
        rows = self.run_in(ARGUMENTS[0], "export", self.path("run.stint"), "--to", "json")
        self.assertEqual((done.stderr, rows.returncode), ("", 0), rows.stderr)
        os.remove(self.path("run.stint"))
        return (done.stdout,
                {row["name"]: row["calls"] for row in json.loads(rows.stdout)["stats"]})


def main():
    try:
        clang_ast.find_clang()
    except clang_ast.AstError as e:
        print("skipped:", e)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
