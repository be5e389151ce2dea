#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutexes and fork handlers are in runtime/system/lock.c alone, and docs/design.md has its table.

    lock_check.py [--root DIR]    checks runtime and docs/design.md
    lock_check.py --self-test     the checker finds what it is for
"""
import argparse
import pathlib
import re
import sys
import tempfile

HOME = "lock.c"
LAYOUTS = {"itt.h"}  # structures of other libraries that have a mutex, which stint never takes
FORBIDDEN = re.compile(r"\b(pthread_mutex_\w+|pthread_rwlock_\w+|pthread_cond_\w+|pthread_spin_\w+|"
                       r"pthread_atfork|PTHREAD_MUTEX_INITIALIZER|sem_wait|mtx_\w+)\b")
ENTRY = re.compile(r'^LOCK\((\w+),\s+"([^"]*)"\)$', re.M)
PROTECTS = re.compile(r"^(.*) \((\S+)\)$")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def find_mutexes(root):
    problems = []
    for path in sorted((root / "runtime").rglob("*.[ch]")):
        if path.name == HOME or path.name in LAYOUTS:
            continue
        for number, line in enumerate(without_comments(path.read_text()).split("\n"), 1):
            for name in FORBIDDEN.findall(line):
                problems.append(f"{path.relative_to(root)}:{number}: {name}: locks are in "
                                f"runtime/system/{HOME}")
    return problems


def make_rows(root):
    """The table of docs/design.md; each file is one that takes the lock."""
    problems, rows = [], []
    table = (root / "runtime/system/lock_table.h").read_text()
    for rank, (name, text) in enumerate(ENTRY.findall(table), 1):
        match = PROTECTS.match(text)
        if not match:
            problems.append(f"lock_table.h: {name}: expected \"what it protects (folder/file.c)\"")
            continue
        what, file = match.groups()
        path = root / "runtime" / file
        if not path.exists() or f"LOCK_{name}" not in path.read_text():
            problems.append(f"lock_table.h: {name}: {file} does not use LOCK_{name}")
        rows.append(f"| {rank} | `LOCK_{name}` | {what} | `{file}` |")
    if not rows:
        problems.append("lock_table.h: no LOCK(name, \"protects\") in it")
    return rows, problems


def check(root):
    rows, problems = make_rows(root)
    design = (root / "docs/design.md").read_text()
    if "\n".join(rows) not in design:
        problems.append("docs/design.md: expected these rows, one after the other:\n"
                        + "\n".join(rows))
    return problems + find_mutexes(root)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "runtime/system").mkdir(parents=True)
        (root / "docs").mkdir()
        (root / "runtime/system/lock.c").write_text("pthread_mutex_lock(&m);\n")
        (root / "runtime/system/lock_table.h").write_text('LOCK(A,\n     "the a (a.c)")\n')
        (root / "runtime/a.c").write_text("/* pthread_mutex_lock */ lock_take(LOCK_A);\n")
        (root / "docs/design.md").write_text("| 1 | `LOCK_A` | the a | `a.c` |\n")
        assert check(root) == [], check(root)
        (root / "runtime/b.c").write_text("\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;")
        assert len(check(root)) == 2, check(root)
        (root / "docs/design.md").write_text("nothing\n")
        (root / "runtime/a.c").write_text("\n")
        assert len(check(root)) == 4, check(root)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    problems = check(options.root)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
