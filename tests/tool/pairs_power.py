#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows of the table of power in docs/diff.md are rows that the simulation prints, and none of
its comparisons without extra work has a verdict, as the page says.

    pairs_power.py PROGRAM
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
    rows = page[page.index(HEAD):].partition("\n\n")[0].splitlines()
    wrong = [row for row in rows if row not in table.splitlines()]
    cells = [[cell.strip() for cell in row.split("|")[2:-1]] for row in table.splitlines()]
    wrong += [" ".join(row) for row in cells if row[0] == "0 %" and set(row) != {"0 %"}]
    if wrong or len(rows) < 3:
        print("docs/diff.md and the simulation differ:\n%s\nit prints:\n%s"
              % ("\n".join(wrong), table))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
