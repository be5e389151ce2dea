#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# nsys_count.sh FILE TEXT: the count in the first row with that text of a table that `nsys stats
# --format csv` printed, lines before its header included. The column is found by its name, as the
# order of columns differs between versions: "Instances" of kernels, "Count" or "Operations" of
# copies. Exit status 1: no such column or row.
set -euo pipefail
awk -v text="$2" '
    # The cells of a line of csv, without their quotes: a name may contain commas.
    function split_cells(line, cells,    n, i, c, quoted) {
        n = 1
        cells[1] = ""
        quoted = 0
        for (i = 1; i <= length(line); ++i) {
            c = substr(line, i, 1)
            if (c == "\"") {
                quoted = !quoted
            } else if (c == "," && !quoted) {
                cells[++n] = ""
            } else {
                cells[n] = cells[n] c
            }
        }
        return n
    }
    !column {
        n = split_cells($0, cells)
        for (i = 1; i <= n && n > 2; ++i) {
            if (cells[i] ~ /^(Instances|Count|Operations)$/) {
                column = i
            }
        }
        next
    }
    index($0, text) {
        split_cells($0, cells)
        print cells[column]
        found = 1
        exit
    }
    END { exit !found }
' "$1"
