# SPDX-License-Identifier: Apache-2.0
"""formats.ini: the export formats, as declarations and lists of functions (C), and for texts."""

import table

LAYERS = ("export", "export/tool", "interval", "history")


def read(path):
    entries = table.read(path)
    for entry in entries:
        entry.check(("layer", "data", "doc", "file"), ("program", "binary"))
        entry.check_identifier("name", function(entry))
        entry.one_of("layer", LAYERS)
        for key in ("program", "binary"):
            if key in entry.values:
                entry.one_of(key, ("yes",))
        if entry.get("layer") == "interval" and not entry.get("program"):
            entry.fail("neither the tool nor stint_export writes it")
    table.unique(entries, "file")
    return entries


def function(entry):
    return entry.name.replace("-", "_")


def writer(entry):
    return "NULL" if entry.get("layer") == "history" else "export_" + function(entry)


def of_tool(path):
    return [entry for entry in read(path) if entry.get("layer") != "interval"]


def of_program(path):
    return [entry for entry in read(path) if entry.get("program")]


def names(entries):
    return [entry.name for entry in entries]


def declarations(path, layer):
    functions = ["int export_%s(struct sink *out, struct run *r);\n" % function(entry)
                 for entry in read(path) if entry.get("layer") == layer]
    return table.c_banner(path) + "".join(functions)


def render_export(path):
    return declarations(path, "export")


def render_tool(path):
    return declarations(path, "export/tool")


def render_c(path):
    """The list of the tool."""
    rows = ["    {%s, %s, %d /* binary */},\n"
            % (table.c_string(entry.name), writer(entry), entry.get("binary") == "yes")
            for entry in of_tool(path)]
    return "%sstatic const struct format formats[] = {\n%s};\n" % (
        table.c_banner(path), "".join(rows))


def render_program(path):
    """The list of stint_export, and the names for its message."""
    entries = of_program(path)
    rows = ["    {%s, statistics_put_%s},\n" % (table.c_string(entry.name), function(entry))
            for entry in entries]
    return ("%s#define PROGRAM_FORMATS %s\n"
            "static const struct program_format program_formats[] = {\n%s};\n" % (
                table.c_banner(path), table.c_string(table.either(names(entries))),
                "".join(rows)))


def render_names(path):
    """The formats of the tool, one per line, for the tests."""
    return "".join(name + "\n" for name in names(of_tool(path)))


def render_markdown(path):
    lines = [table.markdown_row(["format", "data", "what it is", "file name"]),
             table.markdown_row(["---"] * 4)]
    lines += [table.markdown_row(["`%s`" % entry.name, entry.get("data"), entry.get("doc"),
                                  "`%s`" % entry.get("file")]) for entry in of_tool(path)]
    return "".join(lines)
