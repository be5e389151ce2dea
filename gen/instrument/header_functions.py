# SPDX-License-Identifier: Apache-2.0
"""The functions that a C header declares, and which of them can be wrapped; wrap.py calls it.

`preprocess` reads the files and macros of the header, `read_functions` its declarations, from
clang's tree, and `expand_macros` the other names of each function. `choose_functions` applies the
user's globs to them. A function that matches but cannot be wrapped has a reason; calls that its
wrapper will not see are notes.

The names in the tree of clang are the real ones, so that macros (`#define cuMemAlloc
cuMemAlloc_v2`) and asm labels are resolved. A glob matches the real name, and each macro that is
replaced by it.
"""

import fnmatch
import os
import re
import subprocess
import tempfile

import clang_ast

WORD = r"[A-Za-z_]\w*"

# Functions whose effect depends on their caller, which would be the wrapper.
USES_CALLER = {"dlopen", "dlmopen", "dlsym", "dlvsym", "vfork", "setjmp", "_setjmp", "sigsetjmp",
               "__sigsetjmp", "savectx", "getcontext", "swapcontext", "makecontext"}
BUILTIN_ONLY = {"alloca"}
CONVENTION = re.compile(r"__attribute__\(\((?!noreturn)\w+")


class WrapError(Exception):
    """One line for the user."""


class Macro:
    def __init__(self, name, parameters, body, file, line):
        self.name = name
        self.parameters = parameters  # None: an object-like macro
        self.body = body
        self.file = file
        self.line = line


class Header:
    """The facts about the header from the preprocessor: its path, the files it reads, its
    macros."""

    def __init__(self):
        self.path = ""
        self.files = []
        self.macros = {}


def run_clang(command, text):
    """Standard output; WrapError with the compiler's first error."""
    try:
        done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise WrapError("%s: %s" % (command[0], error.strerror)) from error
    if done.returncode != 0:
        raise WrapError(clang_ast.first_error(done.stderr.decode(errors="replace")))
    return done.stdout.decode(errors="surrogateescape")


def unescape(text):
    """A file name of a line marker: clang writes bytes that are not ASCII as octal numbers."""
    data = re.sub(rb"\\([0-7]{3}|.)", lambda m: bytes([int(m.group(1), 8)])
                  if len(m.group(1)) == 3 else m.group(1), text.encode(errors="surrogateescape"))
    return data.decode(errors="surrogateescape")


def preprocess(clang, flags, include):
    """The Header."""
    output = run_clang([clang, "-x", "c", "-E", "-dD", "-w", *flags, "-"], include)
    header = Header()
    file, line, seen = "", 0, set()
    for text in output.split("\n"):
        marker = re.match(r'# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)', text)
        if marker:
            file = unescape(marker.group(2))
            line = int(marker.group(1))
            if not file.startswith("<"):
                if not header.path:
                    header.path = file
                if file not in seen:
                    seen.add(file)
                    header.files.append(file)
            continue
        define = re.match(r"#define (%s)(\([^)]*\))?(?: (.*))?$" % WORD, text)
        if define:
            header.macros[define.group(1)] = Macro(define.group(1), define.group(2),
                                                   define.group(3) or "", file, line)
        undefine = re.match(r"#undef (%s)$" % WORD, text)
        if undefine:
            header.macros.pop(undefine.group(1), None)
        line += 1
    return header


def expand_macros(clang, flags, include, macros):
    """{identifier: [macro, ...]}: the object-like macros that expand to one identifier."""
    names = [m.name for m in macros.values() if m.parameters is None and re.search(WORD, m.body)]
    probe = "".join("stint_probe_%d %s\n" % item for item in enumerate(names))
    output = run_clang([clang, "-x", "c", "-E", "-P", "-w", *flags, "-"], include + probe)
    written = {}
    for number, real in re.findall(r"^stint_probe_(\d+) (%s) *$" % WORD, output, re.M):
        name = names[int(number)]
        if name != real:
            written.setdefault(real, []).append(name)
    return written


class Candidate:
    """A function of the header, all of its declarations together."""

    def __init__(self, function):
        self.name = function.name
        self.symbol = function.mangled.lstrip("\1")
        self.type = function.type
        self.parameters = [parameter.type for parameter in function.parameters]
        self.names = [parameter.name for parameter in function.parameters]
        self.file = ""
        self.line = 0
        self.variadic = function.variadic
        self.local = False
        self.attributes = set()
        self.shown = function.name  # the name of its site
        self.reason = ""
        self.notes = []

    def add(self, function):
        """One more declaration. The first that says where it is gives the line."""
        if function.place and not self.line:
            self.file = function.place.file
            self.line = function.place.line()
        if function.type.endswith("()") and self.parameters:
            pass  # a declaration without parameters adds nothing to one with them
        elif not function.implicit:
            self.type = function.type
            self.parameters = [parameter.type for parameter in function.parameters]
            self.names = [parameter.name for parameter in function.parameters]
        self.symbol = function.mangled.lstrip("\1")
        self.local = self.local or function.storage == "static" or function.inline or \
            function.body is not None
        self.attributes.update(function.attributes)

    def as_dict(self):
        return {"name": self.shown, "function": self.name, "symbol": self.symbol,
                "file": self.file, "line": self.line, "reason": self.reason, "notes": self.notes}


def read_functions(clang, flags, include):
    """{name: Candidate} of everything the header and what it includes declare."""
    functions = {}
    with tempfile.TemporaryDirectory() as folder:
        stub = os.path.join(folder, "stub.c")
        with open(stub, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(include)
        with clang_ast.dump(clang, ["-x", "c", *flags, stub]) as nodes:
            for node in nodes:
                if node.kind != "FunctionDecl":
                    continue
                for function in clang_ast.functions(node):
                    if function.name not in functions:
                        functions[function.name] = Candidate(function)
                    functions[function.name].add(function)
    return functions


# ---- Which functions.

def glob_wants(globs, names):
    """The last glob that matches one of the names decides; one that begins with - excludes."""
    for glob in reversed(globs):
        exclude = glob.startswith("-")
        if any(fnmatch.fnmatchcase(name, glob[1:] if exclude else glob) for name in names):
            return not exclude
    return False


def type_unnamed(candidate):
    return any("(unnamed" in text or "(anonymous" in text
               for text in [candidate.type, *candidate.parameters])


def why_not(candidate, reserved):
    """The reason for which a function is not wrapped, or ""."""
    if candidate.name in BUILTIN_ONLY:
        return "only the compiler's built-in function exists"
    if candidate.local:
        return "defined in the header (inline or static): there is no symbol to replace"
    if candidate.variadic:
        return "variable arguments cannot be passed on"
    if candidate.type.endswith("()"):
        return "declared without a prototype: its parameters are not known"
    if "noreturn" in candidate.type or candidate.attributes & {"NoReturn", "C11NoReturn",
                                                               "CXX11NoReturn"}:
        return "does not return"
    if "ReturnsTwice" in candidate.attributes:
        return "returns twice"
    if candidate.name in USES_CALLER:
        return "acts on the function that calls it"
    if CONVENTION.search(candidate.type):
        return "another calling convention"
    if type_unnamed(candidate):
        return "a parameter has a type without a name"
    if candidate.symbol in reserved:
        return "the timers themselves call it"
    return ""


def macro_reason(macro, functions):
    called = [word for word in re.findall(r"\b(%s)\s*\(" % WORD, macro.body) if word in functions]
    if called:
        return "a function-like macro; it calls " + ", ".join(dict.fromkeys(called))
    return "a function-like macro"


def macro_candidate(macro, functions):
    """A function-like macro, for the list alone."""
    return {"name": macro.name, "function": macro.name, "symbol": "", "file": macro.file,
            "line": macro.line, "reason": macro_reason(macro, functions), "notes": []}


def note_calls(candidate, macros):
    """Calls that no wrapper sees, as far as the header tells."""
    macro = macros.get(candidate.name)
    if macro and macro.parameters is not None:
        candidate.notes.append("calls through the macro of the same name (%s:%d) may be inline"
                               % (macro.file, macro.line))
    if "Builtin" in candidate.attributes:
        candidate.notes.append("the compiler may replace calls by code of its own")


def choose_functions(header, functions, written, globs, included, reserved):
    """The candidates that match, and the function-like macros that do."""
    chosen, macros, elsewhere = [], [], []
    for candidate in functions.values():
        names = written.get(candidate.name, [])
        if not candidate.line or not glob_wants(globs, [candidate.name, *names]):
            continue
        if not included and candidate.file != header.path:
            elsewhere.append(candidate)
            continue
        if len(names) == 1 and (names[0] in candidate.name or glob_wants(globs, names)):
            candidate.shown = names[0]  # get of get_v2, but not MPIO_Wait of MPI_Wait for MPI_*
        candidate.reason = why_not(candidate, reserved)
        note_calls(candidate, header.macros)
        chosen.append(candidate)
    for macro in header.macros.values():
        if macro.parameters is None or macro.name in functions or macro.file.startswith("<"):
            continue
        if (included or macro.file == header.path) and glob_wants(globs, [macro.name]):
            macros.append(macro_candidate(macro, functions))
    check_globs(header, chosen, macros, elsewhere, written, globs)
    chosen.sort(key=lambda c: (c.file, c.line, c.name))
    macros.sort(key=lambda m: (m["file"], m["line"], m["name"]))
    return chosen, macros


def check_globs(header, chosen, macros, elsewhere, written, globs):
    """Each glob that includes has to match a function."""
    for glob in globs:
        if glob.startswith("-"):
            continue
        found = [c for c in chosen if glob_wants([glob], [c.name, *written.get(c.name, [])])]
        if found or any(glob_wants([glob], [macro["name"]]) for macro in macros):
            continue
        there = [c for c in elsewhere if glob_wants([glob], [c.name, *written.get(c.name, [])])]
        hint = ""
        if there:
            hint = "; %s:%d declares %s: add INCLUDED" % (there[0].file, there[0].line,
                                                          there[0].name)
        raise WrapError("%s: no function matches '%s'%s" % (header.path, glob, hint))
