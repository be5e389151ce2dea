#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes of a parallel job, with the environment that launchers make.

    ranks_test.py TOOL PROGRAM FAKE CASE

PROGRAM is tool_program.c, FAKE the same on a clock that the test moves.
"""
import json
import random
import re
import statistics
import sys

from cases import main, need, run
from check_export import check_json
from rank_files import ROLE_WAITING, RankFile, Scope, Windows, cells, windows_of

TOOL, PROGRAM, FAKE = sys.argv[1:4]

OPEN_MPI = {"OMPI_COMM_WORLD_RANK": 3, "OMPI_COMM_WORLD_SIZE": 64, "OMPI_COMM_WORLD_LOCAL_RANK": 1,
            "PMIX_NAMESPACE": "prte-7@1"}
PLACE = "rank 3 of 64, local rank 1, job prte-7@1, host "


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

def ranks_view(folder, work, calls=10, more=(), latency=1000, windows=True, solve=True, **options):
    """Ranks that work so many nanoseconds in each of `calls` steps, in scopes if `solve`, and then
    wait for the last of them: what `stint report --view ranks` says, times in ns."""
    last = max(work)
    files = []
    for rank, ns in enumerate(work):
        wait = [last - ns + latency] * (calls[rank] if isinstance(calls, list) else calls)
        step = Scope("step", [last + latency] * len(wait), inside=[
            Scope("solve", [ns] * len(wait)), Scope("barrier", wait, ROLE_WAITING)])
        wall = sum(step.calls)
        if not solve:
            step = Scope("barrier", wait, ROLE_WAITING)
        file = RankFile([step] + list(more), rank=rank, size=len(work), host="node%d" % (rank // 2),
                        pid=100 + rank, later=rank, wall=wall, steps=len(wait),
                        windows=[Windows("barrier", [(ns, 1) for ns in wait])] if windows else [],
                        **options)
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
    text = ranks_view(folder, [1000000, 1000000, 5000000, 1000000], solve=False)
    cause = text[text.index("barrier: rank 2 covers"):].split("\n")
    need(cause[2].split() == ["outside", "scopes", "50000000", "40000000"] and not cause[3], cause)
    row, = exported_ranks(folder)["waiting"]
    need(row["longer_in"] == [{"name": "outside scopes", "set": "", "self_ns": 50000000,
                               "by_ns": 40000000}], row)


def case_late_several(folder):
    """Two late ranks of four are both named, three are not. A third of the lateness is a rank's own:
    named."""
    text = ranks_view(folder, [1000, 1000, 5001000, 5000000])
    row = cells(text, "waiting", "barrier")
    need(row["last"] == "rank 2" and row["n-1->n"] == "1000" and
         row["1->n"] == "5000000", row)
    need("\nbarrier: ranks 2, 3 cover 100.0 % of the cost\n" in text, text)
    cause = text[text.index("barrier: rank"):].split("\n")
    need(cause[2].split() == ["solve", "50005000", "49995000"], cause)
    text = ranks_view(folder, [1000, 5002000, 5001000, 5000000])
    need("barrier: no cause is named, the ranks that are late cover less than 80 % of the cost "
         "(ranks 1, 2: 0.1 %)\n" in text and "longer than" not in text, text)
    text = ranks_view(folder, [0, 100000, 200000, 1000000])
    row = cells(text, "waiting", "barrier")
    need((row["1->n"], row["2->n"], row["n-1->n"]) == ("1000000", "900000", "800000"), row)
    need(row["cost"] == "27000000" and row["alone %"] == "88.9", row)
    need("barrier: rank 3 covers 88.9 % of the cost\n" in text, text)


def case_late_nobody(folder):
    """Nothing is named where all come together, where ranks call it differently often, without
    windows, and below 1 % of the wall time."""
    text = ranks_view(folder, [1000] * 4)
    need(cells(text, "waiting", "barrier")["cost"] == "0" and "cause" not in text, text)
    need("covers" not in text, text)
    for work, options, line in (([10**6, 10**6, 3 * 10**6, 10**6], {"windows": False},
                                 "there are no windows of steps or calls to tell it from chance"),
                                ([10**6, 10**6, 1009000, 10**6], {},
                                 "the cost is below 1 % of the wall time")):
        text = ranks_view(folder, work, **options)
        need("\nbarrier: no cause is named, %s\n" % line in text, text)
        need(cells(text, "waiting", "barrier")["last"] == "rank 2", text)
    text = ranks_view(folder, [10**6, 10**6, 1020000, 10**6])
    need("\nbarrier: rank 2 covers 100.0 % of the cost\n" in text, text)
    text = ranks_view(folder, [1000, 9000, 1000, 1000], calls=[10, 9, 10, 10], windows=False)
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
    """A rank without a name has 0 of it; names can be chosen; one process has no ranks."""
    text = ranks_view(folder, [1000, 1000], more=[Scope("all", [5, 6])])
    need(cells(text, "name", "all")["ranks"] == "2", text)
    only = RankFile([Scope("alone", [7] * 3)], rank=2, size=3, pid=9).write(folder / "only.stint")
    run(TOOL, "merge", folder / "all.stint", only, "-o", folder / "more.stint")
    text = run(TOOL, "report", "-v", "ranks", "-u", "ns", folder / "more.stint").stdout
    row = cells(text, "name", "alone")
    need([row[key] for key in ("ranks", "lost", "% imbalance", "longest", "min", "mean")] ==
         ["1", "42", "100.0", "rank 2", "0", "7"], row)
    need(cells(text, "name", "barrier")["min"] == "10000", text)
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


# ---- Windows of steps.

def step_files(folder, waits, **options):
    """A file of each rank, which waits so many nanoseconds in each step, once a step or as often
    as a pair says."""
    for rank, steps in enumerate(waits):
        steps = [step if isinstance(step, tuple) else (step, 1) for step in steps]
        calls = [ns // max(count, 1) for ns, count in steps for _ in range(count)]
        barrier = Scope("barrier", calls, ROLE_WAITING)
        RankFile([barrier], rank=rank, size=len(waits), host="node%d" % (rank // 2),
                 pid=100 + rank, later=rank, steps=len(steps), wall=1000 * len(steps),
                 windows=[Windows("barrier", steps, **options)]
                 ).write(folder / ("s%d.stint" % rank))


def windows_view(folder, *files, keep="ranks"):
    """The lines of the view about the windows of barrier; "" = none."""
    run(TOOL, "merge", *(files or (folder,)), "-o", folder / "all.stint", "--keep", keep)
    text = run(TOOL, "report", "-v", "ranks", "-u", "ns", folder / "all.stint").stdout
    found = re.search(r"\n(barrier: \d+ windows? of .*?\n\n.*?)\n\n", text, re.DOTALL)
    return found.group(1) if found else ""


def tables(text):
    """The heading, the rows of how often each rank was last, and those of the run."""
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("    steps "))
    last = [re.split(r"  +", line.strip()) for line in lines[2:at - 1]]
    return lines[0], last, [re.split(r"  +", line.strip()) for line in lines[at + 1:]]


def model_window(waits):
    """(cost, last rank, its wait, % alone) of the totals by rank."""
    order = sorted(range(len(waits)), key=lambda rank: waits[rank])
    low, second = waits[order[0]], waits[order[1]]
    cost = sum(waits) - low * len(waits)
    return cost, order[0], low, 100 * (second - low) * (len(waits) - 1) / cost if cost else 0


def model_last(windows):
    """For each rank that was last: windows, cost, windows in which it was alone."""
    found = {}
    for waits in windows:
        cost, last, _, alone = model_window(waits)
        if cost:
            count, total, only = found.get(last, (0, 0, 0))
            found[last] = (count + 1, total + cost, only + (alone >= 80))
    return found


def check_windows(folder, waits):
    """Random or other waits by rank and step against the model."""
    step_files(folder, waits)
    heading, last, lines = tables(windows_view(folder))
    width = 1
    while width * 256 < len(waits[0]):
        width *= 2
    sums = [[ns for ns, in windows_of([(s,) for s in rank], width)] for rank in waits]
    need(heading == "barrier: %d window%s of %d step%s, %d ranks" % (
        len(sums[0]), "s"[:len(sums[0]) > 1], width, "s"[:width > 1], len(waits)), heading)
    model = model_last(zip(*sums))
    ordered = sorted(model, key=lambda rank: (-model[rank][1], -model[rank][0], rank))
    for row, rank in zip(last, ordered[:5]):
        count, cost, alone = model[rank]
        share = 100 * count / sum(m[0] for m in model.values())
        need(row[:3] == ["rank %d" % rank, "node%d" % (rank // 2), str(count)], row, rank)
        need(row[4:] == [str(cost), str(alone) if len(waits) > 2 else "-"], row, model[rank])
        need(abs(float(row[3]) - share) < 0.06, row, share)
    need(len(ordered) <= 5 or last[5] == ["(%d more)" % (len(ordered) - 5)], last)
    each = 1
    while 16 * each < len(sums[0]):
        each *= 2
    need(len(lines) == -(-len(sums[0]) // each), lines)
    for i, row in enumerate(lines):
        check_line(row, list(zip(*sums))[i * each:(i + 1) * each])
        end = min((i + 1) * each * width, len(waits[0])) - 1
        need(row[0] == "%d-%d" % (i * each * width, end), row)
    need(sum(int(row[1]) for row in lines) == sum(m[1] for m in model.values()), lines, model)


def check_line(row, windows):
    """A line has the costs of its windows, and the rank that they cost the most with."""
    model = model_last(windows)
    rank = min(model, key=lambda rank: (-model[rank][1], -model[rank][0], rank))
    cost = sum(m[1] for m in model.values())
    alone = sum(model_window(w)[0] * model_window(w)[3] for w in windows
                if model_window(w)[1] == rank) / cost
    need(row[1:4] == [str(cost), "rank %d" % rank, "node%d" % (rank // 2)], row, windows)
    need(abs(float(row[4]) - 100 * model[rank][1] / cost) < 0.051, row, model)
    need(row[5] == "-" if len(windows[0]) == 2 else abs(float(row[5]) - alone) < 0.051, row, alone)


def case_windows(folder):
    """One rank is late in the first half, another one in the second: each is named there, and both
    in the whole run. Two that take turns are not added up to one."""
    waits = [[900] * 200 for _ in range(4)]
    waits[2][:100], waits[3][100:] = [100] * 100, [100] * 100
    check_windows(folder, waits)
    _, last, lines = tables(windows_view(folder))
    need([row[:3] for row in last] == [["rank 2", "node1", "100"], ["rank 3", "node1", "100"]], last)
    need(lines[0][5] == lines[-1][5] == "100.0", lines)
    text = run(TOOL, "report", "-v", "ranks", folder / "all.stint").stdout
    need("barrier: ranks 2, 3 cover 100.0 % of the cost" in text, text)
    for step in range(200):
        for rank in range(4):
            waits[rank][step] = 100 if rank == 1 + step % 2 else 900
    check_windows(folder, waits)
    text = run(TOOL, "report", "-v", "ranks", folder / "all.stint").stdout
    need("barrier: ranks 1, 2 cover 100.0 % of the cost" in text, text)


def case_windows_random(folder):
    """Random waits, of few steps and of as many as windows are added up for."""
    draw = random.Random(11)
    for number, (ranks, steps) in enumerate(((2, 1), (3, 16), (7, 256), (9, 257), (6, 3000))):
        place = folder / str(number)
        place.mkdir()
        check_windows(place, [[draw.randrange(1, 10**6) for _ in range(steps)]
                              for _ in range(ranks)])


def case_windows_widths(folder):
    """Ranks with different widths: the finer windows are added up. A merge of merges is the
    merge."""
    waits = [[1000] * 600, [10] * 600, [1000] * 200]
    step_files(folder, waits)
    text = windows_view(folder)
    heading, last, lines = tables(text)
    need(heading == "barrier: 150 windows of 4 steps, 3 ranks", heading)
    need(last == [["rank 1", "node0", "150", "100.0", str(990 * 600 + 990 * 200), "50"]], last)
    need(lines[0] == ["0-63", str(2 * 64 * 990), "rank 1", "node0", "100.0", "100.0"], lines)
    run(TOOL, "merge", folder / "s0.stint", folder / "s2.stint", "-o", folder / "a", "--keep", "ranks")
    need(windows_view(folder, folder / "a", folder / "s1.stint").replace("node0", "") ==
         text.replace("node0", ""))


def case_windows_not_compared(folder):
    """Windows in which ranks have different numbers of calls, records that lack calls or that were
    being written, ranks without windows."""
    waits = [[1000] * 10, [10] * 10, [1000] * 10]
    waits[1][4] = (10, 2)
    step_files(folder, waits)
    heading, last, lines = tables(windows_view(folder))
    need(heading.endswith("; 1 not compared, the ranks have different numbers of calls in them"),
         heading)
    need(last[0][2] == "9" and lines[4] == ["4-4"] + ["-"] * 5, last, lines)
    for broken in ({"lacks": 1}, {"seq": (2, 4)}, {"seq": (3, 3)}):
        RankFile([Scope("barrier", [5] * 10, ROLE_WAITING)], rank=3, size=3, steps=10, pid=9,
                 windows=[Windows("barrier", [(5, 1)] * 10, **broken)]).write(folder / "s3.stint")
        heading = tables(windows_view(folder))[0]
        need(", 3 ranks, 1 without windows; 1 not" in heading, heading)


def case_windows_joined(folder):
    """A merge without the ranks adds up windows to 32 of a name, whatever it is grouped as, and the
    cause is the same. Files without windows, as of earlier versions, are read."""
    step_files(folder, [[1000] * 600, [10] * 600, [1000] * 600])
    kept = windows_view(folder)
    text = windows_view(folder, keep="names")
    need(text.startswith("barrier: 19 windows of 32 steps, 3 ranks\n"), text)
    need(tables(kept)[1][0][4] == tables(text)[1][0][4] == str(2 * 990 * 600), kept, text)
    report = run(TOOL, "report", "-v", "ranks", folder / "all.stint").stdout
    need("barrier: rank 1 covers 100.0 % of the cost" in report, report)
    for keep in "names", "ranks":
        run(TOOL, "merge", folder / "s0.stint", folder / "s2.stint", "-o", folder / "a", "--keep", keep)
        joined = windows_view(folder, folder / "a", folder / "s1.stint", keep="names")
        need(joined.replace("node0", "") == text.replace("node0", ""), joined)
    for rank in range(2):
        RankFile([Scope("barrier", [5], ROLE_WAITING)], rank=rank, size=2, pid=rank + 1
                 ).write(folder / ("s%d.stint" % rank))
    (folder / "s2.stint").unlink()
    (folder / "a").unlink()
    need(not windows_view(folder), folder)


def case_windows_bytes(folder):
    """The bytes of a rank and waiting scope in a merged file."""
    sizes = []
    for steps in (2, 256):
        place = folder / str(steps)
        place.mkdir()
        step_files(place, [[1000] * steps, [10] * steps])
        windows_view(place)
        sizes.append((place / "all.stint").stat().st_size)
    need(sizes[1] - sizes[0] >= 2 * 254 * 16, sizes)
    room = [-(-(64 + 16 * (windows + 1)) // 64) * 64 for windows in (2, 256)]
    histograms = 4 * 2560
    need(sizes[1] - sizes[0] <= 2 * (room[1] - room[0]) + histograms, sizes, room)


def case_windows_recorded(folder):
    """Windows that the library recorded: rank 1 is late in the first half of 600 steps, rank 2 in
    the second, and works 300 us in each where the others work 100."""
    for rank, work in enumerate(((100, 100), (300, 100), (100, 300), (100, 100))):
        run(FAKE, "rank", 600, *work, 310, STINT_FILE=folder / "r%r.stint", PMI_RANK=rank,
            PMI_SIZE=4)
    heading, last, lines = tables(windows_view(folder))
    need(heading == "barrier: 150 windows of 4 steps, 4 ranks", heading)
    need([row[:1] + row[2:] for row in last] ==
         [["rank %d" % rank, "75", "50.0", str(3 * 200000 * 300), "75"] for rank in (1, 2)], last)
    need(lines[0][:3] + lines[0][4:] == ["0-63", str(3 * 200000 * 64), "rank 1", "100.0", "100.0"],
         lines)
    need(lines[-1][2] == "rank 2" and lines[4][4:] == ["68.8"] * 2, lines)
    need("barrier: ranks 1, 2 cover 100.0 % of the cost" in
         run(TOOL, "report", "-v", "ranks", folder / "all.stint").stdout)


# ---- Exports.

def exported_ranks(folder):
    """The object `ranks` of all.stint in json, after it was compared with the schema."""
    data = run(TOOL, "export", folder / "all.stint", "--to", "json").stdout
    check_json(data.encode())
    return json.loads(data).get("ranks")


def who(prefix, rank):
    return {prefix + "_rank": rank, prefix + "_host": "node%d" % (rank // 2),
            prefix + "_pid": 100 + rank}


def case_json(folder):
    """The numbers of the view in json: spread, cost, cause, windows; none of a run alone."""
    draw = random.Random(5)
    work = [draw.randrange(10**6, 2 * 10**6) for _ in range(9)]
    work[4] = 10**8
    ranks_view(folder, work, calls=1)
    ranks = exported_ranks(folder)
    need(ranks["count"] == 9, ranks)
    row = next(row for row in ranks["names"] if row["name"] == "solve")
    lost = max(work) * 9 - sum(work)
    expected = {"name": "solve", "set": "GlobalStatInfo", "ranks": 9, "calls": 9,
                "total_ns": sum(work), "min_ns": min(work), "mean_ns": sum(work) // 9,
                "median_ns": statistics.median(work), "max_ns": 10**8,
                "stddev_ns": int(statistics.stdev(work) + 0.5), "lost_ns": lost,
                "imbalance_ppm": int(lost / (max(work) * 8) * 1e6 + 0.5)}
    expected.update(who("min", work.index(min(work))))
    expected.update(who("max", 4))
    need(row == expected, row, expected)
    row, = ranks["waiting"]
    waits = [10**8 - ns for ns in work]
    cost, _, _, alone = model_window(waits)
    need((row["cost_ns"], row["last_rank"], row["last_wait_ns"]) == (cost, 4, 1000), row)
    need(abs(row["alone_ppm"] - alone * 1e4) <= 1, row, alone)
    need(not row["is_cause"] and "windows" not in row["no_cause"], row)
    ranks_view(folder, work, calls=5)
    row, = exported_ranks(folder)["waiting"]
    need(row["is_cause"] and row["causes"] == [{"rank": 4, "host": "node2", "pid": 104}], row)
    need([(more["name"], more["by_ns"]) for more in row["longer_in"]] ==
         [("solve", 5 * (10**8 - statistics.median(work)))], row)
    record(folder / "all.stint")
    need(exported_ranks(folder) is None)


def case_json_windows(folder):
    """The windows in json are those of the model."""
    draw = random.Random(6)
    waits = [[draw.randrange(1, 10**6) for _ in range(300)] for _ in range(5)]
    waits[1][8] = (5, 2)
    step_files(folder, waits)
    run(TOOL, "merge", folder, "-o", folder / "all.stint", "--keep", "ranks")
    row = exported_ranks(folder)["waiting"][0]
    need(row["calls_differ"] and "last_rank" not in row, row)
    steps = row["by_steps"]
    need([steps[key] for key in ("steps", "window_steps", "ranks", "ranks_without", "compared",
                                 "not_compared")] == [300, 2, 5, 0, 149, 1], steps)
    waits[1][8] = 0
    sums = [[ns for ns, in windows_of([(s,) for s in rank], 2)] for rank in waits]
    windows = list(zip(*sums))
    need([w["first_step"] for w in steps["windows"]] == list(range(0, 300, 2)), steps)
    need(steps["windows"][4] == {"first_step": 8, "calls_differ": True}, steps["windows"][4])
    for i, (found, window) in enumerate(zip(steps["windows"], windows)):
        cost, rank, low, alone = model_window(window)
        need(i == 4 or (found["cost_ns"], found["last_rank"], found["last_wait_ns"]) ==
             (cost, rank, low) and abs(found["alone_ppm"] - alone * 1e4) <= 1, found, window)
    model = model_last(windows[:4] + windows[5:])
    need({row["last_rank"]: (row["windows"], row["cost_ns"], row["alone"]) for row in
          steps["last"]} == model, steps["last"], model)


DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def page_data(folder):
    """The data of the page of all.stint."""
    text = run(TOOL, "export", folder / "all.stint", "--to", "html").stdout
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1))


def levels_of(heat):
    """The levels of a heat map by window and row; None: nothing is known."""
    flat = [64 * DIGITS.index(a) + DIGITS.index(b)
            for a, b in zip(heat["levels"][::2], heat["levels"][1::2])]
    flat = [None if level == 4095 else level for level in flat]
    rows = len(heat["rows"])
    need(len(flat) == rows * heat["windows"], len(flat), rows, heat["windows"])
    return [flat[at:at + rows] for at in range(0, len(flat), rows)]


def case_heat(folder):
    """The heat map of the page has how late each rank came in each window, by rank number."""
    draw = random.Random(8)
    waits = [[draw.randrange(1, 10**6) for _ in range(300)] for _ in range(6)]
    waits[1][8] = (5, 2)
    step_files(folder, waits)
    run(TOOL, "merge", folder, "-o", folder / "all.stint", "--keep", "ranks")
    data = page_data(folder)
    need(data["ranks"] == exported_ranks(folder), data["ranks"])
    heat, = data["heat"]
    need([heat[key] for key in ("name", "window_steps", "steps", "windows", "ranks_each")] ==
         ["barrier", 2, 300, 150, 1], heat)
    need(heat["rows"] == [["rank %d" % rank, "node%d" % (rank // 2)] for rank in range(6)], heat)
    waits[1][8] = 0
    windows = list(zip(*([ns for ns, in windows_of([(s,) for s in rank], 2)] for rank in waits)))
    most = max(max(window) - min(window) for window in windows[:4] + windows[5:])
    need(heat["most_ns"] == most and not data["thinned"], heat["most_ns"], most)
    for at, (levels, window) in enumerate(zip(levels_of(heat), windows)):
        expected = [(max(window) - wait) / most * 4094 for wait in window]
        need(at == 4 or all(abs(a - b) <= 0.51 for a, b in zip(levels, expected)), levels, expected)
        need(at != 4 or levels == [None] * 6, levels)


def case_heat_thinned(folder):
    """With more than 4 096 ranks a row is of two, and has the later one; the page says so."""
    for rank in range(5001):
        if rank == 4096:
            run(TOOL, "merge", folder, "-o", folder / "all.stint", "--keep", "ranks")
            heat, = page_data(folder)["heat"]
            need(heat["ranks_each"] == 1 and len(heat["rows"]) == 4096, len(heat["rows"]))
            (folder / "all.stint").unlink()
        waits = [900] * 3
        if rank == 4007:
            waits = [900, 100, 900]
        RankFile([Scope("barrier", waits, ROLE_WAITING)], rank=rank, size=5001, pid=1 + rank,
                 steps=3, windows=[Windows("barrier", [(ns, 1) for ns in waits])]
                 ).write(folder / ("%04d" % rank))
    run(TOOL, "merge", folder, "-o", folder / "all.stint", "--keep", "ranks")
    data = page_data(folder)
    heat, = data["heat"]
    need(heat["ranks_each"] == 2 and len(heat["rows"]) == 2501, len(heat["rows"]))
    need(heat["rows"][2003][0] == "rank 4006" and heat["rows"][2500][0] == "rank 5000")
    need("Heat map of ranks: a row is of 2 ranks." in data["thinned"], data["thinned"])
    found = levels_of(heat)
    need(found[0] == found[2] == [0] * 2501)
    need([row for row, level in enumerate(found[1]) if level] == [2003] and
         found[1][2003] == 4094, found[1][2003])


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[4]))
