#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# first_contact_test.sh FOLDER: first_contact.sh with programs in place of first_contact.cu, as it
# cannot run itself without a GPU: the reason where CUDA does not work, reasons of skips, a limit on
# output, and exit statuses. The messages of CUDA are those of a driver that is older than the
# toolkit and of a container without device files.
set -uo pipefail
script=$(dirname "${BASH_SOURCE[0]}")/first_contact.sh
folder=$(mktemp -d "$1/first-contact-XXXXXX")
trap 'rm -rf "$folder"' EXIT
failed=0

# program CASES: a program that does what the `case` statement's branches say.
program() {
    printf '#!/bin/sh\ncase $1 in\n%s\nesac\n' "$1" >"$folder/program"
    chmod +x "$folder/program"
}
# run WANT: the exit status has to be that one; the output is kept.
run() {
    timeout 100 bash "$script" --dry "$folder/program" "$folder/out" >"$folder/said" 2>&1
    local status=$?
    if [ "$status" != "$1" ]; then
        echo "first_contact_test.sh: exit status $status, not $1:" >&2
        cat "$folder/said" >&2
        failed=1
    fi
}
says() {
    grep -qF -- "$1" "$folder/said" && return
    echo "first_contact_test.sh: no line with \"$1\":" >&2
    cat "$folder/said" >&2
    failed=1
}

program 'device)
    echo "driver for CUDA 12.8, runtime 13.0"
    echo "CUDA driver version is insufficient for CUDA runtime version"
    exit 77 ;;
*) echo "ran all the same" >>"$0.ran" ;;'
run 77
says "skipped: CUDA does not work: CUDA driver version is insufficient"
if [ -e "$folder/program.ran" ]; then
    echo "first_contact_test.sh: checks ran where CUDA does not work" >&2
    failed=1
fi

program 'device) echo segmentation; exit 139 ;;'
run 1
says "the check of the device failed: segmentation"

program 'device) echo "devices: 1, a kernel ran" ;;
launch)
    echo "stint: no GPU activities: CUPTI is held by another tool; timers and captures go on"
    exit 77 ;;
graph) echo "no graphs here"; exit 77 ;;
*) exit 0 ;;'
run 0
says "1 launch: ids, names and rows: skipped (no GPU activities: CUPTI is held by another tool)"
says "9 a graph in the second session: skipped (no graphs here)"
says "under nsys: skipped (no nsys)"
says "2 three sessions keep every kernel: passed"
says "devices: 1, a kernel ran"

program 'device) ;;
threads) exec yes "launch: CUDA driver version is insufficient for CUDA runtime version" ;;
fork) exit 1 ;;
*) exit 0 ;;'
run 1
says "3 two threads, one that launches rarely: failed (more output than 65536 bytes)"
says "8b fork before CUDA is used: failed"
bytes=$(wc -c <"$folder/out/first_contact.txt")
if [ "$bytes" -gt 131072 ]; then
    echo "first_contact_test.sh: a report of $bytes bytes" >&2
    failed=1
fi
exit $failed
