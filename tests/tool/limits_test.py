#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each limit of a process, at several values, with each command of the tool: the command does what
it does without, or says in one line why not and ends with a status, by no signal. It leaves nothing
behind, and what was at the place of its output is there or was replaced by all that it writes.

    limits_test.py TOOL PROGRAM ANNOTATED LIMITED

PROGRAM is tool_program.c on the fake clock, ANNOTATED annotate_program.c, LIMITED limited.c. As
root, half of the cells are those of users that have no other process.
"""
import collections
import concurrent.futures
import contextlib
import errno
import functools
import hashlib
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import time

from cases import FORMATS, LIMIT, SKIPPED, environment, is_sanitized, main, need, used_bytes

ANNOTATED, LIMITED = sys.argv[3:5]
OLD = b"what was there before\n"
MB = 1 << 20

# The values at which a command may fail, and those at which it may not.
LIMITS = {
    "f": ((0, 1, 4096, 65536), (128 * MB,)),
    "n": ((4, 5, 6, 8), (12,)),
    "v": ((6 * MB, 8 * MB, 12 * MB), (40 * MB, 200000000, 1000000000)),
    "d": ((MB // 2, MB, 3 * MB), (40 * MB,)),
    "s": ((), (64 << 10, MB)),
    "u": ((0, 1), (8,)),
    "g": ((MB, 3 * MB, 8 * MB), ()),
}

COMMANDS = {
    "report": "report A", "tree": "report A -v tree", "report of many names": "report BIG",
    "threads": "report A -v threads", "stdin": "report -", "every": "report A --every 0.1",
    "info": "info A", "top": "top A", "annotate": "annotate LINES", "diff": "diff A -- B",
    "diff of many names": "diff BIG -- BIG", "merge": "merge A B -o OUT",
    "merge of threads": "merge A B -o OUT --keep threads", "merge of many": "merge MANY -o OUT",
    "merge of many names": "merge BIG A -o OUT", "page of many names": "export BIG -t html -o OUT",
    "follow lines": "export A B -t otlp --follow 0.1 -o OUT",
    "follow lines to a pipe": "export A B -t otlp --follow 0.1",
    "follow text": "export A B -t prometheus --follow 0.1 -o OUT",
    "follow page": "export A -t html --follow 0.1 -o OUT",
    "history": "export MANY -t history -o DIR",
    "run": "run -- PROGRAM end", "run page": "run --html OUT -- PROGRAM end",
    "ab": "ab -n 2 -o DIR -- PROGRAM end -- PROGRAM end",
}
for name in FORMATS:
    COMMANDS[name] = "export A -t %s -o OUT" % name
    COMMANDS[name + " to a pipe"] = "export A -t %s" % name
# Programs run under the limit, too: their times and what they could record are others each time.
STARTERS = ("run", "run page", "ab")

Outcome = collections.namedtuple("Outcome", "rc out lines files")


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


class Table:
    def __init__(self, folder):
        self.folder, self.users, self.numbers, self.killed = folder, 0, itertools.count(1), set()
        folder.chmod(0o755)
        self.paths = {"BIG": folder / "big", "MANY": folder / "many"}
        for name, program in (("TOOL", sys.argv[1]), ("PROGRAM", sys.argv[2])):
            self.paths[name] = folder / name.lower()
            shutil.copy(program, self.paths[name])  # where other users reach it
        self.paths["MANY"].mkdir()
        for name in ("a", "b"):
            self.paths[name.upper()] = self.record(folder / name, "end", STINT_TRACE="1M")
        self.record(self.paths["BIG"], "many", "5000")
        for number in range(12):
            self.record(self.paths["MANY"] / ("r%d" % number), "end")
        source = folder / "a.c"
        source.write_text("int a;\n")
        self.paths["LINES"] = self.record(
            folder / "lines", source, "7 " + hashlib.sha256(b"int a;\n").hexdigest(), program=ANNOTATED)
        self.input = used_bytes(self.paths["A"])
        first = (1 << 29) + os.getpid() % 4096 * 4096
        if os.getuid() == 0 and not self.start(("/bin/true",), "n", 64, first).returncode:
            self.users = first
        self.plain = {name: self.command(name, None, 0, 0) for name in COMMANDS}

    @staticmethod
    def record(file, *story, program=None, **more):
        subprocess.run([program or sys.argv[2], *map(str, story)], check=True, stderr=subprocess.DEVNULL,
                       env=environment(STINT_FILE=str(file), **more), stdout=subprocess.DEVNULL)
        file.chmod(0o644)
        return file

    def start(self, command, limit, value, user, cwd=None, **env):
        group = self.make_group(value) if limit == "g" else None
        words = ("g", group) if group else ()
        words += ("U", user) if user else ()  # RLIMIT_NPROC is set after: exec would fail
        words += (limit, value) if limit and not group else ()
        try:
            return subprocess.run([LIMITED, *map(str, words), "--", *map(str, command)], cwd=cwd,
                                  input=self.input, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=LIMIT, check=False, env=environment(COLUMNS=100, LINES=30, **env))
        finally:
            while group and not remove_group(group):
                time.sleep(0.01)

    def make_group(self, value):
        """A control group with so much memory, of either version."""
        top = pathlib.Path("/sys/fs/cgroup")
        old = (top / "memory" / "memory.limit_in_bytes").exists()
        group = top / ("memory" if old else "") / ("stint-%d-%d" % (os.getpid(), next(self.numbers)))
        group.mkdir()
        try:
            (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(value))
        except OSError:
            group.rmdir()
            raise
        return group

    def command(self, name, limit, value, user):
        place = self.folder / str(next(self.numbers))
        paths = dict(self.paths, OUT=place / "out", DIR=place / "dir")
        (place / "tmp").mkdir(parents=True)
        paths["OUT"].write_bytes(OLD)
        for path, mode in ((place, 0o777), (place / "tmp", 0o777), (paths["OUT"], 0o666)):
            path.chmod(mode)
        words = [paths.get(word, word) for word in COMMANDS[name].split()]
        done = self.start([paths["TOOL"], *words], limit, value, user, cwd=place, TMPDIR=place / "tmp")
        files = {str(p.relative_to(place)): p.read_bytes() for p in place.rglob("*") if p.is_file()}
        need(not list((place / "tmp").iterdir()), name, limit, value, "a folder is left", done)
        shutil.rmtree(place)
        lines = done.stderr.decode().replace(str(place), "").splitlines()
        return Outcome(done.returncode, done.stdout, lines, files)

    @functools.lru_cache(maxsize=None)
    def starts(self, limit, value, path, *words):
        """The status of a program under the limit by itself."""
        user = self.users and self.users + next(self.numbers)
        return self.start([path, *words], limit, value, user).returncode

    def cell(self, name, limit, value, must):
        """Whether the command worked; a text: why there is no such cell."""
        number = next(self.numbers)
        user = self.users + number if self.users and (limit in "ug" or number % 2) else 0
        started = self.starts(limit, value, self.paths["TOOL"], "--version")
        if started:  # 125: by LIMITED, as the environment is too large for a small stack
            need(not must or started == 125, limit, value, "the tool does not start")
            return "the tool does not start with %s = %d" % (limit, value)
        plain, got = self.plain[name], self.command(name, limit, value, user)
        what = ("%s, ulimit -%s %d, user %d" % (name, limit, value, user), got.rc, got.lines,
                sorted(got.files))
        need(is_whole(name, got.files["out"], plain), "half an output", *what)
        if limit == "g" and (got.rc == -9 or name in STARTERS):
            self.killed.add(user)  # the kernel ended it, or its program; temporary files are left
            return got.rc == plain.rc
        if name in STARTERS:
            return self.judge_starter(name, plain, got, what, must,
                                      self.starts(limit, value, self.paths["PROGRAM"], "end"))
        if got == plain:
            return True
        new = [line for line in got.lines if line not in plain.lines]
        need(not must and got.rc in (1, 2), "it works, or ends with a status", *what)
        need(1 <= len(new) <= 3 * name.startswith("follow") or len(new) == 1, "one line", *what)
        need(all(line.startswith("stint: ") for line in new), "its line", *what)
        need(got.files.pop("out") == OLD or name == "follow lines", "a good output is replaced", *what)
        need(got.files.items() <= plain.files.items(), "half a file, or something is left", *what)
        return False

    @staticmethod
    def judge_starter(name, plain, got, what, must, alone):
        need(not any(".tmp" in file for file in got.files), "something is left", *what)
        if name == "ab":
            need(got.rc in ((0, 1, 3) if must else (0, 1, 2, 3)) and (got.rc != 2 or got.lines), *what)
            return got.rc != 2
        need(got.rc == (128 - alone if alone < 0 else alone) or (not must and got.rc in (1, 126)), alone, *what)
        need(got.rc == 0 or got.lines, "no line", *what)
        return got.rc == plain.rc

    def remove_left(self):
        """The users whose folders were left in the memory of all."""
        last, users = self.users + next(self.numbers), set()
        for path in pathlib.Path("/dev/shm").glob("stint-*"):
            with contextlib.suppress(FileNotFoundError):  # one of another test
                if self.users and self.users < path.stat().st_uid < last:
                    users.add(path.stat().st_uid)
                    shutil.rmtree(path)
        return users


def skip_reason(table, limit):
    """Why there are no cells of that limit, or None."""
    if limit in "vdsg" and is_sanitized(sys.argv[1]):
        return "a sanitizer's memory is not the tool's"
    if limit in "ug" and not table.users:
        return "%s needs root and other users" % limit
    if limit == "g":
        try:
            table.start(("/bin/true",), "g", 64 * MB, 0)
        except OSError as error:
            return "no control group of memory: %s" % error
    return None


def case_table(folder):
    table, cells = Table(folder), []
    skipped = collections.Counter()
    for limit, (may, must) in LIMITS.items():
        why = skip_reason(table, limit)
        for name, value in itertools.product(COMMANDS, may + must):
            if limit == "u" and name not in STARTERS:
                continue
            if why:
                skipped[why] += 1
            else:
                cells.append((name, limit, value, value in must))
    with concurrent.futures.ThreadPoolExecutor(1 + (os.cpu_count() or 1)) as threads:
        results = collections.Counter(threads.map(lambda cell: table.cell(*cell), cells))
    print("%d cells work, %d say why not" % (results.pop(True, 0), results.pop(False, 0)))
    for why, count in (skipped + results).items():
        print("%d cells skipped: %s" % (count, why))
    need(not table.remove_left() - table.killed, "left in /dev/shm")
    return 0 if cells else SKIPPED


sys.exit(main(globals(), "table"))
