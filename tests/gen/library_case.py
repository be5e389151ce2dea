# SPDX-License-Identifier: Apache-2.0
"""The base class of the tests of the tables of libraries (gen/library.py)."""

import os
import re

import support


class LibraryCase(support.Case):
    SOURCE = ""  # a small table
    OUTPUTS = ()  # all that is made of one
    CHECK = ""  # that of them that headers are checked with
    HEADERS = {}  # file -> text: just enough of them for SOURCE

    def write_headers(self, *replaced):
        """HEADERS, each pair's first text in them replaced by its second."""
        for name, text in self.HEADERS.items():
            for old, new in replaced:
                text = text.replace(old, new)
            self.write(name, "#pragma once\n" + text)

    def checked(self, source):
        """The compiler's exit status and output for the check of that table."""
        check = os.path.join(self.folder, self.CHECK)
        result = support.gen(self.CHECK, self.write("t.ini", source), "-o", check)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return support.compiled("-fsyntax-only", "-I" + self.folder, check)

    def changed(self, old, new):
        self.assertIn(old, self.SOURCE)
        return self.SOURCE.replace(old, new, 1)

    def assert_check_finds(self, *differences):
        """None in SOURCE, and each of (old text, new text, what the compiler speaks of)."""
        self.write_headers()
        self.assertEqual(self.checked(self.SOURCE), (0, ""))
        for old, new, said in differences:
            code, output = self.checked(self.changed(old, new))
            self.assertNotEqual(code, 0, new)
            self.assertIn(said, output)

    def refuse(self, old, new, said):
        for output in self.OUTPUTS:
            self.assert_refused(output, self.changed(old, new), said)


def loaded(output, source):
    """first symbol -> whether it is required, in a loader's table of the project"""
    printed = support.gen(output, os.path.join(support.GEN, source)).stdout
    rows = re.findall(r'(?m)^    \{+"(\w+)".*,\s+offsetof\(struct \w+, \w+\), ([01])\},$', printed)
    return {symbol: required == "1" for symbol, required in rows}
