# SPDX-License-Identifier: Apache-2.0
"""The manual pages stint(3) and stint(7)."""

import os
import re
import shutil
import subprocess
import sys
import unittest

import support

sys.dont_write_bytecode = True
sys.path.insert(0, support.GEN)
import header  # noqa: E402

HEADER = os.path.join(support.ROOT, "include", "stint", "stint.h")


class Manual(support.Case):
    def names(self):
        _, sections = header.read(HEADER)
        return [one.name for _, entries in sections for entry in entries for one in entry.declarations]

    def pages(self):
        subprocess.run([sys.executable, "-B", os.path.join(support.GEN, "manual.py"), "api", self.folder],
                       check=True)
        return [support.read(self.folder, name) for name in ("stint.3", "stint.7")]

    def test_all_names(self):
        """Every macro of the header, and every function that the library exports for users."""
        names = self.names()
        self.assertEqual(len(names), len(set(names)))
        text = support.read(support.ROOT, "include", "stint", "stint.h")
        macros = set(re.findall(r"^#define ([A-Z]\w+)", text, re.M))
        public = {name for name in macros if "IMPL" not in name} - {"STINT_STINT_H"}
        exported = set(re.findall(r"\b(stint_\w+)\(", support.read(support.ROOT, "tests", "structure",
                                                                   "layout.txt")))
        public |= {name for name in exported if not name.startswith("stint_impl_") and name in text}
        self.assertEqual(public - set(names), set())
        self.assertIn("stint_gpu_flush", public)
        page = self.pages()[0]
        for name in names:
            self.assertRegex(page, r"(?m)^\.(It (Fn|Dv|Vt)|Fn) %s\b" % name)

    def test_declarations(self):
        path = self.write("h.h", """/* stint: a title. More.
 *
 * A text. A second sentence.
 *     indented
 */
/* A detail. */
#define STINT_IMPL_X 1
/* The version. */
#define STINT_ONE 1
#define STINT_TWO 2 /* two */
/* ---- Functions ---- */
/* Prints `that`, see f(). */
STINT_IMPL_FUNCTION(const char *, 0, stint_f, (const char *name,
                    stint_set * set),
                    ((void)name, (void)set))
/* ---- Details, not for users */
""")
        opening, sections = header.read(path)
        self.assertEqual(opening.split("\n")[0], "stint: a title. More.")
        found = [(title, [(one.kind, one.name, one.parameters, one.form) for one in entry.declarations],
                  entry.comment) for title, entries in sections for entry in entries]
        self.assertEqual(found, [
            ("Constants and types", [("macro", "STINT_ONE", None, None),
                                     ("macro", "STINT_TWO", None, None)], "The version."),
            ("Functions", [("function", "stint_f", "const char *name, stint_set *set", "const char *")],
             "Prints `that`, see f().")])

    @unittest.skipUnless(shutil.which("mandoc"), "no mandoc")
    def test_lint(self):
        self.pages()
        for name in ("stint.3", "stint.7"):
            done = subprocess.run(["mandoc", "-Tlint", "-Wstyle", os.path.join(self.folder, name)],
                                  stdout=subprocess.PIPE, universal_newlines=True, check=False)
            wrong = [line for line in done.stdout.splitlines() if "manual not found" not in line]
            self.assertEqual(wrong, [])

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_groff(self):
        self.pages()
        for name in ("stint.3", "stint.7"):
            done = subprocess.run(["groff", "-ww", "-mandoc", "-Tascii", os.path.join(self.folder, name)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_environment(self):
        page = self.pages()[1]
        for name in re.findall(r"(?m)^\[(\w+)\]", support.read(support.GEN, "env.ini")):
            self.assertIn("\n.It Ev %s\n" % name, page)


if __name__ == "__main__":
    unittest.main()
