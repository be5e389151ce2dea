#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tape_check.py PROGRAM TAPE...: plays each tape (tape.h; also packed with gzip) through the library
by PROGRAM (tape_program.c), with clocks that run alike and apart, and compares the figures that it
exports with those of the same bytes as read here: to the nanosecond. This reader knows the layout of
CUPTI's records (cupti_activity.h of CUDA 11.8 to 13.0; later versions append) and nothing of stint.
The median of more than 64 samples is within 3.2 %, standard deviations are rounded.

A tape of records alone (a profile) is played with records that come late, too, in two random orders
with reports in between. The figures of nsys for it are in NAME.json: they must be those of the bytes.

tape_check.py --once ...: plays it once.
tape_check.py --bad PROGRAM TAPE: the tape cut, garbled and of another version. It is refused in one
line, or it is played: no other end is right."""
import collections
import gzip
import json
import os
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile

MAGIC = b"stntape1"
ENTER = 0
MEMCPY, MEMSET, DRIVER, RUNTIME, KERNEL, PEER = 1, 2, 4, 5, 10, 22
# The places of the device and of the number in records of work; start and end are at 16 and 24.
PLACES = {KERNEL: (40, 92), MEMCPY: (32, 44), MEMSET: (32, 44), PEER: (32, 64)}
DIRECTIONS = {1: "HtoD", 2: "DtoH", 8: "DtoD", 10: "PtoP"}
MEMORY = {0: "", 1: "pageable", 2: "pinned", 3: "device", 5: "managed"}
EXACT_MEDIAN, HISTOGRAM_ERROR = 64, 0.032

Work = collections.namedtuple("Work", "kind device number start end bytes detail")
Call = collections.namedtuple("Call", "kind name thread start end number")
differences = []


def check(what, got, want):
    if got != want:
        differences.append(f"{what}: {got}, not {want}")


class Tape:
    def __init__(self, data):
        self.names, self.sizes, self.work, self.calls = {}, {}, [], []
        self.scopes = {}  # number of a call -> the outermost call of its thread then
        self.inner = [0, 0]  # calls within others: with the number of the outer one, all
        self.stacks = collections.defaultdict(list)
        assert data[:8] == MAGIC
        chunks, at = [], 8
        while at < len(data):
            what, size = struct.unpack_from("<II", data, at)
            chunks.append((chr(what), data[at + 8:at + 8 + size]))
            at += 8 + size
        self.has_calls = any(what == "C" for what, _ in chunks)
        for what, body in chunks:
            if what == "N":
                self.names[struct.unpack_from("<II", body)] = body[8:-1].decode()
            elif what == "K":
                kind, size = struct.unpack("<II", body)
                self.sizes[kind] = size
        for what, body in chunks:
            if what == "C":
                self.read_callback(body)
            elif what == "B":
                self.read_records(body[16:])

    def read_callback(self, body):
        domain, cbid, site, number, thread = struct.unpack_from("<5I", body)
        stack = self.stacks[thread]
        if site == ENTER:
            if stack:
                self.inner[0] += stack[-1][1] == number
                self.inner[1] += 1
            stack.append((self.names[domain, cbid], number))
            self.scopes.setdefault(number, stack[0][0])
        elif stack:
            stack.pop()

    def read_records(self, data):
        at = 0
        while at < len(data):
            kind, = struct.unpack_from("<I", data, at)
            self.read_record(kind, data[at:at + self.sizes[kind]])
            at += self.sizes[kind]

    def read_record(self, kind, r):
        if kind in PLACES:
            device, number = (struct.unpack_from("<I", r, at)[0] for at in PLACES[kind])
            size, start, end = struct.unpack_from("<3Q", r, 8)
            detail = ()
            if kind in (MEMCPY, PEER):
                detail = (DIRECTIONS[r[4]], MEMORY[r[5]], MEMORY[r[6]], r[7] & 1)
            self.work.append(Work(kind, device, number, start, end, size, detail))
        elif kind in (DRIVER, RUNTIME):
            cbid, start, end, _, thread, number = struct.unpack_from("<IQQIII", r, 4)
            name = self.names[2 if kind == RUNTIME else 1, cbid]
            name = re.sub(r"^__|_v\d+$|_pt[sd][sz]$", "", name)
            self.calls.append(Call(kind, name, thread, start, end, number))

    def outer_calls(self):
        """All of the runtime, and those of the driver within no other: stint has rows of them."""
        inside = collections.defaultdict(int)
        for call in sorted(self.calls, key=lambda c: (c.start, c.kind != RUNTIME, -c.end)):
            if call.kind == RUNTIME or call.end > inside[call.thread]:
                inside[call.thread] = call.end
                yield call


def union(items):
    total = until = 0
    for start, end in sorted(items):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def grouped(items, key):
    groups = collections.defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def times_of(items):
    return [item.end - item.start for item in items]


class Expected:
    """The bytes of a tape say so."""

    def __init__(self, tape):
        self.kernels = grouped((w for w in tape.work if w.kind == KERNEL), lambda w: w.device)
        self.memory = grouped((w for w in tape.work if w.kind != KERNEL),
                              lambda w: (w.device, w.detail))
        self.calls = grouped(tape.outer_calls(), lambda c: c.name)
        ends = {c.number: c.end for c in tape.calls if c.kind == RUNTIME}
        self.delays = [max(0, w.start - ends[w.number]) for w in tape.work
                       if w.kind == KERNEL and w.number in ends]
        self.devices = {}
        for device, work in grouped(tape.work, lambda w: w.device).items():
            both, kernels, copies = (union((w.start, w.end) for w in work if w.kind in kinds)
                                     for kinds in (PLACES, (KERNEL,), (MEMCPY, MEMSET, PEER)))
            self.devices[device] = (both, kernels, copies, kernels + copies - both)
        in_scope = grouped((w for w in tape.work if w.number in tape.scopes),
                           lambda w: tape.scopes[w.number])
        self.scopes = {name: (len(work), sum(times_of(work))) for name, work in in_scope.items()}


def check_times(what, row, times):
    check(f"{what} calls", row.get("calls"), len(times))
    for key, want in (("total", sum(times)), ("min", min(times)), ("max", max(times))):
        check(f"{what} {key}", row.get(key + "_ns"), want)
    near = HISTOGRAM_ERROR * statistics.median(times) if len(times) > EXACT_MEDIAN else 0.5
    deviation = statistics.stdev(times) if len(times) > 1 else 0
    for key, want, distance in (("p50_ns", statistics.median(times), near),
                                ("stddev_ns", deviation, 1 + deviation * 1e-6)):
        if abs(row.get(key, -1) - want) > distance:
            differences.append(f"{what} {key}: {row.get(key)}, not {want} +- {distance}")


def check_rows(what, rows, groups):
    """rows, groups: by the same keys."""
    check(what, sorted(rows, key=str), sorted(groups, key=str))
    for key in rows.keys() & groups.keys():
        check_times(f"{what} {key}", rows[key], times_of(groups[key]))


def check_run(run, want):
    gpu = run["gpu"]
    kernels = grouped(gpu["kernels"], lambda r: r["device"])
    check("kernels by device", {d: (sum(r["calls"] for r in rows), sum(r["total_ns"] for r in rows))
                                for d, rows in kernels.items()},
          {d: (len(work), sum(times_of(work))) for d, work in want.kernels.items()})
    if len(gpu["kernels"]) == 1:
        check_rows("kernel", {r["device"]: r for r in gpu["kernels"]}, want.kernels)
        if want.delays:
            check("launch delay", gpu["kernels"][0].get("delay_avg_ns"),
                  sum(want.delays) // len(want.delays))
    memory = {}
    for r in gpu["memory"]:
        is_copy = r["kind"] == "copy"
        detail = (r["direction"], r.get("from", ""), r.get("to", ""), r.get("async", 0))
        memory[r["device"], detail if is_copy else ()] = r
    check_rows("memory", memory, want.memory)
    for key in memory.keys() & want.memory.keys():
        check(f"bytes {key}", memory[key]["bytes"], sum(w.bytes for w in want.memory[key]))
    check_rows("calls", {r["name"]: r for r in gpu["api"]}, want.calls)
    check("devices", {r["number"]: (r["busy_ns"], r["kernel_ns"], r["copy_ns"], r["overlap_ns"])
                      for r in gpu["devices"]}, want.devices)
    check("scopes", {r["name"]: (r["device_calls"], r["device_total_ns"])
                     for r in run["stats"] if r.get("device_calls")}, want.scopes)
    check("late or bad", [r for r in run["lost"] if r["what"] != "activity_unknown"], [])


def check_nsys(path, want):
    """The figures of nsys, which name kernels and directions of copies."""
    with open(path, encoding="utf-8") as file:
        nsys = json.load(file)

    def figures(times):
        return {"calls": len(times), "total": sum(times), "min": min(times), "max": max(times),
                "median": statistics.median(times),
                "stddev": statistics.stdev(times) if len(times) > 1 else 0}

    copies = grouped((w for group in want.memory.values() for w in group), lambda w: w.detail[0])
    for what, groups in (("kernels", want.kernels), ("api", want.calls), ("memory", copies)):
        ours = sorted((figures(times_of(group)) for group in groups.values()), key=str)
        theirs = [{k: row[k] for k in ours[0]} for row in nsys[what].values()]
        check(f"{what} of nsys", ours, sorted(theirs, key=str))
    check("bytes of nsys", {k: sum(w.bytes for w in group) for k, group in copies.items()},
          {k: row["bytes"] for k, row in nsys["memory"].items()})
    check("devices of nsys", list(want.devices.values()),
          [tuple(nsys[k] for k in ("busy", "kernel_busy", "copy_busy", "overlap"))])
    check("delay of nsys", [sum(want.delays) / len(want.delays)],
          list(nsys["launch_delay_avg"].values()))


def read_tape(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if path.endswith(".gz") else data


class Player:
    def __init__(self, program, folder):
        self.program = program
        self.tape, self.out = os.path.join(folder, "tape"), os.path.join(folder, "out.json")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
        self.environment["STINT_WAITS"] = "0"

    def play(self, data, *how):
        with open(self.tape, "wb") as file:
            file.write(data)
        return subprocess.run([self.program, self.tape, self.out, *how], env=self.environment,
                              capture_output=True, text=True, errors="replace", timeout=60,
                              check=False)


def compare(player, path, is_once):
    data, idle = read_tape(path), None
    tape = Tape(data)
    want = Expected(tape)
    nsys = re.sub(r"\.tape(\.gz)?$", "", path) + ".json"
    if os.path.exists(nsys):
        check_nsys(nsys, want)
    late = [] if tape.has_calls else [("0", "7"), ("0", "1306"), ("400", "7")]
    for how in [("0",)] if is_once else [("0",), ("400",), *late]:
        run = player.play(data, *how)
        check(f"{how} exit status", run.returncode, 0)
        check("warnings", [line for line in run.stderr.splitlines() if "stint:" in line], [])
        if run.returncode:
            break
        with open(player.out, encoding="utf-8") as file:
            got = json.load(file)
        check_run(got, want)
        rows = sorted((str(r.get("device")), r["why"], r["calls"], r["total_ns"])
                      for r in got["gpu"]["gaps"])
        idle = idle or rows
        check("idle times", rows, idle)
    print(f"{os.path.basename(path)}: {len(tape.work)} records of work, {len(tape.calls)} of calls, "
          f"in {len(want.scopes)} scopes; calls within others that have their number: "
          f"{tape.inner[0]} of {tape.inner[1]}")


def bad_tapes(data):
    dice = random.Random(1)
    yield "empty", b""
    yield "of another version", data[:7] + b"2" + data[8:]
    yield "not a tape", b"x" + data[1:]
    for _ in range(40):
        yield "cut", data[:dice.randrange(len(data))]
    for _ in range(160):
        garbled = bytearray(data)
        for _ in range(dice.choice((1, 3, 30))):
            garbled[dice.randrange(8, len(data))] = dice.choice((0, 1, 255, dice.randrange(256)))
        yield "garbled", bytes(garbled)


def check_bad(player, path):
    refused = 0
    for what, data in bad_tapes(read_tape(path)):
        run = player.play(data, "0")
        lines = run.stderr.splitlines()
        is_refused = run.returncode == 1 and len(lines) == 1 and lines[0].startswith("tape: ")
        refused += is_refused
        if not is_refused and (run.returncode or what not in ("cut", "garbled")):
            differences.append(f"{what}: exit status {run.returncode}: {run.stderr}")
    print(f"{refused} of 203 refused")


def main():
    args = sys.argv[1:]
    how = args.pop(0) if args[0].startswith("--") else ""
    program, *tapes = args
    with tempfile.TemporaryDirectory() as folder:
        player = Player(program, folder)
        for path in tapes:
            if how == "--bad":
                check_bad(player, path)
            else:
                compare(player, path, how == "--once")
    for difference in differences:
        print("tape_check.py:", difference)
    return 1 if differences else 0


sys.exit(main())
