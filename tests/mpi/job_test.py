#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of several processes, and what `stint merge` and the view `ranks` say of them.

    job_test.py TOOL CASE [FLAVOUR | PROGRAM] [LIBRARY]

FLAVOUR is openmpi or mpich: late_program.c is built with its compiler and linked with LIBRARY,
libstint.so; skipped without that compiler. PROGRAM is rank_program.c, or nvtx_program.c.

Expected times are those that the programs measured themselves, inside and around each scope: stint's
lie between them whatever else the machine does.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "tool"))
# pylint: disable=wrong-import-position
import cases
from cases import LIMIT, SKIPPED, main, need
from rank_files import ROLE_WAITING, RankFile, Scope, cells

TOOL, CASE = sys.argv[1:3]
OF = sys.argv[3] if len(sys.argv) > 3 else ""
LIBRARY = sys.argv[4] if len(sys.argv) > 4 else ""
# The tests may run inside a job: variables that launchers of jobs set are removed.
FOREIGN = ("STINT_", "LD_PRELOAD", "NVTX_", "OMPI_", "PMI_", "PMIX_", "SLURM_", "HYDRA_", "MPI_",
           "RANK", "WORLD_SIZE", "LOCAL_RANK", "LC_", "LANG")
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1", "LC_ALL": "C", "COLUMNS": "1000",
            "STINT_WAITS": "0"}
RANKS = 4
# As in late_program.c.
ROUNDS, KILLED_ROUND, LATE_RANK = 30, 5, 2
TOLERANCE = 0.05


def clean(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    return {**kept, **SETTINGS, **{k: str(v) for k, v in more.items()}}


def run(*command, rc=0, **env):
    return cases.run(*command, rc=rc, env=clean(**env))


def tool(*arguments):
    """Its output and its lines."""
    done = run(TOOL, *arguments)
    return done.out, done.err


def totals(file):
    """name -> (calls, ns)."""
    rows = csv.DictReader(tool("export", file, "--to", "csv")[0].splitlines())
    return {row["name"]: (int(row["calls"]), int(row["total_ns"])) for row in rows}


def merge(folder, *files):
    """The view `ranks`, in nanoseconds, and the lines of the merge."""
    out = folder / "all.stint"
    lines = tool("merge", "--keep", "ranks", *files, "-o", out)[1]
    return tool("report", "--view", "ranks", "--unit", "ns", out)[0], lines


def build_mpi(folder, source, *options):
    """The program; skips without the compiler and the launcher."""
    compiler = shutil.which("mpicc." + OF)
    if not compiler or not shutil.which("mpirun." + OF):
        print("skipped: no mpicc.%s and mpirun.%s" % (OF, OF))
        sys.exit(SKIPPED)
    program = folder / source.stem
    library = pathlib.Path(LIBRARY).parent
    run(compiler, "-O2", "-Wall", "-Werror", *options, "-I%s" % (ROOT / "include"), source,
        "-o", program, "-L%s" % library, "-Wl,-rpath,%s" % library, "-lstint", "-lm")
    return program


def start_mpi(folder, program, *arguments, rc=0, **env):
    """Runs it with RANKS ranks, a run file for each."""
    command = ["mpirun." + OF]
    if OF == "openmpi":
        command += ["--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]
    command += ["-np", str(RANKS), str(program), *arguments]
    return run(*command, rc=rc, STINT_FILE=folder / "run-%r.stint", **env)


def within(value, low, high, *about):
    need(low * (1 - TOLERANCE) <= value <= high * (1 + TOLERANCE), value, low, high, *about)


def lower_median(values):
    return sorted(values)[(len(values) - 1) // 2]


def check_late(folder, text):
    """The culprit, what its lateness costs and the scope that it spends longer in."""
    times = [[int(n) for n in (folder / ("times-%d" % r)).read_text().split()]
             for r in range(RANKS)]
    worked_in, worked, waited_in, waited = zip(*times)
    row = cells(text, "waiting", "barrier")
    need((row["ranks"], row["calls"]) == (str(RANKS), str(ROUNDS)), text)
    need(row["last"] == "rank %d" % LATE_RANK, text, times)
    within(int(row["total wait"]), sum(waited_in), sum(waited), text)
    within(int(row["waits"]), waited_in[LATE_RANK], waited[LATE_RANK], text)
    within(int(row["cost"]), sum(waited_in) - RANKS * min(waited),
           sum(waited) - RANKS * min(waited_in), text, times)
    heading = "barrier: rank %d covers " % LATE_RANK
    need(heading in text, text)
    part = text[text.index(heading):].split("\n")
    need(part[2].split()[0] == "work", text)
    within(int(part[2].split()[-1]), worked_in[LATE_RANK] - lower_median(worked),
           worked[LATE_RANK] - lower_median(worked_in), text, times)


def case_late(folder):
    """One rank sleeps longer: it is the culprit, and its cost is that of the sleeps."""
    program = build_mpi(folder, HERE / "late_program.c", "-DWITH_TIMER")
    done = start_mpi(folder, program, folder, STINT_REPORT="table")
    files = [folder / ("run-%d.stint" % r) for r in range(RANKS)]
    text, lines = merge(folder, *files)
    need(not lines, lines)
    check_late(folder, text)
    need(done.stderr.count("stint table") == 1 and "rank 0 of 4" in done.stderr, done.stderr)


def case_killed(folder):
    """The last rank kills itself in the middle: what all recorded until then is merged."""
    program = build_mpi(folder, HERE / "late_program.c", "-DWITH_TIMER")
    done = start_mpi(folder, program, folder, "kill", rc=None)
    need(done.returncode != 0, done.stdout, done.stderr)
    files = [folder / ("run-%d.stint" % r) for r in range(RANKS)]
    text, lines = merge(folder, *files)
    need(not lines, lines)
    need("killed" in tool("report", files[-1])[0], tool("report", files[-1])[0])
    need(totals(files[-1])["barrier"][0] == KILLED_ROUND, totals(files[-1]))
    calls = [totals(file)["work"][0] for file in files]
    need(calls[-1] == KILLED_ROUND, calls)
    need(all(KILLED_ROUND <= n <= KILLED_ROUND + 1 for n in calls), calls)
    need(cells(text, "name", "work")["ranks"] == str(RANKS), text)
    need("%d runs (" % RANKS in tool("info", folder / "all.stint")[0])


def check_equal(text, summary, table, name, columns):
    """A row of the summary has the numbers of the view, but for the length of a tick: it was
    measured a moment earlier."""
    ours, theirs = cells(summary, table, name), cells(text, table, name)
    for column in columns:
        mine, other = ours[column], theirs[column]
        if not other.isdigit():
            need(mine == other, column, summary, text)
        else:
            need(abs(int(mine) - int(other)) <= 10 + int(other) * 0.01, column, summary, text)


def case_stencil(folder):
    """Both ways of the sample say the same."""
    program = build_mpi(folder, ROOT / "samples" / "mpi_stencil.c", "-DWITH_TIMER")
    done = start_mpi(folder, program, "--summary", STINT_UNIT="ns")
    need(done.stderr.count("stint job: mpi_stencil, 4 ranks\n") == 1, done.stderr)
    text, lines = merge(folder, *(folder / ("run-%d.stint" % r) for r in range(RANKS)))
    need(not lines, lines)
    row = cells(done.stderr, "waiting", "residual")
    need(row["calls"] == "60" and row["ranks"] == str(RANKS), done.stderr)
    check_equal(text, done.stderr, "waiting", "residual",
                ("ranks", "calls", "total wait", "cost", "last", "host", "waits", "1->n", "2->n",
                 "n-1->n"))
    for name in ("step", "sweep", "residual", "exchange"):
        check_equal(text, done.stderr, "name", name,
                    ("ranks", "total", "longest", "max", "min", "median", "mean"))
    off = build_mpi(folder, ROOT / "samples" / "mpi_stencil.c")
    done = start_mpi(folder, off, "--summary")
    need("stint" not in done.stderr, done.stderr)


# ---- Without MPI.

def start_waiting(folder, count, name, **env):
    """So many processes at once, which go on when their input ends: they and the end to close."""
    reading, writing = os.pipe()
    started = []
    for rank in range(count):
        own = {key: value % rank for key, value in env.items()}
        started.append(subprocess.Popen([OF, "wait"], stdin=reading,
                                        env=clean(STINT_FILE=folder / name, **own)))
    os.close(reading)
    until = time.monotonic() + LIMIT
    while len(list(folder.glob("run-*.stint"))) < count:
        need(time.monotonic() < until, sorted(folder.iterdir()))
        time.sleep(0.01)
    return started, writing


def case_plain(folder):
    """64 processes at once into one folder, without a launcher: a file and a row for each."""
    count = 64
    started, writing = start_waiting(folder, count, "run-%p.stint")
    live = [p.pid for p in started]
    need(all(json.loads(tool("export", folder / ("run-%d.stint" % pid), "--to", "json")[0])
             ["run"]["pid"] == pid for pid in live[::16]))
    os.close(writing)
    need(all(p.wait(LIMIT) == 0 for p in started), [p.returncode for p in started])
    text, lines = merge(folder, folder)
    need(not lines, lines)
    row = cells(text, "name", "work")
    need(row["ranks"] == str(count) and " pid " in row["longest"], row)
    need(totals(folder / "all.stint")["work"][0] == count)
    own = [totals(folder / ("run-%d.stint" % pid))["work"][1] for pid in live]
    need(abs(int(row["total"]) - sum(own)) <= count, row, sum(own))
    need(int(row["max"]) - max(own) in (-1, 0, 1), row, max(own))


def case_restart(folder):
    """A job that was killed and started again in its folder: its files take the place of the old
    ones. With other names both are merged, and a line says so; if the second job began at once, it
    cannot tell the starts apart."""
    started, writing = start_waiting(folder, RANKS, "run-%r.stint", PMI_RANK="%d",
                                     PMI_SIZE="4%.0s")
    for process in started:
        process.send_signal(signal.SIGKILL)
        process.wait(LIMIT)
    os.close(writing)
    killed = json.loads(tool("export", folder / "run-0.stint", "--to", "json")[0])["run"]
    need(killed["pid"] == started[0].pid, killed)
    for rank in range(RANKS):
        done = run(OF, STINT_FILE=folder / "run-%r.stint", PMI_RANK=rank, PMI_SIZE=RANKS)
        need(not done.stderr, done.stderr)
    text, lines = merge(folder, folder)
    need(not lines and cells(text, "name", "work")["ranks"] == str(RANKS), lines, text)
    need("killed" not in tool("info", folder / "all.stint")[0])
    for rank in range(RANKS):
        run(OF, STINT_FILE=folder / "again-%r.stint", PMI_RANK=rank, PMI_SIZE=RANKS)
    text, lines = merge(folder, folder)
    need(re.fullmatch(r"stint: merge: ranks (of 2 starts \(a restart, or several jobs\): 4 of 4 from "
                      r".* UTC, 4 of 4 from .* UTC; all are merged \(--start last: only the last\)|"
                      r"with several files: 0, 1, 2, 3 \(a restart, or two jobs\); all are merged)\n",
                      lines), lines)
    need(cells(text, "name", "work")["ranks"] == str(2 * RANKS), text)


def case_skewed(folder):
    """The clocks of hosts that differ by 10 s change no number of the ranks."""
    texts = []
    for skew in (0, 5_000_000_000):
        files = []
        for rank, ns in enumerate((1000000, 1000000, 7000000, 1000000)):
            scopes = [Scope("work", [ns] * 20),
                      Scope("barrier", [7001000 - ns] * 20, ROLE_WAITING)]
            files.append(RankFile(scopes, rank=rank, size=RANKS, pid=100 + rank, later=rank,
                                  host="node%d" % rank, boot="boot-%d" % rank,
                                  skew=skew if rank % 2 else -skew)
                         .write(folder / ("s%d" % rank)))
        text, lines = merge(folder, *files)
        need(not lines, lines)
        texts.append(text[text.index("\nwaiting "):])
    need(texts[0] == texts[1], *texts)
    row = cells(texts[1], "waiting", "barrier")
    need(row["last"] == "rank 2" and row["cost"] == str(3 * 20 * 6000000), texts[1])


def case_nvtx(folder):
    """3 ranks of torchrun that have NVTX ranges and nothing else."""
    works, times = (20, 80, 40), []
    for rank, ms in enumerate(works):
        done = run(TOOL, "run", "--nvtx", "--report", "none", "--file", folder / "run-%r.stint",
                   "--", OF, ms, RANK=rank, WORLD_SIZE=len(works), LOCAL_RANK=rank)
        times.append([int(n) for n in done.stdout.split()[:2]])
    text, lines = merge(folder, folder)
    need(not lines, lines)
    row = cells(text, "name", "forward")
    need(row["ranks"] == "3" and row["longest"] == "rank 1", text, times)
    within(int(row["max"]), *times[1], text)
    within(int(row["lost"]), 3 * times[1][0] - sum(t[1] for t in times),
           3 * times[1][1] - sum(t[0] for t in times), text, times)
    shown = tool("report", folder / "run-2.stint")[0]
    need("\nrank 2 of 3, local rank 2, " in shown, shown)


if __name__ == "__main__":
    sys.exit(main(globals(), CASE))
