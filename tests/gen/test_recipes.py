# SPDX-License-Identifier: Apache-2.0
"""Follows the lists of files in CONTRIBUTING.md (How to): makes an example of each change in a copy of
the sources, in the files of its list and in no other, runs gen/documents.py, builds the library and the
tool, and uses what is new. The examples are in recipes.txt."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import support

OPTIONS = ("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O0", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON",
           "-DSTINT_BUILD_TESTS=OFF", "-DSTINT_BUILD_SAMPLES=OFF")
# Tests of tables, which a new entry must not break.
TABLES = ("columns", "env", "formats", "options", "tables", "words")
PROGRAM = """#include <stdio.h>
#include "stint/stint.h"
extern __attribute__((weak)) void marker_push(const char *), marker_pop(void);
static void join(void) {
    STINT_TIMER_WAITING("joined");
    STINT_TIMER_MARK("a mark");
}
int main(void) {
    stint_stat stat = {0};
    join();
    if (marker_push) {
        marker_push("pushed");
        marker_pop();
    }
    stint_stat_get("joined", &stat, sizeof stat);
    printf("stat %d\\n", (int)stat.marks);
    return 0;
}
"""


def lists():
    """Title of a paragraph "**Add ...**" -> the files of its list: lines that begin with "- `FILE`"."""
    text = support.read(support.ROOT, "CONTRIBUTING.md").partition("\n## How to\n")[2]
    parts = re.findall(r"(?ms)^\*\*(.*?)\.\*\*(.*?)(?=^\*\*|\Z)", text)
    found = {title: re.findall(r"(?m)^- `([^`]+)`", rest) for title, rest in parts}
    return {title: files for title, files in found.items() if files}


def examples():
    """Title -> its edits: (file, "after", "before" or "", the line there, text)."""
    edit = re.compile(r"(?ms)^@@ (\S+)(?: (after|before) ([^\n]*))?\n(.*?)(?=^@@ |\Z)")
    parts = re.split(r"(?m)^== (.*)\n", support.read(support.HERE, "recipes.txt"))
    return dict(zip(parts[1::2], map(edit.findall, parts[2::2])))


def is_file_of(item, file):
    """Whether the file is an item of a list, in which <word> is a name to be chosen."""
    return re.fullmatch(re.sub(r"<\w+>", r"\\w+", item), file)


def insert(text, file, where, line, new):
    if not where:
        return text + new
    found = [whole for whole in text.splitlines(True) if whole.strip() == line]
    if len(found) != 1:
        raise AssertionError("%s has %d lines '%s': tests/gen/recipes.txt needs another line there"
                             % (file, len(found), line))
    both = (found[0], new) if where == "after" else (new, found[0])
    return text.replace(found[0], "".join(both))


class Lists(unittest.TestCase):
    def test_files(self):
        """Each list has the files of its example, and no other."""
        self.assertEqual(sorted(lists()), sorted(examples()))
        for title, files in lists().items():
            touched = sorted({edit[0] for edit in examples()[title]})
            more = [file for file in touched if not any(is_file_of(item, file) for item in files)]
            less = [item for item in files if not any(is_file_of(item, file) for file in touched)]
            self.assertEqual((more, less), ([], []), "files that the list of CONTRIBUTING.md lacks "
                             "and has too many: " + title)
        self.assertLessEqual(len(lists()["Add a range interface"]), 4)

    def test_an_insertion_that_finds_no_place(self):
        self.assertEqual(insert("a\n b\n", "file", "after", "b", "c\n"), "a\n b\nc\n")
        self.assertEqual(insert("a\n b\n", "file", "before", "b", "c\n"), "a\nc\n b\n")
        with self.assertRaisesRegex(AssertionError, "file has 0 lines 'd': tests/gen/recipes.txt needs"):
            insert("a\n", "file", "after", "d", "c\n")


class Recipes(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix="stint-recipes-")
        cls.addClassCleanup(shutil.rmtree, cls.top)
        cls.source = os.path.join(cls.top, "stint")
        cls.build = os.path.join(cls.top, "build")
        shutil.copytree(support.ROOT, cls.source, symlinks=True, copy_function=shutil.copyfile,
                        ignore=shutil.ignore_patterns("build", "build-*", ".git", "__pycache__"))
        for folder, _, _ in os.walk(cls.source):
            os.chmod(folder, 0o755)  # the sources may be read-only
        for edits in examples().values():
            for file, where, line, new in edits:
                path = os.path.join(cls.source, file)
                old = support.read(path) if os.path.exists(path) else ""
                with open(path, "w", encoding="utf-8") as out:
                    out.write(insert(old, file, where, line, new))
        cls.python("gen/documents.py")
        generator = ("-G", "Ninja") if shutil.which("ninja") else ()
        cmake = os.environ.get("CMAKE_COMMAND", "cmake")
        cls.run_in(cmake, *generator, *OPTIONS, "-S", cls.source, "-B", cls.build)
        cls.run_in(cmake, "--build", cls.build, "--parallel", "2", "--target", "stint_tool",
                   "stint_ranges")
        cls.tool = os.path.join(cls.build, "runtime", "tool", "stint")
        cls.record()

    @classmethod
    def record(cls):
        """A run of a program with the new macro and interface."""
        with open(os.path.join(cls.top, "program.c"), "w", encoding="ascii") as file:
            file.write(PROGRAM)
        libraries = os.path.join(cls.build, "runtime")
        cls.run_in(*os.environ.get("CC", "cc").split(), "-DWITH_TIMER", "program.c", "-o", "program",
                   "-I" + os.path.join(cls.source, "include"), "-L" + libraries, "-lstint",
                   "-Wl,-rpath," + libraries)
        cls.said = cls.run_in(cls.tool, "run", "--ranges=marker", "--trace", "1M", "--file", "run.stint", "./program")

    @classmethod
    def run_in(cls, *command, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")
                       and k != "CMAKE_GENERATOR"}
        done = subprocess.run(command, cwd=cls.top, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, errors="replace",
                              env={**environment, **variables})
        if done.returncode:
            raise AssertionError("%s\nexit status %d of %s" % (
                done.stdout[-4000:], done.returncode, " ".join(command)))
        return done.stdout

    @classmethod
    def python(cls, script, *arguments):
        return cls.run_in(sys.executable, "-B", os.path.join(cls.source, script), *arguments)

    def export(self, form, file="run.stint"):
        return self.run_in(self.tool, "export", file, "--to", form)

    def test_tables(self):
        for name in TABLES:
            self.python("tests/gen/test_%s.py" % name)
        self.python("tests/docs/check_docs.py", "names")

    def rows(self):
        return json.loads(self.export("json"))["stats"]

    def test_number(self):
        found = {row["name"]: row.get("marks") for row in self.rows()}
        self.assertEqual(found, {"joined": 1, "pushed": None})
        self.assertRegex(self.said, r"(?m)^name +calls .*\bmarks\b")
        self.run_in("./program", STINT_FILE="2.stint", STINT_TRACE="1M")
        self.run_in(self.tool, "merge", "--output", "merged.stint", "run.stint", "2.stint")
        self.assertIn('"marks":2', self.export("json", "merged.stint"))
        self.assertRegex(self.export("csv"), r"(?m)^name,.*,marks")
        self.assertIn("stat 1\n", self.said)
        self.assertIn('"stint.scope.marks"', self.export("otlp"))
        said = self.run_in(self.tool, "diff", "--metric", "marks", "run.stint", "merged.stint")
        self.assertRegex(said, r"(?m)^joined .*100")
        self.run_in(self.tool, "export", "--to", "history", "-o", "history", "run.stint", "2.stint")
        self.assertIn("marks", "".join(support.read(self.top, "history", name)
                                       for name in os.listdir(os.path.join(self.top, "history"))))
        self.assertIn('stint_scope_marks_total{name="joined"', self.export("prometheus"))

    def test_column(self):
        self.assertEqual({row["variation_ppm"] for row in self.rows()}, {1500000})

    def test_environment_variable(self):
        said = self.run_in("./program", STINT_REPORT="table", STINT_TITLE="a title")
        self.assertIn("a title\nstint table: ", said)

    def test_format(self):
        with open(os.path.join(self.top, "run.md"), "w", encoding="ascii") as file:
            file.write(self.export("markdown"))
        self.assertIn("- 1\n", support.read(self.top, "run.md"))
        self.python("tests/tool/check_export.py", "check", "markdown", "run.md")

    def test_range_interface(self):
        self.assertIn("ranges: marker: 1\n", self.said)
        self.assertIn("\npushed ", self.said)

    def test_macro(self):
        self.assertIn("\njoined ", self.said)
        self.python("tests/macros/compile.py", "coverage")


if __name__ == "__main__":
    unittest.main()
