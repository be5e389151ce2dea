#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# first_contact.sh [FOLDER]: what only a GPU can answer, in about ten minutes: builds
# first_contact.cu in FOLDER (default: build/first_contact), does thirteen checks and prints a table
# of verdicts with the versions of what was found; FOLDER/first_contact.txt keeps it with the output
# of each check, at most 64 KiB of each. Then the tests with the label gpu and the costs are run.
# Exit status 0: none failed, 1: some did, 77: no GPU, no toolkit, or CUDA does not work here, with
# the reason.
#
# first_contact.sh --dry PROGRAM FOLDER: the same steps with that program in place of the one that
# is built, and without tools of NVIDIA: tests this script.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
output_limit=65536
dry=
if [ "${1:-}" = --dry ]; then
    dry=${2:?first_contact.sh: --dry needs PROGRAM and FOLDER}
    shift 2
fi
folder=${1:-$root/build/first_contact}

skip() {
    echo "first_contact.sh: skipped: $*" >&2
    exit 77
}
mkdir -p "$folder" || exit 1
report=$folder/first_contact.txt
gpu="none: a dry run" nvcc= nsys=
if [ -n "$dry" ]; then
    program=$dry
else
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) ||
        skip "no CUDA compiler (nvcc)"
    command -v cmake >/dev/null || skip "no cmake"
    nvidia_smi=$(command -v nvidia-smi) || skip "no nvidia-smi: no driver, or no GPU"
    gpu=$("$nvidia_smi" --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>&1) ||
        skip "nvidia-smi: ${gpu:-failed}"
    [ -n "$gpu" ] || skip "nvidia-smi lists no GPU"
    nsys=$(command -v nsys || true)
    program=$folder/tests/gpu/stint_first_contact
    if ! { cmake -S "$root" -B "$folder" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_CUDA_COMPILER="$nvcc" -DSTINT_BUILD_TESTS=ON &&
        cmake --build "$folder" --target stint_first_contact -j; } >"$folder/build.log" 2>&1; then
        tail -n 20 "$folder/build.log" >&2
        echo "first_contact.sh: the build failed, see $folder/build.log" >&2
        exit 1
    fi
fi

# If this check fails, all others would fail, too, or pass because nothing ran.
device=$(timeout 120 "$program" device 2>&1)
case $? in
0) ;;
77) skip "CUDA does not work: $(tail -n 1 <<<"$device")" ;;
*)
    echo "first_contact.sh: the check of the device failed: ${device:-no output}" >&2
    exit 1
    ;;
esac

verdicts=()
failed=0
: >"$report"
# verdict NAME STATUS [REASON]
verdict() {
    local word=failed
    case $2 in
    0) word=passed ;;
    77) word="skipped${3:+ ($3)}" ;;
    124) word="failed (time limit)" ;;
    141) word="failed (more output than $output_limit bytes)" ;;
    esac
    case $word in failed*) failed=1 ;; esac
    verdicts+=("$(printf '%-52s %s' "$1" "$word")")
    echo "== $1: $word" | tee -a "$report"
}
# The reason for a skip in an output: stint's line about CUPTI, otherwise the last line.
skip_reason() {
    { grep -o 'no GPU activities: [^;]*' "$1" || tail -n 1 "$1"; } | head -n 1
}
# check NAME COMMAND...: the output is kept. The command ends at its time or output limit.
check() {
    local name=$1 out=$folder/check.txt status
    shift
    timeout 120 "$@" 2>&1 | head -c "$output_limit" >"$out"
    status=${PIPESTATUS[0]}
    { echo "-- $name: $*" && cat "$out"; } >>"$report"
    verdict "$name" "$status" "$(skip_reason "$out")"
}
# step NAME COMMAND...: at most ten minutes; the last lines of the output are kept.
step() {
    local name=$1 out=$folder/step.txt status
    shift
    timeout 600 "$@" >"$out" 2>&1
    status=$?
    { echo "-- $name: $*" && tail -c "$output_limit" "$out"; } >>"$report"
    verdict "$name" "$status" "$(skip_reason "$out")"
}
# Returns 0 if a csv of nsys (the file) has that count in the row with that text.
row_counts() {
    [ "$(bash "$root/tests/gpu/nsys_count.sh" "$1" "$2")" = "$3" ]
}

check "1 launch: ids, names and rows" "$program" launch
check "2 three sessions keep every kernel" "$program" sessions
check "3 two threads, one that launches rarely" "$program" threads
check "4 stop with a running kernel" "$program" stop
check "5 cudaDeviceReset and exit, scopes not polled" "$program" reset
if [ -n "$nsys" ]; then
    range=$folder/range
    rm -f "$range".*
    {
        timeout 120 "$nsys" profile -c cudaProfilerApi --trace=cuda -o "$range" "$program" range
        timeout 120 "$nsys" stats --force-export=true --format csv -r cuda_gpu_kern_sum \
            "$range.nsys-rep" | tee "$range.csv"
    } >>"$report" 2>&1
    grep -q real_spin_kernel "$range.csv"
    verdict "6 a range opened first in main, under nsys" $?
else
    verdict "6 a range opened first in main, under nsys" 77 "no nsys"
fi
check "7 first default-stream timer of a thread" "$program" default_stream
check "8a CUDA_VISIBLE_DEVICES set in main" env STINT_GPU=cupti "$program" visible
check "8b fork before CUDA is used" env STINT_GPU=cupti "$program" fork
check "9 a graph in the second session" "$program" graph
check "10a counts of a known program" env STINT_GPU=cupti "$program" work
if [ -n "$nsys" ]; then
    work=$folder/work
    rm -f "$work".*
    status=0
    {
        timeout 120 "$nsys" profile --trace=cuda -o "$work" "$program" work
        for table in cuda_gpu_kern_sum cuda_gpu_mem_time_sum; do
            timeout 120 "$nsys" stats --force-export=true --format csv -r "$table" \
                "$work.nsys-rep" | tee "$work.$table.csv"
        done
    } >>"$report" 2>&1
    row_counts "$work.cuda_gpu_kern_sum.csv" real_spin_kernel 100 || status=1
    row_counts "$work.cuda_gpu_mem_time_sum.csv" Host-to-Device 40 || status=1
    verdict "10b the same counts by nsys" $status
else
    verdict "10b the same counts by nsys" 77 "no nsys"
fi
check "11 another context id after a reset" "$program" context_ids
check "12 GPU scopes beside a capture in the global mode" "$program" capture_calls
check "13 a stream of a green context" "$program" green_context
if [ -z "$dry" ]; then
    step "14 build of the tests" cmake --build "$folder" -j "$(nproc)"
    step "15 tests with the label gpu" ctest --test-dir "$folder" -L '^gpu$' -E '^gpu_real\.cost$' \
        --output-on-failure
    step "16 cost of a GPU scope" "$folder/tests/gpu/stint_real_cost"
fi

{
    echo
    echo "GPU, driver, compute capability: $gpu"
    printf '%s\n' "$device"
    echo "nvcc: $([ -n "$nvcc" ] && "$nvcc" --version | tail -n 2 | head -n 1 || echo none)"
    echo "nsys: $([ -n "$nsys" ] && "$nsys" --version || echo none)"
    echo "CUPTI: $(STINT_GPU=cupti STINT_REPORT=table "$program" work 2>&1 |
        grep -o 'cupti [0-9][^:]*:' | head -n 1)"
    echo "stint: $(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
    printf '%s\n' "${verdicts[@]}"
} | tee -a "$report"
exit $failed
