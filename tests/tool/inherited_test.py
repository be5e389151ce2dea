#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""States that a process inherits, with each command of the tool: a command does what it does in a
plain state, and a program that it starts has the state that it would have without the tool.

    inherited_test.py TOOL PROGRAM ANNOTATED INHERITED CASE
"""
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

import commands
from cases import SKIPPED, become, environment, main, need

TOOL, PROGRAM = sys.argv[1:3]
NOBODY = 65534
ALL = signal.valid_signals()


def ignore(*numbers):
    return lambda: [signal.signal(number, signal.SIG_IGN) for number in numbers]


def block(*numbers):
    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, numbers)


def close(*numbers):
    return lambda: [os.close(number) for number in numbers]


def leave_children():
    """Two that have ended and one that runs, all unknown to the command."""
    for seconds in 0, 0, 0.3:
        if not os.fork():
            os.closerange(0, 256)
            time.sleep(seconds)
            os._exit(0)


def enter_deleted_folder():
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")


def be_non_blocking():
    for fd in 1, 2:
        os.set_blocking(fd, False)


def set_timers():
    for timer in signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF:
        signal.setitimer(timer, 1000)


def lower_limits():
    for what, soft in (resource.RLIMIT_NOFILE, 64), (resource.RLIMIT_CORE, 0):
        resource.setrlimit(what, (soft, resource.getrlimit(what)[1]))


# The name of a state has its umask and the descriptors that it closes.
STATES = {
    "plain": lambda: None,
    "SIGCHLD ignored": ignore(signal.SIGCHLD),
    "SIGPIPE and SIGXFSZ ignored": ignore(signal.SIGPIPE, signal.SIGXFSZ),
    "as by nohup and &": ignore(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT),
    "all ignored": ignore(*ALL - {signal.SIGKILL, signal.SIGSTOP}),
    "SIGCHLD blocked": block(signal.SIGCHLD),
    "all blocked": block(*ALL),
    "umask 0": lambda: os.umask(0),
    "umask 77": lambda: os.umask(0o77),
    "umask 777": lambda: os.umask(0o777),
    "closed 0": close(0),
    "closed 1": close(1),
    "closed 2": close(2),
    "closed 0 1 2": close(0, 1, 2),
    "children": leave_children,
    "timers": set_timers,
    "no folder": enter_deleted_folder,
    "no environment": lambda: None,
    "no terminal": os.setsid,
    "no reader": lambda: None,
    "no space": lambda: None,
    "non-blocking": be_non_blocking,
    "limits": lower_limits,
    "nice": lambda: os.nice(3),
}

# Its message, which must not be in the output, takes some intervals: in two states only.
SLOW = "follow a bad file"
COMMANDS = {
    **commands.COMMANDS,
    "run --file": "run --file FILE --report tree -- STARTED",
    "run --mpi": "run --mpi --report none -- STARTED",
    "run of a failure": "run --report none -- INHERITED STATE",
    SLOW: "export A PROGRAM -t otlp --follow 0.1 -o OUT",
    "help": "help",
}


class Cell:
    """The result of a command: all numbers in its texts are one, as those of processes differ."""
    folder = paths = None
    user, plain = 0, {}

    def __init__(self, number, command, state):
        self.place, paths = commands.make_place(Cell.folder, number)
        paths = {**Cell.paths, **paths}
        paths["STARTED"] = "{INHERITED} {STATE} {PROGRAM} end".format(**paths)
        done = self.start(commands.words_of(COMMANDS[command], paths), state)
        self.state = self.reference = self.read_state()
        if self.state:
            self.start([paths["INHERITED"], str(paths["STATE"])], state)
            self.reference = self.read_state()
        shutil.rmtree(str(self.place))
        done.files.pop("state", None)
        files = {self.plain_text(name): file for name, file in done.files.items()}
        if command in ("program", "run page"):
            files["out"] = files["out"][0], self.plain_text(files["out"][1].decode())
        self.outcome = (done.rc, self.plain_text(done.out.decode()),
                        self.plain_text("".join(line + "\n" for line in done.lines)), files)

    def start(self, argv, state):
        def prepare():
            if Cell.user:
                become(Cell.user)
            os.umask(0o22)
            STATES[state]()

        options = {"stdin": subprocess.DEVNULL}
        if state == "no environment":
            options["env"] = {}
        if state not in ("no reader", "no space"):
            return commands.execute(argv, self.place, prepare, **options)
        reader, writer = os.pipe()
        os.close(reader)
        with open("/dev/full" if state == "no space" else writer, "wb") as stdout:
            done = commands.execute(argv, self.place, prepare, stdout=stdout, **options)
        return done._replace(out=b"")

    def plain_text(self, text):
        text = re.sub(r"stint-ab-\w{6}", "stint-ab", text.replace(str(self.place), ""))
        return re.sub(r"\d+", "1", text)

    def read_state(self):
        """The lines of inherited.c that matter. The run file's folder is gone, if it was the tool's."""
        path = self.place / "state"
        if not path.exists():
            return []
        file, *lines = path.read_text().splitlines()
        path.unlink()
        need(not re.search(r"/stint-\w{6}/", file) or not os.path.exists(os.path.dirname(file)), "left there", file)
        return [line for line in lines if re.match("descriptor|timer|nice|Sig(Blk|Ign)|Umask|[UG]id|Groups|Max", line)]


def masked(mode, umask):
    """The mode of a file of mode 644 or of a folder of mode 755 under another umask. Those of run
    files and of folders of the tool do not depend on it."""
    if mode & 0o77:
        return mode & ~0o777 | (0o777 if stat.S_ISDIR(mode) else 0o666) & ~umask
    return mode


def expected_outcome(command, state, outcome):
    """As in the plain state, but for what the state itself changes."""
    if (command, state) == ("ab", "no folder"):
        return 2, "", "stint: ab: .: No such file or directory\n", {}
    rc, out, err, files = Cell.plain[command].outcome
    closed = state.split()[1:] if "closed" in state else ["1"] if state in ("no reader", "no space") else []
    if out and "1" in closed:
        rc, out = 2 if command in ("ab", "diff") else 1, ""
        said = r"(stint: pair.*\n)?stint: .*No space left.*\n" if state == "no space" else r"(stint: .*\n){0,2}"
        err = outcome[2] if re.fullmatch(said, outcome[2]) else "fewer lines"
    if "2" in closed:
        err = ""
    umask = int((re.findall(r"umask (\d+)", state) or ["22"])[0], 8)
    return rc, out, err, {name: (masked(mode, umask), content) for name, (mode, content) in files.items()}


def faults(number, command, state):
    """Each difference from what is expected, as text."""
    cell = Cell(number, command, state)
    found = []
    for name, a, b in zip(("status", "stdout", "stderr", "files"),
                          expected_outcome(command, state, cell.outcome), cell.outcome):
        if a != b:
            found.append("%s: expected\n%.999s\nfound\n%.999s" % (name, a, b))
    # A side of ab has standard descriptors of its own, and no timers.
    own = r"descriptor [012],|timer" if command == "ab" else "$"
    a, b = ([line for line in state if not re.match(own, line)] for state in (cell.reference, cell.state))
    if a != b:
        found.append("state of the program: expected\n%s\nfound\n%s" % ("\n".join(a), "\n".join(b)))
    return ["%s, %s: %s" % (command, state, fault) for fault in found]


def check_all(folder, user):
    """Another user than root has the states that depend on modes of files only."""
    Cell.folder, Cell.paths, Cell.user = folder, commands.make_inputs(folder), user
    Cell.plain = dict(zip(COMMANDS, commands.judge_all(Cell, [(name, "plain") for name in COMMANDS])))
    cells = [(name, state) for name in COMMANDS for state in STATES
             if (state == "closed 2" if name == SLOW else not user or "umask" in state)]
    commands.need_none(sum(commands.judge_all(faults, cells), []))


def signals_of(argv, prepare, field):
    """The signals in a field of /proc/PID/status, after a command wrote its first line."""
    with subprocess.Popen(argv, preexec_fn=prepare, env=environment(), stdout=subprocess.PIPE) as process:
        need(process.stdout.readline(), argv)
        status = pathlib.Path("/proc/%d/status" % process.pid).read_text()
        process.kill()
    bits = int(re.search(field + r":\s*(\w+)", status).group(1), 16)
    return {number for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM) if bits >> number - 1 & 1}


def case_signals(folder):
    """A signal that is ignored, as by nohup, stays so for commands that others end; one that is
    blocked does not."""
    run, three = folder / "r.stint", {signal.SIGHUP, signal.SIGINT, signal.SIGTERM}
    with subprocess.Popen([PROGRAM, "busy"], env=environment(STINT_FILE=run), stdout=subprocess.PIPE) as program:
        need(program.stdout.readline() == b"ready\n")
        try:
            for words in (["export", run, "--to", "otlp", "--follow", "0.1"], ["top", run, "--interval", "0.1"]):
                argv = [TOOL, *map(str, words)]
                need(signals_of(argv, ignore(*three), "SigIgn") == three, argv, "not ignored")
                need(not signals_of(argv, block(*ALL), "SigBlk"), argv, "blocked")
        finally:
            program.kill()


def case_own_user(folder):
    check_all(folder, 0)


def case_another_user(folder):
    folder.chmod(0o755)
    if not commands.can_be(NOBODY, folder):
        print("skipped: there is no other user who can reach the folder")
        return SKIPPED
    return check_all(folder, NOBODY)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[5]))
