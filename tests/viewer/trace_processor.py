# SPDX-License-Identifier: Apache-2.0
"""trace_processor.py PROGRAM FORMAT: asks Perfetto's trace_processor_shell what it makes of the run
"full" in chrome or perfetto format: spans, their totals and nesting, counters, names of tracks; and
of the run "gpu": arrows from what launched to what ran.
77: there is no trace_processor_shell."""

import csv
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile

MS = 1000000

# name: (spans, nanoseconds, deepest)
SPANS = {"step": (3, 60 * MS + 1, 0), "step.load": (4, 10 * MS, 2),
         "step.forward": (4, 52 * MS, 1), "request": (1, 60 * MS, 0)}
COUNTERS = [12 * MS, 40 * MS, 123456790]
# The launch is an event of its own in perfetto, in chrome a moment of the scope around it.
ARROWS = {"perfetto": [("launch", "memcpy HtoD"), ("launch", "sm90_gemm<float>(float*)"),
                       ("launch", "sm90_gemm<float>(float*)")],
          "chrome": [("step.load", "memcpy HtoD"), ("step.forward", "sm90_gemm<float>(float*)"),
                     ("step.forward", "sm90_gemm<float>(float*)")]}


def ask(shell, trace, query):
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(query + ";\n")
        file.flush()
        run = subprocess.run([shell, "-q", file.name, trace], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=True)
    return list(csv.DictReader(io.StringIO(run.stdout.decode("utf-8", "replace"))))


def main(program, kind):
    shell = shutil.which("trace_processor_shell") or shutil.which("trace_processor")
    if not shell:
        print("skipped: no trace_processor_shell")
        return 77
    problems = []

    def same(what, have, want):
        if have != want:
            problems.append("%s: %s, expected %s" % (what, have, want))

    def export(folder, run):
        trace = pathlib.Path(folder) / (run + (".json" if kind == "chrome" else ".pftrace"))
        trace.write_bytes(subprocess.run([program, kind, run], stdout=subprocess.PIPE,
                                         check=True).stdout)
        return trace

    with tempfile.TemporaryDirectory() as folder:
        trace = export(folder, "full")
        rows = ask(shell, str(trace), "select name, count(*) as n, sum(dur) as ns, max(depth) as d "
                   "from slice where dur >= 0 group by name")
        have = {row["name"]: (int(row["n"]), int(row["ns"]), int(row["d"])) for row in rows}
        for name, want in SPANS.items():
            same(name, have.get(name), want)
        same("left open", ask(shell, str(trace), "select count(*) as n from slice where dur < 0"),
             [{"n": "0"}])
        rows = ask(shell, str(trace), "select ts from counter order by ts")
        same("counters", [int(row["ts"]) for row in rows], COUNTERS)
        rows = ask(shell, str(trace), "select name from thread where tid in (4242, 4243) "
                   "order by tid")
        same("threads", len(rows), 2)
        same("main", rows and rows[0]["name"], "main")
        rows = ask(shell, str(trace), "select sum(value) as n from stats where severity = 'error'")
        same("errors", rows, [{"n": "0"}])
        rows = ask(shell, str(export(folder, "gpu")), "select a.name as a, b.name as b from flow "
                   "join slice a on slice_out = a.id join slice b on slice_in = b.id order by b.ts")
        same("arrows", [(row["a"], row["b"]) for row in rows], ARROWS[kind])
    print("\n".join(problems) or "%s: spans, totals, nesting and counters are right" % kind)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
