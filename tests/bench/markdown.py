#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a table of `overhead` as the Markdown table of docs/performance.md.

    markdown.py TABLE...      e.g. gcc-2.txt clang-2.txt of run.sh
"""
import re
import sys

# The variants in the order of table.c; those of C++ are there only if a C++ compiler was.
VARIANTS = ("exe 2", "exe 1", "lib 2", "lib 1", "C++ exe 2", "C++ exe 1", "C++ lib 2", "C++ lib 1")
TITLE = slice(2, 33)


def cell(line):
    """Median and quartiles; ** ** is over the limit, = over it by less than the machine's noise."""
    ratio = re.search(r"(-?[\d.]+) +\[(-?[\d.]+) \.\. (-?[\d.]+)\]", line)
    text = "%s [%s–%s]" % ratio.groups() if ratio else re.findall(r"\d+\.\d", line)[-1]
    if line.rstrip().endswith("over"):
        return "**%s**" % text
    return text + " =" if line.rstrip().endswith("equal") else text


def table(text):
    blocks = text.split("\n\n")
    last = next(i for i, block in enumerate(blocks) if block.startswith("a program of 300"))
    columns = VARIANTS[:last - 1]
    rows = {}
    for block in blocks[1:last]:
        for line in block.split("\n")[2:]:
            rows.setdefault(line[TITLE].strip(), []).append(cell(line))
    lines = ["| case | " + " | ".join(columns) + " |", "|---|" + "--:|" * len(columns)]
    lines += ["| %s | %s |" % (title, " | ".join(cells)) for title, cells in rows.items()]
    many = blocks[last].rstrip()
    return "\n".join(["```", blocks[0], "```", ""] + lines + ["", "```", many, "```"])


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            print(table(file.read()) + "\n")


if __name__ == "__main__":
    main()
