#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stint run --mpi` with the MPI libraries of the machine.

    mpi_test.py TOOL CASE [openmpi | mpich | PROGRAM]

mpi_program.c or another one is built with the compiler of the library; a case is skipped without
that, or if stint was built without it. PROGRAM is rank_program.c.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "ranges"))
# pylint: disable=wrong-import-position
from ranges_run import TOOL, main, need, run, skip, tool

CASE, *KIND = sys.argv[2:]
KIND = KIND[0] if KIND else ""
OTHER = {"openmpi": "mpich", "mpich": "openmpi"}.get(KIND)
HERE = pathlib.Path(__file__).resolve().parent

DOUBLE, INT = 8, 4
# (name, set) -> calls of one rank, and bytes of both together. As mpi_program.c makes them.
WORLD, NONE = "mpi/MPI_COMM_WORLD", "mpi"
ROOT = WORLD + ", root 0"
EXPECTED = {
    ("MPI_Barrier", WORLD): (10, 0),
    ("MPI_Allgather", WORLD): (10, 2 * 10 * 8),
    ("MPI_Irecv", WORLD): (1, 0),
    ("MPI_Isend", WORLD): (1, 2 * 1000 * DOUBLE),
    ("MPI_Waitall", NONE): (1, 0),
    ("MPI_Sendrecv", WORLD): (1, 2 * 3 * INT),
    ("MPI_Bcast", ROOT): (1, 2 * 7),
    ("MPI_Allreduce", WORLD): (1, 2 * 5 * DOUBLE),
    ("MPI_Alltoall", WORLD): (1, 2 * 2 * 4 * INT),
    ("MPI_Scatter", ROOT): (1, 2 * 6 * DOUBLE),
    ("MPI_Gather", ROOT): (1, 2 * 6 * DOUBLE),
    ("MPI_Iprobe", WORLD): (1, 0),
    ("MPI_Comm_dup", WORLD): (2, 0),
    ("MPI_Comm_dup", "mpi/1 ranks"): (1, 0),
    ("MPI_Barrier", "mpi/pairs 0-1"): (1, 0),
    ("MPI_Barrier", "mpi/1 ranks"): (2, 0),
    ("MPI_Barrier", "mpi/again"): (1, 0),
    ("MPI_Comm_compare", "mpi/pairs 0-1"): (1, 0),
    ("MPI_Comm_create_keyval", NONE): (2, 0),
    ("MPI_Init", NONE): (1, 0),
    ("MPI_Initialized", NONE): (1, 0),
    ("MPI_Get_library_version", NONE): (1, 0),
    ("MPI_Finalize", NONE): (1, 0),
    ("MPI_Finalized", NONE): (1, 0),
}
# Calls of MPI_Send and bytes by rank: rank 0 sends to rank 1, and each to MPI_PROC_NULL, which is
# nothing.
SENT = {0: (2, 1000 * DOUBLE), 1: (1, 0)}


def build(folder, kind=KIND, source="mpi_program.c"):
    """The program; skips without the compiler, or a library of stint for it."""
    if not shutil.which("mpicc." + kind):
        skip("no mpicc." + kind)
    program = os.path.join(folder, "mpi_" + kind)
    run("mpicc." + kind, "-O1", "-w", HERE / source, "-o", program, rc=0)
    if "built without" in run(TOOL, "run", "--mpi=" + kind, "--", "true").stderr:
        skip("stint was built without " + kind)
    return program


def launcher(ranks=2):
    command = ["mpirun." + KIND]
    if KIND == "openmpi":
        command += ["--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]
    return command + ["-np", str(ranks)]


def rows(file):
    """(name, set) -> row."""
    out = {}
    for row in csv.DictReader(tool("export", file, "--to", "csv").splitlines()):
        if not row["tid"]:
            key = (row["name"], row["set"])
            need(key not in out, key)
            out[key] = row
    return out


def number(row, column):
    return int(row[column] or 0)


def check_counts(files):
    """Each call once, in the set of its communicator; the bytes of all ranks."""
    runs = [rows(file) for file in files]
    for key, (calls, size) in EXPECTED.items():
        for found in runs:
            need(key in found and number(found[key], "calls") == calls, key, sorted(found))
        total = sum(number(found[key], "bytes") for found in runs)
        need(total == size, key, total, size)
    for found in runs:
        names = {name for name, _ in found}
        need(not any("_FN" in name or "Dup_fn" in name for name in names), names)
        need("MPI_Wtime" not in names, names)


def check_rank(file, rank, output):
    exported = json.loads(tool("export", file, "--to", "json"))
    about = exported["run"]
    need(about["program"] == "mpi_" + KIND and about["rank"] == rank, about)
    need(not exported["lost"], exported["lost"])
    found = rows(file)
    waited = int(output.split()[output.split().index("waited") + 1])
    barrier = found["MPI_Barrier", WORLD]
    need(number(barrier, "waiting_ns") >= 0.99 * waited, waited, barrier)
    calls, size = SENT[rank]
    send = found["MPI_Send", WORLD]
    need((number(send, "calls"), number(send, "bytes")) == (calls, size), send)
    need(rank == 0 or number(found["MPI_Recv", WORLD], "bytes") == 0, found)
    need(number(found["MPI_Waitall", NONE], "waiting_ns") > 0, found["MPI_Waitall", NONE])
    need(number(found["MPI_Iprobe", WORLD], "waiting_ns") == 0, found["MPI_Iprobe", WORLD])


def case_ranks(folder):
    """The tool below the launcher: a run file for each rank. The early rank waits for the late
    one."""
    program = build(folder)
    pattern = os.path.join(folder, "run-%r.stint")
    out = os.path.join(folder, "out")
    script = f'exec "{program}" >"{out}-${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}"'
    done = run(*launcher(), TOOL, "run", "--mpi", "--file", pattern, "--", "sh", "-c", script,
               program, rc=0)
    files = [os.path.join(folder, f"run-{rank}.stint") for rank in (0, 1)]
    need(all(os.path.exists(file) for file in files), os.listdir(folder), done.stderr)
    check_counts(files)
    for rank, file in enumerate(files):
        check_rank(file, rank, pathlib.Path(f"{out}-{rank}").read_text())


def case_outside(folder):
    """The tool around the launcher, which makes no call of MPI itself."""
    program = build(folder)
    pattern = os.path.join(folder, "run-%r-%p.stint")
    done = run(TOOL, "run", "--mpi", "--file", pattern, "--", *launcher(), program, rc=0)
    files = sorted(path for path in os.listdir(folder) if path.startswith("run-"))
    need([name[:5] for name in files] == ["run-0", "run-1"], files, done.stderr)
    check_counts([os.path.join(folder, name) for name in files])
    need("mpi_" + KIND in done.stderr, done.stderr)


def case_alone(folder):
    """The rank of a run without a launcher is the one that the first MPI_Comm_rank returns."""
    program = build(folder)
    file = os.path.join(folder, "run.stint")
    done = run(TOOL, "run", "--mpi", "--file", file, "--", program)
    need(done.returncode == 0 and "rank 0" in done.stdout, done.stdout, done.stderr)
    about = json.loads(tool("export", file, "--to", "json"))["run"]
    need(about.get("rank") == 0 and about["program"] == "mpi_" + KIND, about)
    found = rows(file)
    need(number(found["MPI_Comm_rank", WORLD], "calls") == 1, sorted(found))


def place(about):
    return about.get("rank"), about.get("world_size")


def case_size(folder):
    """Where the environment has the rank only, the size is that of MPI_COMM_WORLD."""
    program = build(folder)
    hidden = ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"]
    pattern = os.path.join(folder, "run-%r.stint")
    done = run(*launcher(), "env", *(f"--unset={name}" for name in hidden), TOOL, "run", "--mpi",
               "--file", pattern, "--", program, rc=0)
    files = [os.path.join(folder, f"run-{rank}.stint") for rank in (0, 1)]
    for rank, file in enumerate(files):
        about = json.loads(tool("export", file, "--to", "json"))["run"]
        need(place(about) == (rank, 2), about)
        need(f"rank {rank} of 2" in tool("report", file), tool("report", file))


def case_seen(folder):
    """The first rank that a wrapper sees is that of the run, its size too, unless a launcher told."""
    cases = [
        (("2/4",), {}, (2, 4), "rank 2 of 4"),
        (("2/4", "3/9"), {}, (2, 4), "rank 2 of 4"),
        (("2/0", "2/4"), {}, (2, 4), "rank 2 of 4"),
        (("4/4",), {}, (4, None), "rank 4"),
        (("4294967295/4",), {}, (None, None), ""),
        (("2/4",), {"STINT_RANK": "1"}, (1, 4), "rank 1 of 4"),
        (("2/4",), {"STINT_RANK": "1/3"}, (1, 3), "rank 1 of 3"),
        (("2/4",), {"STINT_RANK": "7"}, (7, None), "rank 7"),
        ((), {}, (None, None), ""),
    ]
    for seen, env, expected, header in cases:
        file = os.path.join(folder, "run.stint")
        done = run(KIND, *seen, STINT_FILE=file, rc=0, **env)
        about = json.loads(tool("export", file, "--to", "json"))["run"]
        need(place(about) == expected, seen, env, about)
        shown = tool("report", file)
        need(header in shown and (header or ", rank " not in shown), seen, shown)
    files = []
    for rank in (0, 1):
        files.append(os.path.join(folder, f"run-{rank}.stint"))
        run(KIND, f"{rank}/2", STINT_FILE=files[-1])
    merged = os.path.join(folder, "merged.stint")
    tool("merge", *files, "-o", merged)
    about = json.loads(tool("export", merged, "--to", "json"))["run"]
    need(about.get("world_size") == 2, about)
    shown = tool("report", merged, "--view", "ranks")
    need("rank 0" in shown and "rank 1" in shown, shown)


def clang():
    for name in ("clang", *(f"clang-{version}" for version in range(22, 13, -1))):
        if shutil.which(name):
            return name
    return skip("no clang")


def case_together(folder):
    """Own scopes, OpenMP and MPI in one tree."""
    build(folder)
    libraries = pathlib.Path(TOOL).resolve().parent.parent
    program = os.path.join(folder, "solver")
    done = run("mpicc." + KIND, "-O1", "-w", "-fopenmp", "-DWITH_TIMER",
               f"-I{HERE.parent.parent / 'include'}", HERE / "solver.c", "-o", program,
               f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lstint", "-lm", OMPI_CC=clang(),
               MPICH_CC=clang())
    if "omp.h' file not found" in done.stderr or "-lomp" in done.stderr:
        skip("no OpenMP of LLVM")
    need(done.returncode == 0, done.stderr)
    pattern = os.path.join(folder, "run-%r.stint")
    done = run(*launcher(), TOOL, "run", "--mpi", "--ranges=ompt", "--report", "none", "--file",
               pattern, "--", program, "3", rc=0)
    for rank in (0, 1):
        tree = json.loads(tool("export", os.path.join(folder, f"run-{rank}.stint"), "--to",
                               "json"))["tree"]
        paths = {}
        for row in tree:
            path, at = row["name"], row
            while at.get("parent") is not None:
                at = tree[at["parent"]]
                path = at["name"] + "/" + path
            paths[path] = row["calls"]
        for path in ("step/exchange/MPI_Sendrecv", "step/norm/MPI_Allreduce", "step/sweep/omp parallel",
                     "step/sweep/omp parallel/omp barrier implicit", "step/norm/omp parallel/omp for"):
            need(paths.get(path) == 3, path, paths)


def case_wrong(folder):
    """The library of another MPI: the tool refuses it, and if the tool cannot see it, the
    library."""
    program = build(folder)
    done = run(TOOL, "run", f"--mpi={OTHER}", "--", program)
    need(done.returncode == 1 and f"--mpi={OTHER}: the program uses {KIND}" in done.stderr,
         done.returncode, done.stderr)
    if "built without" in run(TOOL, "run", "--mpi=" + OTHER, "--", "true").stderr:
        skip("stint was built without " + OTHER)
    hidden = os.path.join(folder, "starter")
    pathlib.Path(hidden).write_text(f'#!/bin/sh\nexec {folder}/mpi_"{KIND}"\n')
    os.chmod(hidden, 0o755)
    done = run(TOOL, "run", f"--mpi={OTHER}", "--", hidden)
    need(done.returncode == 127 and "preloaded timers: MPI_" in done.stderr, done.returncode,
         done.stderr)
    done = run(TOOL, "run", "--mpi", "--", hidden)
    need(done.returncode == 0 and "rank 0" in done.stdout, done.stdout, done.stderr)
    need("no calls of MPI are recorded: " in done.stderr and
         "give --mpi=openmpi or --mpi=mpich" in done.stderr, done.stderr)


def case_found(folder):
    """The library for MPI is found behind a script: by the launcher around the tool, or before the
    script in the command."""
    program = build(folder)
    hidden = os.path.join(folder, "starter")
    pathlib.Path(hidden).write_text(f'#!/bin/sh\nexec "{program}"\n')
    os.chmod(hidden, 0o755)
    for name, before, after in (("in", launcher(), []), ("out", [], launcher())):
        done = run(*before, TOOL, "run", "--mpi", "--report", "none", "--file",
                   folder / (name + "-%r.stint"), "--", *after, hidden)
        need(done.returncode == 0 and "MPI are recorded" not in done.stderr, done.stderr)
        check_counts([os.path.join(folder, f"{name}-{rank}.stint") for rank in (0, 1)])


def interface(folder, which):
    """fortran_program.F90 with an interface; skips without a compiler or that interface."""
    if not shutil.which("mpifort." + KIND):
        skip("no mpifort." + KIND)
    program = os.path.join(folder, f"fortran_{which}")
    done = run("mpifort." + KIND, "-DINTERFACE=%d" % which, HERE / "fortran_program.F90", "-o",
               program)
    if done.returncode and ("Cannot open module file" in done.stderr or
                            "not found" in done.stderr):
        skip(f"mpifort.{KIND} cannot compile: {done.stderr.strip().splitlines()[-1]}")
    need(done.returncode == 0, done.stderr)
    return program


def case_fortran(folder):
    """mpif.h, `use mpi` and `use mpi_f08`: each call once, with its bytes; no others."""
    build(folder)
    for which in (1, 2, 3):
        program = interface(folder, which)
        pattern = os.path.join(folder, f"{which}-%r.stint")
        out = os.path.join(folder, f"{which}-out")
        script = f'exec "{program}" >"{out}-${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}"'
        done = run(*launcher(), TOOL, "run", "--mpi", "--report", "none", "--file", pattern, "--",
                   "sh", "-c", script, rc=0)
        for rank in (0, 1):
            first, *lines = pathlib.Path(f"{out}-{rank}").read_text().splitlines()
            need(first == f"rank {rank}", first)
            expected = {name: (int(calls), int(size))
                        for name, calls, size in (line.split() for line in lines)}
            found = {}
            for (name, _), row in rows(os.path.join(folder, f"{which}-{rank}.stint")).items():
                calls, size = found.get(name, (0, 0))
                found[name] = calls + number(row, "calls"), size + number(row, "bytes")
            need(found == expected, which, rank, found, expected)


# ---- Which rank is late, in programs that call no function of stint.

STEPS = 64


def last_share(folder, ranks, late):
    """The part of the cost of the steps in which that rank came last, by the program's own clock: a
    machine with other work delays any rank."""
    came = [[int(line) for line in pathlib.Path(folder, "came-%d" % rank).read_text().split()]
            for rank in ranks]
    costs = {rank: 0 for rank in ranks}
    for times in zip(*came):
        costs[ranks[times.index(max(times))]] += sum(max(times) - time for time in times)
    return costs[late] / max(1, sum(costs.values()))


def check_named(folder, ranks, late, found):
    """The ranks that are named, one or none, came last indeed; the late one is named unless the
    machine delayed others more."""
    for rank in found:
        need(last_share(folder, ranks, int(rank)) > 0.4, ranks, late, found)
    if late is not None and last_share(folder, ranks, late) > 0.7:
        need(found == [str(late)], ranks, late, found)


def judged(folder, program, ranks, *arguments):
    """The view `ranks` of a run."""
    pattern = os.path.join(folder, "%d-%%r.stint" % ranks)
    done = run(*launcher(ranks), TOOL, "run", "--mpi", "--report", "none", "--file", pattern, "--",
               program, *arguments, OMPI_MCA_mpi_yield_when_idle="1",
               ARRIVALS=os.path.join(folder, "came"), rc=0)
    merged = os.path.join(folder, "%d.stint" % ranks)
    tool("merge", "--keep", "ranks", *(pattern.replace("%r", str(n)) for n in range(ranks)), "-o",
         merged)
    return tool("report", "--view", "ranks", merged)


def named(text, name):
    """The ranks that are said to be the cause, for each row of the name that has one."""
    return re.findall(r"^%s\b.*: ranks? ([\d, ]+) covers? " % name, text, re.M)


def windows(text, name):
    """The ranks of each row of the name that has a window for each of its calls."""
    return re.findall(r"^%s\b.*: %d windows of 1 .*?(\d+) ranks" % (name, STEPS), text, re.M)


def case_balanced(folder):
    """No rank is named where none is late, in 2 and 3 ranks."""
    program = build(folder, source="steps_program.c")
    for ranks in (2, 3):
        text = judged(folder, program, ranks, "all")
        need(windows(text, "MPI_Allreduce") == [str(ranks)], text)
        check_named(folder, range(ranks), None, named(text, "MPI_Allreduce"))


def case_culprit(folder):
    """The late rank is named, in 2 and 3 ranks; of two groups without a name, that of each."""
    program = build(folder, source="steps_program.c")
    for ranks in (2, 3):
        text = judged(folder, program, ranks, "all", "1")
        need(windows(text, "MPI_Allreduce") == [str(ranks)], text)
        check_named(folder, range(ranks), 1, named(text, "MPI_Allreduce"))
    text = judged(folder, program, 8, "groups", "1", "6")
    need(windows(text, "MPI_Allreduce") == ["4", "4"], text)
    found = named(text, "MPI_Allreduce")
    check_named(folder, range(4), 1, [rank for rank in found if int(rank) < 4])
    check_named(folder, range(4, 8), 6, [rank for rank in found if int(rank) >= 4])


def case_rooted(folder):
    """The others wait for the root of a broadcast, and each root has its row."""
    program = build(folder, source="steps_program.c")
    text = judged(folder, program, 2, "root", "1")
    need(windows(text, "MPI_Bcast") == ["2"], text)
    found = named(text, "MPI_Bcast")  # a root that does not wait may be many steps ahead
    need(found == ["1"] or not found and last_share(folder, range(2), 1) < 0.7, text)
    need(not named(text, "MPI_Reduce"), text)
    found = rows(os.path.join(folder, "2-0.stint"))
    need(number(found["MPI_Bcast", WORLD + ", root 1"], "calls") == STEPS, sorted(found))
    need(number(found["MPI_Reduce", ROOT], "calls") == STEPS, sorted(found))


def case_names(folder):
    """Each function is shown by the name that the linker knows."""
    build(folder)
    library = pathlib.Path(TOOL).resolve().parent.parent / f"libstint-mpi-{KIND}.so"
    shown = json.loads((library.parent.parent / "stint" / f"stint_mpi_{KIND}_wrap1_mpi.json")
                       .read_text())["functions"]
    done = run("nm", "-D", "--defined-only", library, rc=0)
    symbols = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
    timed = [item for item in shown if not item["reason"]]
    need(len(timed) > 300 and {"MPI_Wait", "MPI_Test"} <= {item["name"] for item in timed})
    for item in timed:
        need(item["name"] == item["symbol"] and item["symbol"] in symbols, item)


def case_bad(folder):
    """One clear line for names and files that are none; a program without MPI runs as it is."""
    done = run(TOOL, "run", "--mpi=lam", "--", "true")
    need(done.returncode == 1 and done.stderr.count("\n") == 1 and
         "--mpi=lam: expected openmpi, mpich or the path of a library" in done.stderr, done.stderr)
    missing = os.path.join(folder, "none.so")
    done = run(TOOL, "run", "--mpi=" + missing, "--", "true")
    need(done.returncode == 1 and f"--mpi={missing}: No such file" in done.stderr, done.stderr)
    for kind in ("openmpi", "mpich"):
        done = run(TOOL, "run", "--mpi=" + kind, "--", "sh", "-c", "echo out; exit 3")
        if "built without" in done.stderr:
            continue
        need(done.returncode == 3 and done.stdout == "out\n", done.stdout, done.stderr)
        need("no call of MPI was seen" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(main(globals(), CASE))
