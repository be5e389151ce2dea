#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real.py FOLDER [--size N] [--rounds N]: the cost of scopes in a real program.

The program is SQLite with its own benchmark, speedtest1, from Debian's source, which apt-get
fetches into a folder of its own. 14 functions of it have a scope of stint or of another library
that Debian has; all variants take turns, round by round. FOLDER is a build of stint. Printed are
the median of the CPU time as a multiple of the time without scopes, its quartiles, and what is on
disk after a run. What is not installed is a line that says so.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parents[1]
sys.path.insert(0, str(ROOT / "tests/instrument"))

from compare import Lttng, Measuring, NotMeasured, cpu_name  # noqa: E402
from debian_source import fetch  # noqa: E402

FUNCTIONS = """sqlite3_step sqlite3LockAndPrepare sqlite3VdbeExec sqlite3BtreeTableMoveto
    sqlite3BtreeIndexMoveto sqlite3BtreeInsert sqlite3BtreeDelete sqlite3BtreeCursor moveToRoot
    moveToChild getPageNormal insertCell balance balance_nonroot""".split()
FLAGS = "-O2 -D_GNU_SOURCE -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION"


def command(words, folder):
    done = subprocess.run(words, cwd=folder, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, errors="replace")
    if done.returncode:
        raise NotMeasured("%s: %s" % (words[0], done.stdout.strip().splitlines()[-1:]))


def with_scopes(text):
    """SQLite in one file, with scopes."""
    for name in FUNCTIONS:
        begin = re.compile(r"^(?:SQLITE_\w+ |static )[^;{}()\n]*\b%s\([^;{}]*?\)\s*\{" % name, re.M)
        text, count = begin.subn(lambda m, n=name: m[0] + " REAL_SCOPE(%s);" % n, text)
        if count != 1:
            sys.exit("real.py: %d definitions of %s in this SQLite" % (count, name))
    return '#include "real_scope.h"\n' + text


class Real(Measuring):
    """The programs, in a folder of this process."""

    def __init__(self, build, scratch, size):
        super().__init__(build, False, scratch)
        self.size, self.work = size, pathlib.Path(scratch)
        self.problems = {}

    def build(self):
        source = fetch(str(self.work), "sqlite3")
        command([source + "/configure", "--disable-tcl"], self.work)
        command(["make", "sqlite3.c"], self.work)
        text = (self.work / "sqlite3.c").read_text(encoding="utf-8")
        (self.work / "sqlite3.c").write_text(with_scopes(text), encoding="utf-8")
        shutil.copy(source + "/test/speedtest1.c", self.work)
        runtime = str(self.folder / "runtime")
        link = {"stint": ["-I%s/include" % ROOT, "-DREAL_STINT", "-DWITH_TIMER", "-L" + runtime,
                          "-lstint", "-Wl,-rpath," + runtime],
                "lttng": ["-I%s/compare" % BENCH, "-DREAL_LTTNG",
                          str(BENCH / "compare/compare_lttng.c"), "-llttng-ust", "-ldl"],
                "uftrace": ["-DREAL_UFTRACE"], "none": []}
        for name, words in link.items():
            try:
                command([os.environ.get("CC", "cc"), *FLAGS.split(), "-I%s/real" % BENCH, "-o", name,
                         "sqlite3.c", "speedtest1.c", *words, "-lm"], self.work)
            except NotMeasured as error:
                self.problems[name] = "cannot be built (%s)" % error

    def program(self, name):
        if name in self.problems:
            raise NotMeasured(self.problems[name])
        return [str(self.work / name), "--size", str(self.size), ":memory:"]

    def timed(self, words, settings=None):
        """CPU seconds of a command and of what it starts. What others left to be written is written
        before, and so is not in them."""
        os.sync()
        child = subprocess.Popen(words, env=dict(self.environment, **(settings or {})), cwd=self.work,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = child.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise NotMeasured("%s: status %d: %s" % (words[0], status, said.strip()[-200:]))
        return usage.ru_utime + usage.ru_stime

    def in_stint(self, settings):
        """With a trace: on disk what its file takes."""
        file = self.work / "run.stint"
        settings = dict(settings, STINT_REPORT="none")
        if "STINT_FILE" in settings:
            settings["STINT_FILE"] = str(file)
        seconds = self.timed(self.program("stint"), settings)
        return seconds, self.on_disk(file) if "STINT_FILE" in settings else 0

    def in_uftrace(self):
        if not shutil.which("uftrace"):
            raise NotMeasured("uftrace is not installed")
        folder = self.work / "uftrace.data"
        seconds = self.timed(["uftrace", "record", "--no-event", "-d", str(folder),
                              *self.program("uftrace")])
        if not any(file.stat().st_size for file in folder.glob("*.dat")):
            raise NotMeasured("uftrace recorded nothing")
        return seconds, self.on_disk(folder)

    def on_disk(self, path):
        """The bytes that it takes; it is removed."""
        files = list(path.iterdir()) if path.is_dir() else [path]
        taken = sum(file.stat().st_blocks * 512 for file in files)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        return taken

    def scopes(self):
        file = self.work / "count.stint"
        self.run(self.program("stint"), {"STINT_FILE": str(file), "STINT_REPORT": "none"})
        rows = json.loads(self.run([str(self.folder / "runtime/tool/stint"), "export", "--to", "json",
                                    "-o", "-", str(file)]))["stats"]
        return sum(row["calls"] for row in rows)


def cases_of(real, lttng):
    """Title and what measures it: CPU seconds, bytes on disk."""
    yield "without scopes", lambda: (real.timed(real.program("none")), 0)
    for title, settings in (("stint, switched off", {"STINT_ENABLE": "0"}),
                            ("stint (the default)", {}),
                            ("stint, with a run file", {"STINT_FILE": ""}),
                            ("stint, file and trace of 64M", {"STINT_FILE": "", "STINT_TRACE": "64M"})):
        yield title, lambda s=settings: real.in_stint(s)
    yield "LTTng-UST, snapshot session", lambda: lttng.recorded(
        lambda: (real.timed(real.program("lttng")), 0))
    yield "uftrace record", real.in_uftrace


def row_print(title, figures, floors):
    ratios = [cpu / floor for (cpu, _), floor in zip(figures, floors)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    print("  %-29s %6.2f [%.2f .. %.2f] %9.1f MB" % (
        title, middle, low, high, statistics.median(disk for _, disk in figures) / 1e6), flush=True)


def measure(real, rounds):
    figures, problems = {}, {}
    with Lttng(real) as lttng:
        real.timed(real.program("none"))  # the first run is slower
        for _ in range(rounds):
            for title, case in cases_of(real, lttng):
                try:
                    if title not in problems:
                        figures.setdefault(title, []).append(case())
                except NotMeasured as error:
                    problems[title] = str(error)
    for title in problems:
        figures.pop(title, None)
    floors = [cpu for cpu, _ in figures["without scopes"]]
    print("  %-29s %22s %12s" % ("", "CPU time", "on disk"))
    for title, rows in figures.items():
        row_print(title, rows, floors)
    for title, problem in problems.items():
        print("  %-29s not measured: %s" % (title, problem))
    scopes, cpu = real.scopes(), statistics.median(floors)
    print("%d scopes, %.1f million a second of the %.1f s without" % (scopes, scopes / cpu / 1e6, cpu))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", metavar="FOLDER", type=os.path.abspath)
    parser.add_argument("--size", type=int, default=100, metavar="N")
    parser.add_argument("--rounds", type=int, default=7, choices=range(2, 100), metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stint-real-") as scratch:
        real = Real(options.folder, scratch, options.size)
        try:
            real.build()
        except NotMeasured as error:
            sys.exit("real.py: %s" % error)
        print("machine   %s, %d CPUs, load %.1f; %s" % (cpu_name(), os.cpu_count() or 1,
                                                        os.getloadavg()[0], FLAGS))
        measure(real, options.rounds)


if __name__ == "__main__":
    main()
