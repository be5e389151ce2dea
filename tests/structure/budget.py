#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The size of the project against budget.txt, which says what each part may have.

    budget.py lines
    budget.py text [--nvtx] FILE...

lines: the lines of each folder, and the pages and lines of docs/. A part that has grown over its
budget fails, and so does one whose budget is more than a fiftieth too high: what goes lowers it.
UPDATE=1 lowers them, and never raises one.
text: the bytes of code and constants of libraries and programs, as size(1) counts them. They are
compared for gcc 12 on x86-64; elsewhere it exits with 77. --nvtx: with NVTX ranges built in.
"""
import os
import pathlib
import platform
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "budget.txt"
SLACK = 50  # a budget may be one part in so many too high
SKIP = 77
LINE = re.compile(r"^(\w+) +(\S+) +(\d+)(.*)$")


def budgets():
    """By (kind, part): what it may have."""
    found = {}
    for number, line in enumerate(TABLE.read_text(encoding="utf-8").splitlines(), 1):
        match = LINE.match(line)
        if match and (match[1], match[2]) not in found:
            found[match[1], match[2]] = int(match[3])
        elif line and not line.startswith("#"):
            sys.exit("%s:%d: expected KIND PART NUMBER, each part once" % (TABLE.name, number))
    return found


def files_of(folder, depth):
    """Files of the folder and, to that depth or all if it is None, of those in it."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and depth != 0 and path.name != "__pycache__":
            yield from files_of(path, depth and depth - 1)
        elif path.is_file():
            yield path


def lines_of(paths):
    return sum(path.read_bytes().count(b"\n") for path in paths)


def count_lines():
    found = {}
    for top in ("runtime", "gen", "tests", "include"):
        alone = lines_of(files_of(ROOT / top, 0))
        for folder in sorted(path for path in (ROOT / top).iterdir() if path.is_dir()):
            if folder.name != "__pycache__":
                found["lines", "%s/%s" % (top, folder.name)] = lines_of(files_of(folder, None))
        if alone:
            found["lines", top] = alone
    pages = [path for path in files_of(ROOT / "docs", 0) if path.suffix == ".md"]
    found["pages", "docs"] = len(pages)
    found["lines", "docs"] = lines_of(pages)
    return found


def lower(found):
    text = TABLE.read_text(encoding="utf-8")
    for (kind, part), number in found.items():
        text = re.sub(r"(?m)^(%s +%s +)(\d+)" % (kind, re.escape(part)),
                      lambda m, n=number: m[1] + str(min(int(m[2]), n)).rjust(len(m[2])), text)
    TABLE.write_text(text, encoding="utf-8")


def compare(found, allowed):
    wrong = []
    for (kind, part), number in found.items():
        budget = allowed.get((kind, part))
        if budget is None:
            wrong.append("%s %s: %d, and no budget" % (kind, part, number))
        elif number > budget:
            wrong.append("%s %s: %d, budget %d: take something out, or raise it with a sentence"
                         % (kind, part, number, budget))
        elif budget - number > budget // SLACK + 10:
            wrong.append("%s %s: %d, budget %d: lower it (UPDATE=1)" % (kind, part, number, budget))
    return wrong


def count_text(files):
    found = {}
    for path in files:
        done = subprocess.run(["size", path], stdout=subprocess.PIPE, check=True, text=True)
        found["text", pathlib.Path(path).name] = int(done.stdout.splitlines()[1].split()[0])
    return found


def main(argv):
    allowed = budgets()
    if argv[:1] == ["text"]:
        compiler = subprocess.run(["gcc", "-dumpversion"], stdout=subprocess.PIPE, text=True,
                                  check=False).stdout.strip()
        if platform.machine() != "x86_64" or compiler != "12":
            print("sizes are compared for gcc 12 on x86-64, not gcc %s on %s"
                  % (compiler, platform.machine()))
            return SKIP
        found = count_text([word for word in argv[1:] if word != "--nvtx"])
        if "--nvtx" in argv:
            found = {(kind, part + "+nvtx"): number for (kind, part), number in found.items()}
    else:
        found = count_lines()
    if os.environ.get("UPDATE"):
        lower(found)
        allowed = budgets()
    gone = ["%s %s: not there" % key for key in allowed if key[0] != "text" and key not in found]
    wrong = compare(found, allowed) + (gone if argv[:1] == ["lines"] else [])
    assert compare({("lines", "a"): 101}, {("lines", "a"): 100})
    assert compare({("lines", "a"): 80}, {("lines", "a"): 100})
    assert compare({("lines", "b"): 1}, {("lines", "a"): 100})
    assert not compare({("lines", "a"): 99}, {("lines", "a"): 100})
    print("\n".join(wrong) or "%d parts" % len(found))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
