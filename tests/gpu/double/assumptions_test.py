# SPDX-License-Identifier: Apache-2.0
"""assumptions_test.py [HEADERS]: each row of assumptions.md has a source or a check on a GPU.

HEADERS is the include folder of a CUDA toolkit: quotations are compared with its headers then. A
header at a function has to be named in a comment of the doubles, too. Checks are those of
first_contact.cu and truths.cu, which first_day.sh has to run, and its experiments; tests are those
of the sources beside it.
"""
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent
gpu = here.parent
ROW = re.compile(r"\| (\d+) \| ([^|]+) \|([^|]*)\|([^|]*)\|$")
SOURCE = re.compile(r"(\w+\.h) at (\w+)")
THREAD = re.compile(r"[\w-]+/[\w-]+#\d+")
faults = []


def plain(text):
    """Returns the text of a header's comments with single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"\n\s*\*", "\n", text))


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


def check_quotations(number, source, headers, known):
    header = None
    for part in re.finditer(r'(\w+\.h) at (\w+)|"([^"]+)"', source):
        if part.group(1):
            header = part.group(1)
            if f"{part.group(1)} at {part.group(2)}" not in known:
                faults.append(f"{number}: no double names {part.group(0)} in a comment")
            continue
        if headers and header and plain(part.group(3)) not in header_text(headers, header):
            faults.append(f"{number}: {header} does not say \"{part.group(3)}\"")


texts = {}


def header_text(headers, name):
    if name not in texts:
        texts[name] = plain(read(headers / name))
    return texts[name]


def check_answers(number, check, script, program, tests):
    for name in re.findall(r"(?:first_contact|truths) (\w+)", check):
        if not re.search(rf'{{"{name}", (check|print)_', program):
            faults.append(f"{number}: neither first_contact.cu nor truths.cu has {name}")
        if not re.search(rf"^ +(check|on_tape|step|for name in) .*\b{name}\b", script, re.M):
            faults.append(f"{number}: first_day.sh does not run {name}")
    for experiment in re.findall(r"first_day (\d+)", check):
        if f"day_{experiment}()" not in script:
            faults.append(f"{number}: first_day.sh has no experiment {experiment}")
    for suite, name in re.findall(r"test (\w+)\.(\w+)", check):
        if f"TEST({suite}, {name})" not in tests:
            faults.append(f"{number}: there is no test {suite}.{name}")


def main():
    headers = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    known = plain(" ".join(read(path) for path in here.glob("*.[ch]")))
    script = read(gpu / "day" / "first_day.sh")
    program = read(gpu / "first_contact.cu") + read(gpu / "day" / "truths.cu")
    tests = " ".join(read(path) for path in gpu.glob("real_*.cu"))
    count = 0
    for line in read(here / "assumptions.md").splitlines():
        row = ROW.match(line)
        if not row:
            if re.match(r"\| \d", line):
                faults.append(f"cannot read: {line}")
            continue
        count += 1
        number, _, source, check = row.groups()
        if int(number) != count:
            faults.append(f"{number}: expected {count}")
        sourced = SOURCE.search(source) or THREAD.search(source)
        answered = re.search(r"(first_contact|truths|first_day) \w+|test \w+\.\w+", check)
        if not sourced and not answered:
            faults.append(f"{number}: neither a source nor a check")
        check_quotations(number, source, headers, known)
        check_answers(number, check, script, program, tests)
    if count < 22:
        faults.append(f"{count} assumptions only")
    print("\n".join(faults) or f"{count} assumptions", file=sys.stderr if faults else sys.stdout)
    return bool(faults)


sys.exit(main())
