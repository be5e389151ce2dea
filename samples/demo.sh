#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Shows in four steps what the timers report about two programs. All figures are measured by this
# run. usage: samples/demo.sh BUILD_FOLDER
set -eu
build=${1:?usage: samples/demo.sh BUILD_FOLDER}
build=$(cd "$build" && pwd)
cd "$(dirname "$0")/.."
programs=$build/samples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
unset STINT_REPORT STINT_OUTPUT STINT_UNIT STINT_FILTER STINT_LEVEL STINT_ENABLE STINT_LOG_PREFIX

title() {
    printf '\n== %s\n\n' "$*"
}

# ---- 1. Off is nothing --------------------------------------------------------------------------
title "1. Timers off: the program without the lines"
cc=${CC:-cc}
sources="transformer transformer_model transformer_ops transformer_state thread_pool"
mkdir "$work/off" "$work/blank"
cp samples/*.h "$work/off"
cp samples/*.h "$work/blank"
bytes=0
for name in $sources; do
    cp "samples/$name.c" "$work/off"
    sed '/REGISTER_\|FOR_TIMING\|TIMER_BEGIN\|TIMER_END/s/.*//' "samples/$name.c" \
        >"$work/blank/$name.c"
    for side in off blank; do
        (cd "$work/$side" && $cc -std=c11 -D_GNU_SOURCE -O2 -I "$OLDPWD/include" -c "$name.c")
    done
    cmp "$work/off/$name.o" "$work/blank/$name.o" || {
        echo "demo: $name.o differs: off is not nothing" >&2
        exit 1
    }
    bytes=$((bytes + $(wc -c <"$work/off/$name.o")))
done
lines=$(for name in $sources; do cat "samples/$name.c"; done |
    grep -c 'REGISTER_\|FOR_TIMING\|TIMER_BEGIN\|TIMER_END')
echo "transformer: $(echo "$sources" | wc -w) objects, $bytes bytes, $lines lines with timers."
echo "Built with timers off, and built with those lines blanked out: identical."

# ---- 2. The legacy report -----------------------------------------------------------------------
title "2. test_GpuProfiler: bilinear forward and backward, and the report of PaddlePaddle's Stat.h"
"$programs/test_GpuProfiler" 2>&1
echo
"$programs/bilinear" samples/data/stopwatch.ppm "$work/stopwatch.ppm" 2>/dev/null
echo "samples/data/stopwatch.ppm doubled: $(wc -c <samples/data/stopwatch.ppm) bytes to" \
    "$(wc -c <"$work/stopwatch.ppm")."

# ---- 3. Measure, find, mend, measure again ------------------------------------------------------
title "3. transformer reads the README: a scope that should be cheap has the largest self time"
run() { # NAME ARG...: the table into NAME.txt, what the program says into NAME.out
    name=$1
    shift
    STINT_REPORT=table,sort=self STINT_UNIT=ms STINT_OUTPUT="$work/$name.txt" \
        "$programs/transformer" "$@" README.md >"$work/$name.out"
}
run before
# The first rows, up to the 99th percentile.
awk '/^name / { width = index($0, "p99") + 2; rows = 4 } rows-- > 0 { print substr($0, 1, width) }' \
    "$work/before.txt"
echo
echo "slice only cuts pieces out of a buffer. Element by element, it is the most expensive thing"
echo "in the program; --fixed copies whole rows instead:"
echo
run after --fixed
# Rows of both tables by name: everything left of the number of calls.
awk '
    FNR == 1 { file++; table = 0 }
    /^name / { table = 1; next }
    table && NF == 0 { table = 0 }
    table {
        for (i = 1; i <= NF && $i !~ /^[0-9]+$/; i++) ;
        name = $1
        for (j = 2; j < i; j++) name = name " " $j
        if (file == 1) { before[name] = $(i + 2); order[++n] = name } else after[name] = $(i + 2)
    }
    END {
        printf "%-20s %12s %12s\n", "self, ms", "before", "--fixed"
        for (k = 1; k <= n && k <= 6; k++)
            printf "%-20s %12.1f %12.1f\n", order[k], before[order[k]], after[order[k]]
    }' "$work/before.txt" "$work/after.txt"
echo
if [ "$(grep checksum "$work/before.out")" != "$(grep checksum "$work/after.out")" ]; then
    echo "demo: the results differ" >&2
    exit 1
fi
echo "Same result both times ($(grep checksum "$work/after.out"))."

# ---- 4. Can it be believed? ---------------------------------------------------------------------
title "4. The program's own clock against the table, and what the timers cost"
for side in before after; do
    own=$(sed -n "s/program's own clock: \([0-9.]*\) ms/\1/p" "$work/$side.out")
    table=$(awk '$1 == "generate" { print $3 }' "$work/$side.txt")
    echo "$side: own clock $own ms, row \"generate\" $table ms"
done
sed -n 's/^stint cost/the timers cost/p' "$work/after.txt"
