# SPDX-License-Identifier: Apache-2.0
"""Projects of CMake that use stint: a table with a row for each way, setting or mistake.

    consumers.py --source S --prefix P [--static Q] [ROW...]

S: the sources of stint; P: an installation of it with the shared library; Q: one with the static
library. Each row is a project that is written, configured, built and run; without a ROW all rows
run. Rows that need what is missing are skipped. --list prints the rows, with "long" after those that
build the whole library.
"""

import argparse
import shutil
import sys
from pathlib import Path

import package
from package import BOTH, CAPTURE, HERE, OFF, ON, SKIP, cmake_version, expect, run

APP = """add_executable(app "${HERE}/app.c")
target_link_libraries(app PRIVATE stint::stint)
"""
CXX_APP = APP.replace("app.c", "app.cpp") + "target_compile_features(app PRIVATE cxx_std_11)\n"
# A library with timers: its kind, how it links stint.
WORK = """add_library(work %s "${HERE}/mixed/work.c")
set_target_properties(work PROPERTIES WITH_TIMER ON)
target_link_libraries(work %s stint::stint)
"""
WORK_APP = """add_executable(app "${HERE}/mixed/main.c")
target_link_libraries(app PRIVATE work)
"""
WAYS = {
    "find": "find_package(stint CONFIG REQUIRED)\n",
    "add": 'add_subdirectory("${STINT_SOURCE}" stint%d)\n',
    "fetch": "include(FetchContent)\n"
             'FetchContent_Declare(stint SOURCE_DIR "${STINT_SOURCE}")\n'
             "FetchContent_MakeAvailable(stint)\n",
}
COMPLAINTS = ("CMake Warning", "CMake Error")
# The library made of one file, which takes the least time where only its use matters.
QUICK = ["-DSTINT_AMALGAMATION=ON"]
TIMERS = ["-DWITH_TIMER=ON"]


class Row:
    """A project. <get>: ways to get stint, in this order. <before>, <body>: the commands before and
    after it, or <project>: a folder with a project of its own. <settings>: of the configuration.
    <files>: written beside it. <kind>: of the installation. <configs>: those that are built.

    Expected: <says> in the output of the configuration and <never> not in it, or <fails> where it
    ends with an error; <runs>: programs, with the last line of each; <check>: a function more.
    <install>: it is installed; <then>: a second project, to which FIRST names the build folder of
    the first one, or the folder where that is installed. The programs are those of the last one."""

    before = then = fails = ""
    body, project, runs, check, generator = APP, None, None, None, None
    languages, minimum, kind = "C", "3.18", "shared"
    settings = says = never = ()
    configs, build, install, long = (None,), True, False, False
    cmake, before_cmake = (3, 18), (99, 0)  # it needs this version, and one below

    def __init__(self, get="find", **more):
        self.get, self.files = get.split(), {}
        for name, value in more.items():
            if not hasattr(self, name):
                sys.exit("a row has no " + name)
            setattr(self, name, value)

    def write(self, folder):
        ways = "".join(WAYS[way].replace("%d", str(number)) for number, way in enumerate(self.get))
        start = "cmake_minimum_required(VERSION %s)\nproject(consumer LANGUAGES %s)\n" % (
            self.minimum, self.languages)
        files = {"CMakeLists.txt": start + self.before + ways + self.body,
                 "then/CMakeLists.txt": start + self.then, **self.files}
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")


class Consumer(package.Place):
    """The place of a row. Its installations may be anywhere."""

    def prefix(self, kind):
        return Path({"shared": self.options.prefix, "static": self.options.static}[kind])

    def missing(self, row):
        if "CXX" in row.languages and not self.options.cxx:
            return "no C++ compiler"
        if row.kind == "static" and not self.options.static:
            return "no installation with the static library"
        if not row.cmake <= cmake_version(self) < row.before_cmake:
            return "not for this version of CMake"
        if row.generator and not shutil.which("make" if "Make" in row.generator else "ninja"):
            return "no program for " + row.generator
        return None

    def configure_row(self, row, source, name, *settings, fails=False):
        settings = ["-DHERE=%s" % HERE, "-DSTINT_SOURCE=" + self.options.source,
                    "-DCMAKE_PREFIX_PATH=%s" % self.prefix(row.kind), *row.settings, *settings]
        if row.generator:
            settings += ["-G", row.generator]
        configure = self.configure if row.get == ["find"] else self.configure_stint
        return configure(source, name, *settings, fails=fails)

    def make_row(self, row, build):
        for config in row.configs:
            output = run(self.options.cmake, "--build", build, "--parallel", "2",
                         "--config", config or self.options.config)
            expect("warnings", output if "warning:" in output else "", "")
        if row.install:
            prefix = build.with_name(build.name + "-installed")
            shutil.rmtree(prefix, ignore_errors=True)
            run(self.options.cmake, "--install", build, "--config", self.options.config,
                "--prefix", prefix)
            return prefix
        return build

    def row(self, name, row):
        missing = self.missing(row)
        if missing:
            print("skipped: %s: %s" % (name, missing))
            return SKIP
        folder = self.work / "consumers" / name
        shutil.rmtree(folder, ignore_errors=True)
        row.write(folder)
        source = HERE / row.project if row.project else folder
        build, output = self.configure_row(row, source, "row-" + name, fails=bool(row.fails))
        said = " ".join(output.split())
        for words in (row.fails, *row.says):
            if words not in said:
                sys.exit("%s: the configuration does not say: %s\n%s" % (name, words, output))
        for words in () if row.fails else (*COMPLAINTS, *row.never):
            if words in said:
                sys.exit("%s: the configuration says: %s\n%s" % (name, words, output))
        if row.fails or not row.build:
            return 0
        first = self.make_row(row, build)
        if row.then:
            build, _ = self.configure_row(row, folder / "then", "row-%s-then" % name,
                                          "-DFIRST=%s" % first)
            self.make_row(row, build)
        for program, wanted in (row.runs or {}).items():
            self.says(build, program, wanted)
        if row.check:
            row.check(self, build)
        return 0


def codegen_calls(place, build):
    """Checks the functions of the package that need clang."""
    if shutil.which("clang"):
        for name in ("app_instrumented", "app_wrapped"):
            expect(name, place.recorded(build, name, "stats").get("work"), 3)


OFF_IN = "; off in %s (-DWITH_TIMER=ON)"
FIND_OFF = {"app_early": OFF, "app_default": OFF, "app_off": OFF, "app_timer": ON,
            "app_profiler": CAPTURE, "app_on": BOTH}
FIND_ON = {"app_early": ON, "app_default": ON, "app_off": OFF, "app_timer": ON,
           "app_profiler": BOTH, "app_on": BOTH}
FIND_OFF_SAYS = "stint: timers on in app_on, app_timer" + OFF_IN % (
    "app_early, app_default, app_off, app_profiler")
FIND_ON_SAYS = ("stint: timers on in app_early, app_default, app_on, app_timer, app_profiler"
                + OFF_IN % "app_off")
CAPTURE_SAYS = "stint: GPU capture ranges on in app_on, app_profiler"
CODEGEN = ["-DCODEGEN=%d" % bool(shutil.which("clang"))]

ROWS = {
    # Switches: the variable decides, a target's property overrules it, the switch targets add.
    "switches": Row(project="find", runs=FIND_OFF, says=[FIND_OFF_SAYS, CAPTURE_SAYS]),
    "switches_off": Row(project="find", settings=["-DWITH_TIMER=OFF"], runs=FIND_OFF),
    "switches_on": Row(project="find", settings=TIMERS, runs=FIND_ON,
                       says=[FIND_ON_SAYS, CAPTURE_SAYS]),
    "static": Row(project="find", settings=TIMERS, kind="static", runs=FIND_ON),
    "cxx": Row(languages="CXX", body=CXX_APP, settings=TIMERS, runs={"app": "timers=1 calls=3"}),
    "cxx_off": Row(languages="CXX", body=CXX_APP, kind="static", runs={"app": "timers=0 calls=0"}),
    # A library with timers inside a program without: the link must bring the runtime.
    "mixed": Row(body=WORK % ("STATIC", "PUBLIC") + WORK_APP, runs={"app": "timers=0 calls=3"}),
    "mixed_static": Row(body=WORK % ("STATIC", "PUBLIC") + WORK_APP, kind="static",
                        runs={"app": "timers=0 calls=3"}),
    # Ways to get it.
    "add": Row("add", settings=QUICK + TIMERS, runs={"app": ON}, says=["-DSTINT_BUILD_TOOL=ON"]),
    "fetch": Row("fetch", settings=QUICK + TIMERS, build=False, says=["stint: timers on in app"]),
    # Generators.
    "makefiles": Row(generator="Unix Makefiles", settings=TIMERS, runs={"app": ON}),
    "multi_config": Row(generator="Ninja Multi-Config", settings=TIMERS,
                        configs=("Debug", "Release"), runs={"Debug/app": ON, "Release/app": ON}),
    # Policies of an old CMake, or of this one.
    **{"policies_" + name: Row(project="policies", runs={"app": "calls=3"}, check=codegen_calls,
                               before_cmake=below, settings=[
                                   "-DMINIMUM=" + minimum, *CODEGEN, *TIMERS])
       for name, minimum, below in (("3.0", "3.0", (4, 0)), ("3.5", "3.5", (99, 0)),
                                    ("new", "3.5...99.0", (99, 0)))},
    "policies_off": Row(project="policies", settings=["-DMINIMUM=3.5", *CODEGEN],
                        runs={"app": "calls=0"}),
}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(name + " long" * row.long for name, row in ROWS.items()))
        return 0
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--source", required=True)
    for name, default in (("build", ""), ("work", "stint-consumers"), ("kind", ""), ("config", "Release"),
                          ("prefix", ""), ("static", ""), ("cmake", "cmake"),
                          ("generator", "Ninja" if shutil.which("ninja") else "Unix Makefiles"),
                          ("cc", "cc"), ("cflags", ""), ("cxx", shutil.which("c++") or ""),
                          ("cxxflags", "")):
        parser.add_argument("--" + name, default=default)
    parser.add_argument("row", nargs="*", metavar="ROW", choices=[[], *ROWS])
    options = parser.parse_args()
    options.work = str(Path(options.work).resolve())
    if not options.prefix:  # those of package.install
        options.prefix, options.static = (str(Path(options.work) / kind)
                                          for kind in ("shared", "static"))
    place = Consumer(options)
    results = [place.row(name, ROWS[name]) for name in options.row or ROWS]
    return SKIP if set(results) == {SKIP} else 0


if __name__ == "__main__":
    sys.exit(main())
