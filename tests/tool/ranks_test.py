#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes of a parallel job, with the environment that launchers make.

    ranks_test.py TOOL PROGRAM CASE

PROGRAM is tool_program.c.
"""
import json
import random
import statistics
import subprocess
import sys

from cases import LIMIT, environment, main, need
from rank_files import ROLE_WAITING, RankFile, Scope, cells

TOOL, PROGRAM = sys.argv[1:3]

OPEN_MPI = {"OMPI_COMM_WORLD_RANK": 3, "OMPI_COMM_WORLD_SIZE": 64, "OMPI_COMM_WORLD_LOCAL_RANK": 1,
            "PMIX_NAMESPACE": "prte-7@1"}
PLACE = "rank 3 of 64, local rank 1, job prte-7@1, host "


def run(*command, rc=0, **env):
    done = subprocess.run([str(c) for c in command], env=environment(COLUMNS=1000, **env),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
                          check=False, universal_newlines=True)
    need(done.returncode == rc, "expected rc %s of %s" % (rc, command), done)
    return done


def record(path, **env):
    return run(PROGRAM, "end", STINT_FILE=path, **env)


def case_headers(folder):
    """The place in the job is in the header of the report, in info, JSON, HTML and top."""
    path = folder / "a-%r.stint"
    record(path, **OPEN_MPI)
    path = folder / "a-3.stint"
    report = run(TOOL, "report", path).stdout
    need(PLACE in report and "ended, rank 3, pid " in report, report)
    info = run(TOOL, "info", path).stdout
    need("place        rank 3 of 64, local rank 1, job prte-7@1\n" in info, info)
    row = json.loads(run(TOOL, "export", path, "--to", "json").stdout)
    need([row["run"].get(k) for k in ("rank", "local_rank", "world_size", "job")] ==
         [3, 1, 64, "prte-7@1"], row["run"])
    need('"place":"rank 3 of 64, local' in run(TOOL, "export", path, "--to", "html").stdout)
    top = run(TOOL, "top", "--once", path).stdout
    need("ended, rank 3, pid " in top, top)
    plain = folder / "b.stint"
    record(plain)
    need("rank" not in run(TOOL, "report", plain).stdout)


def case_exit_report(folder):
    """Only rank 0 prints at exit, unless each has its own file."""
    for rank in range(2):
        said = run(PROGRAM, "end", STINT_REPORT="table", PMI_RANK=rank, PMI_SIZE=2).stderr
        need(("rank 0 of 2, host " in said) == (rank == 0), rank, said)
        need(rank == 0 or "stint table" not in said, said)
        run(PROGRAM, "end", STINT_REPORT="table", PMI_RANK=rank, PMI_SIZE=2,
            STINT_OUTPUT=folder / "out-%r")
        need("rank %d of 2, host " % rank in (folder / ("out-%d" % rank)).read_text())
    need("stint table" in run(PROGRAM, "end", STINT_REPORT="table").stderr)


def case_bad_rank(folder):
    """A line for a value that is not taken; the run file is written."""
    for env, line in (({"RANK": "abc", "WORLD_SIZE": 2, "LOCAL_RANK": 0},
                       "RANK=abc: expected a number; ignored"),
                      ({"PMI_RANK": 2, "PMI_SIZE": 2},
                       "rank 2 is not below the size of the job, PMI_SIZE=2; the size is ignored"),
                      ({"STINT_RANK": "x"}, "STINT_RANK=x: expected RANK or RANK/SIZE")):
        path = folder / "c.stint"
        said = record(path, **env).stderr
        need(line in said and said.count("\n") == 1, said)
        run(TOOL, "report", path)


# ---- The view of a merged run. Each rank's times are known.

def ranks_view(folder, work, calls=10, more=(), latency=1000, **options):
    """Ranks that work so many nanoseconds in each of `calls` steps and then wait for the last of
    them: what `stint report --view ranks` says, times in ns."""
    last = max(work)
    files = []
    for rank, ns in enumerate(work):
        wait = [last - ns + latency] * (calls[rank] if isinstance(calls, list) else calls)
        step = Scope("step", [last + latency] * len(wait), inside=[
            Scope("solve", [ns] * len(wait)), Scope("barrier", wait, ROLE_WAITING)])
        file = RankFile([step] + list(more), rank=rank, size=len(work), host="node%d" % (rank // 2),
                        pid=100 + rank, later=rank, **options)
        files.append(file.write(folder / ("r%d.stint" % rank)))
    run(TOOL, "merge", folder, "-o", folder / "all.stint")
    return run(TOOL, "report", "--view", "ranks", "--unit", "ns", folder / "all.stint").stdout


def case_late(folder):
    """One rank is late: it is named with the cost, the scope and by how much."""
    text = ranks_view(folder, [1000000, 1000000, 5000000, 1000000])
    row = cells(text, "waiting", "barrier")
    need(row == {"waiting": "barrier", "ranks": "4", "calls": "10", "total wait": "120040000",
                 "cost": "120000000", "last": "rank 2", "host": "node1", "waits": "10000",
                 "alone %": "100.0", "1->n": "4000000", "2->n": "4000000",
                 "n-1->n": "4000000"}, text)
    need("\nbarrier: rank 2 covers 100.0 % of the cost\n" in text, text)
    cause = text[text.index("barrier: rank"):].split("\n")
    need(cause[2].split() == ["solve", "50000000", "40000000"] and not cause[3], cause)
    row = cells(text, "name", "solve")
    need(row["longest"] == "rank 2" and row["host"] == "node1" and row["shortest"] == "rank 0",
         row)


def case_late_several(folder):
    """Two late ranks: neither is the cause. A third of the lateness is a rank's own: named."""
    text = ranks_view(folder, [1000, 1000, 5001000, 5000000])
    row = cells(text, "waiting", "barrier")
    need(row["last"] == "rank 2" and row["n-1->n"] == "1000" and
         row["1->n"] == "5000000", row)
    need("no rank is the only cause, rank 2 covers 0.0 % of the cost\n" in text, text)
    need("longer than" not in text, text)
    text = ranks_view(folder, [0, 100000, 200000, 1000000])
    row = cells(text, "waiting", "barrier")
    need((row["1->n"], row["2->n"], row["n-1->n"]) == ("1000000", "900000", "800000"), row)
    need(row["cost"] == "27000000" and row["alone %"] == "88.9", row)
    need("barrier: rank 3 covers 88.9 % of the cost\n" in text, text)


def case_late_nobody(folder):
    """Nothing is named where all come together, and where ranks call it differently often."""
    text = ranks_view(folder, [1000] * 4)
    need(cells(text, "waiting", "barrier")["cost"] == "0" and "cause" not in text, text)
    need("covers" not in text, text)
    text = ranks_view(folder, [1000, 9000, 1000], calls=[10, 9, 10])
    need("no cause is named, the ranks have different numbers of calls" in text, text)
    need("10 at most" in text, text)


def case_late_threads(folder):
    """Ranks with several threads, and one that was killed: their totals count."""
    text = ranks_view(folder, [1000, 1000, 1000, 41000], threads=3)
    row = cells(text, "waiting", "barrier")
    need(row["calls"] == "30" and row["cost"] == "3600000" and row["last"] == "rank 3", row)


def case_spread(folder):
    """Minimum, mean, median, maximum, deviation, imbalance and lost time of random totals."""
    draw = random.Random(3)
    work = [draw.randrange(1, 10**9) for _ in range(101)]
    text = ranks_view(folder, work, calls=1)
    row = cells(text, "name", "solve")
    numbers = {key: float(row[key].split()[0]) for key in
               ("total", "lost", "max", "min", "median", "mean", "stddev", "% imbalance")}
    lost = max(work) * len(work) - sum(work)
    for key, expected in (("total", sum(work)), ("lost", lost), ("max", max(work)),
                          ("min", min(work)), ("median", statistics.median(work)),
                          ("mean", sum(work) // len(work))):
        need(numbers[key] == expected, key, numbers, expected)
    need(abs(numbers["stddev"] - statistics.stdev(work)) <= 1, numbers, statistics.stdev(work))
    imbalance = 100 * lost / (max(work) * (len(work) - 1))
    need(abs(numbers["% imbalance"] - imbalance) < 0.051, numbers, imbalance)
    need(row["longest"] == "rank %d" % work.index(max(work)), row)
    need(row["shortest"] == "rank %d" % work.index(min(work)), row)
    need(row["ranks"] == "101", row)


def case_some_ranks(folder):
    """A name that one rank has alone is even; names can be chosen; one process has no ranks."""
    text = ranks_view(folder, [1000, 1000], more=[Scope("all", [5, 6])])
    need(cells(text, "name", "all")["ranks"] == "2", text)
    only = RankFile([Scope("alone", [7] * 3)], rank=2, size=3, pid=9).write(folder / "only.stint")
    run(TOOL, "merge", folder / "all.stint", only, "-o", folder / "more.stint")
    text = run(TOOL, "report", "-v", "ranks", "-u", "ns", folder / "more.stint").stdout
    row = cells(text, "name", "alone")
    need(row["ranks"] == "1" and row["lost"] == "0" and row["longest"] == "rank 2", row)
    text = run(TOOL, "report", "-v", "ranks", "-f", "al*", folder / "more.stint").stdout
    need("\\nsolve " not in text and "no scope that several ranks have waits" in text, text)
    need("\nall " in text and "\nalone " in text, text)
    text = run(TOOL, "report", "-v", "ranks", "-n", "1", folder / "more.stint").stdout
    need("(4 more)" in text, text)
    text = run(TOOL, "report", "-v", "ranks", only).stdout
    need("the run of one process: `stint merge` makes one of several ranks" in text, text)


def case_process_label(folder):
    """Without a launcher a rank is its host and process."""
    for pid, ns in ((11, 5), (12, 50)):
        RankFile([Scope("work", [ns])], pid=pid, later=pid).write(folder / ("p%d" % pid))
    run(TOOL, "merge", folder, "-o", folder / "all.stint")
    text = run(TOOL, "report", "-v", "ranks", folder / "all.stint").stdout
    need(cells(text, "name", "work")["longest"] == "node pid 12", text)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[3]))
