# SPDX-License-Identifier: Apache-2.0
"""The commands of the tool, and inputs for them: for tests that run each of them in many conditions.

The arguments of such a test: TOOL PROGRAM ANNOTATED INHERITED CASE. PROGRAM is tool_program.c on a
clock of its own, ANNOTATED annotate_program.c, INHERITED inherited.c.
"""
import collections
import hashlib
import multiprocessing
import os
import re
import shutil
import stat
import subprocess
import sys

from cases import LIMIT, become, environment, need, run, used_bytes

# Words in capitals are paths: of inputs; of outputs in the folder of the cell; of programs.
COMMANDS = {
    "run": "run -- STARTED",
    "run page": "run --report none --html OUT -- STARTED",
    "ab": "ab --pairs 1 --seed 1 -- STARTED -- STARTED",
    "merge": "merge A B -o OUT --keep threads",
    "export": "export A -t csv -o OUT",
    "follow lines": "export A -t otlp --follow 0.1 -o OUT",
    "follow text": "export A B -t prometheus --follow 0.1 -o OUT",
    "follow page": "export A -t html --follow 0.1 -o OUT",
    "history": "export A -t history -o HERE",
    "top": "top --once --interval 0.1 A",
    "report": "report A",
    "every": "report A --every 0.1",
    "diff": "diff A -- B",
    "info": "info A",
    "annotate": "annotate LINES",
    "annotate page": "annotate LINES --html OUT",
    # The library by itself.
    "program": "/usr/bin/env STINT_FILE=FILE STINT_REPORT=table STINT_OUTPUT=OUT PROGRAM end",
}
Outcome = collections.namedtuple("Outcome", "rc out lines files")


def record(file, *command, **env):
    """Records a run; the hole at the end of its file is left out."""
    run(*command, STINT_FILE=file, **env)
    file.write_bytes(used_bytes(file))
    file.chmod(0o644)
    return file


def make_inputs(folder):
    """The paths of inputs and programs, where other users reach them."""
    folder.chmod(0o755)
    paths = {}
    for name, program in zip(("TOOL", "PROGRAM", "ANNOTATED", "INHERITED"), sys.argv[1:5]):
        paths[name] = shutil.copy(program, str(folder / name.lower()))
    source, text = folder / "a.c", b"int a;\n"
    source.write_bytes(text)
    content = "%d %s" % (len(text), hashlib.sha256(text).hexdigest())
    for name in "A", "B":
        paths[name] = record(folder / name.lower(), paths["PROGRAM"], "end", STINT_TRACE="1M")
    paths["LINES"] = record(folder / "lines", paths["ANNOTATED"], source, content)
    return {**paths, "STARTED": paths["PROGRAM"] + " end"}


def words_of(command, paths):
    words = re.sub("[A-Z_]+", lambda found: str(paths.get(found[0], found[0])), command).split()
    return words if words[0].startswith("/") else [paths["TOOL"], *words]


def make_place(folder, number):
    """The folder of a cell, and the paths in it."""
    place = folder / ("cell-%d" % number)
    place.mkdir()
    place.chmod(0o777)
    names = {"OUT": "out", "DIR": "dir", "FILE": "x.stint", "STATE": "state"}
    return place, {"HERE": place, **{name: place / file for name, file in names.items()}}


def execute(argv, place, prepare, **options):
    """Runs it in the folder after prepare(). Status 125: it could not be started so."""
    options = {"stdout": subprocess.PIPE, "env": environment(), **options}
    try:
        done = subprocess.run(argv, cwd=str(place), preexec_fn=prepare, stderr=subprocess.PIPE,
                              timeout=LIMIT, check=False, **options)
    except subprocess.TimeoutExpired:
        raise
    except (OSError, subprocess.SubprocessError) as why:
        return Outcome(125, b"", [str(why)], {})
    lines = done.stderr.decode().replace(str(place), "").splitlines()
    return Outcome(done.returncode, done.stdout, lines, dict(list_files(place)))


def can_be(user, folder):
    return os.geteuid() == 0 and not execute(["/bin/ls", str(folder)], folder, lambda: become(user)).rc


def list_files(place):
    """(name, (mode, content)), without the content of run files with a hole."""
    for path in sorted(place.rglob("*")):
        mode = path.stat().st_mode
        if not os.access(str(path), os.R_OK):
            path.chmod(0o700)
        is_read = stat.S_ISREG(mode) and path.suffix != ".stint"
        yield str(path.relative_to(place)), (mode, path.read_bytes() if is_read else None)


def judge_all(judge, cells):
    """The results of judge(number, *cell), in processes, as preexec_fn is for programs without
    threads."""
    with multiprocessing.get_context("fork").Pool() as pool:
        return pool.starmap(judge, [(number, *cell) for number, cell in enumerate(cells)], 1)


def need_none(faults):
    """Texts or None."""
    faults = list(filter(None, faults))
    need(not faults, *faults)
