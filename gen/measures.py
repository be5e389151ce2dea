# SPDX-License-Identifier: Apache-2.0
"""measures.ini: the numbers of a scope besides its times, as enums and a table (C)."""

import table

ADD = {"sum": "MEASURE_SUM", "state": "MEASURE_STATE", "most": "MEASURE_MOST",
       "ticks": "MEASURE_TICKS"}
OF = {"own": 0, "calls": 1}
NUMBERS = 4096  # a block of a run file has 2 bytes for a number


def number(entry, value):
    """A number of run files, from its text."""
    if not value.isdigit() or int(value) >= NUMBERS:
        entry.fail("number '%s' is not one from 0 to %d" % (value, NUMBERS - 1))
    return int(value)


def take(entry, value, taken):
    """The same, which no other section may have."""
    taken_by = taken.setdefault(number(entry, value), entry.name)
    if taken_by != entry.name:
        entry.fail("number %s is that of [%s]; the next free one is %d"
                   % (value, taken_by, next(n for n in range(NUMBERS) if n not in taken)))
    return int(value)


def read_all(path):
    """The measures, and the numbers that are taken, with the names of their sections."""
    entries = table.read(path)
    reserved = [entry for entry in entries if entry.name == "reserved"]
    taken = {}
    for entry in reserved:
        entry.check(("numbers", "doc"))
        for value in entry.get("numbers").split():
            take(entry, value, taken)
    entries = [entry for entry in entries if entry.name != "reserved"]
    ended = []
    for entry in entries:
        entry.check(("number", "group", "add", "of", "doc"))
        entry.number = take(entry, entry.get("number"), taken)
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
    return entries, taken


def read(path):
    return read_all(path)[0]


def groups(path):
    """The measures of each group, in the order of the table."""
    found = {}
    for entry in read(path):
        found.setdefault(entry.get("group"), []).append(entry)
    return found


def render_ids(path):
    entries, taken = read_all(path)
    lines = [table.c_banner(path), "#define MEASURE_COUNT %d\n" % (max(taken) + 1),
             "enum measure {\n"]
    lines += ["    MEASURE_%s = %d,\n" % (entry.name.upper(), entry.number) for entry in entries]
    lines.append("};\n#define MEASURE_GROUP_COUNT %d\nenum measure_group {\n" % len(groups(path)))
    lines += ["    MEASURE_GROUP_%s,\n" % name.upper() for name in groups(path)]
    lines.append("};\nenum measure_group_size {\n")
    lines += ["    MEASURES_OF_%s = %d,\n" % (name.upper(), len(of))
              for name, of in groups(path).items()]
    return "".join(lines) + "};\n"


def render_flags(path):
    """The flags that say that a row has numbers of a group."""
    return table.c_banner(path) + "".join(
        "#define ROW_%s (1u << (ROW_MEASURES + MEASURE_GROUP_%s))\n" % (name.upper(), name.upper())
        for name in groups(path))


def render_c(path):
    lines = [table.c_banner(path),
             "static const struct measure_rule measure_rules[MEASURE_COUNT] = {\n"]
    numbers = []
    lists = []
    for of in groups(path).values():
        lists.append("    {&measure_numbers[%d], %d},\n" % (len(numbers), len(of)))
        numbers += ["    %d,\n" % entry.number for entry in of]
        lines += ["    [%d] = {%s, %d /* of whole calls */, %d},\n"
                  % (entry.number, ADD[entry.get("add")], OF[entry.get("of")], place)
                  for place, entry in enumerate(of)]
    lines += ["};\nstatic const uint16_t measure_numbers[] = {\n", *numbers,
              "};\nstatic const struct measure_list measure_lists[MEASURE_GROUP_COUNT] = {\n"]
    return "".join(lines + lists) + "};\n"


def render_markdown(path):
    lines = [table.markdown_row(("number", "name", "what")),
             table.markdown_row(("--:", "---", "---"))]
    for of in groups(path).values():
        lines += [table.markdown_row((entry.get("number"), "`%s`" % entry.name, entry.get("doc")))
                  for entry in of]
    return "".join(lines)
