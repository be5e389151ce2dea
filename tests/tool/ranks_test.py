#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes of a parallel job, with the environment that launchers make.

    ranks_test.py TOOL PROGRAM CASE

PROGRAM is tool_program.c.
"""
import json
import subprocess
import sys

from cases import LIMIT, environment, main, need

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


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[3]))
