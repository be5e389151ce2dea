# SPDX-License-Identifier: Apache-2.0
"""options.ini: the commands and options of the tool `stint`, for its parser, messages and --help (C),
its manual page and docs/tool.md."""

import os
import re
import textwrap

import table
import words

HERE = os.path.dirname(os.path.abspath(__file__))
MARKDOWN_WIDTH = 100
HELP_INDENT = 25  # of what an option does; a longer option has a line of its own
HELP_LIMIT = 4095  # the longest string literal C11 promises; beyond it -Wpedantic warns
TOOL = "stint"

# kind -> required and optional keys
KINDS = {
    "flag": ((), ()),
    "text": (("value",), ("values", "default", "expected")),
    "number": (("value", "min", "max"), ()),
    "choice": (("value", "values"), ("default",)),
    "optional": (("value",), ("values", "expected")),
}

HEAD = """The commands as `stint COMMAND --help` prints them. The value of a long option follows after a space or a `=`; long
options can be abbreviated.

    %s

"""


class Command:
    def __init__(self, entry):
        self.entry = entry
        self.name = entry.name
        self.options = []
        required = ("usage", "doc") if self.is_tool() else ("line", "doc")
        entry.check(required, ("usage", "brief", "more", "operands", "complete"))
        if "operands" in entry.values:
            entry.one_of("operands", ("yes", "no"))
        if not re.fullmatch(r"[a-z]+", entry.name):
            entry.fail("name '%s' is not a word in lower case" % entry.name)

    def get(self, key):
        return self.entry.get(key)

    def is_tool(self):
        return self.name == TOOL

    def full_name(self):
        return TOOL if self.is_tool() else TOOL + " " + self.name

    def synopsis(self):
        return (self.full_name() + " " + self.get("usage")).rstrip()


class Option:
    def __init__(self, entry, name):
        self.entry = entry
        self.name = name
        if "kind" not in entry.values:
            entry.fail("no key 'kind'")
        entry.one_of("kind", KINDS)
        self.kind = entry.get("kind")
        required, optional = KINDS[self.kind]
        entry.check(("kind", "doc") + required, ("letter", "alias", "more") + optional)
        self.explaining = words.explaining(HERE, entry.get("values"))
        for key in ("values", "expected", "more"):
            words.expand(HERE, entry, key)
        if not re.fullmatch(r"[a-z]+(-[a-z]+)*", name):
            entry.fail("name '--%s' is not in lower case" % name)
        if not re.fullmatch(r"[A-Za-z]?", entry.get("letter")):
            entry.fail("'%s' is not a letter" % entry.get("letter"))
        if entry.get("default") and entry.get("default") not in self.values():
            entry.fail("default '%s' is not one of %s" % (entry.get("default"),
                                                          "|".join(self.values())))
        if "{values}" in entry.get("doc") and not self.values():
            entry.fail("{values} without values")
        if "{explained}" in entry.get("doc") and not self.explained():
            entry.fail("{explained} without values that another table explains")
        for key in ("min", "max"):
            if not re.fullmatch(r"[0-9]*", entry.get(key)):
                entry.fail("%s '%s' is not a number" % (key, entry.get(key)))

    def get(self, key):
        return self.entry.get(key)

    def values(self):
        text = self.get("values")
        return text.split("|") if text else []

    def shown_value(self):
        """As --help and the documents show it after the name."""
        if self.kind == "optional":
            return "[=%s]" % self.get("value")
        return " " + self.get("value") if self.get("value") else ""

    def expected(self):
        """For the message about a wrong value."""
        if self.get("expected"):
            return self.get("expected")
        if self.kind == "number":
            return "a number from %s to %s" % (self.get("min"), self.get("max"))
        return table.either(self.values())

    def text(self, key="doc", mark="`"):
        """mark: around each of the values."""
        shown = [mark + value + mark + (" (default)" if value == self.get("default") else "")
                 for value in self.values()]
        text = self.get(key).replace("{values}", table.either(shown))
        return text.replace("{explained}", self.explained())

    def explained(self):
        """The values with what their table says about each; "" if it says nothing."""
        shown = []
        for entry in self.explaining:
            default = "default: " if entry.name == self.get("default") else ""
            shown.append("`%s` (%s%s)" % (entry.name, default, entry.get("doc")))
        return table.either(shown)

    def identifier(self):
        return "OPTION_" + c_name(self.name)


def c_name(word):
    return word.upper().replace("-", "_")


def read(path):
    commands = []
    for entry in table.read(path):
        match = re.fullmatch(r"(\S+)(?: --(\S+))?", entry.name)
        if not match:
            entry.fail("not of the form COMMAND or COMMAND --OPTION")
        if not match.group(2):
            commands.append(Command(entry))
        elif not commands or commands[-1].name != match.group(1):
            entry.fail("not below its command")
        else:
            commands[-1].options.append(Option(entry, match.group(2)))
    if commands[0].name != TOOL:
        commands[0].entry.fail("the first entry is not [%s]" % TOOL)
    for command in commands:
        table.unique([option.entry for option in command.options], "letter")
    check_choices(commands)
    return commands


def check_choices(commands):
    """The C names of values are made of the option's name: the same name has the same values."""
    seen = {}
    for command in commands:
        for option in command.options:
            if option.kind == "choice" and seen.setdefault(option.name, option.values()) \
                    != option.values():
                option.entry.fail("other values than those of an earlier --%s" % option.name)


# ---- C ----

def unique_names(commands, kind=None):
    names = []
    for command in commands:
        for option in command.options:
            if option.name not in names and kind in (None, option.kind):
                names.append(option.name)
    return names


def render_ids(path):
    commands = read(path)
    names = ["help"] + [name for name in unique_names(commands) if name != "help"]
    lines = [table.c_banner(path), "enum command_id {\n",
             "".join("    TOOL_%s,\n" % c_name(command.name) for command in commands[1:]),
             "    TOOL_COMMANDS\n};\n\n",
             "enum option_id {\n",
             ",\n".join("    OPTION_" + c_name(name) for name in names), "\n};\n"]
    for name in unique_names(commands, "choice"):
        values = next(option.values() for command in commands for option in command.options
                      if option.name == name and option.kind == "choice")
        lines += ["\nenum option_%s {\n" % name.replace("-", "_"),
                  ",\n".join("    OPTION_%s_%s" % (c_name(name), c_name(value))
                             for value in values), "\n};\n"]
    return "".join(lines)


def c_option(name, option):
    low = option.get("min") or "0"
    high = option.get("max") or "0"
    letter = "'%s'" % option.get("letter") if option.get("letter") else "0"
    value = table.c_string(option.get("value")) if option.get("value") else "NULL"
    values = table.c_string("|".join(option.values())) if option.values() else "NULL"
    expected = "NULL" if option.kind == "flag" else table.c_string(option.expected())
    return "    {%s, %s, OPTION_%s, %s, %s, %s, %s, %s, %s},\n" % (
        table.c_string(name), value, option.kind.upper(), option.identifier(), letter, low, high,
        values, expected)


def render_c(path):
    commands = read(path)
    lines = [table.c_banner(path),
             "/* name, value, kind, id, letter, min, max, values, expected */\n"]
    for command in commands:
        lines.append("static const struct option_entry options_of_%s[] = {\n" % command.name)
        for option in command.options:
            lines.append(c_option(option.name, option))
            if option.get("alias"):
                lines.append(c_option(option.get("alias"), option))
        if "help" not in [option.name for option in command.options]:
            lines.append('    {"help", NULL, OPTION_FLAG, OPTION_HELP, 0, 0, 0, NULL, NULL},\n')
        lines.append("    {NULL, NULL, OPTION_FLAG, OPTION_HELP, 0, 0, 0, NULL, NULL},\n};\n\n")
        lines += ["static const char help_of_%s[] =\n" % command.name, c_help(commands, command),
                  "\n"]
    lines.append("/* name, options, help, whether options end at the first operand */\n")
    lines.append("static const struct command_entry tool_entry = %s;\n\n" % c_command(commands[0]))
    lines.append("static const struct command_entry command_table[TOOL_COMMANDS] = {\n")
    lines += ["    %s,\n" % c_command(command) for command in commands[1:]]
    return "".join(lines) + "};\n"


def c_command(command):
    operands = command.is_tool() or command.get("operands") == "yes"
    return "{%s, options_of_%s, help_of_%s, %d}" % (table.c_string(command.name), command.name,
                                                    command.name, operands)


def c_help(commands, command):
    text = help_text(commands, command)
    if len(text) > HELP_LIMIT:
        command.entry.fail("the help is %d bytes long, C11 promises %d" % (len(text), HELP_LIMIT))
    lines = text.rstrip("\n").split("\n")
    return "".join("    %s\n" % table.c_string(line + "\n") for line in lines)[:-1] + ";\n"


# ---- Help ----

def plain(text):
    return text.replace("`", "'")


def help_list(option):
    """The values of another table, each on a line of its own with what the table says about it."""
    column = max(len(entry.name) for entry in option.explaining) + 2
    lines = []
    for entry in option.explaining:
        default = " (default)" if entry.name == option.get("default") else ""
        lines += table.wrap(plain(entry.get("doc")) + default, " " * column,
                            entry.name.ljust(column), table.HELP_WIDTH - HELP_INDENT)
    return lines


def help_doc(option):
    before, explained, after = option.get("doc").partition("{explained}.")
    if not explained:
        return table.wrap(plain(option.text(mark="")), width=table.HELP_WIDTH - HELP_INDENT)
    lines = table.wrap(plain(before), width=table.HELP_WIDTH - HELP_INDENT) + help_list(option)
    return lines + table.wrap(plain(after), width=table.HELP_WIDTH - HELP_INDENT)


def help_option(letter, name, value, doc):
    """doc: lines, the first of them beside the option if there is room."""
    left = "  %s --%s%s" % ("-%s," % letter if letter else "   ", name,
                            value)
    if not doc:
        return [left]
    indented = [" " * HELP_INDENT + line for line in doc]
    if len(left) + 2 > HELP_INDENT:
        return [left] + indented
    return [left.ljust(HELP_INDENT) + doc[0]] + indented[1:]


def help_text(commands, command):
    lines = ["usage: " + command.synopsis()]
    lines += table.wrap(plain(command.get("doc"))) + [""]
    if command.is_tool():
        left = max(len(other.get("brief")) for other in commands) + 2
        names = max([7] + [len(other.name) for other in commands[1:]])
        lines += ["  %s %s%s" % (other.name.ljust(names), other.get("brief").ljust(left),
                                 other.get("line"))
                  for other in commands[1:]] + [""]
    for option in command.options:
        lines += help_option(option.get("letter"), option.name, option.shown_value(),
                             help_doc(option))
    if "help" not in [option.name for option in command.options]:
        lines += help_option("", "help", "", [])
    if command.get("more"):
        lines += ([""] if command.is_tool() else []) + table.wrap(plain(command.get("more")))
    for line in lines:
        if len(line) > table.HELP_WIDTH:
            command.entry.fail("%s: wider than %d columns" % (line.strip(), table.HELP_WIDTH))
    return "".join(line + "\n" for line in lines)


# ---- The manual page ----

def man_literal(text):
    """The markup of a text that the user types: a flag, a word, or something else."""
    if text.startswith("--"):
        return ".Fl " + text[1:]
    if re.fullmatch(r"[a-z]\w*", text):
        return ".Cm " + text
    return ".Ql " + text.replace("\\", "\\e").replace("-", "\\-")


def man_text(text, value):
    """Text with `...`, names of environment variables and the option's own value as macros."""
    pattern = r"([(]?)(`[^`]+`|\b[A-Z]+_[A-Z_]+(?:=\w+)?\b%s)([).,;:]*)"
    own = r"|\b%s(?!\w)" % re.escape(value) if value else ""
    lines, rest = [], text
    while rest:
        match = re.search(pattern % own, rest)
        if not match:
            lines += textwrap.wrap(rest.strip(), 78, break_on_hyphens=False)
            break
        before, word = rest[:match.start()].strip(), match.group(2)
        if before:
            lines += textwrap.wrap(before, 78, break_on_hyphens=False)
        if word.startswith("`"):
            macro = man_literal(word[1:-1])
        elif word == value:
            macro = ".Ar " + word.lower()
        else:
            macro = ".Ev " + word.replace("=", " Ns = Ns Cm ")
        if match.group(1):
            macro = macro[:4] + "( " + macro[4:]
        rest = rest[match.end():]
        if match.group(3):
            macro += " " + " ".join(match.group(3))
        lines.append(macro)
    return "".join(line + "\n" for line in lines if line)


def man_option(option):
    head = ".It "
    if option.get("letter"):
        head += "Fl %s , " % option.get("letter")
    head += "Fl -" + option.name
    if option.kind == "optional":
        head += " Ns Op Ns = Ns Ar " + option.get("value").lower()
    elif option.get("value"):
        head += " Ar " + option.get("value").lower()
    text = " ".join(part for part in (option.text(), option.text("more")) if part)
    sentences = re.split(r"(?<=[.]) (?=[A-Z`])", text)
    return head + "\n" + "".join(man_text(sentence, option.get("value")) for sentence in sentences)


def man_options(command):
    return ".Bl -tag -width Ds\n%s.El\n" % "".join(man_option(o) for o in command.options)


def render_man(template):
    """The page: each line .\\" @options COMMAND@ is replaced by that command's options."""
    commands = {command.name: command for command in read(os.path.join(HERE, "options.ini"))}
    lines = []
    with open(template, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            match = re.fullmatch(r'\.\\" @options (\S+)@\n', line)
            if not match:
                lines.append(line)
            elif match.group(1) not in commands:
                raise table.TableError("%s: line %d: no command '%s' in options.ini"
                                       % (template, number, match.group(1)))
            else:
                lines.append(man_options(commands[match.group(1)]))
    return "".join(lines)


# ---- docs/tool.md ----

def render_markdown(path):
    commands = read(path)
    lines = [HEAD % ("stint " + commands[0].get("usage"))]
    for command in commands:
        if not command.is_tool():
            lines += ["### stint %s\n\n" % command.name,
                      markdown_wrap("`%s`: %s" % (command.synopsis(), command.get("doc"))), "\n"]
        if command.options:
            lines += [table.markdown_row(["option", "meaning"]), table.markdown_row(["---"] * 2)]
            lines += [markdown_option(option) for option in command.options] + ["\n"]
    return "".join(lines).rstrip("\n") + "\n"


def markdown_wrap(text):
    return "".join(line + "\n" for line in table.wrap(text, width=MARKDOWN_WIDTH))


def markdown_option(option):
    value = option.shown_value()
    names = ["`-%s`" % option.get("letter")] if option.get("letter") else []
    names.append("`--%s%s`" % (option.name, value))
    return table.markdown_row([", ".join(names), " ".join(
        part for part in (option.text(), option.text("more")) if part)])
