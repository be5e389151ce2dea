#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the public macros the way users write them. One call is one cell, one CTest entry:

    compile.py matrix   --cc CC --std STD --timers on|off   every form, all warnings are errors
    compile.py mustfail --cc CC --std STD                   what must not compile, and what it says
    compile.py identity --cc CC --std STD                   off: the object of the blanked source
    compile.py layout   --cc CC --std STD                   public types: the same on and off
    compile.py coverage                                     every public macro is in the forms

CC is gcc, g++, clang, clang++ or nvcc. Exit status 77: no such compiler, or it does not know STD.
"""
import argparse
import configparser
import pathlib
import re
import subprocess
import sys
import tempfile

import mustfail

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include"
SKIP = 77

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
# Not pedantic: the line markers nvcc gives its host compiler warn there.
NVCC_WARNINGS = ["-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror"]
ON = ["-DWITH_TIMER", "-DWITH_PROFILER"]

# Functions that the forms call when they are on. Objects that are off have none of them.
ENTRIES = [b"stint_impl_" + entry for entry in (
    b"begin_", b"end_", b"begin_since", b"begin_dynamic", b"begin_under", b"handle_begin", b"handle_end",
    b"capture_begin", b"capture_end", b"capture_start", b"capture_stop",
    b"profiler_begin", b"profiler_end")]

LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]

# The newest standards among the cells of `matrix` that are not labelled long.
INLINE_STANDARDS = ["c11", "c++20"]

# Off is nothing, with these exceptions, all of them in C++.
# clang++ names its personality routine in functions with an object of stint.hpp, which has a
# destructor; their code is the same.
WITHOUT_EXCEPTIONS = ("identity_calls_cxx.cpp", "clang++")
NOT_COMPARED = {
    # g++ -O0 keeps the landing pad of a temporary (std::string as an argument) that is never made.
    ("forms_cxx.cpp", "g++"): ["-O0"],
}
# A variable named only in a macro's argument is captured by [&] and [=] although the code is dead:
# the closure has a member more. Expected to differ, so that a cure shows.
DIFFERS = ["identity_capture.cpp"]


class Failed(Exception):
    """A cell that does not hold; the text says which part."""


class Compiler:
    def __init__(self, path, std):
        self.path = path
        self.std = std
        self.name = re.sub(r"[-0-9.]*$", "", pathlib.Path(path).name)
        self.nvcc = self.name == "nvcc"
        self.cxx = "++" in std
        self.language = "cu" if self.nvcc else "c++" if self.cxx else "c"

    def run(self, source, *flags, cwd=HERE, warnings=True):
        """Compiles; source is a path, or text that comes in by stdin."""
        command = [self.path, "-std=" + self.std, "-I", str(HERE), "-I", str(INCLUDE)]
        if warnings:
            command += NVCC_WARNINGS if self.nvcc else WARNINGS
        command += list(flags) + ["-x", self.language]
        text = None
        if isinstance(source, pathlib.Path):
            command.append(str(source))
        else:
            command.append("-")
            text = source
        done = subprocess.run(command, input=text, cwd=cwd, capture_output=True, text=True,
                              errors="replace", check=False)
        return done.returncode, done.stderr + done.stdout, " ".join(command)

    def must(self, source, *flags, **more):
        code, said, command = self.run(source, *flags, **more)
        if code != 0:
            raise Failed(f"{command}\n{said}")

    def usable(self, scratch):
        """Returns whether the compiler exists and knows the standard."""
        probe = scratch / ("probe.cu" if self.nvcc else "probe.c")
        probe.write_text("int probe(void);\n")
        try:
            return self.run(probe, "-c", "-o", str(scratch / "probe.o"), warnings=False)[0] == 0
        except OSError:
            return False


def forms(compiler):
    if compiler.nvcc:
        return ["forms_cuda.cu"]
    return ["forms.c", "forms_second.c"] + (["forms_cxx.cpp"] if compiler.cxx else [])


def compile_forms(compiler, scratch, *flags):
    # The inline path of the forms of C is compiled as C, and as C++ its syntax is checked.
    inline = compiler.cxx and not compiler.nvcc and "-DSTINT_INLINE=1" in flags
    objects = []
    for name in forms(compiler)[-1:] if inline else forms(compiler):
        out = scratch / (name + ".o")
        compiler.must(HERE / name, "-c", "-o", str(out), *flags)
        objects.append(out)
    return objects


def matrix_variants(compiler, on):
    """The flags of each compilation to an object. The inline path takes as long as all others, and
    its code does not depend on the standard: the other standards have its syntax only."""
    pic = ["-Xcompiler", "-fPIC"] if compiler.nvcc else ["-fPIC"]
    variants = [["-O0"], ["-O2", *pic]]
    if on and (compiler.nvcc or compiler.std in INLINE_STANDARDS):
        variants.append(["-O2", *pic, "-DSTINT_INLINE=1"])
    if compiler.cxx and not compiler.nvcc:
        variants.append(["-O0", "-fno-exceptions", "-fno-rtti"])
    return variants


def cell_matrix(compiler, scratch, options):
    on = options.timers == "on"
    for variant in matrix_variants(compiler, on):
        objects = compile_forms(compiler, scratch, *variant, *(ON if on else []))
        # The two units share a header: joined, nothing is defined twice.
        if not compiler.nvcc:
            joined = [compiler.path, "-nostdlib", "-r", "-o", str(scratch / "joined.o")]
            done = subprocess.run(joined + [str(o) for o in objects], capture_output=True,
                                  text=True, check=False)
            if done.returncode != 0:
                raise Failed(f"{variant}: {done.stderr}")
        code = b"".join(path.read_bytes() for path in objects)
        for name in ENTRIES if on else [b"stint_impl_"]:
            if (name in code) != on:
                raise Failed(f"{variant}: {name.decode()} is {'not ' if on else ''}used")
    if on and compiler.std not in INLINE_STANDARDS and not compiler.nvcc:
        for name in forms(compiler):
            compiler.must(HERE / name, "-fsyntax-only", "-DSTINT_INLINE=1", *ON)
    if not compiler.nvcc:
        (scratch / "forms_header.h").write_text(respell((HERE / "forms_header.h").read_text()))
        for name in forms(compiler):
            (scratch / name).write_text(respell((HERE / name).read_text()))
            compiler.must(scratch / name, "-fsyntax-only", *(ON if on else []))


def good_forms(compiler, cases, flags):
    """Compiles the good pieces together, one by one only if that fails."""
    if compiler.run("".join(c.source(c.good, f"good_{i}") for i, c in enumerate(cases)),
                    *flags)[0] == 0:
        return []
    said = [(c, compiler.run(c.source(c.good), *flags)) for c in cases]
    return [f"{c.body} with {c.good} {flags}: should compile\n{r[1]}" for c, r in said if r[0]]


def cell_mustfail(compiler, _, __):
    failed = []
    for switch in ("on", "off"):
        flags = ["-fsyntax-only"] + (ON if switch == "on" else [])
        cases = [c for c in mustfail.CASES
                 if switch in c.switches and not (c.only_cxx and not compiler.cxx)]
        failed += good_forms(compiler, cases, flags)
        for case in cases:
            code, said, _ = compiler.run(case.source(case.bad), *flags)
            if code == 0:
                failed.append(f"{case.body} with {case.bad}, {switch}: compiles")
            elif not re.search(case.says, said):
                failed.append(f"{case.body} with {case.bad}, {switch}: "
                              f"not /{case.says}/ in\n{said}")
        print(f"{len(cases)} cases with timers {switch}")
    if failed:
        raise Failed("\n".join(failed) + f"\n{len(failed)} failed")


# Files have to agree on a type: its layout, how it is passed, and what new[] puts before it.
LAYOUT = """#include <stdio.h>
#include <stint/stint.h>
#ifdef __cplusplus
#include <stint/stint.hpp>
#include <type_traits>
template <typename T, bool = std::is_class<T>::value> struct tail { T first; char last; };
template <typename T> struct tail<T, true> : T { char last; };
template <typename T> static void show(const char *name) {
    printf("%s %d %d %d %d%d%d%d%d\\n", name, int(sizeof(T)), int(alignof(T)),
           int(sizeof(tail<T>)), std::is_trivially_copyable<T>::value,
           std::is_trivially_destructible<T>::value, std::is_standard_layout<T>::value,
           std::is_nothrow_move_constructible<T>::value, std::is_nothrow_move_assignable<T>::value);
}
#define SHOW(T) show<T>(#T);
#else
#define SHOW(T) printf("%s %d\\n", #T, (int)sizeof(T));
#endif
int main(void) {
"""


def public_types(header):
    """The types that a header defines, and callbacks; those of the library are declared only."""
    text = (INCLUDE / "stint" / header).read_text()
    found = re.findall(r"(?m)^(?:typedef )?(?:struct|class|union|(enum)) (\w+)[^;()]*\{", text)
    found += re.findall(r"(?m)^typedef .*(\(\*)(\w+)\)\(", text)
    if len(found) < 6:
        raise Failed(f"{header} is not read as it is written")
    return ["enum " * (kind == "enum") + name for kind, name in found]


def cell_layout(compiler, scratch, _):
    types = public_types("stint.h")
    if compiler.cxx:
        types += ["stint::" + name for name in public_types("stint.hpp")]
    source = LAYOUT + "".join(f"    SHOW({t})\n" for t in types) + "    return 0;\n}\n"
    program, shown = scratch / "layout", []
    for flags in (ON, []):
        compiler.must(source, "-O1", "-o", str(program), *flags)
        shown.append(subprocess.check_output([str(program)], text=True).splitlines())
    if shown[0] != shown[1] or len(shown[0]) != len(types):
        raise Failed("on and off differ:\n" + "\n".join(sorted(set(shown[0]) ^ set(shown[1]))))


def read_names():
    """gen/names.ini: each macro without a prefix, and its name with one."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str
    parser.read(INCLUDE.parent / "gen" / "names.ini", encoding="ascii")
    return {old: parser[old]["name"] for old in parser.sections()}


NAMES = read_names()
MACRO = re.compile(r"(?<!\w)(?:%s)\s*\(" % "|".join(
    sorted([*NAMES, *NAMES.values()], key=len, reverse=True)))
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')


def spaces(text):
    return re.sub(r"[^\n]", " ", text)


def blank_macros(text):
    """The source with every macro call blanked, and its semicolon too where a statement ends
    before it; lines stay where they are."""
    out, position = [], 0
    match = MACRO.search(text)
    while match:
        end, depth = match.end(), 1
        while depth:
            literal = LITERAL.match(text, end)
            if literal:
                end = literal.end()
                continue
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if text[:match.start()].rstrip()[-1:] in (";", "{", "}") and text[end] == ";":
            end += 1
        out += [text[position:match.start()], spaces(text[match.start():end])]
        position = end
        match = MACRO.search(text, position)
    return "".join(out) + text[position:]


def respell(text):
    """The source with the prefixed macros in place of those without a prefix."""
    return re.sub(r"(?<!\w)(%s)(?=\s*\()" % "|".join(sorted(NAMES, key=len, reverse=True)),
                  lambda match: NAMES[match[1]], text)


def blank_marked(text):
    """The source with every line marked 'gone' blanked, the include line among them."""
    return re.sub(r"(?m)^.*/\* gone \*/$", "", text)


def objects(compiler, scratch, name, sources, flags):
    """The bytes of the object files of both sources, each compiled under the same path."""
    result = []
    for source in sources:
        for path, text in source.items():
            (scratch / path).write_text(text)
        compiler.must(pathlib.Path(name), "-w", "-c", "-o", "identity.o", *flags, cwd=scratch,
                      warnings=False)
        if "-g" in flags:
            subprocess.run(["strip", "-g", "identity.o"], cwd=scratch, check=True)
        result.append((scratch / "identity.o").read_bytes())
    return result


def cell_identity(compiler, scratch, _):
    """-g: the code is compared, not the line table (it names each statement, the nothing too) and
    not the checksum of the source in it."""
    common = [("forms.c", blank_macros, LEVELS), ("forms_second.c", blank_macros, LEVELS),
              ("identity.c", blank_marked, LEVELS),
              ("identity_calls.c", blank_marked, LEVELS[1:])]
    cxx = [("forms_cxx.cpp", blank_macros, LEVELS),
           ("identity_calls_cxx.cpp", blank_marked, LEVELS[1:]),
           ("identity_capture.cpp", blank_macros, LEVELS)]
    failed, compared = [], 0
    for name, blank, levels in common + (cxx if compiler.cxx else []):
        names = [name, "forms_header.h"]
        whole = {n: (HERE / n).read_text() for n in names}
        blanked = {n: blank(text) for n, text in whole.items()}
        if whole == blanked or MACRO.search(blanked[name]):
            failed.append(f"{name}: not blanked")
        for flags in [[level] for level in levels] + [["-O2", "-g"]]:
            if flags[0] in NOT_COMPARED.get((name, compiler.name), []):
                continue
            if (name, compiler.name) == WITHOUT_EXCEPTIONS:
                flags = [*flags, "-fno-exceptions"]
            respelled = {n: respell(text) for n, text in whole.items()}
            one, same, two = objects(compiler, scratch, name, [whole, respelled, blanked], flags)
            compared += 2
            if (one != two) != (name in DIFFERS):
                failed.append(f"{name} {' '.join(flags)}: {len(one)} bytes, blanked {len(two)}")
            if one != same:
                failed.append(f"{name} {' '.join(flags)}: with prefixed macros {len(same)} bytes")
    print(f"{compared} pairs of object files compared")
    if failed:
        raise Failed("not identical, or not different where that was expected:\n" +
                     "\n".join(failed))


def cell_coverage(_, __, ___):
    public = (INCLUDE / "stint" / "stint.h").read_text()
    prefixed = re.findall(r"(?m)^#define (STINT_(?!IMPL_)\w+)\(", public)
    macros = list(NAMES)
    for where, has, needs in (("gen/names.ini has no section with name =", NAMES.values(), prefixed),
                              ("stint.h has no macro", prefixed, NAMES.values())):
        if set(needs) - set(has):
            raise Failed(f"{where} {' '.join(sorted(set(needs) - set(has)))}")
    functions = re.findall(r"STINT_IMPL_(?:\w+_)?(?:FUNCTION|PROCEDURE)\((?:[^,]*, [^,]*, )?(stint_\w+),",
                           public)
    if len(macros) < 10 or len(functions) < 10:
        raise Failed("stint.h is not read as it is written")
    for names, wanted in ((["forms.c"], macros + functions),
                          (["forms_cxx.cpp", "forms_cuda.cu"], macros)):
        text = "".join((HERE / name).read_text() for name in names)
        missing = [m for m in wanted if not re.search(rf"\b{m}\(", text)]
        if missing:
            raise Failed(f"{' '.join(names)} does not use {' '.join(missing)}")


CELLS = {"matrix": cell_matrix, "mustfail": cell_mustfail, "identity": cell_identity,
         "layout": cell_layout, "coverage": cell_coverage}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("cell", choices=CELLS)
    parser.add_argument("--cc")
    parser.add_argument("--std", default="")
    parser.add_argument("--timers", choices=["on", "off"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        compiler = Compiler(options.cc, options.std) if options.cc else None
        if compiler and not compiler.usable(scratch):
            print(f"no {options.cc} with -std={options.std}")
            return SKIP
        if not compiler and options.cell != "coverage":
            parser.error("--cc")
        try:
            CELLS[options.cell](compiler, scratch, options)
        except Failed as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
