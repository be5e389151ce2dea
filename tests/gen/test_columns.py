# SPDX-License-Identifier: Apache-2.0
"""Tests the table of columns (gen/columns.py): its outputs for C, Markdown, the HTML page and
Prometheus, and the message for each invalid entry. Small tables and the expected outputs are in
this file."""
import json
import sys
import unittest

import support

sys.dont_write_bytecode = True
sys.path.insert(0, support.GEN)
import columns  # noqa: E402

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
field = extra.bytes_per_s
sort = no
views = table
needs = gpu bytes
hide = yes
spare = yes
mark = corrected
doc = A rate.
"""
P50 = """[p50]
title = p50
kind = time
permille = 500
field = percentile_ns[PERCENTILE_P50]
sort = no
views = table
needs = samples histogram
doc = Half.
"""
NUMBERS = """[retries]
number = 0
group = net
add = sum
of = own
column = again
after = calls
title = again
views = table
says = What was tried again.
doc = Retries.

[sent]
number = 1
group = net
add = sum
of = own
after = again
title = sent
kind = size
needs = none
zero = unknown
doc = Bytes.
"""


class Columns(support.Case):
    def test_c(self):
        both = "REPORT_IN_TABLE | REPORT_IN_TREE"
        self.assert_golden("report_columns.inc", CALLS + INFO + RATE, support.HEAD + r"""
#define STINT_COLUMN_COUNT 3
static const struct report_column report_columns[STINT_COLUMN_COUNT] = {
    {"calls", "calls", "calls", REPORT_COUNT, AT(calls), 1 /* sortable */, BOTH, 0, 0 /* hide */, 0, 0, 0, 0},
    {"info", "slowest|info", "info", REPORT_TEXT, AT(info), 0 /* sortable */, 0, 0, 0 /* hide */, 0, 1, 0, 0},
    {"rate", "GB/s", "rate_per_s", REPORT_RATE, ROW_EXTRA_FIELD(bytes_per_s), 0 /* sortable */, ONE, NEEDS, 1 /* hide */, 1, 0, MARK, 0},
};
""".lstrip().replace("BOTH", both).replace("AT(", "ROW_FIELD(").replace(
            "ONE", "REPORT_IN_TABLE").replace("NEEDS", "ROW_GPU | ROW_BYTES").replace(
            "MARK", "ROW_CORRECTED"))

    def test_markdown(self):
        result = support.gen("columns.md", self.write("t.ini", CALLS + INFO + RATE))
        self.assertEqual(result.stdout.splitlines()[-5:], [
            "| key | title | kind | sort | table | tree | meaning |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            "| `calls` | calls | count | yes | yes | yes | \"Every\", in two lines. |",
            "| `info` | slowest\\|info | text |  |  |  | A note: what\\why??! |",
            "| `rate` | GB/s | rate |  | if any |  | A rate. |"])

    def test_page(self):
        rate = RATE.replace("[rate]", "[gpu_rate]").replace("doc =", "html = FLOP/s: Quick\ndoc =")
        path = self.write("t.ini", CALLS + "html = Calls: How many: all\n" + rate)
        self.assertEqual(json.loads(columns.for_page(path)), [
            {"key": "calls", "title": "Calls", "kind": "count", "hint": "How many: all"},
            {"key": "gpu_rate", "title": "FLOP/s", "kind": "rate", "hint": "Quick",
             "gpu": "per_s", "unit": "FLOP/s"}])
        self.refuse(CALLS + "html = Calls\n", "[calls]: html 'Calls' is not of the form TITLE: HINT")

    def test_prometheus(self):
        said = "prometheus = counter stint_scope_calls_total: All.\n"
        self.assert_golden("prometheus_columns.inc", CALLS + said + INFO, support.HEAD + """\
static const struct family column_families[] = {
    {"stint_scope_calls_total", "counter", "All.", EXPOSITION_NUMBER, ROW_FIELD(calls), 0, 0},
};
""")
        self.refuse(CALLS + "prometheus = sum stint_scope_calls: All.\n",
                    "[calls]: prometheus 'sum stint_scope_calls: All.' is not of the form "
                    "counter|gauge stint_scope_NAME: HELP")

    def test_prometheus_order(self):
        first = CALLS + "prometheus = gauge stint_scope_b: B.\nprometheus_after = info\nzero = unknown\n"
        self.assert_golden("prometheus_columns.inc", first + INFO +
                           "prometheus = gauge stint_scope_a: A.\n", support.HEAD + """\
static const struct family column_families[] = {
    {"stint_scope_a", "gauge", "A.", EXPOSITION_NUMBER, ROW_FIELD(info), 0, 0},
    {"stint_scope_b", "gauge", "B.", EXPOSITION_NUMBER, ROW_FIELD(calls), 0, 1},
};
""")
        self.assert_refused("prometheus_columns.inc", first + INFO,
                            "[calls]: prometheus_after: there is no column 'info' to come after")

    def test_metrics(self):
        said = "needs = samples self\nmetric = stint.scope.calls {call}: All: calls.\n"
        self.assert_golden("metric_columns.inc", CALLS + said + INFO, support.HEAD + """\
static const struct metric_about scope_metrics[] = {
    {"stint.scope.calls", "All: calls.", "{call}", ROW_FIELD(calls), ROW_SELF},
};
""")
        self.refuse(CALLS + "metric = calls: All.\n",
                    "[calls]: metric 'calls: All.' is not of the form NAME UNIT: DESCRIPTION")

    def test_stat(self):
        both = INFO + "stat = 1 info: A note.\n" + CALLS + "stat = 0 calls\n"
        self.assert_golden("stat_members.inc", both, support.HEAD + """\
static const struct stat_member stat_members[] = {
    {offsetof(stint_stat, calls), ROW_FIELD(calls)},
};
""")
        path = self.write("t.ini", both)
        self.assertEqual(columns.render_stat_header(path),
                         "    uint64_t calls;\n    /* A note. */\n    char info[64];\n")
        self.assertEqual(columns.render_markdown_stat(path),
                         "All members, in their order: `calls`, `info`.\n")
        self.assertEqual(columns.render_stat_names(path),
                         '    _names = (\n        "calls", "info")\n')
        for wrong, said in (("stat = 0 info", "[calls]: stat: 0 is that of [info]"),
                            ("stat = 2 info", "[info]: stat: 2, but there are 2 members")):
            self.assert_refused("stat_members.inc", both.replace("stat = 1 info: A note.", wrong),
                                said)
        self.refuse(CALLS + "stat = calls\n",
                    "[calls]: stat 'calls' is not of the form NUMBER MEMBER: COMMENT")

    def test_history(self):
        calls = CALLS + "history = count\nhistory_after = p50\n"
        gpu = CALLS.replace("calls", "gpu_calls")
        self.assert_golden("history_columns.inc", calls + P50 + "history = time\n" + gpu,
                           support.HEAD + """\
#define HISTORY_COLUMNS 2
static const struct history_column history_columns[] = {
    {"p50", "p50_ns", HISTORY_TIME, ROW_FIELD(percentile_ns[PERCENTILE_P50]), ROW_FIELD(percentile_ns[PERCENTILE_P50]), 0 /* of the GPU, too */, ROW_SAMPLES | ROW_HISTOGRAM},
    {"calls", "calls", HISTORY_COUNT, ROW_FIELD(calls), ROW_FIELD(gpu_calls), 1 /* of the GPU, too */, 0},
};
""")
        self.refuse(CALLS + "history = all\n", "[calls]: unknown history 'all' (count|time|some)")

    def test_diff(self):
        self.write("records.ini", NUMBERS.replace("title = sent\n", "title = sent\ndiff = sent call\n"))
        self.assert_golden("diff_numbers.inc", CALLS + "diff = calls sum\n" + INFO, support.HEAD + """\
#define DIFF_NUMBERS 2
#define DIFF_NUMBER_LIST DIFF_CALLS, DIFF_SENT
static const struct diff_number diff_numbers[] = {
    {"calls", ROW_FIELD(calls), 0 /* of a call */, 0 /* bytes */},
    {"sent", ROW_EXTRA_FIELD(measure[MEASURE_SENT]), 1 /* of a call */, 1 /* bytes */},
};
""")
        self.refuse(CALLS + "diff = calls\n", "[calls]: diff 'calls' is not of the form WORD sum|call")

    def test_numbers(self):
        """A number of records.ini that has a title is a column: by its section alone."""
        self.write("records.ini", NUMBERS)
        self.assert_golden("report_columns.inc", CALLS + INFO, support.HEAD + """\
#define STINT_COLUMN_COUNT 4
static const struct report_column report_columns[STINT_COLUMN_COUNT] = {
    {"calls", "calls", "calls", REPORT_COUNT, ROW_FIELD(calls), 1 /* sortable */, REPORT_IN_TABLE | REPORT_IN_TREE, 0, 0 /* hide */, 0, 0, 0, 0},
    {"again", "again", "again", REPORT_COUNT, ROW_EXTRA_FIELD(measure[MEASURE_RETRIES]), 0 /* sortable */, REPORT_IN_TABLE, ROW_NET, 1 /* hide */, 0, 0, 0, 0},
    {"sent", "sent", "sent_bytes", REPORT_SIZE, ROW_EXTRA_FIELD(measure[MEASURE_SENT]), 0 /* sortable */, 0, 0, 0 /* hide */, 0, 1, 0, 0},
    {"info", "slowest|info", "info", REPORT_TEXT, ROW_FIELD(info), 0 /* sortable */, 0, 0, 0 /* hide */, 0, 1, 0, 0},
};
""")
        text = support.gen("columns.md", self.write("t.ini", CALLS + INFO)).stdout
        self.assertIn("| `again` | again | count |  | if any |  | What was tried again. |", text)
        self.assertIn("| `sent` | sent | size |  |  |  | Bytes. |", text)

    def test_numbers_refused(self):
        for change, said in (
                (("after = calls", "after = call"),
                 "[again]: after: there is no column 'call' to come after"),
                (("column = again", "column = info"), "[info]: there is another 'info'"),
                (("title = sent\n", ""), "[sent]: keys of a column, but no title")):
            path = self.write("records.ini", NUMBERS.replace(*change))
            result = support.gen("report_columns.inc", self.write("t.ini", CALLS + INFO))
            self.assertEqual((result.returncode, result.stderr), (1, "%s: %s\n" % (path, said)))

    def test_sorts(self):
        self.assert_golden("report_sorts.inc", CALLS + "gpu_sort = calls\nfluid_sort = max\n" + INFO,
                           support.HEAD + """\
static const struct report_sort report_sorts[] = {
    {ACTIVITY_SORT_CALLS, FLUID_BY_MAX},
    {ACTIVITY_SORT_TOTAL, FLUID_BY_TOTAL},
};
""")
        self.refuse(INFO + "gpu_sort = max\n", "[info]: gpu_sort, but it is not a key of sort=")

    def test_percentiles(self):
        p999 = P50.replace("500", "999").replace("p50", "p999").replace("P50", "P999")
        self.assert_golden("row_percentiles.inc", CALLS + P50 + p999, support.HEAD + """\
enum percentile {
    PERCENTILE_P50,
    PERCENTILE_P999,
    PERCENTILE_COUNT
};
#define PERCENTILE_PERMILLES \\
    {500, 999}
#define PERCENTILE_KEYS \\
    {"p50", "p999"}
""")
        self.refuse(P50.replace("500", "1000"),
                    "[p50]: permille '1000' is not a number from 1 to 999")
        self.refuse(P50.replace("percentile_ns[PERCENTILE_P50]", "p50_ns"),
                    "[p50]: the field of a percentile is percentile_ns[PERCENTILE_P50]")

    def refuse(self, source, said):
        self.assert_refused("report_columns.inc", source, said)
        self.assert_refused("columns.md", source, said)

    def test_refused(self):
        self.refuse(CALLS.replace("= count", "= number"),
                    "[calls]: unknown kind 'number' (text|count|time|share|rate|ratio|size)")
        self.refuse(CALLS.replace("= yes", "= perhaps"),
                    "[calls]: unknown sort 'perhaps' (yes|no)")
        self.refuse(INFO.replace("sort = no", "sort = yes"), "[info]: text cannot be sorted by")
        self.refuse(CALLS.replace("tree", "list"),
                    "[calls]: unknown view 'list' (table|tree|none)")
        self.refuse(RATE.replace("= gpu bytes", "= gpu power"),
                    "[rate]: unknown needs 'power' (samples|self|histogram|first|stddev|gpu|gpu_histogram|"
                    "bytes|flops|bound|device|counted|multiplexed|waiting|partial|on_cpu|%s)"
                    % "|".join(columns.group_names("none")))
        self.refuse(RATE.replace("= corrected", "= certain"),
                    "[rate]: unknown mark 'certain' (self_partial|corrected)")
        self.refuse(RATE.replace("mark = corrected", "bound = most"),
                    "[rate]: unknown bound 'most' (at_most|partial)")
        self.refuse(RATE.replace("hide = yes", "hide = 1"), "[rate]: unknown hide '1' (yes|no)")
        self.refuse(RATE.replace("needs = gpu bytes\n", ""),
                    "[rate]: cannot hide: it needs nothing")
        self.refuse(CALLS.replace("[calls]", "[the calls]"),
                    "[the calls]: name 'the calls' is not a C identifier in lower case")
        self.refuse(CALLS.replace("field = calls", "field = 2calls"),
                    "[calls]: field '2calls' is not a C identifier in lower case")
        self.refuse(CALLS + INFO.replace("slowest|info", "calls"),
                    "[info]: title 'calls' is also that of [calls]")
        self.refuse(CALLS + INFO.replace("field = info", "field = calls"),
                    "[info]: field 'calls' is also that of [calls]")


if __name__ == "__main__":
    unittest.main()
