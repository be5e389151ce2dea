# SPDX-License-Identifier: Apache-2.0
"""units.ini: the units of times in reports, as an enum and its names (C), and for texts."""

import table


def read(path):
    entries = table.read(path)
    for entry in entries:
        entry.check((), ("ns", "decimals", "default"))
        entry.check_identifier("name", entry.name)
        if ("ns" in entry.values) != ("decimals" in entry.values):
            entry.fail("ns and decimals belong together")
        for key in ("ns", "decimals"):
            if key in entry.values and not entry.get(key).isdigit():
                entry.fail("%s '%s' is not a number" % (key, entry.get(key)))
        if "default" in entry.values:
            entry.one_of("default", ("yes",))
    table.unique(entries, "ns")
    if len([entry for entry in entries if entry.get("default")]) != 1:
        entries[-1].fail("not one unit of the table is the default")
    return entries


def render_ids(path):
    lines = ["    CONFIG_UNIT_%s,\n" % entry.name.upper() for entry in read(path)]
    return "%senum config_unit {\n%s    CONFIG_UNITS\n};\n" % (table.c_banner(path), "".join(lines))


def render_c(path):
    rows = ["    {%s, %s, %s},\n" % (table.c_string(entry.name), entry.get("ns", "0"),
                                    entry.get("decimals", "0")) for entry in read(path)]
    return "%sstatic const struct text_unit text_units[CONFIG_UNITS] = {\n%s};\n" % (
        table.c_banner(path), "".join(rows))
