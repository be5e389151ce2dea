#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks where the functions of runtime/ are declared, defined and called.

    declarations.py check        a header declares no function that a layer above it defines; no
                                 more than three source files of a folder call one another in a
                                 circle (a component)
    declarations.py self-test    the checks find what they are for
"""
import re
import sys

import layers
from style import check_or_test, code_of, run_check

MAX_COMPONENT = 3  # files

FUNCTION = (r"^(?!static\b|typedef\b|return\b|#|\s)\w[\w \t\n*()]*?\b(\w+)\([^;{}]*\)")
DEFINITION = re.compile(FUNCTION + r"\s*\{", re.M)
PROTOTYPE = re.compile(FUNCTION + r"[^;{}]*;", re.M)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)\s*")


class Tree:
    """The sources below runtime/: which file declares and which defines each function."""

    def __init__(self, root):
        self.runtime = root / "runtime"
        self.code = {path: ATTRIBUTE.sub("", code_of(path.read_text(encoding="utf-8")))
                     for path in sorted(self.runtime.rglob("*.[ch]"))}
        self.declared = {}  # name -> the headers
        self.defined = {}  # name -> the .c files
        for path, text in self.code.items():
            pattern, names = ((PROTOTYPE, self.declared) if path.suffix == ".h" else
                              (DEFINITION, self.defined))
            for match in pattern.finditer(text):
                names.setdefault(match[1], []).append(path)

    def layer(self, path):
        return path.parent.relative_to(self.runtime).as_posix()


def check_declarations(tree, table):
    for name, headers in tree.declared.items():
        for header in headers:
            layer = tree.layer(header)
            for source in tree.defined.get(name, []):
                other = tree.layer(source)
                if other != layer and other not in layers.find_below(table, layer):
                    yield f"{header}: declares {name}, which {source} defines, a layer above"


def find_calls(tree, folder):
    """File of the folder -> the files of the folder whose functions it names."""
    home = {name: files[0] for name, files in tree.defined.items()
            if name in tree.declared and files[0].parent == folder}
    calls = {}
    for path, text in tree.code.items():
        if path.parent == folder and path.suffix == ".c":
            words = set(re.findall(r"\w+", text))
            calls[path] = {home[word] for word in words if word in home} - {path}
    return calls


def find_reachable(calls, start):
    found = set()
    todo = [start]
    while todo:
        for other in calls[todo.pop()] - found:
            found.add(other)
            todo.append(other)
    return found


def find_components(calls):
    """The sets of two and more files that reach each other."""
    reach = {path: find_reachable(calls, path) for path in calls}
    found = []
    for path in calls:
        component = {path} | {other for other in reach[path] if path in reach[other]}
        if len(component) > 1 and component not in found:
            found.append(component)
    return found


def check_components(tree):
    for folder in sorted({path.parent for path in tree.code}):
        calls = find_calls(tree, folder)
        for component in find_components(calls):
            if len(component) > MAX_COMPONENT:
                names = " ".join(sorted(path.name for path in component))
                yield (f"{folder}: {len(component)} files call one another in a circle, at most "
                       f"{MAX_COMPONENT} may: {names}")


def check(root):
    tree = Tree(root)
    if not tree.declared or not tree.defined:
        yield f"{root}: no functions to check"
    yield from check_declarations(tree, layers.read_table(root))
    yield from check_components(tree)


# ---- The checks themselves.

RIGHT = {
    "runtime/layers.txt": "base:\nread: base\n",
    "runtime/base/log.h": "/* void old(int x); */\n"
                          "__attribute__((format(printf, 1, 2))) void log_line(const char *text, ...);\n",
    "runtime/base/log.c": "void log_line(const char *text, ...) {\n    write_all(text);\n}\n",
    "runtime/read/a.h": "int a(void);\nint b(void);\nint c(int x,\n      int y);\nint d(void);\n",
    "runtime/read/a.c": "int a(void) {\n    return b();\n}\n",
    "runtime/read/b.c": "int b(void) {\n    return c(1, 2);\n}\n",
    "runtime/read/c.c": "int c(int x,\n      int y) {\n    return a() + d();\n}\n",
    "runtime/read/d.c": "int d(void) {\n    return 0; /* a() */\n}\n",
    "runtime/read/e.c": "__attribute__((format(printf, 1, 2))) void e(const char *text, ...) {\n}\n",
}
FAULTS = [
    ("runtime/base/log.h", "int d(void);\n", "declares d"),
    ("runtime/base/log.h", "int *c(\n    int x, int y);\n", "declares c"),
    ("runtime/read/d.c", "static int more(void) {\n    return a();\n}\n", "4 files call"),
]


def self_test():
    for changed, line, expected in [(None, "", None)] + FAULTS:
        files = dict(RIGHT)
        if changed:
            files[changed] += line
        found = run_check(check, files)
        if not (any(expected in text for text in found) if expected else not found):
            yield f"{changed} {line}: expected {expected}, found {found}"


if __name__ == "__main__":
    sys.exit(check_or_test(__doc__, check, self_test))
