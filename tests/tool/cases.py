# SPDX-License-Identifier: Apache-2.0
"""Functions that the tests of the tool share.

A test calls main() with its own names: its case_X(folder) runs X, in a folder that goes afterwards,
and returns nothing or an exit status.
"""
import configparser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
LIMIT = 300  # seconds: a hang, on whatever machine


def read_formats(*other_layers):
    """The formats that the tool exports. Read here: gen.py takes 0.1 s, in each of the tests."""
    table = configparser.ConfigParser(interpolation=None)
    table.read(ROOT / "gen" / "formats.ini", encoding="utf-8")
    return [name for name, entry in table.items()
            if entry.get("layer", "interval") not in ("interval", *other_layers)]


ALL_FORMATS = read_formats()
FORMATS = read_formats("history")  # those of one run


class Wrong(Exception):
    """The tool did something else than it should, or wrote what a reader would trip over."""


def need(holds, *what):
    if not holds:
        raise Wrong("\n".join(str(part) for part in what))


def environment(**more):
    """Ours without what the user's habits could change. Whether a scope is marked as waiting
    may depend on the load: a test has to ask for it."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("STINT_", "NVTX_", "LC_", "LANG")) and k not in ("COLUMNS", "LINES",
                                                                         "NO_COLOR")}
    kept.update(ASAN_OPTIONS="detect_leaks=0:handle_segv=0:handle_abort=0", LC_ALL="C",
                TSAN_OPTIONS="handle_segv=0:handle_abort=0", TERM="xterm", TZ="UTC",
                STINT_WAITS="0")
    kept.update({k: str(v) for k, v in more.items()})
    return kept


def become(user):
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def run(*command, rc=0, **more):
    """Runs it. Names in capitals are variables of its environment, others options of
    subprocess.run; rc: the exit status that it must have, or None."""
    variables = {name: value for name, value in more.items() if name.isupper()}
    options = {name: value for name, value in more.items() if not name.isupper()}
    options = {"env": environment(**variables), "stdin": subprocess.DEVNULL,
               "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    done = subprocess.run([str(word) for word in command], timeout=LIMIT, check=False,
                          encoding="utf-8", errors="replace", **options)
    done.rc, done.out, done.err = done.returncode, done.stdout or "", done.stderr or ""
    need(rc is None or done.rc == rc, "expected rc %s of %s" % (rc, command), done)
    return done


def until(holds, *what):
    """Waits for it, as long as any machine may take."""
    end = time.monotonic() + LIMIT
    while not holds():
        need(time.monotonic() < end, *what)
        time.sleep(0.01)


def small_disk(folder, size):
    """The words that run a program on a disk of that size, or None where this is not allowed."""
    script = 'mount -t tmpfs -o size=%s none "$0" && "$@"' % size
    for more in ["--user", "--map-root-user"], []:
        words = ["unshare", "--mount", *more, "sh", "-c", script, str(folder)]
        if shutil.which("unshare") and not run(*words, "true", rc=None).rc:
            return words
    return None


def is_sanitized(program):
    """The memory of a sanitizer is not the program's."""
    text = pathlib.Path(program).read_bytes()
    return any(name in text for name in (b"__asan_init", b"__tsan_init", b"__msan_init"))


def peak_kb(program, *command):
    """The peak memory of a command, which tool_program starts."""
    return int(run(program, "peak", *command).stdout)


def header_fields():
    """(offset, size) of the fields of struct arena_header, by name, as docs/format.md has them."""
    text = (ROOT / "docs" / "format.md").read_text()
    table = text[text.index("`struct arena_header`"):].split("\n\n")[1]
    return {name: (int(at), int(size))
            for at, size, name in re.findall(r"(?m)^\| (\d+) \| (\d+) \| (\w+) \|", table)}


def field(data, at):
    """The number in a field."""
    return int.from_bytes(data[at[0]:at[0] + at[1]], "little")


def with_field(data, at, value):
    """The bytes with another number in a field."""
    return data[:at[0]] + value.to_bytes(at[1], "little") + data[at[0] + at[1]:]


def header_bytes(file):
    """The beginning of a run file, with most fields of its header."""
    with open(file, "rb") as run_file:
        return run_file.read(4096)


def used_bytes(file):
    """The part of a run file that is used. The rest is a hole of 64 MB, which takes a second to
    read and to write."""
    used = field(header_bytes(file), header_fields()["used"])
    with open(file, "rb") as run_file:
        return run_file.read(used)


def main(names, case):
    with tempfile.TemporaryDirectory(prefix="stint-tool-") as folder:
        try:
            return names["case_" + case](pathlib.Path(folder)) or 0
        except Wrong as wrong:
            print(wrong)
            return 1


if __name__ == "__main__":
    sys.exit("cases.py is no test: see the *_test.py beside it")
