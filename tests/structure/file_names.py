#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names at file scope in the library: those of a .c file are unique, as gen/amalgamate.py makes one
file of all. C itself would not tell: two `static int count;` in one file are one variable.

    file_names.py check        variables, functions, types and enumeration constants of a .c file
                               are in no other file; its macros are in no header (those of a .c
                               file end with it in the amalgamation)
    file_names.py self-test    the check finds what it is for
"""
import re
import sys

from style import (check_or_test, code_of, functions_of, run_check, source_files,
                   statements_of)

# Not in the library.
TOOL_LAYERS = re.compile("runtime/(ranks|export/tool|adapters|mem|runfile|tool)/")
TAG = re.compile(r"\b(struct|union|enum)\s+(\w+)\s*$")
DECLARATOR = re.compile(r"[\s*]*(?:\(\s*\*+\s*(?:const\s+)?(\w+)|(\w+))")
WORDS = re.compile(r"(?:static|extern|const|volatile|register|inline|unsigned|signed|__thread|"
                   r"(?:struct|union|enum)\s+\w+|__extension__)\b")
STATEMENT_MACRO = re.compile(r"^[A-Z][A-Z0-9_]+\([^;{}]*?\)$", re.M)  # without a ';'
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)", re.S)


def file_statements(code):
    """(text before the braces or ';', what is in the outermost braces or None, text up to ';') of
    each statement at file scope; a function ends with its brace."""
    head, body, depth, inside = "", None, 0, ""
    for char in code:
        if char == "{":
            depth += 1
            if depth == 1:
                inside = ""
                continue
        elif char == "}":
            depth -= 1
            if depth == 0:
                if body is None:
                    body, first = inside, head
                    head = ""
                    if re.search(r"\)\s*$", ATTRIBUTE.sub(" ", first)) and "=" not in first:
                        yield first, body, "" # a function
                        body = None
                continue
        if depth:
            inside += char
        elif char == ";":
            if body is None:
                yield head, None, ""
            else:
                yield first, body, head
            head, body = "", None
        else:
            head += char


def names_of(text):
    """(kind, name) of what a file defines at file scope, but for functions: see functions_of.
    Kinds: tag, name, macro."""
    statements = statements_of(code_of(text))
    for _, directive in statements[1:]:
        match = re.match(r"\s*#\s*define\s+(\w+)", directive)
        if match and not re.search(r"#\s*undef\s+%s\b" % match[1], text):
            yield "macro", match[1]
    for head, body, rest in file_statements(STATEMENT_MACRO.sub(" ", statements[0][1])):
        head = ATTRIBUTE.sub(" ", head)
        rest = ATTRIBUTE.sub(" ", rest)
        tag = TAG.search(head)
        is_enum = re.search(r"\benum\b[\s\w]*$", head)
        if body is not None and tag:
            yield "tag", tag[2]
        if body is not None and is_enum:
            for constant in re.split(r",", body):
                match = re.match(r"\s*(\w+)", constant)
                if match:
                    yield "name", match[1]
        typed = body is not None and re.search(r"\b(struct|union|enum)\b[\s\w]*$", head)
        if typed:
            yield from (("name", name) for name in declared_names(rest))
        elif "static" in head.split() and ("=" in head or "(" not in head or "(*" in head):
            yield from (("name", name) for name in declared_names(strip_type(head)))
        elif "typedef" in head.split():
            yield "name", re.findall(r"\w+", head.split("(*")[-1].split(")")[0])[-1]


def strip_type(head):
    """The declarators: without the words of the type."""
    head = head.strip()
    while True:
        match = WORDS.match(head)
        if not match:
            break
        head = head[match.end():].lstrip()
    # A type name, unless the name of the variable follows at once (`static unsigned x`).
    match = re.match(r"\w+(?:\s+(?:const|int|long|char)\b)*(?=[\s*(]+[\w*(])", head)
    return head[match.end():] if match else head


def declared_names(text):
    """The names that `*a, b[2], (*c)(int) = ...` declares."""
    depth = 0
    part = ""
    parts = []
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and not depth:
            parts.append(part)
            part = ""
        else:
            part += char
    for declarator in parts + [part]:
        match = DECLARATOR.match(re.sub(r"\bconst\b", " ", declarator))
        if match:
            yield match[1] or match[2]


def is_library(root, path):
    return not TOOL_LAYERS.match(path.relative_to(root).as_posix())


def check(root):
    where = {}  # (kind, name) -> files
    files = [path for path in source_files(root) if is_library(root, path)]
    for path in files:
        text = path.read_text()
        names = list(names_of(text)) + [("name", name) for _, name, _ in functions_of(text)]
        for entry in names:
            where.setdefault(entry, set()).add(path)
    if not any(kind == "name" for kind, _ in where):
        yield f"{root}: no names found"
    for (kind, name), paths in sorted(where.items()):
        if kind == "macro":
            headers = [path for path in paths if path.suffix == ".h"]
            clash = headers and len(paths) > len(headers)
        else:
            clash = len(paths) > 1 and any(path.suffix == ".c" for path in paths)
        if clash:
            yield "%s %s is in %s" % (kind, name, ", ".join(
                sorted(str(path.relative_to(root)) for path in paths)))


CASES = [  # in one file, in another one, whether they clash
    ("static int count;", "static int count;", True),
    ("static int count;", "static int other, count = 2;", True),
    ("static struct a *const list[] = {&x, &y};", "static unsigned list;", True),
    ("static uint64_t now;", "struct now { int count; };", False),
    ("struct lane { int x; };", "static struct lane { int y; } lanes[4];", True),
    ("static struct { int y; } lanes[4];", "static char lanes;", True),
    ("enum { A, B = 2 };", "enum colour { C, B };", True),
    ("typedef int (*call)(int);", "static int call;", True),
    ("static int (*hook)(int);", "static int (*const hook)(void) = f;", True),
    ("static __thread struct s *here __attribute__((x(\"y\")));", "static const char here;", True),
    ("static void put_row(int count) { static int old; }", "static int old, count;", False),
    ("static int a;\nOVER_FORK(X, y, NULL)\n\nstatic int b;", "static int b;", True),
    ("static int f(void);", "static int f;", False),  # the compiler finds this one
    ("#define SIZE 1", "#define SIZE 2", False),
    ("static int a = sizeof(b);", "static int b;", False),
    ("void get_it(int a) { }\nstatic int b;", "static int a;\nstatic int b;", True),
]


def self_test():
    for first, second, expected in CASES:
        files = {"runtime/base/a.c": first + "\n", "runtime/base/b.c": second + "\n"}
        found = [line for line in run_check(check, files) if "no names" not in line]
        if bool(found) != expected:
            yield "%s / %s: found %s" % (first, second, found)
    if not run_check(check, {"runtime/base/a.c": "#define SIZE 1\nstatic int x;\n",
                             "include/b.h": "#define SIZE 2\n"}):
        yield "a macro of a header in a .c file was not found"


if __name__ == "__main__":
    sys.exit(check_or_test(__doc__, check, self_test))
