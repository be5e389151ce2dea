#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layers of runtime/ against their table, runtime/layers.txt: which folder may include and link
against which. A lower folder never includes, declares or calls what a higher one defines.

    layers.py includes                  every #include follows the table
    layers.py link --cc CC --layer NAME --objects FILE   the layer and those below it define all
                                        that the layer calls; FILE lists "layer object" per line
    layers.py document                  docs/design.md has the diagram of the table; UPDATE=1 in the
                                        environment writes it
    layers.py self-test                 the checks find what they are for
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from style import ROOT, print_faults, run_check

# The public headers are for any C and C++ compiler; the runtime is for machines without a GPU too.
PUBLIC_SYSTEM = ["stddef.h", "stdint.h"]
RUNTIME_NO_SYSTEM = re.compile(r"(cuda|cupti|nvtx|nvTools|nvml)[^/]*$|^stdatomic\.h$")
# Compiled only where the header is.
ONE_FILE = [("nvtx.c", "nvtx3/nvToolsExt.h"), ("emit_nvtx.c", "nvtx3/nvToolsExt.h"),
            ("gpu_cudart.c", "cuda_runtime_api.h"), ("gpu_cudart.c", "cuda_profiler_api.h")]
# The one reference upwards, by session/connect.c: it has the linker take the file of libstint.a
# whose destructor prints the report at exit. Nothing is called by it; a shared library has none.
TAKEN = "stint_report_at_exit"
# Headers of the public half that include no other one.
LEAVES = ["impl_types.h", "impl_switch.h", "impl_off.h", "impl_guard.h"]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def read_table(root):
    """Layer -> the layers that it may include, in the order of the table."""
    table = {}
    for line in (root / "runtime/layers.txt").read_text().splitlines():
        match = re.match(r"([a-z/]+):\s*(.*)$", line)
        if match:
            table[match[1]] = match[2].split()
    return table


def check_table(table):
    seen = []
    for layer, below in table.items():
        for other in below:
            if other not in seen:
                yield f"layers.txt: {layer} lists {other}, which is not above it in the file"
        seen.append(layer)


def find_below(table, layer):
    """All layers that a layer may link against."""
    found = set()
    todo = list(table[layer])
    while todo:
        other = todo.pop()
        if other not in found:
            found.add(other)
            todo += table[other]
    return [other for other in table if other in found]


def read_includes(path):
    return INCLUDE.findall(path.read_text())


def check_runtime_file(table, root, path):
    layer = path.relative_to(root / "runtime").parent.as_posix()
    if layer not in table:
        yield f"{path}: the folder {layer} is not in runtime/layers.txt"
        return
    for quote, target in read_includes(path):
        if quote == "<":
            if RUNTIME_NO_SYSTEM.search(target) and (path.name, target) not in ONE_FILE:
                yield f"{path}: includes <{target}>, which not every machine has"
        elif "/" not in target:
            if not target.endswith(".inc") and not (path.parent / target).exists():
                yield f"{path}: includes {target}, which is not in its folder"
        else:
            folder = target.rpartition("/")[0]
            if folder.split("/")[0] == "stint":
                continue
            if not (root / "runtime" / target).exists():
                yield f"{path}: includes {target}, which does not exist"
            elif folder == layer:
                yield f"{path}: includes {target} of its own folder by the folder's name"
            elif folder not in table[layer]:
                yield f"{path}: includes {target}; {layer} may include: {' '.join(table[layer])}"


def check_public_file(path):
    for quote, target in read_includes(path):
        if quote == "<" and target not in PUBLIC_SYSTEM:
            yield f"{path}: includes <{target}>; a public header may only: {PUBLIC_SYSTEM}"
        elif quote == '"' and not (path.parent / target).exists():
            yield f"{path}: public, includes {target}, which is not a public header"
        elif quote == '"' and path.name in LEAVES:
            yield f"{path}: includes {target}; it may include no other header"


def check_names(files):
    first = {}
    for path in files:
        if path.name in first:
            yield f"{path}: the name is taken by {first[path.name]}"
        first.setdefault(path.name, path)


def check_includes(root):
    table = read_table(root)
    yield from check_table(table)
    runtime = sorted(p for p in (root / "runtime").rglob("*") if p.suffix in (".c", ".h"))
    public = sorted(p for p in (root / "include").rglob("*") if p.suffix in (".h", ".hpp"))
    if not runtime or not public:
        yield f"{root}: no include and runtime to check"
    yield from check_names(runtime + public)
    for path in runtime:
        yield from check_runtime_file(table, root, path)
    for path in public:
        yield from check_public_file(path)


def link_layer(compiler, table, layer, objects, folder):
    """The layer's undefined symbols, as the linker names them; objects: layer -> its files."""
    needed = [layer] + find_below(table, layer)
    files = [str(path) for name in needed for path in objects.get(name, [])]
    response = pathlib.Path(folder, "objects.txt")
    response.write_text("\n".join(files))
    done = subprocess.run([*compiler, "-shared", "-o", str(pathlib.Path(folder, "layer.so")),
                           "-Wl,-z,defs", f"@{response}", "-pthread", "-lm", "-ldl"],
                          capture_output=True, text=True, check=False)
    if not done.returncode:
        return []
    return sorted(set(re.findall(r"undefined reference to `(\w+)'", done.stderr))) or [done.stderr]


def read_objects(path):
    objects = {}
    for line in pathlib.Path(path).read_text().splitlines():
        layer, files = line.split(" ", 1)
        objects[layer] = files.split(";")
    return objects


def direct_arrows(table):
    """Layer -> those below it, without the arrows that a longer way implies."""
    return {layer: [b for b in below
                    if not any(b in find_below(table, other) for other in below if other != b)]
            for layer, below in table.items()}


def longest_way(arrows, start):
    ways = [longest_way(arrows, below) for below in arrows[start]]
    return [start] + max(ways, key=len, default=[])


def make_diagram(table):
    """Every arrow once, in ways from top to bottom, the longest first."""
    arrows = direct_arrows(table)
    lines = []
    while any(arrows.values()):
        way = max((longest_way(arrows, layer) for layer in arrows), key=len)
        for upper, lower in zip(way, way[1:]):
            arrows[upper].remove(lower)
        lines.append(" \u2500\u2500> ".join(way) + "\n")
    return "".join(lines)


DIAGRAM = re.compile(r"(?<=```text\n)[^`]*\u2500\u2500> base\n[^`]*(?=```\n)")


def check_document(root, update=False):
    """docs/design.md has the diagram in its first block of code."""
    path = root / "docs/design.md"
    text = path.read_text(encoding="utf-8")
    diagram = make_diagram(read_table(root))
    found = DIAGRAM.search(text)
    if found and update:
        path.write_text(text.replace(found[0], diagram), encoding="utf-8")
    elif not found or found[0] != diagram:
        yield f"{path}: expected this diagram (UPDATE=1 writes it):\n{diagram}"


# ---- The checks themselves.

DIAGRAM_OF_TABLE = """session \u2500\u2500> read \u2500\u2500> base
session \u2500\u2500> record \u2500\u2500> base
"""
TABLE = "base:\nrecord: base\nread: base\nsession: read record base\n"
RIGHT = {
    "include/stint/stint.h": '#include <stdint.h>\n#include "detail/impl_layout.h"\n',
    "include/stint/detail/impl_layout.h": "",
    "include/stint/detail/impl_off.h": "",
    "docs/design.md": "# Design\n\n```text\n%s```\n" % DIAGRAM_OF_TABLE,
    "runtime/layers.txt": TABLE,
    "runtime/base/lock.h": "",
    "runtime/base/lock.c": '#include "lock.h"\n#include <pthread.h>\n',
    "runtime/record/thread.c": '#include "base/lock.h"\n#include <stint/stint.h>\n',
    "runtime/read/rows.h": "",
    "runtime/session/report.c": '#include "read/rows.h"\n#include "table.inc"\n',
}
FAULTS = [
    ("runtime/base/lock.c", '#include "read/rows.h"', "base may include"),
    ("runtime/record/thread.c", '#  include "read/rows.h"', "record may include"),
    ("runtime/record/thread.c", '#include "rows.h"', "not in its folder"),
    ("runtime/record/thread.c", '#include "base/gone.h"', "does not exist"),
    ("runtime/base/lock.c", '#include "base/lock.h"', "by the folder's name"),
    ("runtime/record/thread.c", "#include <cuda_runtime.h>", "not every machine has"),
    ("runtime/record/thread.c", "#include <stdatomic.h>", "not every machine has"),
    ("runtime/more/new.c", "", "not in runtime/layers.txt"),
    ("runtime/session/lock.h", "", "the name is taken"),
    ("runtime/layers.txt", "late: later\nlater:", "not above it"),
    ("runtime/layers.txt", "tool: read base", "expected this diagram"),
    ("include/stint/stint.h", "#include <stdlib.h>", "may only"),
    ("include/stint/stint.h", '#include "../../runtime/base/log.h"', "not a public header"),
    ("include/stint/detail/impl_off.h", '#include "impl_layout.h"', "no other header"),
]


def self_test(compiler):
    for changed, line, expected in [(None, "", None)] + FAULTS:
        files = dict(RIGHT)
        if changed:
            files[changed] = files.get(changed, "") + line + "\n"
        found = run_check(check_includes, files) + run_check(check_document, files)
        if not (any(expected in text for text in found) if expected else not found):
            yield f"{changed} {line}: expected {expected}, found {found}"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, other in (("low", "high"), ("high", "low")):
            (root / f"{name}.c").write_text(f"void {other}(void);\n"
                                            f"void {name}(void) {{ {other}(); }}\n")
            subprocess.run([*compiler, "-fPIC", "-c", root / f"{name}.c", "-o", root / f"{name}.o"],
                           check=True)
        objects = {name: [root / f"{name}.o"] for name in ("low", "high")}
        table = {"low": [], "high": ["low"]}
        if link_layer(compiler, table, "low", objects, folder) != ["high"]:
            yield "a call upwards was not found"
        if link_layer(compiler, table, "high", objects, folder):
            yield "a call downwards was refused"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("action", choices=["includes", "link", "document", "self-test"])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--layer")
    parser.add_argument("--objects")
    options = parser.parse_args()
    compiler = options.cc.split(";")
    if options.action == "self-test":
        return print_faults(self_test(compiler))
    if options.action == "document":
        return print_faults(check_document(ROOT, bool(os.environ.get("UPDATE"))))
    if options.action == "includes":
        return print_faults(check_includes(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        return print_faults(f"{options.layer} calls {name}, which no layer below it defines"
                            for name in link_layer(compiler, read_table(ROOT), options.layer,
                                                   read_objects(options.objects), folder)
                            if name != TAKEN)


if __name__ == "__main__":
    sys.exit(main())
