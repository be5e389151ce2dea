#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# first_day.sh [--only LIST] [--seconds N] ROOT OUT: what only a GPU can answer, in less than ten
# minutes: seventeen experiments, the most important first. ROOT is the project; OUT gets four
# files, each replaced whole after every step, so that what was found until then is there whatever
# happens:
#
#     report.txt      the output of all steps
#     verdicts.md     the assumptions of the test doubles (double/assumptions.md): confirmed,
#                     refuted or not reached; and the status of each step
#     tapes.tar.gz    what CUPTI said (tape/tape.h)
#     tables.tar.gz   tables
#
# It needs a GPU with its driver, nvcc and CMake, no network and no .git; ncu, compute-sanitizer and
# PyTorch are used where they are. It builds in ROOT/build/first_day, and only what it needs. Each
# step has its own limit and is killed with its children; steps that no longer fit are named.
#
# --only 4,8: only these experiments; 1 to 3, which the others need, are always done. What earlier
# calls on the same machine found is kept. --seconds N: for all steps together (555).
#
# Exit status 0: nothing was refuted and every step ended well, 1: it was not so, 2: wrong
# arguments, or OUT cannot be written, 77: there is no GPU, no nvcc, or CUDA does not work here, and
# the last line says why.
#
# --double BUILD: a rehearsal with the programs of that build tree that are linked with the double
# of a whole GPU. --step-seconds N: a limit for each step.
set -uo pipefail

seconds=555 step_seconds=600 only= double=
usage() {
    echo "usage: first_day.sh [--only LIST] [--seconds N] ROOT OUT" >&2
    exit 2
}
while [[ ${1:-} == --* ]]; do
    [ $# -ge 2 ] || usage
    case $1 in
    --only) only=,$2, ;;
    --seconds) seconds=$2 ;;
    --step-seconds) step_seconds=$2 ;;
    --double) double=$(cd "$2" && pwd) || usage ;;
    *) usage ;;
    esac
    shift 2
done
[ $# -eq 2 ] || usage
root=$(cd "$1" && pwd) && [ -f "$root/tests/gpu/day/first_day.sh" ] || usage
out=$2
if ! { mkdir -p "$out" && : >"$out/.new" && rm "$out/.new"; } 2>/dev/null; then
    echo "first_day.sh: $out cannot be written" >&2
    exit 2
fi
out=$(cd "$out" && pwd)
build=${double:-$root/build/first_day}
work=$root/build/first_day/work
[ -z "$double" ] || work=$out.work
[ -n "$only" ] || rm -rf "$work"
mkdir -p "$work/tapes" "$work/tables" || exit 2

# ---- What was found: verdicts by the numbers of assumptions.md, and the status of steps

declare -A verdict seen said # said: in this call
status_lines=()

load_state() {
    local key word text
    while IFS=$'\t' read -r key word text; do
        verdict[$key]=$word seen[$key]=$text
    done <"$work/state"
}
[ ! -f "$work/state" ] || load_state

# say "NUMBERS" confirmed|refuted TEXT: refuted once in a call is refuted.
say() {
    local number
    for number in $1; do
        if [ "${said[$number]:-}" != refuted ]; then
            verdict[$number]=$2 seen[$number]=$3 said[$number]=$2
        fi
    done
}

# judge "NUMBERS" STATUS TEXT: by an exit status.
judge() {
    case $2 in
    0) say "$1" confirmed "$3" ;;
    77 | 124 | 137 | 75) ;;
    *) say "$1" refuted "$3: exit status $2" ;;
    esac
}

write_verdicts() {
    local number text line
    echo "# Verdicts${double:+ of a rehearsal on the double: nothing here was said by a GPU}"
    printf '\n%s\n\n| # | assumption | verdict | seen |\n|--:|---|---|---|\n' "$gpu"
    while IFS='|' read -r _ number text _ _; do
        number=${number// /}
        echo "| $number |$text| ${verdict[$number]:-not reached} | ${seen[$number]:-} |"
    done < <(grep -E '^\| [0-9]+ \|' "$root/tests/gpu/double/assumptions.md")
    printf '\n| step | status | seconds |\n|---|---|--:|\n'
    for line in "${status_lines[@]}"; do
        echo "$line"
    done
}

# publish FILE: OUT/FILE is replaced whole.
publish() {
    cp "$work/$1" "$out/.$1.new" && mv -f "$out/.$1.new" "$out/$1"
}

publish_all() {
    local name
    write_verdicts >"$work/verdicts.md"
    for name in "${!verdict[@]}"; do
        printf '%s\t%s\t%s\n' "$name" "${verdict[$name]}" "${seen[$name]}"
    done >"$work/state"
    for name in tapes tables; do
        tar -C "$work" -czf "$work/$name.tar.gz" "$name"
    done
    for name in report.txt verdicts.md tapes.tar.gz tables.tar.gz; do
        publish "$name" || echo "first_day.sh: $out/$name cannot be written" >&2
    done
}

# ---- Steps

step_pid=
end_step() {
    [ -z "$step_pid" ] || kill -KILL -- "-$step_pid" 2>/dev/null
    step_pid=
}
trap 'end_step; publish_all; exit 143' TERM INT HUP

# step EXPECTED LIMIT NAME COMMAND...: seconds. Returns the command's exit status; 75: no time was
# left; 124 or 137: it was killed. Its output is in $work/step.txt, at most 64 KiB in the report.
step() {
    local expected=$1 limit=$2 name=$3 left=$((seconds - SECONDS)) begun=$SECONDS code word
    shift 3
    if [ "$left" -lt "$expected" ]; then
        code=75 word="no time left" failed=1
    else
        limit=$((limit > left ? left : limit))
        limit=$((limit > step_seconds ? step_seconds : limit))
        (
            ulimit -c 0 -f 1048576
            exec timeout -k 2 "$limit" "$@"
        ) </dev/null >"$work/step.txt" 2>&1 &
        step_pid=$! # the leader of its group, which timeout makes
        wait "$step_pid"
        code=$?
        end_step
        case $code in
        0) word=passed ;;
        77) word="skipped: $(tail -n 1 "$work/step.txt" | tr '|' ' ')" ;;
        124 | 137) word="killed after $limit s" failed=1 ;;
        *) word="failed: exit status $code" failed=1 ;;
        esac
    fi
    status_lines+=("| $name | $word | $((SECONDS - begun)) |")
    {
        echo "-- $name: $*"
        [ $code -eq 75 ] || head -c 65536 "$work/step.txt"
        printf '\n== %s: %s\n' "$name" "$word"
    } >>"$work/report.txt"
    echo "== $name: $word"
    publish_all
    return $code
}

# skip NAME REASON: a step that cannot be done here.
skip() {
    status_lines+=("| $1 | skipped: $2 | 0 |")
    echo "== $1: skipped: $2" | tee -a "$work/report.txt"
}

wanted() {
    [ -z "$only" ] || [[ $only == *",$1,"* ]]
}

stop() {
    echo "first_day.sh: $1" | tee -a "$work/report.txt" >&2
    publish_all
    exit "${2:-77}"
}

failed=0
gpu=
: >"$work/report.txt"
publish_all

# ---- 1: what there is

nvidia_smi=$(command -v nvidia-smi) || stop "no nvidia-smi: no driver, or no GPU"
gpu=$("$nvidia_smi" --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>&1) ||
    stop "nvidia-smi: ${gpu:-failed}"
[ -n "$gpu" ] || stop "nvidia-smi lists no GPU"
gpu=$(head -n 1 <<<"$gpu")
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || stop "no CUDA compiler (nvcc)"
toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
cupti=$(ls "$toolkit"/{lib64,extras/CUPTI/lib64,targets/*/lib,lib}/libcupti.so.1[0-9] 2>/dev/null |
    head -n 1)
[ -z "$double" ] || cupti=$build/tests/gpu/double/whole/libcuda.so.1
# PyTorch brings its own, which is the one that its profiler uses.
torch_cupti=$(python3 -c 'import glob, nvidia
for folder in nvidia.__path__:
    print(*glob.glob(folder + "/*/lib/libcupti.so.1[0-9]"), sep="\n")' 2>/dev/null | head -n 1)
for tool in ncu compute-sanitizer; do
    export "found_${tool/-/_}=$(command -v $tool || ls "$toolkit/bin/$tool" 2>/dev/null)"
done

step 2 20 "1 versions" bash -c "
    '$nvidia_smi'; '$nvidia_smi' -q -d CLOCK,PERFORMANCE | head -n 80
    '$nvcc' --version; cmake --version; cc --version; uname -r
    echo 'CUPTI: ${cupti:-none}'; echo 'of PyTorch: ${torch_cupti:-none}'
    ls -l ${cupti:+"'$cupti'"} 2>&1
    cat /sys/devices/system/clocksource/clocksource0/current_clocksource"

# ---- 2: the build, without a network

programs="first_contact truths real_cost"
tests="events legacy_stream per_thread_stream capture hard cupti"
if [ -z "$double" ]; then
    generator=()
    ! command -v ninja >/dev/null || generator=(-G Ninja)
    architecture=$(sed 's/.*, *//; s/\.//' <<<"$gpu")
    step 5 120 "2 configure" cmake -S "$root" -B "$build" "${generator[@]}" \
        -DCMAKE_BUILD_TYPE=Release -DSTINT_BUILD_TESTS=ON -DCMAKE_CUDA_COMPILER="$nvcc" \
        -DCMAKE_CUDA_ARCHITECTURES="$architecture"
    # shellcheck disable=SC2086
    step 10 240 "2 build" cmake --build "$build" -j "$(nproc)" --target \
        $(printf 'stint_%s ' $programs) $(printf 'stint_test_real_%s ' $tests) \
        stint_truths_double stint_tape_record stint_tape_program ||
        stop "the build failed, see report.txt" 1
fi
at=$build/tests/gpu
# program NAME, test_program NAME: the file
program() { echo "$at/stint_$1${double:+_double}"; }
test_program() {
    if [ -n "$double" ]; then echo "$at/stint_test_double_$1"; else echo "$at/stint_test_real_$1"; fi
}
contact=$(program first_contact)
truths=$(program truths)
[ -z "$cupti" ] || export STINT_CUPTI_LIB=$cupti

# ---- 3: if this check fails, all others would, or pass because nothing ran

step 2 30 "3 device" "$contact" device
case $? in
0) ;;
75) stop "no time left for the check of the device" 1 ;;
124 | 137) stop "CUDA does not work here: the check of the device does not end" ;;
*) stop "CUDA does not work here: $(tail -n 1 "$work/step.txt")" ;;
esac

# check NUMBERS NAME [SETTING...]: a check of first_contact
check() {
    local numbers=$1 name=$2
    shift 2
    step 3 60 "$experiment $name" env "$@" "$contact" "$name"
    judge "$numbers" $? "first_contact $name"
}

# on_tape NAME COMMAND...: with what CUPTI says on a tape; real=FILE: that CUPTI
on_tape() {
    local name=$1 real=${real:-$cupti}
    shift
    if [ -z "$real" ]; then
        skip "$experiment $name" "no CUPTI beside nvcc"
        return 77
    fi
    step 3 60 "$experiment $name, on tape" env STINT_GPU=cupti \
        STINT_CUPTI_LIB="$at/libstint_tape_record.so" TAPE_REAL="$real" \
        TAPE_OUT="$work/tapes/$name.tape" "$@"
}

# cells CALL CAPTURED COLUMNS WANT: whether the table of rules says so in these columns of the rows
# of that call, beside captures of such streams (a pattern)
cells() {
    awk -F' *[|] *' -v call="$1" -v captured="$2" -v columns="$3" -v want="$4" '
        BEGIN { n = split(columns, column, " "); bad = 1 }
        $2 == call && $3 ~ captured {
            if (!rows++) bad = 0
            for (i = 1; i <= n; ++i) if ($(column[i] + 4) !~ want) bad = 1
        }
        END { exit bad }' "$work/tables/rules.md"
}

# rule NUMBERS TEXT CELLS...: cells said so, or not
rule() {
    local numbers=$1 text=$2
    shift 2
    if cells "$@"; then
        say "$numbers" confirmed "$text"
    else
        say "$numbers" refuted "not so: $text; tables/rules.md"
    fi
}

# ---- The experiments

day_4() { # the rules of captures, and where the double differs
    local call
    step 3 40 "4 rules of captures" "$truths" rules || return
    cp "$work/step.txt" "$work/tables/rules.md"
    rule 9 "906, and the capture is kept" "cuStreamIsCapturing, the legacy stream" "^blocking" \
        "1 2 3 4" "^906 kept"
    rule 11 "cuEventQuery in the relaxed mode keeps captures of other threads" cuEventQuery . \
        "2 4" "^0 kept"
    for call in "cuEventRecord, another stream" cuStreamGetCtx cuCtxGetId "cuCtxPushCurrent and Pop"; do
        rule 12 "they keep captures in any mode" "$call" . "1 2 3 4" "^0 kept"
    done
    rule 12 "cuEventCreate keeps captures in the relaxed mode" cuEventCreate . "2 4" "^0 kept"
    rule 33 "another thread makes a stream and launches" cudaStreamCreateWithFlags . "3 4" "^0 kept"
    rule 33 "another thread makes a stream and launches" "a launch, another stream" . "3 4" "^0 kept"
    rule 34 "900, and the capture is lost" cuCtxSynchronize . "3 4" "^900 lost"
    [ -n "$double" ] && return
    step 3 20 "4 rules of the double" "$at/stint_truths_double" rules || return
    cp "$work/step.txt" "$work/tables/rules_of_the_double.md"
    diff "$work/tables/rules_of_the_double.md" "$work/tables/rules.md" >"$work/tables/rules.diff"
}

day_5() { # handles of a context that was reset
    local table=$work/tables/gone.md
    step 3 60 "5 handles after a reset" "$truths" gone || return
    grep '^|' "$work/step.txt" >"$table"
    grep -q '^| cuCtxPushCurrent | code 709' "$table"
    judge 2 $? "cuCtxPushCurrent after a reset: 709"
    grep -qE '^\| cuCtxGetCurrent \| (the same|no) handle, code 0' "$table"
    judge 5 $? "cuCtxGetCurrent after a reset"
}

day_6() { # CUPTI's clock
    step 2 20 "6 clock of CUPTI" "$truths" clock || return
    cp "$work/step.txt" "$work/tables/clock.txt"
    grep -q 'two readings: 0 of' "$work/step.txt"
    judge 27 $? "$(tail -n 1 "$work/step.txt")"
}

day_7() { # times between events
    step 3 20 "7 events beside the GPU's clock" "$truths" events || return
    cp "$work/step.txt" "$work/tables/events.md"
    ! awk -F' *[|] *' '$2 ~ /^[0-9]/ && $7 < 0 { bad = 1 } END { exit !bad }' "$work/step.txt"
    judge 16 $? "the median between events is not less than the kernel"
}

day_8() { # the main checks, on tape, and what an independent reader of the tapes computes
    local name
    for name in launch:32 sessions: graph:26 stop:24 work:; do
        on_tape "${name%:*}" "$contact" "${name%:*}"
        judge "${name#*:}" $? "first_contact ${name%:*}"
    done
    step 3 60 "8 tapes, read independently" python3 "$root/tests/gpu/tape/tape_check.py" \
        "$at/stint_tape_program" "$work"/tapes/{launch,sessions,graph,stop,work}.tape
    judge 35 $? "tape_check.py"
    grep launch.tape "$work/step.txt" | grep -qE 'their number: ([0-9]+) of \1$'
    judge 32 $? "$(grep launch.tape "$work/step.txt" | sed 's/.*calls within/calls within/')"
}

day_9() { # windows that close before their kernels have run
    on_tape windows STINT_CAPTURE='steps 5-6,every=5' "$contact" windows
    judge 36 $? "first_contact windows"
}

day_10() { # the other checks
    check "25 31" threads
    check 21 reset
    check "19 20" default_stream
    check 22 visible STINT_GPU=cupti
    check 22 fork STINT_GPU=cupti
    check "4 5 6" context_ids
    check 12 capture_calls
    check "13 14" green_context
}

day_11() { # the tests
    local name
    for name in $tests; do
        step 3 60 "11 tests: $name" "$(test_program "$name")"
        case $name in
        capture) judge 11 $? "the tests of captures" ;;
        hard) judge "21 42" $? "the tests of resets and exits" ;;
        esac
    done
}

day_12() { # costs
    step 20 60 "12 costs" "$(program real_cost)" || return
    cp "$work/step.txt" "$work/tables/cost.md"
}

day_13() { # the same of one thread, in each mode: what a launch costs
    local mode
    for mode in off events cupti cupti,all; do
        step 3 25 "13 costs, STINT_GPU=$mode" env STINT_GPU=$mode "$(program real_cost)" 1 &&
            cp "$work/step.txt" "$work/tables/cost_$mode.md"
    done
}

day_14() { # PyTorch, and its profiler
    local mode library=$build/runtime/libstint.so
    if ! python3 -c 'import torch; raise SystemExit(not torch.cuda.is_available())' 2>/dev/null; then
        skip "14 PyTorch" "no PyTorch with CUDA"
        return
    fi
    for mode in stint graph; do
        real=$torch_cupti on_tape "torch_$mode" LIBSTINT="$library" \
            python3 "$root/tests/gpu/day/torch_day.py" $mode
    done
    for mode in both after kineto; do
        step 5 40 "14 torch, $mode" env -u STINT_CUPTI_LIB LIBSTINT="$library" \
            python3 "$root/tests/gpu/day/torch_day.py" $mode
        [ $mode != both ] || judge "29 30" $? "a profile of PyTorch's beside one of stint's"
    done
}

day_15() { # unified memory
    on_tape managed STINT_GPU=cupti,all "$contact" managed
}

day_16() { # ranges and scopes under ncu
    local ncu=$found_ncu range=(--metrics gpu__time_duration.sum --csv "$contact" range)
    if [ -z "$ncu" ]; then
        skip "16 ncu" "no ncu"
        return
    fi
    step 10 60 "16 ncu, the range" "$ncu" --profile-from-start off "${range[@]}" &&
        { [ "$(grep -c '"gpu__time_duration.sum"' "$work/step.txt")" = 20 ]; judge 23 $? "ncu: 20 kernels"; }
    step 10 60 "16 ncu, a scope by NVTX" env STINT_NVTX=1 "$ncu" --nvtx --nvtx-include stint@scope/ \
        "${range[@]}" &&
        { [ "$(grep -c '"gpu__time_duration.sum"' "$work/step.txt")" = 20 ]; judge 37 $? "ncu: 20 kernels"; }
}

day_17() { # errors of memory
    if [ -z "$found_compute_sanitizer" ]; then
        skip "17 compute-sanitizer" "no compute-sanitizer"
        return
    fi
    step 10 60 "17 compute-sanitizer" "$found_compute_sanitizer" --tool memcheck --error-exitcode 1 \
        "$contact" reset
}

for experiment in {4..17}; do
    ! wanted "$experiment" || "day_$experiment"
done
publish_all
echo "over after $SECONDS s: $(grep -c '| confirmed |' "$work/verdicts.md") confirmed," \
    "$(grep -c '| refuted |' "$work/verdicts.md") refuted," \
    "$(grep -c '| not reached |' "$work/verdicts.md") not reached"
! grep -q '| refuted |' "$work/verdicts.md" && [ $failed -eq 0 ]
