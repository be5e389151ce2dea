#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks by a hostile user, by the environment, by names, and by the symbols that the files
export.

    security_test.py --case CASE --fake PROGRAM --program PROGRAM --library FILE --tool FILE
                     --source FOLDER --build FOLDER --cc COMPILER --cflags FLAGS --abi N

--fake and --program are security_program.c, with the runtime in it and with the shared one.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tool"))
# pylint: disable=wrong-import-position
import cases
from cases import SKIPPED, Wrong, environment, need

CASES = {}
NOBODY, SOMEBODY = 65534, 65533
# The exports of libstint.so beside the functions of the public headers, which layout.txt lists:
# for the libraries of ranges, memory and MPI, for inlined code, and for the driver of CUDA.
FOR_LIBRARIES = """InitializeInjection
    stint_impl_end_call_ABI stint_impl_end_crossing_ABI stint_impl_handle_end_in_ABI
    stint_impl_lose_end_ABI stint_impl_lose_range_ABI stint_impl_mark_named_ABI
    stint_impl_memory_connect_ABI stint_impl_memory_lose_ABI stint_impl_memory_scope_ABI
    stint_impl_range_begin_at_ABI stint_impl_range_counts_ABI stint_impl_range_guards_ABI
    stint_impl_range_name_ABI stint_impl_range_thread_ABI stint_impl_range_ticks_ABI stint_impl_rank_seen_ABI
    stint_impl_thread_here_ABI stint_impl_value_named_ABI""".split()


class Skip(Exception):
    """Cannot be tested here."""


def case(function):
    CASES[function.__name__] = function
    return function


def run(*command, fails=False, user=None, cwd=None, env=None):
    return cases.run(*command, rc=None if fails else 0, cwd=cwd, env=env or environment(),
                     preexec_fn=(lambda: cases.become(user)) if user else None)


def program(name):
    path = shutil.which(name)
    if not path:
        raise Skip(name + " is missing")
    return path


# ---- The environment.

def secure_run(program_file, folder, mode):
    """Runs a program that one user owns as another one; `mode` may make it set-uid."""
    os.chown(program_file, NOBODY, NOBODY)
    os.chmod(program_file, mode)
    env = environment(STINT_REPORT="table", STINT_OUTPUT=folder / "report",
                      STINT_FILE=folder / "run.stint", STINT_NO_SUCH="1", STINT_MEMORY="nonsense",
                      STINT_CAPTURE="nonsense:", STINT_LOG_PREFIX="glog")
    done = run(program_file, "secure", user=SOMEBODY, env=env)
    return done, {path.name for path in folder.iterdir()} - {program_file.name}


@case
def set_uid(options, folder):
    """A set-uid program does as if the environment were empty; the same one without does not."""
    if os.geteuid():
        raise Skip("only root can make a program of somebody else's")
    file = folder / "program"
    shutil.copy(options.fake, file)
    os.chmod(folder, 0o777)
    folder.parent.stat()
    done, made = secure_run(file, folder, 0o755)
    need("secure 0" in done.out, done.out)
    need(made == {"report", "run.stint"} and "STINT_NO_SUCH" in done.err, made, done.err)
    for name in made:
        (folder / name).unlink()
    try:
        done, made = secure_run(file, folder, 0o4755)
    except Exception as error:
        if "LeakSanitizer does not work" in str(error):
            raise Skip("LeakSanitizer does not work in a set-uid program") from error
        raise
    if "secure 1" not in done.out:
        raise Skip("this file system has no set-uid programs")
    need(not made and not done.err, made, done.err)


# ---- Names.

@case
def names(options, folder):
    """A name is not used as a format, a path or a command, and does nothing to a terminal, wherever
    it is shown."""
    work = folder / "a" / "b" / "c"
    work.mkdir(parents=True)
    env = environment(STINT_FILE="run.stint", STINT_TRACE="1M", STINT_REPORT="tree",
                      STINT_LEVEL="2", STINT_CAPTURE="%n%s%n:skip=1;%s%n")
    done = run(options.program, "names", cwd=work, env=env)
    shown = {"stderr": done.err}
    for view in ("table", "tree", "legacy", "threads"):
        shown["report " + view] = run(options.tool, "report", "--view", view, "run.stint",
                                      cwd=work, fails=True).out
    shown["info"] = run(options.tool, "info", "run.stint", cwd=work).out
    (work / "again.stint").write_bytes((work / "run.stint").read_bytes())
    run(options.tool, "merge", "run.stint", "again.stint", "-o", "merged.stint", cwd=work)
    shown["merged"] = run(options.tool, "report", "merged.stint", cwd=work).out
    shown["diff"] = run(options.tool, "diff", "run.stint", "merged.stint", cwd=work).out
    for format_ in ("chrome", "folded", "csv", "json", "prometheus", "html"):
        shown[format_] = run(options.tool, "export", "--to", format_, "run.stint", cwd=work).out
    run(options.tool, "export", "--to", "perfetto", "-o", "x.pftrace", "run.stint", cwd=work)
    for format_ in ("csv", "json"):
        shown["stint_export " + format_] = (work / ("out." + format_)).read_text("utf-8")
    for where, text in shown.items():
        need(where == "info" or "%s%n" in text, where + ": the name as it is", text[:3000])
        if where in ("stderr", "info", "merged", "diff") or where.startswith("report"):
            need("\x1b" not in text and "\a" not in text, where + ": to the terminal", text[:3000])
    need("<script>alert" not in shown["html"], "markup")
    for where in ("csv", "stint_export csv"):
        cells = re.split(r"[,\n]", shown[where])
        need(not [c for c in cells if re.match(r'"?[=@]', c)], where + ": a formula", shown[where])
    expected = {"run.stint", "again.stint", "merged.stint", "x.pftrace", "out.csv", "out.json"}
    need({p.name for p in work.iterdir()} == expected, sorted(work.iterdir()))
    need(not [p for p in folder.rglob("*evil*")] and not list(pathlib.Path("/tmp").glob("stint-evil")))


@case
def format_strings(options, folder):
    """Every format in the runtime and the tool is a literal, by the compiler's own check."""
    sources = sorted((options.source / "runtime").glob("**/*.c"))
    sources = [s for s in sources if s.name not in ("gpu_cudart.c", "nvtx.c", "emit_nvtx.c")]
    need(len(sources) > 50, sources)
    gen = [options.build / "runtime" / "gen", options.build / "runtime" / "page"]
    where = ["-I%s" % path for path in (options.source / "include", options.source / "runtime",
                                        options.source / "runtime" / "tool", *gen)]
    flags = [options.cc, "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wformat=2",
             *("-DSTINT_%s=\"\"" % name  # of runtime/tool, by CMake
               for name in ("LIBRARY_ARCHITECTURE", "LIBRARY_FOLDER", "MEM_LIBRARY")),
             "-Werror=format-nonliteral", "-Werror=format-security", "-Wformat-nonliteral"]
    ranges = [s for s in sources if s.parent.name == "adapters"]  # uses the public header
    run(*flags, "-DWITH_TIMER=1", *where, *ranges)
    run(*flags, *where, *(s for s in sources if s not in ranges))
    bad = folder / "bad.c"
    bad.write_text("#include <stdio.h>\nvoid f(const char *s);\nvoid f(const char *s) "
                   "{\n    printf(s, 1);\n}\n")
    need(run(*flags, bad, fails=True).returncode, "the check finds nothing")


# ---- What lies in the files.

def check_stack(path):
    text = run(program("readelf"), "-W", "-l", "-d", path).out
    stack = re.search(r"GNU_STACK +(?:0x\w+ +){5}(.*?) +0x\w+$", text, re.M)
    need(stack and "E" not in stack.group(1), path, "an executable stack", text)
    return text


def check_elf(path):
    text = check_stack(path)
    need("GNU_RELRO" in text, path, "no RELRO", text)
    need(re.search(r"\bBIND_NOW\b|Flags:.*\bNOW\b", text), path, "bound lazily", text)
    need("TEXTREL" not in text, path, "text relocations", text)
    segments = re.findall(r"^\s+LOAD\s+(?:0x\w+\s+){5}(.*?)\s+0x\w+$", text, re.M)
    need(segments and not [s for s in segments if "W" in s and "E" in s], path, segments)
    need(re.search(r"Elf file type is DYN", text), path, "at a fixed address", text)


TLS_BYTES = 64


def check_tls(path):
    """The loader's room for thread-local data is shared by all namespaces of dlmopen."""
    segment = re.search(r"^\s+TLS\s+(?:0x\w+\s+){4}(0x\w+)",
                        run(program("readelf"), "-W", "-l", path).out, re.M)
    need(segment and 0 < int(segment.group(1), 16) <= TLS_BYTES, path, segment)


@case
def elf(options, _):
    if options.library.suffix != ".a":
        check_elf(options.library)
        check_tls(options.library)
    check_elf(options.tool)
    for users in options.program, options.fake: # the rest of these is the user's own choice
        check_stack(users)


@case
def abi(options, _):
    """The symbols that libstint.so exports are those of a list, so that an addition is a decision.
    Each symbol has the version of the layout."""
    if options.library.suffix == ".a":
        raise Skip("libstint.a exports nothing")
    lines = run(program("nm"), "-D", "--defined-only", options.library).out.splitlines()
    lines = [line for line in lines if " A " not in line] # the version's own name
    found = sorted({line.split()[-1].split("@")[0] for line in lines})
    bare = [line.split()[-1] for line in lines if not line.endswith("@@STINT_%s" % options.abi)]
    need(not bare, "symbols without the version STINT_%s: %s" % (options.abi, bare))
    found = [re.sub(r"_%s$" % options.abi, "_ABI", name) for name in found
             if not name.startswith("__")] # a sanitizer's
    listed = (HERE.parent / "structure" / "layout.txt").read_text()
    want = sorted({*re.findall(r"\b(stint_\w+)\(", listed), *FOR_LIBRARIES})
    need(found == want, "exported, in neither layout.txt nor FOR_LIBRARIES: %s"
         % sorted(set(found) - set(want)), "there, not exported: %s" % sorted(set(want) - set(found)))


# ---- Sanitizers.

def with_sanitizers(options):
    """How programs are compiled, what they are linked with, and the environment in which they
    run."""
    if "-fsanitize" in options.cflags:
        raise Skip("the runtime itself is built with a sanitizer")
    if options.library.suffix == ".a":
        raise Skip("no shared runtime")
    return ([options.cc, "-std=c11", "-O1", "-DWITH_TIMER", "-I%s" % (options.source / "include")],
            [options.library, "-Wl,-rpath,%s" % options.library.parent, "-pthread"],
            # The runtime's atomics are unknown to ThreadSanitizer.
            environment(TSAN_OPTIONS="suppressions=%s" % (options.source / "packaging/tsan.supp")))


@case
def races(options, folder):
    """Threads under ThreadSanitizer, with the suppression file that is installed: no race is
    reported."""
    common, libraries, env = with_sanitizers(options)
    file = folder / "program"
    if run(*common, "-g", "-fsanitize=thread", HERE / "security_races.c", *libraries, "-o", file,
           fails=True).returncode:
        raise Skip("%s does not build with -fsanitize=thread" % options.cc)
    for _ in range(5): # which threads meet is chance
        done = run(file, fails=True, env=env)
        if "unexpected memory mapping" in done.err:
            raise Skip("ThreadSanitizer cannot map its memory on this machine")
        need(done.returncode == 0 and "WARNING: ThreadSanitizer" not in done.err, done.returncode,
             done.err[-4000:])


@case
def sanitizers(options, folder):
    """The header with and without a sanitizer in one program, on one runtime without."""
    common, libraries, env = with_sanitizers(options)
    tried = 0
    for name in ("address", "undefined", "thread"):
        flag = "-fsanitize=" + name
        empty = folder / "empty.c"
        empty.write_text("int main(void) {\n    return 0;\n}\n")
        if run(options.cc, flag, empty, "-o", folder / "empty", fails=True).returncode:
            continue
        tried += 1
        for first, second in (([flag], []), ([], [flag])):
            run(*common, *first, "-c", HERE / "security_mix.c", "-o", folder / "a.o")
            run(*common, *second, "-DMIX_OTHER", "-c", HERE / "security_mix.c", "-o",
                folder / "b.o")
            run(options.cc, flag, folder / "a.o", folder / "b.o", "-o", folder / "mix",
                *libraries)
            done = run(folder / "mix", fails=True, env=env)
            need(done.returncode == 0 and done.out == "8000 8000\n", name, first, done.returncode,
                 done.out, done.err[-3000:])
    if not tried:
        raise Skip("the compiler has no sanitizer")


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return 0
    parser = argparse.ArgumentParser()
    for name in ("fake", "program", "library", "tool", "source", "build"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    for name in ("cc", "abi"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--cflags", default="")
    parser.add_argument("case", choices=CASES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stint-security-") as folder:
        os.chmod(folder, 0o755)
        try:
            CASES[options.case](options, pathlib.Path(folder))
        except Wrong as wrong:
            print("security %s: %s" % (options.case, wrong), file=sys.stderr)
            return 1
        except Skip as why:
            print("skipped: %s" % why)
            return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
