#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges as scopes, as users of `stint run --nvtx` see them.

    nvtx_in_test.py TOOL PROGRAM LIBRARY STINT_PROGRAM CASE

PROGRAM and LIBRARY are nvtx_in_program.c, built with NVTX's own headers and without stint;
STINT_PROGRAM is the tool's test program, with timers of stint.
"""
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "ranges"))
# pylint: disable=wrong-import-position
from ranges_run import TOOL, calls, losses, main, need, rows, run, tool

PROGRAM, LIBRARY, STINT_PROGRAM = sys.argv[2:5]
OPEN = 192  # ranges that may be open


def record(folder, *command, options=("--nvtx",), file="run.stint", **env):
    file = os.path.join(folder, file)
    done = run(TOOL, "run", *options, "--report", "none", "--file", file, "--trace", "4M", "--",
               *command, **env)
    need(done.returncode == 0, done.stdout, done.stderr)
    return file, done


def trace(file):
    return json.loads(tool("export", file, "--to", "chrome"))["traceEvents"]


def case_ranges(folder):
    """Push, pop, start, end, marks and payloads, of a program without stint."""
    file, _ = record(folder, PROGRAM, "ranges")
    need(calls(file) == {("outer", ""): 1, ("inner \u00e4 \U0001f600", ""): 1,
                         ("with a category", "io"): 1,
                         ("with a category without a name", ""): 1, ("payload", ""): 1,
                         ("from thread to thread", ""): 1, ("wide start", ""): 1}, rows(file))
    tree = json.loads(tool("export", file, "--to", "json"))["tree"]
    names = [row["name"] for row in tree]
    above = {row["name"]: names[row["parent"]] if "parent" in row else None for row in tree}
    need(above["inner \u00e4 \U0001f600"] == above["with a category"] == "outer", above)
    need(above["outer"] is None and above["from thread to thread"] is None, above)
    outer = rows(file)["outer", ""]
    inside = sum(row["total_ns"] for key, row in rows(file).items() if above[key[0]] == "outer")
    need(abs(outer["total_ns"] - outer["self_ns"] - inside) <= 4, "self time", rows(file))
    lost = losses(file)
    need(lost == {"stray_end": 3, "bad_sample": 1}, lost)
    events = trace(file)
    marks = sorted(e["name"] for e in events if e["ph"] in "iI")
    need(marks == ["mark", "wide mark"], marks)
    values = [list(e["args"].values())[0] for e in events if e["ph"] == "C"]
    need(sorted(values) == [-9, -7, 0.25, 2.5, 7, 9], values)


def case_domains(folder):
    """Domains are sets, with their named categories; ranges of two domains may cross."""
    file, _ = record(folder, PROGRAM, "domains")
    need(calls(file) == {("registered", "one"): 1, ("registered wide", "two"): 1,
                         ("inside the second", "two/copies"): 1, ("started", "one"): 1},
         rows(file))
    need(losses(file) == {"stray_end": 1}, losses(file))


def case_garbage(folder):
    """Handles that are none are counted, and nothing else."""
    file, _ = record(folder, PROGRAM, "garbage")
    need(calls(file) == {("named", "one"): 2}, rows(file))
    need(losses(file) == {"range_full": 3, "stray_end": 4, "bad_sample": 6}, losses(file))


def case_full(folder):
    """Ranges that find no room are counted, and ranges after them are recorded."""
    file, _ = record(folder, PROGRAM, "full")
    found = calls(file)
    need(found["many", ""] == 4096 and found["after them", ""] == 1, found)
    in_domains = sum(n for (name, _), n in found.items() if name == "in a domain")
    need(in_domains == 8192 + 5000 and ("in a domain", "") not in found, in_domains)
    deep = sum(n for (name, _), n in found.items() if name.startswith("deep"))
    need(deep == OPEN and found["balanced again", ""] == 1, deep)
    lost = losses(file)
    need(lost == {"range_full": 5000 - 4096 + 2 * (8300 - 8192) + 300 - OPEN}, lost)


def case_crossing(folder):
    """Ranges of many domains that cross: each has its own end; those without room are counted."""
    for count in (17, 18, 20, 150, OPEN, 300, 1000):
        file, _ = record(folder, PROGRAM, "crossing", str(count), file=f"{count}.stint")
        found = {name: row for (name, _), row in rows(file).items() if name.startswith("crossing")}
        kept = min(count, OPEN)
        need(set(found) == {f"crossing {i}" for i in range(kept)}, count, sorted(found))
        need(all(row["calls"] == 1 and row["total_ns"] >= 20e6 for row in found.values()), found)
        need(calls(file)["balanced again", ""] == 1, count)
        lost = count - kept
        need(losses(file) == ({"range_full": lost} if lost else {}), count, losses(file))


def case_overlapping(folder):
    """Ranges that overlap without end take the room of those that are open."""
    file, _ = record(folder, PROGRAM, "overlapping")
    need(calls(file) == {("overlapping", "one"): 1000, ("overlapping", "two"): 1000}, rows(file))
    need(not losses(file), losses(file))


def case_balance(folder):
    """An end is that of the range of its domain that began last, recorded or not."""
    file, _ = record(folder, PROGRAM, "balance")
    need(calls(file) == {("outer", "one"): 1, ("with room", "one"): 1, ("filler", "two"): 191},
         rows(file))
    need(rows(file)["outer", "one"]["total_ns"] >= 20e6, rows(file))
    need(losses(file) == {"range_full": 2, "stray_end": 1}, losses(file))


def case_leaves(folder):
    """Threads that end inside a range: counted, and the next thread starts from none."""
    file, _ = record(folder, PROGRAM, "leaves")
    need(calls(file) == {("after them", ""): 1, ("never ended", ""): 300}, rows(file))
    need(rows(file)["never ended", ""]["left"] == 300, rows(file))
    need(losses(file) == {"abandoned": 300}, losses(file))


def case_modules(folder):
    """Each module has tables of its own: the library is told of each, and records both once."""
    file, _ = record(folder, PROGRAM, "library", LIBRARY)
    need(calls(file) == {("in the program", ""): 1, ("in the library", "library"): 3}, rows(file))
    need(not losses(file), losses(file))


def case_again(folder):
    """The library may be told of a module twice, also while a range is open."""
    file, _ = record(folder, PROGRAM, "again")
    need(calls(file) == {("open meanwhile", ""): 1, ("after it", ""): 1}, rows(file))
    need(not losses(file), losses(file))


def case_fork(folder):
    """A child records its own ranges, and nothing of its parent's."""
    record(folder, PROGRAM, "fork", file="run-%p.stint")
    files = sorted(pathlib.Path(folder).iterdir())
    found = sorted((list(calls(file).items()), losses(file)) for file in files)
    need(found == [([(("before", ""), 1)], {}), ([(("in the child", ""), 1)], {})], found)


def case_never_both(folder):
    """stint's own ranges do not come back as scopes, whichever library has NVTX's tables."""
    plain = calls(record(folder, STINT_PROGRAM, "end", options=())[0])
    both = calls(record(folder, STINT_PROGRAM, "end", STINT_NVTX="1")[0])
    need(plain == both and plain, plain, both)


def case_another_tool(folder):
    """An injection that is set already is left alone, with one line."""
    done = run(TOOL, "run", "--nvtx", "--", PROGRAM, "ranges",
               NVTX_INJECTION64_PATH="/no/such/tool.so")
    lines = done.stderr.splitlines()
    need("NVTX_INJECTION64_PATH=/no/such/tool.so is left as it is" in lines[0], done.stderr)
    need("nothing recorded" in lines[1] and "makes no range" in lines[1], done.stderr)
    done = run(TOOL, "run", "--nvtx", "--", PROGRAM, "nothing")
    need(done.returncode == 0 and "makes no range" in done.stderr, done.stderr)


def case_report(folder):
    """The report of an uninstrumented program, without a file."""
    done = run(TOOL, "run", "--nvtx", "--", PROGRAM, "ranges")
    need(done.returncode == 0 and "outer" in done.stderr, done.stderr)
    need(not list(pathlib.Path(folder).iterdir()), "nothing is left")


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[5]))
