# SPDX-License-Identifier: Apache-2.0
import unittest

import support


def entry(name, kind, field, default, more):
    return "[STINT_%s]\nkind = %s\nfield = %s\ndefault = %s\ndoc = Sets %s.\n%s\n" % (
        name, kind, field, default, field, more)


SWITCH = entry("ENABLE", "switch", "enable", "1", "values = 0|1\ncall = stint_timers_enable(on)")
VIEW = entry("REPORT", "view", "report", "none", "values = table[,%s][,threads]" % ("x" * 66))
TEXT = entry("OUTPUT", "text", "output", "stderr", "values = stderr|PATH")
CHOICE = entry("UNIT", "choice", "unit", "us", "values = ms|us|ns\nmore = Three of them.")
LEVEL = entry("LEVEL", "level", "level", "0", "values = 0|1|2")
SIZE = entry("MEMORY", "size", "memory", "64M", "min = 4K\nmax = 3G")
GLOBS = entry("FILTER", "globs", "filter", "all", "values = +GLOB,-GLOB")
DURATION = entry("TRACE_MIN", "duration", "trace_min_ns", "0", "values = DURATION")
ALL = SWITCH + VIEW + TEXT + CHOICE + LEVEL + SIZE + GLOBS + DURATION


class Env(support.Case):
    def test_c(self):
        config = "offsetof(struct stint_config, "
        self.assert_golden("env_table.inc", ALL, support.HEAD + """#define STINT_ENV_COUNT 8
/* name, kind, field, min, max, values */
static const struct env_entry env_table[] = {
    {"STINT_ENABLE", ENV_SWITCH, CONFIG(enable), 0, 1, "0|1"},
    {"STINT_REPORT", ENV_VIEW, CONFIG(report), 0, 0, "table[,LONG][,threads]"},
    {"STINT_OUTPUT", ENV_TEXT, CONFIG(output), 0, 0, "stderr|PATH"},
    {"STINT_UNIT", ENV_CHOICE, CONFIG(unit), 0, 2, "ms|us|ns"},
    {"STINT_LEVEL", ENV_LEVEL, CONFIG(level), 0, 2, "0|1|2"},
    {"STINT_MEMORY", ENV_SIZE, CONFIG(memory), 4096, 3221225472, "4K..3G"},
    {"STINT_FILTER", ENV_GLOBS, CONFIG(filter), 0, 0, "+GLOB,-GLOB"},
    {"STINT_TRACE_MIN", ENV_DURATION, CONFIG(trace_min_ns), 0, 0, "DURATION"},
};
""".replace("CONFIG(", config).replace("LONG", "x" * 66))

    def test_help(self):
        self.assert_golden("env_help.inc", SWITCH + VIEW + DURATION,
                           support.HEAD + r'''"Environment:\n"
"  STINT_ENABLE=0|1\n"
"      Sets enable. (default: 1)\n"
"  STINT_REPORT=table\n"
"      [,LONG]\n"
"      [,threads]\n"
"      Sets report. (default: none)\n"
"  STINT_TRACE_MIN=DURATION\n"
"      Sets trace_min_ns. (default: 0)\n"
'''.replace("LONG", "x" * 66))

    def test_help_breaks_long_alternatives(self):
        result = support.gen("env_help.inc", self.write(
            "t.ini", VIEW.replace("x" * 66, "x" * 40 + "|" + "y" * 40)))
        self.assertIn('"  STINT_REPORT=table[,%s\\n"\n"      |%s][,threads]\\n"\n' % (
            "x" * 40, "y" * 40), result.stdout)

    def test_markdown(self):
        result = support.gen("environment.md", self.write("t.ini", SWITCH + CHOICE + DURATION))
        self.assertEqual(result.stdout[result.stdout.index("## "):], """## STINT_ENABLE

`STINT_ENABLE=0|1`: Sets enable. Default: 1. Call: `stint_timers_enable(on)`.

## STINT_UNIT

`STINT_UNIT=ms|us|ns`: Sets unit. Three of them. Default: us.

## STINT_TRACE_MIN

`STINT_TRACE_MIN=DURATION`: Sets trace_min_ns. A number with ns, us, ms or s; us without a unit.
Default: 0.
""")

    def refuse(self, source, said):
        for output in ("env_table.inc", "env_help.inc", "environment.md"):
            self.assert_refused(output, source, said)

    def test_refused(self):
        self.refuse(SWITCH.replace("STINT_ENABLE", "ENABLE"),
                    "[ENABLE]: name 'ENABLE' is not of the form STINT_NAME")
        self.refuse("[STINT_TRACE]\ndoc = The trace.\n", "[STINT_TRACE]: no key 'kind'")
        self.refuse(SWITCH.replace("= switch", "= toggle"), "[STINT_ENABLE]: unknown kind 'toggle' "
                    "(switch|choice|level|size|trace|duration|text|globs|view)")
        self.refuse(TEXT.replace("field = output\n", ""), "[STINT_OUTPUT]: no key 'field'")
        self.refuse(SIZE.replace("max", "values"), "[STINT_MEMORY]: unknown key 'values'")
        self.refuse(TEXT + "min = 1\n", "[STINT_OUTPUT]: unknown key 'min'")
        self.refuse(SWITCH.replace("= enable", "= a.b"),
                    "[STINT_ENABLE]: field 'a.b' is not a C identifier in lower case")
        self.refuse(SWITCH + LEVEL.replace("= level\ndefault", "= enable\ndefault"),
                    "[STINT_LEVEL]: field 'enable' is also that of [STINT_ENABLE]")
        self.refuse(CHOICE.replace("= us", "= s"),
                    "[STINT_UNIT]: default 's' is not one of ms|us|ns")
        self.refuse(SIZE.replace("64M", "4G"),
                    "[STINT_MEMORY]: default '4G' is not between min and max")
        self.refuse(SIZE.replace("4K", "4KB"), "[STINT_MEMORY]: min '4KB' is not a size")
        self.refuse(SWITCH.replace("0|1", "1|0"), "[STINT_ENABLE]: the values of a switch are 0|1")
        self.refuse(LEVEL.replace("0|1|2", "0|1"), "[STINT_LEVEL]: the values of a level are 0|1|2")
        self.assert_refused("env_help.inc", TEXT.replace("PATH", "P" * 80),
                            "|%s: wider than 80 columns" % ("P" * 80))

    def test_help_too_long(self):
        source = TEXT.replace("Sets output.", "long " * 1000)
        path = self.write("t.ini", source)
        result = support.gen("env_help.inc", path)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\A.*: the help is \d+ bytes long, C11 promises 4095\n\Z")


if __name__ == "__main__":
    unittest.main()
