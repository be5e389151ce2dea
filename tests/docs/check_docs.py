#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents: those of OUTER and docs/*.md.

    check_docs.py links            every relative link leads to a file and, after #, to a heading;
                                   README.md is short; docs/README.md names every page
    check_docs.py files            every source file in back quotes exists
    check_docs.py names            the header's names are in docs/macros.md, the status keys in
                                   docs/reports.md, and every STINT_ name in a document exists
    check_docs.py commands         commands of the tool `stint`, and their options, exist
    check_docs.py code             every c and cpp block is a file, or compiles, on and off
    check_docs.py output           every output block is what the program prints
    check_docs.py output --update  writes what it prints into the documents

A comment on the line before a block says what it is. C and C++ blocks must have one:

    <!-- file: samples/x.c -->     that file, byte for byte, without its SPDX line
    <!-- compile -->               a file that compiles
    <!-- compile: body -->         statements; BODY below is around them
    <!-- program: x -->            compiles, and is ./x for output blocks
    <!-- output: A=1 ./x y -->     what ./x or the sample x prints on stderr, with A=1 and y
    <!-- output 5-7: ./x -->       lines 5 to 7 of it
    <!-- save: x --> and others    see check_sessions.py, which runs commands

Output is compared with numbers, units and the machine masked, and without the order of lines,
which is by time and so changes when the machine is busy.
"""

import argparse
import configparser
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = ROOT / "include" / "stint"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
ON = ["-DWITH_TIMER", "-DWITH_PROFILER"]
OUTER = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
         "tests/README.md"]
README_LINES = 150  # what a reader looks through before deciding

BODY = """#include <stint/stint.h>
void example(int n, const char *note, const char *name, uint64_t start_us, stint_set *set);
void example(int n, const char *note, const char *name, uint64_t start_us, stint_set *set) {
(void)n, (void)note, (void)name, (void)start_us, (void)set;
%s}
"""

failures = []


def check(holds, message):
    if not holds:
        failures.append(message)


def read(path):
    return path.read_text(encoding="utf-8")


def documents():
    return [ROOT / name for name in OUTER if (ROOT / name).exists()] + sorted(
        (ROOT / "docs").glob("*.md"))


# ---- Blocks -------------------------------------------------------------------------------------

class Block:
    """A fenced block: its language, its text without the indent, and the comment before it."""

    def __init__(self, path, line, language, mark):
        self.where = "%s:%d" % (path.relative_to(ROOT), line)
        self.path, self.line, self.language = path, line, language
        self.kind, self.lines, self.argument = mark
        self.text = ""

    def source_name(self):
        return "block.cpp" if self.language == "cpp" else "block.c"


MARK = re.compile(r"\s*<!-- (file|compile|program|output|save|shell|prints|settings|cmake|parsed"
                  r"|needs|sample)(?: (\d+)-(\d*))?(?:: (.*))? -->$")
PREPARE = re.compile(r"\s*<!-- prepare: (.*) -->$")


def blocks(path):
    found, inside, before = [], None, ""
    for number, line in enumerate(read(path).split("\n"), 1):
        fence = re.match(r"( *)```(\w*)$", line)
        if fence and inside:
            inside = None
        elif fence:
            mark = MARK.match(before)
            kind = mark.group(1) if mark else None
            span = (int(mark.group(2) or 1), int(mark.group(3) or 0)) if mark else (1, 0)
            inside = Block(path, number, fence.group(2), (kind, span, mark and mark.group(4)))
            indent = len(fence.group(1))
            found.append(inside)
        elif inside:
            inside.text += line[indent:] + "\n"
        elif PREPARE.match(line):
            block = Block(path, number, "sh", ("prepare", (1, 0), None))
            block.text = PREPARE.match(line).group(1) + "\n"
            found.append(block)
        before = line
    check(not inside, "%s: a block without an end" % path)
    return found


def all_blocks():
    return [block for path in documents() for block in blocks(path)]


# ---- Commands that link ----------------------------------------------------------------------

LIBRARY = re.compile(r"-lstint\b|\$\(pkg-config [^)]*\bstint\b[^)]*\)")


def case_link_order(_):
    """A linker drops a library that comes before what uses it."""
    found = 0
    for path in documents():
        for number, line in enumerate(read(path).split("\n"), 1):
            match = LIBRARY.search(line)
            found += bool(match)
            check(not match or not re.search(r"\.(c|cc|cpp|cu|o)\b", line[match.end():]),
                  "%s:%d: a source after the library: %s" % (path, number, line))
    check(found > 2, "only %d lines found: is the pattern right?" % found)


# ---- Links --------------------------------------------------------------------------------------

def prose(path):
    """The text without its fenced blocks and `code`, lines kept."""
    text = re.sub(r"(?ms)^( *)```.*?^ *```$", lambda m: "\n" * m.group(0).count("\n"), read(path))
    return re.sub(r"`[^`\n]*`", lambda m: re.sub(r"[\[\]()]", "", m.group(0)), text)


def anchors(path):
    """The anchors that the usual viewers make from the page's headings."""
    headings = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```$", "", read(path)))
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def case_links(_):
    count = 0
    for path in documents():
        for target in re.findall(r"\]\(([^)]*)\)|<img src=\"([^\"]*)", prose(path)):
            target = target[0] or target[1]
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            where = "%s: link to %s" % (path.relative_to(ROOT), target)
            name, _, anchor = target.partition("#")
            file = path.parent / name if name else path
            check(file.exists(), where + ": no such file")
            if anchor and file.exists():
                check(anchor in anchors(file), where + ": no such heading")
    check(count > 10, "only %d links found: is the pattern right?" % count)
    lines = read(ROOT / "README.md").count("\n")
    check(lines <= README_LINES, "README.md: %d lines, more than %d" % (lines, README_LINES))
    index = read(ROOT / "docs" / "README.md")
    for path in (ROOT / "docs").glob("*.md"):
        check(path.name == "README.md" or "](%s)" % path.name in index,
              "docs/README.md: no link to %s" % path.name)


# ---- Files --------------------------------------------------------------------------------------

# Files of other projects, and stint.c, which ./dev amalgamate makes.
FOREIGN = {"Stat.h", "Tracy.hpp", "TracyC.h", "TracyCUDA.hpp", "cali_macros.h", "cuda.h", "deflate.c",
           "nvtx3/nvToolsExt.h", "paddle/legacy/utils/Stat.h", "stint.c", "timeline.py"}
FOLDERS = ["cmake", "gen", "include", "runtime", "samples", "tests"]


def case_files(_):
    """A path may begin at any folder, as `model/rows.c` and `rows.c` do."""
    known = set()
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.*"):
            parts = file.relative_to(ROOT).parts
            known |= {"/".join(parts[first:]) for first in range(len(parts))}
    count = 0
    for path in documents():
        saved = {block.argument for block in blocks(path) if block.kind == "save"}
        for name in re.findall(r"`([\w/]+\.(?:c|h|hpp|ini|py|txt|cu))`", read(path)):
            count += 1
            check(name in known | FOREIGN | saved, "%s: no file %s" % (path.name, name))
    check(count > 50, "only %d files found: is the pattern right?" % count)


# ---- Names --------------------------------------------------------------------------------------

def uncommented(path):
    return re.sub(r"(?s)/\*.*?\*/", "", read(path))


def public_names():
    """The names that stint.h and stint.hpp give to users."""
    header, face = uncommented(INCLUDE / "stint.h"), uncommented(INCLUDE / "stint.hpp")
    names = set(re.findall(r"(?m)^#define (\w+)",
                           header + uncommented(INCLUDE / "detail/impl_names.h")))
    names |= set(re.findall(r"STINT_IMPL_(?:\w+_)?FUNCTION\([^,]*,\s*[^,]*,\s*(\w+),", header))
    names |= set(re.findall(r"STINT_IMPL_PROCEDURE\((\w+),", header))
    names |= set(re.findall(r"(?m)^STINT_IMPL_INLINE .*?(\w+)\(", header))
    names |= set(re.findall(r"(?m)^(?:typedef struct \w+|\}) (\w+);", header))
    for fields in re.findall(r"(?s)typedef struct stint_stat \{(.*?)\}", header):
        names |= set(re.findall(r"(\w+)(?:\[\d+\])?;", fields))
    names |= set(re.findall(r"(?m)^    \w[\w ]* \*?(\w+)\([^;]*\) const \{", face))
    names |= {"StatSet", "globalStat"} & set(re.findall(r"\w+", face))
    hidden = {"STINT_STINT_H", "STINT_STINT_HPP", "STINT_IMPL_NAMES_H", "name", "parameters"}
    return {n for n in names if not n.startswith("STINT_IMPL")} - hidden


def known_words():
    """Every STINT_ word that a document may use: variables, what the headers and the build name."""
    sources = list(INCLUDE.rglob("*.h*")) + cmake_files() + [ROOT / "CMakePresets.json",
                                                             ROOT / "dev"]
    words = {word for path in sources for word in re.findall(r"\bSTINT_[A-Z0-9_]+", read(path))}
    return words | set(table("env.ini"))


def cmake_files():
    """Returns the CMake files that declare options."""
    return [ROOT / "CMakeLists.txt", ROOT / "runtime/CMakeLists.txt"] + \
        sorted((ROOT / "cmake").glob("*.cmake"))


def check_cmake_options():
    """Each is in the table of docs/cmake.md, and the table has no others of stint."""
    text = "".join(read(path) for path in cmake_files())
    options = set(re.findall(r"(?:option|find_path)\(\s*((?:STINT|WITH|BUILD)_\w+)", text))
    options |= set(re.findall(r"set\((STINT_\w+) [^()]* CACHE", text))
    section = read(ROOT / "docs/cmake.md").split("## Targets")[0]
    rows = set(re.findall(r"^\| `(\w+)` \|", section, re.M))
    check(len(options) > 10, "only %d options found: is the pattern right?" % len(options))
    for name in sorted(options ^ rows):
        check(False, "docs/cmake.md: %s is %s" % (name, "not an option" if name in rows
                                                  else "an option and not in the table"))


def table(name):
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "gen" / name, encoding="utf-8")
    return {section: dict(parser[section]) for section in parser.sections()}


# A macro with a value, and what ./dev reads; no variables of the library.
OTHERS = {"STINT_INLINE", "STINT_BUILD_DIR"}


def check_variables():
    """Assignments, as on a command line, are to variables that this version reads."""
    variables, words = table("env.ini"), known_words()
    for path in documents():
        text = read(path)
        for name in set(re.findall(r"(?<![-\w])(STINT_\w+)=", text)):
            if name in OTHERS:
                continue
            check(name in variables and variables[name]["kind"] != "reserved",
                  "%s: %s= is no variable of gen/env.ini" % (path.name, name))
        for word, star in set(re.findall(r"\b(STINT_[A-Z0-9_]*[A-Z0-9])\b(_\*|…)?", text)):
            known = any(w.startswith(word) for w in words) if star else word in words
            check(known, "%s: there is no %s" % (path.name, word + star))


def case_names(_):
    macros = set(re.findall(r"\w+", read(ROOT / "docs" / "macros.md")))
    names = public_names()
    for name in ("REGISTER_TIMER", "TIMER_END", "STINT_ROLE_COPY", "stint_report", "stint_reset",
                 "stint_stat_get", "printStatus", "getStat", "stint_set", "stint_timer", "p99_ns",
                 "setThreadInfo", "GPU_PROFILER_STOP"):
        check(name in names, "%s not found in the header: is the pattern right?" % name)
    for name in sorted(names - macros):
        check(False, "docs/macros.md: nothing about %s" % name)
    reports = re.sub(r"\s+", " ", read(ROOT / "docs" / "reports.md"))
    for key, entry in table("status.ini").items():
        text = re.sub(r"\s+", " ", entry["text"])
        check("| `%s` | %s |" % (key, text) in reports,
              "docs/reports.md: no row '| `%s` | %s |'" % (key, text))
    check_variables()
    check_cmake_options()
    check_sonames()
    check_public(names)


SONAME = re.compile(r"\b(libstint[\w-]*\.so\.|N is `STINT_ABI`, )(\d+)\b")


# Without its number a library that is installed is not found as the value of a variable.
UNNUMBERED = re.compile(r"\b[A-Z_\d]+=(?:\S*[/:])?libstint[\w-]*\.so(?!\.)")


def check_sonames():
    """Names of installed libraries end in STINT_ABI, and are of libraries that the build makes."""
    abi = re.search(r"#define STINT_ABI (\d+)", read(INCLUDE / "detail/impl_layout.h")).group(1)
    built = set(re.findall(r"OUTPUT_NAME (stint[\w-]*)", read(ROOT / "runtime" / "CMakeLists.txt")))
    built |= {"stint-mpi-openmpi", "stint-mpi-mpich"}
    found = 0
    for path in documents():
        text = read(path)
        for name, number in SONAME.findall(text):
            found += 1
            check(number == abi, "%s: %s%s, but STINT_ABI is %s" % (path.name, name, number, abi))
        bare = UNNUMBERED.findall(text)
        check(not bare, "%s: %s: a name without a number" % (path.name, bare))
        if path.name != "CHANGELOG.md":
            others = set(re.findall(r"\blib(stint[\w-]*)\.so", text)) - built
            check(not others, "%s: no library of the build: %s" % (path.name, others))
    check(found > 2, "only %d names found: is the pattern right?" % found)


# Functions of the CMake package, a row of reports, and names of other libraries.
OTHER_NAMES = {"stint_step", "stint_instrument", "stint_wrap", "REGISTER_BARRIER_TIMER_SERVER"}


def check_public(names):
    """The pages for users of the macros, which say what to write."""
    count = 0
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("migrate*.md"),
                 ROOT / "docs" / "recipes.md", ROOT / "docs" / "troubleshooting.md"]:
        for code in re.findall(r"`([^`\n]+)`", prose_with_code(path)):
            for name in re.findall(r"\b((?:REGISTER|TIMER)_\w+|stint_(?!impl)\w+)\b", code):
                count += 1
                check(name in names | OTHER_NAMES, "%s: there is no %s" % (path.name, name))
    check(count > 50, "only %d names found: is the pattern right?" % count)


# ---- Commands of the tool -----------------------------------------------------------------------

TOOL_COMMAND = re.compile(r"(?:^|[\s;&|(])stint ([a-z]+)\b(?!:)([^|;&<>#)]*)")
TOOL_LINE = re.compile(r"(\$ |([A-Z_]+=\S+ )*)stint [a-z]+\b(?!:)")


def tool_commands(path):
    """(where, command, rest) of the commands of blocks and of `code`; not of a command's output."""
    for block in blocks(path):
        if block.kind in ("output", "prints") or block.language == "text":
            continue
        for offset, line in enumerate(block.text.replace("\\\n", " ").split("\n")):
            if block.language == "sh" or TOOL_LINE.match(line):
                for match in TOOL_COMMAND.finditer(line.split(" # ")[0]):
                    yield "%s, line %d of it" % (block.where, offset + 1), *match.groups()
    for code in re.findall(r"`(stint [a-z][^`\n]*)`", prose_with_code(path)):
        match = TOOL_COMMAND.match(code)
        if match and match.group(1) != "cost":  # a line of every report
            yield path.name, *match.groups()


def prose_with_code(path):
    return re.sub(r"(?ms)^( *)```.*?^ *```$", "", read(path))


def check_options(where, command, rest, options, formats):
    try:
        words = shlex.split(rest)
    except ValueError:
        return  # the end of the quoted text is on another line
    before = ""
    for word in words:
        if word == "--" or command == "run" and not before.startswith("-") and word[:1] not in "-":
            return  # what follows is not of stint
        if re.match(r"--\w", word):
            name = "%s %s" % (command, word.split("=")[0])
            check(name in options or word == "--help", "%s: there is no stint %s" % (where, name))
        elif re.match(r"-[a-zA-Z]$", word):
            letters = {o.get("letter") for n, o in options.items() if n.startswith(command + " --")}
            check(word[1] in letters, "%s: there is no stint %s %s" % (where, command, word))
        elif before in ("--to", "-t") and command == "export" and word.islower():
            check(word in formats, "%s: there is no format %s" % (where, word))
        before = word


def case_commands(_):
    options = table("options.ini")
    formats = {n for n, entry in table("formats.ini").items() if entry["layer"] != "interval"}
    count = 0
    for path in documents():
        for where, command, rest in tool_commands(path):
            count += 1
            if command not in options:
                check(False, "%s: there is no command stint %s" % (where, command))
            else:
                check_options(where, command, rest, options, formats)
    check(count > 50, "only %d commands found: is the pattern right?" % count)


# ---- Code ---------------------------------------------------------------------------------------

class Compiler:
    def __init__(self, options, language):
        cpp = language == "cpp"
        self.command = [options.cxx if cpp else options.cc]
        self.command += shlex.split(options.cxxflags if cpp else options.cflags)
        self.command += ["-std=c++11" if cpp else "-std=c11", "-O1", "-I", str(ROOT / "include")]
        self.library = options.library
        self.usable = bool(self.command[0])

    def run(self, where, *arguments):
        command = self.command + [str(a) for a in arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True, check=False)
        check(not done.returncode, "%s: %s\n%s" % (where, " ".join(command), done.stdout))

    def link(self, where, source, program):
        self.run(where, *ON, source, "-o", program, self.library, "-pthread",
                 "-Wl,-rpath," + os.path.dirname(self.library))


def compile_block(options, block, scratch):
    source = scratch / block.source_name()
    source.write_text(BODY % block.text if block.argument == "body" else block.text, "utf-8")
    compiler = Compiler(options, block.language)
    for switches in (ON, []) if compiler.usable else ():
        compiler.run("%s, %s" % (block.where, "on" if switches else "off"), *WARNINGS, *switches,
                     "-c", source, "-o", scratch / "block.o")


def case_code(options):
    count = 0
    for block in all_blocks():
        if block.language not in ("c", "cpp"):
            continue
        count += 1
        if block.kind == "file":
            head, _, rest = read(ROOT / block.argument).partition("\n")
            check("SPDX" in head and block.text == rest,
                  "%s: is not %s without its first line" % (block.where, block.argument))
        elif block.kind in ("compile", "program"):
            compile_block(options, block, options.scratch)
        elif block.kind != "save":
            check(False, "%s: code without a comment before it that says what it is" % block.where)
    check(count > 10, "only %d blocks found: is the pattern right?" % count)


# ---- Output -------------------------------------------------------------------------------------

def programs(options):
    """The programs of the documents and the samples named in output blocks, built with all on."""
    found = {}
    every = all_blocks()
    for block in every:
        if block.kind == "program":
            source = options.scratch / ("%s.%s" % (block.argument, block.language))
            source.write_text(block.text, "utf-8")
            found[block.argument] = (source, block.language)
    for block in every:
        name = block.kind == "output" and program_of(block)
        if name and name not in found:
            path = ROOT / "samples" / (re.sub("_cpp$", "", name))
            language = "cpp" if name.endswith("_cpp") else "c"
            found[name] = (path.with_suffix("." + language), language)
    for name, (source, language) in found.items():
        compiler = Compiler(options, language)
        if compiler.usable:
            compiler.link(name, source, options.scratch / name)
    return found


def program_of(block):
    return next(word[2:] for word in shlex.split(block.argument) if word.startswith("./"))


def run_block(options, block):
    """Runs the block in a shell and returns the lines it shows. A direct child of this script would
    inherit the script's peak RSS."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    environment["LC_ALL"] = "C"
    environment["STINT_WAITS"] = "0"
    done = subprocess.run(["sh", "-c", block.argument + "\nexit $?"], cwd=options.scratch,
                          env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          universal_newlines=True, check=False)
    check(done.returncode == 0, "%s: exit %d" % (block.where, done.returncode))
    first, last = block.lines
    return "".join(l + "\n" for l in done.stderr.splitlines()[first - 1:last or None])


def masked(text):
    """The lines, sorted, without what differs from run to run and from machine to machine."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"^host .*", "host", line)
        line = re.sub(r"\b(short|the longest)$", "NOTE", line)  # quickstart's
        line = re.sub(r"\d+(\.\d+)?( (ns|us|ms|s)\b)?", "#", line)
        if line.startswith("stint cost "):  # a range whose ends are printed alike is one number
            line = re.sub(r"(about )?#( to #)?", "#", line)
        lines.append(re.sub(r"(?<=\S) +", " ", line).rstrip())
    return sorted(lines)


def update(block, text):
    lines = read(block.path).split("\n")
    end = lines.index("```", block.line)
    lines[block.line:end] = text.rstrip("\n").split("\n")
    block.path.write_text("\n".join(lines), "utf-8")


def case_output(options):
    programs(options)
    every = [block for block in all_blocks() if block.kind == "output"]
    check(len(every) > 3, "only %d blocks found: is the pattern right?" % len(every))
    for block in reversed(every):  # an update moves what is below
        if not (options.scratch / program_of(block)).exists():
            continue  # did not compile, which is said, or no C++ compiler
        said = run_block(options, block)
        if options.update:
            update(block, said)
        else:
            check(masked(said) == masked(block.text),
                  "%s: %s prints\n%s" % (block.where, block.argument, said))


def main():
    parser = argparse.ArgumentParser()
    cases = {"links": case_links, "files": case_files, "link_order": case_link_order,
             "names": case_names, "commands": case_commands, "code": case_code,
             "output": case_output}
    parser.add_argument("case", choices=cases)
    parser.add_argument("--library", help="libstint.so or libstint.a")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cflags", default="")
    parser.add_argument("--cxxflags", default="")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stint-docs-") as scratch:
        options.scratch = pathlib.Path(scratch)
        cases[options.case](options)
    for failure in failures:
        print("FAILED:", failure)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
