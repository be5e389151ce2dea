# SPDX-License-Identifier: Apache-2.0
"""Small files, one for each construct (corpus/, corpus_cxx/), instrumented by functions and by
lines.

    test_corpus.py TOOL LIBRARY c|c++ [unittest arguments]

What is expected comes from other tools: the hits of lines from gcov, the calls of functions from
-finstrument-functions, output, exit status and warnings from the program without instrumentation.

All files are one program. Lines that gcov counts and that have no marker are: the heads of
functions, closing braces, and further lines of a statement; a test checks that there are no others.
"""

import collections
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

Language = collections.namedtuple("Language", "compiler folder suffix flags extern headless different")


LEFT_OUT = ("constexpr_left", "function_try")  # files with functions that are not instrumented
RANGE = "no marker is at the condition of a loop over a range: it is hit when it is entered"
TWICE = "gcov adds up parts of the statement, between which there are others"
# Lines that have no marker, and where gcov counts otherwise, and why.
C = Language(
    os.environ.get("CC", "cc"), "corpus", ".c", ["-std=gnu11"], "",
    r"""(?x) [{}]$ | (static|int|LOCAL)\b.*(\{.*|[,)])$ | .*:;?$ | (\w+|case\ \d+):\ \{$ |
        (for|while)\ \($ | for\ \(;;\).* | [A-Z]+\(.*\)\ \{$ | TARGET.* | TWICE.*""",
    {
        ("continued_lines", 10): "gcov counts a return at its value, if that is a variable, here on line 11",
        ("inline_function", 10): "gcov adds the copy of a function that is always inlined",
        ("macro_loop", 7): "the head of the loop is a macro: no marker is at its condition",
        ("switch_bare", 7): "gcov does not count a switch that has the default alone",
    })
CXX = Language(
    os.environ.get("CXX", "c++"), "corpus_cxx", ".cpp", ["-std=gnu++17"], 'extern "C" ',
    r"""(?x) .*\{\}$ | [{}]$ | .*[^ ]\(.*\).*\{$ | .*:;?$ | \}\ catch\b.* | case\ [\w:]+:\ \{$ | GETTER.*$""",
    {
        ("constructor", 24): TWICE,
        ("containers", 9): "gcov adds the calls of the lambda",
        ("containers", 10): TWICE,
        ("initialiser_list", 7): RANGE,
        ("lambda", 9): "gcov adds the calls of the lambda",
        ("lambda", 10): "gcov adds the calls of the lambda",
        ("member_pointer", 14): TWICE,
        ("range_for", 6): RANGE,
        ("range_for", 9): RANGE,
        ("range_for", 11): RANGE,
        ("range_for_class", 17): RANGE,
        ("range_for_nested", 6): RANGE,
        ("range_for_nested", 7): RANGE,
        ("unwinding", 10): "the constructor has no code",
        ("unwinding", 19): "the constructor has no code",
        ("virtual_functions", 23): TWICE,
    })

# Deleting destructors, which call those of the source; what makes objects before main.
MADE_BY_THE_COMPILER = r"D0Ev$|static_initialization|_GLOBAL__sub"
TOOL, LIBRARY = (sys.argv + ["", ""])[1:3]
LANGUAGE = CXX if sys.argv[3:4] == ["c++"] else C
SOURCES = sorted(glob.glob(os.path.join(HERE, LANGUAGE.folder, "*" + LANGUAGE.suffix)))
NAMES = [os.path.basename(os.path.splitext(path)[0]) for path in SOURCES]
FLAGS = LANGUAGE.flags + ["-O0", "-Wall", "-Wextra", "-fno-diagnostics-show-caret",
                          "-fno-show-column"]


def run(words, **more):
    return subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, **more)


def good(words, **more):
    done = run(words, **more)
    if done.returncode:
        raise AssertionError("%s\n%s%s" % (" ".join(words), done.stdout, done.stderr))
    return done


def is_class(path, line):
    """Functions there, or after the end of the file, are made by the compiler: implicit
    constructors."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return line > len(lines) or re.match(r"\s*(template <.*> )?(struct|class)\b", lines[line - 1])


class Build:
    """The corpus, compiled in one way: objects, what the compiler said, and the program's
    results."""

    def __init__(self, folder, name, flags=(), options=None, extra=(), names=tuple(NAMES)):
        sources = [path for path, stem in zip(SOURCES, NAMES) if stem in names]
        self.folder = os.path.join(folder, name)
        self.flags = list(flags)
        self.options = options
        os.makedirs(self.folder)
        words = [LANGUAGE.compiler] + FLAGS + self.flags + ["-c"] + sources
        if options is not None:
            words = [sys.executable, "-B", os.path.join(ROOT, "gen", "instrument", "instrument.py"),
                     "--functions=*", "--list=list.txt"] + options + ["--"] + words
        self.said = good(words, cwd=self.folder).stderr
        self.objects = [os.path.join(self.folder, name + ".o") for name in names]
        main = os.path.join(self.folder, "main" + LANGUAGE.suffix)
        with open(main, "w", encoding="utf-8") as file:
            file.write("#include <stdio.h>\n" + "".join(
                LANGUAGE.extern + "int corpus_%s(void);\n" % n for n in names)
                       + "int main(void) {\n" + "".join(
                           '    printf("%s %%d\\n", corpus_%s());\n' % (n, n) for n in names)
                       + "    return 3;\n}\n")
        self.program = os.path.join(self.folder, "program")
        words = [LANGUAGE.compiler] + self.flags + [main] + list(extra) + self.objects + ["-o", self.program,
                                                                             "-pthread", "-no-pie"]
        if options is not None:
            words += [LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY)]
        good(words)
        self.run = os.path.join(self.folder, "run.stint")
        self.calls = os.path.join(self.folder, "calls.txt")
        self.done = self.execute()

    def execute(self, before=(), **variables):
        """Runs the program, with the words before it in the command."""
        env = dict(os.environ, STINT_FILE=self.run, CALLS=self.calls, **variables)
        return run(list(before) + [self.program], env=env, cwd=self.folder)


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
        counting = os.path.join(folder, "calls.o")
        good([C.compiler, "-c", os.path.join(HERE, "calls.c"), "-o", counting])
        cls.hooks = Build(folder, "hooks", ["-finstrument-functions", "-g"],
                          extra=["-fno-instrument-functions", counting])

    def test_results_are_the_same(self):
        self.assertGreater(len(SOURCES), 50)
        self.assertEqual(self.gcov.done.returncode, 3)
        for build in (self.lines, self.functions):
            self.assertEqual(build.done.stdout, self.gcov.done.stdout)
            self.assertEqual((build.done.stderr, build.done.returncode), ("", 3))

    def test_warnings_are_the_same(self):
        for build in (self.lines, self.functions):
            self.assertEqual(build.said, self.gcov.said)

    def test_calls_of_functions(self):
        with open(self.hooks.calls, encoding="utf-8") as file:
            counts = [line.split() for line in file]
        places = good(["addr2line", "-e", self.hooks.program] + [count[0] for count in counts])
        symbols = {}
        for words in map(str.split, good(["nm", self.hooks.program]).stdout.splitlines()):
            if len(words) == 3:
                symbols.setdefault(int(words[0], 16), words[2])
        names = self.scopes()
        left_out = self.left_out()
        expected = {}
        for (address, calls), place in zip(counts, places.stdout.splitlines()):
            if re.search(MADE_BY_THE_COMPILER, symbols[int(address, 16)]):
                continue
            path, line = place.split(" ")[0].rsplit(":", 1)
            if path in SOURCES and (path, int(line)) not in left_out and \
                    not is_class(path, int(line)):
                name = names.get((path, int(line)), place)
                expected[name] = expected.get(name, 0) + int(calls)
        rows = json.loads(good([TOOL, "export", self.functions.run, "--to", "json"]).stdout)["stats"]
        got = {}
        for row in rows:
            got[row["name"]] = got.get(row["name"], 0) + row["calls"]
        self.assertEqual(got, expected)

    def scopes(self):
        """(path, line) -> name of the scope that the copies have there."""
        found = {}
        for path, name in zip(SOURCES, NAMES):
            copy = os.path.join(self.functions.folder, ".stint", name + ".o.copy", name + LANGUAGE.suffix)
            with open(copy, encoding="utf-8") as file:
                source = file.read().partition("#line 1 ")[2]
                for line, text in enumerate(source.splitlines()):  # the first one is the file's name
                    for scope in re.findall(r'STINT_INSTRUMENT_FUNCTION\("(.*?)"\)', text):
                        found[path, line] = scope
        return found

    def left_out(self):
        """{(path, line)} of the functions that the list names."""
        with open(os.path.join(self.functions.folder, "list.txt"), encoding="utf-8") as file:
            found = [re.match(r"(.*):(\d+): .*: left out: ", line) for line in file]
        return {(match.group(1), int(match.group(2))) for match in found if match}

    def annotated(self):
        """(file, line) -> hits"""
        hits = {}
        name = None
        for line in good([TOOL, "annotate", self.lines.run]).stdout.splitlines():
            head = re.match(r".*/(\w+)\.(?:c|cpp): .* lines?$", line)
            if head:
                name = head.group(1)
                continue
            row = re.match(r" *(\d+) +[\d.]+ [num]?s +[\d.]+ [num]?s +<?[\d.]+ +(\d+)(  |$)", line)
            if row:
                hits[name, int(row.group(2))] = int(row.group(1))
        return hits

    def exported(self, run_file):
        rows = json.loads(good([TOOL, "export", run_file, "--to", "json"]).stdout)["lines"]
        return {(row["file"], row["line"]): (row["hits"], row["self_ns"], row["total_ns"])
                for row in rows}

    def test_runs_are_added_up(self):
        once = self.exported(self.lines.run)
        self.assertEqual({(name, line): hits for (name, line), hits in self.annotated().items()},
                         {(os.path.basename(os.path.splitext(path)[0]), line): row[0]
                          for (path, line), row in once.items()})
        # The same run twice: of two runs the clocks differ.
        second = os.path.join(self.top.name, "second.stint")
        merged = os.path.join(self.top.name, "merged.stint")
        shutil.copy(self.lines.run, second)
        good([TOOL, "merge", self.lines.run, second, "-o", merged])
        both = self.exported(merged)
        self.assertEqual(set(both), set(once))
        for key, row in both.items():
            self.assertEqual(row[0], 2 * once[key][0], key)
            for got, time in zip(row[1:], once[key][1:]):
                self.assertAlmostEqual(got, 2 * time, delta=16 + time / 100, msg=str(key))

    def covered(self):
        """(file, line) -> count, of gcov"""
        counts = {}
        good(["gcov", "--json-format"] + [name + ".gcda" for name in NAMES], cwd=self.gcov.folder)
        for path in glob.glob(os.path.join(self.gcov.folder, "*.gcov.json.gz")):
            with gzip.open(path) as file:
                data = json.load(file)
            for source in data["files"]:
                name = os.path.basename(os.path.splitext(source["file"])[0])
                for line in source["lines"]:
                    key = name, line["line_number"]
                    instances = counts.setdefault(key, {})
                    instance = line.get("function_name", "")
                    instances[instance] = max(instances.get(instance, 0), line["count"])
        # A line of a template counts for each of its instances.
        return {key: sum(instances.values()) for key, instances in counts.items()}

    def test_hits_of_lines(self):
        hits = self.annotated()
        covered = self.covered()
        self.assertEqual({name for name, _ in hits}, set(NAMES))
        wrong = []
        for key, n in sorted(hits.items()):
            if key in LANGUAGE.different:
                continue
            if covered.get(key, 0 if not n else "none") != n:
                wrong.append("%s:%d: %d hits, gcov: %s" % (*key, n, covered.get(key, "none")))
        self.assertEqual(wrong, [])

    @unittest.skipIf(LANGUAGE is CXX, "its files are those in C")
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
        rows = [table.count("<tr") for table in text.split("</table>")]
        self.assertIn(18, rows) # a head and 17 lines, beside the list of the hottest
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
            if name not in NAMES or name in LEFT_OUT:
                continue
            path = os.path.join(HERE, LANGUAGE.folder, name + LANGUAGE.suffix)
            with open(path, encoding="utf-8") as file:
                before, text = [t.strip() for t in file.read().splitlines()[line - 2:line]]
            # A line that does not follow the end of a statement continues that statement.
            if before[-1:] in ";{}:/" and not re.match(LANGUAGE.headless, text):
                wrong.append("%s:%d: %s" % (name, line, text))
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    try:
        clang_ast.find_clang()
    except clang_ast.AstError as e:
        print("skipped:", e)
        sys.exit(77)
    for needed in ("gcov", "addr2line", LANGUAGE.compiler.split()[0]):
        if not shutil.which(needed):
            print("skipped: no", needed)
            sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
