# SPDX-License-Identifier: Apache-2.0
"""The library in two files, stint.h and stint.c, as a user has them. Exit status 77: the machine
lacks what the case needs."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ARCHIVE = ROOT / "tests/package/archive.py"
SKIP = 77
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
LIBRARIES = ["-pthread", "-ldl"]
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def run(*command, env=None):
    """The standard output; what goes wrong ends the test."""
    command = [str(word) for word in command]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("STINT_")}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**clean, "STINT_WAITS": "0", **(env or {})}, check=False)
    if done.returncode:
        sys.exit("%s\n%s%s\nstatus %d" % (" ".join(command), done.stdout, done.stderr,
                                          done.returncode))
    return done.stdout


def expect(what, got, wanted):
    if got != wanted:
        sys.exit("%s\n  expected: %s\n  got:      %s" % (what, wanted, got))


def find_compilers(given, *others):
    """The compiler of this build, and the others that are installed: cc and gcc may be one, but
    not two links to ccache."""
    found = {}
    for name in (given, *others):
        path = shutil.which(name) if name else None
        if path:
            real = os.path.realpath(path)
            same = re.search(r"gcc|g\+\+|clang", os.path.basename(real))
            found.setdefault(real if same else path, name)
    return list(found.values())


class Place:
    def __init__(self, options):
        self.options = options
        self.work = pathlib.Path(options.work)
        shutil.rmtree(self.work, ignore_errors=True)
        self.stint = self.work / "stint"
        if options.case == "made":
            run(sys.executable, "-B", ROOT / "gen/amalgamate.py", self.stint)
        else:
            shutil.copytree(options.made, self.stint)


@case
def made(place):
    """The two files, from which the other cases begin."""
    expect("files", sorted(os.listdir(place.stint)), ["stint.c", "stint.h"])


@case
def source(place):
    """stint.c has no warnings, a program with it records and may use its internal names, and a
    module with it shows none of it. gcc's object is one for link-time optimisation."""
    stint, library = place.work / "stint.o", place.work / "library.so"
    for compiler in find_compilers(place.options.cc, "gcc", "clang"):
        lto = [] if "clang" in run(compiler, "--version") else ["-flto"]
        run(compiler, "-std=c11", "-O0", "-fPIC", *lto, *STRICT, "-c", place.stint / "stint.c",
            "-o", stint)
        run(sys.executable, "-B", ARCHIVE, "--include", place.work, "--cc", compiler, stint)
        run(compiler, "-shared", stint, "-o", library, *LIBRARIES)
        expect("exported by default", exported(library), [])


@case
def cuda(place):
    """nvcc reads stint.h."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not pathlib.Path(nvcc).exists():
        print("skipped: no nvcc")
        sys.exit(SKIP)
    unit = place.work / "kernel.cu"
    unit.write_text('#include <stint/stint.h>\n'
                    '__global__ void add(float *x) { x[threadIdx.x] += 1; }\n'
                    'void launch(float *x) {\n'
                    '    REGISTER_GPU_TIMER("add", (void *)0);\n'
                    '    REGISTER_GPU_PROFILER("add");\n'
                    '    add<<<1, 32>>>(x);\n}\n', encoding="utf-8")
    for switches in ([], ["-DWITH_TIMER", "-DWITH_PROFILER"]):
        run(nvcc, "-std=c++14", "-Xcompiler=-Wall,-Wextra,-Werror", "-Werror", "all-warnings",
            *switches, "-I", place.work, "-c", unit, "-o", place.work / "kernel.o")


def exported(path):
    lines = run("nm", "-D", "--defined-only", path).splitlines()
    names = {line.split()[-1].split("@")[0] for line in lines if " A " not in line}
    return sorted(name for name in names if not name.startswith("_"))


@case
def exports(place):
    """With STINT_SHARED a module with stint.c shows what libstint.so shows."""
    if not place.options.shared:
        print("skipped: no libstint.so in this build to compare with")
        sys.exit(SKIP)
    library = place.work / "library.so"
    run(place.options.cc, "-DSTINT_SHARED", "-fPIC", "-shared", "-std=c11", "-O0",
        place.stint / "stint.c", "-o", library, *LIBRARIES)
    expect("exported with STINT_SHARED", exported(library), exported(place.options.shared))


@case
def makefile(place):
    """samples/makefile, on and off."""
    if not shutil.which("make"):
        print("skipped: no make")
        sys.exit(SKIP)
    samples = place.work / "samples"
    samples.mkdir()
    shutil.copy(ROOT / "samples/quickstart.c", samples)
    shutil.copytree(ROOT / "samples/makefile", samples / "makefile",
                    ignore=shutil.ignore_patterns("stint", "*.o", "quickstart"))
    settings = ["CC=" + place.options.cc, "CFLAGS=-O0 -Wall -Wextra -Werror",
                "STINT=" + str(place.stint)]
    run("make", "-C", samples / "makefile", *settings)
    report = place.work / "report.txt"
    run(samples / "makefile/quickstart",
        env={"STINT_REPORT": "table", "STINT_OUTPUT": str(report)})
    if not re.search(r"^pi_of +10 ", report.read_text(encoding="utf-8"), re.M):
        sys.exit("no row pi_of in:\n" + report.read_text(encoding="utf-8"))
    run("make", "-C", samples / "makefile", "clean")
    run("make", "-C", samples / "makefile", "TIMERS=", *settings)
    if (samples / "makefile/stint.o").exists():
        sys.exit("stint.c was compiled with the timers off")


@case
def self_contained(place):
    """The two files include each other and system headers alone, and are the same each time."""
    for name in ("stint.h", "stint.c"):
        text = (place.stint / name).read_text(encoding="utf-8")
        own = set(re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.M))
        expect(name, own, {"stint.h"} if name == "stint.c" else set())
        for folder in (str(ROOT), str(place.work)):
            if folder in text:
                sys.exit("%s names the folder %s" % (name, folder))
    again = place.work / "again"
    run(sys.executable, "-B", ROOT / "gen/amalgamate.py", again)
    for name in ("stint.h", "stint.c"):
        expect(name + " is the same", (again / name).read_bytes() ==
               (place.stint / name).read_bytes(), True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--work", required=True)
    parser.add_argument("--made", help="the folder of the two files, for all cases but made")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--shared", help="libstint.so of this build")
    parser.add_argument("case", choices=CASES)
    options = parser.parse_args()
    CASES[options.case](Place(options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
