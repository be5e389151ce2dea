#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No source of the runtime or the tool formats or parses a number by the program's locale: floating
point goes through runtime/base/number.h. Found are conversions of printf and scanf for doubles, the
flags ' and I, the functions that parse doubles, and those that change or read the locale.

    number_use.py [--root DIR]    checks include/stint and runtime
    number_use.py --self-test     the checker finds what it is for
"""
import argparse
import pathlib
import re
import sys
import tempfile

# The one file that may.
EXEMPT = "runtime/base/number.c"

# A string literal, or a comment or character, which are passed over.
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|\'(?:\\.|[^\'\\\n])+\'', re.S)
CONVERSION = re.compile(r"%(?:%|([-+ #0'I]*)(?:\*|\d+)?(?:\.(?:\*|\d+)?)?(?:hh|h|ll|l|j|z|t|L|q)?"
                        r"([a-zA-Z\[]))")
FUNCTION = re.compile(r"\b(strto(?:d|f|ld|f32|f64|d_l)|atof|wcstod|f?printf_l|setlocale|uselocale"
                      r"|newlocale|duplocale|localeconv|nl_langinfo|strfmon|[efg]cvt(?:_r)?"
                      r"|str(?:from)[dfl])\s*\(")


def faults_of(text):
    """(offset, what) of each."""
    code, literals = [], []
    last = 0
    for token in TOKEN.finditer(text):
        code.append(text[last:token.start()])
        code.append(" " if token.group()[0] != '"' else '""')
        code[-1] = code[-1].ljust(len(token.group()))
        if token.group()[0] == '"':
            literals.append((token.start(), token.group()))
        last = token.end()
    code.append(text[last:])
    for start, literal in literals:
        for found in CONVERSION.finditer(literal):
            flags, kind = found.group(1) or "", found.group(2) or ""
            # strftime's conversions of one letter are none of printf's with a flag or for doubles,
            # but %F, %g, %G and %e: none of them is used.
            if kind in "aAeEfFgG" and kind or "'" in flags or "I" in flags:
                yield start + found.start(), f"{found.group()} in a format"
    for found in FUNCTION.finditer("".join(code)):
        yield found.start(), f"{found.group(1)}()"


def problems(root):
    files = [path for folder in ("include/stint", "runtime")
             for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".h", ".hpp", ".c", ".cpp")]
    if not files:
        return [f"{root}: no include/stint and runtime to check"]
    found = []
    for path in files:
        name = path.relative_to(root).as_posix()
        if name == EXEMPT:
            continue
        text = path.read_text(encoding="utf-8")
        for offset, what in faults_of(text):
            line = text.count("\n", 0, offset) + 1
            found.append(f"{name}:{line}: {what}: use runtime/base/number.h")
    return found


RIGHT = ['text_add(t, "%s ms, %llu of %5.2s 100 %% %-*s", a);', 'strftime(o, n, "%Y-%m-%d %H", &d);',
         '/* strtod( and "%f" in a comment */', "char c = '\"'; // 1 %f", 'x = y % f;',
         'text_add(t, "100 %% fast");', 'struct tm d; localtime_r(&t, &d);']
WRONG = ['snprintf(o, n, "%f", v);', 'snprintf(o, n, "a%-8.3g b", v);', 'text_add(t, "%.*f", 3, v);',
         "log_line(\"%'llu\", n);", 'sscanf(s, "%lf", &v);', 'double v = strtod(s, NULL);',
         'setlocale(LC_ALL, "C");', 'v = atof (s);', 'locale_t l = uselocale(c);',
         'printf("%*.*E", 1, 2, v);', 'printf("%Id", 3);', 'printf("%5.1Lf", v);']


def self_test():
    failed = 0
    for lines, expected in ((RIGHT, 0), (WRONG, 1)):
        for line in lines:
            with tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                (root / "runtime/base").mkdir(parents=True)
                (root / "runtime/base/text.c").write_text(line + "\n")
                (root / EXEMPT).write_text("strtod(s, NULL);\n")
                found = problems(root)
            if len(found) != expected:
                failed += 1
                print(f"{line}: expected {expected}, found {found}")
    print(f"{len(RIGHT) + len(WRONG) - failed} of {len(RIGHT) + len(WRONG)} lines judged right")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent,
                        type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return 1 if self_test() else 0
    found = problems(options.root)
    print("\n".join(found) if found else "no number is formatted by the program's locale")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
