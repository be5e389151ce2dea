#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The names in the public headers: none is reserved to the compiler and the C library, that is none
begins with an underscore and none has two underscores in a row.

    names.py --cc CC [--cxx CXX]   the headers as they are written (every branch of #if), and what
                                   the macros of tests/macros expand to (names made with ##)
    names.py self-test             the checks find what they are for
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Names that the headers use and do not define: those of the language, the compiler, the C library.
FOREIGN = re.compile(r"__builtin_\w+|__typeof__|__atomic_\w+|__sync_\w+|__ATOMIC_\w+|__U?INT(64|32|16|8|PTR)_TYPE__|"
                     r"__has_feature|__STDC_VERSION__|__STRICT_ANSI__|"
                     r"__(SANITIZE_THREAD|COUNTER|FILE|BASE_FILE|LINE|VA_ARGS|CUDACC|"
                     r"CUDA_ARCH|OPTIMIZE|"
                     r"GNUC|GCC_ASM_FLAG_OUTPUTS|cplusplus|clang|linux|x86_64|aarch64|func|attribute|asm|extension|"
                     r"inline|thread|host|device)(__)?|"
                     r"__(aligned|always_inline|cleanup|no_instrument_function|no_sanitize|noinline|tls_model|unused|"
                     r"visibility)__|__null|_MSC_VER|_Pragma|_GNU_SOURCE")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
MARKER = re.compile(r'^# (\d+) "([^"]*)"')
VARIANTS = [[], ["-DWITH_TIMER", "-DWITH_PROFILER"],
            ["-DWITH_TIMER", "-DWITH_PROFILER", "-DSTINT_INLINE=1"]]


def find_reserved(text):
    code = COMMENT_OR_TEXT.sub(" ", text)
    found = set(re.findall(r"(?<!##)\b(?:_\w+|\w+__\w*)\b", code))
    return sorted(name for name in found if not FOREIGN.fullmatch(name))


def keep_own_lines(preprocessed, own):
    """The lines that come from files below one of the folders."""
    kept = []
    inside = False
    for line in preprocessed.splitlines():
        marker = MARKER.match(line)
        if marker:
            inside = any(marker[2].startswith(str(folder)) for folder in own)
        elif inside:
            kept.append(line)
    return "\n".join(kept)


def preprocess(compiler, source, flags):
    done = subprocess.run([*compiler, "-E", "-I", str(ROOT / "include"), *flags, str(source)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return keep_own_lines(done.stdout, [ROOT / "include", source])


def check(options):
    headers = sorted(p for p in (ROOT / "include").rglob("*") if p.suffix in (".h", ".hpp"))
    if not headers:
        yield "no header to check"
    for path in headers:
        for name in find_reserved(path.read_text(encoding="utf-8")):
            yield f"{path}: {name} is reserved: no leading underscore, no two in a row"
    sources = [(options.cc, ROOT / "tests/macros/forms.c")]
    if options.cxx:
        sources.append((options.cxx, ROOT / "tests/macros/forms_cxx.cpp"))
    for compiler, source in sources:
        for flags in VARIANTS:
            text = preprocess(shlex.split(compiler), source, flags)
            if "stint_" not in text:
                yield f"{source.name} {flags}: nothing to check"
            for name in find_reserved(text):
                yield f"{source.name} {flags}: a macro makes the reserved name {name}"


def self_test():
    faults = {"#define STINT_IMPL_X__(n) n": ["STINT_IMPL_X__"], "int _x;": ["_x"],
              "void a__b(void);": ["a__b"], "/* __x */ int x; // __y": [], 'char *s = "__x";': [],
              "x __attribute__((unused)) = __builtin_expect(_y, 1);": ["_y"], "int a_b_, b_;": [],
              "#define X(name) name##_1": []}
    wrong = [line for line, want in faults.items() if find_reserved(line) != want]
    lines = keep_own_lines('# 1 "/usr/x.h"\nint __a;\n# 1 "/own/y.h" 1\nint b;\n', ["/own"])
    return wrong + ([] if lines == "int b;" else [lines])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", nargs="?", choices=["check", "self-test"], default="check")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx")
    options = parser.parse_args()
    faults = self_test() if options.mode == "self-test" else list(check(options))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
