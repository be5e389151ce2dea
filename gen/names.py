# SPDX-License-Identifier: Apache-2.0
"""names.ini: the public names without a prefix, as the header that defines them and as a table."""

import re

import table

HEADER = """/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The macros without a prefix: the names of PaddlePaddle, and those that stint had before 1.0. Made
 * of gen/names.ini by gen/documents.py. STINT_NO_LEGACY_NAMES leaves them out.
 */
#ifndef STINT_IMPL_NAMES_H
#define STINT_IMPL_NAMES_H

%s
#endif
"""


def read(path):
    entries = table.read(path)
    for entry in entries:
        entry.check(("name",), ("form", "paddle"))
        if not re.fullmatch(r"STINT_[A-Z_]+", entry.get("name")):
            entry.fail("name '%s' is not one with the prefix" % entry.get("name"))
        if "paddle" in entry.values:
            entry.one_of("paddle", ("yes",))
    return entries


def render_header(path):
    lines = ["#define %s %s\n" % (entry.name, entry.get("name")) for entry in read(path)]
    return HEADER % "".join(lines)


def render_markdown(path):
    lines = ["", "| name | without the prefix | arguments | |", "|---|---|---|---|"]
    for entry in read(path):
        lines.append("| `%s` | `%s` | %s | %s |" % (
            entry.get("name"), entry.name,
            "`%s`" % entry.get("form") if entry.get("form") else "none",
            "PaddlePaddle" if entry.get("paddle") else ""))
    return "\n".join(lines) + "\n"
