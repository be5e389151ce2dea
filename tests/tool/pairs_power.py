#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of power in docs/diff.md is what the simulation prints.

    pairs_power.py PROGRAM            compares
    pairs_power.py --update PROGRAM   writes it into the page
"""
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "diff.md"
HEAD = "| noise of a run |"


def main():
    table = subprocess.run([sys.argv[-1]], stdout=subprocess.PIPE, universal_newlines=True,
                           check=True).stdout
    page = PAGE.read_text()
    start = page.index(HEAD)
    end = page.index("\n\n", start) + 1
    if sys.argv[1] == "--update":
        PAGE.write_text(page[:start] + table + page[end:])
        return 0
    if page[start:end] != table:
        print("docs/diff.md does not have what the simulation prints:\n" + table)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
