#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The include graph against the arrows of the design: macro -> site -> recorder -> arena ->
snapshot -> report. What is recorded flows that way; a stage knows those before it that it reads,
and none of those after it. The rules are the tables below.

    include_graph.py [--root DIR]    checks include/stint and runtime
    include_graph.py --self-test     the checker finds what it is for
"""
import argparse
import fnmatch
import pathlib
import re
import sys
import tempfile

RECORDING = ["recorder", "thread", "tree", "dynamic", "handle"]
KNOWING = ["site", "set", "registry", "arena"]
READING = ["snapshot", "baseline", "interval", "rows", "rates"]
REPORTING = ["report*", "output", "exit_report"]
# What a tracer's records become; activity_name and activity_table read it.
ACTIVITY = ["activity", "activity_book", "activity_call", "activity_device", "activity_lane",
            "activity_launch", "activity_line", "activity_memory", "activity_rows",
            "activity_steps", "activity_sweep", "activity_text", "activity_time"]

# Module -> the only modules it may include (itself aside): the leaves, and those that only format.
ONLY = [
    ("clock", ["impl_clock"]),
    ("status", []),
    ("scratch", []),
    ("lock", ["lock_table"]),
    ("histogram", ["impl_layout"]),
    ("filter", []),
    ("schedule", ["api"]),
    ("activity_kind", []),
    ("activity_sweep", ["activity_kind"]),
    ("capture_rules", ["config", "log"]),
    ("watch", ["capture_rules", "clock"]),
    ("nvtx", ["arena", "config", "log", "scratch"]),
    ("nvtx_none", ["nvtx"]),
    ("name", []),
    ("number", []),
    ("terminal", ["utf8"]),
    ("text", ["config", "number", "scratch", "status", "terminal"]),
    ("report_*", ["report", "report_*", "snapshot", "rows", "text", "config", "status", "machine",
                  "scratch", "order", "name", "number", "fluid_rows", "activity_kind", "activity_name",
                  "activity_table", "occupancy",
                  "gpu", "log", "histogram"]),
    # The public header's parts. impl_guard holds macros and nothing else.
    ("impl_types", []), ("impl_switch", []), ("impl_off", []), ("impl_guard", []),
    ("impl_layout", ["impl_types"]), ("impl_clock", ["impl_types"]),
    ("impl_record", ["impl_clock", "impl_layout"]),
    ("impl_scope", ["impl_record"]),
    ("impl_capture", ["impl_layout"]),
]

# Modules -> modules they may not reach, by whatever way.
NEVER = [
    (["report", "report_*", "rows", "rates", "text", "fluid_*"], RECORDING + KNOWING),
    (["report_*"], ["impl_record", "impl_scope"]),
    (["snapshot", "baseline"], RECORDING + REPORTING),
    (["arena"], RECORDING + READING + REPORTING + ["site", "registry"]),
    (RECORDING + KNOWING, READING + REPORTING),
    (ACTIVITY, READING + REPORTING + ["cupti*"]),
    (READING + REPORTING, ACTIVITY),
    (["gpu", "gpu_*"], RECORDING + READING + REPORTING),
    (["capture", "capture_*"], RECORDING + READING + REPORTING + ["step"]),
    (["config", "env", "log", "filter", "machine", "output"], RECORDING + KNOWING + READING),
]

# The public headers are for any C and C++ compiler; the runtime is for machines without a GPU too.
PUBLIC_SYSTEM = ["stddef.h", "stdint.h"]
RUNTIME_NO_SYSTEM = ["cuda*", "cupti*", "nvtx*", "nvTools*", "nvml*", "stdatomic.h"]
# Built only where the header is.
ONE_FILE = [("nvtx.c", "nvtx3/nvToolsExt.h"), ("gpu_cudart.c", "cuda_runtime_api.h"),
            ("gpu_cudart.c", "cuda_profiler_api.h")]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


class Tree:
    """Files by name: names are unique, so an include is known by its last part."""

    def __init__(self, root):
        self.problems = []
        self.files = {}  # name -> (path, is it public)
        self.system = {}  # name -> system headers
        self.own = {}  # name -> own headers
        for folder, public in (("include/stint", True), ("runtime", False)):
            for path in sorted((root / folder).rglob("*")):
                if path.suffix in (".h", ".hpp", ".c", ".cpp"):
                    self.add(path, public)
        for name in self.files:
            self.read(name)

    def add(self, path, public):
        if path.name in self.files:
            self.problems.append(f"{path}: the name is taken by {self.files[path.name][0]}")
        self.files[path.name] = (path, public)

    def read(self, name):
        path, public = self.files[name]
        self.own[name], self.system[name] = [], []
        for quote, target in INCLUDE.findall(path.read_text()):
            last = target.split("/")[-1]
            if last in self.files:
                self.own[name].append(last)
                if public and not self.files[last][1]:
                    self.problems.append(f"{path}: public, includes {target} of the runtime")
            elif quote == '"' and not target.endswith(".inc"):  # generated ones are *.inc
                self.problems.append(f"{path}: includes {target}, which is nowhere")
            elif quote == "<":
                self.system[name].append(target)

    def reach(self, name):
        """Header -> the way there, over headers."""
        found, todo = {}, [(name, [name])]
        while todo:
            at, way = todo.pop(0)
            for header in self.own[at]:
                if header not in found:
                    found[header] = way + [header]
                    todo.append((header, found[header]))
        return found


def stem(name):
    return name.rsplit(".", 1)[0]


def check_rules(tree):
    for name in sorted(tree.files):
        module = stem(name)
        ways = tree.reach(name)
        for pattern, allowed in ONLY:
            if not matches(module, [pattern]):
                continue
            for header in tree.own[name]:
                if stem(header) != module and not matches(stem(header), allowed):
                    yield (f"{name} includes {header}; "
                           f"{pattern} may include only: {' '.join(allowed)}")
        for patterns, forbidden in NEVER:
            if not matches(module, patterns):
                continue
            for header, way in ways.items():
                if matches(stem(header), forbidden) and stem(header) != module:
                    yield f"{' -> '.join(way)}: {module} may not know {stem(header)}"
        public = tree.files[name][1]
        for header in tree.system[name]:
            if public and header not in PUBLIC_SYSTEM:
                yield f"{name} includes <{header}>; a public header may only: {PUBLIC_SYSTEM}"
            elif (not public and (name, header) not in ONE_FILE
                  and matches(header.split("/")[-1], RUNTIME_NO_SYSTEM)):
                yield f"{name} includes <{header}>, which not every machine has"
        if name in ways:
            yield f"a circle: {' -> '.join(ways[name])}"


def problems(root):
    tree = Tree(root)
    if not any(public for _, public in tree.files.values()) or len(tree.files) < 4:
        return [f"{root}: no include/stint and runtime to check"]
    return tree.problems + list(check_rules(tree))


# A small tree that is right; each fault is (file, a line more, what has to be found).
RIGHT = {
    "include/stint/stint.h": "#include <stdint.h>\n#include \"impl_layout.h\"\n",
    "include/stint/impl_layout.h": "",
    "include/stint/impl_record.h": "",
    "runtime/clock.h": "",
    "runtime/scratch.h": "",
    "runtime/thread.h": "#include \"clock.h\"\n",
    "runtime/recorder.c": "#include \"recorder.h\"\n#include <pthread.h>\n",
    "runtime/recorder.h": "#include \"thread.h\"\n#include <stint/impl_record.h>\n",
    "runtime/arena.h": "#include \"stint/impl_layout.h\"\n#include \"clock.h\"\n",
    "runtime/snapshot.h": "#include \"clock.h\"\n",
    "runtime/snapshot.c": "#include \"snapshot.h\"\n#include \"arena.h\"\n",
    "runtime/report.h": "#include \"snapshot.h\"\n",
    "runtime/report_table.c": "#include \"report.h\"\n#include \"table.inc\"\n",
    "runtime/gpu_none.c": "",
    "runtime/gpu_cudart.c": "#include <cuda_runtime_api.h>\n",
    "runtime/nvtx.c": "#include <nvtx3/nvToolsExt.h>\n",
}
FAULTS = [
    ("runtime/report_table.c", '#include "recorder.h"', "may include only"),
    ("runtime/report_table.c", '#  include "arena.h"', "may include only"),
    ("runtime/report.h", '#include "recorder.h"',
     "report_table.c -> report.h -> recorder.h: report_table may not know recorder"),
    ("runtime/snapshot.h", '#include "thread.h"', "snapshot may not know thread"),
    ("runtime/snapshot.c", '#include "report.h"', "snapshot may not know report"),
    ("runtime/recorder.c", '#include "snapshot.h"', "recorder may not know snapshot"),
    ("runtime/gpu_none.c", '#include "recorder.h"', "gpu_none may not know recorder"),
    ("runtime/gpu_none.c", "#include <cuda_runtime.h>", "not every machine has"),
    ("runtime/recorder.c", "#include <nvtx3/nvToolsExt.h>", "not every machine has"),
    ("runtime/clock.h", '#include "scratch.h"', "may include only"),
    ("runtime/clock.h", '#include "thread.h"', "a circle: clock.h -> thread.h -> clock.h"),
    ("runtime/scratch.h", '#include "missing.h"', "which is nowhere"),
    ("include/stint/stint.h", '#include "../../runtime/arena.h"', "public, includes"),
    ("include/stint/stint.h", "#include <stdatomic.h>", "a public header may only"),
    ("include/stint/impl_layout.h", '#include "impl_record.h"', "may include only"),
    ("include/stint/clock.h", "", "the name is taken"),
]


def self_test():
    failed = 0
    for changed, line, expected in [(None, "", None)] + FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            files = dict(RIGHT)
            if changed:
                files[changed] = files.get(changed, "") + line + "\n"
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            found = problems(root)
        right = any(expected in f for f in found) if expected else not found
        if not right:
            failed += 1
            print(f"{changed} {line}: expected {expected}, found {found}")
    print(f"{len(FAULTS) + 1 - failed} of {len(FAULTS) + 1} trees judged rightly")
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
    print("\n".join(found) if found else "every include follows an arrow")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
