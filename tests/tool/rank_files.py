# SPDX-License-Identifier: Apache-2.0
"""Run files of the ranks of a job, written here instead of by a program: the times of each rank are
known exactly, and thousands of files take seconds. The layout is that of docs/format.md.
"""
import re
import struct

from cases import header_fields

HEADER = header_fields()
HEADER_BYTES = 17232
UNIT, NODE_BYTES, HISTOGRAM_BYTES, THREAD_BYTES = 64, 320, 2880, 400
BUCKETS = 704
BUCKET_FULL = 0xffffff00
RAW_SAMPLES = 32  # that a node keeps itself
RAW_BELOW = (1 << 31) - 1  # ticks of one
ROLE_NONE, ROLE_WAITING = 0, 8
WINDOWS = 256
START_REAL = 1_700_000_000_000_000_000
BOOT_MONOTONIC = 5_000_000_000_000
NONE = (1 << 64) - 1


def bucket(value):
    """The place of a value in a histogram: 16 buckets an octave."""
    if value < 32:
        return value
    octave = value.bit_length() - 5
    return min(16 * octave + (value >> octave), BUCKETS - 1)


class Scope:
    """A name with the nanoseconds of each call; nested scopes are in `inside`. Each of the calls
    stands for `times`."""

    def __init__(self, name, calls, role=ROLE_NONE, inside=(), place="", times=1):
        self.name, self.calls, self.role, self.inside = name, list(calls), role, list(inside)
        self.place, self.times = place, times


class Windows:
    """The windows of steps of a scope, from the nanoseconds and calls of each step."""

    def __init__(self, name, steps, lacks=0, seq=(2, 2)):
        self.name, self.steps, self.lacks, self.seq = name, len(steps), lacks, seq
        self.width = 1
        while self.width * WINDOWS < len(steps):
            self.width *= 2
        self.sums = windows_of(steps, self.width)


def windows_of(steps, width):
    """The sums of so many steps each."""
    return [tuple(map(sum, zip(*steps[first:first + width])))
            for first in range(0, len(steps), width)]


class RankFile:
    """One process. Later: nanoseconds after the job's first start at which it began. Skew: how many
    its time of day is ahead of the true one. Base: the clock of its boot when the job began. Trace:
    (name, begin after the start of the process, duration) of calls of the first thread, the last
    ones; lost: calls before them that the ring has no longer. Windows: of waiting scopes, struct
    arena_windows, each a Windows."""

    def __init__(self, scopes, rank=None, size=0, job="", host="node", pid=1000, later=0,
                 wall=10_000_000_000, program="solver", threads=1, ended=True, histograms=True,
                 boot="a-boot-1", skew=0, base=BOOT_MONOTONIC, trace=(), lost=0, steps=0,
                 windows=()):
        self.data = bytearray(-(-HEADER_BYTES // UNIT) * UNIT)
        self.texts, self.sites, self.rooms = {}, {}, (0, 0)
        self.histograms = histograms
        self.start, self.skew, self.base = base + later, skew, base
        self.trace, self.lost, self.nodes = list(trace), lost, {}
        self.data[:8] = b"STINTRUN"
        self.header("abi", 5)
        self.header("header_bytes", HEADER_BYTES)
        self.header("pid", pid)
        self.header("clock_kind", 2)
        self.header("process_start_ns", self.start)
        self.header("ticks_per_us", 1000 << 8)
        self.stamp("start", later)
        if ended:
            self.stamp("end", later + wall)
        at = HEADER["boot_id"][0]
        self.data[at:at + len(boot)] = boot.encode()
        self.about(program, host, rank)
        self.put_job(size, job)
        self.put_names(scopes)
        self.header("steps", steps)
        self.put_windows(windows)
        newest = 0
        for ordinal in range(threads):
            newest = self.put_thread(scopes, newest, ordinal)
        self.header("first_thread", newest)
        self.header("thread_count", threads)
        self.header("size", len(self.data))
        self.header("used", len(self.data))

    def header(self, name, value):
        at, size = HEADER[name]
        self.data[at:at + size] = value.to_bytes(size, "little")

    def stamp(self, name, later):
        now = self.base + later
        struct.pack_into("<QQQ", self.data, HEADER[name][0], now, now,
                         START_REAL + later + self.skew)

    def get(self, size):
        """Zeroed memory; its offset."""
        at = len(self.data)
        self.data += bytes(-(-size // UNIT) * UNIT)
        return at

    def text(self, text):
        if not text:
            return 0
        if text not in self.texts:
            raw = text.encode()
            at = self.get(4 + len(raw) + 1)
            struct.pack_into("<I", self.data, at, len(raw))
            self.data[at + 4:at + 4 + len(raw)] = raw
            self.texts[text] = at // 8
        return self.texts[text]

    def about(self, program, host, rank):
        texts = [self.text(t) for t in (program, program, host, "cpu", "cc", "monotonic")]
        struct.pack_into("<7I3I", self.data, HEADER["about"][0], *texts, 0, 4, 0,
                         0 if rank is None else rank + 1)

    def put_job(self, size, job):
        self.job = self.get(64)
        struct.pack_into("<3I", self.data, self.job, size, 0, self.text(job))
        self.header("job", self.job // UNIT)

    def put_windows(self, windows):
        newest = 0
        for w in windows:
            at = self.get(64 + 16 * (WINDOWS + 1))
            struct.pack_into("<4IQQII", self.data, at, newest, self.sites[w.name, ""], 0, w.seq[0],
                             w.width, w.steps, WINDOWS, w.lacks)
            for i, (ns, calls) in enumerate(w.sums):
                struct.pack_into("<QQ", self.data, at + 64 + 16 * i, ns, calls)
            struct.pack_into("<Q", self.data, at + 64 + 16 * WINDOWS, w.seq[1])
            newest = at // UNIT
        struct.pack_into("<I", self.data, self.job + 28, newest)

    def put_names(self, scopes):
        every = []

        def walk(scopes):
            for scope in scopes:
                if (scope.name, scope.place) not in self.sites:
                    self.sites[scope.name, scope.place] = len(self.sites) + 1
                    every.append(scope)
                walk(scope.inside)

        walk(scopes)
        for first in range(0, len(every), 256):
            texts = [(self.text(s.name), self.text(s.place or "solver.c"), self.text("main"))
                     for s in every[first:first + 256]]
            at = self.get(256 * 24)
            struct.pack_into("<I", self.data, HEADER["site_chunk"][0] + first // 256 * 4,
                             at // UNIT)
            for i, (scope, texts) in enumerate(zip(every[first:first + 256], texts)):
                struct.pack_into("<4IBBB", self.data, at + i * 24, *texts, first + i + 1, 0,
                                 scope.role, 0)
        self.header("site_count", len(every))
        name = self.text("GlobalStatInfo")
        at = self.get(256 * 4)
        struct.pack_into("<I", self.data, at, name)
        struct.pack_into("<I", self.data, HEADER["set_chunk"][0], at // UNIT)
        self.header("set_count", 1)

    def put_thread(self, scopes, newest, ordinal):
        root = self.get(NODE_BYTES)
        struct.pack_into("<Q", self.data, root + 16, NONE)
        at = self.get(THREAD_BYTES)
        struct.pack_into("<7IIQQ", self.data, at, newest, 1 + ordinal, ordinal, 0, 1,
                         root // UNIT, 0, 0, self.start, self.start + 1)
        self.put_scopes(scopes, root)
        if self.trace and not ordinal:
            struct.pack_into("<I", self.data, at + 28, self.put_ring() // UNIT)
        return at // UNIT

    def put_ring(self):
        """The trace, in the order in which the calls ended."""
        size = 1
        while size < len(self.trace):
            size *= 2
        at, head = self.get(64 + 16 * size), self.lost + len(self.trace)
        struct.pack_into("<QQ", self.data, at, head, size - 1)
        for i, (name, begin, duration) in enumerate(sorted(self.trace, key=lambda e: e[1] + e[2])):
            place = at + 64 + 16 * ((self.lost + i) % size)
            struct.pack_into("<QQ", self.data, place, self.start + begin,
                             self.nodes[name] // UNIT << 38 | duration)
        return at

    def put_scopes(self, scopes, parent):
        for scope in scopes:
            at = self.put_node(scope, parent)
            struct.pack_into("<I", self.data, at + 56,
                             struct.unpack_from("<I", self.data, parent + 52)[0])
            struct.pack_into("<I", self.data, parent + 52, at // UNIT)
            self.put_scopes(scope.inside, at)

    def put_node(self, scope, parent):
        at, calls = self.get(NODE_BYTES), scope.calls
        self.nodes[scope.name] = at
        nested = sum(sum(s.calls) * s.times for s in scope.inside)
        struct.pack_into("<QQQQQIIIIIHH", self.data, at, 2 * len(calls) * scope.times,
                         sum(calls) * scope.times, min(calls, default=NONE), 0, nested, 0,
                         self.sites[scope.name, scope.place], parent // UNIT, 0, 0, 0, 0)
        if calls:
            struct.pack_into("<QQQQ", self.data, at + 88, calls[0], self.start + 1,
                             self.start + 1, max(calls))
        if len(calls) * scope.times <= RAW_SAMPLES and max(calls, default=0) < RAW_BELOW:
            struct.pack_into("<%dI" % len(calls), self.data, at + 192, *(c + 1 for c in calls))
        elif self.histograms:
            self.put_histogram(at, calls, scope.times)
        return at

    def put_histogram(self, node, calls, times):
        at = self.get(HISTOGRAM_BYTES)
        struct.pack_into("<I", self.data, node + 40, at // UNIT)
        for call in calls:
            place = at + 4 * bucket(call)
            count = struct.unpack_from("<I", self.data, place)[0] + times
            struct.pack_into("<I", self.data, place, min(count, BUCKET_FULL))

    def write(self, path):
        path.write_bytes(self.data)
        return path


def cells(text, table, name):
    """The cells of a row, by title; a title that is there twice gets a number."""
    lines = text[text.index("\n%s " % table) + 1:].split("\n")
    titles = []
    for title in re.split(r"  +", lines[0].strip()):
        titles.append(title + str(titles.count(title) or ""))
    row = next(line for line in lines[1:] if line.startswith(name + " "))
    return dict(zip(titles, re.split(r"  +", row.strip())))
