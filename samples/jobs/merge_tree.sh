#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Merges the run files below a folder as a tree: WIDTH files at a time, then the results, until one
# is left. The result is that of one merge; each step reads WIDTH files only, so that the steps of
# a level can be given to several machines.
#
# usage: merge_tree.sh FOLDER OUT [WIDTH]     (default: 64)
set -eu
folder=${1:?usage: merge_tree.sh FOLDER OUT [WIDTH]}
out=${2:?usage: merge_tree.sh FOLDER OUT [WIDTH]}
width=${3:-64}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Merges the files of a list. A part has no line about ranks that other parts have; a file that is
# left out is named, the others are merged, and the exit status at the end is 2.
left_out=0
merge_part() { # LIST OUT
    xargs -d '\n' stint merge -o "$2" <"$1" 2>"$work/lines" || left_out=2
    grep -v ': ranks .*without a file: ' "$work/lines" >&2 || true
    [ -s "$2" ] || exit 2
}

find "$folder" -name '*.stint' | sort >"$work/list"
level=0
while [ "$(wc -l <"$work/list")" -gt "$width" ]; do
    level=$((level + 1))
    mkdir "$work/$level"
    split -l "$width" -a 4 "$work/list" "$work/$level/part-"
    for part in "$work/$level"/part-????; do
        merge_part "$part" "$part.stint"
    done
    find "$work/$level" -name '*.stint' | sort >"$work/list"
done
xargs -d '\n' stint merge -o "$out" <"$work/list" || left_out=2
exit "$left_out"
