# SPDX-License-Identifier: Apache-2.0
"""Writes timed wrappers for the functions of a C header; stint_wrap of CMake calls it.

    wrap.py generate --header H --function GLOB... --clang CLANG --flags FILE --out BASE
                     [--set NAME] [--preload] [--included] [--reserved LIBRARY --nm NM]
                     [--adapter NAME]
                     [--depfile FILE --depfile-target NAME]
    wrap.py link --out BASE --nm NM --objects FILE [--archive FILE...]

`generate` has clang read the header and writes BASE.c, the wrappers, and BASE.json, what is known
of each function that matches. With --preload also BASE.txt, the list for the user.

`link` runs before the program is linked. It looks up in the symbol tables of the objects which of
the functions they call, and writes BASE.rsp, options for the linker, and BASE.txt. A function that
no object calls is not wrapped: the library may lack it although the header declares it, and the
wrapper would be an undefined reference. Its wrapper is left in place, unused, and its reference
resolved to itself.

An adapter is a module wrap_NAME, beside this file, that knows a certain header: it has a default
set, a file of C for the wrappers, and says for each function of which set and role its scope is, and
which statements are around the call.

The names in the tree of clang are the real ones, so that macros (`#define cuMemAlloc
cuMemAlloc_v2`) and asm labels are resolved. A glob matches the real name, and each macro that is
replaced by it.
"""

import argparse
import fnmatch
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import clang_ast
import compile_flags
import output_file

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
        if len(names) == 1:
            candidate.shown = names[0]
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


# ---- The code.

def c_string(text):
    return '"%s"' % "".join(c if c.isprintable() and c not in '"\\' and ord(c) < 128
                            else "".join("\\%03o" % b for b in c.encode(errors="surrogateescape"))
                            for c in text)


def c_path(text):
    """A file name as #line takes it, which knows no octal escapes."""
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def c_type(text):
    """A type as clang writes it, as a type specifier that may stand before any name."""
    text = re.sub(r"\brestrict\b", "__restrict", text)
    text = re.sub(r"\b_Noreturn\b", "", text)
    if re.search(r"\bstruct __va_list_tag \*", text):
        return "__builtin_va_list"
    if re.search(r"\[[^\]\d]", text):
        return "void *"  # to an array of variable length, which names another parameter
    text = re.sub(r"\bbool\b", "_Bool", text)
    if re.search(r"[(\[]", text):
        return "__typeof__(%s)" % text
    return text


def result_type(candidate):
    """The type it returns. Where the text would have to be parsed, the compiler says it: the
    type of a call with arguments that are never evaluated."""
    end = closing_start(candidate.type)
    head = candidate.type[:end].strip()
    if head and not re.search(r"[(\[]", head) and end == candidate.type.find("("):
        return c_type(head)
    arguments = ", ".join("*(__typeof__(%s) *)0" % c_type(text) for text in candidate.parameters)
    return "__typeof__((%s)(%s))" % (candidate.name, arguments)


def closing_start(text):
    """The place of the parenthesis that the last one closes."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    return 0


HEAD = """\
/* Written by stint_wrap from %s; changes are lost. */
#ifndef WITH_TIMER
#define WITH_TIMER 1
#endif
%s%s#if !defined(__STDC_VERSION__) && !defined(inline)
#define inline __inline__
#endif
#include <stint/stint.h>
"""

SET = """
/* The set is created at the first call, in whatever thread. */
static stint_set *stint_wrap_set(void) {
    static stint_set *known;
    stint_set *set = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!set) {
        set = stint_set_get(%s);
        __atomic_store_n(&known, set, __ATOMIC_RELAXED);
    }
    return set;
}
"""

# A library that was loaded with RTLD_LOCAL is not behind this one in the order of symbols: it is
# searched for among those that are loaded. (The caller could not tell: a tail call hides it.)
NEXT = """
#ifndef STINT_WRAP_FOUND
#define STINT_WRAP_FOUND(name, function)
#endif

struct stint_wrap_search {
    const char *name;
    const void *base; /* of this library */
    void *found;
};

/* Searches one loaded library and those that it depends on. */
static int stint_wrap_try(struct dl_phdr_info *info, size_t size, void *data) {
    struct stint_wrap_search *search = data;
    void *module = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    Dl_info to;
    (void)size;
    if (module) {
        void *found = dlsym(module, search->name);
        if (found && dladdr(found, &to) && to.dli_fbase != search->base) {
            search->found = found;
        }
        dlclose(module);
    }
    return search->found != NULL;
}

/* The function that the caller would have reached. Without one the dynamic linker would have ended
 * the program, in the same way. */
static void *stint_wrap_find(const char *name) {
    int kept = errno;
    struct stint_wrap_search search = {name, NULL, dlsym(RTLD_NEXT, name)};
    Dl_info own;
    if (!search.found && dladdr((void *)stint_wrap_find, &own)) {
        search.base = own.dli_fbase;
        dl_iterate_phdr(stint_wrap_try, &search);
    }
    if (!search.found) {
        fprintf(stderr, "stint: preloaded timers: no library defines %s\\n", name);
        _exit(127);
    }
    STINT_WRAP_FOUND(name, search.found);
    errno = kept;
    return search.found;
}
"""


def write_declarations(out, candidate, result, types, preload):
    """Writes the declarations of the wrapper and of the function that it calls."""
    name = candidate.name
    symbol = candidate.symbol if preload else "__wrap_" + candidate.symbol
    visibility = "default" if preload else "hidden"
    named = ", ".join("%s stint_arg%d" % (text, n) for n, text in enumerate(types)) or "void"
    out.append("")
    if not preload:
        out.append("extern %s real_%s(%s) __asm__(%s);"
                   % (result, name, ", ".join(types) or "void",
                      c_string("__real_" + candidate.symbol)))
    attributes = '__attribute__((used, no_instrument_function, visibility("%s")))' % visibility
    out.append("%s stint_wrap_%s(%s) __asm__(%s) %s;"
               % (result, name, named, c_string(symbol), attributes))
    out.append("%s stint_wrap_%s(%s) {" % (result, name, named))


def write_lookup(out, candidate, result, types):
    """Writes the lookup of the function that a preloaded wrapper calls."""
    name = candidate.name
    out.append("    typedef %s function(%s);" % (result, ", ".join(types) or "void"))
    out.append("    static function *known;")
    out.append("    function *real_%s = __atomic_load_n(&known, __ATOMIC_RELAXED);" % name)
    out.append("    if (!real_%s) {" % name)
    out.append("        real_%s = (function *)stint_wrap_find(%s);"
               % (name, c_string(candidate.symbol)))
    out.append("        __atomic_store_n(&known, real_%s, __ATOMIC_RELAXED);" % name)
    out.append("    }")


def scope_of(candidate, with_set, adapter):
    """The statement that opens the scope; those before it, after it, and after the call."""
    name = c_string(candidate.shown)
    if not adapter:
        return "STINT_TIMER(%s%s);" % (name, ", -1, stint_wrap_set()" if with_set else ""), \
            [], [], []
    own_set, role, before, inside, after = \
        adapter.scope(candidate.name, candidate.parameters, candidate.names)
    return "STINT_IMPL_SCOPE(%s, STINT_LEVEL_DEFAULT, %s, %s);" % (name, role, own_set), \
        before, inside, after


def write_function(out, candidate, with_set, preload, adapter):
    result = result_type(candidate)
    types = [c_type(text) for text in candidate.parameters]
    timer, before, inside, after = scope_of(candidate, with_set, adapter)
    call = "real_%s(%s);" % (candidate.name,
                             ", ".join("stint_arg%d" % n for n in range(len(types))))
    write_declarations(out, candidate, result, types, preload)
    if preload:
        write_lookup(out, candidate, result, types)
    out.extend("    " + line for line in before)
    out.append("#line %d %s" % (candidate.line, c_path(candidate.file)))
    out.append("    " + timer)
    out.extend("    " + line for line in inside)
    if after:
        out.append("    %s stint_result = %s" % (result, call))
        out.extend("    " + line for line in after)
        call = "stint_result;"
    out.append("    %s%s" % ("" if result == "void" else "return ", call))
    out.append("}")


def adapter_text(adapter, set_name, preload):
    """The text that includes the functions that the wrappers call, by its path: it lies beside this
    file."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), adapter.HEADER)
    text = "#define STINT_WRAP_SET %s\n" % c_string(set_name or adapter.DEFAULT_SET)
    if preload:
        text += "#define STINT_WRAP_PRELOAD 1\n"
    return text + "#include %s" % c_path(path)


def write_code(include, header, chosen, set_name, preload, adapter=None):
    system = ""
    if preload:
        # Macros of these that the user's header tests are set by the target's own definitions.
        system = ("#ifndef _GNU_SOURCE\n#define _GNU_SOURCE 1\n#endif\n#include <dlfcn.h>\n"
                  "#include <errno.h>\n#include <link.h>\n#include <stdio.h>\n"
                  "#include <unistd.h>\n")
    out = [(HEAD % (os.path.basename(header.path), include, system)).rstrip("\n")]
    if preload:
        # <dlfcn.h> is of use with _GNU_SOURCE only if nothing was included before it.
        out = [(HEAD % (os.path.basename(header.path), system, include)).rstrip("\n")]
    if adapter:
        out.append(adapter_text(adapter, set_name, preload))
    elif set_name and chosen:
        out.append((SET % c_string(set_name)).rstrip("\n"))
    if preload and chosen:
        out.append(NEXT.rstrip("\n"))
    for candidate in chosen:
        write_function(out, candidate, bool(set_name), preload, adapter)
    return "\n".join(out) + "\n"


# ---- The list for the user.

def list_line(word, item, text=""):
    place = "%s:%d" % (item["file"], item["line"])
    name = item["name"]
    if item["symbol"] and item["symbol"] != name:
        name += " (%s)" % item["symbol"]
    return ("%-9s %-32s %-32s %s" % (word, name, place, text)).rstrip()


def write_list(facts, calls):
    """calls: {symbol: (objects that call it, objects that define it)}, None for a preload
    library, whose callers are not known."""
    timed, unused, lines = 0, 0, []
    for item in facts["functions"]:
        callers, definers = (["?"], []) if calls is None else calls.get(item["symbol"], ([], []))
        if item["reason"]:
            lines.append(list_line("not timed", item, item["reason"]))
            continue
        for note in item["notes"]:
            lines.append(list_line("not seen", item, note))
        for definer in definers:
            lines.append(list_line("not seen", item, "calls inside %s, which defines it" % definer))
        if definers and facts.get("lto"):
            lines.append(list_line("not seen", item, "the target defines it and is compiled with "
                                   "-flto: its calls may be resolved before --wrap is applied"))
        if callers:
            timed += 1
            lines.append(list_line("timed", item))
        else:
            unused += 1
            lines.append(list_line("not called", item, "no object of the target refers to it"))
    head = "%s: %d timed" % (facts["header"], timed)
    if calls is not None:
        head += ", %d not called" % unused
    head += ", %d not timed" % sum(1 for item in facts["functions"] if item["reason"])
    tail = ("Calls inside a shared library are not seen." if calls is not None else
            "Calls that a library makes to itself without its PLT are not seen.")
    return "\n".join([head, *lines, tail]) + "\n", head


# ---- Symbols.

def read_symbols(nm, path, dynamic=False):
    """The undefined and the defined names of an object, an archive or (dynamic) a library."""
    command = [nm, "-P", *(["-D"] if dynamic else []), path]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise WrapError("%s: %s" % (nm, error.strerror)) from error
    if done.returncode != 0:
        raise WrapError("%s: %s" % (nm, clang_ast.first_error(done.stderr.decode())))
    undefined, defined = set(), set()
    for line in done.stdout.decode(errors="replace").splitlines():
        words = line.split()
        if len(words) < 2 or len(words[1]) != 1:
            continue
        name = words[0].split("@")[0]
        if words[1] in "Uwv":
            undefined.add(name)
        elif words[1].isupper():
            defined.add(name)
    return undefined, defined


def is_lto(path):
    """An object with gcc's intermediate code: calls between such objects are no longer symbols when
    the linker looks at them."""
    with open(path, "rb") as file:
        return b".gnu.lto_" in file.read()


# ---- Commands.

def write_text(path, text):
    output_file.write_if_changed(path, text.encode(errors="surrogateescape"))


def write_depfile(path, target, files):
    def escape(text):
        return text.replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
    absolute = [os.path.abspath(file) for file in files]
    text = "%s: \\\n  %s\n" % (escape(target), " \\\n  ".join(escape(file) for file in absolute))
    write_text(path, text)


def find_adapter(name):
    """The module wrap_NAME, or None without a name."""
    if not name:
        return None
    if not re.fullmatch(r"[a-z]+", name) or not os.path.exists(
            os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrap_%s.py" % name)):
        raise WrapError("unknown adapter '%s'; there is: mpi" % name)
    return importlib.import_module("wrap_" + name)


def generate(args):
    if os.path.isabs(args.header):
        include = "#include %s\n" % c_path(args.header)
    else:
        include = "#include <%s>\n" % args.header
    flags = compile_flags.read_flags(args.flags) if args.flags else []
    reserved = set()
    if args.reserved:
        is_archive = args.reserved.endswith(".a")
        reserved = read_symbols(args.nm, args.reserved, dynamic=not is_archive)[0]
    clang = args.clang or clang_ast.find_clang()
    header = preprocess(clang, flags, include)
    written = expand_macros(clang, flags, include, header.macros)
    functions = read_functions(clang, flags, include)
    chosen, macros = choose_functions(header, functions, written, args.function, args.included,
                                      reserved)
    wrapped = [candidate for candidate in chosen if not candidate.reason]
    facts = {"header": header.path, "set": args.set, "preload": args.preload,
             "functions": [candidate.as_dict() for candidate in chosen] + macros}
    write_text(args.out + ".c",
                     write_code(include, header, wrapped, args.set, args.preload,
                                find_adapter(args.adapter)))
    write_text(args.out + ".json", json.dumps(facts, indent=1) + "\n")
    if args.preload:
        text, head = write_list(facts, None)
        write_text(args.out + ".txt", text)
        print("stint_wrap: %s (%s.txt)" % (head, args.out))
    if args.depfile:
        write_depfile(args.depfile, args.depfile_target or args.out + ".c", header.files)


def link(args):
    with open(args.out + ".json", encoding="utf-8") as file:
        facts = json.load(file)
    with open(args.objects, encoding="utf-8") as file:
        objects = [line for line in file.read().splitlines() if line]
    own = os.path.basename(args.out) + ".c"
    facts["lto"] = any(is_lto(path) for path in objects)
    calls = {}
    for path in objects + args.archive:
        if os.path.basename(path).startswith(own + "."):
            continue  # the wrappers' own object
        undefined, defined = read_symbols(args.nm, path)
        for item in facts["functions"]:
            entry = calls.setdefault(item["symbol"], ([], []))
            if item["symbol"] in undefined:
                entry[0].append(os.path.basename(path))
            if item["symbol"] in defined:
                entry[1].append(os.path.basename(path))
    options = []
    for item in facts["functions"]:
        if item["reason"]:
            continue
        symbol = item["symbol"]
        if calls[symbol][0]:
            options.append("-Wl,--wrap=" + symbol)
        else:
            options.append("-Wl,--defsym=__real_%s=__wrap_%s" % (symbol, symbol))
    write_text(args.out + ".rsp", "\n".join(options) + "\n")
    text, head = write_list(facts, calls)
    write_text(args.out + ".txt", text)
    print("stint_wrap: %s (%s.txt)" % (head, args.out))


def main(argv):
    parser = argparse.ArgumentParser(prog="wrap.py", description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("generate")
    one.add_argument("--header", required=True)
    one.add_argument("--function", action="append", default=[], required=True)
    for name in ("clang", "flags", "reserved", "nm", "depfile", "depfile-target", "set", "adapter"):
        one.add_argument("--" + name, default="")
    one.add_argument("--preload", action="store_true")
    one.add_argument("--included", action="store_true")
    two = commands.add_parser("link")
    two.add_argument("--nm", required=True)
    two.add_argument("--objects", required=True)
    two.add_argument("--archive", action="append", default=[])
    for command in (one, two):
        command.add_argument("--out", required=True)
    args = parser.parse_args(argv)
    try:
        if args.command == "generate":
            generate(args)
        else:
            link(args)
    except (WrapError, clang_ast.AstError) as error:
        print("stint_wrap: %s" % error, file=sys.stderr)
        return 1
    except OSError as error:
        print("stint_wrap: %s: %s" % (error.filename, error.strerror), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
