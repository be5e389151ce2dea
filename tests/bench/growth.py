#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how costs grow, as tests/bench/data/growth.txt has them.

    growth.py SCOPES TOOL PROGRAM [--quick|--large]

SCOPES is growth_program, TOOL is stint, PROGRAM is tests/tool/tool_program.c. Each figure is CPU
time for one scope, name or span, the least of three runs; in brackets the ratio to the figure
before it. 1.00 is linear growth of the whole; a step above 1.25 is named in the last column.
--quick takes small sizes, to see that everything runs; --large has files of 1 000 000 names, too,
which takes minutes. Figures, no test.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

RUNS = 3
NAMED = 1.25
SCOPES = {
    "depth": ("a scope", [1, 4, 16, 64, 256, 1024, 4096]),
    "sites": ("a scope", [1, 10, 100, 1000, 10000, 100000]),
    "threads": ("a scope", [1, 2, 4, 8, 16, 32]),
}
NAMES = [1000, 10000, 100000]
NAMES_LARGE = 1000000
SPANS = [1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24]
BY_NAMES = {
    "report": ["report", "FILE"],
    "report, tree": ["report", "--view", "tree", "FILE"],
    "info": ["info", "FILE"],
    "top, a reading": ["top", "--once", "FILE"],
    "diff of two": ["diff", "FILE", "FILE2"],
    "merge of two": ["merge", "-o", "OUT", "FILE", "FILE2"],
    **{"export, %s" % form: ["export", "--to", form, "-o", "/dev/null", "FILE"]
       for form in ("json", "csv", "prometheus", "otlp", "html")},
}
BY_SPANS = {
    "report": ["report", "FILE"],
    "info": ["info", "FILE"],
    "merge of two": ["merge", "--keep", "threads", "-o", "OUT", "FILE", "FILE2"],
    **{"export, %s" % form: ["export", "--to", form, "-o", "/dev/null", "FILE"]
       for form in ("chrome", "perfetto", "html")},
}


def settings(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    return dict(kept, **more)


def cpu_seconds(command):
    """None if the command failed."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=settings())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.WEXITSTATUS(status)
    return None if status else usage.ru_utime + usage.ru_stime


def format_ns(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return "%.3g %s" % (ns / size, unit)
    return "%.3g ns" % ns


def format_size(size):
    return "{:,}".format(size).replace(",", " ")


def print_row(what, against, figures):
    """figures: (size, ns for one, or None if it failed)."""
    chain, named, before = [], [], None
    for size, ns in figures:
        if ns is None:
            chain.append("%s: fails" % format_size(size))
            continue
        text = "%s: %s" % (format_size(size), format_ns(ns))
        if before:
            text += " (%.2f)" % (ns / before)
            if ns / before > NAMED:
                named.append(format_size(size))
        chain.append(text)
        before = ns
    print("| %s | %s | %s | %s |" % (what, against, "; ".join(chain), ", ".join(named) or "no"),
          flush=True)


def measure_scopes(program, kind, size):
    ns = []
    for _ in range(RUNS):
        done = subprocess.run([program, kind, str(size)], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True,
                              env=settings(STINT_REPORT="none"))
        ns.append(float(done.stdout.split()[0]))
    return min(ns)


def measure_command(tool, arguments, files, size):
    out = files[0] + ".out"
    words = {"FILE": files[0], "FILE2": files[1], "OUT": out}
    command = [tool] + [words.get(word, word) for word in arguments]
    seconds = []
    for _ in range(RUNS):
        pathlib.Path(out).unlink(missing_ok=True)
        seconds.append(cpu_seconds(command))
        if seconds[-1] is None:
            return None
    pathlib.Path(out).unlink(missing_ok=True)
    return min(seconds) / size * 1e9


def record(program, folder, story, size, **more):
    files = [str(pathlib.Path(folder) / ("%s%d" % (story, i))) for i in range(2)]
    for file in files:
        pathlib.Path(file).unlink(missing_ok=True)
        subprocess.run([program, story, str(size)], check=True, stderr=subprocess.DEVNULL,
                       env=settings(STINT_FILE=file, **more))
    return files


def measure_tool(options, story, sizes, commands, memory):
    """{command: [(size, ns)]}. A size is recorded once for all commands."""
    figures = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            files = record(options.program, folder, story, size, **memory(size))
            for name, arguments in commands.items():
                figures[name].append((size, measure_command(options.tool, arguments, files, size)))
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scopes")
    parser.add_argument("tool")
    parser.add_argument("program")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    names = NAMES + ([NAMES_LARGE] if options.large else [])
    few = 2 if options.quick else None
    print("| what | against | for one; ratio to the size before | worse than linear |\n"
          "|---|---|---|---|", flush=True)
    for kind, (what, sizes) in SCOPES.items():
        print_row(what, kind, [(size, measure_scopes(options.scopes, kind, size))
                               for size in sizes[:few]])
    for story, against, sizes, commands, memory in (
            ("many", "names", names, BY_NAMES, lambda size: {"STINT_MEMORY": "3500M"}),
            ("spans", "spans", SPANS, BY_SPANS,
             lambda size: {"STINT_TRACE": "%dM" % (size >> 14), "STINT_MEMORY": "1024M"})):
        figures = measure_tool(options, story, sizes[:few], commands, memory)
        for name, row in figures.items():
            print_row(name, against, row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
