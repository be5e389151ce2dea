#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers of records are carried by their table, gen/records.ini: few files of runtime/ name one, and
those that follow the table name none.

    fields.py check        looks for the numbers in runtime/
    fields.py self-test    the check finds what it is for
"""
import pathlib
import re
import sys

from style import check_or_test, code_of, run_check

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "gen"))
import records  # noqa: E402

MOST = 8  # files: writers, the reader, and where a number means something of its own
FEWER = {"flops": 6}
# Names that other structs have, too.
COMMON = {"count", "total", "min", "max", "first", "nested", "self", "hits", "calls", "bytes", "squares",
          "recursions", "total_ns", "self_ns", "waits", "gpu_calls"}
# Outputs of all numbers, and what adds, subtracts and merges them. By file, wherever it is.
FOLLOWERS = {"columns.c", "records.c", "rows_sum.c", "stat.c", "stat_walk.c", "export_columns.c",
             "export_csv.c", "export_otlp.c", "metrics.c", "metrics.h", "history.c", "history.h",
             "history_write.c", "diff.c", "diff_read.c", "diff_show.c", "diff_formats.c", "report_cells.c",
             "merge_nodes.c"}


def number_names(root):
    fixed, grouped, _ = records.read_all(str(root / "gen" / "records.ini"))
    names = {entry.member for entries in fixed.values() for entry in entries}
    return (names | {entry.name for entry in grouped}) - COMMON


def check(root):
    found = {name: [] for name in number_names(root)}
    for path in sorted((root / "runtime").rglob("*.[ch]")):
        words = {word[8:].lower() if word.startswith("MEASURE_") else word
                 for word in re.findall(r"\w+", code_of(path.read_text(encoding="utf-8")))}
        for name in words & found.keys():
            found[name].append(path)
            if path.name in FOLLOWERS:
                yield f"{path.relative_to(root)}: names {name}, but follows gen/records.ini"
    for name, paths in sorted(found.items()):
        if len(paths) > FEWER.get(name, MOST):
            where = ", ".join(str(path.relative_to(root)) for path in paths)
            yield f"{name}: named by {len(paths)} files, {FEWER.get(name, MOST)} may: {where}"


def check_tree(root):
    for name in FOLLOWERS - {path.name for path in (root / "runtime").rglob("*.[ch]")}:
        yield f"no file is called {name}: correct FOLLOWERS"
    yield from check(root)


def self_test():
    table = "".join(f"[{name}]\nnumber = {at}\ngroup = g\nadd = sum\nof = own\ndoc = D.\n"
                    for at, name in enumerate(("flops", "sent_ns")))
    for files, said in (
            ({"runtime/model/a.c": "x = r->flops; /* sent_ns */"}, []),
            ({"runtime/tool/metrics.c": "x = measure[MEASURE_SENT_NS];"},
             ["runtime/tool/metrics.c: names sent_ns, but follows gen/records.ini"]),
            ({f"runtime/a{at}.c": "x.flops = 1;" for at in range(7)},
             ["flops: named by 7 files, 6 may: " + ", ".join(f"runtime/a{at}.c" for at in range(7))])):
        faults = run_check(check, {"gen/records.ini": table, **files})
        if faults != said:
            yield f"{files}: {faults}"


if __name__ == "__main__":
    sys.exit(check_or_test(__doc__, check_tree, self_test))
