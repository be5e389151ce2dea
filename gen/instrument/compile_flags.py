# SPDX-License-Identifier: Apache-2.0
"""The compile flags of a CMake target, as arguments of clang, for reading its headers and sources.

The file (written by stint_compile_flags in cmake/stintCodegen.cmake) has one argument per line. What
decides what the preprocessor and the parser see is kept: macros, include folders, the language's
standard, the machine. The rest belongs to code generation or to another compiler, which clang might
refuse.
"""

import re
import shlex

KEPT = re.compile(r"-(D|U|I|isystem|iquote|idirafter|include|imacros|std=|ansi$|m|pthread$|x$|"
                  r"fshort-enums$|fsigned-char$|funsigned-char$|fopenmp|fms-extensions$|"
                  r"fplan9-extensions$|fchar8_t$|fno-exceptions$|fno-rtti$|-target=|-sysroot)")
# Their value may be the next argument.
WITH_VALUE = {"-D", "-U", "-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-x",
              "--sysroot"}
# Options -m that only gcc knows, or that do not change types and macros.
DROPPED = re.compile(r"-m(tune|branch-cost|preferred-stack-boundary|indirect-branch|"
                     r"function-return|fentry|record-mcount|no-fentry|accumulate-outgoing-args)")
STANDARDS = {"C": "gnu17", "CXX": "gnu++17"}  # the defaults of gcc 11 and later


def keep_flags(words):
    """The arguments in a list of compiler arguments that decide what is parsed."""
    kept = []
    words = iter(words)
    for word in words:
        if word in WITH_VALUE:
            value = next(words, None)
            if value is not None:
                kept += [word, value]
        elif word in ("-I", "-D") or DROPPED.match(word):
            continue
        elif KEPT.match(word):
            kept.append(word)
    return kept


def split_lines(text):
    words = []
    for line in text.splitlines():
        if line.startswith("SHELL:"):
            words += shlex.split(line[len("SHELL:"):])
        elif line in ("-I", "-D"):
            continue  # an empty list of folders or macros
        elif line.startswith("-D-D"):
            words.append(line[len("-D"):])  # CMake accepts a definition with its -D
        elif line:
            words.append(line)
    return words


def standard_newest(words, language):
    """The last -std=, else the newest of those that `standard=` and `feature=` lines name, else gcc's default."""
    given = [word for word in words if word.startswith("-std=") or word == "-ansi"]
    if given:
        return given[-1]
    feature = r"(?:standard=|feature=%s_std_)(\d+)$" % ("cxx" if language == "CXX" else "c")
    found = [re.match(feature, word) for word in words]
    asked = [int(match.group(1)) for match in found if match]
    if not asked:
        return "-std=" + STANDARDS[language]
    # 90 and 98 are older than 03.
    newest = max(asked, key=lambda year: year + 100 if year < 80 else year)
    prefix = "gnu++" if language == "CXX" else "gnu"
    return "-std=%s%02d" % (prefix, newest)


def read_flags(path, language="C"):
    """The arguments for clang in the file; OSError if it cannot be read."""
    with open(path, encoding="utf-8") as file:
        words = split_lines(file.read())
    standard = standard_newest(words, language)
    kept = [word for word in keep_flags(words)
            if not word.startswith("-std=") and word != "-ansi"]
    return [standard] + kept
