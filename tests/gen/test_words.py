# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import unittest

import support

import interfaces
import records

VIEWS = """[legacy]
parts = rows line
doc = plain rows

[table]
parts = head rows
default = yes
doc = a row a name

[threads]
means = table,threads
doc = a row a thread
"""
INTERFACES = """[first]
number = 3
title = First
libraries = A, B
doc = all

[second]
number = 100
title = Second
place = 2nd
variable = SECOND_TOOL
older = OLDER
see = #second
libraries = C
doc = a part
"""
UNITS = """[ms]
ns = 1000000
decimals = 3

[auto]
default = yes
"""


class Views(support.Case):
    def test_c(self):
        self.assert_golden("report_view_ids.inc", VIEWS, support.HEAD + """enum report_view {
    REPORT_LEGACY,
    REPORT_TABLE,
    REPORT_VIEWS
};
""")
        self.assert_golden("report_view_names.inc", VIEWS, support.HEAD + """\
static const char *const report_view_names[REPORT_VIEWS] = {
    "legacy",
    "table",
};
""")
        self.assert_golden("report_view_table.inc", VIEWS, support.HEAD + """\
static report_part *const report_views[REPORT_VIEWS][3] = {
    {rows, line},
    {head, rows},
};
""")
        self.assert_golden("tool_views.inc", VIEWS, support.HEAD + """\
static const struct view_name view_names[] = {
    {"threads", "table,threads"},
    {NULL, NULL}};
""")

    def refuse(self, source, said):
        self.assert_refused("report_view_ids.inc", source, said)

    def test_refused(self):
        self.refuse(VIEWS.replace("default = yes\n", ""),
                    "[threads]: not one view of the table is the default")
        self.refuse(VIEWS.replace("parts = head rows\n", ""), "[table]: no key 'parts'")
        self.refuse(VIEWS.replace("rows line", "rows, line"),
                    "[legacy]: part 'rows,' is not a C identifier in lower case")
        self.refuse(VIEWS.replace("= yes", "= no"), "[table]: unknown default 'no' (yes)")
        self.refuse(VIEWS.replace("= table,", "= tables,"), "[threads]: it means no view of the table")
        self.refuse(VIEWS.replace("a row a thread", "a row a name"),
                    "[threads]: doc 'a row a name' is also that of [table]")


class Units(support.Case):
    def test_c(self):
        self.assert_golden("unit_ids.inc", UNITS, support.HEAD + """enum config_unit {
    CONFIG_UNIT_MS,
    CONFIG_UNIT_AUTO,
    CONFIG_UNITS
};
""")
        self.assert_golden("unit_table.inc", UNITS, support.HEAD + """\
static const struct text_unit text_units[CONFIG_UNITS] = {
    {"ms", 1000000, 3},
    {"auto", 0, 0},
};
""")

    def refuse(self, source, said):
        self.assert_refused("unit_ids.inc", source, said)

    def test_refused(self):
        self.refuse(UNITS.replace("= 3", "= x"), "[ms]: decimals 'x' is not a number")
        self.refuse(UNITS.replace("decimals = 3\n", ""), "[ms]: ns and decimals belong together")
        self.refuse(UNITS.replace("default = yes\n", "ns = 1\ndecimals = 0\n"),
                    "[auto]: not one unit of the table is the default")


class Interfaces(support.Case):
    def test_c(self):
        self.assert_golden("range_interfaces.inc", INTERFACES, support.HEAD + """\
enum range_interface {
    RANGE_FIRST,
    RANGE_SECOND,
    RANGE_INTERFACES
};
/* X(interface, its name, the place of its ranges, the variable of its tool or NULL, that
 * of earlier versions or NULL) */
#define RANGE_EACH(X) \\
    X(RANGE_FIRST, "first", "First", NULL, NULL) \\
    X(RANGE_SECOND, "second", "2nd", "SECOND_TOOL", "OLDER")
""")

    def test_documents(self):
        rows = interfaces.render_markdown(self.write("t.ini", INTERFACES)).split("\n")
        self.assertEqual(rows[2:4], [
            "| First | A, B | all | `LD_PRELOAD` |",
            "| [Second](#second) | C | a part | `SECOND_TOOL`, in earlier versions `OLDER` |"])

    def test_measures(self):
        """Each has a number in run files."""
        self.write("interfaces.ini", INTERFACES)
        each = ("[ranges_*]\neach = interfaces.ini\nnumber = {number}\ngroup = ranges\nadd = sum\n"
                "of = own\ndoc = Of {title}.\n")
        path = self.write("t.ini", each)
        self.assertEqual([(m.name, m.number, m.get("doc")) for m in records.read_all(path)[1]],
                         [("ranges_first", 3, "Of First."), ("ranges_second", 100, "Of Second.")])
        path = self.write("t.ini", each.replace("{title}", "{titel}"))
        with self.assertRaisesRegex(Exception, r"\[ranges_\*\]: .*interfaces.ini has no key 'titel'"):
            records.read_all(path)

    def test_refused(self):
        self.assert_refused("range_interfaces.inc", INTERFACES.replace("= 100", "= 2"),
                            "[second]: number '2' is not above 3: a new interface comes last")
        self.assert_refused("range_interfaces.inc", INTERFACES.replace("= OLDER", "= older"),
                            "[second]: older 'older' is not the name of a variable")


class Lists(support.Case):
    """Lists of words from several tables, which are found beside the first one."""

    def setUp(self):
        super().setUp()
        for name in ("views.ini", "units.ini", "columns.ini", "records.ini", "interfaces.ini",
                     "env.ini"):
            shutil.copy(os.path.join(support.GEN, name), self.folder)

    def table(self, name):
        return os.path.join(self.folder, name)

    def add(self, name, text):
        with open(self.table(name), "a", encoding="ascii") as file:
            file.write(text)

    def test_a_line_of_a_table_is_in_every_list(self):
        self.add("views.ini", "\n[cards]\nparts = report_cards\ndoc = cards\n")
        self.add("units.ini", "\n[s]\nns = 1000000000\ndecimals = 3\n")
        self.add("columns.ini", "\n[spread]\ntitle = spread\nkind = time\nfield = spread_ns\n"
                 "sort = yes\nviews = none\ndoc = A spread.\n")
        words = support.gen("words.inc", self.table("views.ini")).stdout
        self.assertIn('#define WORDS_VIEWS "legacy|table|tree|gpu|fluid|ranks|ranges|cards"\n', words)
        self.assertIn('|memory_live|spread"\n', words)
        env = support.gen("environment.md", self.table("env.ini")).stdout
        self.assertIn("`STINT_REPORT=none|legacy|table|tree|gpu|fluid|ranks|ranges|cards[,sort=calls|", env)
        self.assertIn("`STINT_UNIT=ms|us|ns|auto|s`:", env)
        self.add("interfaces.ini", INTERFACES.replace("= 3", "= 4000").replace("= 100", "= 4001"))
        env = support.gen("environment.md", self.table("env.ini")).stdout
        self.assertRegex(env, r"`STINT_RANGES=nvtx,[a-z,]+,first,second`:")

    def test_unknown_list(self):
        path = self.table("env.ini")
        with open(path, encoding="ascii") as file:
            text = file.read().replace("{units}", "{colours}")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        result = support.gen("environment.md", path)
        self.assertEqual((result.returncode, result.stderr),
                         (1, "%s: [STINT_UNIT]: unknown list '{colours}' (views|tool_views|sort_keys|diff_numbers|units|formats|interfaces)\n"
                          % path))


if __name__ == "__main__":
    unittest.main()
