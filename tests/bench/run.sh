#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/bench/run.sh FOLDER: the tables of docs/performance.md. Builds the project optimised in
# FOLDER with each of gcc and clang that is there and measures with both in turn, three times:
# FOLDER/<compiler>-<1..3>.txt, and the repetitions in FOLDER/<compiler>-<1..3>.raw.
set -eu
[ $# -eq 1 ] || {
    echo "usage: $0 FOLDER" >&2
    exit 2
}
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
cd "$1"
compilers=
for cc in gcc clang; do
    if command -v $cc >/dev/null 2>&1; then
        compilers="$compilers $cc"
        cmake -S "$source" -B "build-$cc" -DCMAKE_C_COMPILER=$cc -DCMAKE_BUILD_TYPE=Release \
            -DSTINT_BUILD_SAMPLES=OFF >"build-$cc.log"
        cmake --build "build-$cc" --target overhead --parallel 2 >>"build-$cc.log"
    fi
done
for round in 1 2 3; do
    for cc in $compilers; do
        "build-$cc/tests/bench/overhead" --raw "$cc-$round.raw" >"$cc-$round.txt"
        echo "$cc-$round.txt"
    done
done
