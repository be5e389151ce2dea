#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stint merge as its users run it.

    merge_test.py TOOL PROGRAM FAKE_PROGRAM CASE

PROGRAM is tool_program.c on the real clock, FAKE_PROGRAM on one that only it advances.
"""
import collections
import csv
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import sys

from cases import (SKIPPED, field, header_bytes, header_fields, is_sanitized, main, need, peak_kb,
                   run, used_bytes, with_field)
from rank_files import (BUCKET_FULL, RAW_BELOW, RAW_SAMPLES, ROLE_WAITING, UNIT, RankFile, Scope,
                        Windows, bucket)

TOOL, PROGRAM, FAKE = sys.argv[1:4]
HEADER = header_fields()


def tool(*arguments, rc=0, **options):
    return run(TOOL, *arguments, rc=rc, **options).stdout


def record(folder, count, *story, program=PROGRAM, trace="4M"):
    files = [folder / ("r%d.stint" % i) for i in range(count)]
    for file in files:
        done = run(program, *(story or ["end"]), rc=None, STINT_FILE=file, STINT_TRACE=trace)
        need(done.returncode in (0, -signal.SIGKILL), done)
    return files


def merge(files, out, rc=0, keep="threads", **options):
    done = run(TOOL, "merge", *files, "-o", out, "--keep", keep, rc=rc, **options)
    others = [line for line in done.stderr.splitlines()
              if not line.startswith("stint: merge: clocks of ")]
    need((rc != 0) == bool(others), "lines on stderr if it fails, else none", done)
    need(all(line.startswith("stint: ") for line in done.stderr.splitlines()), done)
    return done.stderr


def stats(file):
    """(name, set) -> row; numbers as such."""
    rows = {}
    for row in csv.DictReader(tool("export", file, "--to", "csv").splitlines()):
        rows[row["name"], row["set"]] = {k: int(v) for k, v in row.items() if v.isdigit()}
    return rows


# The parts of a stamp.
TICKS, MONOTONIC, REAL = (0, 8), (8, 8), (16, 8)


def stamp(data, name, part):
    return field(data, (HEADER[name][0] + part[0], part[1]))


def later_ns(file, than):
    """The time from the load of the program of `than` to that of `file`. It is measured by the
    kernel's clock; between two boots, by the time of day at which the files were begun."""
    one, other = header_bytes(file), header_bytes(than)
    later = field(one, HEADER["process_start_ns"]) - field(other, HEADER["process_start_ns"])
    if field(one, HEADER["boot_id"]) != field(other, HEADER["boot_id"]):
        for data, sign in ((one, 1), (other, -1)):
            later += sign * (stamp(data, "start", REAL) - stamp(data, "start", MONOTONIC))
    return later


def ns_per_tick(file):
    """The length of a tick as a reader computes it: see docs/format.md."""
    data = header_bytes(file)
    measured = 256000 / field(data, HEADER["ticks_per_us"])
    ns, ticks = (stamp(data, "end", part) - stamp(data, "start", part)
                 for part in (MONOTONIC, TICKS))
    over_all = ns / ticks if ns > 0 and ticks > 0 else measured
    return over_all if abs(over_all / measured - 1) < 1 / 32 else measured


def elsewhere(file, to, later_ns=0, stretch=1):
    """Writes a copy of the file as if it was recorded on another machine, that much later, with
    ticks that last `stretch` times as long."""
    data = bytearray(used_bytes(file))

    def put(at, value):
        data[at[0]:at[0] + at[1]] = value.to_bytes(at[1], "little")

    def put_stamp(name, part, value):
        put((HEADER[name][0] + part[0], part[1]), value)

    start = stamp(data, "start", MONOTONIC)
    put_stamp("end", MONOTONIC, start + (stamp(data, "end", MONOTONIC) - start) * stretch)
    for name in ("start", "end"):
        put_stamp(name, REAL, stamp(data, name, REAL) + later_ns)
    put(HEADER["ticks_per_us"], field(data, HEADER["ticks_per_us"]) // stretch)
    put((HEADER["boot_id"][0], 8), int.from_bytes(b"another!", "little"))
    to.write_bytes(data)
    return to


def written(folder, files, letter="r"):
    """The paths of run files made by hand."""
    return [file.write(folder / ("%s%d" % (letter, i))) for i, file in enumerate(files)]


def leftovers(folder):
    return [p.name for p in folder.iterdir() if ".tmp" in p.name]


# ---- What is in it.

def case_one(folder):
    """One run merged is that run, whatever looks at it."""
    for story, trace in ((["end"], "4M"), (["end"], "16k"), (["raise", int(signal.SIGKILL)], "4M")):
        file = record(folder, 1, *story, trace=trace)[0]
        out = folder / "out.stint"
        merge([file], out)
        for arguments in (["report"], ["report", "-v", "tree"], ["report", "-v", "threads"],
                          ["report", "-v", "legacy"], ["info"]):
            before, after = (re.sub(r"(?m)^(file|in use) .*\n", "", tool(*arguments, f))
                             for f in (file, out))
            if "raise" in story:  # when it ends is only nearly known
                before, after = (re.sub(r"[\d.]+ ?(s|ms|us|%)?|  +", " ", t)
                                 for t in (before, after))
            need(before == after, arguments, before, after)
        for to in ("chrome", "csv", "folded") if "end" in story else ():
            before, after = (tool("export", f, "--to", to) for f in (file, out))
            need(before == after, to, before, after)


def check_sums(parts, whole, exact=False):
    """Exact: also the times; else as far as the clocks of parts and whole agree, and rounded."""
    apart = max(abs(ns_per_tick(part) / ns_per_tick(whole) - 1) for part in parts)
    total = collections.defaultdict(collections.Counter)
    for part in parts:
        for key, row in stats(part).items():
            t = total[key]
            for column in ("calls", "samples", "bytes", "total_ns", "self_ns"):
                t[column] += row.get(column, 0)
            t["max_ns"] = max(t["max_ns"], row.get("max_ns", 0))
            t["min_ns"] = min(t.get("min_ns", 1 << 62), row.get("min_ns", 1 << 62))
    merged = stats(whole)
    need(set(merged) == set(total), merged, total)
    for key, row in merged.items():
        for column, value in total[key].items():
            have = row.get(column, 0)
            by = 0
            if not exact and column.endswith("_ns"):
                by = 10 + 2 * len(parts) + value * apart * 1.01
            need(abs(have - value) <= by, key, column, have, value)


def case_sums(folder):
    """Calls, totals and extremes are those of the parts; exactly, on the fake clock: of a few files,
    of many, and of more names than any table begins with, some of which are in one run alone. diff
    and merge take what merge made."""
    out = folder / "out"
    few = record(folder, 3, program=FAKE)
    merge(few, out)
    check_sums(few, out, exact=True)
    text = tool("info", out)
    need(re.search(r"(?m)^command +3 runs of .*tool_program", text), text)
    need("SLOWER" not in tool("diff", out, out))
    merge([out], folder / "again")
    need(tool("report", out) == tool("report", folder / "again"))
    many = [file.rename(folder / ("%d.%s" % (i, file.name)))
            for i in range(16) for file in record(folder, 4)]
    merge(many, out)
    check_sums(many, out)
    need(out.stat().st_size < 64 * 400000, out.stat())
    names = [record(folder, 1, "many", count)[0].rename(folder / str(count))
             for count in (5000, 3000)]
    merge(names, out)
    check_sums(names, out)
    need(len(stats(out)) == 5000, len(stats(out)))
    text = tool("diff", *names, "--metric", "calls")
    need(text.count("GONE") >= 2000, text)


YEAR = 365 * 86400 * 10 ** 9
MOST = (1 << 64) - 1


def put_block(file, at, first, *values):
    """A block of numbers of the node at an offset, the only one."""
    block = file.get(8 + 8 * len(values))
    struct.pack_into("<IHH%dQ" % len(values), file.data, block, 0, first, len(values), *values)
    struct.pack_into("<I", file.data, at + 64, block // UNIT)


def put_gpu(file, at, count, total):
    """The times on the GPU of the node at an offset."""
    gpu = file.get(64)
    struct.pack_into("<QQQQ", file.data, gpu, 2 * count, total, total // count, total // count)
    struct.pack_into("<I", file.data, at + 68, gpu // UNIT)


def put_activity(file, at, count, total, size):
    """A copy that the node at an offset launched."""
    row = file.get(192)
    struct.pack_into("<6Q", file.data, row, 2 * count, total, total // count, total // count, size,
                     size // count)
    struct.pack_into("<2I", file.data, row + 100, 2, 1)  # ACTIVITY_COPY, from the host
    struct.pack_into("<I", file.data, row + 112, at // UNIT)
    struct.pack_into("<Q", file.data, row + 176, size // count)
    file.header("first_activity", row // UNIT)


def put_lines(file, cells):
    """A table of the lines of one source, from (line, hits, self, nested)."""
    name = file.text("/of/nowhere.c")
    first = -(-(24 + 4 * len(cells)) // 32) * 32
    table = file.get(first + 32 * len(cells))
    struct.pack_into("<IIII", file.data, table, 0, 0, name, len(cells))
    for i, (line, *numbers) in enumerate(cells):
        struct.pack_into("<I", file.data, table + 24 + 4 * i, line)
        struct.pack_into("<QQQ", file.data, table + first + 32 * i, *numbers)
    file.header("first_lines", table // UNIT)


def large_run(folder, number):
    """50 calls of a year, with other numbers that are near the largest one of 64 bits."""
    file = RankFile([Scope("work", [YEAR] * 50, inside=[Scope("part", [YEAR // 2] * 100)])],
                    pid=1000 + number, wall=50 * YEAR)
    at = file.nodes["work"]
    struct.pack_into("<QQ", file.data, at + 72, MOST - 3, MOST)  # bytes, operations
    struct.pack_into("<Q", file.data, at + 120, MOST)            # recursions
    put_block(file, at, 0, 1000, MOST - 1000)                    # queued calls and their time
    put_gpu(file, at, 50, 50 * YEAR)
    put_activity(file, at, 10, 50 * YEAR, MOST - 5)
    put_lines(file, [(3, MOST, 50 * YEAR, 1024), (7, 1, 1, 1)])
    for name in ("size", "used"):
        file.header(name, len(file.data))
    return file.write(folder / ("large%d.stint" % number))


def check_large(file, runs):
    """The sums of so many of them, of which none is larger than 64 bits in a run."""
    data = json.loads(tool("export", file, "--to", "json"))
    work, part = (next(row for row in data["stats"] if row["name"] == name)
                  for name in ("work", "part"))
    need(work["total_ns"] == runs * 50 * YEAR and work["avg_ns"] == YEAR, work)
    need(work["calls"] == runs * (50 + MOST) and work["samples"] == runs * 50, work)
    need(work["self_ns"] == 0 and part["self_ns"] == runs * 50 * YEAR, part)
    need(work["bytes"] == runs * (MOST - 3) and work["flops"] == runs * MOST, work)
    need(work["queue_calls"] == runs * 1000 and work["queue_avg_ns"] == (MOST - 1000) // 1000, work)
    gpu = work["gpu"]
    need(gpu["calls"] == runs * 50 and gpu["total_ns"] == runs * 50 * YEAR, gpu)
    need(work["device_total_ns"] == runs * 50 * YEAR, work)
    need([r["total_ns"] for r in data["tree"] if r["name"] == "work"] == [runs * 50 * YEAR],
         data["tree"])
    [copies] = data["gpu"]["memory"]
    need((copies["calls"], copies["total_ns"], copies["bytes"]) ==
         (runs * 10, runs * 50 * YEAR, runs * (MOST - 5)), copies)
    need([(r["line"], r["hits"], r["self_ns"], r["total_ns"]) for r in data["lines"]] ==
         [(3, runs * MOST, runs * 50 * YEAR, runs * (50 * YEAR + 1024)), (7, runs, runs, 2 * runs)],
         data["lines"])
    row = stats(file)["work", "GlobalStatInfo"]
    need(row["total_ns"] == runs * 50 * YEAR and row["flops"] == runs * MOST, row)
    text = tool("report", file, "--unit", "ns")
    need(" %d " % (runs * 50 * YEAR) in text and " %d " % YEAR in text, text)
    need(" %d s " % (runs * 50 * YEAR // 10 ** 9) in tool("report", file), text)


def case_large_sums(folder):
    """Sums that have no room in the 64 bits of a record are exact: 20 years of 50 calls each, from
    the runs and from merges of them, whatever is kept apart."""
    files = [large_run(folder, number) for number in range(20)]
    check_large(files[0], 1)
    for keep in ("names", "ranks", "threads"):
        merge(files, folder / keep, keep=keep)
        check_large(folder / keep, 20)
        parts = [folder / (keep + "-first"), folder / (keep + "-rest")]
        merge(files[:13], parts[0], keep=keep)
        merge(files[13:], parts[1], keep=keep)
        merge(parts, folder / "again", keep=keep)
        check_large(folder / "again", 20)
        merge(parts[::-1], folder / "other", keep=keep)
        check_large(folder / "other", 20)
        for format in ("prometheus", "otlp", "folded", "pprof", "html"):
            tool("export", folder / keep, "--to", format, "-o", folder / ("%s.%s" % (keep, format)))
        need("stint_scope_seconds_sum{name=\"work\",set=\"GlobalStatInfo\"} 31536000000.000000000\n"
             in (folder / (keep + ".prometheus")).read_text())
        for view in ("tree", "ranks", "gpu", "legacy", "fluid"):
            tool("report", folder / keep, "-v", view)
    need((folder / "names").stat().st_size < 3 * (folder / "names-first").stat().st_size)


def case_sampled(folder):
    """In a file of before, some calls of scopes are not timed (STINT_SAMPLE): their calls are counted
    and their times are as recorded. A merged file has the sums of both, and says so, too."""
    file = folder / "one"
    recorded = pathlib.Path(__file__).resolve().parent / "runs/1.0-sampled.stint.gz"
    file.write_bytes(gzip.decompress(recorded.read_bytes()))
    key = ("sampled", "GlobalStatInfo")
    part = stats(file)[key]
    need((part["calls"], part["samples"], part["untimed"]) == (500, 80, 420), part)
    for keep in ("threads", "names"):
        merge([file, elsewhere(file, folder / "other", stretch=2)], folder / "out", keep=keep)
        whole = stats(folder / "out")[key]
        for column in ("calls", "samples", "untimed"):
            need(whole[column] == 2 * part[column], column, whole, part)
        for column in ("total_ns", "self_ns"):
            need(abs(whole[column] - 3 * part[column]) <= 8, column, whole, part)
        text = tool("report", folder / "out")
        need("\nsampled: 3602 of 4200 calls were not timed; >= " in text, text)


def case_senders(folder):
    """Work is below the scope that sent it, in a run and in several merged."""
    files = record(folder, 2, "sent", program=FAKE)
    out = folder / "out.stint"
    for given in (files[:1], files):
        merge(given, out)
        tree = json.loads(tool("export", out, "--to", "json"))["tree"]
        paths = {}
        for row in tree:
            above = paths[row["parent"]] + "/" if "parent" in row else ""
            paths[len(paths)] = above + row["name"]
        need(sorted(paths.values()) == ["pool", "send", "send/sent", "send/sent/part"], paths)
        times = {paths[i]: (row["calls"], row["total_ns"], row["self_ns"])
                 for i, row in enumerate(tree)}
        n = len(given)
        need(times == {"pool": (n, 300000 * n, 0), "send": (n, 500000 * n, 500000 * n),
                       "send/sent": (n, 300000 * n, 0),
                       "send/sent/part": (n, 300000 * n, 300000 * n)}, times)
        folded = tool("export", out, "--to", "folded").splitlines()
        need(sorted(set(folded)) == ["pool;sent;part 300000", "send 500000"], folded)


def case_threads(folder):
    """Each thread says whose it is; merged again, it says it once."""
    files = record(folder, 2)
    merge(files, folder / "two")
    merge([folder / "two", files[0]], folder / "three")
    for out, ranks in (("two", ["0", "1"]), ("three", ["0", "1", "1"])):
        data = json.loads(tool("export", folder / out, "--to", "json"))
        names = [thread["name"] for thread in data["threads"]]
        need(all(re.match(r"\d/\d+( |$)", name) for name in names), names)
        need(sorted(n[0] for n in names) == sorted(ranks * 2), names)


def case_rows(folder):
    """20 000 of them: all are merged, compared and exported, and a few can be asked for."""
    count = 20000
    files = record(folder, 2, "many", count)
    out, page = folder / "out", folder / "page.html"
    merge(files, out)
    check_sums(files, out)
    need(len(stats(out)) == count, len(stats(out)))
    need(tool("report", out, "--view", "tree").count("scope number ") == count)
    text = tool("report", out, "--top", 3)
    need(text.count("scope number ") == 3 and "(%d more)" % (count - 3) in text, text)
    text = tool("report", out, "--filter", "scope number 19999")
    need(text.count("scope number ") == 1, text)
    text = tool("diff", *files, "--top", 3)
    need(text.count("scope number ") == 3, text)
    of_all = text[text.index("total: "):]
    need(sum(map(int, re.findall(r"(\d+) (?:slower|faster|same|unsure)", of_all))) == count, text)
    tool("export", out, "--to", "html", "-o", page)
    text = page.read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    need(len(data["stats"]) == count and len(text) < 20e6, len(data["stats"]), len(text))


def case_gpu(folder):
    """Times of GPU timers, of each GPU; and a diff of them."""
    files = [record(folder, 1, "gpu", ns, program=FAKE)[0].rename(folder / str(ns))
             for ns in (100000, 200000, 50000)]
    out = folder / "out"
    merge(files, out)
    row = stats(out)["kernel", "GlobalStatInfo"]
    want = {"calls": 6, "gpu_calls": 6, "gpu_total_ns": 1400000, "gpu_avg_ns": 233333,
            "gpu_min_ns": 50000, "gpu_max_ns": 600000}
    need(want.items() <= row.items(), row)
    need(150000 <= row["gpu_p50_ns"] <= 240000, "of 50 100 150 200 300 600", row)
    need(stats(out)["copy", "GlobalStatInfo"]["gpu_total_ns"] == 15, stats(out))
    devices = [line for line in tool("info", out).split("\n") if line.startswith("device")]
    need(len(devices) == 2, tool("info", out))
    text = tool("diff", *files[:1] * 3, "--", *files[1:2] * 3, "--metric", "gpu")
    need(re.search(r"(?m)^kernel \(GPU\) +SLOWER .*\+100", text), text)
    need(re.search(r"(?m)^copy \(GPU\) +SAME", text), text)


def events(file):
    """(name, thread) -> start and duration in microseconds of spans; -> numbers of values."""
    found, values = collections.defaultdict(list), collections.defaultdict(list)
    for event in json.loads(tool("export", file, "--to", "chrome"))["traceEvents"]:
        if event["ph"] == "X" and event["tid"] < 1 << 22:  # others are numbered as they come
            found[event["name"], event["tid"]].append((event["ts"], event["dur"]))
        elif event["ph"] == "C":
            values[event["name"], event["tid"]].append(event["args"])
    return found, values


def check_trace(parts, whole, exact=False):
    """The whole has each part's events, later by the time between the starts of its program and of
    the first one. Returns the number of spans. Exact to the nanosecond, or as far as the clocks
    agree."""
    spans, values = events(whole)
    count = 0
    for part in parts:
        later = later_ns(part, parts[0]) / 1000
        apart = 0 if exact else abs(ns_per_tick(part) / ns_per_tick(whole) - 1) * 1.01
        part_spans, part_values = events(part)
        for key, of_part in part_spans.items():
            need(len(spans[key]) == len(of_part), key, spans[key], of_part)
            for (ts, dur), (whole_ts, whole_dur) in zip(of_part, spans[key]):
                by = 0.01 + apart * (ts + dur)
                need(abs(whole_ts - ts - later) < by + apart * later, key, ts, whole_ts, later, by)
                need(abs(whole_dur - dur) < by, key, dur, whole_dur, by)
                count += 1
        for key, of_part in part_values.items():
            need(values[key] == of_part, key, values[key], of_part)
    return count


def case_trace(folder):
    """Lanes side by side: each as in its own run, the later run that much later."""
    files = record(folder, 2)
    merge(files, folder / "out")
    count = check_trace(files, folder / "out")
    need(count > 500, count)


def case_other_clock(folder):
    """Another boot, five seconds later, whose ticks are twice as long; with spans longer than an
    event has room for."""
    here, raw = record(folder, 2, "long", program=FAKE)
    there = elsewhere(raw, folder / "there", 5000000000, 2)
    need(ns_per_tick(there) == 2 and later_ns(there, here) > 4e9, later_ns(there, here))
    merge([here, there], folder / "out")
    check_sums([here, there], folder / "out", exact=True)
    need(check_trace([here, there], folder / "out", exact=True) > 500)
    long = [dur for (name, _), all in events(folder / "out")[0].items() if name == "long"
            for _, dur in all]
    need(sorted(long) == [400e6, 500e6, 800e6, 1000e6], long)
    # Twice as long is sixteen buckets up; that other lengths land right is for odd factors to show.
    odd = elsewhere(raw, folder / "odd", 0, 3)
    merge([here, odd], folder / "out")
    check_sums([here, odd], folder / "out", exact=True)
    key = ("matmul", "GlobalStatInfo")
    low, high = sorted(stats(f)[key]["p50_ns"] for f in (here, odd))
    middle = stats(folder / "out")[key]
    need(low * 0.93 <= middle["p50_ns"] <= high * 1.07, low, high, middle)


# ---- One row per name.

def content(file):
    """All that an export says of a run but where it was: rows by name, the tree by path."""
    data = json.loads(tool("export", file, "--to", "json"))
    paths, tree = [], {}
    for row in data.pop("tree"):
        above = paths[row.pop("parent")] if "parent" in row else ()
        paths.append(above + (row["name"],))
        tree[paths[-1]] = row
    data["tree"] = tree
    data["stats"] = {(row["name"], row["set"]): row for row in data["stats"]}
    data["run"].pop("file", None)
    return data


def differing(folder):
    """Runs that have little in common: other names, threads, senders, GPU times, clocks."""
    files = [record(folder, 1, *story, program=FAKE, trace="0")[0].rename(folder / story[0])
             for story in (("end",), ("spread",), ("sent",), ("gpu", 100000), ("many", 300))]
    return files + [elsewhere(files[0], folder / "other", 5000000000, 3),
                    elsewhere(files[1], folder / "odd", 7000000000, 7)]


def case_added_up(folder):
    """Sums and extremes are those of the parts, whatever is kept; the call trees are one."""
    files = differing(folder)
    for keep in ("names", "ranks"):
        merge(files, folder / keep, keep=keep)
        check_sums(files, folder / keep, exact=True)
        data = json.loads(tool("export", folder / keep, "--to", "json"))
        need(len(data["threads"]) == (1 if keep == "names" else len(files)), data["threads"])
    tree = content(folder / "names")["tree"]
    need(("step", "matmul") in tree and ("send", "sent", "part") in tree, list(tree))
    need(tree["step", "matmul"]["calls"] == 500, tree["step", "matmul"])
    key, headers = ("matmul", "GlobalStatInfo"), []
    for file in files + [folder / "names"]:
        headers.append(int(re.search(r" (\d+) threads?,", tool("report", file))[1]))
    need(headers.pop() == sum(headers), headers)
    need(stats(folder / "names")[key]["threads"] == 4, stats(folder / "names")[key])


def case_order(folder):
    """The result does not depend on the order of the files, byte by byte, and a merge of merges has
    the rows, trees and buckets of the merge."""
    files = differing(folder)
    whole, draw = folder / "whole", random.Random(1)
    merge(files, whole, keep="names")
    expected = content(whole)
    for turn in range(4):
        draw.shuffle(files)
        merge(files, folder / "again", keep="names")
        need((folder / "again").read_bytes() == whole.read_bytes(), "turn %d" % turn, files)
        parts = [folder / "part0", folder / "part1", folder / "part2"]
        for part, some in zip(parts, (files[:1], files[1:3 + turn], files[3 + turn:])):
            if some:
                merge(some, part, keep="names")
        merge([part for part in parts if part.exists()], folder / "tree", keep="names")
        got = content(folder / "tree")
        for key in expected:
            need(got[key] == expected[key], "turn %d" % turn, key, got[key], expected[key])


def case_size(folder):
    """The file depends on the number of names, and 24 bytes for each name and rank."""
    def size(count):
        files = [RankFile([Scope("scope %d" % i, [100 + i] * 40) for i in range(200)], rank=r,
                          size=count, pid=r + 1, later=r) for r in range(count)]
        merge(written(folder, files), folder / "out", keep="names")
        need(stats(folder / "out")["scope 7", "GlobalStatInfo"]["calls"] == 40 * count)
        return (folder / "out").stat().st_size

    few, many = size(2), size(42)
    need(few < 1000000, few)
    need(many - few < 40 * (24 * 200 + 200), few, many)


def merged_ranks(folder, file, keep):
    """Peaks in kB of merges of 100 and 600 ranks that all have what is in the file; the results are
    `few` and `many`."""
    data, paths, rank = file.data, [], HEADER["about"][0] + 36
    for number in range(600):
        data[rank:rank + 2] = (number + 1).to_bytes(2, "little")
        data[HEADER["pid"][0]:HEADER["pid"][0] + 2] = (number + 1).to_bytes(2, "little")
        paths.append(folder / ("r%d" % number))
        paths[-1].write_bytes(data)
    return [peak_kb(PROGRAM, TOOL, "merge", "--keep", keep, *files, "-o", folder / name)
            for files, name in ((paths[:100], "few"), (paths, "many"))]


def case_memory(folder):
    """24 bytes for each name and rank, and one run at a time."""
    if is_sanitized(TOOL):
        return SKIPPED
    file = RankFile([Scope("scope %d" % i, [100 + i] * 8) for i in range(200)], rank=0)
    few, many = merged_ranks(folder, file, "names")
    need(many - few < 500 * (24 * 200 + 1000) / 1000 + 1000, few, many)
    need(stats(folder / "many")["scope 0", "GlobalStatInfo"]["calls"] == 4800)
    return 0


def case_memory_of_ranks(folder):
    """With the tree of each rank: 20 paths of 50 calls take at most 15 kB of memory and become at
    most 13 kB."""
    if is_sanitized(TOOL):
        return SKIPPED
    random.seed(47)
    file = RankFile([Scope("scope %d" % i, [random.randrange(2 << i) for _ in range(50)])
                     for i in range(20)], rank=0)
    few, many = merged_ranks(folder, file, "ranks")
    sizes = [(folder / name).stat().st_size for name in ("few", "many")]
    need(many - few < 500 * 15000 / 1024, few, many)
    need(sizes[1] - sizes[0] < 500 * 13000, sizes)
    need(stats(folder / "many")["scope 0", "GlobalStatInfo"]["calls"] == 600 * 50)
    return 0


# ---- Samples that a merged node keeps itself.

def exact_of(samples):
    """The columns that come from all samples."""
    ordered = sorted(samples)
    mean = sum(samples) / len(samples)
    squares = sum((s - mean) ** 2 for s in samples)
    columns = {"p%d_ns" % (permille // 10): ordered[-(-len(samples) * permille // 1000) - 1]
               for permille in (500, 900, 950, 990)}
    columns["stddev_ns"] = int((squares / max(len(samples) - 1, 1)) ** 0.5 + 0.5)
    return columns


def is_exact(file, name, samples):
    return exact_of(samples).items() <= stats(file)[name, "GlobalStatInfo"].items()


def case_kept(folder):
    """Up to 32 samples of a node are kept: percentiles are those of the samples, whatever is kept,
    also of a run whose ticks last three times as long."""
    draw = random.Random(11)
    calls = {"few": (20, 12), "one": (1, 0), "nothing": (0, 3), "inner": (7, 9)}
    runs = [{name: [draw.randrange(1000, 90000) for _ in range(count[i])]
             for name, count in calls.items()} for i in range(2)]
    files = []
    for i, run_calls in enumerate(runs):
        inner = Scope("inner", run_calls["inner"])
        scopes = [Scope("few", run_calls["few"], inside=[inner]),
                  Scope("one", run_calls["one"]), Scope("nothing", run_calls["nothing"])]
        files.append(RankFile(scopes, rank=i, size=2, pid=i + 1, later=i).write(folder / str(i)))
    slow = elsewhere(files[1], folder / "slow", 1000, 3)
    for other, stretch in ((files[1], 1), (slow, 3)):
        for keep in ("names", "ranks", "threads"):
            merge([files[0], other], folder / "out", keep=keep)
            merge([folder / "out"], folder / "again", keep=keep)
            for name in calls:
                samples = runs[0][name] + [stretch * ns for ns in runs[1][name]]
                for file in (folder / "out", folder / "again"):
                    need(is_exact(file, name, samples), keep, stretch, name, sorted(samples),
                         stats(file)[name, "GlobalStatInfo"])


def case_kept_of_programs(folder):
    """The same of programs: a run that is merged alone has its percentiles, of scopes and
    intervals, also if it was killed."""
    number = int(signal.SIGKILL)
    for story in (["end"], ["raise", number], ["last", "sample"], ["last", "interval"], ["sent"]):
        file = record(folder, 1, *story, program=FAKE, trace="0")[0]
        one = stats(file)
        few = {key for key, row in one.items()
               if row["samples"] <= RAW_SAMPLES and row["threads"] == 1}
        by = 0 if story[0] in ("end", "sent") else 1  # when the others end is only nearly known
        need(len(few) >= 3, few)
        for keep in ("names", "ranks"):
            merge([file], folder / "out", keep=keep)
            whole = stats(folder / "out")
            for key in few:
                for column in ("p50_ns", "p90_ns", "p99_ns", "stddev_ns"):
                    need(abs(whole[key][column] - one[key][column]) <= by, story, key, column,
                         whole[key], one[key])


def merged_size(folder, first, second):
    """The file of two runs of 50 names with these calls each, and the row of one."""
    files = [RankFile([Scope("scope %d" % i, calls) for i in range(50)], rank=rank, size=2,
                      pid=rank + 1, later=rank) for rank, calls in enumerate((first, second))]
    merge(written(folder, files, "s"), folder / "out", keep="names")
    return (folder / "out").stat().st_size, stats(folder / "out")["scope 7", "GlobalStatInfo"]


def case_kept_limit(folder):
    """With more samples, or one that is too long to be kept, a node gets a histogram, into which
    all are counted; so it does where one run does not know all of its samples."""
    draw = random.Random(12)
    first, second = ([draw.randrange(1000, 90000) for _ in range(16)] for _ in range(2))
    kept, row = merged_size(folder, first, second)
    need(exact_of(first + second).items() <= row.items(), row)
    for more in ([12345], [12345] * 30):
        size, row = merged_size(folder, first, second + more)
        need(64 * 50 <= size - kept <= 256 * 50, kept, size)
        samples = first + second + more
        for column, value in exact_of(samples).items():
            need(value * 0.93 <= row[column] <= value * 1.07, column, value, row)
        need(row["samples"] == len(samples), row)
        data = json.loads(tool("export", folder / "out", "--to", "json"))["stats"]
        counted = next(r["histogram"] for r in data if r["name"] == "scope 7")
        need(sum(n for _, _, n in counted) == len(samples), counted)
        need(all(sum(low <= s < high for s in samples) == n for low, high, n in counted), counted)
    longest, row = merged_size(folder, first, second[1:] + [RAW_BELOW - 1])
    need(longest == kept and row["p99_ns"] == RAW_BELOW - 1, kept, longest, row)
    longer, row = merged_size(folder, first, second[1:] + [RAW_BELOW])
    need(64 * 50 <= longer - kept <= 256 * 50 and row["samples"] == 32, kept, longer, row)
    half = RankFile([Scope("a", [RAW_BELOW // 2])]).write(folder / "half")
    for stretch, size in ((1, 0), (2, 0), (3, 64)):  # kept in the run, but too long in the merge
        merge([elsewhere(half, folder / "long", 1, stretch)], folder / "out", keep="names")
        data = (folder / "out").read_bytes()
        if stretch == 1:
            short = len(data)
        need(len(data) - short == size, stretch, len(data), short)
        row = stats(folder / "out")["a", "GlobalStatInfo"]
        need(row["p50_ns"] == stretch * (RAW_BELOW // 2), row)


def case_kept_in_part(folder):
    """Samples that only some runs know are never taken for all: they are in buckets."""
    draw = random.Random(13)
    some = [draw.randrange(1000, 90000) for _ in range(9)]
    knows = RankFile([Scope("a", some)], later=5).write(folder / "knows")
    for calls, later in ((40, 0), (40, 9), (5, 0), (5, 9)):
        # The other is of a program that ran out of memory, or without percentiles.
        without = RankFile([Scope("a", [70000] * 40)], pid=2, later=later, histograms=False)
        node = without.nodes["a"]
        without.data[node:node + 8] = (2 * calls).to_bytes(8, "little")
        other = without.write(folder / "without")
        for keep in ("names", "ranks"):
            merge([knows, other], folder / "out", keep=keep)
            row = stats(folder / "out")["a", "GlobalStatInfo"]
            need(row["samples"] == 9 + calls, row)
        merge([other], folder / "alone", keep="names")
        merge([knows], folder / "known", keep="names")
        need(is_exact(folder / "known", "a", some))
        need("p50_ns" not in stats(folder / "alone")["a", "GlobalStatInfo"])
        merge([folder / "alone", folder / "known"], folder / "tree", keep="names")
        merge([knows, other], folder / "out", keep="names")
        need(content(folder / "tree")["stats"] == content(folder / "out")["stats"])
        data = (folder / "out").read_bytes()
        need(len(data) >= (folder / "known").stat().st_size + 64, "has a histogram")


def case_format_4(folder):
    """In a file of format 4 the last of 640 buckets has all longer calls, too: it is an ordinary one
    there, but a merge says that it has no end, and so does a merge with a file of format 5."""
    draw = random.Random(15)
    calls = [draw.randrange(1 << 20, 1 << 30) for _ in range(60)]
    longest = [draw.randrange(31 << 38, 1 << 43) for _ in range(40)]
    now = RankFile([Scope("a", calls + longest)], pid=7).write(folder / "now")
    before = folder / "before"
    before.write_bytes(with_field(now.read_bytes(), HEADER["abi"], 4))
    other = RankFile([Scope("a", [50 << 43] * 50)], pid=8).write(folder / "other")
    rows = [stats(file)["a", "GlobalStatInfo"] for file in (now, before)]
    need(rows[0] == rows[1] and "beyond" not in rows[0] and "stddev_ns" in rows[0], rows)
    for keep in ("names", "threads"):
        merge([elsewhere(now, folder / "still")], folder / "out", keep=keep)
        need("beyond" not in stats(folder / "out")["a", "GlobalStatInfo"])
        merge([elsewhere(before, folder / "moved")], folder / "out", keep=keep)
        row = stats(folder / "out")["a", "GlobalStatInfo"]
        need(row["beyond"] == 40 and "stddev_ns" not in row and row["max_ns"] == max(longest), row)
        need(row["p50_ns"] < 1 << 30 and 30 << 38 < row["p90_ns"] <= min(longest), row)
        text = tool("report", folder / "out")
        need(re.search(r" >=8[0-9]{3} s", text), text)
    merge([before, other], folder / "both", keep="names")
    row = stats(folder / "both")["a", "GlobalStatInfo"]
    need(row["beyond"] == 90 and row["p99_ns"] <= row["max_ns"] == 50 << 43, row)


def case_kept_order(folder):
    """In any order, and merged in parts, samples have the same percentiles and buckets."""
    draw = random.Random(14)
    names = ["scope %d" % i for i in range(40)]
    files = []
    for rank in range(6):
        scopes = []
        for name in names:
            longest = draw.choice((500, 90000, 90000, 1 << 31, 3 << 30))
            calls = [draw.randrange(longest) for _ in range(draw.choice((0, 0, 1, 3, 8, 9, 33)))]
            scopes.append(Scope(name, calls))
        draw.shuffle(scopes)
        file = RankFile(scopes, rank=rank, size=6, pid=rank + 1, later=rank, threads=1 + rank % 2,
                        histograms=rank != 3).write(folder / ("r%d" % rank))
        files.append(elsewhere(file, folder / ("o%d" % rank), rank, 3) if rank > 3 else file)
    merge(files, folder / "whole", keep="names")
    expected = content(folder / "whole")
    for turn in range(6):
        draw.shuffle(files)
        cuts = sorted(draw.sample(range(1, 6), 2))
        parts = []
        for i, some in enumerate((files[:cuts[0]], files[cuts[0]:cuts[1]], files[cuts[1]:])):
            parts.append(folder / ("part%d" % i))
            run(TOOL, "merge", *some, "-o", parts[-1])
        merge([parts[2], *parts[:2]], folder / "tree", keep="names")
        got = content(folder / "tree")
        for key in ("stats", "tree"):
            need(got[key] == expected[key], "turn %d" % turn, key, got[key], expected[key])
    merge(files, folder / "again", keep="names")
    need((folder / "again").read_bytes() == (folder / "whole").read_bytes(), files)
    kept = sum(row["samples"] <= RAW_SAMPLES for row in expected["stats"].values())
    need(0 < kept < len(names), kept)


KEEPS = ("names", "ranks", "threads")


def exported(file, name="h"):
    """The JSON of a name, and what was lost."""
    data = json.loads(tool("export", file, "--to", "json"))
    return (next(row for row in data["stats"] if row["name"] == name),
            {loss["what"]: loss["count"] for loss in data["lost"]})


def case_wide_buckets(folder):
    """2.5e10 calls in two buckets, merged in one step and in two."""
    each = 1_000_000_000
    files = written(folder, [RankFile([Scope("h", [1000] * 2 + [1_000_000] * 3, times=each)])
                             for _ in range(5)])
    for keep in KEEPS:
        merge(files[:3], folder / "first", keep=keep)
        merge(files, folder / "all", keep=keep)
        merge([folder / "first", *files[3:]], folder / "again", keep=keep)
        for file in (folder / "all", folder / "again"):
            row, lost = exported(file)
            need(row["calls"] == 25 * each and not lost, row, lost)
            need([b[2] for b in row["histogram"]] == [10 * each, 15 * each], keep, row)
            need(abs(row["p50_ns"] / 1e6 - 1) < 0.04, row)
            text = tool("export", file, "--to", "prometheus")
            need('stint_scope_duration_seconds_bucket{name="h",set="GlobalStatInfo",le="+Inf"} %d'
                 % (25 * each) in text, text)


def case_full_bucket(folder):
    """A full bucket gives no percentile, and the samples that it had no room for are counted and
    printed: in the run, merged, and merged again."""
    calls, over = 5_000_000_000, 5_000_000_000 - BUCKET_FULL
    files = written(folder, [RankFile([Scope("h", [1000], times=calls), Scope("other", [7] * 50)])
                             for _ in range(3)])
    for keep in KEEPS:
        merge(files[:2], folder / "two", keep=keep)
        merge([folder / "two", files[2]], folder / "three", keep=keep)
        for file, runs in ((files[0], 1), (folder / "two", 2), (folder / "three", 3)):
            row, lost = exported(file)
            need(lost == {"full_bucket": runs * over}, keep, runs, lost)
            need(row["calls"] == runs * calls and row["avg_ns"] == 1000, row)
            need(not {"p50_ns", "p99_ns", "stddev_ns", "histogram"} & set(row), row)
            need(exported(file, "other")[0]["p50_ns"] == 7, "others have theirs")
            need("%d samples beyond the 4294967040 that a histogram bucket counts: no percentiles "
                 "of their names\n" % (runs * over) in tool("report", file), tool("report", file))


def case_full_bucket_of_two(folder):
    """The same where two nodes share the histogram, of which a merge gives it to the first."""
    calls = 3_000_000_000
    file = RankFile([Scope("h", [1000], times=calls), Scope("g", [1000], times=calls)])
    shared = int.from_bytes(file.data[file.nodes["h"] + 40:file.nodes["h"] + 44], "little")
    file.data[file.nodes["g"] + 40:file.nodes["g"] + 44] = shared.to_bytes(4, "little")
    at = 64 * shared + 4 * bucket(1000)
    file.data[at:at + 4] = BUCKET_FULL.to_bytes(4, "little")
    for keep in ("names", "ranks"):
        merge(written(folder, [file] * 2), folder / "two", keep=keep)
        for path, runs in ((folder / "r0", 1), (folder / "two", 2)):
            need(exported(path)[1] == {"full_bucket": runs * (2 * calls - BUCKET_FULL)}, path)


def case_bucket_bytes(folder):
    """A histogram of 50 values takes at most 400 bytes."""
    random.seed(50)
    for most in (100, 10**6, 10**12):
        names = [Scope("n%d" % i, [random.randrange(most) for _ in range(50)]) for i in range(100)]
        sizes = []
        for histograms in (True, False):
            files = written(folder, [RankFile(names, histograms=histograms)] * 2)
            merge(files, folder / "out", keep="names")
            sizes.append((folder / "out").stat().st_size)
        need(sizes[0] - sizes[1] <= 400 * len(names), sizes)


def case_bad_pairs(folder):
    """Pairs that no merge writes: the histogram is not there, and nothing else is hurt. In turn:
    fewer or more bytes than there are, or a place that is none; no step, no samples, no count, one
    without an end, one above 64 bits or of 11 bytes; past the last bucket, at once and later."""
    random.seed(46)
    file = RankFile([Scope("h", [random.randrange(10**9) for _ in range(300)])])
    file.write(folder / "one")
    merge([folder / "one"], folder / "good", keep="names")
    good = (folder / "good").read_bytes()
    need("p50_ns" in exported(folder / "good")[0], "it is there")
    head = next(at for at in range(0, len(good), 64) if good[at:at + 4] == b"\xff" * 4)
    used, more = (int.from_bytes(good[head + at:head + at + 4], "little") for at in (4, 8))
    changes = [(at, value.to_bytes(4, "little")) for at, value in (
        (head + 4, used - 1), (head + 4, used + 1), (head + 4, 1 << 31), (head + 8, 0),
        (head + 8, len(good) // 64), (head + 8, (1 << 32) - 1))]
    for wrong in (b"\0\1", b"\1\0\1\1", b"\1", b"\1\xff", b"\1" + b"\xff" * 9 + b"\2",
                  b"\1" + b"\xff" * 10 + b"\1", b"\xc1\5\1", b"\xc0\5\1\1\1"):
        changes += [(head + 4, len(wrong).to_bytes(4, "little") + bytes(8) + wrong)]
    for at, value in changes:
        data = bytearray(good)
        data[at:at + len(value)] = value
        (folder / "bad").write_bytes(data)
        row, lost = exported(folder / "bad")
        need(row["calls"] == 300 and "p50_ns" not in row and not lost, at, value, row, lost)
        merge([folder / "bad", folder / "good"], folder / "out", keep="names")
    for _ in range(300):
        data = bytearray(good)
        for _ in range(random.randrange(1, 4)):
            data[random.choice((head, more * 64)) + random.randrange(64)] = random.randrange(256)
        (folder / "bad").write_bytes(data)
        tool("report", folder / "bad")


def case_kept_size(folder):
    """Names with few samples take no more than in a run: 320 bytes each, what they are called, and
    24 bytes for each run."""
    count = 5000
    files = [RankFile([Scope("scope %d" % i, [100 + i] * 3) for i in range(count)], rank=rank,
                      size=2, pid=rank + 1, later=rank) for rank in range(2)]
    merge(written(folder, files), folder / "out", keep="names")
    size = (folder / "out").stat().st_size
    need(size < count * (320 + 2 * 24 + 80) + 100000, size / count)
    need(stats(folder / "out")["scope 4321", "GlobalStatInfo"]["p50_ns"] == 4421)


def case_folder(folder):
    """The run files of a folder, and nothing else that is there; not the result of the last time."""
    place = folder / "runs"
    place.mkdir()
    (place / "below").mkdir()
    (place / "notes.txt").write_text("no run file")
    files = [RankFile([Scope("a", [10 * r])], rank=r, size=3, pid=r + 1,
                      later=r).write(place / ("r%d" % r)) for r in (1, 2, 0)]
    for _ in range(2):
        merge([place], place / "all.stint", keep="names")
        need(stats(place / "all.stint")["a", "GlobalStatInfo"]["total_ns"] == 30)
    (place / "r9.12.1.tmp").write_bytes(files[0].read_bytes())
    lines = merge([place], place / "all.stint", rc=2, keep="names")
    need("r9.12.1.tmp: half-written" in lines and lines.count("\n") == 2, lines)
    (folder / "empty").mkdir()
    line = merge([folder / "empty"], folder / "none", rc=2)
    need("no run file to merge" in line, line)


def said_of(folder, *files, rc=0):
    """The lines of a merge of these; their runs are all in it."""
    done = run(TOOL, "merge", *written(folder, files), "-o", folder / "out", rc=rc)
    need(stats(folder / "out")["a", "GlobalStatInfo"]["calls"] == len(files), done)
    return [line[len("stint: merge: "):] for line in done.stderr.splitlines()]


def case_odd_ranks(folder):
    """Missing, doubled, impossible ranks, several jobs and programs: a line each, and the merge."""
    def rank(number, **more):
        options = {"rank": number, "size": 4, "pid": 10 + number, "later": number}
        options.update(more)
        return RankFile([Scope("a", [5])], **options)

    every = [rank(i) for i in range(4)]
    for extra, expected in (
            ([], []),
            ([rank(2, pid=99)], ["ranks with several files: 2 (a restart, or two jobs); "
                                 "all are merged"]),
            ([rank(7)], ["ranks beyond the size of the job: 7; all are merged"]),
            ([rank(0, program="other")], ["ranks with several files: 0 (a restart, or two jobs); "
                                          "all are merged",
                                          "runs of several programs; all are merged"])):
        need(said_of(folder, *every, *extra) == expected, said_of(folder, *every, *extra))
    need(said_of(folder, *every[1:3]) == ["ranks without a file: 0, 3"])
    many = said_of(folder, rank(0, size=1000))
    need(many == ["ranks without a file: 1, 2, 3, 4, 5, 6, 7, 8 and 991 more"], many)
    jobs = [rank(i, job=job) for job in ("11", "12") for i in range(4)]
    need(said_of(folder, *jobs) == ["ranks of 2 jobs; all are merged"], said_of(folder, *jobs))
    jobs = said_of(folder, *jobs[1:])
    need(jobs == ["job 11: ranks without a file: 0", "ranks of 2 jobs; all are merged"], jobs)
    need(said_of(folder, RankFile([Scope("a", [5])]), RankFile([Scope("a", [5])], pid=7)) == [])


def case_starts(folder):
    """Ranks of a job that was started again, and of two jobs without an id in one folder, are told
    apart by their start times, however far the clocks of the hosts are apart; ranks that started at
    the same time are not."""
    second = 10**9

    def ranks(count, later, size=4, **more):
        return [RankFile([Scope("a", [5])], rank=i, size=size, pid=10 + i,
                         later=later + (-4 if i % 2 else 5) * second, **more) for i in range(count)]

    line = "ranks of %d starts (a restart, or several jobs): %s; all are merged (--start last: only the last)"
    at = ["%d of 4 from 2023-11-14 22:%s UTC" % (count, time)
          for count, time in ((4, "13:26"), (4, "23:26"), (1, "33:35"))]
    two = ranks(4, 10 * second) + ranks(4, 610 * second)
    random.Random(5).shuffle(two)
    need(said_of(folder, *two) == [line % (2, ", ".join(at[:2]))], said_of(folder, *two))
    three = two + ranks(1, 1210 * second)
    need(said_of(folder, *three) == [line % (3, ", ".join(at))], said_of(folder, *three))
    said = said_of(folder, *ranks(4, 10 * second), *ranks(3, 610 * second))
    need(said == [line % (2, at[0] + ", 3" + at[1][1:])], said)
    said = said_of(folder, *ranks(2, 10 * second, job="7"), *ranks(2, 610 * second, job="7"))
    need(said == ["job 7: " + line % (2, ", ".join(at[:2]).replace("4 of", "2 of")),
                  "job 7: ranks without a file: 2, 3"], said)
    said = said_of(folder, *ranks(4, 10 * second), *ranks(4, 12 * second))
    need(said == ["ranks with several files: 0, 1, 2, 3 (a restart, or two jobs); all are merged"],
         said)
    many = sum((ranks(2, (10 + 100 * i) * second, size=0) for i in range(11)), [])
    said = said_of(folder, *many)
    need(len(said) == 1 and said[0].startswith(
        "ranks of 11 starts (a restart, or several jobs): 2 from 2023-11-14 22:13:26 UTC, 2 from "),
         said)
    need(said[0].endswith(" and 3 more; all are merged (--start last: only the last)"), said)


def case_last_start(folder):
    """--start last merges the files of the last start, its helpers' too; starts that overlap are refused."""
    def start(later, calls, helpers=0, ranks=3):
        files = [RankFile([Scope("a", [5] * calls)], rank=i, size=3, pid=calls + i, later=later + i * 10**9)
                 for i in range(ranks)]
        for i in range(helpers):
            files.append(RankFile([Scope("a", [5] * calls)], rank=0, size=3, pid=50 + i, later=later + 30 * 10**9))
            files[-1].header("parent_pid", calls)
        return files

    def merged(files, rc=0):
        random.Random(3).shuffle(files)
        return run(TOOL, "merge", "--start", "last", *written(folder, files), "-o", folder / "out",
                   rc=rc).stderr

    plain = [RankFile([Scope("a", [5])], pid=7)]
    text = merged(start(0, 100, helpers=2) + start(600 * 10**9, 10, helpers=1) + plain)
    need("merge: 5 files of earlier starts are not merged" in text and "starts (" not in text, text)
    need(stats(folder / "out")["a", "GlobalStatInfo"]["calls"] == 41, stats(folder / "out"))
    need("not merged" not in merged(start(0, 100, helpers=2)), "one start")
    (folder / "out").unlink()
    text = merged(start(0, 100) + start(2 * 10**9, 10), rc=2)
    need("the starts of the ranks overlap" in text and not (folder / "out").exists(), text)


def case_helpers(folder):
    """Processes that a rank started are parts of it, in any order and in merges of merges; those of another
    rank, host or job, those without a rank, and those of an earlier process of that number are not."""
    def process(pid, parent, calls, rank=0, later=0, **more):
        name = more.pop("name", "a")
        file = RankFile([Scope(name, [1000] * calls)], rank=rank, size=2, pid=pid, later=later, **more)
        file.header("parent_pid", parent)
        return file

    files = [process(10, 1, 7), process(11, 10, 100, later=5), process(12, 10, 200, later=6, name="b"),
             process(13, 12, 400, later=7), process(20, 1, 1, rank=1, later=1), process(21, 10, 2, rank=1, later=8)]
    paths = written(folder, files)

    def ranks(inputs, keep="names"):
        out = folder / ("out-%d" % random.getrandbits(40))
        tool("merge", "--keep", keep, *inputs, "-o", out)
        return out, tool("report", "--view", "ranks", out).split("\nname ")[1]

    _, view = ranks(paths)
    need(re.search(r"(?m)^a +3 +510.0 us .* rank 0 +node +507.0 us +rank 1 +node +1.000 us", view), view)
    need(re.search(r"(?m)^b +1 +200.0 us", view), view)
    for keep in ("ranks", "threads"):
        need(ranks(paths, keep)[1] == view, keep, ranks(paths, keep))
    del paths[3] # a merge of its parent and the rank does not say any more which process that was
    _, view = ranks(paths)
    for seed in range(6):
        random.Random(seed).shuffle(paths)
        parts = [ranks(part)[0] for part in (paths[:2], paths[2:3], paths[3:])]
        need(ranks(parts)[1] == view, seed, ranks(parts))
    for other in ({"host": "other"}, {"job": "other"}, {"rank": None}, {"later": -5}):
        path = process(15, 10, 3, **other).write(folder / "other")
        found = ranks([*paths, path])[1]
        need(re.search(r"(?m)^a +4 +113.0 us", found), other, found)


def case_killed_rank(folder):
    """A killed rank counts with the calls that it recorded, and is named. The wall time of a
    merged run is a lower bound if the end of one of its processes is not known, however it is
    merged and merged again. A scope that was open is open until the last action of its own
    process."""
    number = int(signal.SIGKILL)
    killed = record(folder, 1, "raise", number, program=FAKE, trace="0")[0].rename(folder / "killed")
    whole = record(folder, 1, "long", program=FAKE, trace="0")[0].rename(folder / "whole")

    def ages(file):
        return [row["open_ns"] for row in json.loads(tool("export", file, "--to", "json"))["tree"]
                if row.get("open_ns")]

    need(len(ages(killed)) == 2, ages(killed))
    for keep in ("names", "ranks", "threads"):
        merge([killed, whole], folder / "merged", keep=keep)
        merge([folder / "merged"], folder / "again", keep=keep)
        merge([whole, folder / "again"], folder / "more", keep=keep)
        for file in (folder / name for name in ("merged", "again", "more")):
            text = tool("report", file)
            need(re.search(r"^stint table: .*, at least [\d.]+ s wall, ", text), keep, file, text)
            need(re.search(r"^matmul .* <=\d", text, re.M), keep, file, text)
            need("1 of %d killed" % (3 if file.name == "more" else 2) in text, keep, file, text)
            need(json.loads(tool("export", file, "--to", "json"))["run"]["wall_at_least"], keep)
            need(re.search(r"wall UNSURE: at least [\d.]+ s -> at least", tool("diff", file, file)), keep)
            need(re.search(r"(?m)^wall +at least ", tool("info", file)), keep, file)
            if keep == "threads":
                need(ages(file) == ages(killed), file, ages(file), ages(killed))
        need("2 runs (1 killed) of" in tool("info", folder / "merged"), keep)
        calls = [sum(stats(file)["matmul", "GlobalStatInfo"]["calls"] for file in files)
                 for files in ([killed, whole], [folder / "merged"])]
        need(calls[0] == calls[1], keep, calls)
    merge([whole, shutil.copy(whole, folder / "other")], folder / "ended", keep="names")
    text = tool("report", folder / "ended")
    need("at least" not in text.split("\n")[0] and "<=" not in text, text)


def case_command_line(folder):
    """Ten thousand names on the command line."""
    path = RankFile([Scope("a", [5])], rank=0, size=1).write(folder / "f")
    names = [folder / ("l%d" % i) for i in range(10000)]
    for i, name in enumerate(names):
        if i % 2500:
            os.link(path, name)
        else:
            shutil.copy(path, name)
    lines = merge(names, folder / "out", rc=2, keep="names").splitlines()
    need(len(lines) == 1 + 10000 - 5 + 1, len(lines))
    need("9995 files left out" in lines[-1], lines[-2:])
    need(stats(folder / "out")["a", "GlobalStatInfo"]["calls"] == 5)


# ---- What it refuses.

def case_refuses(folder):
    good, spoilt = record(folder, 2)
    data = used_bytes(spoilt)
    out = folder / "out"
    for name, text in [("abi", with_field(data, HEADER["abi"], 7)), ("other", b"no run file"),
                       ("cut", data[:len(data) // 2]), ("head", data[:64]), ("empty", b"")]:
        (folder / name).write_bytes(text)
        line = merge([folder / name], out, rc=2)
        need(name in line and "nothing was merged" in line and not out.exists(), name, line)
        for files in ([good, folder / name], [folder / name, good]):
            lines = merge(files, out, rc=2).splitlines()
            need(len(lines) == 2 and name in lines[0], name, lines)
            need("1 file left out" in lines[1], name, lines)
            check_sums([good], out)
            need(not leftovers(folder), name, leftovers(folder))
            out.unlink()
    out.write_bytes(b"precious")
    merge([folder / "cut", folder / "none"], out, rc=2)
    need(out.read_bytes() == b"precious", "touched")
    # No run counts twice, by whatever name, and no input is replaced.
    kept = good.read_bytes()
    second = folder / "second.stint"
    second.write_bytes(kept)
    (folder / "link").symlink_to(good)
    os.link(good, folder / "hard")
    for files in ([good, good], [good, folder / "hard"], [good, folder / "link"]):
        lines = merge(files, folder / "once", rc=2)
        need(": the same file as %s; left out\n" % good in lines, lines)
        check_sums([good], folder / "once")
    for files, to in [([good, second], good), ([second, good], folder / "link"), ([good], good)]:
        line = merge(files, to, rc=2)
        need("the same file as the input" in line and "nothing was written" in line, line)
        need(good.read_bytes() == kept and out.read_bytes() == b"precious", "touched")


def case_usage(folder):
    file = record(folder, 1)[0]
    for arguments, word in [([], "missing"), ([file], "-o"), (["-o", folder / "x"], "missing"),
                            ([file, "-o"], "-o"), ([file, "--nonsense"], "--nonsense"),
                            ([file, "-o", folder / "x", "--keep", "all"], "names, ranks")]:
        done = run(TOOL, "merge", *arguments, rc=2)
        need(done.stderr.count("\n") == 1 and word in done.stderr, arguments, done)
    need(tool("merge", "--help").startswith("usage: stint merge"))


def spoil(draw, data, changes, places, values):
    """A copy in which as many bytes as one of `changes` says are others, each at one of places()."""
    spoilt = bytearray(data)
    for _ in range(draw.choice(changes)):
        spoilt[draw.choice(places()) % len(spoilt)] = draw.choice((*values, draw.randrange(256)))
    return spoilt


def case_hostile(folder):
    """Any byte may be another one: merged or refused, never a crash, and what comes out is read."""
    good = record(folder, 1, trace="64k")[0]
    data = used_bytes(good)
    used = len(data)
    draw = random.Random(4)
    bad, out = folder / "bad", folder / "out"
    merged = 0
    for _ in range(150):
        bad.write_bytes(spoil(draw, data, (1, 4, 40), lambda: (
            draw.randrange(used), draw.randrange(8, 300), draw.randrange(used * 9 // 10, used)),
            (0, 1, 0x7f, 0x80, 0xff)))
        done = run(TOOL, "merge", good, bad, "-o", out, "--keep",
                   draw.choice(("names", "ranks", "threads")), rc=None)
        need(done.returncode in (0, 2), done)
        if done.returncode == 0:
            merged += 1
            for arguments in (["report"], ["report", "-v", "ranks"], ["export", "--to", "chrome"]):
                done = run(TOOL, arguments[0], out, *arguments[1:], rc=None)
                need(done.returncode in (0, 2), arguments, done)
    need(merged > 50, merged)


def case_hostile_tables(folder):
    """The same of a merged file: its tables of ranks lead anywhere."""
    files = written(folder, [
        RankFile([Scope("a", [10 + r] * 3), Scope("b", [5] * 20, ROLE_WAITING)], rank=r, size=3,
                 pid=r + 1, later=r, steps=20, windows=[Windows("b", [(5, 1)] * 20)])
        for r in range(3)])
    merge(files, folder / "whole", keep="ranks")
    data = (folder / "whole").read_bytes()
    job = 64 * field(data, HEADER["job"])
    tables = [job] + [64 * field(data, (job + at, 4)) for at in (12, 20)]
    ranks = tables[1]
    tables += [64 * field(data, (ranks + 64 * rank + 52, 4)) for rank in range(3)]
    draw = random.Random(6)
    for _ in range(200):
        (folder / "bad").write_bytes(spoil(
            draw, data, (1, 4), lambda: [at + draw.randrange(192) for at in tables],
            (0, 1, 0x7f, 0xff)))
        for arguments in (["report", "-v", "ranks", folder / "bad"], ["report", folder / "bad"],
                          ["export", folder / "bad", "--to", "json"],
                          ["export", folder / "bad", "--to", "html"],
                          ["merge", "--keep", "ranks", folder / "bad", files[0], "-o",
                           folder / "out"]):
            done = run(TOOL, *arguments, rc=None)
            need(done.returncode in (0, 2), arguments, done)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[4]))
