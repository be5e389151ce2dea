# SPDX-License-Identifier: Apache-2.0
"""The command line, what all tables share, and write-if-changed."""

import os
import unittest

import support

GOOD = "[lost]\ntext = things lost\nlabel = lost\n"


class Table(support.Case):
    def refuse(self, source, said):
        self.assert_refused("status_table.inc", source, said)

    def test_refused(self):
        self.refuse("[lost]\ntext = things lost\n", "[lost]: no key 'label'")
        self.refuse("[lost]\ntext =\nlabel = lost\n", "[lost]: key 'text' is empty")
        self.refuse(GOOD + "colour = red\n", "[lost]: unknown key 'colour'")
        self.refuse(GOOD + GOOD, "[lost]: line 4: duplicate entry")
        self.refuse(GOOD + "label = lost\n", "[lost]: line 4: duplicate key 'label'")
        self.refuse(GOOD + "nonsense\n", "line 4: not of the form 'key = value'")
        self.refuse("text = things lost\n" + GOOD, "line 1: no [section] above it")
        self.refuse("# only a comment\n", "no entries")
        self.refuse(GOOD + "# \u20ac\n", "not ASCII")
        self.refuse("[DEFAULT]\nlabel = lost\n" + GOOD, "[DEFAULT]: no key 'text'")

    def test_no_such_table(self):
        path = os.path.join(self.folder, "none.ini")
        result = support.gen_command("status_table.inc", path)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "%s: No such file or directory\n" % path)


class CommandLine(support.Case):
    def test_unknown_output(self):
        result = support.gen_command("nothing.inc", self.write("t.ini", GOOD))
        self.assertEqual(result.returncode, 2)
        self.assertIn("nothing.inc", result.stderr)

    def test_unwritable_output(self):
        out = os.path.join(self.folder, "none", "out.inc")
        result = support.gen_command("status_ids.inc", self.write("t.ini", GOOD), "-o", out)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\A\S*out\.inc\S*: No such file or directory\n\Z")

    def test_writes_only_if_changed(self):
        source, out = self.write("t.ini", GOOD), os.path.join(self.folder, "out.inc")
        self.assertEqual(support.gen_command("status_table.inc", source, "-o", out).returncode, 0)
        self.assertEqual(support.read(out), support.gen_command("status_table.inc", source).stdout)
        os.utime(out, (1, 1))
        self.write("t.ini", "# a comment changes nothing\n" + GOOD)
        self.assertEqual(support.gen_command("status_table.inc", source, "-o", out).returncode, 0)
        self.assertEqual(os.stat(out).st_mtime, 1)
        self.write("t.ini", GOOD.replace("things", "objects"))
        self.assertEqual(support.gen_command("status_table.inc", source, "-o", out).returncode, 0)
        self.assertNotEqual(os.stat(out).st_mtime, 1)
        self.assertIn("objects lost", support.read(out))
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.inc", "t.ini"])

    def test_bad_table_keeps_the_old_file(self):
        source, out = self.write("t.ini", "[lost]\n"), self.write("out.inc", "old")
        self.assertEqual(support.gen_command("status_table.inc", source, "-o", out).returncode, 1)
        self.assertEqual(support.read(out), "old")

    def test_no_byte_code_in_the_source_tree(self):
        support.gen_command("status_ids.inc", self.write("t.ini", GOOD))
        self.assertNotIn("__pycache__", os.listdir(support.GEN))


if __name__ == "__main__":
    unittest.main()
