# SPDX-License-Identifier: Apache-2.0
"""Programs that know nothing of stint, timed by stint_wrap of the installed package.

One case a run, named on the command line; `build` comes first and builds tests/wrap/project. What
the wrapped programs print has to be what they print without wrappers; the calls are those in their
run files.
"""

import os
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "package"))

import package
from package import case, expect, run

package.CASES.clear()

API_CALLS = {"api_fail": 1, "api_open": 1, "api_begin_": 1, "api_swap": 1, "api_each": 1,
             "api_each_inline": 1, "api_handler": 1, "api_row": 1, "api_vprint": 1,
             "api_renamed": 1, "api_const": 2}


def skip(why):
    print("skipped:", why)
    sys.exit(package.SKIP)


def compiles(place, text):
    """Returns whether `text` compiles: whether the header it includes is there."""
    folder = place.work / "build" / "wrap-tried"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / ("tried-%d.c" % os.getpid())  # cases run at the same time
    source.write_text(text)
    output = run(*place.cc, "-fsyntax-only", source, fails=None)
    source.unlink()
    return "error" not in output


def needs_clang():
    names = ["clang"] + ["clang-%d" % n for n in range(22, 13, -1)]
    if not any(shutil.which(name) for name in names):
        skip("no clang")


def folder_of(place):
    return place.work / "build" / "wrap"


def settings_of(place):
    cuda = shutil.which("nvcc") or os.path.exists("/usr/local/cuda/include/cuda_runtime_api.h")
    sanitized = "-fsanitize" in place.options.cflags
    return ["-DCMAKE_PREFIX_PATH=%s" % place.prefix("shared"),
            "-DZLIB=%d" % compiles(place, "#include <zlib.h>\n"),
            "-DSQLITE=%d" % compiles(place, "#include <sqlite3.h>\n"),
            "-DCUDA=%d" % (bool(cuda) and not sanitized)]


def program_of(place, name):
    try:
        return place.program(folder_of(place), name)
    except StopIteration:
        return skip("%s was not built: its library or its headers are not installed" % name)


def list_of(place, name):
    """The list for the user, as {function: [(word, text), ...]}."""
    path = next((folder_of(place) / "stint").glob(name + ".txt"))
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:-1]:
        for word in ("not timed", "not seen", "not called", "timed"):
            if line.startswith(word):
                rest = line[len(word):].split(None, 1)
                found.setdefault(rest[0], []).append((word, rest[1]))
                break
    return found


def recorded(place, command, env=None):
    """Returns the program's output, and {name: (calls, set)} of its run file."""
    output, rows = place.record(*command, env=env)
    return output, {row["name"]: (row["calls"], row["set"]) for row in rows}


def calls_of(stats):
    return {name: calls for name, (calls, _) in stats.items()}


def preload(path):
    return {"LD_PRELOAD": str(path)}


@case
def build(place):
    needs_clang()
    settings = settings_of(place)
    folder, _ = place.configure(HERE / "project", "wrap", "-DWITH_TIMER=ON", *settings)
    place.make(folder, "--parallel", "2")


@case
def every_construct(place):
    """Same output, errno kept, each function counted, each other one listed with the reason."""
    plain, none = recorded(place, [program_of(place, "api_plain")])
    expect("without wrappers", none, {})
    expect("errno", "fail -1 1\n" in plain, True)
    output, stats = recorded(place, [program_of(place, "api_wrapped")])
    expect("output", output, plain)
    expect("calls", calls_of(stats), API_CALLS)
    listed = list_of(place, "api_wrapped_wrap1_api")
    reasons = {name: words[0][1].split(None, 2)[-1] for name, words in listed.items()
               if words[0][0] == "not timed"}
    for name, reason in (("api_print", "variable arguments"), ("api_exit", "does not return"),
                         ("api_stop", "does not return"), ("api_twice", "returns twice"),
                         ("api_old", "without a prototype"), ("api_inline", "defined in the header"),
                         ("api_anonymous", "a type without a name"),
                         ("api_start", "it calls api_begin_")):
        expect("%s: %s in %s" % (name, reason, reasons.get(name)), reason in reasons[name], True)
    expect("a declared function that the library lacks", listed["api_missing"][0][0], "not called")
    expect("excluded", "api_left_out" in listed, False)
    expect("a renamed function", "(api_open_v2)" in listed["api_open"][0][1], True)


@case
def sites_name_the_header(place):
    program_of(place, "api_wrapped")
    code = next((folder_of(place) / "stint").glob("api_wrapped_wrap1_api.c")).read_text()
    header = HERE / "project/an api/api.h"
    for number, line in enumerate(header.read_text().splitlines(), 1):
        if line.startswith("int api_fail("):
            wanted = '#line %d "%s"\n    STINT_TIMER("api_fail");' % (number, header)
            expect("line of api_fail", wanted in code, True)


@case
def set_and_strict_c(place):
    """The set of the wrappers; a program in strict C89; a header that only includes the others."""
    _, stats = recorded(place, [program_of(place, "api_set")])
    expect("calls", calls_of(stats), {**API_CALLS, "api_left_out": 1})
    expect("sets", {name for _, name in stats.values()}, {'the "api"'})


@case
def preloaded(place):
    plain = run(program_of(place, "api_plain"))
    library = next(folder_of(place).glob("libapi_preload.so"))
    output, stats = recorded(place, [program_of(place, "api_plain")], preload(library))
    expect("output", output, plain)
    expect("calls", calls_of(stats), {**API_CALLS, "api_left_out": 1})


@case
def preloaded_plugin(place):
    """The library of a plugin loaded with RTLD_LOCAL does not come after the preloaded one."""
    host = program_of(place, "host")
    plugin = next(folder_of(place).glob("libplugin.so"))
    library = next(folder_of(place).glob("libapi_preload.so"))
    output, stats = recorded(place, [host, plugin], preload(library))
    expect("output", output, "plugin 12\n")
    expect("calls", calls_of(stats), {"api_begin_": 1})


@case
def unseen_calls(place):
    """Calls in the unit that defines the function are not timed, and listed; those of an archive
    are timed."""
    _, stats = recorded(place, [program_of(place, "own")])
    expect("calls", calls_of(stats),
           {"own_outer": 1, "own_step": 1, "own_inner": 3, "own_helper": 3})
    listed = list_of(place, "own_wrap1_own")
    expect("own_step", [word for word, _ in listed["own_step"]], ["not seen", "timed"])
    expect("where", "own_work.c" in listed["own_step"][0][1], True)
    expect("own_unused", [word for word, _ in listed["own_unused"]], ["not seen", "not called"])


@case
def zlib(place):
    plain = run(program_of(place, "zlib_plain"))
    output, stats = recorded(place, [program_of(place, "zlib_wrapped")])
    wanted = {"deflateInit_": 1, "deflate": 4, "deflateEnd": 1, "uncompress": 1, "crc32": 2}
    expect("output", output, plain)
    expect("calls", calls_of(stats), wanted)
    listed = list_of(place, "zlib_wrapped_wrap1_zlib")
    expect("gzprintf", "variable arguments" in listed["gzprintf"][0][1], True)
    expect("gzgetc", "macro of the same name" in listed["gzgetc"][0][1], True)
    library = next(folder_of(place).glob("libzlib_preload.so"))
    output, stats = recorded(place, [program_of(place, "zlib_plain")], preload(library))
    expect("preloaded: output", output, plain)
    expect("preloaded: calls", {name: calls_of(stats).get(name) for name in wanted}, wanted)


@case
def sqlite(place):
    output, stats = recorded(place, [program_of(place, "sqlite_wrapped")])
    expect("output", output, "s 385 of 1\n")
    expect("calls", calls_of(stats),
           {"sqlite3_open": 1, "sqlite3_create_function": 1, "sqlite3_exec": 2,
            "sqlite3_prepare_v2": 1, "sqlite3_bind_int": 10, "sqlite3_step": 10,
            "sqlite3_reset": 10, "sqlite3_finalize": 1, "sqlite3_result_int": 10,
            "sqlite3_value_int": 20, "sqlite3_close": 1})
    expect("sets", {name for _, name in stats.values()}, {"sqlite"})


@case
def libc_calls(place):
    """Calls of the operating system's runtime that block, as in nsys' table osrt_sum."""
    output, stats = recorded(place, [program_of(place, "libc_wrapped")])
    expect("output", output, "")
    expect("calls", calls_of(stats),
           {"read": 1, "write": 1, "poll": 1, "waitpid": 1, "nanosleep": 1, "sem_wait": 1,
            "pthread_mutex_lock": 2, "pthread_join": 1})
    expect("sets", {name for _, name in stats.values()}, {"osrt"})


@case
def cuda_runtime(place):
    """The static CUDA runtime, which nothing can be preloaded for; without a driver its calls
    fail, and are counted."""
    _, stats = recorded(place, [program_of(place, "cuda_wrapped")])
    wanted = {"cudaGetDeviceCount": 1, "cudaMalloc": 3, "cudaMemcpy": 3, "cudaFree": 3}
    expect("calls", calls_of(stats), wanted)
    _, stats = recorded(place, [program_of(place, "cuda_threads")])
    expect("per-thread streams", calls_of(stats), {"cudaMemcpy": 3})
    listed = list_of(place, "cuda_threads_wrap1_cuda_runtime_api")
    expect("symbol", "(cudaMemcpy_ptds)" in listed["cudaMemcpy"][0][1], True)


@case
def cublas(place):
    _, stats = recorded(place, [program_of(place, "cublas_wrapped")])
    calls = calls_of(stats)
    expect("create", calls.get("cublasCreate"), 1)
    expect("status", calls.get("cublasGetStatusString"), 1)
    listed = list_of(place, "cublas_wrapped_wrap1_cublas_v2")
    expect("symbol", "(cublasCreate_v2)" in listed["cublasCreate"][0][1], True)


@case
def rebuilt_only_when_needed(place):
    """Nothing is done twice; another line in the header generates again, and the same wrappers are
    not compiled again unless a line has moved."""
    needs_clang()
    source = place.work / "build" / "wrap-again-source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in ("own.h", "own_main.c", "own_work.c", "own_inner.c"):
        shutil.copy(HERE / "project" / name, source)
    (source / "inner.h").write_text("/* empty */\n")
    header = source / "own.h"
    header.write_text(header.read_text() + '#include "inner.h"\n')
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(again LANGUAGES C)\n"
        "find_package(stint CONFIG REQUIRED)\n"
        "add_executable(own own_main.c own_work.c own_inner.c)\n"
        "stint_wrap(own HEADER own.h FUNCTIONS own_*)\n")
    folder, _ = place.configure(source, "wrap-again", "-DWITH_TIMER=ON",
                                "-DCMAKE_PREFIX_PATH=%s" % place.prefix("shared"))
    place.make(folder)
    code = folder / "stint/own_wrap1_own.c"
    first, time = code.read_bytes(), code.stat().st_mtime_ns
    expect("second build", "Wrapping" in place.make(folder), False)
    # A later time than that of the last build, whatever the clock of the file system resolves.
    later = max(p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()) + 2 * 10**9
    (source / "inner.h").write_text("/* another comment */\n")
    os.utime(source / "inner.h", ns=(later, later))
    expect("a header changed", "Wrapping" in place.make(folder), True)
    expect("same code", (code.read_bytes(), code.stat().st_mtime_ns), (first, time))
    header.write_text("\n" + header.read_text())
    later += 10**10
    os.utime(header, ns=(later, later))
    place.make(folder)
    expect("lines moved", code.read_bytes() != first, True)


@case
def off(place):
    """The build with WITH_TIMER=OFF has no generated file, no --wrap, and the link line of a build
    without stint_wrap."""
    lines = []
    for name, source in (("wrap-off", HERE / "project"), ("wrap-none", None)):
        if source is None:
            source = place.work / "build" / "wrap-none-source"
            shutil.rmtree(source, ignore_errors=True)
            shutil.copytree(HERE / "project", source)
            text = (source / "CMakeLists.txt").read_text()
            kept = re.sub(r"(?m)^ *(stint_wrap\(|target_link_libraries\(api_pre)[^)]*\).*\n", "", text)
            (source / "CMakeLists.txt").write_text(kept)
        folder, _ = place.configure(source, name, "-DWITH_TIMER=OFF",
                                    "-DSTINT_CLANG=OFF", *settings_of(place))
        made = place.make(folder, "--verbose", "--target", "api_wrapped")
        links = [line for line in made.splitlines() if " -o api_wrapped" in line]
        expect("one link", len(links), 1)
        lines.append(links[0].split(" -o ", 1)[1].split(" && ")[0].replace(str(folder), "FOLDER"))
        expect("wrappers", sorted(p.name for p in (folder / "stint").glob("*wrap*"))
               if (folder / "stint").exists() else [], [])
    expect("link line", lines[0], lines[1])
    expect("--wrap or a response file", "wrap=" in lines[0] or "@" in lines[0], False)


if __name__ == "__main__":
    package.main()
