#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory, a trace, NVTX ranges, resource usage, counters, work under its sender and a GPU in one
program: none disturbs another's numbers, each of which combined_program.c has made known.

    combined_test.py TOOL PROGRAM CUDA_DOUBLE CUPTI_DOUBLE [--nvtx] [--mem]

The last two: what this build has.
"""
import collections
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tool"))
# pylint: disable=wrong-import-position
from cases import Wrong, run

TOOL, PROGRAM, CUDA, CUPTI = sys.argv[1:5]
WITH = sys.argv[5:]
THREADS, ROUNDS, LONG_CALLS, LONG_CPU_NS, PAGES, KERNEL_NS = 4, 200, 2, 20000000, 300, 5000
ALL = THREADS * ROUNDS
LONG = THREADS * LONG_CALLS
PAGE = os.sysconf("SC_PAGE_SIZE")
FRESH = PAGES * PAGE

CALLS = {"drain": 1, "send": 1, "job": THREADS, "long": LONG, "round": ALL, "blocks": ALL,
         "short": ALL, "dynamic a": ALL // 2, "dynamic b": ALL // 2, "range": ALL, "gpu": ALL,
         "gpu part": ALL, "launch": ALL}
PARENTS = {"drain": None, "send": None, "job": "send", "long": "job", "round": "job",
           "blocks": "round", "short": "round", "dynamic a": "round", "dynamic b": "round",
           "range": "round", "gpu": "round", "gpu part": "gpu", "launch": "gpu"}

# mallocs, bytes, frees, freed bytes, freed elsewhere, live at the end, peak of its own
MEMORY = {
    "drain": (0, 0, ALL, ALL * 48, 0, 0, 0),
    "send": (1, 100, 1, 100, 0, 0, 100),
    "job": (0, 0, 0, 0, 0, 0, 0),
    "long": (LONG, LONG * FRESH, LONG, LONG * FRESH, 0, 0, FRESH),
    "blocks": (2 * ALL, ALL * 64, ALL, ALL * 16, ALL * 48, 0, ROUNDS * 48 + 16),
    "short": (ALL, ALL * 24, ALL, ALL * 24, 0, 0, 24),
    "dynamic a": (ALL, ALL * 48, ALL, ALL * 48, 0, 0, 64),
    "dynamic b": (ALL, ALL * 48, ALL, ALL * 48, 0, 0, 64),
    "range": (ALL, ALL * 8, 0, 0, ALL * 8, 0, 8),
    "gpu part": (ALL, ALL * 40, ALL, ALL * 40, 0, 0, 40),
}
CHILD_MEMORY = {
    "child": (0, 0, 2, 508, 0, 0, 0),  # a block of the parent's, and the range's
    "short": (1, 24, 1, 24, 0, 0, 24),
    "range": (1, 8, 0, 0, 8, 0, 8),
    "long": (1, FRESH, 1, FRESH, 0, 0, FRESH),
}
MEMORY_KEYS = ("mallocs", "allocated_bytes", "frees", "freed_bytes", "freed_elsewhere_bytes",
               "memory_live_bytes", "memory_peak_own_bytes")


def expect(what, have, want):
    if have != want:
        raise Wrong("%s: have %r, want %r" % (what, have, want))


def expect_between(what, low, have, high):
    if not low <= have <= high:
        raise Wrong("%s: have %r, want %r to %r" % (what, have, low, high))


def export(path, form):
    return json.loads(run(TOOL, "export", path, "--to", form).stdout)


def check_calls(data, calls, parents):
    rows = {row["name"]: row for row in data["stats"]}
    expect("calls", {name: row["calls"] for name, row in rows.items()}, calls)
    expect("lost", data["lost"], [])
    tree = data["tree"]
    found = {row["name"]: tree[row["parent"]]["name"] if "parent" in row else None for row in tree}
    expect("the tree", found, parents)
    return rows


def check_memory(rows, wanted):
    if "--mem" not in WITH:
        return
    for name, numbers in wanted.items():
        expect("memory of " + name, tuple(rows[name][key] for key in MEMORY_KEYS), numbers)


def check_usage(row, calls, said):
    """Checks the least usage of scopes that no machine takes for too short. The kernel's clocks
    differ by a few percent on a virtual machine that is short of processors."""
    expect("measured", row["measured"], calls)
    expect_between("CPU time", calls * LONG_CPU_NS * 0.9, row["cpu_ns"], row["total_ns"] * 1.5)
    expect_between("faults", calls * PAGES, row["minor_faults"], calls * PAGES * 10)
    if "counted" not in row:
        if "STINT_COUNTERS: " not in said:
            raise Wrong("no counters, and no line why not:\n" + said)
        print("software events are not permitted here")
        return
    expect("counted", row["counted"], calls)
    expect_between("page-faults", calls * PAGES, row["page_faults"], calls * PAGES * 10)
    expect_between("task-clock", calls * LONG_CPU_NS / 2, row["task_clock_ns"],
                   row["total_ns"] * 1.5)


def check_gpu(rows):
    gpu = rows["gpu"]["gpu"]
    expect("GPU calls", (gpu["calls"], gpu["total_ns"]), (ALL, ALL * KERNEL_NS))
    for name in ("launch", "gpu", "round", "job"):
        expect("device operations of " + name,
               (rows[name]["device_calls"], rows[name]["device_total_ns"]), (ALL, ALL * KERNEL_NS))


def check_samples(rows):
    for name, row in rows.items():
        expect("samples of " + name, row["samples"], CALLS[name])


def check_trace(events, rows):
    """Checks that the trace has the calls, and of GPU scopes also the work of the GPU."""
    seen = collections.Counter((event["name"], event["ph"]) for event in events)
    for name, row in rows.items():
        expect("spans of " + name, seen[name, "X"],
               row["samples"] + row.get("gpu", {"calls": 0})["calls"])
    expect("kernels", seen["add(float*)", "X"], ALL)
    expect("values", seen["rounds", "C"], ALL)
    expect("marks", seen["job ends", "i"], THREADS)


def check_views(path):
    columns = ["on CPU", "gpu total", "device ops", "queue avg"]
    if "--mem" in WITH:
        columns += ["mallocs", "live"]
    table = run(TOOL, "report", "--view", "table", path).stdout
    tree = run(TOOL, "report", "--view", "tree", path).stdout
    for column in columns:
        if column not in table and column not in tree:
            raise Wrong("no column %r:\n%s" % (column, tree))
    run(TOOL, "export", path, "--to", "html")


def check_prometheus(path, row):
    """Checks the series of the row long."""
    text = run(TOOL, "export", path, "--to", "prometheus").stdout
    seconds = "%d.%09d" % divmod(row["cpu_ns"], 10**9)
    for family, value in (("cpu_seconds_total", seconds), ("measured_calls_total", LONG),
                          ("voluntary_switches_total", row["waits"]),
                          ("involuntary_switches_total", row["preempted"]),
                          ("minor_faults_total", row["minor_faults"]),
                          ("major_faults_total", row["major_faults"])):
        series = 'stint_scope_%s{name="long",set="GlobalStatInfo"} ' % family
        found = [line[len(series):] for line in text.splitlines() if line.startswith(series)]
        expect(family, found, [str(value)])


def find_runs(folder):
    """The program's file and its child's."""
    parents, children = [], []
    for path in folder.glob("*.stint"):
        if any(row["name"] == "child" for row in export(path, "json")["stats"]):
            children.append(path)
        else:
            parents.append(path)
    expect("runs", (len(parents), len(children)), (1, 1))
    return parents[0], children[0]


def main():
    env = {"STINT_RUSAGE": "1", "STINT_COUNTERS": "page-faults,task-clock", "STINT_GPU": "cupti",
           "STINT_CUDA_LIB": CUDA, "STINT_CUPTI_LIB": CUPTI}
    with tempfile.TemporaryDirectory(prefix="stint-combined-") as folder:
        done = run(TOOL, "run", *WITH, "--report", "none", "--trace", "16M", "--file",
                   pathlib.Path(folder) / "%p.stint", "--", PROGRAM, **env)
        said = done.stderr
        others = [line for line in said.splitlines()
                  if not line.startswith(("stint: STINT_COUNTERS: ", "stint: ranges: "))]
        expect("lines on stderr", others, [])
        path, child = find_runs(pathlib.Path(folder))
        rows = check_calls(export(path, "json"), CALLS, PARENTS)
        check_memory(rows, MEMORY)
        check_usage(rows["long"], LONG, said)
        check_gpu(rows)
        check_samples(rows)
        check_trace(export(path, "chrome")["traceEvents"], rows)
        expect("queued", rows["job"]["queue_calls"], THREADS)
        expect("the sender's time", rows["send"]["self_ns"], rows["send"]["total_ns"])
        check_views(path)
        check_prometheus(path, rows["long"])
        rows = check_calls(export(child, "json"),
                           {"child": 1, "short": 1, "range": 1, "long": 1},
                           {"child": None, "short": "child", "range": "child", "long": "child"})
        check_memory(rows, CHILD_MEMORY)
        check_usage(rows["long"], 1, said)


try:
    main()
except Wrong as failure:
    print(failure)
    sys.exit(1)
