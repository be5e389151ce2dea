#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Metrics as they leave stint: otlp, prometheus and --follow.

    metrics_test.py TOOL PROGRAM FAKE_PROGRAM CASE

The requests are read by the decoder in otlp.py.
"""
import csv
import io
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys

from cases import LIMIT, SKIPPED, environment, is_sanitized, main, need, run, until
from otlp import from_json, points

TOOL, PROGRAM, FAKE = sys.argv[1:4]


def tool(*arguments, rc=0):
    return run(TOOL, *arguments, rc=rc)


def start(*arguments, more=None, **options):
    return subprocess.Popen([TOOL, *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                            env=environment(**(more or {})), **options)


def finish(process, rc=0, signal_number=None):
    if signal_number:
        process.send_signal(signal_number)
    out, err = process.communicate(timeout=LIMIT)
    need(process.returncode == rc, "rc %d, expected %d" % (process.returncode, rc), err.decode())
    return out, err.decode()


def record(path, program=FAKE, story="work", **env):
    run(program, story, STINT_FILE=path, STINT_REPORT="none", **env)
    return path


def lines(data):
    return [points(from_json(json.loads(line))) for line in data.decode().splitlines()]


def otlp(path, *options):
    (found,) = lines(tool("export", path, "--to", "otlp", *options).out.encode())
    return found


def export(path, kind):
    return tool("export", path, "--to", kind).out


def stats(path):
    return json.loads(export(path, "json"))


def named(found, metric, **labels):
    return [p for p in found.values() if p.metric == metric and
            all(p.labels.get(k) == v for k, v in labels.items())]


# ---- One file -----------------------------------------------------------------------------------

def case_buckets(folder):
    """JSON and CSV: the same buckets, on the grid, with the counts of the timed calls."""
    path = record(folder / "a.stint", PMIX_RANK=17)
    document = stats(path)
    rows = list(csv.DictReader(io.StringIO(export(path, "csv"), newline="")))
    need(document["run"]["rank"] == 17, document["run"])
    bounds = list(range(32)) + [(16 + i % 16) << (i // 16 - 1) for i in range(32, 641)]
    for stat, row in zip(document["stats"], rows):
        need(stat["name"] == row["name"] and row["rank"] == "17" == str(stat["rank"]), stat, row)
        need(row["host"] == stat["host"] and row["pid"] == str(stat["pid"]), stat, row)
        need(json.loads(row["histogram"]) == stat["histogram"], stat, row)
        need(sum(count for _, _, count in stat["histogram"]) == stat["samples"]
             if "samples" in stat else True, stat)
        for low, high, count in stat["histogram"]:
            at = bounds.index(low)
            need(bounds[at + 1] == high and count > 0, "not on the grid", stat)
        up_to, half = 0, None
        total = sum(count for _, _, count in stat["histogram"])
        for low, high, count in stat["histogram"]:
            up_to += count
            if up_to * 2 >= total:
                half = (low + high - 1) / 2
                break
        need(abs(half - stat["p50_ns"]) <= 0.064 * half + 1, "p50 of the buckets: %s" % half, stat)
    none = record(folder / "b.stint")
    need("rank" not in stats(none)["run"], "a rank without a launcher")


def case_otlp(folder):
    path = record(folder / "a.stint", SLURM_PROCID=3)
    document, found = stats(path), otlp(path)
    for stat in document["stats"]:
        (h,) = named(found, "stint.scope.duration", scope=stat["name"], set=stat["set"])
        count = sum(n for _, _, n in stat["histogram"])
        need(h.value == count, "count of %s" % stat["name"], h.point)
        need(h.labels == {"scope": stat["name"], "set": stat["set"]}, h.labels)
        need(h.resource == {"service.name": document["run"]["program"], "rank": 3,
                            "service.instance.id": "%s:%d" % (stat["host"], stat["pid"]),
                            "process.pid": stat["pid"], "host.name": stat["host"]} or
             h.resource.get("rank") in (3, "3"), h.resource)
        need(abs(h.point["sum"] * 1e9 - stat["total_ns"]) <= 1e-3 * stat["total_ns"] + 1,
             "sum of %s" % stat["name"], h.point)
        calls = sum(p.value for p in named(found, "stint.scope.calls", scope=stat["name"],
                                           set=stat["set"]))
        need(calls == stat["calls"], "calls of %s" % stat["name"])
        need(h.start == document["run"]["start_real_ns"], "start")
        # Every bucket of the fine grid has its count within 3.8 % of a bucket here.
        for index in h.buckets:
            low, high = 2 ** (index / 64) * 1e9, 2 ** ((index + 1) / 64) * 1e9
            need(any(l <= high * 1.07 + 1 and low <= u * 1.07 + 1 for l, u, _ in stat["histogram"]),
                 "a bucket from %s to %s" % (low, high), stat)
    paths = {p.labels.get("parent") for p in named(found, "stint.scope.calls", scope="load")}
    need(paths == {"step"}, "paths: %s" % paths)


def case_options(folder):
    """Deltas and threads are said in each point."""
    path = record(folder / "a.stint", SLURM_PROCID=3)
    for options in ((), ("--temporality", "delta"), ("--threads",)):
        found = otlp(path, *options)
        for key, point in found.items():
            need(point.delta == ("delta" in options), key, options)
        need(any("thread.name" in p.labels for p in found.values()) == ("--threads" in options), options)


def case_explicit(folder):
    """The recorder's own buckets: no error, and the same counts."""
    path = record(folder / "a.stint")
    exponential, explicit = otlp(path), otlp(path, "--buckets", "explicit")
    need(exponential.keys() == explicit.keys(), "series")
    for key, point in explicit.items():
        need(point.value == exponential[key].value, key)
    for row in stats(path)["stats"]:  # the fake clock's tick is a nanosecond: the same buckets
        (h,) = named(explicit, "stint.scope.duration", scope=row["name"], set=row["set"])
        need({round(bound * 1e9 + 0.5): n for bound, n in h.buckets.items()} ==
             {high: n for _, high, n in row["histogram"]}, h.point, row)


# ---- Prometheus ---------------------------------------------------------------------------------

def text_values(path):
    """By series: its value in the text exposition."""
    found = {}
    for series, value in re.findall(r"(?m)^([^#\n].*) (\S+)$", export(path, "prometheus")):
        need(series not in found, "a series twice", series)
        found[series] = float(value)
    return found


def case_rows(folder):
    """A small file of many scopes: every export has the histogram of each."""
    path = folder / "a.stint"
    end(live(path, "busy", "1000"), signal.SIGTERM)
    found, text = otlp(path), text_values(path)
    histograms = named(found, "stint.scope.duration")
    need(len(histograms) >= 1000, len(histograms))
    need(sum(1 for row in stats(path)["stats"] if row.get("histogram")) == len(histograms), "json")
    for h in histograms:
        labels = '{name="%s",set="%s"}' % (h.labels["scope"], h.labels["set"])
        need(text.get("stint_scope_duration_seconds_count" + labels) == h.value, labels)


def case_gpu(folder):
    """Durations on the GPU are histograms of their own, in nanoseconds, in every form."""
    path = record(folder / "a.stint", story="gpu")
    rows = {row["name"]: row["gpu"] for row in stats(path)["stats"] if "gpu" in row}
    need(set(rows) == {"kernel", "copy"}, rows)
    found, text = otlp(path, "--buckets", "explicit"), text_values(path)
    for name, row in rows.items():
        count = sum(n for _, _, n in row["histogram"])
        (h,) = named(found, "stint.scope.gpu.duration", scope=name)
        need({round(bound * 1e9 + 0.5): n for bound, n in h.buckets.items()} ==
             {high: n for _, high, n in row["histogram"]}, h.point, row)
        need(h.value == count, h.point)
        need(math.isclose(h.point["sum"] * 1e9, row["total_ns"], abs_tol=1e-3), h.point, row)
        (series,) = [key for key in text if key.startswith(
            'stint_scope_gpu_duration_seconds_count{name="%s",' % name)]
        need(text[series] == count, series)


def case_reset(folder):
    """stint_reset in the program has no effect: counts are those of the run, and so is their start."""
    path = record(folder / "a.stint", story="reset")
    (h,) = named(otlp(path), "stint.scope.duration", scope="spread")
    need(h.value == 2000 and h.start == stats(path)["run"]["start_real_ns"], h.point)
    need(math.isclose(h.point["min"], 0.001) and math.isclose(h.point["max"], 0.001999), h.point)
    (calls,) = named(otlp(path, "--temporality", "delta"), "stint.scope.calls", scope="spread")
    need(calls.value == 2000 and calls.start == h.start, calls.point)


# ---- Following ----------------------------------------------------------------------------------

def added(requests):
    """The deltas of each series, added."""
    sums = {}
    for request in requests:
        for key, point in request.items():
            need(point.delta, "not a delta")
            total = sums.setdefault(key, {"value": 0, "buckets": {}, "end": None})
            need(total["end"] is None or point.start >= total["end"], "times overlap: %s" % (key,))
            total["end"] = point.end
            total["value"] += point.value
            for bucket, count in point.buckets.items():
                total["buckets"][bucket] = total["buckets"].get(bucket, 0) + count
    return sums


def need_whole(requests, path):
    """The deltas add up to the file."""
    sums, final = added(requests), otlp(path)
    need(sums.keys() == final.keys(), "series", sums.keys() ^ final.keys())
    for key, point in final.items():
        need(math.isclose(sums[key]["value"], point.value, rel_tol=1e-9, abs_tol=1e-7),
             "%s: %s, expected %s" % (key, sums[key], point.value))
        need(sums[key]["buckets"] == point.buckets, "buckets of %s" % (key,))


def live(path, *story):
    """A program that goes on until it is killed."""
    env = environment(STINT_FILE=path, STINT_REPORT="none")
    process = subprocess.Popen([PROGRAM, *(story or ("busy",))], env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    need(process.stdout.readline() == b"ready\n", "the program is not ready")
    return process


def end(process, number):
    process.send_signal(number)
    process.communicate(timeout=LIMIT)


def file_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def case_follow(folder):
    """Follows a run until the program ends by a signal or by kill -9, or until the follower
    ends."""
    for first in (signal.SIGTERM, signal.SIGKILL, None):
        path, out = folder / ("run-%s.stint" % first), folder / ("out-%s" % first)
        follower = start("export", path, "--to", "otlp", "--follow", "0.1s", "--temporality", "delta",
                         "-o", out)  # before the file is there
        program = live(path)
        until(lambda: file_lines(out) >= 3, "no lines")
        if first:
            end(program, first)
            finish(follower)
        else:
            finish(follower, signal_number=signal.SIGINT)
            need(file_lines(out) >= 3, "the last reading is missing")
            end(program, signal.SIGKILL)
        requests = lines(out.read_bytes())
        if first:
            need_whole(requests, path)
        else:
            have, all_of = added(requests), otlp(path)
            need(all(have[key]["value"] <= all_of[key].value + 1e-9 for key in have), "too much")
            again = lines(tool("export", path, "--to", "otlp", "--follow", "1", "--temporality",
                               "delta").out.encode())
            need_whole(again, path)  # a restarted one begins at the start of the run
            need({p.start for p in again[0].values()} == {stats(path)["run"]["start_real_ns"]}, "start")


def case_follow_many(folder):
    """A pattern: files appear, are replaced and removed; each program's counts are delivered
    once."""
    out, pattern = folder / "out", folder / "*.stint"
    follower = start("export", pattern, "--to", "otlp", "--follow", "0.1", "--temporality", "delta",
                     "-o", out)
    path = folder / "a.stint"
    kept = []
    for i in range(3):
        program = live(path)
        pid = program.pid
        until(lambda pid=pid: out.exists() and b'"intValue":"%d"' % pid in out.read_bytes(), "no line")
        copy = folder / ("kept-%d" % i)
        if i == 1:
            os.rename(path, copy)  # its name goes before it ends
        end(program, signal.SIGKILL)
        if i != 1:
            shutil.copy(path, copy)
        kept.append((pid, copy))
        final = {key: p.value for key, p in otlp(copy).items()}

        def delivered(pid=pid, final=final):
            have = added([r for r in lines(out.read_bytes().rpartition(b"\n")[0])
                          if next(iter(r.values())).resource["process.pid"] in (pid, str(pid))])
            return all(key in have and math.isclose(have[key]["value"], value, rel_tol=1e-9,
                                                    abs_tol=1e-7) for key, value in final.items())
        until(delivered, "the last counts of %d are missing" % pid)
        if path.exists():
            path.unlink()
    finish(follower, signal_number=signal.SIGTERM)
    for pid, copy in kept:
        need_whole([r for r in lines(out.read_bytes())
                    if next(iter(r.values())).resource["process.pid"] in (pid, str(pid))], copy)


def case_follow_cumulative(folder):
    """Numbers never fall, and the start is that of the run."""
    path, out = folder / "a.stint", folder / "out"
    program = live(path)
    follower = start("export", path, "--to", "otlp", "--follow", "0.1", "-o", out)
    until(lambda: file_lines(out) >= 5, "no lines")
    end(program, signal.SIGTERM)
    finish(follower)
    requests, before = lines(out.read_bytes()), {}
    for request in requests:
        for key, point in request.items():
            need(not point.delta and point.start == stats(path)["run"]["start_real_ns"], key)
            if key in before:
                old = before[key]
                need(point.value >= old.value and point.end >= old.end, key)
                need(all(point.buckets.get(b, 0) >= n for b, n in old.buckets.items()), key)
            before[key] = point
    final = otlp(path)
    need(all(before[key].value == p.value for key, p in final.items()), "not the final counts")


def used(pid):
    """Peak memory in KB and seconds of the processor."""
    with open("/proc/%d/status" % pid) as status:
        peak = int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1))
    with open("/proc/%d/stat" % pid) as stat:
        times = stat.read().rpartition(")")[2].split()
    return peak, (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


def case_follow_cost(folder):
    """A follower of a run with 1 000 rows uses at most 20 MB, however often it reads. Prints the
    processor time of a reading."""
    path, out = folder / "a.stint", folder / "out"
    program = live(path, "busy", "1000")
    follower = start("export", path, "--to", "otlp", "--follow", "0.1", "-o", out)
    until(lambda: file_lines(out) >= 5, "no lines")
    early, _ = used(follower.pid)
    until(lambda: file_lines(out) >= 30, "no more lines")
    peak, seconds = used(follower.pid)
    print("%d KB, %.2f ms of the processor a reading" % (peak, 1000 * seconds / file_lines(out)))
    end(program, signal.SIGKILL)
    finish(follower)
    need(len(named(otlp(path), "stint.scope.duration")) >= 1000, "rows")
    if is_sanitized(TOOL):
        print("skipped: a sanitizer's memory is not the tool's")
        return SKIPPED
    need(peak <= early + 1024, "it grows: %d KB, then %d KB" % (early, peak))
    need(peak <= 20480, "%d KB" % peak)
    return 0


def case_follow_bad(folder):
    """Files that are no run files are reported once, and the others are delivered."""
    good = record(folder / "good.stint")
    data = good.read_bytes()
    (folder / "text.stint").write_text("hello\n" * 100)
    (folder / "old.stint").write_bytes(data[:8] + struct.pack("<I", 1) + data[12:])
    (folder / "cut.stint").write_bytes(data[:struct.unpack("<Q", data[24:32])[0] - 64])
    (folder / "empty.stint").write_bytes(b"")
    out = folder / "out"
    follower = start("export", folder / "*.stint", "--to", "otlp", "--follow", "0.1", "-o", out)
    until(lambda: file_lines(out) >= 2, "no lines")
    for i in range(3):  # a later file is found by another look at all of them
        record(folder / ("later-%d.stint" % i))
        until(lambda i=i: file_lines(out) >= 3 + i, "no later lines")
    _, err = finish(follower, rc=2, signal_number=signal.SIGTERM)
    for name, what in (("text", "not a run file"), ("old", "format 1"), ("cut", "cut off")):
        said = [line for line in err.splitlines() if name + ".stint" in line]
        need(len(said) == 1 and what in said[0], "%s: %s" % (name, err))
    need(file_lines(out) == 5, "an ended run is delivered once")
    for arguments, what in (((good, "--to", "json", "--follow", "1"), "--to otlp"),
                            ((good, "--to", "otlp", "--follow", "0"), "0.1 to 3600"),
                            ((good, "--to", "prometheus", "--follow", "1"), "-o FILE"),
                            ((good, "--to", "prometheus", "--follow", "1", "-o", "-"), "-o FILE"),
                            ((good, "--to", "prometheus", "--threads"), "--to otlp"),
                            ((good, "--to", "prometheus", "--serve", "1"), "use --follow -o FILE"),
                            ((good, "--to", "otlp", "--post=http://x"), "use --follow -o FILE")):
        err = tool("export", *arguments, rc=2).err
        need(what in err and err.count("\n") == 1, arguments, err)


def case_every(folder):
    """Percentiles of each interval: the same numbers as the deltas of otlp."""
    path = record(folder / "a.stint")
    text = tool("report", "--every", "1", "--unit", "ns", path).out
    rows = {row["name"]: row for row in stats(path)["stats"] if row["set"] == "GlobalStatInfo"}
    for line in text.splitlines()[2:]:
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) < 9 or cells[0] not in rows:
            continue
        row = rows.pop(cells[0])
        need(int(cells[1]) == sum(n for _, _, n in row["histogram"]), line)
        need(cells[3] == cells[7] and cells[6] == cells[8], "the interval is the whole run", line)
        p50 = float(cells[3].split()[0])
        need(abs(p50 - row["p50_ns"]) <= 0.064 * p50 + 1, line, row)
    need(not rows, "rows are missing", rows.keys(), text)
    live_path, out = folder / "b.stint", folder / "out"
    program = live(live_path)
    with open(out, "wb") as to:
        report = subprocess.Popen([TOOL, "report", "--every", "0.2", live_path], stdout=to,
                                  env=environment())
        until(lambda: out.read_bytes().count(b"the last") >= 3, "no intervals")
        end(program, signal.SIGKILL)
        need(report.wait(LIMIT) == 0, "report --every")
    calls = re.findall(r"(?m)^sleep\s+(\d+) ", out.read_text())
    (row,) = [one for one in stats(live_path)["stats"] if one["name"] == "sleep"]
    need(sum(map(int, calls)) == sum(n for _, _, n in row["histogram"]), "calls", calls, row)
    err = tool("report", "--every", "1", "--view", "tree", path, rc=2).err
    need("--unit" in err, err)


def case_top(folder):
    """stint top: percentiles of the interval beside those of the run, as stint report --every has
    them."""
    path = record(folder / "a.stint")
    text = tool("top", path).out
    titles = next(line for line in text.splitlines() if line.startswith("name "))
    need(titles.split()[-6:] == ["p50", "p99", "run", "p50", "run", "p99"], titles)
    every = {}
    for line in tool("report", "--every", "1", path).out.splitlines()[2:]:
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) >= 9:
            every[cells[0]] = [cells[3], cells[6], cells[7], cells[8]]
    rows = [re.split(r"\s{2,}", line.strip()) for line in text.partition(titles)[2].splitlines() if line]
    need(sorted(row[0] for row in rows if row[-1] != "-") == sorted(every), text, every)
    for row in rows:
        need(row[-1] == "-" or row[-4:] == every[row[0]], row, every)
    program = live(folder / "b.stint", "busy", "3")

    def has_interval():
        text = tool("top", "--once", "--interval", "0.3", folder / "b.stint").out
        cells = {row[0]: row[-4:] for row in (re.split(r"\s{2,}", line) for line in text.splitlines())}
        # A scope that was called long ago has only the percentiles of the run.
        return "-" not in cells["sleep"] and cells["scope number 0"][:2] == ["-", "-"] and \
            "-" not in cells["scope number 0"][2:]
    until(has_interval, "no percentiles of an interval")
    end(program, signal.SIGKILL)
    tree = tool("top", "--view", "tree", path).out
    need("p50" not in tree, "the paths to a scope share its histogram", tree)


def page_of(path):
    """The data of an HTML page."""
    text = path.read_text()
    return json.loads(re.search(r'(?s)id="data">(.*?)</script>', text).group(1))


def case_page(folder):
    """The HTML page of --follow: percentiles of the interval, as stint report --every has them."""
    path, out = record(folder / "a.stint"), folder / "page.html"
    tool("export", path, "--to", "html", "--follow", "1", "-o", out)
    data = page_of(out)
    need(data["run"]["interval_ns"] > 0, data["run"])
    every = {}
    for line in tool("report", "--every", "1", "--unit", "ns", path).out.splitlines()[2:]:
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) >= 8:
            every[cells[0]] = [int(cells[1])] + [float(c.split()[0]) for c in cells[3:6]]
    last = {row["name"]: [row["last"][key] for key in ("calls", "p50_ns", "p90_ns", "p99_ns")]
            for row in data["stats"] if "last" in row and row["set"] == "GlobalStatInfo"}
    need(last and all(every[name] == values for name, values in last.items()), last, every)
    tool("export", path, "--to", "html", "-o", folder / "once.html")
    need("interval_ns" not in page_of(folder / "once.html")["run"], "a page of the whole run")
    live_path = folder / "b.stint"
    program = live(live_path)
    follower = start("export", live_path, "--to", "html", "--follow", "0.1", "-o", out)
    until(lambda: page_of(out)["run"]["pid"] == program.pid, "the page is not replaced")

    def is_part():
        data = page_of(out)
        rows = [one for one in data["stats"] if one["name"] == "sleep" and "last" in one]
        return rows and rows[0]["last"]["calls"] < rows[0]["calls"] and \
            data["run"]["interval_ns"] < data["run"]["wall_ns"]
    until(is_part, "no interval that is a part of the run")
    end(program, signal.SIGKILL)
    finish(follower)
    final = page_of(out)
    need(final["run"]["state"] != "running", final["run"])
    for arguments in ((path, "--to", "html", "--follow", "1"),
                      (path, path, "--to", "html", "--follow", "1", "-o", out)):
        err = tool("export", *arguments, rc=2).err
        need("needs one run file and -o FILE" in err, err)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[4]))
