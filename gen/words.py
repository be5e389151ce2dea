# SPDX-License-Identifier: Apache-2.0
"""The names in views.ini, columns.ini and other tables as texts list them: "a|b|c" in messages (C), in
docs, and in the values of other tables, where {views} is replaced by the list. {views,} has what
follows the name between two of them, and {views and} is a sentence: `a`, `b` and `c`."""

import os
import re

import columns
import formats
import interfaces
import table
import units
import views


def view_entries(folder):
    return views.read(os.path.join(folder, "views.ini"))


def sort_keys(folder):
    return [entry.name for entry in columns.read(os.path.join(folder, "columns.ini"))
            if entry.get("sort") == "yes"]


def unit_names(folder):
    return [entry.name for entry in units.read(os.path.join(folder, "units.ini"))]


def format_entries(folder):
    return formats.of_tool(os.path.join(folder, "formats.ini"))


# Each of the folder with the tables.
LISTS = {
    "views": lambda folder: views.names(view_entries(folder)),
    "tool_views": lambda folder: [entry.name for entry in view_entries(folder)],
    "sort_keys": sort_keys,
    "diff_numbers": lambda folder: columns.diff_words(os.path.join(folder, "columns.ini")),
    "units": unit_names,
    "formats": lambda folder: formats.names(format_entries(folder)),
    "interfaces": lambda folder: interfaces.names(
        interfaces.read(os.path.join(folder, "interfaces.ini"))),
}
C_LISTS = ("views", "sort_keys")
EXPLAINING = {"{tool_views}": view_entries, "{formats}": format_entries}


def listed(folder, name, between="|"):
    return between.join(LISTS[name](folder))


def expand(folder, entry, key):
    """Replaces {views}, {sort_keys} ... in that value of the entry."""
    def names(match):
        if match.group(1) not in LISTS:
            entry.fail("unknown list '%s' (%s)" % (match.group(0), "|".join(LISTS)))
        if match.group(2) == " and":
            return table.either(["`%s`" % name for name in LISTS[match.group(1)](folder)], "and")
        return listed(folder, match.group(1), match.group(2) or "|")
    if key in entry.values:
        entry.values[key] = re.sub(r"\{(\w+)(, ?| and|)\}", names, entry.get(key))


def explaining(folder, text):
    """The entries whose `doc` explains the values {tool_views} or {formats}."""
    return EXPLAINING[text](folder) if text in EXPLAINING else []


def render_c(path):
    folder = os.path.dirname(path)
    lines = [table.c_banner(path)]
    for name in C_LISTS:
        lines.append("#define WORDS_%s %s\n" % (name.upper(), table.c_string(listed(folder, name))))
    default = [entry.name for entry in view_entries(folder) if entry.get("default")][0]
    lines.append("#define WORDS_DEFAULT_VIEW %s\n" % table.c_string(default))
    return "".join(lines)


def render_view_help(path):
    """The text that `stint help views` prints, as one string literal."""
    entries = views.read(path)
    folder = os.path.dirname(path)
    width = max(len(entry.name) for entry in entries) + 4
    lines = ["Views of a report, for `stint report --view`, `stint run --report` and STINT_REPORT:"
             .replace("`", "")]
    for entry in entries:
        said = entry.get("doc")
        if entry.get("default"):
            said += " (default)"
        if entry.get("means"):
            said += "; the same as " + entry.get("means")
        lines += table.wrap(said, " " * width, ("  " + entry.name).ljust(width))
    keys = sort_keys(folder)
    lines += ["", "Each may be followed by ,sort=KEY ,top=N and ,threads (one row per thread);",
              "table and tree by ,corrected (times without stint's own cost).", "KEY:"]
    lines += table.wrap(", ".join(keys), "  ", "  ")
    for line in lines:
        if len(line) > table.HELP_WIDTH:
            raise table.TableError("%s: %s: wider than %d columns"
                                   % (path, line.strip(), table.HELP_WIDTH))
    return table.c_banner(path) + "".join(table.c_string(line + "\n") + "\n" for line in lines)


def render_markdown_views(folder):
    lines = [table.markdown_row(["view", "what it shows"]), table.markdown_row(["---"] * 2)]
    for entry in view_entries(folder):
        if not entry.get("means"):
            lines.append(table.markdown_row(["`%s`" % entry.name, entry.get("doc")]))
    return "".join(lines)


def render_markdown_form(folder):
    return "    none|%s[,sort=%s]\n        [,top=N][,threads][,corrected]\n" % (listed(folder, "views"),
                                                            listed(folder, "sort_keys"))
