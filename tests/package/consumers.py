# SPDX-License-Identifier: Apache-2.0
"""Projects of CMake that use stint: a table with a row for each way, setting or mistake.

    consumers.py --source S --prefix P [--static Q] [ROW...]

S: the sources of stint; P: an installation of it with the shared library; Q: one with the static
library. Each row is a project that is written, configured, built and run; without a ROW all rows
run. Rows that need what is missing are skipped. --list prints the rows, with "long" after those
that build the whole library.
"""

import argparse
import shutil
import sys
from pathlib import Path

import package
from package import BOTH, CAPTURE, HERE, NO_AS_NEEDED, OFF, ON, SKIP, cmake_version, expect, run

APP = """add_executable(app "${HERE}/app.c")
target_link_libraries(app PRIVATE stint::stint)
"""
CXX_APP = APP.replace("app.c", "app.cpp") + "target_compile_features(app PRIVATE cxx_std_11)\n"
# A library with timers: its kind, how it links stint.
WORK = """add_library(work %s "${HERE}/mixed/work.c")
set_target_properties(work PROPERTIES WITH_TIMER ON)
target_link_libraries(work %s stint::stint)
"""
UNTIMED = "timers=0 calls=3"
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
LINES = (3, 19)  # from this CMake on there are lines at the end, "on in", "off in"


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
    configs, build, install, long, clang = (None,), True, False, False, False
    cmake, before_cmake = (3, 18), (99, 0)  # it needs this version, and one below

    files = {}

    def __init__(self, get="find", **more):
        self.get = get.split()
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
        if row.clang and not CLANG:
            return "no clang"
        if "INTERPROCEDURAL" in row.before and "clang" in self.options.cc and not (
                shutil.which("llvm-ar")):
            return "no llvm-ar, which clang needs for libraries with link-time optimisation"
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
        configure = self.configure if "find" in row.get else self.configure_stint
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
            if words not in said and not (" in " in words and cmake_version(self) < LINES):
                sys.exit("%s: the configuration does not say: %s\n%s" % (name, words, output))
        for words in () if row.fails else (*COMPLAINTS, *row.never):
            if words in said and words not in row.says:
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
            row.check(self, first)
        return 0


def codegen_calls(place, build):
    """Checks the functions of the package that need clang."""
    for name in ("app_instrumented", "app_wrapped"):
        expect(name, place.recorded(build, name, "stats").get("work"), 3)


def off_needs_no_library(place, build):
    for name, wanted in (("app_on", True), ("app_off", False)):
        needed = place.needed(place.program(build, name))
        expect(name + " needs it", any("libstint" in library for library in needed), wanted)


def library_alone(_, build):
    """A part builds the library that is linked and nothing else, and does not install itself."""
    names = {path.name.split(".so")[0] for path in build.rglob("lib*.so*")}
    expect("libraries", names, {"libstint"})
    for name in ("adapters", "mem", "export_tool"):
        expect("objects", list(build.rglob("stint_runtime_%s.dir/**/*.o" % name)), [])
    script = "".join(path.read_text() for path in build.rglob("cmake_install.cmake"))
    expect("installs", "stint.h" in script or "stintConfig.cmake" in script, False)


def no_units(_, build):
    expect("units", list(build.rglob("stint_*.dir/Unity/*")), [])


def no_library(_, build):
    expect("libraries", list(build.rglob("libstint*")), [])


def tool_runs(place, build):
    expect("tool", place.version() in run(build / "bin/stint", "--version"), True)


# WITH_TIMER is set after find_package: targets that are instrumented or wrapped have timers.
LATE = """set(WITH_TIMER ON)
add_executable(app "${HERE}/instrument/main.c" "${HERE}/instrument/work.c")
stint_instrument(app FUNCTIONS work_*)
stint_wrap(math_timers HEADER math.h INCLUDED FUNCTIONS sqrt PRELOAD)
"""
OFF_IN = "; off in %s (-DWITH_TIMER=ON)"
FIND_OFF = {"app_early": OFF, "app_default": OFF, "app_off": OFF, "app_timer": ON,
            "app_profiler": CAPTURE, "app_on": BOTH}
FIND_ON = {**FIND_OFF, "app_early": ON, "app_default": ON, "app_profiler": BOTH}
FIND_OFF_SAYS = "stint: timers on in app_on, app_timer" + OFF_IN % (
    "app_early, app_default, app_off, app_profiler")
FIND_ON_SAYS = ("stint: timers on in app_early, app_default, app_on, app_timer, app_profiler"
                + OFF_IN % "app_off")
CAPTURE_SAYS = "stint: GPU capture ranges on in app_on, app_profiler"
CLANG = shutil.which("clang") is not None
CODEGEN = "-DCODEGEN=%d" % CLANG
NAMES = "-DNAMES=stint::stint;stint::runtime;stint::timer;stint::profiler"
BY_CONFIG = "set_target_properties(app PROPERTIES WITH_TIMER $<CONFIG:Debug>)\n"
CONFIGS = {"generator": "Ninja Multi-Config", "configs": ("Debug", "Release")}
ON_IN_APP = "stint: timers on in app"
REFUSED = "is 'maybe'; it must be ON or OFF"
# A folder for each way to define the switch by hand, with the program app_WAY.
HANDS = {"definition": "add_definitions(-DWITH_TIMER)\n",
         "flags": 'set(CMAKE_C_FLAGS "${CMAKE_C_FLAGS} -O1 -DWITH_TIMER=1")\n',
         "options": "add_compile_options(-DWITH_TIMER=ON)\n",
         "passed": "add_library(base INTERFACE)\nlink_libraries(base)\n"
                   "target_compile_definitions(base INTERFACE WITH_TIMER)\n",
         "config": 'add_compile_options("$<$<CONFIG:None>:-DWITH_TIMER>")\n'}
# A host that knows nothing of stint loads, unloads and reloads a module that uses it.
PLUGIN = """add_library(plugin MODULE "${HERE}/mixed/work.c")
target_link_libraries(plugin PRIVATE stint::timer)
add_executable(host "${HERE}/mixed/host.c")
target_compile_definitions(host PRIVATE PLUGIN="$<TARGET_FILE:plugin>")
target_link_libraries(host PRIVATE ${CMAKE_DL_LIBS})
"""
# The words that stint's own files of CMake have for variables, set to nonsense.
OUR_WORDS = """file(GLOB_RECURSE files "${STINT_SOURCE}/cmake/*.cmake"
    "${STINT_SOURCE}/runtime/*.cmake" "${STINT_SOURCE}/runtime/CMakeLists.txt")
foreach(file IN LISTS files)
    file(STRINGS "${file}" lines REGEX "(set|foreach)[(][a-z_]+ ")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE ".*(set|foreach)[(]([a-z_]+) .*" "\\\\2" word "${line}")
        list(APPEND words ${word})
    endforeach()
endforeach()
foreach(junk IN LISTS words)
    set(${junk} "junk;junk")
endforeach()
"""
# Settings that a parent has for its own sources. A program that is run in place of a checker fails.
# The folder has headers with the names of some of stint's.
GLOBALS = """set(CMAKE_C_STANDARD 90)
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_C_VISIBILITY_PRESET default)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/out")
foreach(checker IN ITEMS CLANG_TIDY CPPCHECK CPPLINT INCLUDE_WHAT_YOU_USE)
    set(CMAKE_C_${checker} /bin/false)
endforeach()
include_directories("${CMAKE_CURRENT_SOURCE_DIR}")
add_compile_definitions(NDEBUG _FORTIFY_SOURCE=2 WITH_TIMER WITH_PROFILER=ON STINT_INLINE=1)
"""
OUR_HEADERS = {"below/%s/%s.h" % (folder, name): "#error a header of the parent\n"
               for folder, name in (("base", "clock"), ("record", "record"), ("stint", "stint"))}
STRICT = """set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
add_compile_options(-Wall -Wextra -Werror -Wswitch-enum -Wshadow -Wconversion -Wcast-qual -Wundef
    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
    $<$<COMPILE_LANGUAGE:C>:-Wdeclaration-after-statement>)
"""
WHOLE = ["-DSTINT_BUILD_TOOL=ON", "-DSTINT_INSTALL=ON", "-DBUILD_SHARED_LIBS=ON"]
EXPORT = "export(%s FILE workTargets.cmake)\n"
USE_EXPORT = """include("${FIRST}/stint0/stintBuildTargets.cmake")
include("${FIRST}/workTargets.cmake")
add_executable(app "${HERE}/mixed/main.c")
target_link_libraries(app PRIVATE work)
"""
WRAPPED = 'add_executable(p "${HERE}/app.c")\nadd_library(a STATIC "${HERE}/app.c")\n'
KINDS = "foreach(kind IN ITEMS SHARED STATIC)\n"
# The shared library hides stint; a static one needs it beside it.
INSTALL_BOTH = KINDS + """    add_library(work_${kind} ${kind} "${HERE}/mixed/work.c")
    target_link_libraries(work_${kind} PRIVATE stint::timer)
    install(TARGETS work_${kind} EXPORT ${kind}Targets DESTINATION lib)
    install(EXPORT ${kind}Targets DESTINATION lib)
endforeach()
"""
USE_BOTH = KINDS + """    if(kind STREQUAL "STATIC")
        find_package(stint CONFIG REQUIRED)
    endif()
    include("${FIRST}/lib/${kind}Targets.cmake")
    add_executable(app_${kind} "${HERE}/mixed/main.c")
    target_link_libraries(app_${kind} PRIVATE work_${kind})
endforeach()
"""
CORE = """add_library(core STATIC core.cpp)
set_target_properties(core PROPERTIES WITH_TIMER ON)
target_link_libraries(core %s stint::stint)
"""
CORE_FILES = {"core.cpp": "#include <stint/stint.hpp>\nvoid core() { STINT_TIMER(\"core\"); }\n"}
CORE_APP = CXX_APP + "target_link_libraries(app PRIVATE core)\n"
MIXED_SAYS = "stint: timers on in core, off in app, which links core: inline functions"
# A minor version may break until 1.0: neither an older nor a newer one than ours is accepted.
VERSIONS = """find_package(stint CONFIG REQUIRED)
math(EXPR older "${stint_VERSION_MINOR} - 1")
string(REPLACE "-" "" older "${older}") # of 1.0
math(EXPR newer "${stint_VERSION_MINOR} + 1")
math(EXPR next "${stint_VERSION_MAJOR} + 1")
foreach(ask IN ITEMS ${stint_VERSION_MAJOR}.${older} ${stint_VERSION_MAJOR}.${newer}
        ${stint_VERSION_MAJOR}.${stint_VERSION_MINOR}.99 ${next})
    unset(stint_DIR CACHE)
    find_package(stint ${ask} CONFIG)
    list(APPEND all ${stint_FOUND})
endforeach()
message(STATUS "found: ${all}")
"""
OTHER = """add_library(stint::stint INTERFACE IMPORTED)
set_target_properties(stint::stint PROPERTIES INTERFACE_STINT_VERSION 0.1)
"""
SPELLINGS = """foreach(word IN ITEMS 1 on Yes TRUE 0 off No FALSE)
    add_executable(app_${word} "${HERE}/app.c")
    target_link_libraries(app_${word} PRIVATE stint::stint)
    set_target_properties(app_${word} PROPERTIES WITH_TIMER ${word})
endforeach()
"""

ROWS = {
    # Switches: the variable decides, a target's property overrules it, the switch targets add.
    "switches": Row(project="switches", runs=FIND_OFF, says=[FIND_OFF_SAYS, CAPTURE_SAYS]),
    "switches_off": Row(project="switches", settings=["-DWITH_TIMER=OFF"], runs=FIND_OFF),
    "switches_on": Row(project="switches", runs=FIND_ON, says=[FIND_ON_SAYS, CAPTURE_SAYS],
                       settings=[*TIMERS, "-DCMAKE_EXE_LINKER_FLAGS=" + NO_AS_NEEDED],
                       check=off_needs_no_library),
    "switched_on_late": Row(body=LATE, says=[ON_IN_APP + ", math_timers"], clang=True,
                            runs={"app": "calls=5 work=3 left=3"}),
    "spellings": Row(body=SPELLINGS, build=False, says=[
        "on in app_1, app_on, app_Yes, app_TRUE" + OFF_IN % "app_0, app_off, app_No, app_FALSE"]),
    "by_hand": Row(files={name + "/CMakeLists.txt": text + APP.replace("app ", "app_%s " % name)
                          for name, text in HANDS.items()},
                   body="".join("add_subdirectory(%s)\n" % name for name in HANDS),
                   says=[ON_IN_APP + "_definition, app_flags, app_options, app_passed; by the "
                         "configuration in app_config"],
                   runs={"%s/app_%s" % (name, name): OFF if name == "config" else ON
                         for name in HANDS}),
    "maybe": Row(settings=["-DWITH_TIMER=maybe"], fails="WITH_TIMER " + REFUSED),
    "maybe_profiler": Row("add", settings=["-DWITH_PROFILER=maybe"],
                          fails="WITH_PROFILER " + REFUSED),
    "maybe_property": Row(body=APP + "set_target_properties(app PROPERTIES WITH_TIMER maybe)\n",
                          cmake=LINES, fails="WITH_TIMER of the target app " + REFUSED),
    "plain_name": Row(body=APP.replace("stint::stint", "stint"), build=False, cmake=LINES,
                      says=["CMake Warning", "target_link_libraries(app PRIVATE stint::stint)"]),
    # Kinds of libraries and of projects.
    "static": Row(project="switches", settings=TIMERS, kind="static", runs=FIND_ON),
    "cxx": Row(languages="CXX", body=CXX_APP, settings=TIMERS, runs={"app": ON}),
    "cxx_off": Row(languages="CXX", body=CXX_APP, kind="static", runs={"app": OFF}),
    # The module goes, its runtime stays: the counts go on.
    "plugin": Row(body=PLUGIN, runs={"host": "calls=3\ncalls=6\ncalls=9"}),
    # A library with timers inside a program without: the link must bring the runtime.
    "mixed": Row(body=WORK % ("STATIC", "PUBLIC") + WORK_APP, runs={"app": UNTIMED},
                 never=["which links"]),
    "mixed_static": Row(body=WORK % ("STATIC", "PUBLIC") + WORK_APP, kind="static",
                        runs={"app": UNTIMED}),
    "mixed_headers": Row(languages="CXX", files=CORE_FILES, body=CORE % "PUBLIC" + CORE_APP,
                         says=[MIXED_SAYS], runs={"app": OFF}),
    "mixed_sources": Row(languages="CXX", files=CORE_FILES, body=CORE % "PRIVATE" + CORE_APP,
                         build=False, never=["which links"]),
    # Ways to get it, and more than one.
    "add": Row("add", body=APP + WORK % ("STATIC", "PRIVATE") + EXPORT % "TARGETS work",
               settings=[*QUICK, *TIMERS, "-DBUILD_SHARED_LIBS=ON"], says=["-DSTINT_BUILD_TOOL=ON"],
               then=USE_EXPORT, runs={"../row-add/app": ON, "app": UNTIMED}, check=library_alone),
    "below": Row("add", before="add_subdirectory(below)\n", build=False,
                 files={"below/CMakeLists.txt": WAYS["find"] + APP.replace("app ", "app_below ")},
                 says=["off in app_below (", "off in app ("]),
    **{name: Row(name.replace("_", " "), build=False, settings=TIMERS, says=[ON_IN_APP])
       for name in ("find_find_add", "add_find", "fetch_add_add")},
    "other_version": Row("add find", before=OTHER, build=False, body="", says=[
        " is not used: the project has stint 0.1 -- stint: "]),
    "versions": Row("", body=VERSIONS, build=False, says=[
        "CMake Warning", "compatible with requested version", "found: 0;0;0;0"]),
    "components": Row(before="find_package(stint COMPONENTS timer mem tool)\n",
                      body=APP + "add_custom_command(TARGET app POST_BUILD "
                      "COMMAND stint::tool --version)\n", runs={"app": OFF}),
    "gpu_api_unknown": Row("add", settings=["-DSTINT_GPU_API=CUDART"],
                           fails="CUDART: neither driver nor cudart"),
    "gpu_api_missing": Row("add", settings=[
        "-DSTINT_GPU_API=cudart", "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON"],
                           fails="cudart: no CUDA toolkit found"),
    "component_unknown": Row("", body="find_package(stint REQUIRED COMPONENTS timer tols)\n",
                             fails="has no component 'tols'; a component is a target"),
    **{"wrap_" + name: Row(body=WRAPPED + "stint_wrap(%s)\n" % call, fails=words, clang=True,
                           settings=[*TIMERS, *settings])
       for name, call, words, *settings in (
           ("incomplete", "p HEADER zlib.h", "needs HEADER and FUNCTIONS"),
           ("no_target", "q HEADER zlib.h FUNCTIONS *", "there is no such target"),
           ("archive", "a HEADER zlib.h FUNCTIONS *", "name the program that links it"),
           ("no_clang", "p HEADER zlib.h FUNCTIONS *", "stint_wrap(p): needs clang to read C; "
            "install clang or set STINT_CLANG", "-DSTINT_CLANG=OFF"))},
    # Exports.
    "export_set": Row("add", body=WORK % ("SHARED", "PRIVATE") + "install(TARGETS work EXPORT work "
                      "DESTINATION lib)\n" + EXPORT % "EXPORT work",
                      settings=["-DSTINT_INSTALL=ON"], build=False),
    "export_install": Row("add", body=INSTALL_BOTH, settings=[*QUICK, "-DSTINT_INSTALL=ON"],
                          install=True, long=True, then=USE_BOTH,
                          runs={"app_SHARED": UNTIMED, "app_STATIC": UNTIMED}),
    # Generators.
    "makefiles": Row(generator="Unix Makefiles", settings=TIMERS, runs={"app": ON}),
    "configurations": Row(body=APP + BY_CONFIG, runs={"Debug/app": ON, "Release/app": OFF},
                          says=["on in no target; by the configuration in app"], **CONFIGS),
    "configurations_all": Row(settings=["-DWITH_TIMER=$<CONFIG:Release>"],
                              runs={"Debug/app": OFF, "Release/app": ON}, **CONFIGS),
    # Policies of an old CMake, or of this one.
    **{"policies_" + name: Row(minimum=minimum, body='include("${HERE}/policies/codegen.cmake")\n',
                               before_cmake=below, check=codegen_calls if codegen else None,
                               settings=["-DCODEGEN=%d" % codegen, "-Wno-deprecated", *TIMERS],
                               runs={"app": ON})
       for name, minimum, below, codegen in (
           ("3.0", "3.0", (4, 0), CLANG), ("3.5", "3.5", (99, 0), False),
           ("new", "3.5...99.0", (99, 0), CLANG))},
    # Parents with settings of their own.
    "words": Row("add", languages="CXX", before=OUR_WORDS, body=CXX_APP, settings=TIMERS,
                 build=False, cmake=LINES, says=[ON_IN_APP], never=["junk"]),
    "processor": Row("add", runs={"app": OFF}, check=no_library, settings=[
        "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=riscv64"]),
    "globals": Row("", body="add_subdirectory(below)\n" + APP, long=True,
                   files={"below/CMakeLists.txt": GLOBALS + WAYS["add"] % 0, **OUR_HEADERS},
                   settings=TIMERS, runs={"app": ON}, check=no_units),
    "lto": Row("add", before="set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\n", settings=TIMERS,
               runs={"app": ON}, long=True),
    "strict": Row("add", languages="C CXX", before=STRICT, settings=[*WHOLE, *TIMERS], install=True,
                  check=tool_runs, long=True),
    "strict_clang": Row("add", before="add_compile_options(-Weverything -Werror)\n",
                        body='set_property(DIRECTORY PROPERTY COMPILE_OPTIONS "")\n' + APP,
                        settings=[*WHOLE, "-DCMAKE_C_COMPILER=clang"], runs={"app": OFF},
                        clang=True, long=True),
    # The targets, variables and properties that a project gets with stint.
    **{"nested_" + kind: Row("add", project="switches", settings=settings, runs=runs,
                             check=codegen_calls if CLANG else None, long=True)
       for kind, runs, settings in (
           ("shared", FIND_ON, [CODEGEN, "-DHOW=add_subdirectory", NAMES + ";stint::mem", *TIMERS,
                                "-DBUILD_SHARED_LIBS=ON"]),
           ("static", FIND_OFF, [CODEGEN, "-DHOW=FetchContent", NAMES]))},
}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(name + " long" * row.long for name, row in ROWS.items()))
        return 0
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--source", required=True)
    for name, default in (("build", ""), ("work", "stint-consumers"), ("kind", ""),
                          ("config", "Release"), ("prefix", ""), ("static", ""), ("cmake", "cmake"),
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
