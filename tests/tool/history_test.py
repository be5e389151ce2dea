#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stint export --to history as its users run it, on made series of runs.

    history_test.py TOOL PROGRAM GPU_PROGRAM CASE

PROGRAM is history_program.c: its scopes take what its arguments say, on a clock that only it
advances. The start of each run is set in its header. The case otava gives the files to Apache Otava
0.8.0 from PyPI (tests/pypi.sh); UPDATE=1 writes the expected files of the case golden.
"""
import csv
import gzip
import json
import os
import random
import re
import sys

from cases import ROOT, SKIPPED, header_fields, main, need, run, used_bytes, with_field

TOOL, PROGRAM, GPU_PROGRAM = sys.argv[1:4]
GOLDEN = ROOT / "tests" / "tool" / "golden" / "history"
DAY_NS = 24 * 3600 * 10**9
FIRST_NS = 1767236400 * 10**9  # 2026-01-01 03:00
HEADER = header_fields()


def export(*arguments, rc=0):
    """The lines of messages."""
    done = run(TOOL, "export", "--to", "history", *arguments, rc=rc)
    need(not done.stdout, arguments, done)
    return done.stderr.splitlines()


def start_at(file, when_ns):
    """Another time of day in the header, in all its stamps."""
    with file.open("r+b") as run_file:
        run_file.seek(HEADER["start"][0] + 16)
        run_file.write(when_ns.to_bytes(8, "little"))


def record(folder, name, day, *times, label=None, program=PROGRAM):
    """A run of these scopes, each with its nanoseconds, on that day."""
    folder.mkdir(exist_ok=True)
    file = folder / (name + ".stint")
    more = {"STINT_LABEL": label} if label else {}
    run(program, *times, STINT_FILE=file, **more)
    file.write_bytes(used_bytes(file))
    start_at(file, FIRST_NS + int(day * DAY_NS))
    return file


def rows(file):
    with file.open(newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def case_golden(folder):
    """The files of a small folder, whatever the order of its files."""
    runs = folder / "runs"
    record(runs, "c", 2, "solve", 150, "solve", 250, "read", 7, label="third")
    record(runs, "z", 0, "solve", 100, "read", 5, "read", 6, label="=first, \"quoted\"")
    record(runs, "b", 1, "solve", 120)  # without a label, and without the scope read
    record(runs, "a", 2 + 1e-6, "solve", 130, "read", 9, label="of the same second")
    out = folder / "out"
    need(not export(runs, "-o", out), "no messages")
    if os.environ.get("UPDATE"):
        GOLDEN.mkdir(exist_ok=True)
        for path in out.iterdir():
            (GOLDEN / path.name).write_bytes(path.read_bytes())
    need(names(out) == names(GOLDEN), names(out))
    for path in out.iterdir():
        need(path.read_bytes() == (GOLDEN / path.name).read_bytes(), path.name, path.read_text())
    export(*sorted(runs.iterdir(), reverse=True), "-o", folder / "again")
    for path in out.iterdir():
        need(path.read_bytes() == (folder / "again" / path.name).read_bytes(), path.name)
    need(all(cell for path in out.glob("*.csv") for row in rows(path) for cell in row.values()),
         "an empty cell, which Otava cannot read")


def case_names(folder):
    """A file per scope, whatever its name is, and the same one in each export."""
    scopes = ["solve", "a/b", "a b", "a_b", "a\\b", "a%2Fb", "../up", ".hidden", "-option", "@all",
              "line\nbreak", "quote\"'", "\u00e9", "x" * 900 + "1", "x" * 900 + "2", "/" * 900,
              "CON:*?", "tab\t", "~", "~" + "0" * 32]
    first = record(folder / "runs", "1", 0, *(w for name in scopes for w in (name, 1)))
    export(first, "-o", folder / "all")
    files = [name for name in names(folder / "all") if name != "otava.yaml"]
    need(len(files) == len(scopes), files)
    need(all(re.fullmatch(r"[A-Za-z0-9_%@~+][A-Za-z0-9_.%@~+-]*\.csv", name) and len(name) <= 205
             for name in files), files)
    text = (folder / "all" / "otava.yaml").read_text()
    need(re.findall(r'(?m)^    file: "(.*)"$', text) == files, text)
    need([name + ".csv" for name in re.findall(r'(?m)^  "(.*)":\n    inherit', text)] == files, text)
    need([name + ".csv" for name in re.findall(r'(?m)^    - "(.*)"$', text)] == files, text)
    for i, name in enumerate(scopes):
        alone = record(folder / "alone", str(i), i, name, 1)
        out = folder / ("out%d" % i)
        export(alone, "-o", out)
        made = set(names(out)) - {"otava.yaml"}
        need(len(made) == 1 and made <= set(files), name, made)
        files.remove(made.pop())


def case_left_out(folder):
    """A file that is no whole run is named in one line and left out."""
    runs, out = folder / "runs", folder / "out"
    good = [record(runs, "run%d" % day, day, "solve", 100 + day) for day in range(3)]
    data = used_bytes(good[0])
    killed = with_field(data, (HEADER["start"][0] + 16, 8), FIRST_NS + 9 * DAY_NS)
    for at in (0, 8, 16):
        killed = with_field(killed, (HEADER["end"][0] + at, 8), 0)
    (runs / "killed.stint").write_bytes(killed)
    (runs / "cut.stint").write_bytes(data[:-128])
    (runs / "text.stint").write_text("no run")
    (runs / "empty.stint").touch()
    (runs / "xcopy.stint").write_bytes(data)
    (runs / "notes.txt").write_text("not mentioned")
    merged = folder / "merged.stint"
    run(TOOL, "merge", runs / "killed.stint", good[1], "-o", merged)
    lines = export(runs, merged, folder / "absent.stint", "-o", out, rc=2)
    for name, why in (("killed.stint", "its program has not ended, or was killed; left out"),
                      ("cut.stint", ""), ("text.stint", "not a run file"), ("empty.stint", ""),
                      ("xcopy.stint", "the same run as %s; left out" % good[0]),
                      ("merged.stint", "its program has not ended"), ("absent.stint", "No such file")):
        need(sum("/%s: " % name in line and why in line for line in lines) == 1, name, why, lines)
    need(len(lines) == 7, lines)
    need([row["p50_ns"] for row in rows(out / "solve.csv")] == ["100", "101", "102"])
    none = folder / "none"
    for inputs in ([runs / "killed.stint"], [folder / "out"]):
        lines = export(*inputs, "-o", none, rc=2)
        need("nothing was written" in lines[-1] and not none.exists(), lines)


def case_bounds(folder):
    """A scope of which a file of before has a lower bound alone has no row of that run."""
    old = folder / "old.stint"
    old.write_bytes(gzip.decompress((ROOT / "tests" / "tool" / "runs" / "1.0-sampled.stint.gz").read_bytes()))
    export(old, "-o", folder / "out")
    need(names(folder / "out") == ["every%20group.csv", "few%20calls.csv", "otava.yaml"], names(folder / "out"))


def case_merged(folder):
    """A merged run is a row, with the calls of its processes, at the time of the first."""
    runs = folder / "runs"
    record(runs, "one", 0, "solve", 100)
    ranks = [record(folder, "r%d" % i, 1 + i / 1000, "solve", 100 + i) for i in range(3)]
    run(TOOL, "merge", *ranks, "-o", runs / "a.stint")
    export(runs, "-o", folder / "out")
    found = [(row["time"][:19], row["calls"], row["total_ns"]) for row in rows(folder / "out" / "solve.csv")]
    need(found == [("2026-01-01T03:00:00", "1", "100"), ("2026-01-02T03:00:00", "3", "303")], found)


def case_gpu(folder):
    """Times on the GPU are a series of their own, of the runs that have them."""
    for day in range(3):
        record(folder / "runs", str(day), day, "gpu", 100 + day, program=GPU_PROGRAM)
    record(folder / "runs", "3", 3, "kernel", 7)
    out = folder / "out"
    export(folder / "runs", "-o", out, rc=0)
    gpu = rows(out / "kernel+gpu.csv")
    need([row["total_ns"] for row in gpu] == ["400", "404", "408"] and "self_ns" not in gpu[0], gpu)
    need(len(rows(out / "kernel.csv")) == 4, "those of the CPU")
    need('"kernel+gpu":\n    inherit: [times]\n' in (out / "otava.yaml").read_text())


def case_machines(folder):
    """Runs of another machine or program are rows like others, and one line says so."""
    first = record(folder, "a", 0, "solve", 100)
    other = record(folder, "b", 1, "solve", 200)
    data = other.read_bytes()
    need(data.count(b"Test CPU") == 1)
    other.write_bytes(data.replace(b"Test CPU", b"Best CPU"))
    lines = export(first, other, "-o", folder / "out")
    need(len(lines) == 1 and "1 of 2 runs are not of the machine of the first, 2 x Test CPU" in lines[0],
         lines)
    need([row["machine"] for row in rows(folder / "out" / "solve.csv")] == ["2 x Test CPU", "2 x Best CPU"])
    other.write_bytes(data.replace(b"testprog", b"bestprog"))
    lines = export(first, other, "-o", folder / "out")
    need(len(lines) == 1 and "1 of 2 runs are not of the program of the first, testprog" in lines[0],
         lines)


def case_folder(folder):
    """The folder may exist; only the export's own files in it are replaced."""
    one, out = record(folder, "one", 0, "solve", 100), folder / "out"
    for wrong in ([one], [one, "-o", "-"]):
        need("export: --to history writes several files: give their folder, -o DIR" in export(*wrong, rc=2)[0])
    need("--table is for --to csv" in export(one, "-o", out, "--table", "kernels", rc=2)[0])
    need("--follow is for" in export(one, "-o", out, "--follow", "1", rc=2)[0])
    need("a run file is missing" in export("-o", out, rc=2)[0])
    out.mkdir()
    (out / "solve.csv").write_text("before")
    (out / "gone.csv").write_text("kept")
    export(one, "-o", out)
    need(names(out) == ["gone.csv", "otava.yaml", "solve.csv"] and len(rows(out / "solve.csv")) == 1)
    need((out / "gone.csv").read_text() == "kept" and "gone" not in (out / "otava.yaml").read_text())
    lines = export(one, "-o", one, rc=1)
    need(lines == ["stint: cannot write into %s: it exists and is not a folder" % one], lines)
    lines = export(one, "-o", folder / "no" / "out", rc=1)
    need("No such file or directory" in lines[0] and len(lines) == 1, lines)
    (folder / "blocked" / "solve.csv").mkdir(parents=True)
    lines = export(one, "-o", folder / "blocked", rc=1)
    need(len(lines) == 1 and "solve.csv: " in lines[0] and names(folder / "blocked") == ["solve.csv"], lines)


def case_speed(folder):
    """1 000 runs of 200 scopes take seconds of the processor, not minutes."""
    first = record(folder, "first", 0, *(w for i in range(200) for w in ("scope %d" % i, i + 1)))
    data = first.read_bytes()
    runs = folder / "runs"
    runs.mkdir()
    for day in range(1000):
        file = runs / ("run%d.stint" % day)
        file.write_bytes(data)
        start_at(file, FIRST_NS + day * DAY_NS)
    before = os.times()
    export(runs, "-o", folder / "out")
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    print("%.1f s of the processor" % used)
    need(len(names(folder / "out")) == 201 and len(rows(folder / "out" / "scope%207.csv")) == 1000)
    need(used <= 60, "the goal is 5 s; sanitizers take longer", used)


# ---- Apache Otava.

RUNS = 40
STEP = 25  # the first run with the step, counted from 1
BIMODAL = 60


def record_series(folder):
    """40 nights: a scope that takes 2 % longer from one run on, and 60 scopes without a change,
    each of which is 8 % slower in three runs of ten, as the layout of memory decides."""
    source = random.Random(5)  # random() alone: it is the same in all versions of Python
    for day in range(RUNS):
        step = 1.02 if day + 1 >= STEP else 1
        times = ["solve", int(1e6 * step * (0.995 + 0.01 * source.random()))]
        for i in range(BIMODAL):
            slow = 1.08 if source.random() < 0.3 else 1
            times += ["bimodal %d" % i, int(1e6 * slow * (0.997 + 0.006 * source.random()))]
        record(folder, "run%02d" % day, day, *times, label="commit-%d" % (day + 1))


def case_otava(folder):
    """Otava finds the step at its run, and next to nothing in series without a change."""
    pypi = ["sh", ROOT / "tests" / "pypi.sh"]
    got = run(*pypi, "otava", rc=None)
    if got.returncode == SKIPPED:
        print("skipped: no Apache Otava: " + got.stderr.strip())
        return SKIPPED
    need(got.returncode == 0, got)
    packages = run(*pypi, "--where", "otava").stdout.strip()
    record_series(folder / "runs")
    out = folder / "out"
    need(not export(folder / "runs", "-o", out), "no messages")

    def otava(*arguments):
        # Without --since it reads the last year only. HOME: no configuration of the user's.
        done = run(sys.executable, "-m", "otava.main", "analyze", "--config-file", "otava.yaml", "--since",
                   "2026-01-01", *arguments, cwd=out, PYTHONPATH=packages, HOME=folder, OTAVA_CONFIG="")
        need("ERROR" not in done.stderr, done)
        return done.stdout

    found = {}
    for line in otava("@all", "--output", "json").splitlines():
        found.update(json.loads(line))
    need(len(found) == 1 + BIMODAL, sorted(found))
    step = found.pop("solve")
    need([point["attributes"]["label"] for point in step] == ["commit-%d" % STEP], step)
    changes = {change["metric"]: change for change in step[0]["changes"]}
    need(set(changes) == {"p50_ns", "p99_ns", "total_ns", "self_ns"}, changes)
    need(all(1.8 < float(c["mean_after"]) / float(c["mean_before"]) * 100 - 100 < 2.2
             for c in changes.values()), changes)
    reported = sorted(name for name, points in found.items() if points)
    print("reported of %d bimodal series without a change: %s" % (BIMODAL, reported))
    need(len(reported) <= 2 and not found["bimodal%200"], reported)
    page = (ROOT / "docs" / "trend.md").read_text()
    said = otava("solve", "--output", "regressions_only")
    need(re.sub(r"\s+", " ", said.strip()) in re.sub(r"\s+", " ", page), "docs/trend.md shows another text than", said)
    return 0


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[4]))
