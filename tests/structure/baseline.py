#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public interface against that of the last release, baseline/: what was published stays.

    baseline.py check --cc CC     every line of interface.txt is still true; new ones may be added
    baseline.py abi --cc CC       abidiff of types and functions with libstint.abi; 77: no abidiff
    baseline.py write --cc CC     writes both anew, when a version is released
    baseline.py self-test         what the checks find

interface.txt has the macros with their arguments, constants and members of enumerations with their
values, types of callbacks, functions, and members of structs with offset and size. The size of a
struct that may grow at its end is not in it. libstint.abi is made from stint.h with a definition of
each function, so it depends neither on the library's flags nor on its sources.
"""
import argparse
import configparser
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import layout

HERE = pathlib.Path(__file__).resolve().parent
BASELINE = HERE / "baseline"
ROOT = layout.ROOT
HEADER = ROOT / "include" / "stint" / "stint.h"
SKIP = 77
GROWS = {"stint_stat", "stint_tree_row", "stint_schedule"}  # passed with a size, or padded with 0
HEAD = """# SPDX-License-Identifier: Apache-2.0
# The interface of the last release; tests/structure/baseline.py says what is in it. Not edited: it is
# written anew when a version is released.
"""
SUPPRESSED = "".join("""[suppress_type]
name = %s
has_data_member_inserted_at = end
""" % name for name in sorted(GROWS))


def read_forms(path):
    """Each macro of gen/names.ini, both spellings, and its arguments."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str
    parser.read(path, encoding="ascii")
    forms = {}
    for old in parser.sections():
        forms[old] = forms[parser[old]["name"]] = parser[old].get("form", "")
    return forms


def find_macros(header, names):
    forms = read_forms(names)
    found = ["macro %s(%s)" % item for item in forms.items()]
    for name, value in re.findall(r"(?m)^#define (STINT_(?!IMPL_|VERSION|STINT_H)\w+) +(\S.*?)"
                                  r"(?: */\*.*)?$", header):
        found.append("constant %s = %s" % (name, value))
    return found


def find_enums(header):
    """Members of enumerations; all have a value in the header."""
    found = []
    for body in re.findall(r"\benum stint_\w+ \{(.*?)\}", layout.COMMENT.sub(" ", header), re.S):
        found += ["enumerator %s = %s" % pair for pair in re.findall(r"(\w+) = (-?\w+)", body)]
    return found


def find_callbacks(header):
    text = re.sub(r"\s+", " ", layout.COMMENT.sub(" ", header))
    return ["type " + found for found in re.findall(r"typedef (\w+ \(\*stint_\w+_fn\)\([^;]*\));",
                                                     text)]


def find_members(compiler, header):
    structs = [(name, members) for name, members in layout.find_structs(header)
               if name.startswith("stint_")]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "layout"
        subprocess.run([*compiler, "-std=c11", "-I", str(ROOT / "include"), "-x", "c", "-", "-o",
                        str(program)], input=layout.write_program(structs), text=True, check=True)
        lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    found, name = [], ""
    for line in lines.splitlines():
        words = line.split()
        if not line.startswith(" "):
            name = words[0]
            if name not in GROWS:
                found.append("struct %s size %s" % (name, words[1]))
        else:
            found.append("member %s.%s at %s size %s" % (name, *words))
    return found


def find_declarations(compiler):
    done = subprocess.run([*compiler, "-std=c11", "-DWITH_TIMER", "-DWITH_PROFILER", "-I",
                           str(ROOT / "include"), "-E", "-P", "-x", "c", "-"],
                          input="#include <stint/stint.h>\n", capture_output=True, text=True,
                          check=True)
    return [line for line in layout.find_functions(done.stdout) if "stint_impl_" not in line]


def read_interface(compiler):
    header = HEADER.read_text(encoding="utf-8")
    found = find_macros(header, ROOT / "gen" / "names.ini")
    found += find_enums(header) + find_callbacks(header) + find_members(compiler, header)
    found += ["function " + line for line in find_declarations(compiler)]
    return sorted(found)


def missing(baseline, now):
    have = set(now)
    return [line for line in baseline if line and not line.startswith("#") and line not in have]


def make_dump(compiler, folder):
    """A library with each function of the interface, and abidw's description of it."""
    source = ["#include <stint/stint.h>"]
    for line in find_declarations(compiler):
        name = re.search(r"(stint_\w+)\(", line)[1]
        body = "(void)0" if line.startswith("void ") else "return none"
        result = re.match(r"(.*?)stint_\w+\(", line)[1]
        none = "" if line.startswith("void ") else "static %s none; " % result.replace("const ", "")
        source.append("%s { %s%s; } /* %s */" % (line, none, body, name))
    library = folder / "libstint.so"
    subprocess.run([*compiler, "-std=c11", "-g", "-O0", "-w", "-fPIC", "-shared", "-DWITH_TIMER",
                    "-DWITH_PROFILER", "-I", str(ROOT / "include"), "-Wl,-soname,libstint.so",
                    "-x", "c", "-", "-o", str(library)], input="\n".join(source) + "\n", text=True,
                   check=True)
    dump = folder / "libstint.abi"
    subprocess.run(["abidw", "--no-corpus-path", "--no-show-locs", "--no-comp-dir-path",
                    "--out-file", str(dump), str(library)], check=True)
    return dump


def write(compiler):
    (BASELINE / "interface.txt").write_text(HEAD + "\n".join(read_interface(compiler)) + "\n",
                                            encoding="utf-8")
    if not shutil.which("abidw"):
        print("no abidw: %s is not written" % (BASELINE / "libstint.abi"))
        return
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(make_dump(compiler, pathlib.Path(folder)), BASELINE / "libstint.abi")


def check(compiler):
    lines = (BASELINE / "interface.txt").read_text(encoding="utf-8").split("\n")
    gone = missing(lines, read_interface(compiler))
    if len(lines) < 100:
        gone.append("interface.txt itself: it has %d lines" % len(lines))
    if gone:
        print("the interface of the last release has changed; what is published stays:\n" +
              "\n".join(gone))
    return 1 if gone else 0


def compare_abi(compiler, baseline=BASELINE / "libstint.abi"):
    if not shutil.which("abidiff") or not shutil.which("abidw"):
        print("no abidiff (libabigail)")
        return SKIP
    if subprocess.run([*compiler, "-dumpmachine"], capture_output=True, text=True,
                      check=True).stdout.split("-")[0] != "x86_64":
        print("the description is that of x86-64")
        return SKIP
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "suppressed").write_text(SUPPRESSED)
        done = subprocess.run(["abidiff", "--no-added-syms", "--suppressions",
                               str(folder / "suppressed"), str(baseline),
                               str(make_dump(compiler, folder))], capture_output=True, text=True,
                              check=False)
    if done.returncode:
        print(done.stdout + done.stderr)
    return 1 if done.returncode else 0


def self_test():
    header = HEADER.read_text(encoding="utf-8")
    assert missing(["# head", "", "a", "b"], ["a", "c"]) == ["b"]
    assert "constant STINT_SLOW_INFO_US = 10000000" in find_macros(header, ROOT / "gen/names.ini")
    assert "macro STINT_TIMER(name[, threshold_us[, set]])" in find_macros(
        header, ROOT / "gen" / "names.ini")
    assert "enumerator STINT_ERROR_BUSY = -4" in find_enums(header)
    assert any("(*stint_stat_fn)(void *data" in line for line in find_callbacks(header))
    changed = header.replace("STINT_ERROR_BUSY = -4", "STINT_ERROR_BUSY = -9")
    assert missing(find_enums(header), find_enums(changed)) == ["enumerator STINT_ERROR_BUSY = -4"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("action", choices=["check", "abi", "write", "self-test"])
    parser.add_argument("--cc", default="cc")
    options = parser.parse_args()
    compiler = shlex.split(options.cc)
    if options.action == "self-test":
        return self_test()
    return {"check": check, "abi": compare_abi, "write": write}[options.action](compiler)


if __name__ == "__main__":
    sys.exit(main())
