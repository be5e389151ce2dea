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
set, a file of C for the wrappers, and says for each function the statement that opens its scope, and
which statements are around the call. It may write wrappers of more functions to be preloaded.

header_functions.py reads the header and chooses the functions; the code, the list and the commands
are here.
"""

import argparse
import importlib
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import clang_ast
import compile_flags
import header_functions
import output_file
from header_functions import WrapError

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
    return adapter.scope(name, candidate.name, candidate.parameters, candidate.names)


def place_of(candidate):
    return "#line %d %s" % (candidate.line, c_path(candidate.file))


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
    out.append(place_of(candidate))
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
    if adapter and preload:
        adapter.write_more(out, header, chosen, lambda c: scope_of(c, False, adapter), place_of)
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
    header = header_functions.preprocess(clang, flags, include)
    written = header_functions.expand_macros(clang, flags, include, header.macros)
    functions = header_functions.read_functions(clang, flags, include)
    chosen, macros = header_functions.choose_functions(header, functions, written, args.function,
                                                       args.included, reserved)
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
