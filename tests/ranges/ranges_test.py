#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranges of other interfaces as scopes, as users of `stint run --ranges` see them.

    ranges_test.py TOOL LIBRARY PROGRAM CASE PLUGIN ROCTX
    ranges_test.py TOOL LIBRARY PROGRAM CASE FETCHED

PROGRAM is ranges_program.c, PLUGIN plugin.c and ROCTX roctx_program.c. The sources in programs/ are
built with the packages of Debian that they need, and libraries/fetch.sh puts others into the folder
FETCHED; where one is missing, the case is skipped.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import sys

from ranges_run import TOOL, calls, losses, main, need, rows, run, skip, tool

LIBRARY, PROGRAM = sys.argv[2:4]
HERE = pathlib.Path(__file__).resolve().parent
RUNTIME = HERE.parent.parent / "runtime"
TABLE = (HERE.parent.parent / "gen/interfaces.ini").read_text(encoding="ascii")
INTERFACES = re.findall(r"^\[(\w+)\]", TABLE, re.M)


def record(folder, *command, options=("--ranges",), file="run.stint", **env):
    """The run file, and what the program and the tool wrote."""
    file = os.path.join(folder, file)
    done = run(TOOL, "run", *options, "--file", file, "--trace", "4M", "--", *command, rc=0, **env)
    return file, done


def delivered(done):
    """The last line of `stint run --ranges`: the interfaces that were used, as numbers."""
    line = done.stderr.splitlines()[-1]
    found = re.findall(r"(\w+): (\d+|not used)", line.partition("ranges: ")[2])
    need(found, done.stderr)
    need([name for name, _ in found] == INTERFACES, done.stderr)
    return {name: int(count) for name, count in found if count != "not used"}


def case_interleave(folder):
    """Three interfaces and own scopes cross at random: each range has its own time, none is
    lost."""
    for seed in range(1, 13):
        file, done = record(folder, PROGRAM, LIBRARY, "interleave", seed, file=f"{seed}.stint")
        found = {name: row for (name, _), row in rows(file).items()}
        for line in done.stdout.splitlines():
            name, count, inside, around = line.split(",")
            count, inside, around = int(count), int(inside), int(around)
            if not count:
                need(name not in found, seed, line)
                continue
            slack = 1000 * count + around // 50
            row = found.pop(name)
            need(row["calls"] == count, seed, line, row)
            need(inside - slack <= row["total_ns"] <= around + slack, seed, line, row)
        need(not found, seed, found)
        need(not losses(file), seed, losses(file))


def case_bad(folder):
    """Handles that are none, second ends, ends on another thread: counted, and nothing else."""
    file, done = record(folder, PROGRAM, LIBRARY, "bad")
    need(calls(file) == {("task", "domain"): 1, ("a region", "domain"): 1, ("started", ""): 1,
                         ("of this thread", "domain"): 1, ("of this thread", ""): 2}, rows(file))
    need(losses(file) == {"range_full": 4, "stray_end": 8, "bad_sample": 1}, losses(file))
    need(delivered(done) == {"itt": 5, "kokkos": 3, "roctx": 3}, done.stderr)
    events = json.loads(tool("export", file, "--to", "chrome"))["traceEvents"]
    values = [list(e["args"].values())[0] for e in events if e["ph"] == "C"]
    need(values == [7], values)


def case_itt(folder):
    """Each function of ITT: intervals that overlap, numbers, marks, the switch, names of threads."""
    file, done = record(folder, PROGRAM, LIBRARY, "itt")
    need(calls(file) == {("first", "domain"): 1, ("second", "domain"): 1, ("frame", "domain"): 2,
                         ("before the pause", "domain"): 1, ("resumed", "domain"): 1}, rows(file))
    need(not losses(file), losses(file))
    events = json.loads(tool("export", file, "--to", "chrome"))["traceEvents"]
    values = [(e["name"], list(e["args"].values())[0]) for e in events if e["ph"] == "C"]
    need(values == [("real", 0.5), ("integer", -3), ("short", 65535), ("plain", 1), ("plain", 10),
                    ("plain", 9), ("plain", -3), ("typed", 0.5), ("named", 1), ("named", 5),
                    ("plain", -2), ("plain", 1)], values)
    need([e["name"] for e in events if e["ph"] == "i"] == ["a marker"], events)
    threads = json.loads(tool("export", file, "--to", "json"))["threads"]
    need([thread["name"] for thread in threads] == ["a thread with a"], threads)
    need(delivered(done)["itt"] == 7, done.stderr)


def case_threads(folder):
    """Intervals of four threads at a time, which all have different numbers: none is lost."""
    file, done = record(folder, PROGRAM, LIBRARY, "threads")
    need(calls(file) == {("overlapped", "domain"): 80000, ("for another thread", "domain"): 4},
         rows(file))
    need(not losses(file), losses(file))
    need(delivered(done)["itt"] == 80004, done.stderr)


def case_kokkos_all(folder):
    """Each function of Kokkos Tools, also those of versions after Trilinos 13.2."""
    file, done = record(folder, PROGRAM, LIBRARY, "kokkos")
    found = rows(file)
    need(calls(file) == {("for", ""): 1, ("reduce", ""): 1, ("scan", ""): 1, ("fence", ""): 1,
                         ("waiting", ""): 1, ("deep_copy", ""): 1, ("section", ""): 3,
                         ("of the same name", ""): 1}, found)
    for name in ("fence", "waiting"):
        need(found[name, ""]["waiting_ns"] == found[name, ""]["total_ns"] > 0, found[name, ""])
    need(found["for", ""].get("waiting_ns", 0) == 0, found["for", ""])
    need(found["deep_copy", ""]["bytes"] == 4096, found["deep_copy", ""])
    events = json.loads(tool("export", file, "--to", "chrome"))["traceEvents"]
    values = [(e["name"], list(e["args"].values())[0]) for e in events if e["ph"] == "C"]
    need(values == [("Host bytes", 100), ("Device bytes", 7), ("Host bytes", 300),
                    ("Host bytes", 200), ("Device bytes", 0)], values)
    need([e["name"] for e in events if e["ph"] == "i"] == ["event"], events)
    need(losses(file) == {"range_full": 2, "stray_end": 2}, losses(file))
    need(delivered(done)["kokkos"] == 12, done.stderr)


def case_names(folder):
    """200 000 strings: those without room are counted, and the first ones stay."""
    file, _ = record(folder, PROGRAM, LIBRARY, "names")
    need(calls(file) == {("a name of a kernel, number 0", "domain"): 1}, rows(file))
    lost = losses(file)
    need(list(lost) == ["range_full"] and 100000 < lost["range_full"] < 200000, lost)


def case_changed(folder):
    """A name is the one that is at its address now, in each process."""
    record(folder, PROGRAM, LIBRARY, "changed", file="run-%p.stint")
    found = [{name: n for (name, _), n in calls(file).items()} for file in pathlib.Path(folder).iterdir()]
    wanted = [{"around": 1, "one": 200, "one more": 200, "two": 200}, {"two": 200, "three": 200, "one": 200}]
    need(sorted(found, key=len, reverse=True) == wanted, found)
    need(not any(losses(file) for file in pathlib.Path(folder).iterdir()))


def case_differ(folder):
    """The same for names that differ in one byte, or end at it."""
    file, _ = record(folder, PROGRAM, LIBRARY, "differ")
    wanted = collections.Counter(around=1)
    for length, at in [(20, at) for at in range(20)] + [(23, at) for at in range(23)]:
        changed = "n" * at + "c" + "n" * (length - 1 - at)
        for name, times in ("n" * length, 2), (changed, 1), ("n" * at or "empty", 1):
            wanted[name] += 4 * times
    found = {name: n for (name, _), n in calls(file).items()}
    need(found == wanted and not losses(file), found)


def case_model(folder):
    """Ranges that start and stop at random: each is recorded or lost, and counted once, as in a plain
    account; numbers of sections are used again, and old ones refused."""
    for seed in (1, 2):
        file, done = record(folder, PROGRAM, LIBRARY, "model", seed, file=f"{seed}.stint")
        opened, recorded, refused, stray = map(int, done.stdout.split(","))
        need(sum(calls(file).values()) == recorded, seed, done.stdout, calls(file))
        need(losses(file) == {"range_full": refused, "stray_end": stray}, seed, done.stdout, losses(file))
        need(sum(delivered(done).values()) == opened, seed, done.stdout, done.stderr)


def case_handlers(folder):
    """The last line counts the ranges of signal handlers, also those that interrupt the recorder."""
    for round_ in range(4):
        file, done = record(folder, PROGRAM, LIBRARY, "handlers", file=f"{round_}.stint")
        handled, lost = int(done.stdout), losses(file)
        need(delivered(done)["itt"] == handled and delivered(done)["roctx"] == 1000, handled, done.stderr)
        need(calls(file).get(("task", "domain"), 0) + lost.pop("in_slow_path", 0) == handled, lost, handled)
        need(not lost, lost)


def case_before(folder):
    """Handles that a module has made itself, before the tool was loaded."""
    file, _ = record(folder, PROGRAM, LIBRARY, "before")
    need(calls(file) == {("string before", "made before"): 1}, rows(file))
    need(not losses(file), losses(file))


def case_fork(folder):
    """A child has its own ranges; those that were open at the fork are the parent's."""
    _, done = record(folder, PROGRAM, LIBRARY, "fork", file="run-%p.stint")
    files = sorted(pathlib.Path(folder).iterdir())
    found = sorted((sorted(calls(file).items()), losses(file)) for file in files)
    need(found == [([(("around the fork", ""), 1), (("around the fork", "domain"), 1)], {}),
                   ([(("in the child", ""), 1)], {})], found)
    need(delivered(done) == {"itt": 1, "roctx": 2}, done.stderr)


def case_unload(folder):
    """A module is unloaded with open ranges: they end, and its names are in the report."""
    file, _ = record(folder, PROGRAM, LIBRARY, "unload", sys.argv[5])
    need(calls(file) == {("task of a plugin", "domain of a plugin"): 2, ("range of a plugin", ""): 1,
                         ("region of a plugin", ""): 1, ("started by a plugin", ""): 1}, rows(file))
    need(not losses(file), losses(file))


def check_roctx(folder, program, **env):
    """Its calls return what they do without stint."""
    plain = run(program, **env)
    need(plain.stdout == "push 0 1 1 1 1 1 1 started 1 pop 0 1\n", plain.stdout, plain.stderr)
    file, done = record(folder, program, **env)
    need(done.stdout == plain.stdout, done.stdout)
    need(calls(file) == {("outer", ""): 1, ("inner", ""): 3, ("started", ""): 2}, rows(file))
    need(losses(file) == {"stray_end": 1}, losses(file))
    need(delivered(done)["roctx"] == 6, done.stderr)
    marks = [event["name"] for event in
             json.loads(tool("export", file, "--to", "chrome"))["traceEvents"] if event["ph"] == "i"]
    need(marks == ["a mark"], marks)
    done = run(TOOL, "run", "--ranges=itt", "--", program, **env)
    need(done.stdout == plain.stdout and "nothing recorded" in done.stderr, done.stderr)


def case_roctx(folder):
    """A program that is linked with a library of roctx."""
    check_roctx(folder, sys.argv[6])


def case_off(folder):
    """An interface that is not in the list is not answered, whichever way its library came."""
    file, done = record(folder, PROGRAM, LIBRARY, "before", options=("--ranges=ompt,nvtx",))
    need(done.stderr.splitlines()[-1].endswith("nothing recorded: the program has no scope of stint "
                                               "and makes no range (or no run file could be written)"),
         done.stderr)
    need(not os.path.exists(file), file)
    for bad in ("--ranges=", "--ranges=itt,", "--ranges=itt,tau", "--ranges=ITT"):
        done = run(TOOL, "run", bad, "--", "true")
        need(done.returncode == 2 and "expected a list of " + ", ".join(INTERFACES) in
             done.stderr, bad, done.stderr)


def case_variables(folder):
    """Variables that are set stay, a line each; the others lead to the library."""
    names = re.findall(r"^(?:variable|older) = (\w+)", TABLE, re.M)
    count = len(names)
    show = "echo " + " ".join(f"${name}," for name in names) + ' "$STINT_RANGES, $LD_PRELOAD"'
    done = run(TOOL, "run", "--ranges", "--", "sh", "-c", show)
    path = os.path.dirname(LIBRARY) + "/"
    found = [word.rpartition("/")[2] for word in done.stdout.strip().split(", ")]
    need(len(set(found[:count])) == 1 and found[0].startswith("libstint-ranges.so"), done.stdout)
    need(found[count:] == [",".join(INTERFACES), found[0]], done.stdout)
    need(os.path.realpath(done.stdout.split(",")[0]) == os.path.realpath(LIBRARY), path)
    for name in names:
        done = run(TOOL, "run", "--ranges", "--", "sh", "-c", show, **{name: "/other/tool.so"})
        lines = [line for line in done.stderr.splitlines() if "left as it is" in line]
        need(len(lines) == 1 and f"{name}=/other/tool.so" in lines[0], name, done.stderr)
        need(done.stdout.count("/other/tool.so") == 1, name, done.stdout)
        need(done.stdout.strip().split(", ")[count].count(",") == len(INTERFACES) - 2, name, done.stdout)
    done = run(TOOL, "run", "--ranges=itt", "--", "sh", "-c", show)
    need(done.stdout.startswith(", /") and done.stdout.count("/") == LIBRARY.count("/") + 3
         or done.stdout.count("libstint") == 1, done.stdout)
    for options, given, expected in ((["--ranges"], "itt,ompt", "itt,ompt"), (["--ranges=itt"], "ompt", "itt"),
                                     (["--ranges"], "tau", ",".join(INTERFACES))):
        done = run(TOOL, "run", *options, "--", "sh", "-c", show, STINT_RANGES=given)
        need(done.stdout.strip().split(", ")[count].rstrip(",") == expected, given, done.stdout)
        need(("STINT_RANGES=tau: expected" in done.stderr) == (given == "tau"), done.stderr)
    done = run(TOOL, "run", "--ranges", "--report", "none", "--", PROGRAM, LIBRARY, "itt")
    need(delivered(done)["itt"] == 7 and done.stderr.count("\n") == 1, done.stderr)


def case_gomp_line(folder):
    """One line about a program with OpenMP of GCC, which a library of it brings."""
    if not shutil.which("gcc"):
        skip("no gcc")
    here = pathlib.Path(folder)
    (here / "empty.c").write_text("int other;\n")
    (here / "main.c").write_text("extern int other; int main(void) { return other; }\n")
    for command in ("-shared -fPIC empty.c -o libomp.so.5", "main.c empty.c -o other",
                    "-shared -fPIC empty.c -Wl,--no-as-needed -fopenmp -o libx.so",
                    "main.c -L. -lx -Wl,-rpath,'$ORIGIN' -o program"):
        run("sh", "-c", f"cd {here} && gcc -w {command}", rc=0)
    for options, name, lines in ((["--ranges"], "program", 1), (["--ranges=itt"], "program", 0),
                                 (["--ranges"], "other", 0)):
        done = run(TOOL, "run", *options, "--", here / name)
        need(done.stderr.count("uses libgomp") == lines, name, done.stderr)
    # The program has no sanitizer, and our library that is loaded into it may have one.
    done = run(TOOL, "run", "--ranges=ompt", "--", here / "program", LD_PRELOAD=f"{here}/libomp.so.5",
               ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")
    need(done.returncode == 0 and "uses libgomp" not in done.stderr, done.stderr)


def case_none(folder):
    """A program without ranges and scopes runs as without the tool."""
    done = run(TOOL, "run", "--ranges", "--", "sh", "-c", "echo out; exit 3")
    need(done.returncode == 3 and done.stdout == "out\n", done.stdout, done.stderr)
    need("nothing recorded" in done.stderr, done.stderr)
    for options, loaded in (("--ranges", ["libstint-ranges.so", "libstint.so"]),
                            ("--ranges=nvtx,itt,ompt,kokkos", [])):
        done = run(TOOL, "run", options, "--", "cat", "/proc/self/maps")
        found = sorted(set(re.findall(r"libstint[\w-]*\.so", done.stdout)))
        need(found == loaded, options, done.stdout)


# ---- With libraries.

def build(folder, source, compiler, *options):
    """The program; skips without its compiler or headers."""
    if not shutil.which(compiler):
        skip(f"no {compiler}")
    out = os.path.join(folder, "program")
    done = run(compiler, "-O1", "-w", HERE / "programs" / source, "-o", out, *options)
    if done.returncode and re.search(r"fatal error|cannot find -l|unable to find library|"
                                     r"file not found", done.stderr):
        skip(done.stderr.splitlines()[0])
    need(done.returncode == 0, done.stderr)
    return out


def clang():
    for name in ("clang", *(f"clang-{version}" for version in range(22, 13, -1))):
        if shutil.which(name):
            return name
    return "clang"


def case_tbb(folder):
    """Bodies and tasks of a flow graph of TBB, each once."""
    program = build(folder, "tbb.cpp", "g++", "-DTBB_USE_PROFILING_TOOLS=1", "-ltbb")
    file, done = record(folder, program)
    found = calls(file)
    need(found["body", "tbb.flow"] == 1000 and found["task", "tbb.flow"] == 1000, found)
    need(delivered(done)["itt"] >= 2000 and not losses(file), done.stderr, losses(file))


def case_onednn(folder):
    """A task for each execution and thread that took part."""
    program = build(folder, "onednn.cpp", "g++", "-ldnnl")
    file, done = record(folder, program, ONEDNN_VERBOSE="1", OMP_NUM_THREADS="2")
    executed = done.stdout.count(",exec,cpu,matmul")
    need(executed == 20, done.stdout)
    row = rows(file)["matmul", "dnnl::primitive::execute"]
    need(row["calls"] == executed * row["threads"] and row["threads"] in (1, 2), row)
    need(not losses(file), losses(file))
    need(("uses libgomp" in done.stderr) == ("libgomp" in run("ldd", program).stdout), done.stderr)


def check_openmp(file, done):
    """The waiting of the thread that arrives first is what the program's own clock says, and none
    of the second of serial time is in it."""
    waited, most = map(int, done.stdout.split())
    found = rows(file)
    barrier = found["omp barrier implicit", ""]
    need(found["omp parallel", ""]["calls"] == 42, found)
    need(barrier["calls"] >= 42, found)
    need(0.95 * waited < barrier["waiting_ns"] < 1.05 * most, waited, most, barrier)
    need(found["omp task", ""]["calls"] == 10 and found["omp critical", ""]["calls"] == 10, found)
    need(not losses(file), losses(file))
    need(delivered(done)["ompt"] >= 42 + 42 + 20, done.stderr)
    tree = json.loads(tool("export", file, "--to", "json"))["tree"]
    names = [row["name"] for row in tree]
    above = {names[row["parent"]] for row in tree if row["name"] == "omp task"}
    need(above == {"omp single"}, above)


def case_without_tool(folder):
    """The variables of docs/ranges.md, and those of stint; the column `waiting` in the report."""
    program = build(folder, "openmp_more.c", clang(), "-fopenmp")
    done = run(program, 2, OMP_TOOL_LIBRARIES=LIBRARY, STINT_REPORT="tree")
    lines = done.stderr.splitlines()
    title = next((line.split() for line in lines if line.startswith("name ")), [])
    need(done.returncode == 0 and "waiting" in title, done.returncode, done.stderr)
    need(title[title.index("waiting") - 1] == "self", title)
    need(any("omp barrier implicit" in line for line in lines), done.stderr)
    file = os.path.join(folder, "run.stint")
    done = run(program, 2, OMP_TOOL_LIBRARIES=LIBRARY, STINT_FILE=file)
    need(calls(file)["omp parallel", ""] == 2 * CONSTRUCTS["omp parallel"], rows(file))
    row = rows(file)["omp barrier implicit", ""]
    need(row["waiting_ns"] >= row["self_ns"] > 0, row)


def case_openmp(folder):
    """OpenMP of LLVM: regions, barriers as waiting, tasks below their creator."""
    program = build(folder, "openmp.c", clang(), "-fopenmp")
    check_openmp(*record(folder, program))


def fetched(path):
    """A file of the folder that libraries/fetch.sh fills."""
    file = pathlib.Path(sys.argv[5]) / path
    if not file.exists():
        skip(f"no {file}; tests/ranges/libraries/fetch.sh fetches it")
    return file


def openmp_19():
    """A later OpenMP of LLVM, which has more kinds of barriers, loops and locks."""
    return fetched("libomp-19/usr/lib/llvm-19/lib/libomp.so.5")


def case_openmp_19(folder):
    """The same with LLVM 19."""
    library = openmp_19()
    program = build(folder, "openmp.c", clang(), "-fopenmp")
    check_openmp(*record(folder, program, LD_LIBRARY_PATH=str(library.parent)))


# Scopes of a round of programs/openmp_more.c.
CONSTRUCTS = {
    "omp parallel": 24, "omp barrier implicit": 34, "omp barrier": 4, "omp for": 12,
    "omp sections": 2, "omp single": 3, "omp single of another thread": 3, "omp masked": 2,
    "omp critical": 2, "omp critical wait": 2, "omp ordered wait": 4,
    "omp distribute": 2, "omp taskloop": 1, "omp taskgroup": 3, "omp taskwait": 9,
    "omp task": 73,
}


def check_constructs(file, rounds, lock_waits):
    found = {name: count for (name, _), count in calls(file).items()}
    # How often an untied task goes on after a wait is the runtime's choice.
    found.pop("omp task continued", None)
    need(found.pop("omp lock wait") in [count * rounds for count in lock_waits], found)
    expected = {name: count * rounds for name, count in CONSTRUCTS.items()}
    need(found == expected, {name: (count, expected.get(name)) for name, count in found.items()
                             if count != expected.get(name)}, expected.keys() - found.keys())
    need(not losses(file), losses(file))


def check_cancelled(folder, program, **env):
    """Tasks and regions that are cancelled leave nothing open, and give their places back."""
    rounds = 4000  # some 50 000 tasks are cancelled: more than there are places for
    file, _ = record(folder, program, rounds, "cancelled", OMP_CANCELLATION="true",
                     KMP_BLOCKTIME="0", **env)
    found = {name: count for (name, _), count in calls(file).items()}
    need(found["omp parallel"] == 4 * rounds, found)
    need(found["omp masked"] == found["omp taskgroup"] == rounds, found)
    need(0 < found["omp task"] <= 20 * rounds, found)
    need(not losses(file), losses(file))


def case_constructs(folder):
    """Each construct is counted once; locks that are asked for in vain leave nothing open."""
    program = build(folder, "openmp_more.c", clang(), "-fopenmp")
    file, _ = record(folder, program, 20)
    # The library before LLVM 15 says that omp_test_lock waited, if it got the lock.
    check_constructs(file, 20, (6, 7))
    check_cancelled(folder, program)


def case_constructs_19(folder):
    """The same with LLVM 19."""
    library = openmp_19()
    program = build(folder, "openmp_more.c", clang(), "-fopenmp")
    file, _ = record(folder, program, 20, LD_LIBRARY_PATH=str(library.parent))
    check_constructs(file, 20, (6,))
    check_cancelled(folder, program, LD_LIBRARY_PATH=str(library.parent))


def openmp_both():
    """Environments for the OpenMP of the machine, and for LLVM 19 if it was fetched."""
    later = pathlib.Path(sys.argv[5]) / "libomp-19/usr/lib/llvm-19/lib"
    return [{}] + ([{"LD_LIBRARY_PATH": str(later)}] if later.exists() else [])


def case_full(folder):
    """40 000 tasks that wait: those without a place are where they run, and counted."""
    program = build(folder, "openmp_full.c", clang(), "-fopenmp")
    for env in openmp_both():
        file, done = record(folder, program, KMP_ENABLE_TASK_THROTTLING="0", **env)
        need(done.stdout == "40100\n", done.stdout)
        need(calls(file)["omp task", ""] == 40100, rows(file))
        need(losses(file) == {"range_full": 40000 - 16384}, losses(file))


def case_late(folder):
    """Regions after the exit report are in the run file, and nothing crashes."""
    late, middle = (os.path.join(folder, name) for name in ("liblate.so", "libmiddle.so"))
    shared = ("-shared", "-fPIC")
    os.rename(build(folder, "openmp_late.c", clang(), "-fopenmp", "-DLATE", *shared), late)
    os.rename(build(folder, "openmp_late.c", clang(), "-DMIDDLE", *shared, late), middle)
    program = build(folder, "openmp_late.c", clang(), middle, f"-Wl,-rpath-link,{folder}")
    for env in openmp_both():
        file, done = record(folder, program, **env)
        need(done.stdout == "202\n", done.stdout)
        need(calls(file)["omp parallel", ""] == 202 and not losses(file), rows(file), losses(file))
        done = run(TOOL, "run", "--ranges", "--", program, **env)
        need(done.returncode == 0 and done.stdout.startswith("202\n"), done.stdout, done.stderr)
        need(delivered(done)["ompt"] == 808, done.stderr)


def case_second_tool(folder):
    """A program that is an OMPT tool itself gets the calls, and stint none."""
    program = build(folder, "openmp_tool.c", clang(), "-fopenmp", "-rdynamic")
    for env in openmp_both():
        _, done = record(folder, program, **env)
        need(done.stdout.startswith("5\n") and "ompt" not in delivered(done), done.stdout, done.stderr)


def check_openmp_gcc(folder, library):
    program = build(folder, "openmp.c", "gcc", "-fopenmp")
    done = run(TOOL, "run", "--ranges", "--", program)
    need(done.stderr.count("uses libgomp") == 1, done.stderr)
    check_openmp(*record(folder, program, LD_PRELOAD=str(library)))


def case_openmp_gcc(folder):
    """A program of gcc -fopenmp, with LLVM's library preloaded."""
    library = next(iter(sorted(pathlib.Path("/usr/lib").glob("llvm-*/lib/libomp.so.5"))), None)
    if not library:
        skip("no libomp.so.5")
    check_openmp_gcc(folder, library)


def case_openmp_gcc_19(folder):
    """The same with LLVM 19."""
    check_openmp_gcc(folder, openmp_19())


def case_roctx_real(folder):
    """AMD's library and header."""
    library = fetched("roctx/usr/lib/x86_64-linux-gnu/libroctx64.so.4")
    program = build(folder, "../roctx_program.c", "gcc", "-include",
                    fetched("roctx-dev/usr/include/roctracer/roctx.h"), library)
    check_roctx(folder, program, LD_LIBRARY_PATH=str(library.parent))


def case_kokkos(folder):
    """Kernels, regions and copies of Trilinos' Kokkos."""
    include = next(iter(pathlib.Path("/usr/include").glob("trilinos/Kokkos_Core.hpp")), None)
    if not include:
        skip("no Kokkos_Core.hpp in /usr/include/trilinos")
    mpi = [f"-I{path}" for path in pathlib.Path("/usr/lib").glob("*/openmpi/include")]
    program = build(folder, "kokkos.cpp", "g++", "-fopenmp", f"-I{include.parent}", *mpi,
                    "-ltrilinos_kokkoscore")
    file, done = record(folder, program)
    found = rows(file)
    expected = {"region": 1, "fill": 10, "sum": 1, "scan": 1, "deep_copy": 1, "section": 2}
    need({name: found[name, ""]["calls"] for name in expected} == expected, found)
    need(found["deep_copy", ""]["bytes"] == 8000, found["deep_copy", ""])
    events = json.loads(tool("export", file, "--to", "chrome"))["traceEvents"]
    host = [list(e["args"].values())[0] for e in events
            if e["ph"] == "C" and e["name"] == "Host bytes"]
    need(max(host) >= 16000 and host[-1] == 0, host)
    need(delivered(done)["kokkos"] >= sum(expected.values()), done.stderr)
    need(not losses(file), losses(file))


def case_layout(folder):
    """ompt.h has the same layout as omp-tools.h."""
    compiler = clang()
    if not shutil.which(compiler):
        skip("no clang")
    done = run(compiler, "-fopenmp", f"-I{RUNTIME}", "-c", HERE / "layout.c", "-o",
               os.path.join(folder, "layout.o"))
    if "omp-tools.h' file not found" in done.stderr:
        skip("no omp-tools.h")
    need(done.returncode == 0, done.stderr)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[4]))
