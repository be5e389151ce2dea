#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""replay_test.py PROGRAM REAL DATA PROFILE fake|all: plays DATA/PROFILE.txt.gz through the library and
compares the figures it exports with those of nsys (DATA/PROFILE.json) and, where a row of nsys is
several rows of stint (copies by kind of memory), with the records themselves. Exact to the
nanosecond; the median of more than 64 samples is within 3.2 %, standard deviations are rounded to
nanoseconds. Then the same with records that come late, in two random orders with reports in
between, where CUPTI's clock runs faster, and on the real clock (REAL), from whose rate CUPTI's
differs by an unknown amount: the same figures, and the same idle times. `fake` leaves the real clock
out, which needs as long as the profile."""
import collections
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile

import profile_tape

EXACT_MEDIAN = 64
HISTOGRAM_ERROR = 0.032
DIRECTIONS = {"1": "HtoD", "2": "DtoH"}
KERNEL = "vectorAdd(float const*, float const*, float*, int)"
MEMORY = {"0": "", "1": "pageable", "2": "pinned", "3": "device"}

failures = []


def check(what, got, want):
    if got != want:
        failures.append(f"{what}: {got}, not {want}")


def check_near(what, got, want, distance):
    if got is None or abs(got - want) > distance:
        failures.append(f"{what}: {got}, not {want} +- {distance}")


def check_times(what, row, want):
    """want: calls, total, min, max, median, stddev."""
    for key in ("calls", "total", "min", "max"):
        check(f"{what} {key}", row.get(key if key == "calls" else key + "_ns"), want[key])
    if want["calls"] <= EXACT_MEDIAN:
        check(f"{what} median", row.get("p50_ns"), int(want["median"]))
    else:
        check_near(f"{what} median", row.get("p50_ns"), want["median"],
                   want["median"] * HISTOGRAM_ERROR)
    check_near(f"{what} stddev", row.get("stddev_ns"), want["stddev"], 1 + want["stddev"] * 1e-6)


def figures(times):
    return {
        "calls": len(times),
        "total": sum(times),
        "min": min(times),
        "max": max(times),
        "median": statistics.median(times),
        "stddev": statistics.stdev(times) if len(times) > 1 else 0,
    }


def read_copies(path):
    """Times and bytes by direction, memory and asynchrony."""
    copies = collections.defaultdict(lambda: ([], []))
    with gzip.open(path, "rt") as lines:
        for line in lines:
            f = line.split()
            if f[0] == "M":
                key = (DIRECTIONS[f[8]], MEMORY[f[9]], MEMORY[f[10]], int(f[11]))
                copies[key][0].append(int(f[2]) - int(f[1]))
                copies[key][1].append(int(f[7]))
    return copies


def compare_kernels(gpu, want):
    check("kernels", [r["name"] for r in gpu["kernels"]], [KERNEL])
    row = gpu["kernels"][0]
    (mangled, kernel), = want["kernels"].items()
    check_times("kernel", row, kernel)
    check("launch delay", row.get("delay_avg_ns"), int(want["launch_delay_avg"][mangled]))


def compare_copies(gpu, want, profile):
    copies = read_copies(profile)
    rows = {}
    for row in gpu["memory"]:
        key = (row["direction"], row.get("from", ""), row.get("to", ""), row.get("async", 0))
        rows[key] = row
    check("copies", sorted(rows), sorted(copies))
    sums = collections.defaultdict(collections.Counter)
    for key in rows.keys() & copies.keys():
        times, sizes = copies[key]
        check_times(f"copy {key}", rows[key], figures(times))
        check(f"copy {key} bytes", rows[key].get("bytes"), sum(sizes))
        want_sizes = figures(sizes)
        for bound in ("min", "max"):
            check(f"copy {key} {bound} bytes", rows[key].get(bound + "_bytes"), want_sizes[bound])
        check_near(f"copy {key} median bytes", rows[key].get("p50_bytes"), want_sizes["median"],
                   HISTOGRAM_ERROR * want_sizes["median"] if len(sizes) > EXACT_MEDIAN else 0)
        check_near(f"copy {key} stddev bytes", rows[key].get("stddev_bytes"),
                   want_sizes["stddev"], 1)
        sums[key[0]].update(calls=rows[key]["calls"], total=rows[key]["total_ns"],
                            bytes=rows[key]["bytes"])
    for direction, copy in want["memory"].items():
        for key in ("calls", "total", "bytes"):
            check(f"copies {direction} {key}", sums[direction][key], copy[key])


def compare_calls(gpu, want):
    rows = {r["name"]: r for r in gpu["api"]}
    check("API calls", sorted(rows), sorted(want["api"]))
    for name in rows.keys() & want["api"].keys():
        check_times(name, rows[name], want["api"][name])


def compare_device(gpu, want):
    check("devices", len(gpu["devices"]), 1)
    device = gpu["devices"][0]
    for key, ours in (("busy", "busy_ns"), ("kernel_busy", "kernel_ns"), ("copy_busy", "copy_ns"),
                      ("overlap", "overlap_ns")):
        check(key, device[ours], want[key])


def compare(gpu, want, profile):
    compare_kernels(gpu, want)
    compare_copies(gpu, want, profile)
    compare_calls(gpu, want)
    compare_device(gpu, want)


def read_idle_times(gpu):
    rows = [(r.get("device"), r.get("why"), r["calls"], r["total_ns"]) for r in gpu["gaps"]]
    return sorted(rows, key=str)


def main():
    program, real, data, name, clocks = sys.argv[1:]
    profile = os.path.join(data, name + ".txt.gz")
    with open(os.path.join(data, name + ".json"), encoding="utf-8") as file:
        want = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        tape, out = os.path.join(folder, "profile.tape"), os.path.join(folder, "out.json")
        profile_tape.write(profile, tape)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
        environment["STINT_WAITS"] = "0"
        commands = [[program, "0"], [program, "0", "7"], [program, "0", "1306"],
                    [program, "400"], [program, "400", "7"]]
        if clocks == "all":
            commands.append([real, "0"])
        runs = []
        for command in commands:
            subprocess.run([command[0], tape, out, *command[1:]], check=True, env=environment,
                           timeout=100)
            with open(out, encoding="utf-8") as file:
                runs.append(json.load(file))
    for run in runs:
        compare(run["gpu"], want, profile)
        check("late", [r for r in run["lost"] if r["what"] == "activity_late"], [])
        check("idle times", read_idle_times(run["gpu"]), read_idle_times(runs[0]["gpu"]))
    for failure in failures:
        print("replay_test.py:", failure)
    return 1 if failures else 0


sys.exit(main())
