# SPDX-License-Identifier: Apache-2.0
"""totals.py promtool|flamegraph|jq PROGRAM: exports as those tools read them. 77: the tool is missing.
flamegraph.pl ends with 0 whatever it is given, so the widths it draws are compared with the
sums. The program of jq is that of docs/exports.md, and makes what github-action-benchmark reads
(src/extract.ts, BenchmarkResult: the members name, unit, value and extra, which is a text)."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

RUNS = ("full", "tree", "empty", "zero", "gpu")
TOTAL = 1026000000 # of the run "tree": 126 ms on one thread, 900 ms open on the other
FRAMES = {"all": TOTAL, "work": 900000000, "step.forward": 45000000}


def export(program, kind, run):
    return subprocess.run([program, kind, run], stdout=subprocess.PIPE, check=True).stdout


def promtool(tool, program):
    failed = 0
    for run in RUNS:
        check = subprocess.run([tool, "check", "metrics"], input=export(program, "prometheus", run),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if check.returncode or check.stdout: # 1: it cannot be read, 3: the linter minds
            print("%s: %d\n%s" % (run, check.returncode, check.stdout.decode()))
            failed = 1
    return failed


def flamegraph(tool, program):
    drawn = subprocess.run([tool, "--countname", "ns"], input=export(program, "folded", "tree"),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    svg, failed = drawn.stdout.decode("utf-8"), 0
    titles = {}
    for name, count in re.findall(r"<title>(.*) \(([0-9,]+) ns, ", svg):
        titles[name] = titles.get(name, 0) + int(count.replace(",", ""))
    for name, want in FRAMES.items():
        if titles.get(name) != want:
            print("%s: %s, expected %s" % (name, titles.get(name), want))
            failed = 1
    if drawn.stderr:
        print(drawn.stderr.decode("utf-8", "replace"))
        failed = 1
    return failed


def jq(tool, program):
    page = (pathlib.Path(__file__).parents[2] / "docs/exports.md").read_text()
    (script,) = re.findall(r"--to json \| jq '([^']+)'", page)
    failed = 0
    for run in RUNS:
        data = export(program, "json", run)
        made = json.loads(subprocess.run([tool, script], input=data, stdout=subprocess.PIPE,
                                         check=True).stdout)
        want = [{"name": row["name"], "unit": "ns", "value": row["avg_ns"],
                 "extra": "calls %d" % row["calls"]} for row in json.loads(data)["stats"] if "avg_ns" in row]
        if made != want or (run == "full" and len(want) < 10):
            print("%s: %s\nexpected %s" % (run, made, want))
            failed = 1
    return failed


def main(kind, program):
    tool = shutil.which({"promtool": "promtool", "flamegraph": "flamegraph.pl", "jq": "jq"}[kind])
    if not tool:
        print("skipped: no " + kind)
        return 77
    return {"promtool": promtool, "flamegraph": flamegraph, "jq": jq}[kind](tool, program)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
