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
        entry.check(("kind", "name"), ("form", "paddle"))
        entry.one_of("kind", ("macro", "before"))
        pattern = r"STINT_[A-Z_]+" if entry.get("kind") == "macro" else r"stint_[a-z_]+"
        if not re.fullmatch(pattern, entry.get("name")):
            entry.fail("name '%s' is not one with the prefix" % entry.get("name"))
        if "paddle" in entry.values:
            entry.one_of("paddle", ("yes",))
    return entries


def macros(path):
    return [entry for entry in read(path) if entry.get("kind") == "macro"]


def render_header(path):
    lines = ["#define %s %s\n" % (entry.name, entry.get("name")) for entry in macros(path)]
    return HEADER % "".join(lines)


def render_markdown(path):
    lines = ["", "| name | without the prefix | arguments | |", "|---|---|---|---|"]
    for entry in macros(path):
        lines.append("| `%s` | `%s` | %s | %s |" % (
            entry.get("name"), entry.name,
            "`%s`" % entry.get("form") if entry.get("form") else "none",
            "PaddlePaddle" if entry.get("paddle") else ""))
    lines += ["", "| name | in 0.1 |", "|---|---|"]
    for entry in read(path):
        if entry.get("kind") == "before":
            lines.append("| `%s` | `%s` |" % (entry.get("name"), entry.name))
    return "\n".join(lines) + "\n"
