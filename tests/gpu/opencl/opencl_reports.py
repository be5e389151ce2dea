#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports, exports and exits of a program with queues on the OpenCL device of this machine.

    opencl_reports.py --program opencl_program --tool stint CASE
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIP = 77
ENDS = 3  # what the program returns at its end
STEPS = 20


def run_program(program, folder, *arguments, **environment):
    """The finished process; its run file is folder/run.stint."""
    env = dict(os.environ, STINT_FILE=str(folder / "run.stint"), **environment)
    done = subprocess.run([program, *arguments], env=env, capture_output=True, text=True,
                          check=False, timeout=300)
    if done.returncode == SKIP:
        print(done.stderr)
        sys.exit(SKIP)
    check(done.returncode == ENDS and "main ends" in done.stdout,
          "the program ends with %d\n%s" % (done.returncode, done.stderr))
    return done


def run_tool(tool, *arguments):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=False,
                          timeout=300)
    check(done.returncode == 0, "%s: %s" % (arguments, done.stderr))
    return done.stdout


def check(holds, text):
    if not holds:
        sys.exit(text)


def find_row(rows, name):
    found = [row for row in rows if row["name"] == name]
    check(len(found) == 1, "%d rows of %s" % (len(found), name))
    return found[0]


def test_reports(args, folder):
    run_program(args.program, folder)
    file = folder / "run.stint"
    text = run_tool(args.tool, "report", file)
    check("opencl" in text and "fill" in text and "CUDA" not in text, text)
    run = json.loads(run_tool(args.tool, "export", "--to", "json", "-o", "-", file))
    gpu = find_row(run["stats"], "fill")["gpu"]
    check(gpu["calls"] == STEPS and gpu["total_ns"] > 0, str(gpu))
    page = run_tool(args.tool, "export", "--to", "html", "-o", "-", file)
    check("fill" in page, "the page has no row")
    csv = run_tool(args.tool, "export", "--to", "csv", "-o", "-", file)
    check("fill" in csv, csv)


def test_trace(args, folder):
    """The device's clock is not the host's: spans on the queue are inside the scope around them."""
    run_program(args.program, folder, STINT_TRACE="1M")
    trace = json.loads(run_tool(args.tool, "export", "--to", "chrome", "-o", "-",
                                folder / "run.stint"))
    spans = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
    steps = [e for e in spans if e["name"] == "steps"]
    fills = [e for e in spans if e["name"] == "fill"]
    check(len(steps) == 1 and len(fills) == 2 * STEPS, "%d steps, %d fills" % (len(steps),
                                                                               len(fills)))
    lanes = {(e["pid"], e["tid"]) for e in fills}
    check(len(lanes) == 2, "lanes: %s" % lanes)
    begin, end = steps[0]["ts"], steps[0]["ts"] + steps[0]["dur"]
    for span in fills:
        check(begin <= span["ts"] and span["ts"] + span["dur"] <= end + 0.002, "%s outside of %s" %
              (span, steps[0]))


def test_exit(args, folder):
    """A program that ends while work is in flight ends, and has its report; that scope's time is
    not known."""
    run_program(args.program, folder, "held")
    run = json.loads(run_tool(args.tool, "export", "--to", "json", "-o", "-",
                              folder / "run.stint"))
    check(find_row(run["stats"], "fill")["gpu"]["calls"] == STEPS, str(run["stats"]))
    held = find_row(run["stats"], "held")
    check(held["calls"] == 1 and not held.get("gpu"), str(held))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--tool", required=True)
    parser.add_argument("case", choices=["reports", "trace", "exit"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        {"reports": test_reports, "trace": test_trace, "exit": test_exit}[args.case](
            args, pathlib.Path(folder))


if __name__ == "__main__":
    main()
