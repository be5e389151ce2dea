#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tape_check.py PROGRAM TAPE...: plays each tape (tape.h; also packed with gzip) through the library
by PROGRAM (replay_program.c), with clocks that run alike and apart, and compares the figures that it
exports with those of the same bytes as read here: to the nanosecond. This reader knows the layout of
CUPTI's records (cupti_activity.h of CUDA 11.8 to 13.0; later versions append) and nothing of stint.

tape_check.py --bad PROGRAM TAPE: the same tape cut, garbled and of another version. It is refused in
one line, or it is played: no other end is right."""
import collections
import gzip
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

MAGIC = b"stntape1"
ENTER = 0
MEMCPY, MEMSET, DRIVER, RUNTIME, KERNEL, PEER = 1, 2, 4, 5, 10, 22
# The places of the device and of the number in records of work; start and end are at 16 and 24.
PLACES = {KERNEL: (40, 92), MEMCPY: (32, 44), MEMSET: (32, 44), PEER: (32, 64)}
FASTER = ("0", "400")  # millionths

Work = collections.namedtuple("Work", "kind device number start end bytes detail")
Call = collections.namedtuple("Call", "kind name thread start end")


class Tape:
    def __init__(self, data):
        self.names, self.sizes, self.work, self.calls = {}, {}, [], []
        self.scopes = {}  # number of a call -> the outermost call of its thread then
        self.stacks = collections.defaultdict(list)
        assert data[:8] == MAGIC
        chunks, at = [], 8
        while at < len(data):
            what, size = struct.unpack_from("<II", data, at)
            chunks.append((chr(what), data[at + 8:at + 8 + size]))
            at += 8 + size
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
            stack.append(self.names[domain, cbid])
            self.scopes.setdefault(number, stack[0])
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
            detail = tuple(r[4:7]) + (r[7] & 1,) if kind in (MEMCPY, PEER) else ()
            self.work.append(Work(kind, device, number, start, end, size, detail))
        elif kind in (DRIVER, RUNTIME):
            cbid, start, end, _, thread, _ = struct.unpack_from("<IQQIII", r, 4)
            name = self.names[2 if kind == RUNTIME else 1, cbid]
            self.calls.append(Call(kind, name, thread, start, end))

    def outer_calls(self):
        """The calls that are within no other: each is one row of stint."""
        inside = collections.defaultdict(int)
        for call in sorted(self.calls, key=lambda c: (c.start, -c.end, c.kind != RUNTIME)):
            if call.end > inside[call.thread]:
                inside[call.thread] = call.end
                yield call


def union(items):
    total = until = 0
    for start, end in sorted(items):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def figures(times):
    return len(times), sum(times), min(times), max(times)


def grouped(work, key):
    groups = collections.defaultdict(list)
    for w in work:
        groups[key(w)].append(w)
    return groups.values()


def expect(tape):
    kernels = [w for w in tape.work if w.kind == KERNEL]
    others = [w for w in tape.work if w.kind != KERNEL]
    calls, scopes = collections.defaultdict(list), collections.Counter()
    for c in tape.outer_calls():
        calls[re.sub(r"^__|_v\d+$|_pt[sd][sz]$", "", c.name)].append(c.end - c.start)
    for w in tape.work:
        scopes[tape.scopes.get(w.number), "ns"] += w.end - w.start
        scopes[tape.scopes.get(w.number), "records"] += 1
    return {
        "kernels": sorted((w[0].device, *figures([k.end - k.start for k in w]))
                          for w in grouped(kernels, lambda w: w.device)),
        "copies and fills": sorted(
            (w[0].device, *figures([k.end - k.start for k in w]), sum(k.bytes for k in w))
            for w in grouped(others, lambda w: (w.kind, w.device, w.detail))),
        "calls": sorted((name, *figures(times)) for name, times in calls.items()),
        "devices": sorted((w[0].device, union((k.start, k.end) for k in w),
                           union((k.start, k.end) for k in w if k.kind == KERNEL))
                          for w in grouped(tape.work, lambda w: w.device)),
        "scopes": sorted((name, scopes[name, "records"], ns) for (name, what), ns in scopes.items()
                         if name and what == "ns"),
        "lost": [],
    }


def row_figures(row):
    return tuple(row[key] for key in ("calls", "total_ns", "min_ns", "max_ns"))


def merge(rows):
    """The rows of one device as one."""
    devices = collections.defaultdict(list)
    for row in rows:
        devices[row["device"]].append(row_figures(row))
    return [(device, sum(r[0] for r in rows), sum(r[1] for r in rows), min(r[2] for r in rows),
             max(r[3] for r in rows)) for device, rows in devices.items()]


def read_figures(path):
    with open(path, encoding="utf-8") as file:
        run = json.load(file)
    gpu = run["gpu"]
    return {
        "kernels": sorted(merge(gpu["kernels"])),
        "copies and fills": sorted((r["device"], *row_figures(r), r["bytes"]) for r in gpu["memory"]),
        "calls": sorted((r["name"], *row_figures(r)) for r in gpu["api"]),
        "devices": sorted((r["number"], r["busy_ns"], r["kernel_ns"]) for r in gpu["devices"]),
        "scopes": sorted((r["name"], r["device_calls"], r["device_total_ns"])
                         for r in run["stats"] if r.get("device_calls")),
        "lost": run["lost"],
    }


def read_tape(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if path.endswith(".gz") else data


class Player:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.tape, self.out = os.path.join(folder, "tape"), os.path.join(folder, "out.json")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
        self.environment["STINT_WAITS"] = "0"

    def play(self, data, faster):
        with open(self.tape, "wb") as file:
            file.write(data)
        return subprocess.run([self.program, self.tape, self.out, faster], env=self.environment,
                              capture_output=True, text=True, errors="replace", timeout=60,
                              check=False)


def compare(player, path):
    """The number of differences."""
    data, wrong = read_tape(path), 0
    want = expect(Tape(data))
    for faster in FASTER:
        run = player.play(data, faster)
        if run.returncode or run.stderr:
            print(f"{path}: exit status {run.returncode}: {run.stderr}")
            return 1
        got = read_figures(player.out)
        for key in want:
            if got[key] != want[key]:
                wrong += 1
                print(f"{path}: {key}: {got[key]}, not {want[key]}")
    counts = {"kernels": sum(k[1] for k in want["kernels"]), "scopes": len(want["scopes"])}
    print(f"{os.path.basename(path)}: {counts}: {'differs' if wrong else 'equal'}")
    return wrong


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
    wrong, refused = 0, 0
    for what, data in bad_tapes(read_tape(path)):
        run = player.play(data, "0")
        lines = run.stderr.splitlines()
        is_refused = run.returncode == 1 and len(lines) == 1 and lines[0].startswith("tape: ")
        refused += is_refused
        if not is_refused and (run.returncode or not what.startswith(("cut", "garbled"))):
            wrong += 1
            print(f"{what}: exit status {run.returncode}: {run.stderr}")
    print(f"{refused} of 203 refused")
    return wrong


def main():
    args = sys.argv[1:]
    is_bad = args[0] == "--bad"
    program, *tapes = args[is_bad:]
    with tempfile.TemporaryDirectory() as folder:
        player = Player(program, folder)
        wrong = sum((check_bad if is_bad else compare)(player, tape) for tape in tapes)
    return 1 if wrong else 0


sys.exit(main())
