#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes two files of the library: stint.h, the public header with all that it includes, and stint.c,
the runtime. A project that has both in its sources needs no build of stint.

    python3 gen/amalgamate.py FOLDER [--without FILE.c]...

writes FOLDER/stint.h and FOLDER/stint.c. --without leaves files of the runtime out, for tests that
bring their own and call what is internal by its short name.

The files stay as they are but for these changes:
- An #include of a file of the project becomes the file, where it is first needed.
- The headers of the C library come first in stint.c, because what follows has hidden visibility.
- A macro that a .c file defines ends with that file.
- SPDX lines are written once.
- Global names get a prefix (link_names.py), for the program that stint.c is a part of.
Names at file scope are unique in the library (structure.file_names), so no more is renamed.
"""

import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True

import gen
import link_names
import table

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'#[ \t]*include[ \t]+(?:<(?P<system>[^>]+)>|"(?P<own>[^"]+)")')
DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b")
GUARD = 0  # in the stack of conditions: an include guard
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"

# Compiled under a condition.
CONDITIONS = {
    "gpu/gpu_cudart.c": "defined(STINT_HAVE_CUDART)",
    "gpu/gpu_driver.c": "!defined(STINT_HAVE_CUDART)",
    "emit/emit_nvtx.c": "defined(STINT_HAVE_NVTX)",
}

HEADER_TOP = SPDX + """/*
 * stint %(version)s in two files, this one and stint.c; made by `./dev amalgamate` from the headers
 * in include/stint. The documentation is in the source tree's docs/.
 */
"""

SOURCE_TOP = SPDX + """/*
 * stint %(version)s in two files, stint.h and this one; made by `./dev amalgamate` from runtime/.
 *
 * Compile it as C11 with optimisation, and link with -pthread and -ldl:
 *     cc -std=c11 -O2 -c stint.c
 * It may be compiled without -DWITH_TIMER and -DWITH_PROFILER, which are for the files that include
 * stint.h. Options:
 *   -DSTINT_SHARED       this file becomes, or is a part of, a shared library that other modules
 *                        record with: the functions are exported. Otherwise they are visible only
 *                        in the program or library that is linked from this file.
 *   -DSTINT_HAVE_NVTX    NVTX ranges; needs nvtx3/nvToolsExt.h
 *   -DSTINT_HAVE_CUDART  GPU calls go to the CUDA runtime library, which is then linked with
 *                        -lcudart, instead of the driver, which is loaded when the first is made
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#define STINT_SESSION
#if !defined(STINT_SHARED) && !defined(STINT_STATIC)
#define STINT_STATIC
#endif
#define STINT_INLINE 1 /* no local copy of the inline path */
"""

SOURCE_HIDDEN = """
/* Some inline functions are for the tool alone, which is not in this file. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC visibility push(hidden)
"""

SOURCE_END = """
#pragma GCC visibility pop
"""


class Error(Exception):
    pass


def read_source(path):
    text = path.read_text(encoding="utf-8")
    if text.startswith(SPDX):
        text = text[len(SPDX):]
    return text


def guard_of(text):
    """The macro of a header's include guard, or None."""
    match = re.search(r"^#ifndef (\w+_H)\n#define (\w+_H)$", text, re.M)
    return match.group(1) if match and match.group(1) == match.group(2) else None


def generated_tables():
    """Name of a generated file -> its table, as the build has them."""
    text = (ROOT / "cmake/StintGen.cmake").read_text(encoding="utf-8")
    rules = re.findall(r"stint_generate_one\(stamps (\w+\.ini) ([\w.]+)", text)
    return {output: ini for ini, output in rules}


class Expander:
    """Replaces the includes of a text by the files. `folders` are searched after the including file's
    own; a file whose include guard is known to be defined is not inserted again."""

    def __init__(self, folders, tables, public):
        self.folders = folders
        self.tables = tables
        self.public = public  # None, or what an include of a public header becomes
        self.inserted = {}  # path -> the conditions under which it was inserted
        self.conditions = []  # the open #if groups, each with the number of its branch
        self.number = 0
        self.system = []  # headers of the C library that are included unconditionally
        self.hoist = public is not None
        self.in_header = set()  # the files that are in stint.h

    def find(self, name, includer):
        for folder in [includer.parent] + self.folders:
            if (folder / name).is_file():
                return (folder / name).resolve()
        return None

    def expand(self, path):
        return self.expand_text(read_source(path), path)

    def expand_text(self, text, path):
        out = []
        guard = guard_of(text) if path.suffix == ".h" else None
        depth = len(self.conditions)
        comment = False
        for line in text.splitlines(keepends=True):
            if not comment:
                self.follow(line, guard, depth)
                match = INCLUDE.match(line)
                if match:
                    line = self.replace(match, line, path)
            comment = inside_comment(line, comment)
            out.append(line)
        if len(self.conditions) != depth:
            raise Error("%s: #if and #endif do not match" % path)
        return "".join(out)

    def follow(self, line, guard, depth):
        """Keeps the stack of conditions; an include guard is not a condition."""
        match = DIRECTIVE.match(line)
        if not match:
            return
        kind = match.group(1)
        if kind == "ifndef" and len(self.conditions) == depth and line.split()[-1] == guard:
            self.conditions.append(GUARD)
        elif kind in ("if", "ifdef", "ifndef"):
            self.open_condition()
        elif kind == "endif":
            self.conditions.pop()
        else:
            self.number += 1
            self.conditions[-1] = self.number

    def open_condition(self):
        self.number += 1
        self.conditions.append(self.number)

    def open_conditions(self):
        return [number for number in self.conditions if number != GUARD]

    def is_present(self, path):
        """Whether the file has been inserted wherever this place is compiled."""
        now = self.open_conditions()
        return any(now[:len(before)] == before for before in self.inserted.get(path, []))

    def replace(self, match, line, path):
        if match["system"]:
            if not self.hoist or self.open_conditions():
                return self.visible(line) if self.hoist else line
            if match["system"] not in self.system:
                self.system.append(match["system"])
            return ""
        name = match["own"]
        if self.public is not None and self.find(name, path) in self.in_header:
            return self.public.pop(0) if self.public else ""
        if name in self.tables and not self.find(name, path):
            return gen.OUTPUTS[name](str(ROOT / "gen" / self.tables[name]))
        found = self.find(name, path)
        if not found:
            raise Error('%s: includes "%s", which is not found' % (path, name))
        text = read_source(found)
        if guard_of(text):
            if self.is_present(found):
                return ""
            self.inserted.setdefault(found, []).append(self.open_conditions())
        return "\n" + self.expand_text(text, found)

    def visible(self, line):
        return ("#pragma GCC visibility push(default)\n" + line +
                "#pragma GCC visibility pop\n")


def inside_comment(line, inside):
    """Whether a comment is open after the line. Literals with the marks in them do not occur in lines
    that matter: the directives."""
    at = 0
    while True:
        mark = "*/" if inside else "/*"
        at = line.find(mark, at)
        if at < 0:
            return inside
        inside = not inside
        at += 2


def undefine_macros(text):
    """The lines that end the macros of a .c file. Feature macros that it reads stay."""
    names = []
    for name in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M):
        if name not in names:
            names.append(name)
    return "".join("#undef %s\n" % name for name in names)


def tidy(text):
    """At most one empty line in a row."""
    return re.sub(r"\n{3,}", "\n\n", text)


def version_of():
    text = (ROOT / "include/stint/stint.h").read_text(encoding="utf-8")
    parts = re.findall(r"^#define STINT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text, re.M)
    return ".".join(parts)


def make_header():
    expander = Expander([ROOT / "include"], {}, None)
    body = expander.expand(ROOT / "include/stint/stint.h")
    # Compilers leave out their warnings from that pragma to the end of the file.
    unwarned = body.split("#pragma GCC system_header", 1)[1]
    guard = read_source(ROOT / "include/stint/detail/impl_guard.h")
    own = guard.split("#pragma GCC system_header", 1)[1]
    rest = unwarned.partition(own)[2]
    if re.search(r"^[^#}\n]", rest, re.M):
        raise Error("impl_guard.h must be the last part of stint.h, but for directives and braces")
    files = set(expander.inserted) | {ROOT / "include/stint/stint.h"}
    return tidy(HEADER_TOP % {"version": version_of()} + body), files


def make_source(without, in_header):
    folders = [ROOT / "runtime", ROOT / "include"]
    top = Expander(folders, {}, ['#include "stint.h"\n'])
    top.in_header = in_header
    api = ROOT / "runtime/base/api.h"
    parts = [top.expand(api)]
    expander = Expander(folders, generated_tables(), [])
    expander.in_header = in_header
    for path in [api, *top.inserted]:
        expander.inserted[path] = [[]]
    for layer in link_names.layers():
        for path in sorted((ROOT / "runtime" / layer).glob("*.c")):
            if path.name not in without:
                parts.append(make_part(expander, "%s/%s" % (layer, path.name), path))
    system = "".join("#include <%s>\n" % name for name in sorted(expander.system))
    text = "".join(parts).replace("#pragma GCC system_header\n", "") # for headers alone
    names = "" if without else link_names.render() + "\n"
    return tidy(SOURCE_TOP % {"version": version_of()} + "\n" + system + SOURCE_HIDDEN + names +
                text + SOURCE_END)


def make_part(expander, name, path):
    condition = CONDITIONS.get(name)
    if condition:
        expander.open_condition()
    text = expander.expand(path) + undefine_macros(read_source(path))
    if condition:
        expander.conditions.pop()
        text = "#if %s\n%s#endif\n" % (condition, text)
    return "\n/* ---- runtime/%s %s */\n\n%s" % (name, "-" * max(0, 80 - len(name)), text)


def main(argv):
    parser = argparse.ArgumentParser(description="Makes stint.h and stint.c of the library.")
    parser.add_argument("folder", type=pathlib.Path, help="where to write them")
    parser.add_argument("--without", action="append", default=[], metavar="FILE.c",
                        help="a file of the runtime to leave out")
    options = parser.parse_args(argv)
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
        header, in_header = make_header()
        source = make_source(options.without, in_header)
        for name, text in (("stint.h", header), ("stint.c", source)):
            gen.write_if_changed(str(options.folder / name), text.encode("utf-8"))
    except (Error, table.TableError) as error:
        print("amalgamate: %s" % error, file=sys.stderr)
        return 1
    except OSError as error:
        print("amalgamate: %s: %s" % (error.filename, error.strerror), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
