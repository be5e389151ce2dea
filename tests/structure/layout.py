#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the interface between programs and the library with a checked-in list, layout.txt: the
size of each struct in the public headers, the offset and size of each of its members, and the
declaration of each function.

    layout.py --cc CC      compares; UPDATE=1 in the environment writes the list anew
    layout.py self-test    the parser finds structs, members and functions
"""
import argparse
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = pathlib.Path(__file__).resolve().parent / "layout.txt"
HEADERS = ["stint/stint.h", "stint/detail/impl_layout.h"]
FUNCTION_HEADERS = ["stint/stint.h", "stint/lines.h", "stint/instrument.h"]
HEAD = """# SPDX-License-Identifier: Apache-2.0
# The structs of the public headers on LP64: struct size, member offset size. Then the functions.
"""
ADVICE = """The layout of a public struct is not that of %s.
- stint_stat: add members at the end only, so that programs built with older headers keep working.
- stint_impl_*, stint_set: compiled-in code and the library share them; raise STINT_ABI and the suffix
  in STINT_IMPL_ABI_NAME (CONTRIBUTING.md).
- Other structs are not passed with a size: a change breaks programs that are already built.
- Functions: another type of a parameter or result breaks them, too; a new function does not.
Then write the list anew: UPDATE=1 ctest --preset test -R '^structure\\.layout$'""" % LIST.name
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRUCT = re.compile(r"(typedef\s+)?struct\s+(\w+)\s*\{([^{}]*)\}")


FUNCTION = re.compile(r"\bextern\s+(?:\"C\"\s*)?((?:[\w*]+\s+|\*+\s*)+)(stint_\w+)\s*\(([^;{}]*?)\)"
                      r"(?:\s*__asm__\s*\([^;]*?\))?(?:\s*__attribute__\s*\(\(.*?\)\))*\s*;", re.S)


def find_functions(text):
    """The declarations, of preprocessed text."""
    found = set()
    for result, name, parameters in FUNCTION.findall(text):
        if name.startswith("stint_impl_"):
            name = re.sub(r"_\d+$", "_ABI", name)  # STINT_ABI
        line = re.sub(r"\s+", " ", "%s %s(%s)" % (result.strip(), name, parameters.strip()))
        found.add(re.sub(r"\* (?=\w)", "*", line))
    return sorted(found)


def print_functions(compiler):
    source = "".join("#include <%s>\n" % header for header in FUNCTION_HEADERS)
    done = subprocess.run([*compiler, "-std=c11", "-DWITH_TIMER", "-DWITH_PROFILER", "-I",
                           str(ROOT / "include"), "-E", "-P", "-x", "c", "-"], input=source,
                          capture_output=True, text=True, check=True)
    return "".join(line + "\n" for line in find_functions(done.stdout))


def find_structs(text):
    """The C name of each struct and the names of its members."""
    structs = []
    for typedef, name, body in STRUCT.findall(COMMENT.sub(" ", text)):
        members = [re.search(r"(\w+)\s*(?:\[[^\]]*\])?\s*$", part)[1]
                   for part in re.split("[;,]", body) if part.strip()]
        structs.append((name if typedef else "struct " + name, members))
    return structs


def write_program(structs):
    lines = ["#include <stddef.h>", "#include <stdio.h>"]
    lines += ["#include <%s>" % header for header in HEADERS]
    lines += ["int main(void) {"]
    for name, members in structs:
        lines.append('printf("%s %%zu\\n", sizeof(%s));' % (name, name))
        lines += ['printf("  %s %%zu %%zu\\n", offsetof(%s, %s), sizeof(((%s *)0)->%s));'
                  % (member, name, member, name, member) for member in members]
    return "\n".join(lines + ["return 0;", "}", ""])


def print_layouts(compiler):
    structs = []
    for header in HEADERS:
        structs += find_structs((ROOT / "include" / header).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "layout.c")
        source.write_text(write_program(structs))
        program = pathlib.Path(folder, "layout")
        subprocess.run([*compiler, "-std=c11", "-I", str(ROOT / "include"), str(source), "-o",
                        str(program)], check=True)
        return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


def check(compiler):
    found = HEAD + print_layouts(compiler) + print_functions(compiler)
    if os.environ.get("UPDATE"):
        LIST.write_text(found)
    listed = LIST.read_text().splitlines()
    changes = list(difflib.unified_diff(listed, found.splitlines(), LIST.name, "headers",
                                        lineterm=""))
    if not changes:
        return 0
    print("\n".join(changes + [ADVICE]))
    return 1


def self_test():
    text = ("typedef struct a {\n int x; /* int y; */\n char name[A + 1]; // z\n} a;\n"
            "struct b { struct c *next; int x, y; };\nstruct d;\n")
    found = find_structs(text)
    if found != [("a", ["x", "name"]), ("struct b", ["next", "x", "y"])]:
        print("found", found)
        return 1
    text = ("extern int stint_a (const char * name,\n stint_set * set);\nextern const stint_b * stint_c(void)"
            " __attribute__((cold));\nextern int other(void);\nstatic int stint_d(void) { return 0; }\n"
            "extern void stint_impl_e_2(int x) __asm__(\"stint_e_1\");\n")
    found = find_functions(text)
    if found != ["const stint_b *stint_c(void)", "int stint_a(const char *name, stint_set *set)",
                 "void stint_impl_e_ABI(int x)"]:
        print("found", found)
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", nargs="?", choices=["check", "self-test"], default="check")
    parser.add_argument("--cc", default="cc")
    options = parser.parse_args()
    return self_test() if options.mode == "self-test" else check(shlex.split(options.cc))


if __name__ == "__main__":
    sys.exit(main())
