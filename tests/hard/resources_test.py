#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program under the limits of the system: its result is the one it has without timers.

    resources_test.py ON OFF CASE

ON and OFF are resources_program.c with and without timers.
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tool"))
# pylint: disable=wrong-import-position
import cases
from cases import SKIPPED, is_sanitized, main, need, small_disk

ON, OFF, CASE = sys.argv[1:4]


def run(program, limit, *args, prefix=(), stderr=subprocess.PIPE, **variables):
    return cases.run(*prefix, program, limit, *args, rc=None, stderr=stderr, **variables)


def truth():
    done = run(OFF, "none")
    need(done.returncode == 0 and done.out and not done.err, "without timers", done)
    return done.out


def same(done, *what):
    need(done.returncode == 0, *what, "exit status %d" % done.returncode, done.err[-2000:])
    need(done.out == truth(), *what, "result %r" % done.out)


def case_memory(_):
    """Address space from too little for an arena to plenty: the arena gets smaller, and then there
    is none, which is said."""
    if is_sanitized(ON):
        return SKIPPED
    refused = recorded = 0
    for kib in [*range(0, 8192, 256), 16384, 32768, 65536, 131072]:
        limit = "memory=%d" % kib
        done = run(ON, limit, "/nowhere/at/all", STINT_REPORT="table")
        same(done, limit)
        refused += "no memory for the report" in done.err
        recorded += "name 17 " in done.err
        need("no memory" in done.err or "name 17 " in done.err, limit, done.err[-1000:])
    need(refused > 3 and recorded > 3, refused, recorded)
    return 0


def case_file_size(folder):
    """A file that must not grow is an error, not a signal."""
    for size in 0, 1, 4096, 100000:
        for name in "STINT_OUTPUT", "STINT_FILE":
            with open(str(folder / "stderr"), "wb") as stderr:
                same(run(ON, "file=%d" % size, folder / "export", stderr=stderr,
                         STINT_REPORT="table", **{name: folder / ("%s-%d" % (name, size))}),
                     name, size)
    (folder / "export").write_text("old")
    done = run(ON, "file=100", folder / "export", STINT_REPORT="table",
               STINT_OUTPUT=folder / "report")
    need((folder / "export").read_text() == "old", "the old file is damaged")
    need(not list(folder.glob("*.tmp")), list(folder.iterdir()))
    same(done)
    need("cannot write the report to" in done.err and "File too large" in done.err, done.err)
    need("stint_export: cannot write" in done.err, done.err)
    need("name 17" in done.err, "the report went to stderr", done.err[-1000:])
    return 0


def case_descriptors(folder):
    """stdin, stdout and stderr are all there are."""
    done = run(ON, "descriptors=3", folder / "export", STINT_REPORT="table",
               STINT_FILE=folder / "run", STINT_OUTPUT=folder / "report")
    same(done)
    for said in "STINT_FILE: cannot write", "stint_export: cannot write", \
                "cannot write the report to", "Too many open files":
        need(said in done.err, said, done.err[-2000:])
    need("name 17" in done.err, "the report went to stderr", done.err[-1000:])
    need(not list(folder.iterdir()), list(folder.iterdir()))
    return 0


def case_no_reader(folder):
    """Reports into a pipe without a reader, and into a closed stderr, do no harm."""
    for variables in {}, {"STINT_OUTPUT": "/dev/stderr"}, {"STINT_FILTER": "bad"}:
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as pipe:
            same(run(ON, "none", folder / "export", stderr=pipe, STINT_REPORT="table", **variables),
                 variables)
    closed = ["sh", "-c", '"$0" "$@" 2>&-']
    same(run(ON, "none", folder / "export", prefix=closed, STINT_REPORT="table"))
    return 0


def case_disk_full(folder):
    """128 KiB for a run file that wants more, a report and an export."""
    prefix = small_disk(folder, "128k")
    if not prefix:
        return SKIPPED
    done = run(ON, "none", folder / "export", prefix=prefix, STINT_FILE=folder / "run",
               STINT_MEMORY="16M", STINT_OUTPUT=folder / "report", STINT_REPORT="table")
    same(done)
    need("the run file could not grow" in done.err, "the footer says so", done.err[-3000:])
    need("cannot write the report to" in done.err, done.err[-3000:])
    need("stint_export: cannot write" in done.err, done.err[-3000:])
    # Room for nothing at all.
    done = run(ON, "none", folder / "export", prefix=small_disk(folder, "4k"), STINT_FILE=folder / "run",
               STINT_REPORT="table")
    same(done)
    need("STINT_FILE: cannot write" in done.err and "No space left" in done.err, done.err[-2000:])
    need("name 17" in done.err, done.err[-2000:])
    return 0


if __name__ == "__main__":
    sys.exit(main(globals(), CASE))
