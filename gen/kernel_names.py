# SPDX-License-Identifier: Apache-2.0
"""kernel_names.ini: what the name of a kernel says of it (C)."""

import re

import table

WHAT = ("lib", "precision")


def read(path):
    entries = table.read(path)
    seen = {}
    for entry in entries:
        entry.check(("what", "match", "doc"))
        entry.one_of("what", WHAT)
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", entry.name):
            entry.fail("name '%s' is not one word of letters and digits" % entry.name)
        for pattern in entry.get("match").split():
            if not re.fullmatch(r"\^?[A-Za-z0-9_:]+", pattern):
                entry.fail("pattern '%s': expected letters, digits, _ and :, with or without ^ before them" % pattern)
            key = (entry.get("what"), pattern)
            if key in seen:
                entry.fail("pattern '%s' is also one of [%s]" % (pattern, seen[key]))
            seen[key] = entry.name
    return entries


def render_c(path):
    entries = read(path)
    lines = [table.c_banner(path)]
    for what in WHAT:
        rows = ["    {%s, %s},\n" % (table.c_string(pattern), table.c_string(entry.name))
                for entry in entries if entry.get("what") == what
                for pattern in entry.get("match").split()]
        # Ended by an empty one: a table of one kind may have no entries of the other.
        lines.append("static const struct kernel_pattern kernel_%s_patterns[] = {\n%s"
                     "    {NULL, NULL}};\n" % (what, "".join(rows)))
    return "".join(lines)
