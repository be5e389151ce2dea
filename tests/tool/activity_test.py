#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run files with GPU activities, as users of the tool meet them.

    activity_test.py TOOL PROGRAM CASE

PROGRAM is activity_program.c: all its times are made up, so every number is known.
"""
import collections
import csv
import json
import random
import re
import subprocess
import sys

import check_export
from cases import (LIMIT, environment, field, header_bytes, header_fields, main, need, run,
                   used_bytes, with_field)

TOOL, PROGRAM = sys.argv[1:3]
HEADER = header_fields()
STEPS = 10
KERNEL_NS = 50000


def tool(*arguments, rc=0):
    done = subprocess.run([TOOL, *map(str, arguments)], env=environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=LIMIT, check=False)
    need(done.returncode == rc, "expected rc %s of %s" % (rc, arguments), done)
    return done.stdout


def text(*arguments, **options):
    return run(TOOL, *arguments, **options).out


def record(folder, name, copies=600, nanoseconds=1000, late=(), trace="4M", **more):
    file = folder / name
    run(PROGRAM, copies, nanoseconds, *late, STINT_FILE=file, STINT_TRACE=trace, **more)
    return file


def copied(copies, nanoseconds=1000):
    """Nanoseconds of them all."""
    return STEPS * sum(nanoseconds + i % 16 * nanoseconds // 64 for i in range(copies // STEPS))


def table(file, name):
    data = text("export", file, "--to", "csv", "--table", name)
    return [{k: int(v) if v.isdigit() else v for k, v in row.items()}
            for row in csv.DictReader(data.splitlines())]


def is_export(kind, data):
    try:
        check_export.check(kind, data)
    except check_export.Wrong as wrong:
        need(False, kind, wrong)


# Bytes of struct arena_activity: see docs/format.md.
FIRST_AT, LAST_AT, NEXT, KIND = (56, 8), (64, 8), (96, 4), (100, 4)


def rows_at(data):
    """The places of its rows of copies in a run file, newest first."""
    unit = field(data, HEADER["first_activity"])
    while unit:
        if field(data, (unit * 64 + KIND[0], 4)) == 2:
            yield unit * 64
        unit = field(data, (unit * 64 + NEXT[0], 4))


def moments(file):
    """Returns the begin of the first copy and the end of the last one of each row, since 1970."""
    data = used_bytes(file)
    real = field(data, (HEADER["start"][0] + 16, 8))
    return sorted((real + field(data, (at + FIRST_AT[0], 8)), real + field(data, (at + LAST_AT[0], 8)))
                  for at in rows_at(data))


def case_views(folder):
    file = record(folder, "a.stint")
    report = text("report", "--view", "gpu", file)
    for word in ("memcpy HtoD", "scale", "cudaMemcpyAsync", "cudaLaunchKernel"):
        need(word in report, word, report)
    text("report", "--view", "fluid", file)
    need(re.search(r"(?m)^activities +\d+ rows: 10 kernels, 600 copies, 0 fills, 610 API calls$",
                   text("info", file)), text("info", file))
    need("activities" not in text("info", record(folder, "none.stint", copies=0))
         or "0 copies" in text("info", folder / "none.stint"))


def case_exports(folder):
    """Every format is what its readers ask for, with a trace and without."""
    for file in (record(folder, "a.stint"), record(folder, "b.stint", trace="0")):
        for kind in check_export.FORMATS:
            is_export(kind, tool("export", file, "--to", kind))
        for name in check_export.TABLES:
            is_export("csv_" + name, tool("export", file, "--to", "csv", "--table", name))
        need(b"memcpy HtoD" in tool("export", file, "--to", "json"))
        tool("export", file, "--to", "html")
    scopes = tool("export", file, "--to", "csv")
    need(tool("export", file, "--to", "csv", "--table", "scopes") == scopes, "not the default")
    for arguments in (["--to", "csv", "--table", "nonsense"], ["--to", "json", "--table", "api"]):
        done = run(TOOL, "export", file, *arguments, rc=2)
        need(done.err.count("\n") == 1, done)


def arrows(document, delays=(0.8,)):
    """(thread of the launch, lane, name): how often; spans that nothing points at: their names.
    From launch to start it is so many microseconds, each as often: 300 ns in the call, 500
    after."""
    count = collections.Counter()
    ends, spans, names = {}, {}, {}
    for event in document["traceEvents"]:
        if event["ph"] in "sf":
            ends.setdefault(event["id"], {})[event["ph"]] = event
        elif event["ph"] == "X":
            spans[event["tid"], event["ts"]] = event
        elif event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
    found = {}
    for pair in ends.values():
        to = spans.pop((pair["f"]["tid"], pair["f"]["ts"]))
        count[round(to["ts"] - pair["s"]["ts"], 1)] += 1
        key = (re.sub(r" ?\[.*", "", names[pair["s"]["tid"]]), names[to["tid"]], to["name"])
        found[key] = found.get(key, 0) + 1
    need(count == {delay: len(ends) // len(delays) for delay in delays}, count)
    return found, [event["name"] for event in spans.values() if "cat" in event]


def case_arrows(folder):
    file = record(folder, "a.stint", copies=20)
    found, loose = arrows(json.loads(tool("export", file, "--to", "chrome")))
    need(not loose, loose)
    need(sorted(found.values()) == [1, 2, 9, 18], found)
    lanes = {lane for _, lane, _ in found}
    need(lanes == {"GPU 0 stream 7", "GPU 0 stream 13"}, found)
    perfetto = tool("export", file, "--to", "perfetto")
    need(perfetto.count(b"GPU 0 stream 7") == 1, "its lane in perfetto")


def case_tables(folder):
    file = record(folder, "a.stint")
    kernels, memory, api = (table(file, name) for name in ("kernels", "memory", "api"))
    need(len(kernels) == 1 and kernels[0]["name"] == "scale" and kernels[0]["calls"] == STEPS and
         kernels[0]["total_ns"] == STEPS * KERNEL_NS and kernels[0]["grid_x"] == 132, kernels)
    need(kernels[0]["launch_avg_ns"] == 300 and kernels[0]["delay_avg_ns"] == 500, kernels)
    need(len(memory) == 1 and memory[0]["calls"] == 600 and memory[0]["bytes"] == 600 * 4096 and
         memory[0]["total_ns"] == copied(600) and memory[0]["from"] == "pageable", memory)
    need({row["name"]: row["calls"] for row in api} ==
         {"cudaMemcpyAsync": 600, "cudaLaunchKernel": STEPS}, api)
    devices, steps = table(file, "devices"), table(file, "steps")
    need(devices[0]["name"] == "Example GPU" and
         devices[0]["busy_ns"] == copied(600) + STEPS * KERNEL_NS, devices)
    need({row["what"] for row in steps} == {"wall", "busy"}, steps)
    need(sum(row["calls"] for row in steps if row["what"] == "wall") in (STEPS - 1, STEPS), steps)
    rows = table(file, "activities")
    by_scope = [(row["name"], row["scope"], row["stream"], row["calls"]) for row in rows
                if row["kind"] in ("kernel", "copy")]
    need(sorted(by_scope) == [("memcpy HtoD", "load", 7, 540), ("memcpy HtoD", "load", 13, 60),
                              ("scale", "step", 7, 9), ("scale", "step", 13, 1)], by_scope)
    need(table(file, "gaps"), "no gap between launches")


def rows_of(shown):
    """name -> its line."""
    return {line.split("  ")[0]: line for line in shown.splitlines() if line}


def case_diff(folder):
    """Half the copies, each as long as before."""
    before, after = record(folder, "a.stint", 1200), record(folder, "b.stint", 600)
    rows = rows_of(text("diff", before, after))
    need(re.search(r"SAME .* 1200 -> 600 .*bytes 4.92 MB -> 2.46 MB", rows["[gpu] memcpy HtoD"]),
         rows)
    need(re.search(r" 1200 -> 600", rows["[api] cudaMemcpyAsync"]), rows)
    need(re.search(r"SAME .* 10( |$)", rows["[gpu] scale"]), rows)
    rows = rows_of(text("diff", "--metric", "calls", before, after))
    need("FEWER" in rows["[gpu] memcpy HtoD"] and "FEWER" in rows["[api] cudaMemcpyAsync"], rows)
    need("SAME" in rows["[gpu] scale"], rows)
    rows = rows_of(text("diff", "--metric", "bytes", before, after))
    need("FEWER" in rows["[gpu] memcpy HtoD"], rows)
    rows = rows_of(text("diff", "--filter", "[gpu]*", before, after))
    need("[gpu] memcpy HtoD" in rows and "step" not in rows and "[api] cudaMemcpyAsync" not in rows,
         rows)


def case_diff_times(folder):
    """As many copies that take twice as long. Their times are the device's nanoseconds, whatever
    the CPUs' speed; the calls are unchanged."""
    sides = [[record(folder, "%d-%d" % (ns, i), 600, ns) for i in range(3)] for ns in (1000, 2000)]
    rows = rows_of(text("diff", *sides[0], "--", *sides[1]))
    need(re.search(r"SLOWER +1\.\d+ us +2\.\d+ us +\+100\.\d %", rows["[gpu] memcpy HtoD"]), rows)
    need("SAME" in rows["[api] cudaMemcpyAsync"] and "SAME" in rows["[gpu] scale"], rows)
    for side, picoseconds in zip(sides, (1000, 2000)):  # the second machine is half as fast
        for file in side:
            at = HEADER["about"][0] + 32, 4
            file.write_bytes(with_field(used_bytes(file), at, picoseconds))
    rows = rows_of(text("diff", *sides[0], "--", *sides[1]))
    need(re.search(r"SLOWER +1\.\d+ us +2\.\d+ us +\+100\.\d %", rows["[gpu] memcpy HtoD"]), rows)
    rows = rows_of(text("diff", "--metric", "gpu", *sides[0], "--", *sides[1]))
    need("SLOWER" in rows["[gpu] memcpy HtoD"] and "[api] cudaMemcpyAsync" not in rows, rows)
    rows = rows_of(text("diff", "--metric", "p50", *sides[0], "--", *sides[1]))
    need(re.search(r" 1\.1\d* us +2\.[12]\d* us", rows["[gpu] memcpy HtoD"]), rows)
    rows = rows_of(text("diff", "--metric", "max", *sides[0], "--", *sides[1]))
    need(re.search(r"1\.234 us +2\.468 us", rows["[gpu] memcpy HtoD"]), rows)


def without_run(kind, data):
    """An export without what says which processes it is of."""
    if kind != "json":
        return data
    run = json.loads(data)
    del run["run"]
    run.pop("ranks", None)
    return run


def case_merge(folder):
    """One run merged with its threads is that run; several are the sums, whatever is kept, and with
    threads each launch is on its own."""
    first, second = record(folder, "a.stint", 600), record(folder, "b.stint", 40, 3000)
    tool("merge", "--keep", "threads", first, "-o", folder / "one")
    for kind in ("chrome", "csv", "perfetto", "json"):
        before, after = (without_run(kind, tool("export", file, "--to", kind))
                         for file in (first, folder / "one"))
        need(before == after, kind, before, after)
    for view in ("gpu", "fluid"):
        before, after = (text("report", "--view", view, f) for f in (first, folder / "one"))
        need(before == after, before, after)
    third = folder / "third"
    third.write_bytes(used_bytes(first))
    for keep in ("names", "ranks", "threads"):
        tool("merge", "--keep", keep, first, second, third, "-o", folder / "out")
        check_merged(folder / "out")
        for kind in check_export.FORMATS:
            is_export(kind, tool("export", folder / "out", "--to", kind))
    found, loose = arrows(json.loads(tool("export", folder / "out", "--to", "chrome")))
    need(not loose and sum(found.values()) == 1240 + 3 * STEPS, loose, found)
    need({thread[:2] for thread, _, _ in found} == {"0/", "1/", "2/"}, found)


def check_merged(out):
    """Copies and kernels of two runs with 600 copies and one with 40 long ones."""
    memory, = table(out, "memory")
    need(memory["calls"] == 1240 and memory["total_ns"] == 2 * copied(600) + copied(40, 3000) and
         memory["min_ns"] == 1000 and memory["bytes"] == 1240 * 4096, memory)
    kernel, = table(out, "kernels")
    need(kernel["calls"] == 3 * STEPS and kernel["p50_ns"] == KERNEL_NS, kernel)


def lanes_of(file):
    """kind of export -> what it calls its lanes."""
    chrome = json.loads(tool("export", file, "--to", "chrome"))
    return {"chrome": [e["args"]["name"] for e in chrome["traceEvents"]
                       if e["name"] == "thread_name"],
            "perfetto": re.findall(rb"(?:\d+/\d+ |\b)GPU \d+ stream \d+",
                                   tool("export", file, "--to", "perfetto")),
            "html": re.findall(rb'\{"name":("[^"]*"),"stream":',
                               tool("export", file, "--to", "html"))}


def case_merge_lanes(folder):
    """A lane of a GPU says whose it is, as one of a thread does; merged again, it says it once."""
    files = [record(folder, "%d.stint" % i, 40) for i in range(2)]
    pids = [field(header_bytes(file), HEADER["pid"]) for file in files]
    tool("merge", "--keep", "threads", *files, "-o", folder / "two")
    tool("merge", "--keep", "threads", folder / "two", files[0], "-o", folder / "three")
    tool("merge", "--keep", "threads", folder / "three", "-o", folder / "again")
    for out, ranks in (("two", [0, 1]), ("three", [0, 1, 1]), ("again", [0, 1, 1])):
        want = sorted("%d/%d GPU 0 stream %d" % (rank, pids[i % 2], stream)
                      for i, rank in enumerate(ranks) for stream in (7, 13))
        for kind, names in lanes_of(folder / out).items():
            names = [n.decode().strip('"') if isinstance(n, bytes) else n for n in names]
            need(sorted(n for n in names if "GPU" in n) == want, out, kind, names, want)
    for kind, names in lanes_of(files[0]).items():
        need(not any("/" in str(n) for n in names), kind, names)


def case_merge_clocks(folder):
    """Merges a run of another machine, five seconds later, whose ticks are twice as long. Times on
    the device are nanoseconds there, too; its spans and launches are moved and stretched."""
    here, there = record(folder, "a.stint", 40), record(folder, "b.stint", 40)
    data, later = used_bytes(there), 5000000000
    for name in ("start", "end"):  # ticks, monotonic, real
        at = HEADER[name][0] + 16, 8
        data = with_field(data, at, field(data, at) + later)
    start, end = (HEADER[name][0] + 8 for name in ("start", "end"))
    length = field(data, (end, 8)) - field(data, (start, 8))
    data = with_field(data, (end, 8), field(data, (start, 8)) + 2 * length)
    data = with_field(data, HEADER["ticks_per_us"], field(data, HEADER["ticks_per_us"]) // 2)
    data = with_field(data, (HEADER["boot_id"][0], 8), int.from_bytes(b"another!", "little"))
    there.write_bytes(data)
    tool("merge", "--keep", "threads", here, there, "-o", folder / "out")
    memory, = table(folder / "out", "memory")
    need(memory["calls"] == 80 and memory["total_ns"] == 2 * copied(40), memory)
    spans = {}
    for file in (here, there, folder / "out"):
        events = json.loads(tool("export", file, "--to", "chrome"))["traceEvents"]
        spans[file] = sorted((event["ts"], event["dur"]) for event in events
                             if event.get("cat") == "copy")
    merged = spans[folder / "out"]
    need(len(merged) == 80 and merged[:40] == spans[here], merged)
    real = HEADER["start"][0] + 16, 8
    shift = (field(data, real) - field(header_bytes(here), real)) / 1000
    need(shift > 4e6, shift)
    for (ts, duration), (moved, stretched) in zip(spans[there], merged[40:]):
        need(abs(moved - ts - shift) < 1 and abs(stretched - duration) < 0.01, ts, moved, shift)
    for file, delays in ((there, [1.6]), (folder / "out", [0.8, 1.6])):
        arrows(json.loads(tool("export", file, "--to", "chrome")), delays)
    have = moments(folder / "out")
    for one, other in zip(have, sorted(moments(here) + moments(there))):
        need(len(have) == 4 and all(abs(a - b) < 100 for a, b in zip(one, other)), one, other)
    rows = json.loads(tool("export", folder / "out", "--to", "json"))["gpu"]["activities"]
    need({row["kind"] for row in rows} >= {"kernel", "copy", "api", "busy"}, rows)


def case_merge_order(folder):
    """The run that began first by the time of day is not the one that did by the machine's clock:
    moments count from the earliest start of all."""
    first, second = record(folder, "a.stint", 40), record(folder, "b.stint", 40)
    data = used_bytes(second)
    for part, by in ((0, 500), (8, 500), (16, -10**9)):  # ticks, monotonic, real
        at = HEADER["start"][0] + part, 8
        data = with_field(data, at, field(data, at) + by)
    second.write_bytes(data)
    tool("merge", "--keep", "threads", first, second, "-o", folder / "out")
    out, data = used_bytes(folder / "out"), used_bytes(first)
    rows = [(field(data, (at + FIRST_AT[0], 8)), field(data, (at + LAST_AT[0], 8)))
            for at in rows_at(data)]
    have = [(field(out, (at + FIRST_AT[0], 8)), field(out, (at + LAST_AT[0], 8)))
            for at in rows_at(out)]
    need(sorted(have) == sorted(rows + [(a + 500, b + 500) for a, b in rows]), have, rows)


def gaps_of(file):
    """(cause, scope) -> calls and nanoseconds without a kernel or copy."""
    sums = collections.Counter()
    for row in json.loads(tool("export", file, "--to", "json"))["gpu"]["activities"]:
        if row["kind"] == "gap":
            sums[row["name"], row.get("scope"), "calls"] += row["calls"]
            sums[row["name"], row.get("scope"), "ns"] += row["total_ns"]
    return sums


def case_merge_taken(folder):
    """The time that each run took back of its gaps is subtracted from its own, in any order of the
    runs."""
    files = [record(folder, "a.stint", 40, 1000, [100000]), record(folder, "b.stint", 40, 1000),
             record(folder, "c.stint", 20, 2000, [40000])]
    for file, late in ((files[0], 100000), (files[2], 40000)):
        parts = [ns for (_, scope, what), ns in gaps_of(file).items()
                 if scope and "late" in str(scope) and what == "ns"]
        need(parts == [1000 + late // 2], parts)  # before the first, around the late one
    want = gaps_of(files[0]) + gaps_of(files[1]) + gaps_of(files[2])
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        tool("merge", *(files[i] for i in order), "-o", folder / "out")
        need(gaps_of(folder / "out") == want, order, gaps_of(folder / "out"), want)
    tool("merge", folder / "out", files[0], "-o", folder / "again")
    need(gaps_of(folder / "again") == want + gaps_of(files[0]), gaps_of(folder / "again"))


def lines_of(file):
    """line -> what it launched, and how long that ran."""
    return {row["line"]: (row.get("gpu_calls"), row.get("gpu_ns"))
            for row in json.loads(tool("export", file, "--to", "json"))["lines"]}


def case_lines(folder):
    """The GPU time of what a source line launched, in all that shows lines; only where there is
    any."""
    one = record(folder, "a.stint", 40, late=[100000])
    other = record(folder, "b.stint", 40, late=[40000])
    without = record(folder, "c.stint", 40, late=[0])
    need(lines_of(one) == {10: (3, 52000), 20: (0, 0)}, lines_of(one))
    need(lines_of(without) == {10: (None, None), 20: (None, None)}, lines_of(without))
    for order in ((one, other, without), (without, other, one)):
        tool("merge", *order, "-o", folder / "out")
        need(lines_of(folder / "out") == {10: (6, 52000 + 22000), 20: (0, 0)},
             lines_of(folder / "out"))
    head, columns, first, second = text("annotate", one).splitlines()
    need(columns.split() == ["hits", "self", "total", "%", "GPU", "line", "source"], columns)
    need(first.endswith("   52.00 us     10"), first)
    need(second.endswith(" " * 15 + "20") and len(second) == len(first), first, second)
    need("made/up.c" in head, head)
    need("GPU" not in text("annotate", without), text("annotate", without))
    for file, shown in ((one, True), (without, False)):
        tool("annotate", file, "--html", folder / "page.html")
        page = (folder / "page.html").read_text()
        need(("<th>GPU" in page) == shown and ("<td>52.00 us<td>10<" in page) == shown, page)
    for file in (one, folder / "out"):
        for kind in check_export.FORMATS:
            is_export(kind, tool("export", file, "--to", kind))
        for table_of_all in table(file, "activities"):
            need(table_of_all["kind"] != "line", table_of_all)


def counters_of(file):
    """Counter -> its values in order, of the chrome trace."""
    found = collections.defaultdict(list)
    for event in json.loads(tool("export", file, "--to", "chrome"))["traceEvents"]:
        if event["ph"] == "C":
            found[event["name"]].append(event["args"]["value"])
    return dict(found)


def case_memory(folder):
    """The memory of a GPU over time is a counter of its own, also of each of several runs."""
    values = [1 << 20, 3 << 20, 2 << 20]
    files = [record(folder, "%d.stint" % i, 40, ACTIVITY_MEMORY="1") for i in range(2)]
    pids = [field(header_bytes(file), HEADER["pid"]) for file in files]
    need(counters_of(files[0]) == {"GPU 0 memory": values}, counters_of(files[0]))
    tool("merge", "--keep", "threads", *files, "-o", folder / "out")
    want = {"%d/%d GPU 0 memory" % (i, pids[i]): values for i in range(2)}
    need(counters_of(folder / "out") == want, counters_of(folder / "out"), want)
    page = tool("export", files[0], "--to", "html")
    need(b'{"name":"GPU 0 memory","stream":true,"overwritten":0,"memory":1,' in page)
    need("2 values" not in text("info", files[0]) and "3 values" in text("info", files[0]),
         text("info", files[0]))
    for kind in check_export.FORMATS:
        is_export(kind, tool("export", folder / "out", "--to", kind))
    need(counters_of(record(folder, "none.stint", 40)) == {})


def case_killed(folder):
    """A killed run has no end; the end of the GPU's last known work counts, too."""
    file = record(folder, "a.stint", 40)
    data = used_bytes(file)
    file.write_bytes(with_field(data, HEADER["end"], 0))
    shown = text("info", file)
    need("killed" in shown and "40 copies" in shown, shown)
    text("report", "--view", "gpu", file)
    data = used_bytes(file)
    file.write_bytes(with_field(data, (next(rows_at(data)) + LAST_AT[0], 8), 3600 * 10**9))
    shown = text("info", file)
    need(re.search(r"(?m)^wall +at least 3600 s$", shown), shown)


def case_hostile(folder):
    """Any byte may be another one: an answer or a refusal, never a crash."""
    data = record(folder, "a.stint", 40, trace="64k").read_bytes()
    used = field(data, HEADER["used"])
    draw = random.Random(5)
    bad = folder / "bad"
    ways = [["report", "-v", "gpu"], ["report", "-v", "fluid"], ["info"],
            ["export", "--to", "json"], ["export", "--to", "chrome"],
            ["export", "--to", "prometheus"], ["export", "--to", "perfetto"],
            ["export", "--to", "csv", "--table", "activities"], ["diff", folder / "a.stint"],
            ["merge", "-o", folder / "out"]]
    for _ in range(150):
        spoilt = bytearray(data[:used])
        for _ in range(draw.choice((1, 4, 40))):
            at = draw.choice((draw.randrange(used), draw.randrange(8, 300),
                              draw.randrange(used // 4, used)))
            spoilt[at] = draw.choice((0, 1, 0x7f, 0x80, 0xff, draw.randrange(256)))
        bad.write_bytes(spoilt)
        way = draw.choice(ways)
        done = run(TOOL, *way, bad, rc=None)
        need(done.returncode in (0, 2), way, done)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[3]))
