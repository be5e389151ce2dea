#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each output of the tool and STINT_OUTPUT against each thing that its name may lead to.

    outputs_test.py TOOL PROGRAM ANNOTATED CASE

PROGRAM is tool_program.c on a clock that only it advances; ANNOTATED is annotate_program.c.
"""
import concurrent.futures
import fcntl
import itertools
import os
import subprocess
import sys
import threading

from cases import LIMIT, environment, main, need, used_bytes

TOOL, PROGRAM, ANNOTATED = sys.argv[1:4]
OLD, F_SETPIPE_SZ = b"old\n", 1031
EXPORT = [TOOL, "export", "r.stint"]

# Commands that write to O: whether it is named by the user or derived, replaced or appended to; how
# what they write begins; and the words.
COMMANDS = {
    "export": ("named", b"name,set", [*EXPORT, "--to", "csv", "-o", "O"]),
    "merge": ("named", b"STINTRUN", [TOOL, "merge", "r.stint", "-o", "O"]),
    "annotate": ("named", b"<!DOCTYPE", [TOOL, "annotate", "lines.stint", "--html", "O"]),
    "run": ("named", b"<!DOCTYPE", [TOOL, "run", "--report", "none", "--html", "O", PROGRAM, "work"]),
    "page": ("derived", b"<!DOCTYPE", [*EXPORT, "--to", "html", "--follow", "0.1", "-o", "O"]),
    "text": ("derived", b"# HELP", [*EXPORT, "--to", "prometheus", "--follow", "0.1", "-o", "O"]),
    "history": ("derived", b"# Made by", [*EXPORT, "--to", "history", "-o", "."]),
    "lines": ("lines", b'{"resourceMetrics"', [*EXPORT, "--to", "otlp", "--follow", "0.1", "-o", "O"]),
    "report": ("report", b"stint table", [PROGRAM, "work"]),
}
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
    return not (output.startswith("input") and command in ("annotate", "merge", "run") or
                (command, output) == ("report", "stdout_closed"))


def check_cell(folder, command, output):
    kind, begin, words = COMMANDS[command]
    make, name, redirect, place, refusals = OUTPUTS[output]
    here = folder / command / output
    here.mkdir(parents=True)
    out = "otava.yaml" if command == "history" else "O"
    script = make.replace(" O", " " + out) + "\nprintf 'old\\n' >victim"
    for file in ("r.stint", "lines.stint"):
        os.symlink(folder / file, here / file) if "input" not in output else (
            here / file).write_bytes((folder / file).read_bytes())
    subprocess.run(["sh", "-c", "umask 022; printf 'old\\n' >victim; " + script], cwd=here, check=True)
    reader = None
    if output == "fifo" and kind not in refusals:
        reader = os.open(here / "O", os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(reader, F_SETPIPE_SZ, 1 << 20)
    env = environment(STINT_REPORT="table", STINT_OUTPUT=name) if kind == "report" else environment()
    done = subprocess.run(
        ["sh", "-c", 'umask 022; exec "$@" ' + redirect, "sh", *(name if w == "O" else w for w in words)],
        cwd=here, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        timeout=LIMIT, check=False)
    said, why = done.stderr.decode(), refusals.get(kind)
    need((here / "victim").read_bytes() == OLD and not (here / "none").exists(), "through the link")
    need(not [one for one in os.listdir(here) if ".tmp" in one], "left", os.listdir(here))
    if why:
        status = 0 if kind == "report" else 2 if why == RUN or command == "merge" else 1
        need(why in said and done.returncode == status, "rc %d" % done.returncode, said)
        need(kind == "report" or said.count("\n") == 1, "one line", said)
        need("input" not in output or (here / "r.stint").read_bytes() ==
             (folder / "r.stint").read_bytes(), "the input")
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


def record(folder):
    for program, file, *more in ((PROGRAM, "r.stint", "work"), (ANNOTATED, "lines.stint", "a.c", "-")):
        subprocess.run([program, *more], env=environment(STINT_FILE=folder / file), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (folder / file).write_bytes(used_bytes(folder / file))


def case_table(folder):
    record(folder)

    def judge(cell):
        try:
            check_cell(folder, *cell)
            return None
        except Exception as wrong:  # pylint: disable=broad-except
            return "%s to %s: %s" % (*cell, wrong)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        cells = [cell for cell in itertools.product(COMMANDS, OUTPUTS) if is_cell(*cell)]
        wrong = [one for one in pool.map(judge, cells) if one]
    need(not wrong, *wrong)


def case_races(folder):
    """Another user's loop makes the name a file and a link to a file of ours in turns."""
    record(folder)
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
        for command, times in (("lines", 15), ("report", 165), ("export", 30), ("merge", 30), ("page", 30),
                               ("text", 30)):
            subprocess.run(["sh", "-c", 'for i in %s; do timeout 0.2 "$@" 2>/dev/null; done; true' % ("x " * times), "sh",
                            *COMMANDS[command][2]], cwd=folder, timeout=LIMIT, check=True,
                           env=environment(STINT_REPORT="table", STINT_OUTPUT="O"))
            need((folder / "victim").read_bytes() == OLD, command)
    finally:
        over.set()
        flipping.join()


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[4]))
