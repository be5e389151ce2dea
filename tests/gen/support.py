# SPDX-License-Identifier: Apache-2.0
"""Functions and the base class of the tests of the generator: they write a table to a folder of the
test, run gen.py on it, and compare its output with an expected text."""

import contextlib
import difflib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GEN = os.path.join(ROOT, "gen")
sys.path.insert(0, GEN)
import gen as generator  # noqa: E402

# Above all C that is made of a table t.ini
HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* Generated from t.ini by gen.py: edit the table, not this file. */
"""


class Output(io.StringIO):
    """Standard output in memory: generated files are written as bytes."""

    @property
    def buffer(self):
        return self

    def write(self, data):
        return super().write(data.decode("ascii") if isinstance(data, bytes) else data)


def gen(*args):
    """gen.py in this process: hundreds of starts of an interpreter would take minutes."""
    out, said = Output(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        try:
            status = generator.main(list(args))
        except SystemExit as end:  # argparse
            status = end.code
    return subprocess.CompletedProcess(args, status, out.getvalue(), said.getvalue())


def gen_command(*args):
    # The environment is that of a user's shell: the caller may have switched byte code off.
    environment = {key: value for key, value in os.environ.items()
                   if key != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([sys.executable, os.path.join(GEN, "gen.py")] + list(args),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          env=environment)


def compiled(*args):
    """(exit status, all it said) of the compiler, to which every warning is an error"""
    result = subprocess.run(
        os.environ.get("CC", "cc").split() + ["-std=c11", "-Wall", "-Wextra", "-Wpedantic",
                                              "-Wshadow", "-Wconversion", "-Werror"] + list(args),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    return result.returncode, result.stdout


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def rules(text):
    """Output -> the tables that StintGen.cmake says it is made of."""
    calls = [call.split() for call in re.findall(r"stint_generate_one\(stamps ([^)]*)\)", text)]
    return {call[1]: [call[0]] + call[2:] for call in calls}


def missing(expected, text, lines=3):
    """The text of assertIn for a long text: the expected lines, and those that resemble them."""
    said = []
    have = text.split("\n")
    for wanted in expected.strip("\n").split("\n"):
        if wanted not in text:
            said.append("- %s" % wanted)
            said += ["+ %s" % line[:200]
                     for line in difflib.get_close_matches(wanted, have, lines, 0.4)]
    return "\n".join(["not found:"] + said)


class Case(unittest.TestCase):
    maxDiff = None

    def assertIn(self, member, container, msg=None):
        if isinstance(container, str) and member not in container:
            self.fail(msg or missing(member, container))
        super().assertIn(member, container, msg)

    def assertRegex(self, text, expected_regex, msg=None):
        if len(text) > 500:
            found = expected_regex.search(text) if hasattr(expected_regex, "search") \
                else re.search(expected_regex, text)
            if not found:
                pattern = getattr(expected_regex, "pattern", expected_regex)
                self.fail(msg or missing(pattern, text))
            return
        super().assertRegex(text, expected_regex, msg)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="stint-gen-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def assert_golden(self, output, source, expected):
        result = gen(output, self.write("t.ini", source))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        if result.stdout != expected:
            diff = difflib.unified_diff(expected.split("\n"), result.stdout.split("\n"),
                                        "expected", "generated", n=1, lineterm="")
            self.fail("\n".join(list(diff)[:40]))

    def assert_refused(self, output, source, said):
        """Exit 1, and exactly one line: the file, then `said`."""
        path = self.write("t.ini", source)
        result = gen(output, path)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, "%s: %s\n" % (path, said))
