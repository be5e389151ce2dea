#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py FOLDER [--quick] [--raw FILE]: a scope of stint beside one of other libraries.

FOLDER has the programs of compare/. Each library has its own, which measures the floor (two clock
reads and a store) right before each repetition; all take turns, round by round. Printed is the
median of the ratios, their quartiles and the lowest. What is not installed is a line that says so.

--raw FILE has every repetition: case, round, ns of the floor, ns of the scope. --quick is a test
that all of this works, with figures that are none; it ends with 77 where no other library is
installed.
"""

import argparse
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SKIP = 77
SECONDS = 60  # for each program, on a loaded machine; then its case is not measured
TOOLS = ("STINT_", "LTTNG_", "UFTRACE_", "NVTX_")  # settings of the user's, not of this comparison
SESSION = "stint-compare-%d" % os.getpid()
RING = "4M"  # as large as the buffers of the LTTng session
BUFFER, BUFFERS = "1M", "4"
# case, program, settings
STINT_CASES = (
    ("stint, switched off", "stint", {"STINT_ENABLE": "0"}),
    ("stint, call tree", "stint", {"STINT_PERCENTILES": "0"}),
    ("stint, + percentiles (the default)", "stint", {}),
    ("stint, + trace ring", "stint", {"STINT_TRACE": RING}),
)


class NotMeasured(Exception):
    """A line for the user: why there is no figure."""


class Measuring:
    """The programs and how long they run."""

    def __init__(self, folder, quick, scratch):
        self.folder = pathlib.Path(folder)
        self.quick = quick
        self.scratch = scratch
        kept = {k: v for k, v in os.environ.items() if not k.startswith(TOOLS)}
        self.environment = dict(kept, LTTNG_HOME=scratch, LTTNG_UST_REGISTER_TIMEOUT="20000")

    def run(self, command, settings=None):
        """Its output; NotMeasured when it fails."""
        try:
            done = subprocess.run(command, env=dict(self.environment, **(settings or {})), text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotMeasured(str(error)) from error
        if done.returncode:
            said = (done.stderr or done.stdout).strip().split("\n")[-1]
            raise NotMeasured("%s: status %d: %s" % (os.path.basename(command[0]), done.returncode, said))
        return done.stdout

    def program(self, name):
        path = self.folder / ("compare_" + name)
        if not path.exists():
            raise NotMeasured("was not installed when the programs were built")
        if self.quick:
            return [str(path), "2", "100"]
        return [str(path), "7", "5000"]

    def pairs(self, command, settings=None, recording=None):
        """Floor and scope in ns, of each repetition."""
        output = self.run(command, settings)
        found = re.findall(r"^time ([\d.]+) ([\d.]+)$", output, re.M)
        state = re.search(r"^recording (-?\d)$", output, re.M)
        if not found or not state:
            raise NotMeasured("the program printed no figures")
        if recording is not None and state[1] != recording:
            raise NotMeasured("expected recording %s, not %s" % (recording, state[1]))
        return [(float(floor), float(scope)) for floor, scope in found]


class Lttng:
    """A session daemon for the time of the comparison; one that runs already is used and left
    alone."""

    def __init__(self, measuring):
        self.measuring = measuring
        self.pid_file = pathlib.Path(measuring.scratch, "sessiond.pid")
        self.started = False
        self.problem = ""

    def __enter__(self):
        for tool in ("lttng", "lttng-sessiond"):
            if not shutil.which(tool):
                self.problem = "%s is not installed" % tool
                return self
        try:
            self.measuring.program("lttng")
            if not self.is_running():
                self.measuring.run(["lttng-sessiond", "--no-kernel", "--daemonize",
                                    "--pidfile", str(self.pid_file)])
                self.started = True
        except NotMeasured as error:
            self.problem = str(error)
        return self

    def is_running(self):
        try:
            self.control("list")
        except NotMeasured:
            return False
        return True

    def __exit__(self, *unused):
        if not self.started or not self.pid_file.exists():
            return
        daemon = int(self.pid_file.read_text(encoding="ascii"))
        try:
            os.kill(daemon, signal.SIGTERM)
            for _ in range(100):  # it removes its files, which are in scratch unless it is root's
                os.kill(daemon, 0)
                time.sleep(0.1)
        except ProcessLookupError:
            pass

    def control(self, *arguments):
        self.measuring.run(["lttng", "--no-sessiond", *arguments])

    def recorded(self, run):
        """Returns what run() does in a session with the buffers of a snapshot: the oldest events are
        overwritten, nothing is written to a file."""
        if self.problem:
            raise NotMeasured(self.problem)
        self.control("create", SESSION, "--snapshot", "--output", self.measuring.scratch)
        try:
            self.control("enable-channel", "--userspace", "--session", SESSION, "--subbuf-size", BUFFER,
                         "--num-subbuf", BUFFERS, "compare")
            self.control("enable-event", "--userspace", "--session", SESSION, "--channel", "compare",
                         "stint_compare:*")
            self.control("start", SESSION)
            return run()
        finally:
            self.control("destroy", SESSION)


def measure_uftrace(measuring, way):
    if not shutil.which("uftrace"):
        raise NotMeasured("uftrace is not installed")
    program = measuring.program(way)
    folder = pathlib.Path(measuring.scratch, "uftrace")
    try:
        pairs = measuring.pairs(["uftrace", "record", "--no-event", "-d", str(folder), *program])
        if not any(file.stat().st_size for file in folder.glob("*.dat")):
            raise NotMeasured("uftrace recorded nothing")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return pairs


def cases_of(measuring, lttng):
    """Title, function that measures, is it stint's."""
    cases = []
    for title, program, settings in STINT_CASES:
        recording = "0" if settings.get("STINT_ENABLE") == "0" else "1"
        cases.append((title, lambda p=program, s=settings, r=recording:
                      measuring.pairs(measuring.program(p), s, r), True))
    cases.append(("LTTng-UST, no session",
                  lambda: measuring.pairs(measuring.program("lttng"), recording="0"), False))
    cases.append(("LTTng-UST, snapshot session", lambda: lttng.recorded(
        lambda: measuring.pairs(measuring.program("lttng"), recording="1")), False))
    cases.append(("NVTX, no tool attached",
                  lambda: measuring.pairs(measuring.program("nvtx")), False))
    for way in ("pg", "finstrument-functions"):
        cases.append(("uftrace record, -" + way,
                      lambda w=way: measure_uftrace(measuring, w), False))
    return cases


def row_print(title, pairs):
    ratios = [scope / floor for floor, scope in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    print("  %-39s %7.2f [%.2f .. %.2f]  lowest %.2f  %8.1f ns  floor %.1f ns" %
          (title, middle, low, high, min(ratios), statistics.median(scope for _, scope in pairs),
           statistics.median(floor for floor, _ in pairs)), flush=True)


def cpu_name():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*: (.*)$", text, re.M)
    return found[1] if found else "unknown CPU"


def compare(measuring, rounds, raw):
    """Measures the cases in turn and prints a row for each. Returns whether all cases of stint have
    figures, and how many other cases have."""
    figures, problems = {}, {}
    with Lttng(measuring) as lttng:
        cases = cases_of(measuring, lttng)
        for number in range(rounds):
            for title, measure, _ in cases:
                if title in problems:
                    continue
                try:
                    pairs = measure()
                except NotMeasured as error:
                    problems[title] = str(error)
                    continue
                figures.setdefault(title, []).extend(pairs)
                for floor, scope in pairs:
                    if raw:
                        raw.write("%s\t%d\t%.3f\t%.3f\n" % (title, number, floor, scope))
    for title, _, _ in cases:
        if title in figures:
            row_print(title, figures[title])
        if title in problems:
            print("  %-39s not measured: %s" % (title, problems[title]))
    own = {title for title, _, is_own in cases if is_own}
    measured = set(figures) - set(problems)
    return own <= measured, len(measured - own)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--raw", metavar="FILE", type=argparse.FileType("w", encoding="utf-8"))
    options = parser.parse_args()
    machine = "machine   %s, %d CPUs, load %.1f, %s, %s" % (
        cpu_name(), os.cpu_count() or 1, os.getloadavg()[0], platform.machine(), platform.system())
    print(machine + "\na scope as a multiple of the floor: median [quartiles]")
    if options.raw:
        options.raw.write("# " + machine + "\n")
    rounds = 1 if options.quick else 5
    scratch = tempfile.mkdtemp(prefix="stint-compare-")
    try:
        complete, others = compare(Measuring(options.folder, options.quick, scratch), rounds, options.raw)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if not complete:
        sys.exit("compare.py: stint itself was not measured")
    if options.quick and not others:
        print("skipped: no other library is installed")
        sys.exit(SKIP)


if __name__ == "__main__":
    main()
