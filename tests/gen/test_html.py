# SPDX-License-Identifier: Apache-2.0
"""report.html: the page of one file, and its two arrays."""

import base64
import hashlib
import os
import re
import unittest

import support

PAGE = """<!DOCTYPE html>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<link rel="stylesheet" href="a.css">
<script type="application/json">@DATA@</script>
<script src="b.js"></script>
<script src="c.js"></script>
"""
REAL = os.path.join(support.ROOT, "runtime", "export", "tool", "html", "report.html")


class Page(support.Case):
    def setUp(self):
        super().setUp()
        self.write("a.css", "/* says\n * nothing */\nb {\n    top: 0;\n}\n")
        self.write("b.js", "// nothing\n\"use strict\";\n\n    const a = `1`; // stays\n")
        self.write("c.js", "const b = 2;\n")

    def page(self, text=PAGE):
        return support.gen("report.html", self.write("report.html", text))

    def refuse(self, said, text=PAGE):
        result = self.page(text)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, "%s\n" % said.replace("DIR", self.folder))

    def test_joined(self):
        text = self.page().stdout
        parts = re.findall(r"<(?:style|script)>(.*?)</", text, re.S)
        self.assertEqual(parts, ["b {\ntop: 0;\n}\n", "\"use strict\";\nconst a = `1`; // stays\n",
                                 "const b = 2;\n"])
        hashes = ["'sha256-%s'" % base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
                  for part in parts]
        self.assertIn("content=\"default-src 'none'; style-src %s; script-src %s %s\""
                      % tuple(hashes), text)
        self.assertNotIn("src=", text)
        self.assertNotIn("href=", text)

    def test_two_arrays(self):
        result = support.gen("report_html.inc", self.write("report.html", PAGE))
        arrays = re.findall(r"static const char (\w+)\[(\d+)\] = {([\d,\s]+)};", result.stdout)
        self.assertEqual([name for name, _, _ in arrays], ["html_before", "html_after"])
        halves = ["".join(chr(int(byte)) for byte in data.split(",")) for _, _, data in arrays]
        self.assertEqual([len(half) for half in halves], [int(size) for _, size, _ in arrays])
        self.assertEqual("@DATA@".join(halves), self.page().stdout)

    def test_refused(self):
        self.refuse("DIR/report.html: expected '@DATA@' once", PAGE.replace("@DATA@", ""))
        self.refuse("DIR/report.html: expected 'default-src 'none'' once",
                    PAGE.replace("'none'", "'self'"))

    def test_place_in_a_script(self):
        self.write("c.js", "const b = \"@DATA@\";\n")
        self.refuse("DIR/report.html: one of its files contains '@DATA@'")

    def test_end_in_a_script(self):
        self.write("c.js", "const b = \"</SCRIPT>\";\n")
        self.refuse("DIR/c.js: '</script' would end it or hide the rest")

    def test_lines_in_a_literal(self):
        self.write("c.js", "const b = `\n    kept?`;\n")
        self.refuse("DIR/c.js: line 1: a template literal over several lines")

    def test_not_ascii(self):
        self.write("c.js", "// \u00b5s\n")
        self.refuse("DIR/c.js: not ASCII")

    def test_from_elsewhere(self):
        line = "<script src=\"https://example.com/c.js\">"
        self.refuse("DIR/report.html: '%s' would not be in the page" % line,
                    PAGE + line + "</script>\n")

    def test_missing(self):
        os.remove(os.path.join(self.folder, "c.js"))
        self.refuse("DIR/c.js: No such file or directory")

    def test_too_large(self):
        self.write("c.js", "const b = 2;\n" * 12000)
        result = self.page()
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"the page is \d+ bytes, the limit is 153600\n\Z")


class Real(unittest.TestCase):
    def test_is_one_file(self):
        result = support.gen("report.html", REAL)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertNotRegex(result.stdout, r"""(src|href)=["'](?!#)|url\(|@import|"""
                                           r"https?://(?!www\.w3\.org/2000/svg)")

    def test_markup_comes_from_nowhere_else(self):
        """Names in the data are anybody's: nothing of the page turns text into markup or code."""
        folder = os.path.dirname(REAL)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".js"):
                self.assertNotRegex(support.read(folder, name),
                                    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|"
                                    r"\beval\b|new Function|setTimeout\(\s*[\"'`]", name)


if __name__ == "__main__":
    unittest.main()
