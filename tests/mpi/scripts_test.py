#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts of samples/jobs on a small job: what they make is one merge of all files.

    scripts_test.py TOOL CASE
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "tool"))
# pylint: disable=wrong-import-position
import cases
from cases import SKIPPED, main, need
from rank_files import ROLE_WAITING, RankFile, Scope

TOOL = sys.argv[1]
SCRIPTS = ROOT / "samples" / "jobs"
RANKS = 23


def run(*command, rc=0, **env):
    path = "%s:%s" % (pathlib.Path(TOOL).parent, os.environ["PATH"])
    return cases.run(*command, rc=rc, COLUMNS=1000, PATH=path, **env)


def make_runs(folder):
    draw = random.Random(11)
    runs = folder / "the runs"
    runs.mkdir()
    for rank in range(RANKS):
        scopes = [Scope("solve", [draw.randrange(1, 10**9) for _ in range(40)]),
                  Scope("barrier", [draw.randrange(1, 10**7) for _ in range(40)], ROLE_WAITING)]
        RankFile(scopes, rank=rank, size=RANKS, pid=100 + rank, later=rank, job="7",
                 host="node%d" % (rank // 4)).write(runs / ("run-%d.stint" % rank))
    return runs


def answers(file):
    """All that is said of a merged file, but for its name. Rows are in the order in which names
    came."""
    rows = json.loads(run(TOOL, "export", file, "--to", "json").stdout)
    return run(TOOL, "report", "--view", "ranks", file).stdout, \
        sorted(rows["stats"], key=str), sorted(rows["tree"], key=str)


def check_same(folder, runs, out):
    run(TOOL, "merge", runs, "-o", folder / "one.stint")
    for one, other in zip(answers(folder / "one.stint"), answers(out)):
        need(one == other, one, other)


def case_tree(folder):
    """Three levels; a file that is not whole is named, and left out."""
    runs = make_runs(folder)
    done = run(SCRIPTS / "merge_tree.sh", runs, folder / "out.stint", 3)
    need(not done.stderr, done.stderr)
    check_same(folder, runs, folder / "out.stint")
    (runs / "bad.stint").write_bytes(b"STINTRUN")
    done = run(SCRIPTS / "merge_tree.sh", runs, folder / "again.stint", 3, rc=2)
    need("bad.stint: " in done.stderr, done.stderr)
    (runs / "bad.stint").unlink()
    check_same(folder, runs, folder / "again.stint")


def case_parallel(folder):
    version = ""
    if shutil.which("parallel"):
        version = subprocess.run(["parallel", "--version"], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, check=False,
                                 universal_newlines=True).stdout
    if "GNU parallel" not in version:
        print("skipped: no GNU parallel")
        return SKIPPED
    runs = make_runs(folder)
    done = run(SCRIPTS / "merge_parallel.sh", runs, folder / "out.stint", 5, HOME=folder)
    need(not done.stderr, done.stderr)
    check_same(folder, runs, folder / "out.stint")
    return 0


def case_slurm(folder):
    """Each task with the environment that Slurm gives it (sbatch(1), output environment variables),
    then the last job."""
    runs, parts = make_runs(folder), folder / "parts"
    for task in range(4):
        done = run("sh", SCRIPTS / "slurm_array.sh", runs, parts, SLURM_ARRAY_TASK_ID=task + 1,
                   SLURM_ARRAY_TASK_MIN=1, SLURM_ARRAY_TASK_MAX=4, SLURM_ARRAY_TASK_COUNT=4,
                   SLURM_ARRAY_JOB_ID=17, SLURM_JOB_ID=18 + task, SLURM_PROCID=0, SLURM_NTASKS=1)
        need(not done.stderr, done.stderr)
    need(len(list(parts.iterdir())) == 4, list(parts.iterdir()))
    run(TOOL, "merge", parts, "-o", folder / "out.stint")
    check_same(folder, runs, folder / "out.stint")
    done = run("sh", SCRIPTS / "slurm_array.sh", runs, parts, rc=done_of_shell())
    need("not a task of an array job" in done.stderr, done.stderr)


def done_of_shell():
    """The status with which this sh ends when ${x:?text} fails: 1 or 2, by shell."""
    return subprocess.run(["sh", "-c", ": ${nothing_of_that_name:?}"], stderr=subprocess.DEVNULL,
                          check=False).returncode


def case_spark(_):
    """The script compiles; it is not run, as no Spark is needed for the tests."""
    path = SCRIPTS / "spark_ranks.py"
    compile(path.read_text(), str(path), "exec")
    done = run(sys.executable, "-B", path, rc=1)
    need("spark-submit" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[2]))
