#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Merges the run files below a folder with GNU parallel: as many merges of WIDTH files at once as
# there are processors, then one of their results.
#
# usage: merge_parallel.sh FOLDER OUT [WIDTH]     (default: 256)
set -eu
folder=${1:?usage: merge_parallel.sh FOLDER OUT [WIDTH]}
out=${2:?usage: merge_parallel.sh FOLDER OUT [WIDTH]}
width=${3:-256}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The exit status of parallel is the number of merges that left a file out, which they name.
left_out=0
find "$folder" -name '*.stint' | sort |
    parallel --will-cite -N "$width" stint merge -o "$work/{#}.stint" '{}' 2>"$work/lines" ||
    left_out=2
grep -v ': ranks .*without a file: ' "$work/lines" >&2 || true
stint merge "$work" -o "$out" || left_out=2
exit "$left_out"
