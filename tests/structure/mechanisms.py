#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms that exist once, in runtime/base: other files of runtime/ have no copy of them. What
differs for a reason is in ALLOWED with the reason; an entry without use is a fault, too.

    mechanisms.py check        looks for copies in runtime/
    mechanisms.py self-test    the check finds what it is for

Not here: mutexes (tests/lock_check.py) and numbers with a fraction (tests/number_use.py).
"""
import re
import sys

from style import check_or_test, code_of, run_check

# Mechanism -> (where it is, what a copy looks like).
MECHANISMS = {
    "hash": ("runtime/base/hash.h: hash_bytes, hash_number",
             # golden ratio, splitmix64, murmur, FNV of 64 and 32 bits
             r"0x9e3779b97f4a7c1[53]|0x9e3779b[19]|0xbf58476d1ce4e5b9|0x94d049bb133111eb|"
             r"0xff51afd7ed558ccd|0xc4ceb9fe1a85ec53|0x85ebca6b|0xc2b2ae35|0xcc9e2d51|0x1b873593|"
             r"0x100000001b3|1099511628211|0xcbf29ce484222325|14695981039346656037|"
             r"16777619|0x01000193|0x811c9dc5|2166136261"),
    "hash map": ("runtime/base/hash_map.h",
                 # the step to the next place: at = (at + 1) & mask, % PLACES
                 r"(\b\w+) = \(\1 \+ \w+\) (?:& [^;)]*(?:mask|- 1)|% [A-Z]\w*)|"
                 r"\[\(\w+ \+ [a-z]\w*\) (?:&|%) [^\]]+\]"),
    "sort": ("runtime/base/order.h: order_by, order_in",
             r"\bqsort(?:_r)?\s*\(|\bwidth \*= 2\b|\bwidth <<= 1\b|\bsift\w*\("),
    "errno": ("runtime/base/errno_keep.h: ERRNO_KEEP",
              r"\bint \w+ = errno\b(?!;\s*\w+\()|[.]\w+ = errno\b|\berrno = (?!0;|E[A-Z])[^=]"),
    "atomic replacement of a file": ("runtime/system/replace_file.h",
                                     r"\brename(?:at2?)?\s*\(|SYS_renameat2?\b"),
    "write": ("runtime/base/write_all.h",
              r"(?<![\w.>])p?writev?(?:64)?\s*\("),
    "whole number": ("runtime/base/number.h: number_read_whole, number_parse_whole",
                     r"\b(?:strto(?:u?ll?|[iu]max|q|uq)|ato(?:i|ll?))\s*\(|\* 10 \+ "),
    "saturating arithmetic": ("runtime/base/arithmetic.h: saturating_add",
                              r"\b(\w[\w.>-]*) \+ [^;?]* < (?:\1|\w[\w.>-]*) \? UINT(?:64|32)_MAX|"
                              r"__builtin_(?:add|mul|sub)\w*_overflow"),
    "growing memory": ("runtime/base/scratch.h: pages_grow, scratch_array",
                       r"\brealloc\s*\(|\bmremap\s*\("),
}

TOOL_SORTS = "the tool may call malloc and so the C library's sort"

# File, mechanism, times, reason.
ALLOWED = [
    ("base/hash.c", "hash", 3, "the mechanism"),
    ("base/hash_map.c", "hash map", 1, "the mechanism"),
    ("base/order.c", "sort", 1, "the mechanism"),
    ("base/errno_keep.h", "errno", 2, "the mechanism"),
    ("system/replace_file.c", "atomic replacement of a file", 1, "the mechanism"),
    ("base/write_all.c", "write", 1, "the mechanism"),
    ("base/number.c", "whole number", 2, "the mechanism"),
    ("base/scratch.c", "growing memory", 2,
     "pages_grow itself, and pages that are replaced where they are, for the child of a fork"),
    ("system/lock.c", "errno", 2,
     "kept from one function to another: all locks are taken, then given"),
    ("system/lock.c", "write", 1,
     "a violated order ends the process, which write_all may not wait in"),
    ("base/sink.c", "errno", 1, "reports the first error of several"),
    ("base/print.c", "whole number", 1,
     "the width in a format, which is a constant of the program"),
    ("arena/run_file.c", "errno", 2, "kept unless the first reservation fails"),
    ("arena/run_file.c", "atomic replacement of a file", 3,
     "gives the mapped file its name where that is free, with and without renameat2"),
    ("compat/profiler/profiler.c", "errno", 2, "kept from one function to another"),
    ("session/reference.c", "hash", 1, "arithmetic of a fixed amount: hashes nothing"),
    ("record/site.c", "hash map", 2,
     "grows a few places with each new site, so that the lock is held for a bounded time"),
    ("record/tree.c", "hash map", 2,
     "read by signal handlers while it grows; the first table is that of the inline path"),
    ("mem/mem_calls.c", "growing memory", 5,
     "defines realloc and mremap, and calls those that come next"),
    ("record/dynamic.c", "hash map", 3, "a cache: four places are tried, then one is given up"),
    ("adapters/range_tables.c", "hash map", 1,
     "of fixed size and without a lock: it is used in signal handlers"),
    ("gpu/event_queue.c", "hash map", 1,
     "queues of fixed number: eight places are tried, then a queue is shared"),
    ("activity/activity_memory.c", "hash map", 2, "the only table whose entries are removed"),
    ("tool/diff/diff.c", "sort", 1, TOOL_SORTS),
    ("tool/diff/diff_math.c", "sort", 3, TOOL_SORTS),
    ("tool/run/run_files.c", "sort", 1, TOOL_SORTS),
    ("tool/top/top_table.c", "sort", 2, TOOL_SORTS),
    ("tool/run/run_files.c", "growing memory", 1, "a list of paths from malloc, as strdup's are"),
    ("tool/common/progress.c", "write", 2, "one attempt, in a signal handler"),
]


def find_copies(root):
    """(file, mechanism) -> line numbers."""
    found = {}
    for path in sorted((root / "runtime").rglob("*.[ch]")):
        name = path.relative_to(root / "runtime").as_posix()
        code = code_of(path.read_text(encoding="utf-8"))
        for mechanism, (_, pattern) in MECHANISMS.items():
            for match in re.finditer(pattern, code):
                line = code.count("\n", 0, match.start()) + 1
                found.setdefault((name, mechanism), []).append(line)
    return found


def check(root, allowed):
    if not (root / "runtime").is_dir():
        yield f"{root}: no runtime to check"
    found = find_copies(root)
    times = {(name, mechanism): count for name, mechanism, count, _ in allowed}
    for (name, mechanism), lines in found.items():
        may = times.pop((name, mechanism), 0)
        if len(lines) > may:
            where = ", ".join(map(str, lines))
            extra = f", {may} allowed" if may else ""
            yield (f"runtime/{name}:{where}: {mechanism}: {len(lines)} found{extra}: "
                   f"use {MECHANISMS[mechanism][0]}")
        elif len(lines) < may:
            yield f"runtime/{name}: {mechanism}: {may} allowed, {len(lines)} found: correct ALLOWED"
    for (name, mechanism), may in times.items():
        yield f"runtime/{name}: {mechanism}: {may} allowed, none found: correct ALLOWED"


# ---- The check itself.

COPIES = {
    "hash": ["h ^= h * 0x9e3779b97f4a7c15u;", "h *= 1099511628211u;", "h = 2166136261;"],
    "hash map": ["at = (at + 1) & mask;", "at = (at + 1) & (size - 1);", "i = (i + 1) % PLACES;",
                 "at = (at + 1) & t->mask;", "p = &t[(hash + i) & (N - 1)];"],
    "sort": ["qsort(a, n, sizeof *a, compare);", "for (w = 1; w < n; width *= 2) {"],
    "errno": ["int saved = errno;", "    errno = saved;", "struct v v = {.error = errno};",
              "errno = v.error;"],
    "atomic replacement of a file": ["rename(from, to);", "syscall(SYS_renameat2, 0);"],
    "write": ["n = write(fd, p, left);", "pwrite(fd, p, 1, 0);"],
    "whole number": ["n = strtoul(s, &end, 10);", "n = atoi(s);", "n = n * 10 + (*p - '0');"],
    "saturating arithmetic": ["return a + b < a ? UINT64_MAX : a + b;",
                              "__builtin_add_overflow(a, b, &c);"],
    "growing memory": ["p = realloc(p, n);"],
}
RIGHT = ["/* int saved = errno; */", 'log("rename(a, b)");', "if (errno == EINTR) {", "errno = 0;",
         "errno = ENOMEM;", "format->write(sink, r);", "run_write(r);", "merge_rename(a);",
         "x = (a + 1) & 3;", "at = at + 1;", "e = &events[i & from->mask];", "v.why = number;",
         "strerror(errno)", "return errno;"]


def find_in(line):
    files = {"runtime/model/rows.c": f"\n{line}\n"}
    return (run_check(find_copies, files),
            run_check(lambda root: check(root, [("model/rows.c", "errno", 1, "a test")]), files))


def self_test():
    for mechanism, lines in COPIES.items():
        for line in lines:
            found, faults = find_in(line)
            if found != [("model/rows.c", mechanism)]:
                yield f"{line}: expected {mechanism}, found {found}"
            if (mechanism == "errno") != (not faults):
                yield f"{line}: {faults}"
    for line in RIGHT:
        found, faults = find_in(line)
        if found:
            yield f"{line}: {found}"
        if len(faults) != 1 or "correct ALLOWED" not in faults[0]:
            yield f"{line}: an entry that is not needed: {faults}"


def check_tree(root):
    return check(root, ALLOWED)


if __name__ == "__main__":
    sys.exit(check_or_test(__doc__, check_tree, self_test))
