#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory per scope: what libstint-mem.so counts, against what the program did, what it counted
itself and what valgrind counted.

    mem_test.py --tool STINT --programs FOLDER CASE
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
NUMBERS = ("mallocs", "allocated_bytes", "frees", "freed_bytes", "freed_elsewhere_bytes",
           "memory_peak_bytes", "memory_peak_own_bytes", "memory_live_bytes")


class Failure(Exception):
    pass


def expect(what, have, want):
    if have != want:
        raise Failure("%s: have %r, want %r" % (what, have, want))


def contains(text, part):
    if part not in text:
        raise Failure("lacks %r:\n%s" % (part, text))


class Place:
    """The programs, and a folder for run files."""

    def __init__(self, options, folder):
        self.tool = options.tool
        self.programs = pathlib.Path(options.programs)
        self.folder = folder

    def run(self, *command, env=None, status=0):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
        done = subprocess.run([str(c) for c in command], env={**clean, "STINT_WAITS": "0", **(env or {})},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=300, check=False)
        if done.returncode != status:
            raise Failure("%s: status %d\n%s" % (command, done.returncode, done.stderr))
        return done

    def program(self, name="mem_program"):
        return self.programs / name

    def record(self, *arguments, env=None):
        """The runs, the program's own first, as JSON, and what it printed."""
        done = self.run(self.tool, "run", "--mem", "--file", self.folder / "%p.stint", *arguments,
                        env=env)
        files = re.findall(r"(?:the run is in|, in) (\S+\.stint)", done.stderr)
        files = sorted(files, key=lambda f: "the run is in " + f not in done.stderr)
        return [self.export(f) for f in files], done

    def export(self, path):
        return json.loads(self.run(self.tool, "export", path, "--to", "json").stdout)


def rows_of(run):
    """Name -> its numbers of memory."""
    rows = {}
    for row in run["stats"]:
        if "mallocs" in row:
            rows[row["name"]] = {key: row[key] for key in NUMBERS}
    return rows


def check_row(rows, name, **want):
    for key, value in want.items():
        full = key if key in NUMBERS else key + "_bytes"
        expect("%s: %s" % (name, full), rows[name][full], value)


def outside_of(done):
    match = re.search(r"outside scopes: (\d+) mallocs?, .*, of which .* live", done.stderr)
    return int(match[1]) if match else 0


def case_functions(place):
    runs, _ = place.record(place.program(), "functions")
    rows = rows_of(runs[0])
    sizes = [10, 60, 100, 1000, 35, 200, 512, 40, 50, 8192, 12, 0, 1 << 20]
    held = sum(sizes) - 100
    check_row(rows, "functions", mallocs=len(sizes), allocated=sum(sizes), frees=1, freed=100,
              freed_elsewhere=held, memory_peak=held, memory_live=0)
    check_row(rows, "free", mallocs=0, frees=12, freed=held, memory_live=0)


def case_owners(place):
    runs, _ = place.record(place.program(), "owners")
    rows = rows_of(runs[0])
    check_row(rows, "first", mallocs=40, allocated=4000, frees=10, freed=1000,
              freed_elsewhere=2100, memory_peak=4000, memory_live=900)
    check_row(rows, "second", mallocs=0, frees=20, freed=2000, memory_live=0)


def case_peaks(place):
    runs, _ = place.record(place.program(), "peaks")
    rows = rows_of(runs[0])
    check_row(rows, "outer", mallocs=3, memory_peak=2000, memory_peak_own=1000, memory_live=0)
    check_row(rows, "inner", mallocs=6, memory_peak=1000, memory_peak_own=1000, memory_live=0)


def case_recursive(place):
    runs, _ = place.record(place.program(), "recursive")
    check_row(rows_of(runs[0]), "again", mallocs=5, allocated=50, frees=5, freed=50,
              freed_elsewhere=0, memory_peak=50, memory_live=0)


def case_threads(place):
    runs, _ = place.record(place.program(), "threads")
    rows = rows_of(runs[0])
    check_row(rows, "worker", mallocs=8000, allocated=4 * 1000 * 64, frees=4000, freed=64000,
              freed_elsewhere=4 * 999 * 48, memory_live=4 * 48)
    check_row(rows, "drain", mallocs=0, frees=4 * 999, freed=4 * 999 * 48)


def case_destructors(place):
    runs, _ = place.record(place.program(), "destructors")
    rows = rows_of(runs[0])
    check_row(rows, "thread", mallocs=1, allocated=77, freed_elsewhere=77, memory_live=0)


def case_fork(place):
    runs, _ = place.record(place.program(), "fork")
    by_name = {}
    for run in runs:
        by_name.update(rows_of(run))
    check_row(by_name, "parent", mallocs=10, allocated=1000, freed_elsewhere=1000, memory_live=0)
    check_row(by_name, "after", frees=10, freed=1000)
    check_row(by_name, "child", mallocs=2, allocated=5200, frees=7, freed=6 * 100 + 200,
              memory_peak=5200, memory_live=5000)


def case_mapped(place):
    mib = 1 << 20
    runs, _ = place.record(place.program(), "mapped")
    check_row(rows_of(runs[0]), "mapped", mallocs=3, allocated=7 * mib, frees=3, freed=3 * mib,
              freed_elsewhere=0, memory_live=4 * mib)


def case_remapped(place):
    """Calls that fail free nothing; lengths are rounded up to pages as the kernel does."""
    mib = 1 << 20
    runs, _ = place.record(place.program(), "remapped")
    rows = rows_of(runs[0])
    names = [row["name"] for row in runs[0]["stats"]]
    check_row(rows, "failed unmaps", mallocs=1, allocated=mib, frees=0, memory_live=mib)
    left = 1 if "still mapped" in names else 0
    check_row(rows, "failed late", mallocs=1, frees=1 - left, memory_live=left * mib)
    check_row(rows, "whole pages", mallocs=3, allocated=3 * mib + 4, frees=3,
              freed=3 * mib + 4, memory_live=0)
    check_row(rows, "moved", mallocs=3, frees=2, memory_live=mib)
    kept = rows["moved and kept"]["mallocs"] - 1 # kernels before 5.7 refuse it
    check_row(rows, "moved and kept", frees=0, memory_live=(1 + kept) * mib)


def case_fifo(place):
    """A thread with a real-time priority waits for the lock of the mappings without using the
    processor, which the holder needs: else each time takes the 950 ms of real-time throttling."""
    done = place.record(place.program(), "fifo")[1]
    if not done.stdout.strip().isdigit():
        print(done.stdout.strip())
        return SKIPPED
    expect("%s ms of processor time are below 500" % done.stdout.strip(),
           int(done.stdout) < 500, True)
    return 0


def case_oracle(place):
    runs, done = place.record(place.program(), "oracle")
    mallocs, allocated, frees, live, peak = map(int, done.stdout.split())
    check_row(rows_of(runs[0]), "oracle", mallocs=mallocs, allocated=allocated, frees=frees,
              freed=allocated - live, memory_live=live, memory_peak=peak, memory_peak_own=peak)


def check_nested(place, seed):
    runs, done = place.record(place.program(), "oracle_nested", str(seed))
    rows = rows_of(runs[0])
    for i, line in enumerate(done.stdout.splitlines()):
        mallocs, allocated, frees, elsewhere, live, own, peak = map(int, line.split())
        check_row(rows, "n%d" % i, mallocs=mallocs, allocated=allocated, frees=frees,
                  freed_elsewhere=elsewhere, memory_live=live, memory_peak_own=own,
                  memory_peak=peak)
    expect("scopes", len(rows), 7)


def case_oracle_nested(place):
    """Seven scopes in three levels, whose blocks are freed by themselves and by each other."""
    for seed in range(6):
        check_nested(place, seed)


def case_turns(place):
    runs, _ = place.record(place.program(), "turns")
    rows = rows_of(runs[0])
    check_row(rows, "turn", mallocs=1, memory_peak=2500, memory_live=1500)
    check_row(rows, "inside turn", mallocs=2, frees=1, memory_peak=2000, memory_live=1000)


def check_new(place, *command, preload=None, fails=True):
    """tests/mem/mem_new.cpp. The C++ library may ask malloc for more than operator new is asked
    for: 1 byte for none."""
    if not place.program("mem_load").exists():
        print("needs a C++ compiler")
        return SKIPPED
    env = {"LD_PRELOAD": preload} if preload else {}
    runs, _ = place.record(place.program(command[0]), "1" if fails else "0", *command[1:], env=env)
    rows = rows_of(runs[0])
    check_row(rows, "forms", mallocs=12, allocated=12 * 128, frees=12, freed=12 * 128,
              freed_elsewhere=0, memory_peak=128, memory_live=0)
    check_row(rows, "leak", mallocs=1000, allocated=128000, frees=0, memory_live=128000)
    check_row(rows, "large", mallocs=50, frees=50, memory_peak=(49 << 20), memory_live=0)
    expect("large: bytes", rows["large"]["allocated_bytes"] in (1225 << 20, (1225 << 20) + 1), True)
    if fails: # the exceptions are blocks, too
        expect("the new handler's free", rows["fails"]["frees"] >= 1, True)
        expect("fails: live", rows["fails"]["memory_live_bytes"] < 128, True)
        check_row(rows, "after", mallocs=2, allocated=256, frees=0, memory_live=256)
    return 0


def case_cxx(place):
    return check_new(place, "mem_load_linked")


def case_cxx_loaded(place):
    """The C++ library comes with a module."""
    return check_new(place, "mem_load", place.program("libmem_new.so"))


def check_allocator(place, library, fails=True):
    """Checks the cases of operator new over that allocator, which has an operator new of its
    own."""
    said = subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": library}, check=False,
                          stderr=subprocess.PIPE, text=True).stderr
    if said:
        print("needs %s: %s" % (library, said.splitlines()[0]))
        return SKIPPED
    for command in (("mem_load_linked",), ("mem_load", place.program("libmem_new.so"))):
        status = check_new(place, *command, preload=library, fails=fails)
        if status:
            return status
    runs, _ = place.record(place.program(), "owners", env={"LD_PRELOAD": library})
    check_row(rows_of(runs[0]), "first", mallocs=40, allocated=4000, frees=10, freed=1000,
              freed_elsewhere=2100, memory_peak=4000, memory_live=900)
    return 0


def case_jemalloc(place):
    return check_allocator(place, "libjemalloc.so.2")


def case_tcmalloc(place):
    return check_allocator(place, "libtcmalloc.so.4")


def case_tcmalloc_minimal(place):
    return check_allocator(place, "libtcmalloc_minimal.so.4")


def case_tbbmalloc(place):
    """Its operator new maps memory from another library."""
    return check_allocator(place, "libtbbmalloc_proxy.so.2")


def case_mimalloc(place):
    """It ends the program where operator new finds no memory."""
    return check_allocator(place, "libmimalloc.so.2.0", fails=False)


def case_before_main(place):
    _, done = place.record(place.program(), "owners")
    if not outside_of(done):
        raise Failure("no line about memory outside scopes:\n" + done.stderr)
    contains(done.stderr, "outside scopes: ")


def case_valgrind(place):
    valgrind = shutil.which("valgrind")
    if not valgrind:
        print("no valgrind here")
        return SKIPPED
    # valgrind 3.19 stops at the debug information of clang 14, which is DWARF 5.
    can_read = subprocess.run([valgrind, "-q", str(place.program()), "owners"], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if "corrupted debuginfo" in can_read.stderr:
        print("valgrind cannot read this program's debug information")
        return SKIPPED
    for mode in ("owners", "oracle", "threads"):
        seen = place.run(valgrind, "--run-libc-freeres=no", place.program(), mode).stderr
        match = re.search(r"total heap usage: ([\d,]+) allocs, ([\d,]+) frees, ([\d,]+) bytes",
                          seen)
        if not match:
            print("valgrind does not run here:\n" + seen[-500:])
            return SKIPPED
        allocs, frees, bytes_ = (int(n.replace(",", "")) for n in match.groups())
        if not allocs:
            print("valgrind does not see the malloc of this C library")
            return SKIPPED
        runs, done = place.record(place.program(), mode)
        rows = rows_of(runs[0])
        mine = [sum(row[key] for row in rows.values())
                for key in ("mallocs", "allocated_bytes", "frees")]
        outside = runs[0]["outside_scopes"]
        expect(mode + ": allocs", mine[0] + outside["mallocs"], allocs)
        if mode != "threads":  # the loader's table for a thread grows with each library
            expect(mode + ": bytes", mine[1] + outside["allocated_bytes"], bytes_)
        expect(mode + ": frees", mine[2] + outside["frees"], frees)
    return 0


def case_full(place):
    runs, done = place.record(place.program(), "many", env={"STINT_MEM_TABLE": "2M"})
    contains(done.stderr, "blocks of memory that had no room in the table of blocks")
    check_row(rows_of(runs[0]), "many", mallocs=100000, allocated=10000000)


def case_small_blocks(place):
    """Blocks of 8 bytes, of which jemalloc has every other one at an odd multiple of 8: they are
    counted as allocated, but not as freed, and the footer says so."""
    env = {"LD_PRELOAD": "libjemalloc.so.2"}
    if subprocess.run(["true"], env={**os.environ, **env}, check=False,
                      stderr=subprocess.PIPE).stderr:
        print("needs libjemalloc.so.2")
        return SKIPPED
    runs, done = place.record(place.program(), "small", env=env)
    lost = re.search(r"lost: (\d+) blocks of memory that had no room in the table", done.stderr)
    if not lost:
        raise Failure("no line about lost blocks:\n" + done.stderr)
    lost = int(lost[1])
    expect("some are lost, not all", 0 < lost < 1000, True)
    check_row(rows_of(runs[0]), "small", mallocs=1000, allocated=8000, frees=1000,
              freed=8 * (1000 - lost), memory_live=8 * lost)
    return 0


def case_linked(place):
    """Linked, not preloaded; STINT_MEM=0 counts nothing."""
    for setting, wanted in ((None, True), ("1", True), ("0", False)):
        env = {"STINT_REPORT": "table", **({"STINT_MEM": setting} if setting else {})}
        said = place.run(place.program("mem_linked"), "peaks", env=env).stderr
        expect("STINT_MEM=%s: a column" % setting, "mallocs" in said, wanted)
        expect("STINT_MEM=%s: other lines" % setting, "is not counted" in said, False)


def case_not_loaded(place):
    said = place.run(place.program(), "peaks", env={"STINT_MEM": "1"}).stderr
    expect("lines", said.count("\n"), 1)
    contains(said, "STINT_MEM=1: memory is not counted: libstint-mem.so is not loaded")
    said = place.run(place.program(), "peaks").stderr
    expect("without STINT_MEM", said, "")


def case_not_found(place):
    """The tool reports one line if the library is not beside it, or if LD_PRELOAD cannot name its
    path."""
    for folder, said in (("alone", "libstint-mem.so.%s is not in "),
                         ("a:colon", "LD_PRELOAD cannot have a path with a blank or a colon")):
        tool = pathlib.Path(place.folder) / folder / "tool" / "stint"
        tool.parent.mkdir(parents=True)
        shutil.copy(place.tool, tool)
        library = next(pathlib.Path(place.tool).parent.parent.glob("libstint-mem.so.?"))
        if folder != "alone":
            shutil.copy(library, tool.parent.parent)
        done = place.run(tool, "run", "--mem", place.program(), "peaks", status=1)
        expect("lines", done.stderr.count("\n"), 1)
        contains(done.stderr, said.replace("%s", library.name[-1]))


def case_static(place):
    done = place.run(place.tool, "run", "--mem", "--report", "none", place.program("mem_static"),
                     "peaks")
    expect("lines", done.stderr.count("\n"), 1)
    contains(done.stderr, "this program is linked with libstint.a")


def case_rival(place):
    done = place.run(place.tool, "run", "--mem", "--report", "none", place.program("mem_rival"))
    expect("lines", done.stderr.count("\n"), 1)
    contains(done.stderr, "memory is not counted: the program's malloc is that of ")
    contains(done.stderr, "mem_rival")


def check_sanitizer(place, name):
    """A program built with that sanitizer, also if a script starts it: it runs, and its memory is
    counted, by the calls that reach the sanitizer's malloc through libstint-mem.so. Where its
    malloc is in the executable, as with clang, one line says that nothing is counted."""
    program = place.program("mem_" + name)
    if not program.exists():
        print("the compiler has no -fsanitize=" + name)
        return SKIPPED
    plain = subprocess.run([str(program), "owners"], check=False, stderr=subprocess.PIPE, text=True)
    if plain.returncode:
        print("-fsanitize=%s does not work here: %s" % (name, plain.stderr[:300]))
        return SKIPPED
    script = place.folder / "script"
    script.write_text('#!/bin/sh\n"$@"\n')
    script.chmod(0o755)
    for before in ((), (script,)): # a script, with an option of the user's
        env = {"ASAN_OPTIONS": "abort_on_error=1"} if before else {}
        runs, done = place.record(*before, program, "oracle", env=env)
        if "memory is not counted: the program's malloc is that of " in done.stderr:
            continue
        mallocs, allocated, frees, live, peak = map(int, done.stdout.split())
        check_row(rows_of(runs[0]), "oracle", mallocs=mallocs, allocated=allocated, frees=frees,
                  freed=allocated - live, memory_live=live, memory_peak=peak)
    return 0


def case_address(place):
    return check_sanitizer(place, "address")


def case_thread(place):
    return check_sanitizer(place, "thread")


def case_leak(place):
    return check_sanitizer(place, "leak")


def case_hook(place):
    """An allocator below that opens scopes."""
    hook = place.program("libmem_hook.so")
    if not hook.exists():
        print("needs glibc's __libc_malloc")
        return SKIPPED
    runs, _ = place.record(place.program(), "peaks", env={"LD_PRELOAD": str(hook)})
    rows = rows_of(runs[0])
    check_row(rows, "outer", mallocs=3, memory_peak=2000, memory_live=0)
    check_row(rows, "inner", mallocs=6, memory_peak=1000, memory_live=0)
    names = [row["name"] for row in runs[0]["stats"]]
    expect("the hook's scope", "hook" in names, True)
    return 0


def check_top(place, path):
    """`top` shows as many columns as fit beside the columns of times."""
    for width, columns in ((200, ["p99", "live", "bytes/s", "mallocs/s"]), (90, ["total", "live"]),
                           (80, ["total"])):
        text = place.run(place.tool, "top", "--once", path, env={"COLUMNS": str(width)}).stdout
        lines = [line for line in text.splitlines() if line.startswith(("name", "first"))]
        expect("columns", lines[0].split()[-len(columns):], columns)
        expect("too long", [line for line in lines if len(line) > width], [])
        if "live" in columns:
            expect("live", re.findall(r" 900 B\b", lines[1]), [" 900 B"])
    second = next(line for line in text.splitlines() if line.startswith("second"))
    expect("nothing", " B" in second, False)


def check_prometheus(place, path):
    text = place.run(place.tool, "export", path, "--to", "prometheus").stdout
    for family, value in (("mallocs_total", 40), ("allocated_bytes_total", 4000),
                          ("memory_peak_bytes", 4000), ("memory_live_bytes", 900)):
        contains(text, '\nstint_scope_%s{name="first",set="GlobalStatInfo"} %d\n' % (family, value))


def case_outputs(place):
    """Table, tree, HTML, diff, merge."""
    program, folder = place.program(), place.folder
    for name, mode in (("a", "peaks"), ("b", "peaks"), ("c", "owners"), ("d", "peaks_more")):
        place.run(place.tool, "run", "--mem", "--report", "none", "--file", folder / (name + ".stint"),
                  program, mode)
    for view in ("table", "tree"):
        text = place.run(place.tool, "report", "--view", view, folder / "a.stint").stdout
        head = next(line for line in text.splitlines() if line.startswith("name"))
        expect(view, head.split()[-4:] if view == "tree" else
               [w for w in head.split() if w in ("mallocs", "bytes", "peak", "live")],
               ["mallocs", "bytes", "peak", "live"])
    text = place.run(place.tool, "report", "--view", "fluid", folder / "a.stint").stdout
    contains(text, "Memory Profiling Report")
    for line in (r"^CPUPlace:outer +3 +0\.0\d+ +3 +0\.0\d+$", r"^CPUPlace:outer/inner +6 +0\.",
                 r"^CPUPlace:Unknown +\d"):
        if not re.search(line, text, re.M):
            raise Failure("the fluid report lacks %s:\n%s" % (line, text))
    sort = place.run(place.tool, "report", "--sort", "mallocs", folder / "a.stint").stdout
    names = [line.split()[0] for line in sort.splitlines() if line.startswith(("outer", "inner"))]
    expect("sort=mallocs", names, ["inner", "outer"])
    check_top(place, folder / "c.stint")
    check_prometheus(place, folder / "c.stint")
    page = place.run(place.tool, "export", folder / "a.stint", "--to", "html").stdout
    contains(page, '"memory_peak_bytes"')
    text = place.run(place.tool, "diff", "--metric", "memory", folder / "a.stint",
                     folder / "c.stint").stdout
    verdicts = {line.split()[0]: line.split()[1:4] for line in text.splitlines()
                if re.match(r"(outer|inner|first) ", line)}
    expect("diff of others", {name: v[0] for name, v in verdicts.items()},
           {"outer": "GONE", "inner": "GONE", "first": "NEW"})
    for other, verdict in (("b", "SAME"), ("d", "MORE"), ("a", "LESS")):
        one = "d" if verdict == "LESS" else "a"
        text = place.run(place.tool, "diff", "--metric", "memory", "--format", "json",
                         folder / (one + ".stint"), folder / (other + ".stint")).stdout
        contains(text, '"%s"' % verdict)
    place.run(place.tool, "merge", "-o", folder / "m.stint", folder / "a.stint", folder / "b.stint")
    rows = rows_of(place.export(folder / "m.stint"))
    check_row(rows, "outer", mallocs=6, allocated=6000, memory_peak=2000, memory_live=0)
    text = place.run(place.tool, "report", folder / "m.stint").stdout
    contains(text, "outside scopes: ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("case")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stint-mem-") as folder:
        try:
            return globals()["case_" + options.case](
                Place(options, pathlib.Path(folder))) or 0
        except Failure as failure:
            print("%s: %s" % (options.case, failure), file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
