#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""States that a process inherits, with each command of the tool: a command does what it does in a
plain state, and a program that it starts has the state that it would have without the tool.

    inherited_test.py TOOL FAKE_PROGRAM INHERITED CASE

FAKE_PROGRAM is tool_program.c on a clock of its own; INHERITED is inherited.c.
"""
import concurrent.futures
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

from cases import LIMIT, SKIPPED, environment, main, need

TOOL, FAKE, STATE = sys.argv[1:4]
NOBODY = 65534
ALL = signal.valid_signals()


def ignore(*numbers):
    return lambda: [signal.signal(number, signal.SIG_IGN) for number in numbers]


def block(*numbers):
    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, numbers)


def close(*numbers):
    return lambda: [os.close(number) for number in numbers]


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


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
    "non-blocking": be_non_blocking,
    "limits": lower_limits,
    "nice": lambda: os.nice(3),
}

# Its message, which must not be in the output, takes some intervals: in two states only.
SLOW = "export --follow of a bad file"
# {}: the folder of the cell; {top}: the one above, where a.stint and b.stint are.
PROGRAM = ["--", "{top}/inherited", "{}/state", "{top}/fake", "end"]
COMMANDS = {
    "run": ["run", *PROGRAM],
    "run --file": ["run", "--file", "{}/x.stint", "--report", "tree", *PROGRAM],
    "run --mpi": ["run", "--mpi", "--report", "none", *PROGRAM],
    "run of a failure": ["run", "--report", "none", "--", "{top}/inherited", "{}/state"],
    "ab": ["ab", "--pairs", "1", "--seed", "1", *PROGRAM, *PROGRAM],
    "merge": ["merge", "{top}/a.stint", "{top}/b.stint", "-o", "{}/all.stint"],
    "export": ["export", "{top}/a.stint", "--to", "csv"],
    "export -o": ["export", "{top}/a.stint", "--to", "html", "-o", "{}/page.html"],
    "export --follow": ["export", "{top}/a.stint", "--to", "otlp", "--follow", "0.1", "-o", "{}/lines"],
    SLOW: ["export", "{top}/a.stint", "{top}/fake", "--to", "otlp", "--follow", "0.1", "-o", "{}/lines"],
    "export --to history": ["export", "{top}/a.stint", "--to", "history", "-o", "{}"],
    "top": ["top", "--once", "--interval", "0.1", "{top}/a.stint"],
    "report": ["report", "{top}/a.stint"],
    "report --every": ["report", "--every", "0.1", "{top}/a.stint"],
    "diff": ["diff", "{top}/a.stint", "--", "{top}/b.stint"],
    "info": ["info", "{top}/a.stint"],
    "annotate": ["annotate", "{top}/a.stint"],
    "help": ["help"],
    # The library by itself.
    "program": ["/usr/bin/env", "STINT_FILE={}/r.stint", "STINT_REPORT=table", "STINT_OUTPUT={}/report",
                "{top}/fake", "end"],
}


class Cell:
    """The result of a command: all numbers in its texts are one, as those of processes differ."""

    def __init__(self, command, state, user, top, number):
        self.folder = top / ("cell-%d" % number)
        self.folder.mkdir()
        if user:
            os.chown(str(self.folder), NOBODY, NOBODY)
        argv = [word.format(self.folder, top=top) for word in COMMANDS[command]]
        if not argv[0].startswith("/"):
            argv.insert(0, str(top / "stint"))
        self.rc, out, err = self.start(argv, state, user)
        self.out, self.err = self.plain_text(out), self.plain_text(err)
        self.state = self.reference = self.read_state()
        if self.state:
            self.start([str(top / "inherited"), str(self.folder / "state")], state, user)
            self.reference = self.read_state()
        self.files = dict(self.list_files())
        shutil.rmtree(str(self.folder))

    def start(self, argv, state, user):
        def prepare():
            if user:
                become_nobody()
            os.umask(0o22)
            STATES[state]()

        stdout = subprocess.PIPE
        if state == "no reader":
            reader, stdout = os.pipe()
            os.close(reader)
        with subprocess.Popen(argv, preexec_fn=prepare, cwd=str(self.folder), stdin=subprocess.DEVNULL,
                              stdout=stdout, stderr=subprocess.PIPE,
                              env={} if state == "no environment" else environment()) as process:
            if state == "no reader":
                os.close(stdout)
            out, err = process.communicate(timeout=LIMIT)
            return process.returncode, out or b"", err

    def plain_text(self, text):
        text = text.decode().replace(str(self.folder), "FOLDER")
        return re.sub(r"\d+", "1", re.sub(r"stint-ab-\w{6}", "stint-ab", text))

    def read_state(self):
        """The lines of inherited.c that matter. The run file's folder is gone, if it was the tool's."""
        path = self.folder / "state"
        if not path.exists():
            return []
        file, *lines = path.read_text().splitlines()
        path.unlink()
        need(not re.search(r"/stint-\w{6}/", file) or not os.path.exists(os.path.dirname(file)), "left there", file)
        return [line for line in lines if re.match("descriptor|timer|nice|Sig(Blk|Ign)|Umask|[UG]id|Groups|Max", line)]

    def list_files(self):
        """(name, (mode, content))"""
        for path in sorted(self.folder.rglob("*")):
            name = self.plain_text(str(path.relative_to(self.folder)).encode())
            mode = path.stat().st_mode
            if not os.access(str(path), os.R_OK):
                path.chmod(0o700)
            content = None
            if stat.S_ISREG(mode) and (name == "all.stint" or not name.endswith(".stint")):
                content = path.read_bytes() # a run file has a hole of 64 MB
            if name == "report":
                content = self.plain_text(content)
            yield name, (mode, content)


def masked(mode, umask):
    """The mode of a file of mode 644 or of a folder of mode 755 under another umask. Those of run
    files and of folders of the tool do not depend on it."""
    if mode & 0o77:
        return mode & ~0o777 | (0o777 if stat.S_ISDIR(mode) else 0o666) & ~umask
    return mode


def expected_cell(command, state, plain, cell):
    """As in the plain state, but for what the state itself changes."""
    if (command, state) == ("ab", "no folder"):
        return 2, "", "stint: ab: .: No such file or directory\n", {}
    rc, out, err = plain.rc, plain.out, plain.err
    closed = state.split()[1:] if "closed" in state else ["1"] if state == "no reader" else []
    if out and "1" in closed:
        rc, out = 2 if command in ("ab", "diff") else 1, ""
        err = cell.err if re.fullmatch(r"(stint: .*\n){0,2}", cell.err) else "fewer lines"
    if "2" in closed:
        err = ""
    umask = int((re.findall(r"umask (\d+)", state) or ["22"])[0], 8)
    return rc, out, err, {name: (masked(mode, umask), content) for name, (mode, content) in plain.files.items()}


def faults(command, state, plain, cell):
    """Each difference from what is expected, as text."""
    found = cell.rc, cell.out, cell.err, cell.files
    for name, a, b in zip(("status", "stdout", "stderr", "files"), expected_cell(command, state, plain, cell), found):
        if a != b:
            yield "%s: expected\n%s\nfound\n%s" % (name, a, b)
    # A side of ab has standard descriptors of its own, and no timers.
    own = r"descriptor [012],|timer" if command == "ab" else "$"
    a, b = ([line for line in state if not re.match(own, line)] for state in (cell.reference, cell.state))
    if a != b:
        yield "state of the program: expected\n%s\nfound\n%s" % ("\n".join(a), "\n".join(b))


def check_command(command, top, user):
    """The states, one after the other in a process of its own, which has no threads. Another user
    than root has those that depend on modes of files only."""
    number = list(COMMANDS).index(command) * len(STATES)
    plain = Cell(command, "plain", user, top, number)
    states = ["closed 2"] if command == SLOW else [state for state in STATES if not user or "umask" in state]
    cells = {state: Cell(command, state, user, top, number + i) for i, state in enumerate(states)}
    return ["%s, %s: %s" % (command, state, fault) for state, cell in cells.items()
            for fault in faults(command, state, plain, cell)]


def check_all(folder, user):
    for name, program in ("stint", TOOL), ("fake", FAKE), ("inherited", STATE):
        (shutil.copy if user else os.symlink)(program, str(folder / name))
    for name in "a.stint", "b.stint":
        subprocess.run([str(folder / "fake"), "end"], env=environment(STINT_FILE=folder / name), check=True)
        (folder / name).chmod(0o644)
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(check_command, COMMANDS, [folder] * len(COMMANDS), [user] * len(COMMANDS))
        found = [fault for result in results for fault in result]
    need(not found, *found)


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
    with subprocess.Popen([FAKE, "busy"], env=environment(STINT_FILE=run), stdout=subprocess.PIPE) as program:
        need(program.stdout.readline() == b"ready\n")
        try:
            for words in (["export", run, "--to", "otlp", "--follow", "0.1"], ["top", run, "--interval", "0.1"]):
                argv = [TOOL, *map(str, words)]
                need(signals_of(argv, ignore(*three), "SigIgn") == three, argv, "not ignored")
                need(not signals_of(argv, block(*ALL), "SigBlk"), argv, "blocked")
        finally:
            program.kill()


def case_own_user(folder):
    check_all(folder, False)


def case_another_user(folder):
    folder.chmod(0o711)
    try:
        os.chown(str(folder), NOBODY, NOBODY)
        subprocess.run(["/bin/ls", str(folder)], preexec_fn=become_nobody, check=True)
        os.chown(str(folder), 0, 0)
    except (OSError, subprocess.SubprocessError) as why:
        print("skipped: there is no other user who can reach the folder:", why)
        return SKIPPED
    return check_all(folder, True)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[4]))
