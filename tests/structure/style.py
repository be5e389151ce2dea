#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of CONTRIBUTING.md for lines, names and comments that a compiler does not check.

The files are those of runtime/ and include/, unless an entry names others.

    style.py conditionals        no conditional operator (?:) within an operand of another, and few
                                 of them
    style.py function-names      each static function has a name of two words or more that no other
                                 file uses
    style.py opening-comments    each .c of more than 150 lines begins with a comment about it
    style.py line-lengths        no line of C, C++ or CUDA, and no line with a comment only, has
                                 more than 100 columns: all folders with sources
    style.py comment-openings    no comment or docstring begins with "Of", "What", "That of" or
                                 "Those of": all folders with sources, tests/ and cmake/ included
    style.py self-test           the checks find what they are for
"""
import argparse
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Conditional operators per 1000 lines of code, in the whole of runtime/.
MAX_PER_1000 = 15
LONG_FILE = 150  # lines
MIN_COMMENT = 100  # characters
MAX_COLUMNS = 100
C_SUFFIXES = {".c", ".h", ".hpp", ".cpp", ".cu"}
# Comments that are texts of other files.
MAY_BE_LONG = ("tests/structure/baseline.py",)

TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def code_of(text):
    """The text without comments and the contents of literals; lines stay where they are."""
    def replace(match):
        found = match[0]
        if found[0] in "\"'":
            return found[0] * 2
        return " " + "\n" * found.count("\n")
    return TOKEN.sub(replace, text)


def statements_of(code):
    """The code without preprocessor directives, and each directive, with their line numbers."""
    rest, directives = [], []
    lines = code.split("\n")
    number = 0
    while number < len(lines):
        start = number
        if lines[number].lstrip().startswith("#"):
            while lines[number].endswith("\\") and number + 1 < len(lines):
                number += 1
            directives.append((start + 1, "\n".join(lines[start:number + 1])))
            rest += [""] * (number + 1 - start)
        else:
            rest.append(lines[number])
        number += 1
    return [(1, "\n".join(rest))] + directives


# ---- Conditional operators.

class Level:
    """The conditionals that are open between one pair of brackets."""

    def __init__(self):
        self.inside = 0  # conditionals whose second or third operand is not over
        self.before = False  # one was in brackets, in what may be the first operand of another


def nested_in(first_line, code):
    """The lines with a conditional operator within an operand of another."""
    levels = [Level()]
    line = first_line
    for match in re.finditer(r"\n|[()\[\]{},;?]|[=!<>]=|=|\breturn\b", code):
        token = match[0]
        level = levels[-1]
        if token == "\n":
            line += 1
            if code[match.end():match.end() + 1] == "}":
                levels = [Level(), Level()]  # whatever #if did to the brackets
        elif token in "([{":
            levels.append(Level())
        elif token in ")]}":
            if len(levels) > 1:
                levels.pop()
            levels[-1].before = token != "}" and (levels[-1].before or level.before)
        elif token in (",", ";", "return"):
            level.inside = 0
            level.before = False
        elif token == "=":
            level.before = False
        elif token == "?":
            if level.before or any(outer.inside for outer in levels):
                yield line
            level.inside += 1
            level.before = True


def count_conditionals(path):
    code = code_of(path.read_text())
    lines = sum(1 for line in code.split("\n") if line.strip())
    return code.count("?"), lines


def check_conditionals(root):
    total = lines = 0
    for path in source_files(root):
        for start, text in statements_of(code_of(path.read_text())):
            for line in nested_in(start, text):
                yield f"{path}:{line}: a conditional operator within an operand of another"
        if folder_of(root, path) != "include":
            here, of_lines = count_conditionals(path)
            total, lines = total + here, lines + of_lines
    if not lines:
        yield f"{root}: no lines found in runtime/"
    elif total * 1000 >= MAX_PER_1000 * lines:
        yield (f"runtime: {total} conditional operators in {lines} lines of code: fewer than "
               f"{MAX_PER_1000} per 1000 are expected")


# ---- Names of functions.

HEAD = re.compile(r"(?m)^(?!\s)(?:(static)\b)?((?:[\w*]|[ \t\n]|\(\([^;{}]*?\)\))*?)\b(\w+)\s*\(")


def find_close(code, start):
    """The place after the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(code)):
        depth += (code[place] == "(") - (code[place] == ")")
        if not depth:
            return place + 1
    return len(code)


def functions_of(text):
    """(line, name, is static) of each function that is defined."""
    code = statements_of(code_of(text))[0][1]
    place = 0
    while True:
        match = HEAD.search(code, place)
        if not match:
            return
        place = find_close(code, match.end() - 1)
        while match[3] == "__attribute__":  # another head begins after it
            again = re.compile(r"((?:[\w*]|\s)*?)\b(\w+)\s*\(").match(code, place)
            if not again:
                break
            place = find_close(code, again.end() - 1)
            if again[2] != "__attribute__":
                if re.compile(r"\s*\{").match(code, place):
                    is_static = bool(match[1]) or "static" in again[1].split()
                    yield code.count("\n", 0, again.start(2)) + 1, again[2], is_static
                break
        else:
            after = re.compile(r"(?:\s*__attribute__\s*\(\(.*?\)\))*\s*\{").match(code, place)
            if after and match[3] not in ("if", "while", "for", "switch"):
                yield code.count("\n", 0, match.start(3)) + 1, match[3], bool(match[1])


def check_function_names(root):
    where = {}  # name -> paths
    found = []
    for path in source_files(root):
        for line, name, is_static in functions_of(path.read_text()):
            where.setdefault(name, set()).add(path)
            found.append((path, line, name, is_static))
    if not found:
        yield f"{root}: no functions found"
    for path, line, name, is_static in found:
        if not is_static:
            continue
        others = sorted(str(other.relative_to(root)) for other in where[name] - {path})
        if others:
            yield f"{path}:{line}: {name} is also defined in {', '.join(others)}"
        if "_" not in name.strip("_"):
            yield f"{path}:{line}: {name} is one word: a verb and a noun are expected"


# ---- Opening comments.

def opening_comment(text):
    """The text of the comments before the first line of code."""
    words = []
    place = 0
    for match in re.finditer(r"\s*/\*(.*?)\*/", text, re.S):
        if match.start() != place:
            break
        place = match.end()
        words += [word for word in match[1].split() if word != "*"]
    return re.sub(r"SPDX-License-Identifier: \S+\s*", "", " ".join(words))


def check_opening_comments(root):
    for path in source_files(root):
        text = path.read_text()
        lines = text.count("\n")
        if path.suffix == ".c" and lines > LONG_FILE \
                and len(opening_comment(text)) < MIN_COMMENT:
            yield (f"{path}: {lines} lines without an opening comment: what it does, who calls it, "
                   "what must hold")


# ---- Lengths of lines.

LINE_COMMENT = re.compile(r"\s*(?:#|//) ")


def check_line_lengths(root):
    for path in commented_files(root):
        name = path.relative_to(root).as_posix()
        if name.startswith(MAY_BE_LONG):
            continue
        is_c = path.suffix in C_SUFFIXES
        for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
            if len(line) > MAX_COLUMNS and (is_c or LINE_COMMENT.match(line)):
                yield f"{path}:{number}: {len(line)} columns: at most {MAX_COLUMNS} are expected"


# ---- Openings of comments.

OPENING = re.compile(r"(?m)(?:/\*|//|#|\"\"\"|^ ?\*)\s?(Of|What|That of|Those of) ")
# The other folders have only text that people write; these have data, too.
FOLDERS_WITH_DATA = ("tests", "samples", "packaging")
SOURCES = {".c", ".h", ".hpp", ".cpp", ".cu", ".inc", ".py", ".sh", ".mjs", ".js", ".cmake", ".in",
           ".ini", ".supp", ".gdb"}
SINGLE_FILES = ("CMakeLists.txt", "dev", ".ci/run")


def commented_files(root):
    """The files whose comments are checked for their first word."""
    for folder in ("include", "runtime", "gen", "cmake") + FOLDERS_WITH_DATA:
        for path in sorted((root / folder).rglob("*")):
            if "__pycache__" in path.parts or not path.is_file():
                continue
            if folder not in FOLDERS_WITH_DATA or path.suffix in SOURCES \
                    or path.name == "CMakeLists.txt":
                yield path
    yield from (root / name for name in SINGLE_FILES if (root / name).is_file())


def check_comment_openings(root):
    found = False
    for path in commented_files(root):
        found = True
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in OPENING.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            yield f"{path}:{line}: a comment begins with '{match[1]}': the subject is first"
    if not found:
        yield f"{root}: no files found"


# ---- Files.

def folder_of(root, path):
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "runtime" else parts[0]


def source_files(root):
    for folder in ("include", "runtime"):
        yield from sorted(p for p in (root / folder).rglob("*") if p.suffix in (".c", ".h"))


# ---- The checks themselves.

NESTED = [
    "x = a ? b : c ? d : e;",
    "x = a ? b ? c : d : e;",
    "x = (a ? b : c) ? d : e;",
    "x = a ? b : (c ? d : e);",
    "x = a ? f(b ? c : d) : e;",
    "f(a\n  ? b\n  : c ? d : e);",
    "return (a ? b : c) == 1 && d ? e : f;",
    "#define X(a) ((a) ? 1 : (a) > 2 ? 3 : 4)",
    "x = a ? (struct s){b ? c : d} : e;",
]
NOT_NESTED = [
    "x = a ? b : c;",
    "f(a ? b : c, d ? e : f);",
    "x = y[a ? 0 : 1]; z = b ? c : d;",
    "y[a ? 0 : 1] = b ? c : d;",
    "if (a ? b : c) {\n    x = d ? e : f;\n}",
    "struct s x = {.a = b ? c : d, .e = f ? g : h};",
    "x = a ? b : c; /* ? */ y = d ? \"?\" : '?';",
    "for (x = a ? b : c; x < (d ? e : f); ++x) { }",
    "#define X(a) ((a) ? 1 : 2)\n#define Y(a) ((a) ? 1 : 2)",
    "void f(int a, int b) {\n    g(a ? 1 : 2);\n}\nint h(int a) {\n    return a ? 1 : 2;\n}",
]
ONE = "static int rows_merge(int a) {\n    return a;\n}\n"
NAMES = [  # text of one file and, beside ONE, what is wrong
    ("static inline void rows_merge(void) {}\n", "also defined"),
    ("void rows_merge(int (*f)(int), int b) {\n}\n", "also defined"),
    ("static void place(int a,\n                  int b) {\n}\n", "place is one word"),
    ("static __attribute__((noinline, unused)) struct s *\nplace(void) {\n}\n", "one word"),
    ("static inline __attribute__((always_inline)) int place(void) {\n}\n", "one word"),
    ("__attribute__((constructor)) static void place(void) {\n}\n", "one word"),
    ("static const char *place(void) {\n}\n", "one word"),
    ("static void row_put(void) {\n    if (place(1)) {\n    }\n}\n", None),
    ("static void rows_merge(int a);\nint place(void) {\n}\n", None),
    ("static int (*const list[])(void) = {row_put};\nstatic struct s merge = {f(1)};\n", None),
]
LONG = "int x;\n" * (LONG_FILE + 1)
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"
COMMENTS = [
    (SPDX + LONG, True),
    (SPDX + "/* Short. */\n" + LONG, True),
    (SPDX + '#include "a.h"\n\n/*\n * ' + "word " * 30 + "\n */\n" + LONG, True),
    (SPDX + "/*\n * " + "word " * 30 + "\n */\n" + LONG, False),
    (SPDX + "int x;\n", False),
]
# "@" is removed, so that these lines are not such comments themselves.
OPENINGS = [
    ("int x; /* @What it is. */\n", True),
    ("/*\n * @Of a node.\n */\n", True),
    ("    // @That of a row.\n", True),
    ("# @Those of a row.\n", True),
    ('def f():\n    """@What it is."""\n', True),
    ("/* The value of a node: what it is. Of one. */\n", False),
    ("# Offsets of a node.\n", False),
    ('text = "What it is"\n', False),
]
BAD_OPENING = "# @What it is.\n"
OPENING_FILES = [  # file, whether its comments are checked
    ("runtime/base/a.c", True),
    ("tests/unit/a_test.c", True),
    ("tests/tool/a.py", True),
    ("tests/tool/CMakeLists.txt", True),
    ("tests/viewer/a.mjs", True),
    ("cmake/A.cmake", True),
    ("samples/a.cu", True),
    ("packaging/python/a.py", True),
    ("CMakeLists.txt", True),
    ("dev", True),
    (".ci/run", True),
    ("tests/tool/golden/a.csv", False),
    ("tests/README.md", False),
]


def run_check(check, files):
    """The faults that a check finds in a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return list(check(root))


def self_test():
    for text in NESTED + NOT_NESTED:
        found = run_check(check_conditionals,
                          {"runtime/base/a.c": text + "\n" + "int x;\n" * 1000})
        if bool(found) != (text in NESTED):
            yield f"{text!r}: {found}"
    if not run_check(check_conditionals, {"runtime/base/a.c": "int x = a ? b : c;\n" * 10}):
        yield "many conditional operators were not found"
    for text, expected in NAMES:
        found = run_check(check_function_names, {"runtime/base/a.c": ONE, "runtime/read/b.c": text})
        if not any(expected in problem for problem in found) if expected else found:
            yield f"{text!r}: expected {expected}, found {found}"
    for text, expected in COMMENTS:
        if bool(run_check(check_opening_comments, {"runtime/base/a.c": text})) != expected:
            yield f"opening comment: {text[:100]!r}: expected {expected}"
    for columns, expected in ((MAX_COLUMNS, False), (MAX_COLUMNS + 1, True)):
        text = "int x;\n/* " + "\u2026" * (columns - 6) + " */\n"
        for name in ("include/stint/a.h", "tests/unit/a_test.c"):
            if bool(run_check(check_line_lengths, {name: text})) != expected:
                yield f"a line of {columns} columns in {name}: expected {expected}"
        for name, text in (("cmake/A.cmake", "# "), ("tests/a.py", "    # "), ("tests/a.mjs", "// ")):
            text += "x" * (columns - len(text))
            if bool(run_check(check_line_lengths, {name: text + "\n"})) != expected:
                yield f"a comment of {columns} columns in {name}: expected {expected}"
    for text, expected in OPENINGS:
        files = {"gen/a.x": text.replace("@", "")}
        if bool(run_check(check_comment_openings, files)) != expected:
            yield f"opening of a comment: {text!r}: expected {expected}"
    for name, expected in OPENING_FILES:
        files = {"gen/a.py": "x = 1\n", name: BAD_OPENING.replace("@", "")}
        if bool(run_check(check_comment_openings, files)) != expected:
            yield f"opening of a comment in {name}: expected {expected}"
    if not run_check(check_comment_openings, {}):
        yield "comment-openings found no fault with a tree without files"


def print_faults(found):
    """Returns the exit status."""
    found = list(found)
    print("\n".join(found))
    return 1 if found else 0


def check_or_test(doc, check, self_test):
    """The command line of a script with a check of the sources and one of itself, and its exit
    status."""
    parser = argparse.ArgumentParser(description=doc.split("\n", maxsplit=1)[0])
    parser.add_argument("action", choices=["check", "self-test"])
    action = parser.parse_args().action
    return print_faults(self_test() if action == "self-test" else check(ROOT))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    checks = {"conditionals": check_conditionals, "function-names": check_function_names,
              "opening-comments": check_opening_comments, "line-lengths": check_line_lengths,
              "comment-openings": check_comment_openings}
    parser.add_argument("action", choices=[*checks, "self-test"])
    action = parser.parse_args().action
    return print_faults(self_test() if action == "self-test" else checks[action](ROOT))


if __name__ == "__main__":
    sys.exit(main())
