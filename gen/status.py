# SPDX-License-Identifier: Apache-2.0
"""status.ini: what a report's footer can say was lost, as an enum and its texts (C)."""

import table


MISSING = ("calls", "any")


def read(path):
    entries = table.read(path)
    for entry in entries:
        entry.check(("text", "label"), ("missing",))
        if "missing" in entry.values:
            entry.one_of("missing", MISSING)
        entry.check_identifier("name", entry.name)
    table.unique(entries, "text")
    table.unique(entries, "label")
    return entries


def render_ids(path):
    entries = read(path)
    names = ["    STINT_STATUS_%s,\n" % entry.name.upper() for entry in entries]
    return "%s#define STINT_STATUS_COUNT %d\nenum stint_status {\n%s};\n" % (
        table.c_banner(path), len(entries), "".join(names))


def render_c(path):
    """Needs status_ids.inc before it, for the count: both are in the order of the table."""
    rows = ["    {%s, %s, %s, STATUS_MISSING_%s},\n" % (
        *map(table.c_string, (entry.name, entry.get("text"), entry.get("label"))),
        entry.get("missing", "none").upper()) for entry in read(path)]
    return "%sstatic const struct status_text status_table[STINT_STATUS_COUNT] = {\n%s};\n" % (
        table.c_banner(path), "".join(rows))
