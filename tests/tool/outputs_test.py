#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each output of the tool and STINT_OUTPUT against each thing that its name may lead to.

    outputs_test.py TOOL PROGRAM ANNOTATED INHERITED CASE
"""
import fcntl
import itertools
import os
import subprocess
import sys
import threading

import commands
from cases import LIMIT, environment, main, need

OLD, F_SETPIPE_SZ = b"old\n", 1031

# Commands that write to OUT: whether it is named by the user or derived, replaced or appended to,
# and how what they write begins.
COMMANDS = {
    "export": ("named", b"name,set"), "merge": ("named", b"STINTRUN"),
    "annotate page": ("named", b"<!DOCTYPE"), "run page": ("named", b"<!DOCTYPE"),
    "follow page": ("derived", b"<!DOCTYPE"), "follow text": ("derived", b"# HELP"),
    "history": ("derived", b"# Made by"), "follow lines": ("lines", b'{"resourceMetrics"'),
    "program": ("report", b"stint table"),
}
PATHS = {}
KINDS = "named", "derived", "lines", "report"
NOT_A_FILE, RUN, NO_SPACE = "is not a regular file", "it is a run file", "No space left"
BAD = "Bad file descriptor"
WHOLE = {"derived": NOT_A_FILE}  # --follow replaces it again and again
FIFO = {**WHOLE, "report": NOT_A_FILE}
APPENDED = {"lines": NOT_A_FILE, "report": NOT_A_FILE}
REFUSED, KEPT = dict.fromkeys(KINDS, NOT_A_FILE), dict.fromkeys(KINDS, RUN)
DENIED = {} if os.geteuid() == 0 else dict.fromkeys(APPENDED, "Permission denied")

# For each thing: the commands of the shell that make it, its name, redirections of the command, the
# place of the result, and the kinds of commands that refuse it, with their reason.
OUTPUTS = {
    "missing": ("", "O", "", "O", {}),
    "file": ("cp victim O; chmod 600 O", "O", "", "O", {}),
    "read_only": ("cp victim O; chmod 444 O", "O", "", "O", DENIED),
    "link": ("ln -s victim O", "O", "", "O", APPENDED),
    "dangling": ("ln -s none O", "O", "", "O", APPENDED),
    "link_to_folder": ("mkdir d; ln -s d O", "O", "", None, REFUSED),
    "link_to_device": ("ln -s /dev/null O", "O", "", None, REFUSED),
    "link_to_stdout": ("ln -s /proc/self/fd/1 O; cp victim s", "O", ">>s", None, REFUSED),
    "folder": ("mkdir O", "O", "", None, REFUSED),
    "fifo": ("mkfifo O", "O", "", "read", FIFO),
    "null": ("", "/dev/null", "", None, WHOLE),
    "full": ("", "/dev/full", "", None, {**dict.fromkeys(KINDS, NO_SPACE), **WHOLE}),
    "stdout": ("cp victim s", "/dev/stdout", ">>s", "s", WHOLE),
    "stdout_full": ("", "/dev/fd/1", ">/dev/full", None, {**dict.fromkeys(KINDS, NO_SPACE), **WHOLE}),
    "stdout_closed": ("", "/dev/stdout", ">&-", None, {**dict.fromkeys(KINDS, BAD), **WHOLE}),
    "descriptor": ("cp victim s", "/dev/fd/9", "9>>s", "s", WHOLE),
    "descriptor_closed": ("", "/proc/self/fd/9", "9>&-", None, dict.fromkeys(KINDS, BAD)),
    "long": ("", "x" * 300, "", None, dict.fromkeys(KINDS, "File name too long")),
    "no_folder": ("", "none/O", "", None, dict.fromkeys(KINDS, "No such file")),
    "input": ("", "./r.stint", "", None, KEPT),
    "input_linked": ("ln -s r.stint O", "O", "", None, {**KEPT, **APPENDED}),
    "input_hard": ("ln r.stint O", "O", "", None, KEPT),
    "input_of_stdout": ("", "/dev/stdout", ">>r.stint", None, {"named": RUN, "lines": RUN}),
    "foreign_link": ("chmod 1777 .; ln -s victim O; chown -h 65534 O", "O", "", "O", APPENDED),
}
HISTORY = {"missing", "file", "read_only", "link", "dangling", "folder", "fifo", "input_linked",
           "input_hard", "foreign_link"}


def is_cell(command, output):
    if command == "history" and output not in HISTORY:
        return False  # the name is its own
    if output == "foreign_link" and os.geteuid() != 0:
        return False
    if output == "input_of_stdout" and COMMANDS[command][0] not in OUTPUTS[output][4]:
        return False
    # merge refuses in words of its own (merge.refuses), and a closed stdout is one of the program.
    return not (output.startswith("input") and command in ("annotate page", "merge", "run page") or
                (command, output) == ("program", "stdout_closed"))


def check_cell(number, command, output):
    kind, begin = COMMANDS[command]
    make, name, redirect, place, refusals = OUTPUTS[output]
    here, paths = commands.make_place(PATHS["A"].parent, number)
    out = "otava.yaml" if command == "history" else "O"
    subprocess.run(["sh", "-c", "umask 022; cp ../a r.stint; printf 'old\\n' >victim; " +
                    make.replace(" O", " " + out) + "\nprintf 'old\\n' >victim"], cwd=here, check=True)
    reader = None
    if output == "fifo" and command != "history":
        reader = os.open(here / "O", os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(reader, F_SETPIPE_SZ, 1 << 20)
    words = commands.words_of(commands.COMMANDS[command], {**PATHS, **paths, "OUT": name, "A": "r.stint"})
    done = subprocess.run(["sh", "-c", 'umask 022; exec "$@" ' + redirect, "sh", *words], cwd=here,
                          env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=LIMIT, check=False)
    said, why = done.stderr.decode(), refusals.get(kind)
    need((here / "victim").read_bytes() == OLD and not (here / "none").exists(), "through the link")
    need(not [one for one in os.listdir(here) if ".tmp" in one], "left", os.listdir(here))
    if why:
        status = 0 if kind == "report" else 2 if why == RUN or command == "merge" else 1
        need(why in said and done.returncode == status, "rc %d" % done.returncode, said)
        if kind == "report" and output != "stdout_full":
            need("stint table" in said, "the report goes to stderr", said)
        else:
            need(said.count("\n") == 1, "one line", said)
        need("input" not in output or (here / "r.stint").read_bytes() == PATHS["A"].read_bytes(),
             "the input")
        need(not reader or not os.read(reader, 1), "it was opened")
        return
    need(done.returncode == 0, "rc %d" % done.returncode, said)
    if place == "read":
        data = os.read(reader, 1 << 16)
        need(data.startswith(begin), data[:50])
    elif place:
        path = here / place.replace("O", out)
        data = path.read_bytes()
        kept = OLD if place == "s" or (kind == "lines" and output in ("file", "read_only")) else b""
        need(data.startswith(kept + begin), data[:50])
        mode = {"file": 0o600, "read_only": 0o444}.get(output, 0o644)
        need(place == "s" or (not path.is_symlink() and path.stat().st_mode & 0o777 == mode), path.stat())


def judge(number, command, output):
    try:
        return check_cell(number, command, output)
    except Exception as wrong:  # pylint: disable=broad-except
        return "%s to %s: %s" % (command, output, wrong)


def case_table(folder):
    PATHS.update(commands.make_inputs(folder))
    cells = [cell for cell in itertools.product(COMMANDS, OUTPUTS) if is_cell(*cell)]
    commands.need_none(commands.judge_all(judge, cells))


def case_races(folder):
    """Another user's loop makes the name a file and a link to a file of ours in turns."""
    paths = {**commands.make_inputs(folder), "OUT": "O", "FILE": "x.stint"}
    (folder / "victim").write_bytes(OLD)
    over = threading.Event()

    def flip():
        while not over.is_set():
            (folder / "new").write_bytes(b"")
            os.replace(folder / "new", folder / "O")
            os.symlink("victim", folder / "new")
            os.replace(folder / "new", folder / "O")
    flipping = threading.Thread(target=flip)
    flipping.start()
    try:
        for command, times in (("follow lines", 15), ("program", 165), ("export", 30), ("merge", 30),
                               ("follow page", 30), ("follow text", 30)):
            subprocess.run(["sh", "-c", 'for i in %s; do timeout 0.2 "$@" 2>/dev/null; done; true' % ("x " * times),
                            "sh", *commands.words_of(commands.COMMANDS[command], paths)], cwd=folder,
                           timeout=LIMIT, check=True, env=environment())
            need((folder / "victim").read_bytes() == OLD, command)
    finally:
        over.set()
        flipping.join()


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[5]))
