# SPDX-License-Identifier: Apache-2.0
import unittest

import support

CALLS = """[calls]
title = calls
kind = count
field = calls
sort = yes
views = table tree
doc = "Every",
    in two lines.
"""
INFO = """[info]
title = slowest|info
kind = text
field = info
sort = no
views = none
doc = A note: what\\why??!
"""
RATE = """[rate]
title = GB/s
kind = rate
field = bytes_per_s
sort = no
views = table
needs = gpu bytes
hide = yes
doc = A rate.
"""


class Columns(support.Case):
    def test_c(self):
        both = "REPORT_IN_TABLE | REPORT_IN_TREE"
        self.assert_golden("report_columns.inc", CALLS + INFO + RATE, support.HEAD + r"""
#define STINT_COLUMN_COUNT 3
static const struct report_column report_columns[STINT_COLUMN_COUNT] = {
    {"calls", "calls", REPORT_COUNT, AT(calls), 1 /* sortable */, BOTH, 0, 0 /* hide */, TWO},
    {"info", "slowest|info", REPORT_TEXT, AT(info), 0 /* sortable */, 0, 0, 0 /* hide */, NOTE},
    {"rate", "GB/s", REPORT_RATE, AT(bytes_per_s), 0 /* sortable */, ONE, NEEDS, 1 /* hide */, "A rate."},
};
""".lstrip().replace("BOTH", both).replace("AT(", "offsetof(struct stint_row, ").replace(
            "ONE", "REPORT_IN_TABLE").replace("NEEDS", "ROW_GPU | ROW_BYTES").replace(
            "TWO", r'"\"Every\", in two lines."').replace("NOTE", r'"A note: what\\why?\?!"'))

    def test_markdown(self):
        result = support.gen("columns.md", self.write("t.ini", CALLS + INFO + RATE))
        self.assertEqual(result.stdout.splitlines()[-5:], [
            "| key | title | kind | sort | table | tree | meaning |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            "| `calls` | calls | count | yes | yes | yes | \"Every\", in two lines. |",
            "| `info` | slowest\\|info | text |  |  |  | A note: what\\why??! |",
            "| `rate` | GB/s | rate |  | if any |  | A rate. |"])

    def refuse(self, source, said):
        self.assert_refused("report_columns.inc", source, said)
        self.assert_refused("columns.md", source, said)

    def test_kind(self):
        self.refuse(CALLS.replace("= count", "= number"),
                    "[calls]: unknown kind 'number' (text|count|time|share|rate)")

    def test_sort(self):
        self.refuse(CALLS.replace("= yes", "= perhaps"),
                    "[calls]: unknown sort 'perhaps' (yes|no)")

    def test_sort_by_text(self):
        self.refuse(INFO.replace("sort = no", "sort = yes"), "[info]: text cannot be sorted by")

    def test_view(self):
        self.refuse(CALLS.replace("tree", "list"),
                    "[calls]: unknown view 'list' (table|tree|none)")

    def test_needs(self):
        self.refuse(RATE.replace("= gpu bytes", "= gpu power"),
                    "[rate]: unknown need 'power' (samples|histogram|first|gpu|gpu_histogram|"
                    "bytes|flops|bound|device)")

    def test_hide(self):
        self.refuse(RATE.replace("hide = yes", "hide = 1"), "[rate]: unknown hide '1' (yes|no)")

    def test_hide_what_needs_nothing(self):
        self.refuse(RATE.replace("needs = gpu bytes\n", ""),
                    "[rate]: cannot hide: it needs nothing")

    def test_name(self):
        self.refuse(CALLS.replace("[calls]", "[the calls]"),
                    "[the calls]: name 'the calls' is not a C identifier in lower case")

    def test_field(self):
        self.refuse(CALLS.replace("field = calls", "field = 2calls"),
                    "[calls]: field '2calls' is not a C identifier in lower case")

    def test_title_twice(self):
        self.refuse(CALLS + INFO.replace("slowest|info", "calls"),
                    "[info]: title 'calls' is also that of [calls]")

    def test_field_twice(self):
        self.refuse(CALLS + INFO.replace("field = info", "field = calls"),
                    "[info]: field 'calls' is also that of [calls]")


if __name__ == "__main__":
    unittest.main()
