#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ways in which a program ends: what it prints at its end, and what its run file has
afterwards. The program's own output and exit status are those without stint.

    exits_test.py TOOL PROGRAM LATE LATE_STATIC CASE
"""
import json
import pathlib
import re
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tool"))
# pylint: disable=wrong-import-position
import cases
from cases import main, need

TOOL, PROGRAM, LATE, LATE_STATIC, CASE = sys.argv[1:6]

# Story -> (exit status, what the file says of the end).
ENDS = {
    "exit": (3, "ended"), "atexit": (7, "ended"), "other_thread": (6, "ended"),
    "quick_exit": (4, "killed"), "_exit": (5, "killed"), "abort": (-signal.SIGABRT, "killed"),
    "kill": (-signal.SIGKILL, "killed"), "segv": (-signal.SIGSEGV, "killed"),
    "handled_segv": (100 + signal.SIGSEGV, "killed"),
}
WORK = {"step": 5, "load": 5, "matmul": 20}


def run(program, *arguments, rc=0, **variables):
    variables["TSAN_OPTIONS"] = "handle_segv=0:handle_abort=0:report_thread_leaks=0"
    return cases.run(program, *arguments, rc=rc, **variables)


def read(path):
    run_file = json.loads(run(TOOL, "export", "--to", "json", path).out)
    for row in run_file["stats"]:
        if row["samples"]:
            need(row["samples"] * row["min_ns"] <= row["total_ns"] <=
                 row["samples"] * row["max_ns"], row)
    return run_file


def calls(run_file):
    return {row["name"]: row["calls"] for row in run_file["stats"]}


def check_file(path, story, state):
    run_file = read(path)
    have = calls(run_file)
    need(run_file["run"]["state"] == state, story, run_file["run"])
    need({name: have.get(name) for name in WORK} == WORK, story, have)
    need(run_file["lost"] == [], story, run_file["lost"])
    opened = [scope["name"] for thread in run_file["threads"] for scope in thread.get("open", [])]
    expected = ["outer", "inner"]
    if story == "other_thread":
        expected.append("other thread")
    if story == "handled_segv":
        expected.append("in the handler")
    need(sorted(opened) == sorted(expected), story, opened)


def case_open_scopes(folder):
    """Each way out with two scopes open: the program's status, exact counts, and what was open."""
    for story, (rc, state) in ENDS.items():
        path = folder / story
        done = run(PROGRAM, story, rc=rc, STINT_FILE=path)
        if story in ("atexit", "quick_exit"):
            need("open: outer > inner" in done.err, done.err)
        else:
            need(done.err == "", story, done.err)
        check_file(path, story, state)


def case_reports(folder):
    """The exit report comes where the library's end is reached, once, and names what is open."""
    del folder
    for story, (rc, state) in ENDS.items():
        done = run(PROGRAM, story, rc=rc, STINT_REPORT="tree")
        need(done.err.count("stint tree: ") == (state == "ended"), story, done.err)
        if state == "ended":
            need("open: outer > inner" in done.err, story, done.err)


def case_last_thread(folder):
    """main ends by pthread_exit: its scopes are over, and the end is one like any other."""
    path = folder / "run"
    done = run(PROGRAM, "pthread_exit", STINT_FILE=path, STINT_REPORT="table")
    run_file = read(path)
    need(done.err.count("stint table: ") == 1, done.err)
    need(run_file["run"]["state"] == "ended", run_file["run"])
    have = calls(run_file)
    need(have.get("outer", 0) + have.get("inner", 0) == 2, have, run_file["lost"])  # left ones, too


def case_detached(folder):
    """Threads that record, start, and reset while the program ends: one report, one file."""
    for i in range(15):
        for story in ("detached", "starting"):
            path = folder / ("%s-%d" % (story, i))
            done = run(PROGRAM, story, STINT_FILE=path, STINT_REPORT="table,threads")
            need(done.err.count("stint table: ") == 1, done.err)
            run_file = read(path)
            need(run_file["run"]["state"] == "ended", run_file["run"])
            need(calls(run_file)["step"] >= 5, calls(run_file))


def check_late(folder, program, rows):
    path = folder / "run"
    done = run(program, STINT_FILE=path)
    seen = re.findall(r"^(the \w+) sees (\d+)$", done.out, re.M)
    need(sorted(name for name, _ in seen) == ["the first", "the program", "the second"], done.out)
    need([int(n) for _, n in seen] == [3, 5, 7], done.out)
    need(done.err.count("stint table: ") == 3, done.err)
    need(done.err.count("======= StatSet: [GlobalStatInfo]") == 1, done.err)
    after = done.err.split("======= StatSet: [GlobalStatInfo]")[1]
    need(len(re.findall(r"^stint table: ", after, re.M)) == rows, "after the end", done.err)
    run_file = read(path)
    need(run_file["run"]["state"] == "ended", run_file["run"])
    need(calls(run_file)["everybody"] == 7, calls(run_file))
    need(calls(run_file)["the program"] == 1, calls(run_file))
    need(run_file["lost"] == [], run_file["lost"])


def case_late_destructors(folder):
    """A destructor that runs after ours records and reports on; nothing was freed or unmapped."""
    check_late(folder, LATE, 1)


def case_late_destructors_static(folder):
    """The same where the library is part of the program: all three run after its end."""
    check_late(folder, LATE_STATIC, 3)


if __name__ == "__main__":
    sys.exit(main(globals(), CASE))
