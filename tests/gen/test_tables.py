# SPDX-License-Identifier: Apache-2.0
"""The tables of the project: the pages made of them are current, and what the public header says in its
own words agrees with them. The build compiles what is made of them."""

import os
import re
import subprocess
import sys
import unittest
import unittest.mock

import support

sys.dont_write_bytecode = True
sys.path.insert(0, support.GEN)
import columns  # noqa: E402
import documents  # noqa: E402
import env  # noqa: E402
import status  # noqa: E402
import table as gen_table  # noqa: E402


def table(name):
    return os.path.join(support.GEN, name)


class Pages(support.Case):
    def test_current(self):
        result = subprocess.run([sys.executable, os.path.join(support.GEN, "documents.py"), "--check"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                universal_newlines=True)
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_a_part_out_of_step_is_found(self):
        path = os.path.join(support.ROOT, "docs", "reports.md")
        text = support.read(path)
        self.assertEqual(documents.in_parts(path, text), text)
        for old in ("| `fluid` | ", "|p99|"):
            self.assertIn(old, text)
            self.assertEqual(documents.in_parts(path, text.replace(old, "", 1)), text)
        path = os.path.join(support.ROOT, "docs", "stint.schema.json")
        text = support.read(path)
        self.assertEqual(documents.in_schema(path, text.replace('"title": "p99"', '"title": "x"', 1)),
                         text)
        with self.assertRaisesRegex(Exception, "unknown part 'viewz'"):
            documents.in_parts("x.md", "<!-- gen: viewz -->\n<!-- gen: end -->\n")


class Rules(support.Case):
    def test_the_build_knows_the_tables_of_an_output(self):
        """Each that the generator reads is in the rule: an edit of it makes the output again."""
        rules = support.rules(support.read(support.ROOT, "cmake", "StintGen.cmake"))
        for output, tables in rules.items():
            with unittest.mock.patch.object(gen_table, "read", wraps=gen_table.read) as read:
                self.assertEqual(support.gen(output, table(tables[0])).returncode, 0)
            used = {os.path.basename(call[0][0]) for call in read.call_args_list}
            self.assertEqual(used, set(tables), output)


class Failures(support.Case):
    """A failure is a few lines, however long the text is that was searched."""

    def test_of_a_line_that_is_missing(self):
        text = "\n".join("line %d" % i for i in range(10000)) + "\nvalue table|tree\n"
        with self.assertRaises(AssertionError) as failed:
            self.assertIn("value table|tree|gpu\n", text)
        self.assertEqual(str(failed.exception),
                         "not found:\n- value table|tree|gpu\n+ value table|tree")
        with self.assertRaises(AssertionError) as failed:
            self.assertRegex(text, r"value \d+")
        self.assertLess(len(str(failed.exception)), 700)


class Agrees(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.env = {entry.name: entry for entry in env.read(table("env.ini"))}
        cls.header = support.read(support.ROOT, "include", "stint", "stint.h")

    def test_header_names_the_same_views(self):
        header = re.sub(r"\n \*\s+(?=[\[|])", "", self.header)  # it may go on in the next line
        self.assertIn(" %s\n" % self.env["STINT_REPORT"].get("values"), header)

    def test_calls_exist(self):
        for entry in self.env.values():
            if entry.get("call"):
                name = entry.get("call").split("(")[0]
                self.assertRegex(self.header, r"STINT_IMPL_(CAPTURE_FUNCTION|FUNCTION|PROCEDURE)\((int, 0,\s+)?%s,\s"
                                 % name)

    def test_limits(self):
        texts = {entry.name: entry.get("text") for entry in status.read(table("status.ini"))}
        layout = support.read(support.ROOT, "include", "stint", "detail", "impl_layout.h")
        depth = re.search(r"define STINT_IMPL_DEPTH[\s\\]+(\d+)", layout).group(1)
        self.assertIn(" %s open ones" % depth, texts["too_deep"])
        header = re.sub(r"\n \*\s+", " ", self.header)
        longest = re.search(r"copied \(up to (\d+) bytes\)", header).group(1)
        self.assertIn(" %s bytes" % longest, texts["name_cut"])
        info = re.search(r"define STINT_IMPL_INFO (\d+)", layout).group(1)
        docs = {entry.name: entry.get("doc") for entry in columns.read(table("columns.ini"))}
        self.assertIn(" %d bytes" % (int(info) - 1), docs["info"])


if __name__ == "__main__":
    unittest.main()
