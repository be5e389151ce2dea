#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each limit of a process, at several values, with each command of the tool: the command does what
it does without, or says in one line why not and ends with a status, by no signal. It leaves nothing
behind, and what was at the place of its output is there or was replaced by all that it writes.

    limits_test.py TOOL PROGRAM ANNOTATED INHERITED CASE

As root, half of the cells are those of users that have no other process.
"""
import collections
import contextlib
import errno
import itertools
import os
import pathlib
import resource
import shutil
import sys
import time

import commands
from cases import FORMATS, SKIPPED, become, environment, is_sanitized, main, need

OLD = b"what was there before\n"
MB = 1 << 20

# By the letter of the shell's ulimit; g is a control group of memory. The values at which a command
# may fail, and those at which it may not.
LIMITS = {
    "f": (resource.RLIMIT_FSIZE, (0, 1, 4096, 65536), (128 * MB,)),
    "n": (resource.RLIMIT_NOFILE, (4, 5, 6, 8), (12,)),
    "v": (resource.RLIMIT_AS, (6 * MB, 8 * MB, 12 * MB), (40 * MB, 200000000, 1000000000)),
    "d": (resource.RLIMIT_DATA, (MB // 2, MB, 3 * MB), (40 * MB,)),
    "s": (resource.RLIMIT_STACK, (), (64 << 10, MB)),
    "u": (resource.RLIMIT_NPROC, (0, 1), (8,)),
    "g": (None, (MB, 3 * MB, 8 * MB), ()),
}

COMMANDS = {
    **commands.COMMANDS,
    "tree": "report A -v tree", "report of many names": "report BIG",
    "threads": "report A -v threads", "stdin": "report -",
    "diff of many names": "diff BIG -- BIG",
    "merge of names": "merge A B -o OUT", "merge of many": "merge MANY -o OUT",
    "merge of many names": "merge BIG A -o OUT", "page of many names": "export BIG -t html -o OUT",
    "follow lines": "export A B -t otlp --follow 0.1 -o OUT",
    "follow lines to a pipe": "export A B -t otlp --follow 0.1",
    "history": "export MANY -t history -o HERE",
    "ab": "ab -n 2 -o DIR -- STARTED -- STARTED",
}
for name in FORMATS:
    COMMANDS[name] = "export A -t %s -o OUT" % name
    COMMANDS[name + " to a pipe"] = "export A -t %s" % name
del COMMANDS["export"], COMMANDS["program"]
# Programs run under the limit, too: their times and what they could record are others each time.
STARTERS = ("run", "run page", "ab")


def make_group(number, value):
    """A control group with so much memory, of either version."""
    top = pathlib.Path("/sys/fs/cgroup")
    old = (top / "memory" / "memory.limit_in_bytes").exists()
    group = top / ("memory" if old else "") / ("stint-%d-%d" % (os.getpid(), number))
    group.mkdir()
    try:
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(value))
    except OSError:
        group.rmdir()
        raise
    return group


def remove_group(group):
    """False while a process of a command that was killed is in it."""
    try:
        group.rmdir()
    except OSError as error:
        return error.errno != errno.EBUSY
    return True


def is_whole(name, out, plain):
    """Whether the output is that of before, or complete; of lines, ends in a complete one."""
    if name == "follow lines":
        return plain.files["out"].startswith(out) and out.endswith(b"\n")
    return out in (OLD, plain.files["out"]) or (name == "run page" and out.endswith(b"</html>\n"))


STATUSES = {}


class Cell:
    """A command under a limit of that value, by that user."""
    folder = paths = None
    users, plain, input = 0, {}, b""

    def __init__(self, number, limit, value):
        self.number, self.limit, self.value = number, limit, value
        is_other = Cell.users and limit and (limit in "ug" or number % 2)
        self.user = Cell.users + number if is_other else 0
        self.place, paths = commands.make_place(Cell.folder, number)
        self.paths = {**Cell.paths, **paths}

    def start(self, words, **env):
        group = make_group(self.number, self.value) if self.limit == "g" else None

        def prepare():
            if group:
                (group / "cgroup.procs").write_text("0")
            if self.user:
                become(self.user)  # before RLIMIT_NPROC: exec would fail
            if self.limit and not group:
                resource.setrlimit(LIMITS[self.limit][0], (self.value, self.value))

        try:
            return commands.execute(words, self.place, prepare, input=Cell.input,
                                    env=environment(COLUMNS=100, LINES=30, **env))
        finally:
            while group and not remove_group(group):
                time.sleep(0.01)

    def command(self, name):
        out, folder = self.paths["OUT"], self.place / "tmp"
        folder.mkdir()
        out.write_bytes(OLD)
        folder.chmod(0o777)
        out.chmod(0o666)
        done = self.start(commands.words_of(COMMANDS[name], self.paths), TMPDIR=folder)
        need(not list(folder.iterdir()), name, self.limit, self.value, "a folder is left", done)
        shutil.rmtree(str(self.place))
        return done._replace(files={file: content for file, (_, content) in done.files.items()})

    def starts(self, *words):
        """The status of a program under the limit by itself."""
        key = self.limit, self.value, words
        if key not in STATUSES:
            STATUSES[key] = self.start(words).rc
        return STATUSES[key]

    def judge(self, name, must):
        """Whether the command worked; a text: why there is no such cell."""
        started = self.starts(self.paths["TOOL"], "--version")
        if started:  # 125: not executed, as the environment is too large for a small stack
            need(not must or started == 125, self.limit, self.value, "the tool does not start")
            return "the tool does not start with %s = %d" % (self.limit, self.value)
        alone = self.starts(*self.paths["STARTED"].split()) if name in STARTERS else 0
        plain, got = Cell.plain[name], self.command(name)
        what = ("%s, ulimit -%s %d, user %d" % (name, self.limit, self.value, self.user), got.rc, got.lines,
                sorted(got.files))
        need(is_whole(name, got.files["out"], plain), "half an output", *what)
        if self.limit == "g" and (got.rc == -9 or name in STARTERS):
            return got.rc == plain.rc  # the kernel ended it, or its program
        if name in STARTERS:
            return judge_starter(name, plain, got, what, must, alone)
        if got == plain:
            return True
        new = [line for line in got.lines if line not in plain.lines]
        need(not must and got.rc in (1, 2), "it works, or ends with a status", *what)
        need(1 <= len(new) <= 3 * name.startswith("follow") or len(new) == 1, "one line", *what)
        need(all(line.startswith("stint: ") for line in new), "its line", *what)
        need(got.files.pop("out") == OLD or name == "follow lines", "a good output is replaced", *what)
        need(got.files.items() <= plain.files.items(), "half a file, or something is left", *what)
        return False


def judge_starter(name, plain, got, what, must, alone):
    need(not any(".tmp" in file for file in got.files), "something is left", *what)
    if name == "ab":
        need(got.rc in ((0, 1, 3) if must else (0, 1, 2, 3)) and (got.rc != 2 or got.lines), *what)
        return got.rc != 2
    need(got.rc == (128 - alone if alone < 0 else alone) or (not must and got.rc in (1, 126)), alone, *what)
    need(got.rc == 0 or got.lines, "no line", *what)
    return got.rc == plain.rc


def run_plain(number, name):
    return Cell(number, None, 0).command(name)


def run_cell(number, name, limit, value, must):
    """The result, and whose temporary files may be left, as the kernel ended a command."""
    cell = Cell(number, limit, value)
    return cell.judge(name, must), cell.user if limit == "g" else None


def remove_left(users):
    """Returns which of the users had left a folder in the memory of all."""
    found = set()
    for path in pathlib.Path("/dev/shm").glob("stint-*"):
        with contextlib.suppress(FileNotFoundError):  # one of another test
            if path.stat().st_uid in users:
                found.add(path.stat().st_uid)
                shutil.rmtree(str(path))
    return found


def skip_reason(limit):
    """Why there are no cells of that limit, or None."""
    if limit in "vdsg" and is_sanitized(sys.argv[1]):
        return "a sanitizer's memory is not the tool's"
    if limit in "ug" and not Cell.users:
        return "%s needs root and other users" % limit
    try:
        if limit == "g":
            remove_group(make_group(0, 64 * MB))
    except OSError as error:
        return "no control group of memory: %s" % error
    return None


def make_inputs(folder):
    paths = commands.make_inputs(folder)
    paths.update(BIG=folder / "big", MANY=folder / "many")
    commands.record(paths["BIG"], paths["PROGRAM"], "many", 5000)
    paths["MANY"].mkdir()
    for number in range(12):
        commands.record(paths["MANY"] / ("r%d" % number), paths["PROGRAM"], "end")
    Cell.folder, Cell.paths, Cell.input = folder, paths, paths["A"].read_bytes()
    first = (1 << 29) + os.getpid() % 4096 * 4096
    Cell.users = first if commands.can_be(first, folder) else 0


def case_limits(folder):
    make_inputs(folder)
    Cell.plain = dict(zip(COMMANDS, commands.judge_all(run_plain, [(name,) for name in COMMANDS])))
    cells, skipped = [], collections.Counter()
    for limit, (_, may, must) in LIMITS.items():
        why = skip_reason(limit)
        for name, value in itertools.product(STARTERS if limit == "u" else COMMANDS, may + must):
            if why:
                skipped[why] += 1
            else:
                cells.append((name, limit, value, value in must))
    results = commands.judge_all(run_cell, cells)
    counts = collections.Counter(result for result, _ in results)
    print("%d cells work, %d say why not" % (counts.pop(True, 0), counts.pop(False, 0)))
    for why, count in (skipped + counts).items():
        print("%d cells skipped: %s" % (count, why))
    users = set(range(Cell.users, Cell.users + len(cells))) if Cell.users else set()
    need(not remove_left(users) - {user for _, user in results}, "left in /dev/shm")
    return 0 if cells else SKIPPED


sys.exit(main(globals(), sys.argv[5]))
