# SPDX-License-Identifier: Apache-2.0
"""counters.ini: the names of STINT_COUNTERS, for the runtime (C) and for docs/counters.md."""

import re

import table

TYPES = ("hardware", "hw_cache", "software")


def read(path):
    entries = table.read(path)
    seen = []
    for entry in entries:
        entry.check(("group", "type", "config", "doc"))
        entry.check_identifier("name", entry.name.replace("-", "_"))
        entry.check_identifier("group", entry.get("group"))
        entry.one_of("type", TYPES)
        if not re.fullmatch(r"0x[0-9a-f]+",
                            entry.get("config")):
            entry.fail("config '%s' is not of the form 0x10000"
                       % entry.get("config"))
        if entry.get("group") in seen[:-1]:
            entry.fail("group %s began above and has ended" % entry.get("group"))
        if entry.get("group") not in seen:
            seen.append(entry.get("group"))
    return entries


def groups(entries):
    """Group -> its entries, in the order of the table."""
    found = {}
    for entry in entries:
        found.setdefault(entry.get("group"), []).append(entry)
    return found


def render_ids(path):
    found = groups(read(path))
    names = ["    COUNTER_GROUP_%s,\n" % name.upper() for name in found]
    return "%s#define COUNTER_EVENTS %d /* of the largest group */\nenum counter_group {\n%s" \
           "    COUNTER_GROUPS\n};\n" % (table.c_banner(path),
                                         max(len(events) for events in found.values()),
                                         "".join(names))


def render_c(path):
    lines = [table.c_banner(path),
             "static const struct counter_list counter_lists[COUNTER_GROUPS] = {\n"]
    for name, events in groups(read(path)).items():
        lines.append("    [COUNTER_GROUP_%s] = {%d, {\n" % (name.upper(), len(events)))
        lines += ["        {%s, PERF_ABI_TYPE_%s, %s},\n" % (
            table.c_string(event.name), event.get("type").upper(), event.get("config"))
                  for event in events]
        lines.append("    }},\n")
    return "".join(lines) + "};\n"


def render_markdown(path):
    lines = [table.markdown_row(["name", "group", "counts"]), table.markdown_row(["---"] * 3)]
    lines += [table.markdown_row(["`%s`" % entry.name, entry.get("group"), entry.get("doc")])
              for entry in read(path)]
    return "".join(lines)
