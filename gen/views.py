# SPDX-License-Identifier: Apache-2.0
"""views.ini: the views of a report, as an enum, its names and its parts (C), and for texts."""

import table

WIDTH = 100


def read(path):
    entries = table.read(path)
    for entry in entries:
        entry.check(("doc",) if "means" in entry.values else ("doc", "parts"), ("default", "means"))
        entry.check_identifier("name", entry.name)
        for part in parts(entry):
            entry.check_identifier("part", part)
        if "default" in entry.values:
            entry.one_of("default", ("yes",))
    table.unique(entries, "doc")
    if len([entry for entry in entries if entry.get("default")]) != 1:
        entries[-1].fail("not one view of the table is the default")
    for entry in entries:
        if entry.get("means") and entry.get("means").split(",")[0] not in names(entries):
            entry.fail("it means no view of the table")
    return entries


def names(entries):
    """Without those that only the tool takes."""
    return [entry.name for entry in entries if not entry.get("means")]


def parts(entry):
    return entry.get("parts").split()


def render_ids(path):
    lines = ["    REPORT_%s,\n" % name.upper() for name in names(read(path))]
    return "%senum report_view {\n%s    REPORT_VIEWS\n};\n" % (table.c_banner(path), "".join(lines))


def render_names(path):
    rows = ["    %s,\n" % table.c_string(name) for name in names(read(path))]
    return "%sstatic const char *const report_view_names[REPORT_VIEWS] = {\n%s};\n" % (
        table.c_banner(path), "".join(rows))


def render_c(path):
    """The parts of each view, with room for a NULL after the last."""
    entries = [entry for entry in read(path) if not entry.get("means")]
    rows = ["\n".join(table.wrap("{%s}," % ", ".join(parts(entry)), " " * 5, " " * 4, WIDTH)) + "\n"
            for entry in entries]
    return "%sstatic report_part *const report_views[REPORT_VIEWS][%d] = {\n%s};\n" % (
        table.c_banner(path), max(len(parts(entry)) for entry in entries) + 1, "".join(rows))


def render_tool(path):
    """The table of the names that the tool takes in addition."""
    rows = ["    {%s, %s},\n" % (table.c_string(entry.name), table.c_string(entry.get("means")))
            for entry in read(path) if entry.get("means")]
    return "%sstatic const struct view_name view_names[] = {\n%s    {NULL, NULL}};\n" % (
        table.c_banner(path), "".join(rows))
