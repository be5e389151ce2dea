#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# first_day_test.sh whole|killed|refused BUILD NVCC: a rehearsal of first_day.sh on the double of a
# whole GPU, with stand-ins for nvidia-smi, ncu and compute-sanitizer; the same while a step hangs
# and the command is killed; and machines on which nothing can be done.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
mode=$1 build=$2 nvcc=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
out=$folder/out

fail() {
    echo "first_day_test.sh: $*" >&2
    cat "$folder/said" >&2
    exit 1
}

# stand_in NAME LINE...: a command
mkdir "$folder/bin" "$folder/none"
stand_in() {
    local name=$1
    shift
    printf '%s\n' '#!/bin/sh' "$@" >"$folder/bin/$name"
    chmod +x "$folder/bin/$name"
}
stand_in nvidia-smi 'echo "Double of a GPU, 580.00, 9.0"'
stand_in ncu 'while [ $# -gt 2 ]; do shift; done' '"$@" >/dev/null' \
    "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do" \
    "echo \"\\\"\$i\\\",\\\"gpu__time_duration.sum\\\",\\\"1\\\"\"; done"
stand_in compute-sanitizer 'while [ $# -gt 2 ]; do shift; done' 'exec "$@"'
ln -s "$nvcc" "$folder/bin/nvcc"

day() {
    PATH=$folder/bin:$PATH bash "$here/first_day.sh" --double "$build" "$@" "$root" "$out" \
        >"$folder/said" 2>&1
}

# The four files are whole.
check_files() {
    [ "$(ls "$out" | tr '\n' ' ')" = "report.txt tables.tar.gz tapes.tar.gz verdicts.md " ] ||
        fail "OUT has $(ls -A "$out" | tr '\n' ' ')"
    tar -tzf "$out/tapes.tar.gz" >"$folder/tapes" && tar -tzf "$out/tables.tar.gz" >"$folder/tables" ||
        fail "an archive is broken"
    grep -q '^| 44 |' "$out/verdicts.md" || fail "verdicts.md ends early"
}

has() {
    grep -qE "$2" "$1" || fail "$(basename "$1") has no line $2: $(cat "$1")"
}

case $mode in
whole)
    day --only 4,8 || fail "exit status $? of experiments 4 and 8"
    check_files
    has "$out/verdicts.md" '^\| 32 \|.*\| confirmed \|'
    has "$out/verdicts.md" '^\| 31 \|.*\| not reached \|'
    day || fail "exit status $?"
    check_files
    for experiment in {3..17}; do
        has "$out/verdicts.md" "^\| $experiment [^|]*\| (passed|skipped: (no PyTorch|migrated: 0))"
    done
    ! grep -E 'refuted|failed|killed|no time' "$out/verdicts.md" || fail "a step did not pass"
    for number in 2 4 5 6 9 11 12 13 14 16 19 {20..27} {31..37} 42; do
        has "$out/verdicts.md" "^\| $number \|.*\| confirmed \|"
    done
    for file in launch sessions graph stop work windows managed; do
        has "$folder/tapes" "$file.tape"
    done
    for file in rules.md gone.md clock.txt events.md cost.md cost_events.md; do
        has "$folder/tables" "$file"
    done
    ;;
killed)
    # One call never returns, and its process ignores TERM: its step is killed, and the next one is
    # made. Then the command itself is killed in a step.
    export GPU_DOUBLE=hang=cudaEventElapsedTime
    PATH=$folder/bin:$PATH setsid bash "$here/first_day.sh" --double "$build" --step-seconds 5 \
        --only 4,7,8,10 "$root" "$out" >"$folder/said" 2>&1 &
    for ((i = 0; i < 600; ++i)); do
        ! grep -q '^== 10 reset' "$out/report.txt" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL -- -$!
    wait $! 2>/dev/null || true
    unset GPU_DOUBLE
    check_files
    has "$out/verdicts.md" '^\| 7 events[^|]*\| killed after 5 s \|'
    has "$out/verdicts.md" '^\| 26 \|.*\| confirmed \|'
    has "$out/verdicts.md" '^\| 27 \|.*\| not reached \|'
    has "$folder/tapes" work.tape
    for process in /proc/[0-9]*; do
        if grep -qa hang=cudaEventElapsedTime "$process/environ" 2>/dev/null &&
            tr '\0' ' ' <"$process/cmdline" 2>/dev/null | grep -q 'truths_double events'; then
            fail "a killed step goes on"
        fi
    done
    # Steps that no longer fit are named.
    ! day --seconds 0 || fail "no time, and no failure"
    has "$folder/said" '^first_day.sh: no time left'
    ;;
refused)
    : >"$folder/file"
    code=0
    PATH=$folder/bin:$PATH bash "$here/first_day.sh" "$root" "$folder/file/out" \
        >"$folder/said" 2>&1 || code=$?
    [ $code -eq 2 ] && [ "$(wc -l <"$folder/said")" -eq 1 ] || fail "exit status $code for OUT"
    has "$folder/said" 'cannot be written$'
    seconds=20
    refused() { # TEXT: exit status 77 with that last line
        code=0
        day --step-seconds $seconds || code=$?
        [ $code -eq 77 ] || fail "exit status $code, not 77 for: $1"
        has <(tail -n 1 "$folder/said") "$1"
        check_files
    }
    seconds=2 GPU_DOUBLE=hang=cudaDeviceSynchronize refused \
        'the check of the device does not end$'
    GPU_DOUBLE=init=999 refused '^first_day.sh: CUDA does not work here: .*999|unknown error'
    stand_in nvidia-smi 'echo "Failed to initialize NVML: Driver/library version mismatch"' 'exit 18'
    refused '^first_day.sh: nvidia-smi: Failed to initialize NVML'
    stand_in nvidia-smi ':'
    refused '^first_day.sh: nvidia-smi lists no GPU'
    stand_in nvidia-smi 'echo "A GPU, 580.00, 9.0"'
    rm "$folder/bin/nvcc"
    if ! command -v nvcc >/dev/null && [ ! -e /usr/local/cuda/bin/nvcc ]; then
        refused 'no CUDA compiler \(nvcc\)$'
    fi
    ;;
esac
