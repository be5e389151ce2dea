#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unit test programs under valgrind.

    valgrind.py [--tool memcheck|helgrind] [--jobs N] PROGRAM...

An error that is not in the tables below fails the case that made it: each runs in a process of its
own. Exit status: 0 clean, 1 not, 77 no valgrind here that runs them.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Tests that cannot run under valgrind, or that find nothing there.
LEFT_OUT = {
    "*": {
        "*at_every_instruction*": "steps by the processor's trap flag, which valgrind's has not",
        "*.handlers_at_every_instruction*": "the same",
        "*.fork_after_every_instruction": "the same",
        "activity_signal.*": "the same",
        "activity.no_tables": "measures the address space, which valgrind uses, too",
        "activity_launch.interrupted_by_one_of_its_slot": "the same",
        "counters.descriptors_are_bounded": "lowers a limit of descriptors that valgrind keeps",
        "usage.of_this_thread_alone": "counts page faults, and valgrind has its own",
        "capture_ranges.rules_that_took_nothing_*": "starts /proc/self/exe, which is valgrind's",
        "circles.sets_*": "goes on after faults, which valgrind does not to the instruction",
        "*.every_fourth_byte*": "a quarter of an hour each; AddressSanitizer reads the same",
    },
    "helgrind": {
        "fork.from_a_program_in_full_swing": "helgrind takes the parent's threads for the child's",
        "capture_ranges.fork_in_a_signal_handler_*": "the one lock order: tests/README.md",
        "activity.fork_between_begin_and_end": "the same",
        "interval.print_and_reset_*": "a thousand rounds of what the next has a hundred of",
        "arena.*_is_refused": "helgrind gives up where a test takes its memory away",
        "activity.no_arena": "the same",
        "trace_hostile.*": "damaged bytes are memcheck's business",
        "snapshot.*": "the same",
    },
}
FAILED = 99

# Reports that are not errors, by the function that causes them; A<B: A, called by B. The guards of
# timers that a switch or a goto jumps over are whatever was there: docs/macros.md says so.
UNSET = "stint_impl_end*<jump_over stint_impl_end*<jump_into"
# helgrind knows locks and no atomic access: it calls a race what these functions do to words that
# are atomic, in an order that ThreadSanitizer, which knows them, is content with. None of them
# touches what a lock guards; locks, and their order, are what helgrind is run for.
RACES = {
    "a thread writes its own frames, nodes and rings, the only one that does":
        "stint_impl_* push thread_pop thread_end record_new node_add_* info_keep node_new join "
        "name_keep",
    "sites, sets and texts are written, then published, and never change":
        "site_* memmove<arena_text_put",
    "a snapshot reads what others write, between two looks at a sequence word":
        "copy_* read_* snapshot_* keep_histogram sum_histograms name_hash bcmp<number_names",
    "words that say what to do next: the gate of a site, a wish for the capture tool, a step":
        "begin begin_* capture_* prepare step_word step_add_sample stint_step timers_* "
        "stream_timer_seek_context",
    "rows of activities are written under the lock and read between two looks at a sequence word":
        "activity_rows_* publish is_known",
    "launches, steps and devices: each slot is taken, filled and published by atomic words":
        "activity_launch* activity_steps_*",
    "flags of the tests, atomic too":
        "harness_run_* record intervals add_interval writes keeps_recording tool_takes_its_time "
        "slow_callback go_on_meanwhile hammer reader hold_for_long take_often many "
        "profile_and_record",
    "the child of a fork has one thread: helgrind believes in those of its parent":
        "registry_forget<__run_postfork_handlers",
}


def suppressions():
    """The functions above in valgrind's language."""
    kinds = [("Memcheck:Cond", UNSET)] + [("Helgrind:Race", names) for names in RACES.values()]
    return "".join("{\n   not an error\n   %s\n%s}\n"
                   % (kind, "".join("   fun:%s\n" % name for name in stack.split("<")))
                   for kind, names in kinds for stack in names.split())


def cases_of(program, tool):
    listed = subprocess.run([program, "--list"], stdout=subprocess.PIPE, check=True)
    out = listed.stdout.decode().split()
    for patterns in (LEFT_OUT["*"], LEFT_OUT.get(tool, {})):
        out = [case for case in out if not any(fnmatch.fnmatch(case, p) for p in patterns)]
    return out


def run(program, tool):
    """(program, cases that ran, "" or what to print)."""
    cases = cases_of(program, tool)
    if not cases:
        return program, 0, ""
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w") as names:
        names.write(suppressions())
        names.flush()
        done = subprocess.run(
            ["valgrind", "--tool=" + tool, "-q", "--error-exitcode=%d" % FAILED,
             "--suppressions=" + names.name, "--gen-suppressions=all", "--num-callers=20",
             "--log-file=%s/%%p" % folder, program] + cases,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=os.path.dirname(program),
            env=dict(os.environ, HARNESS_SECONDS="900"))
        logs = [path.read_text(errors="replace") for path in sorted(pathlib.Path(folder).iterdir())]
    if done.returncode in (0, 77):
        return program, len(cases), ""
    return program, len(cases), done.stdout.decode(errors="replace") + "".join(logs)


def why_not(program, tool):
    """Why a program like this one cannot run there, or ""."""
    if not shutil.which("valgrind"):
        return "no valgrind here"
    done = subprocess.run(["valgrind", "--tool=" + tool, "-q", program, "--list"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if b"debuginfo reader" in done.stderr:
        return "this valgrind does not read the debug information of this compiler"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="memcheck", choices=["memcheck", "helgrind"])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    asked = parser.parse_args()
    programs = [os.path.abspath(path) for path in asked.programs]
    reason = why_not(programs[0], asked.tool)
    if reason:
        print(reason)
        return 77
    failed = ran = 0
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for program, cases, text in pool.map(lambda p: run(p, asked.tool), programs):
            ran += cases
            failed += bool(text)
            if text:
                print("---- %s under %s\n%s" % (os.path.basename(program), asked.tool, text))
    print("%s: %d programs, %d cases, %d failed" % (asked.tool, len(programs), ran, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
