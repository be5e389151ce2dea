#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Expressions that the documentation does not use, because readers have to decode them.

    check_words.py              checks the documents, the man page and the sources
    check_words.py self-test    each pattern finds its example

Names in back quotes are not checked: names of tests and functions are not prose.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = ["*.md", ".github/*.md", ".github/*/*.md", "docs/*.md", "include/stint/*.h",
         "include/stint/*.hpp", "include/stint/detail/*.h", "gen/*.py", "gen/*.ini",
         "runtime/*/*.[ch]", "runtime/tool/stint.1.in", "samples/*", "samples/migrate/*"]

# Pattern, what to write instead, and an example that it must find.
BANNED = [
    (r"nobody", "no thread, no caller, no other program", "nobody waits"),
    (r"somebody", "another thread, the caller", "somebody's class"),
    (r"whoever", "the thread that, the caller", "whoever stops it"),
    (r"strangers?", "an untrusted file, another program", "a stranger's file"),
    (r"ancestors?", "PaddlePaddle's Stat.h", "the ancestor's table"),
    (r"wish(es)?", "the requested state", "the last wish wins"),
    (r"hard times", "failure modes", "in hard times"),
    (r"is no more\b(?! than)", "has exited, no longer exists", "a thread that is no more"),
    (r"(?<!there )is no(?= )(?! longer| more)", "is not a", "it is no sampling profiler"),
    (r"stands?|stood", "is, is printed, represents", "the place where it stands"),
    (r"behind", "after", "a number behind the name"),
    (r"hair", "precisely", "knows it to a hair"),
    (r"it is history", "it is deprecated", "it is history"),
    (r"for ever", "never freed, without end", "live for ever"),
    (r"polite", "the actual rule", "polite to others"),
    (r"in the old days|of old\b", "as in PaddlePaddle's Stat.h", "as in the old days"),
]

# File, a part of the line, and why it may be there.
ALLOWED = []


def prose(text):
    return re.sub(r"`[^`\n]*`", "``", text)


def is_allowed(name, line):
    return any(name == file and part in line for file, part, _ in ALLOWED)


def findings(name, text):
    for number, line in enumerate(prose(text).split("\n"), 1):
        for pattern, instead, _ in BANNED:
            match = re.search(r"(?i)\b(%s)" % pattern + r"(?!\w)", line)
            if match and not is_allowed(name, line):
                yield "%s:%d: '%s': write %s" % (name, number, match.group(0), instead)


def paths():
    for pattern in FILES:
        yield from sorted(path for path in ROOT.glob(pattern) if path.is_file())


def check():
    count, found = 0, []
    for path in paths():
        count += 1
        found += findings(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    if count < 20:
        found.append("only %d files found: are the patterns right?" % count)
    return found


def self_test():
    failed = ["'%s' is not found by %s" % (example, pattern)
              for pattern, instead, example in BANNED
              if not any(f.endswith("write " + instead) for f in findings("example", example))]
    for good in ("there is no driver", "it is no longer open", "`nobody`", "understood"):
        failed += findings("good example", good)
    return failed


def main():
    failed = self_test() if sys.argv[1:] == ["self-test"] else check()
    for line in failed:
        print("FAILED:", line)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
