# SPDX-License-Identifier: Apache-2.0
"""Reads a table: an INI file, one section an entry, in the order of the file. What every table
shares is here: the checks, their error messages, the banner and C string literals."""

import configparser
import os
import re
import textwrap

HELP_WIDTH = 80  # of --help
BANNER = "Generated from %s by gen.py: edit the table, not this file."


class TableError(Exception):
    """A bad table, in one line: `FILE: [section]: what is wrong`."""


class Entry:
    def __init__(self, path, name, values):
        self.path = path
        self.name = name
        self.values = values

    def fail(self, what):
        raise TableError("%s: [%s]: %s" % (self.path, self.name, what))

    def check(self, required, optional=()):
        """Every required key has a value, and there is no key that is not read."""
        for key in self.values:
            if key not in required and key not in optional:
                self.fail("unknown key '%s'" % key)
        for key in required:
            if key not in self.values:
                self.fail("no key '%s'" % key)
        for key, value in self.values.items():
            if not value:
                self.fail("key '%s' is empty" % key)

    def get(self, key, default=""):
        return self.values.get(key, default)

    def one_of(self, key, allowed):
        value = self.get(key)
        if value not in allowed:
            self.fail("unknown %s '%s' (%s)" % (key, value, "|".join(allowed)))

    def check_identifier(self, what, value):
        """For what becomes part of a C name."""
        if not re.fullmatch(r"[a-z][a-z0-9_]*", value):
            self.fail("%s '%s' is not a C identifier in lower case" % (what, value))


def read(path):
    """The entries of the table; duplicate sections and keys are errors."""
    parser = configparser.ConfigParser(
        delimiters=("=",), comment_prefixes=("#",), inline_comment_prefixes=None,
        empty_lines_in_values=False, default_section=None, interpolation=None)
    parser.optionxform = str
    try:
        with open(path, encoding="ascii") as file:
            parser.read_file(file)
    except UnicodeDecodeError:
        # The texts go into reports, which are ASCII unless the locale is UTF-8.
        raise TableError("%s: not ASCII" % path) from None
    except configparser.DuplicateSectionError as error:
        raise TableError("%s: [%s]: line %d: duplicate entry"
                         % (path, error.section, error.lineno)) from None
    except configparser.DuplicateOptionError as error:
        raise TableError("%s: [%s]: line %d: duplicate key '%s'"
                         % (path, error.section, error.lineno, error.option)) from None
    except configparser.MissingSectionHeaderError as error:
        raise TableError("%s: line %d: no [section] above it" % (path, error.lineno)) from None
    except configparser.ParsingError as error:
        raise TableError("%s: line %d: not of the form 'key = value'"
                         % (path, error.errors[0][0])) from None
    if not parser.sections():
        raise TableError("%s: no entries" % path)
    return [entry for name in parser.sections() for entry in repeated(
        Entry(path, name, {key: " ".join(value.split()) for key, value in parser.items(name)}))]


def repeated(entry):
    """The entry, or with the key `each` one for each section of that table beside its own: the name
    of the section replaces the * in its name, and the section's values replace {KEY} in its own."""
    if "each" not in entry.values:
        return [entry]
    others = read(os.path.join(os.path.dirname(entry.path), entry.values.pop("each")))
    try:
        return [Entry(entry.path, entry.name.replace("*", other.name),
                      {key: value.format(**other.values) for key, value in entry.values.items()})
                for other in others]
    except KeyError as error:
        entry.fail("a section of %s has no key %s" % (others[0].path, error))


def unique(entries, key):
    """No two entries may share a value of this key."""
    seen = {}
    for entry in entries:
        value = entry.get(key)
        if value and value in seen:
            entry.fail("%s '%s' is also that of [%s]" % (key, value, seen[value]))
        seen[value] = entry.name


def unique_names(entries):
    """The same of the names of entries that are from more than one table."""
    names = set()
    for entry in entries:
        if entry.name in names:
            entry.fail("there is another '%s'" % entry.name)
        names.add(entry.name)


def wrap(text, indent="", first=None, width=HELP_WIDTH):
    """Lines of at most this width; the first one begins with `first`, the others with the indent."""
    return textwrap.wrap(text, width, initial_indent=indent if first is None else first,
                         subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def either(names, word="or"):
    """The names in a sentence: "a, b or c"."""
    return (" %s " % word).join(part for part in (", ".join(names[:-1]), "".join(names[-1:])) if part)


def c_banner(path):
    return "/* SPDX-License-Identifier: Apache-2.0 */\n/* %s */\n" % (
        BANNER % os.path.basename(path))


def markdown_banner(path):
    return "<!-- SPDX-License-Identifier: Apache-2.0 -->\n<!-- %s -->\n" % (
        BANNER % os.path.basename(path))


def c_string(text):
    """A literal; "??" is broken up because strict C11 still knows trigraphs."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?")
    return '"%s"' % text.replace("\n", "\\n")


def markdown_row(cells):
    return "| %s |\n" % " | ".join(cell.replace("|", "\\|") for cell in cells)
