# SPDX-License-Identifier: Apache-2.0
"""A library that others wrote, instrumented by functions and by lines: zlib from the source package
of Debian, which apt-get fetches into a temporary folder. Its own tests must pass. Skipped where it
cannot be had.

    test_library.py TOOL LIBRARY [unittest arguments]

The hits of lines are compared with gcov, as those of the corpus are.
"""

import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "gen", "instrument"))

import clang_ast  # noqa: E402
from debian_source import fetch, run, skip  # noqa: E402

CC = os.environ.get("CC", "cc")
TOOL, LIBRARY = (sys.argv + ["", ""])[1:3]
CONFIGURED = " -D_LARGEFILE64_SOURCE=1 -DHAVE_HIDDEN"
EVERY = "--functions=-no_such_function"  # no character that a shell replaces


def configure():
    """The folder of zlib's sources."""
    if not shutil.which("gcov"):
        skip("no gcov")
    source = fetch(TOP, "zlib")
    done = run(["./configure", "--static"], cwd=source, env=dict(os.environ, CC=CC))
    if done.returncode:
        skip("zlib's configure: " + done.stdout[-300:])
    return source


class Zlib(unittest.TestCase):
    maxDiff = None

    def make(self, name, target, compiler, flags):
        """Builds the target in a folder of that name; returns the folder, and what make printed."""
        folder = os.path.join(TOP, name)
        shutil.copytree(SOURCE, folder)
        done = run(["make", "-j2", target, "CC=" + compiler, "CFLAGS=" + flags + CONFIGURED], cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        return folder, done.stdout

    def build(self, name, compiler):
        """Builds zlib and runs its tests; returns the folder."""
        folder, output = self.make(name, "teststatic", compiler, "-O1")
        self.assertIn("*** zlib test OK ***", output)
        self.assertNotIn("FAILED", output)
        return folder

    def instrumented(self, name, *options):
        listed = os.path.join(TOP, name + ".txt")
        folder = self.build(name, " ".join([TOOL, "instrument", EVERY, "--list", listed, "--library",
                                            LIBRARY, *options, "--", CC]))
        with open(listed, encoding="utf-8") as file:
            text = file.read()
        total = re.match(r"total: (\d+) files, (\d+) functions instrumented, (\d+) left out", text)
        self.assertFalse("not instrumented" in text or not total, text)
        files, done, left = map(int, total.groups())
        self.assertGreaterEqual(files, 15)
        self.assertGreater(done, 120)
        self.assertGreaterEqual(done, 0.95 * (done + left), text)
        return folder

    def compress(self, folder):
        """Runs the program minigzip on a file of the sources; returns its run file."""
        path = os.path.join(folder, "run.stint")
        with open(os.path.join(SOURCE, "deflate.c"), "rb") as data:
            packed = subprocess.run([os.path.join(folder, "minigzip"), "-9"], stdin=data, check=True,
                                    stdout=subprocess.PIPE, env=dict(os.environ, STINT_FILE=path))
        with open(os.path.join(SOURCE, "deflate.c"), "rb") as data:
            self.assertEqual(gzip.decompress(packed.stdout), data.read())
        return path

    def test_functions(self):
        folder = self.instrumented("functions")
        run_file = self.compress(folder)
        rows = json.loads(run([TOOL, "export", run_file, "--to", "json"]).stdout)["stats"]
        calls = {row["name"]: row["calls"] for row in rows}
        self.assertEqual(calls["main"], 1)
        self.assertGreater(calls["longest_match"], 1000)

    def test_lines(self):
        folder = self.instrumented("lines", "--lines")
        run_file = self.compress(folder)
        covered, _ = self.make("gcov", "minigzip", CC, "-O0 --coverage")
        for path in glob.glob(os.path.join(covered, "*.gcda")):
            os.remove(path)
        self.compress(covered)
        counts = {}
        names = [os.path.basename(p) for p in glob.glob(os.path.join(covered, "*.gcda"))]
        self.assertEqual(run(["gcov", "--json-format"] + names, cwd=covered).returncode, 0)
        for path in glob.glob(os.path.join(covered, "*.gcov.json.gz")):
            with gzip.open(path) as file:
                for source in json.load(file)["files"]:
                    for line in source["lines"]:
                        key = os.path.basename(source["file"]), line["line_number"]
                        counts[key] = max(counts.get(key, 0), line["count"])
        self.compare(run_file, counts)

    def compare(self, run_file, counts):
        name = None
        same = other = 0
        wrong = []
        for line in run([TOOL, "annotate", run_file]).stdout.splitlines():
            head = re.match(r"(?:.*/)?(\w+\.c): .* lines(; the source cannot be read)?$", line)
            row = re.match(r" *(\d+) +[\d.]+ [num]?s +[\d.]+ [num]?s +<?[\d.]+ +(\d+)(  |$)", line)
            if head:
                name = head.group(1)
            elif row:
                hits, number = int(row.group(1)), int(row.group(2))
                if counts.get((name, number)) == hits:
                    same += 1
                elif hits or counts.get((name, number)):
                    other += 1
                    wrong.append("%s:%d: %d hits, gcov %s" % (name, number, hits,
                                                              counts.get((name, number))))
        print("%d lines as gcov, %d not" % (same, other))
        self.assertGreater(same, 1000)
        self.assertLess(other, 0.02 * same, "\n".join(wrong))


if __name__ == "__main__":
    try:
        clang_ast.find_clang()
    except clang_ast.AstError as e:
        skip(e)
    with tempfile.TemporaryDirectory() as TOP:
        SOURCE = configure()
        unittest.main(argv=sys.argv[:1] + sys.argv[3:], exit=True)
