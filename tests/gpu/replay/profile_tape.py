#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""profile_tape.py PROFILE.txt.gz TAPE: a tape (tape.h) with the records of a profile
(replay/data/README.md). They are laid out as in CUDA 13.0, and functions are numbered in the order
in which they occur: CUPTI's numbers differ between versions, and nothing depends on them."""
import gzip
import struct
import sys

DRIVER, RUNTIME = 1, 2
SIZES = {10: 216, 1: 96, 2: 88, 38: 56, 4: 40, 5: 40}


def record(kind, fields):
    """fields: offset -> (format, value)."""
    data = bytearray(SIZES[kind])
    struct.pack_into("<I", data, 0, kind)
    for offset, (form, value) in fields.items():
        struct.pack_into("<" + form, data, offset, value)
    return bytes(data)


class Tape:
    def __init__(self, out):
        self.out, self.names, self.pointers = out, {}, {}
        out.write(b"stntape1")
        self.chunk("V", struct.pack("<I", 130101))
        for kind, size in SIZES.items():
            self.chunk("K", struct.pack("<II", kind, size))

    def chunk(self, what, data):
        self.out.write(struct.pack("<II", ord(what), len(data)) + data)

    def number_of(self, name):
        domain = RUNTIME if name.startswith("cuda") else DRIVER
        if (domain, name) not in self.names:
            number = 1 + sum(key[0] == domain for key in self.names)
            self.names[domain, name] = number
            self.chunk("N", struct.pack("<II", domain, number) + name.encode() + b"\0")
        return self.names[domain, name]

    def pointer_to(self, name):
        if name not in self.pointers:
            self.pointers[name] = 0x1000 * (1 + len(self.pointers))
            self.chunk("P", struct.pack("<Q", self.pointers[name]) + name.encode() + b"\0")
        return self.pointers[name]


def kernel(tape, f):
    start, end, device, context, stream, correlation = map(int, f[1:7])
    shape, registers, shared = map(int, f[7:13]), int(f[13]), map(int, f[14:16])
    return record(10, {
        6: ("H", registers), 16: ("Q", start), 24: ("Q", end), 32: ("Q", end), 40: ("I", device),
        44: ("I", context), 48: ("I", stream), 92: ("I", correlation),
        104: ("Q", tape.pointer_to(f[16].strip())),
        **{52 + 4 * i: ("I", value) for i, value in enumerate([*shape, *shared])}})


def work(kind, f, more):
    start, end, device, context, stream, correlation, size = map(int, f[1:8])
    return record(kind, {
        **more, 8: ("Q", size), 16: ("Q", start), 24: ("Q", end), 32: ("I", device), 36: ("I", context),
        40: ("I", stream), 44: ("I", correlation)})


def copy(_, f):
    kind, source, target, is_async = map(int, f[8:12])
    return work(1, f, {4: ("B", kind), 5: ("B", source), 6: ("B", target), 7: ("B", is_async),
                       88: ("Q", 1)})


def fill(_, f):
    return work(2, f, {50: ("H", int(f[8]))})


def call(tape, f):
    start, end, thread, correlation = map(int, f[1:5])
    return record(5 if f[5].startswith("cuda") else 4, {
        4: ("I", tape.number_of(f[5])), 8: ("Q", start), 16: ("Q", end), 28: ("I", thread),
        32: ("I", correlation)})


def wait(_, f):
    start, end, context, stream, correlation, kind = map(int, f[1:7])
    return record(38, {4: ("I", kind), 8: ("Q", start), 16: ("Q", end), 24: ("I", correlation),
                       28: ("I", context), 32: ("I", stream)})


def write(profile, to):
    makers = {"K": kernel, "M": copy, "S": fill, "A": call, "Y": wait}
    with gzip.open(profile, "rt") as lines, open(to, "wb") as out:
        tape = Tape(out)
        records = b"".join(makers[line[0]](tape, line.split(maxsplit=16)) for line in lines)
        tape.chunk("B", struct.pack("<QII", 0, 0, len(records)) + records)


if __name__ == "__main__":
    write(*sys.argv[1:])
