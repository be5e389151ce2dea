# SPDX-License-Identifier: Apache-2.0
"""interfaces.ini: the interfaces of ranges, as an enum and a list (C), and for texts."""

import re

import table


def read(path):
    entries = table.read(path)
    last = -1
    for entry in entries:
        entry.check(("number", "title", "libraries", "doc"), ("place", "variable", "older", "see"))
        entry.check_identifier("name", entry.name)
        for key in ("variable", "older"):
            if not re.fullmatch(r"[A-Z0-9_]*", entry.get(key)):
                entry.fail("%s '%s' is not the name of a variable" % (key, entry.get(key)))
        number = int(entry.get("number")) if entry.get("number").isdigit() else -1
        if number <= last:
            entry.fail("number '%s' is not above %d: a new interface comes last"
                       % (entry.get("number"), last))
        last = number
    return entries


def names(entries):
    return [entry.name for entry in entries]


def c_row(entry):
    def variable(key):
        return table.c_string(entry.get(key)) if entry.get(key) else "NULL"
    return "X(RANGE_%s, %s, %s, %s, %s)" % (
        entry.name.upper(), table.c_string(entry.name),
        table.c_string(entry.get("place", entry.get("title"))), variable("variable"),
        variable("older"))


def render_c(path):
    entries = read(path)
    ids = ["    RANGE_%s,\n" % name.upper() for name in names(entries)]
    rows = [" \\\n    " + c_row(entry) for entry in entries]
    return ("%senum range_interface {\n%s    RANGE_INTERFACES\n};\n"
            "/* X(interface, its name, the place of its ranges, the variable of its tool or NULL, that\n"
            " * of earlier versions or NULL) */\n#define RANGE_EACH(X)%s\n" % (
                table.c_banner(path), "".join(ids), "".join(rows)))


def render_markdown(path):
    lines = [table.markdown_row(["interface", "libraries", "recorded", "variable"]),
             table.markdown_row(["---"] * 4)]
    for entry in read(path):
        title, variable = entry.get("title"), "`%s`" % entry.get("variable", "LD_PRELOAD")
        if entry.get("see"):
            title = "[%s](%s)" % (title, entry.get("see"))
        if entry.get("older"):
            variable += ", in earlier versions `%s`" % entry.get("older")
        lines.append(table.markdown_row([title, entry.get("libraries"), entry.get("doc"), variable]))
    return "".join(lines)
