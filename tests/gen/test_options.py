# SPDX-License-Identifier: Apache-2.0
"""Tests the table of the tool's options (gen/options.py): the parser's table, --help, the manual
pages and Markdown that are made of it, and the message for each invalid entry. The expected outputs
are in this file."""
import sys
import unittest

import support

sys.dont_write_bytecode = True
sys.path.insert(0, support.GEN)
import words  # noqa: E402

TOOL = """[stint]
usage = COMMAND
doc = Reads run files.

[stint --version]
kind = flag
letter = V
doc = Prints the version.

"""
SHOW = """[show]
usage = [OPTION]... FILE
brief = FILE
line = shows it
doc = Shows a run, see `stint top`.
more = COLUMNS sets the width.
operands = yes

"""
COLOR = """[show --color]
kind = choice
alias = colour
value = WHEN
values = auto|always|never
default = auto
doc = {values}. Not if NO_COLOR is set.

"""
TOP = """[show --top]
kind = number
letter = n
value = N
min = 1
max = 100
doc = The first N rows; `--raw` for all.

"""
FILTER = """[show --fail-on]
kind = text
value = GLOBS
expected = glob,-glob
doc = Names such as `a*,-b*`.
more = The last decides.

"""
ALL = TOOL + SHOW + COLOR + TOP + FILTER


class Options(support.Case):
    def test_ids(self):
        self.assert_golden("option_ids.inc", ALL, support.HEAD + """enum command_id {
    TOOL_SHOW,
    TOOL_COMMANDS
};

enum option_id {
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COLOR,
    OPTION_TOP,
    OPTION_FAIL_ON
};

enum option_color {
    OPTION_COLOR_AUTO,
    OPTION_COLOR_ALWAYS,
    OPTION_COLOR_NEVER
};
""")

    def test_table(self):
        path = self.write("t.ini", ALL)
        text = support.gen("option_table.inc", path).stdout
        for line in (
                '{"version", NULL, OPTION_FLAG, OPTION_VERSION, \'V\', 0, 0, NULL, NULL},',
                '{"color", "WHEN", OPTION_CHOICE, OPTION_COLOR, 0, 0, 0, "auto|always|never", '
                '"auto, always or never"},',
                '{"colour", "WHEN", OPTION_CHOICE, OPTION_COLOR, 0, 0, 0, "auto|always|never", '
                '"auto, always or never"},',
                '{"top", "N", OPTION_NUMBER, OPTION_TOP, \'n\', 1, 100, NULL, '
                '"a number from 1 to 100"},',
                '{"fail-on", "GLOBS", OPTION_TEXT, OPTION_FAIL_ON, 0, 0, 0, NULL, "glob,-glob"},',
                '{"help", NULL, OPTION_FLAG, OPTION_HELP, 0, 0, 0, NULL, NULL},',
                '{"show", options_of_show, help_of_show, 1}'):
            self.assertIn(line, text)

    def help(self, command):
        text = support.gen("option_table.inc", self.write("t.ini", ALL)).stdout
        literal = text.split("help_of_%s[] =\n" % command)[1].split(";\n")[0]
        return "".join(line.strip()[1:-3] + "\n" for line in literal.split("\n"))

    def test_help(self):
        self.assertEqual(self.help("stint"), """usage: stint COMMAND
Reads run files.

  show    FILE  shows it

  -V, --version          Prints the version.
      --help
""")
        self.assertEqual(self.help("show"), """usage: stint show [OPTION]... FILE
Shows a run, see 'stint top'.

      --color WHEN       auto (default), always or never. Not if NO_COLOR is
                         set.
  -n, --top N            The first N rows; '--raw' for all.
      --fail-on GLOBS    Names such as 'a*,-b*'.
      --help
COLUMNS sets the width.
""")

    def test_manual(self):
        """Uses the real table, because the template names the commands."""
        result = support.gen("stint.1", self.write("stint.1.in", """.Sh OPTIONS
.\\" @options merge@
.\\" @options top@
.El
"""))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith(""".Sh OPTIONS
.Bl -tag -width Ds
.It Fl o , Fl -output Ar out
The file to write; an existing run file is replaced.
.It Fl -keep Ar what
Keeps apart:
.Cm names
(default),
.Cm ranks
or
.Cm threads .
.Cm names
adds up ranks and threads: the size of the file depends on the number of
names.
.Cm ranks
keeps the call tree of each rank and all of its windows,
.Cm threads
those of all threads and their traces, aligned by the time of day, too.
.It Fl -start Ar which
Of ranks that have several files, as after a restart in one folder:
.Cm all
(default) or
.Cm last .
.Cm last
merges the files of the last start.
.El
.Bl -tag -width Ds
.It Fl i , Fl -interval Ar s
"""), result.stdout)
        self.assertIn(".It Fl -color Ar when\n.Cm auto\n(default),\n.Cm always\nor\n.Cm never .\n",
                      result.stdout)
        path = self.write("stint.1.in", '.\\" @options x@\n')
        result = support.gen("stint.1", path)
        self.assertEqual((result.returncode, result.stderr),
                         (1, "%s: line 1: no command 'x' in options.ini\n" % path))

    def test_markdown(self):
        text = support.gen("options.md", self.write("t.ini", ALL)).stdout
        self.assertTrue(text.endswith("""### stint show

`stint show [OPTION]... FILE`: Shows a run, see `stint top`.

| option | meaning |
| --- | --- |
| `--color WHEN` | `auto` (default), `always` or `never`. Not if NO_COLOR is set. |
| `-n`, `--top N` | The first N rows; `--raw` for all. |
| `--fail-on GLOBS` | Names such as `a*,-b*`. The last decides. |
"""), text)

    def test_values_of_another_table(self):
        source = TOOL + SHOW + COLOR.replace("auto|always|never", "{sort_keys}").replace(
            "default = auto", "default = total")
        text = support.gen("option_ids.inc", self.write("t.ini", source)).stdout
        keys = sum(support.read(support.ROOT, "gen", name).count("sort = yes")
                   for name in ("columns.ini", "records.ini"))
        self.assertEqual(text.count("    OPTION_COLOR_"), keys)
        self.assertIn("    OPTION_COLOR_DEVICE_TOTAL", text)

    def test_values_explained_by_another_table(self):
        source = TOOL + SHOW + FILTER.replace("expected = glob,-glob", "values = {formats}").replace(
            "Names such as `a*,-b*`", "{explained}")
        text = support.gen("options.md", self.write("t.ini", source)).stdout
        self.assertIn("| `chrome` (trace events, for ui.perfetto.dev", text)
        last = words.format_entries(support.GEN)[-1]
        self.assertIn(" or `%s` (%s). The last decides. |" % (last.name, last.get("doc")), text)
        text = support.gen("option_table.inc", self.write("t.ini", source)).stdout
        self.assertIn('"      --fail-on GLOBS    chrome      trace events, for ui.perfetto.dev,', text)
        self.assertIn('"' + " " * 25 + last.name.ljust(12) + last.get("doc"), text)

    def refuse(self, source, said):
        for output in ("option_ids.inc", "option_table.inc", "options.md"):
            self.assert_refused(output, source, said)

    def test_refused(self):
        for source, said in (
                (SHOW, "[show]: the first entry is not [stint]"),
                (TOOL + SHOW + FILTER.replace("a*,-b*", "{explained}"),
                 "[show --fail-on]: {explained} without values that another table explains"),
                (TOOL + COLOR, "[show --color]: not below its command"),
                (TOOL + SHOW.replace("[show]", "[a b]"),
                 "[a b]: not of the form COMMAND or COMMAND --OPTION"),
                (TOOL + SHOW.replace("[show]", "[Show]"),
                 "[Show]: name 'Show' is not a word in lower case"),
                (TOOL + SHOW.replace("line = shows it\n", ""), "[show]: no key 'line'"),
                (TOOL + SHOW.replace("operands = yes", "operands = x"),
                 "[show]: unknown operands 'x' (yes|no)"),
                (TOOL + SHOW + COLOR.replace("kind = choice\n", ""),
                 "[show --color]: no key 'kind'"),
                (TOOL + SHOW + COLOR.replace("= choice", "= list"),
                 "[show --color]: unknown kind 'list' (flag|text|number|choice|optional)"),
                (TOOL + SHOW + COLOR.replace("--color", "--Color"),
                 "[show --Color]: name '--Color' is not in lower case"),
                (TOOL + SHOW + TOP.replace("letter = n", "letter = no"), "[show --top]: 'no' is not a letter"),
                (TOOL + SHOW + TOP.replace("max = 100\n", ""), "[show --top]: no key 'max'"),
                (TOOL + SHOW + TOP.replace("100", "1k"), "[show --top]: max '1k' is not a number"),
                (TOOL + SHOW + TOP.replace("The first", "{values}"),
                 "[show --top]: {values} without values"),
                (TOOL + SHOW + COLOR.replace("default = auto", "default = red"),
                 "[show --color]: default 'red' is not one of auto|always|never"),
                (TOOL + SHOW + COLOR.replace("auto|always|never", "{colours}"),
                 "[show --color]: unknown list '{colours}' (%s)" % "|".join(words.LISTS)),
                (TOOL + SHOW + TOP + FILTER.replace("value", "letter = n\nvalue"),
                 "[show --fail-on]: letter 'n' is also that of [show --top]"),
                (ALL + SHOW.replace("show", "list") + COLOR.replace("show", "list")
                 .replace("|never", ""),
                 "[list --color]: other values than those of an earlier --color")):
            self.refuse(source, said)

    def test_help_limits(self):
        self.assert_refused("option_table.inc", ALL.replace("[OPTION]...", "X" * 80),
                            "[show]: usage: stint show %s FILE: wider than 80 columns" % ("X" * 80))
        self.assert_refused("option_table.inc", ALL.replace("COLUMNS sets", "word " * 1000),
                            "[show]: the help is 5306 bytes long, C11 promises 4095")


if __name__ == "__main__":
    unittest.main()
