# SPDX-License-Identifier: Apache-2.0
"""Small files, one for each construct (corpus/), instrumented by functions and by lines.

    test_corpus.py TOOL LIBRARY [unittest arguments]

What is expected comes from other tools: the hits of lines from gcov, the calls of functions from
-finstrument-functions, output, exit status and warnings from the program without instrumentation.

All files are one program. Lines that gcov counts and that have no marker are: the heads of functions, closing
braces, and further lines of a statement; a test checks that there are no others.
"""

import csv
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
import instrument  # noqa: E402

CC = os.environ.get("CC", "cc")
TOOL, LIBRARY = (sys.argv + ["", ""])[1:3]
SOURCES = sorted(glob.glob(os.path.join(HERE, "corpus", "*.c")))
NAMES = [os.path.basename(path)[:-2] for path in SOURCES]
WARNINGS = ["-std=gnu11", "-O0", "-Wall", "-Wextra", "-fno-diagnostics-show-caret", "-fno-show-column"]

HAS_NO_MARKER = r"""(?x) [{}]$ | (static|int|LOCAL)\b.*(\{.*|[,)])$ | .*:;?$ | (\w+|case\ \d+):\ \{$"""

# Where gcov counts otherwise, and why.
DIFFERENT = {
    ("continued_lines", 10): "gcov counts a return at its value, if that is a variable, here on line 11",
    ("inline_function", 10): "gcov adds the copy of a function that is always inlined",
    ("macro_loop", 7): "the head of the loop is a macro: no marker is at its condition",
    ("switch_bare", 7): "gcov does not count a switch that has the default alone",
}


def run(words, **more):
    return subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, **more)


def good(words, **more):
    done = run(words, **more)
    if done.returncode:
        raise AssertionError("%s\n%s%s" % (" ".join(words), done.stdout, done.stderr))
    return done


class Build:
    """The corpus, compiled in one way: objects, what the compiler said, and the program's results."""

    def __init__(self, folder, name, flags=(), options=None, extra=()):
        self.folder = os.path.join(folder, name)
        self.flags = list(flags)
        self.options = options
        os.makedirs(self.folder)
        words = [CC] + WARNINGS + self.flags + ["-c"] + SOURCES
        if options is not None:
            words = [sys.executable, "-B", os.path.join(ROOT, "gen", "instrument", "instrument.py"),
                     "--functions=*"] + options + ["--"] + words
        self.said = good(words, cwd=self.folder).stderr
        self.objects = [os.path.join(self.folder, name + ".o") for name in NAMES]
        main = os.path.join(self.folder, "main.c")
        with open(main, "w", encoding="utf-8") as file:
            file.write("#include <stdio.h>\n" + "".join("int corpus_%s(void);\n" % n for n in NAMES)
                       + "int main(void) {\n" + "".join(
                           '    printf("%s %%d\\n", corpus_%s());\n' % (n, n) for n in NAMES)
                       + "    return 3;\n}\n")
        self.program = os.path.join(self.folder, "program")
        words = [CC] + self.flags + [main] + list(extra) + self.objects + ["-o", self.program,
                                                                             "-pthread", "-no-pie"]
        if options is not None:
            words += [LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY)]
        good(words)
        self.run = os.path.join(self.folder, "run.stint")
        self.calls = os.path.join(self.folder, "calls.txt")
        self.done = run([self.program], env=dict(os.environ, STINT_FILE=self.run, CALLS=self.calls),
                        cwd=self.folder)


class Corpus(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.top.cleanup)
        folder = cls.top.name
        cls.gcov = Build(folder, "gcov", ["--coverage"])
        cls.lines = Build(folder, "lines", options=["--lines"])
        cls.functions = Build(folder, "functions", options=[])
        cls.hooks = Build(folder, "hooks", ["-finstrument-functions"],
                          extra=["-fno-instrument-functions", os.path.join(HERE, "calls.c")])

    def test_results_are_the_same(self):
        self.assertGreater(len(SOURCES), 60)
        self.assertEqual(self.gcov.done.returncode, 3)
        for build in (self.lines, self.functions):
            self.assertEqual(build.done.stdout, self.gcov.done.stdout)
            self.assertEqual((build.done.stderr, build.done.returncode), ("", 3))

    def test_warnings_are_the_same(self):
        for build in (self.lines, self.functions):
            self.assertEqual(build.said, self.gcov.said)

    def test_calls_of_functions(self):
        symbols = {}
        for line in good(["nm", self.hooks.program]).stdout.splitlines():
            words = line.split()
            if len(words) == 3:
                symbols.setdefault(int(words[0], 16), words[2])
        expected = {}
        with open(self.hooks.calls, encoding="utf-8") as file:
            for line in file:
                address, calls = line.split()
                name = symbols[int(address, 16)]
                expected[name] = expected.get(name, 0) + int(calls)
        expected.pop("main", None)  # is not instrumented here
        rows = json.loads(good([TOOL, "export", self.functions.run, "--to", "json"]).stdout)["stats"]
        got = {}
        for row in rows:
            got[row["name"]] = got.get(row["name"], 0) + row["calls"]
        self.assertEqual(got, expected)

    def annotated(self):
        """(file, line) -> hits"""
        hits = {}
        name = None
        for line in good([TOOL, "annotate", self.lines.run]).stdout.splitlines():
            head = re.match(r".*/(\w+)\.c: .* lines?$", line)
            if head:
                name = head.group(1)
                continue
            row = re.match(r" *(\d+) +[\d.]+ [num]?s +[\d.]+ [num]?s +<?[\d.]+ +(\d+)(  |$)", line)
            if row:
                hits[name, int(row.group(2))] = int(row.group(1))
        return hits

    def covered(self):
        """(file, line) -> count, of gcov"""
        counts = {}
        good(["gcov", "--json-format"] + [name + ".gcda" for name in NAMES], cwd=self.gcov.folder)
        for path in glob.glob(os.path.join(self.gcov.folder, "*.gcov.json.gz")):
            with gzip.open(path) as file:
                data = json.load(file)
            for source in data["files"]:
                name = os.path.basename(source["file"])[:-2]
                for line in source["lines"]:
                    key = name, line["line_number"]
                    counts[key] = max(counts.get(key, 0), line["count"])
        return counts

    def test_hits_of_lines(self):
        hits = self.annotated()
        covered = self.covered()
        self.assertEqual({name for name, _ in hits}, set(NAMES))
        wrong = []
        for key, n in sorted(hits.items()):
            if key in DIFFERENT:
                continue
            if covered.get(key, "none") != n:
                wrong.append("%s.c:%d: %d hits, gcov: %s" % (*key, n, covered.get(key, "none")))
        self.assertEqual(wrong, [])

    def test_annotate(self):
        source = os.path.join(HERE, "corpus", "logic.c")
        hottest = good([TOOL, "annotate", self.lines.run, "--source", source, "--sort", "hits",
                        "--top", "1"]).stdout.splitlines()
        self.assertEqual(len(hottest), 3)
        self.assertRegex(hottest[0], r"logic\.c: .* in \d+ lines$")
        self.assertRegex(hottest[2], r"^ +1 +\S+ \S+ +\S+ \S+ +\S+ +5      calls\+\+;$")
        whole = good([TOOL, "annotate", self.lines.run, "--source", "logic.c"])
        self.assertIn("the source cannot be read", whole.stdout)
        page = os.path.join(self.top.name, "page.html")
        good([TOOL, "annotate", self.lines.run, "--source", source, "--html", page])
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("if (n &amp;&amp; yes()) {</pre>", text)
        self.assertEqual(text.count("<tr"), 18)
        done = run([TOOL, "annotate", self.lines.run, "--source", "no_such.c"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no lines of no_such.c", done.stderr)
        done = run([TOOL, "annotate", self.functions.run])
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no source lines", done.stderr)

    def test_what_has_no_marker(self):
        hits = self.annotated()
        wrong = []
        for name, line in sorted(set(self.covered()) - set(hits)):
            if name not in NAMES:
                continue
            with open(os.path.join(HERE, "corpus", name + ".c"), encoding="utf-8") as file:
                before, text = [t.strip() for t in file.read().splitlines()[line - 2:line]]
            # Without the end of a statement before it, it continues one.
            if before[-1:] in ";{}:/" and not re.match(HAS_NO_MARKER, text):
                wrong.append("%s.c:%d: %s" % (name, line, text))
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    try:
        clang_ast.find_clang()
    except clang_ast.AstError as e:
        print("skipped:", e)
        sys.exit(77)
    if not shutil.which("gcov"):
        print("skipped: no gcov")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
