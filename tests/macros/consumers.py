#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the program in consumers.h as other projects build theirs: the rows of
consumers_table.py with one compiler, as C and C++, on and off, warnings as errors.

    consumers.py --prefix PREFIX --cc gcc [--cxx g++] [--long] [ROW]...

ROW is a pattern of row names; without one, all rows run that are not long, with --long those that
are. Exit status 77: no such compiler.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import consumers_table

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
SKIP = 77

WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror".split()
ON = ["-DWITH_TIMER", "-DWITH_PROFILER"]
CALLS = {"timer": 3, "timer.set @consumer": 1, "info": 1, "since": 1, "under": 1, "role": 1,
         "dynamic": 2, "consumer_add": 3, "handle": 1}
CALLS_HPP = {"scope": 1, "interval": 1}
# How compilers and linkers say that they do not have a flag, or a library that it needs.
UNKNOWN = (r"unrecognized|unknown|invalid (value|argument)|not supported|unsupported|cannot find|"
           r"no such file|not installed|not recognized")
STARTED = {name: value for name, value in os.environ.items() if not name.startswith("STINT_")}


class Project:
    """A compiler and where stint is."""

    def __init__(self, options, scratch):
        self.compiler = {"c": options.cc, "c++": options.cxx or cxx_of(options.cc)}
        self.family = "clang" if "clang" in pathlib.Path(options.cc).name else "gcc"
        self.include = options.include or f"{options.prefix}/include"
        self.library = options.library or library_folder(options.prefix)
        self.scratch = scratch
        self.two_files = str(scratch)
        subprocess.run([sys.executable, "-B", SOURCE / "gen/amalgamate.py", scratch / "stint"],
                       check=True)
        shutil.copy(f"{self.include}/stint/stint.hpp", scratch / "stint")

    def run(self, command, text=None, folder=None, report="table"):
        return subprocess.run(command, input=text, cwd=folder, capture_output=True, text=True,
                              errors="replace", check=False,
                              env={**STARTED, "LD_LIBRARY_PATH": self.library,
                                   "STINT_REPORT": report})

    def all_warnings(self, language):
        """The warnings of gcc without a value, as it lists them, but for LESS_GCC."""
        found = []
        for of in (language, "common"):
            said = self.run([self.compiler[language], "-Q", "--help=warnings," + of]).stdout
            found += re.findall(r"(?m)^ +-W([\w+-]*[\w+])(?=\s)", said)
        return ["-W" + name for name in found if name not in consumers_table.LESS_GCC]


def cxx_of(cc):
    """gcc-12 -> g++-12, clang-14 -> clang++-14."""
    folder, name = os.path.split(cc)
    return os.path.join(folder, re.sub("clang", "clang++", re.sub(r"\bgcc\b", "g++", name)))


def library_folder(prefix):
    found = sorted(pathlib.Path(prefix).glob("lib*/**/libstint.so"))
    if not found:
        sys.exit(f"consumers.py: no libstint.so below {prefix}")
    return str(found[0].parent)


class Cell:
    """A row with one language and one state of the switches."""

    def __init__(self, row, project, language, switch):
        self.row, self.project, self.language, self.switch = row, project, language, switch
        self.name = f"{row.name} {project.family} {language} {switch}"
        self.folder = project.scratch / self.name.replace(" ", "_")

    def run(self, command, text=None):
        report = "none" if self.row.calls == {} else "table"
        return self.project.run(command, text, self.folder, report)

    def command(self, program):
        row, project = self.row, self.project
        command = [project.compiler[self.language], *WARNINGS, f"-I{HERE}"]
        command += row.search.replace("@", project.include).replace("$", project.two_files).split()
        command += (ON if self.switch == "on" else []) + ["-o", str(program), "-x", self.language]
        for flag in row.flags_of(project.family, self.language):
            command += project.all_warnings(self.language) if flag == "-Wgcc-all" else [flag]
        command += ["-"]
        if not row.run:
            return command + ["-c"]
        if self.switch == "on":
            command += [f"-L{project.library}", "-lstint"]
        return command

    def check(self):
        """None, or how the row does not hold; a text that begins with "skipped" for flags that the
        compiler does not have."""
        program = self.folder / "program"
        self.folder.mkdir()
        command = self.command(program)
        done = self.run(command, self.row.text())
        if self.row.error:
            return self.check_error(command, done)
        if done.returncode:
            probe = self.run(command, "int main(void) {\n    return 0;\n}\n")
            if re.search(UNKNOWN, probe.stderr):
                return f"skipped: {self.project.compiler[self.language]} has not these flags"
            return f"{' '.join(command)}\n{done.stderr}"
        if not self.row.run:
            return None
        off = self.switch == "off"
        # Sanitizers describe types by their names.
        trace = b"stint_impl_" if "-fsanitize" in self.row.flags else b"stint_"
        if off and trace in program.read_bytes():
            return f"{' '.join(command)}\na name of stint is in the program"
        done = self.run([str(program)])
        program.unlink()
        if done.returncode or (off and done.stderr):
            return f"{' '.join(command)}\nexit status {done.returncode}\n{done.stderr}"
        return None if off else self.check_report(command, done.stderr)

    def check_error(self, command, done):
        errors = [line for line in done.stderr.splitlines() if re.search(r"\berror: ", line)]
        if len(errors) == 1 and re.search(self.row.error, errors[0]):
            return None
        return f"{' '.join(command)}\nexpected one error /{self.row.error}/\n{done.stderr}"

    def check_report(self, command, report):
        found = dict(re.findall(r"(?m)^(\S+(?: @\S+)?) +(\d+)  ", report))
        wanted = {**CALLS, **(self.row.more or {})}
        if self.language == "c++" and "stint.hpp" in self.row.text():
            wanted.update(CALLS_HPP)
        if self.row.calls is not None:
            wanted = self.row.calls
        if found == {name: str(calls) for name, calls in wanted.items()}:
            return None
        return f"{' '.join(command)}\nexpected {wanted}\n{report}"


def cells_of(project, options):
    for row in consumers_table.ROWS:
        chosen = (any(fnmatch.fnmatch(row.name, one) for one in options.rows) if options.rows
                  else row.long == options.long)
        if chosen and project.family in row.compilers:
            for language in row.languages:
                for switch in row.switches:
                    yield Cell(row, project, language, switch)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--prefix", help="where stint is installed")
    parser.add_argument("--include", help="in place of PREFIX/include")
    parser.add_argument("--library", help="the folder of libstint, in place of PREFIX/lib")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--cxx", help="default: that of CC")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("rows", nargs="*", metavar="ROW")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Project(options, pathlib.Path(folder))
        try:
            project.run([project.compiler["c"], "--version"])
            project.run([project.compiler["c++"], "--version"])
        except OSError as error:
            print(error)
            return SKIP
        cells = list(cells_of(project, options))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            results = list(zip(cells, threads.map(Cell.check, cells)))
    failed = [(cell, text) for cell, text in results if text and not text.startswith("skipped")]
    for cell, text in results:
        if text:
            print("\n".join(f"{cell.name}: {text}".splitlines()[:20]))
    print(f"{len(cells)} cells, {len(failed)} failed")
    return 1 if failed or not cells else 0


if __name__ == "__main__":
    sys.exit(main())
