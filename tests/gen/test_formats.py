# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys
import unittest

import support

sys.dont_write_bytecode = True
sys.path.insert(0, support.GEN)
import formats  # noqa: E402
import table  # noqa: E402

TEXT = """[text]
layer = interval
program = yes
data = statistics
doc = a report
file = run.txt
"""
CSV = """[csv]
layer = export
program = yes
data = statistics
doc = one row per statistic
file = run.csv
"""
TRACE = """[trace]
layer = export/tool
binary = yes
data = trace
doc = spans, for a viewer
file = run.trace
"""
SERIES = """[series]
layer = history
data = statistics
doc = a folder
file = series/
"""
ALL = TEXT + CSV + TRACE + SERIES
TABLE = os.path.join(support.GEN, "formats.ini")


class Formats(support.Case):
    def test_declarations(self):
        self.assert_golden("export_formats.inc", ALL, support.HEAD +
                           "int export_csv(struct sink *out, struct run *r);\n")
        self.assert_golden("tool_formats.inc", ALL, support.HEAD +
                           "int export_trace(struct sink *out, struct run *r);\n")

    def test_list_of_the_tool(self):
        self.assert_golden("formats_table.inc", ALL, support.HEAD + """\
static const struct format formats[] = {
    {"csv", export_csv, 0 /* binary */},
    {"trace", export_trace, 1 /* binary */},
    {"series", NULL, 0 /* binary */},
};
""")
        self.assert_golden("format_names.txt", ALL, "csv\ntrace\nseries\n")

    def test_list_of_the_program(self):
        self.assert_golden("program_formats.inc", ALL, support.HEAD + """\
#define PROGRAM_FORMATS "text or csv"
static const struct program_format program_formats[] = {
    {"text", statistics_put_text},
    {"csv", statistics_put_csv},
};
""")

    def refuse(self, source, said):
        for output in ("export_formats.inc", "formats_table.inc", "program_formats.inc"):
            self.assert_refused(output, source, said)

    def test_refused(self):
        self.refuse(CSV.replace("export", "base"),
                    "[csv]: unknown layer 'base' (export|export/tool|interval|history)")
        self.refuse(TEXT.replace("program = yes\n", ""),
                    "[text]: neither the tool nor stint_export writes it")
        self.refuse(ALL.replace("run.trace", "run.csv"),
                    "[trace]: file 'run.csv' is also that of [csv]")


class Documents(support.Case):
    def test_source_files(self):
        for entry in formats.read(TABLE):
            if entry.get("layer") not in ("interval", "history"):
                function = formats.function(entry)
                name = "runtime/%s/export_%s.c" % (entry.get("layer"), function)
                self.assertIn("int export_%s(" % function, support.read(support.ROOT, name))

    def test_header(self):
        names = ['"%s"' % name for name in formats.names(formats.of_program(TABLE))]
        header = re.sub(r"\s*\n \*\s+", " ", support.read(support.ROOT, "include/stint/stint.h"))
        self.assertIn(table.either(names), header)


if __name__ == "__main__":
    unittest.main()
