# SPDX-License-Identifier: Apache-2.0
"""measures.ini: the numbers of a scope besides its times, as enums and a table (C)."""

import table

ADD = {"sum": "MEASURE_SUM", "state": "MEASURE_STATE", "most": "MEASURE_MOST",
       "ticks": "MEASURE_TICKS"}
OF = {"own": 0, "calls": 1}


def read(path):
    entries = table.read(path)
    ended = []
    for entry in entries:
        entry.check(("group", "add", "of", "doc"))
        entry.check_identifier("name", entry.name)
        entry.check_identifier("group", entry.get("group"))
        entry.one_of("add", ADD)
        entry.one_of("of", OF)
        group = entry.get("group")
        if ended and ended[-1] == group:
            continue
        if group in ended:
            entry.fail("group %s began above and has ended" % group)
        ended.append(group)
    return entries


def groups(path):
    """By name, in the order of the table: the numbers of the first measure and of measures."""
    found = {}
    for number, entry in enumerate(read(path)):
        first, count = found.get(entry.get("group"), (number, 0))
        found[entry.get("group")] = (first, count + 1)
    return found


def render_ids(path):
    lines = [table.c_banner(path), "#define MEASURE_COUNT %d\n" % len(read(path)),
             "enum measure {\n"]
    lines += ["    MEASURE_%s,\n" % entry.name.upper() for entry in read(path)]
    lines.append("};\n#define MEASURE_GROUP_COUNT %d\nenum measure_group {\n" % len(groups(path)))
    lines += ["    MEASURE_GROUP_%s,\n" % name.upper() for name in groups(path)]
    return "".join(lines) + "};\n"


def render_flags(path):
    """The flags that say that a row has numbers of a group."""
    return table.c_banner(path) + "".join(
        "#define ROW_%s (1u << (ROW_MEASURES + MEASURE_GROUP_%s))\n" % (name.upper(), name.upper())
        for name in groups(path))


def render_c(path):
    lines = [table.c_banner(path),
             "static const struct measure_rule measure_rules[MEASURE_COUNT] = {\n"]
    for entry in read(path):
        lines.append("    {%s, %d /* of whole calls */},\n" % (ADD[entry.get("add")],
                                                              OF[entry.get("of")]))
    lines.append("};\nstatic const struct measure_range measure_ranges[MEASURE_GROUP_COUNT] = {\n")
    lines += ["    {%d, %d},\n" % place for place in groups(path).values()]
    return "".join(lines) + "};\n"


def render_markdown(path):
    lines = [table.markdown_row(("number", "name", "what")),
             table.markdown_row(("--:", "---", "---"))]
    for number, entry in enumerate(read(path)):
        lines.append(table.markdown_row((str(number), "`%s`" % entry.name, entry.get("doc"))))
    return "".join(lines)
