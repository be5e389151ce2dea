#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that belong to a back end: no other layer of runtime/ has them, neither in code nor in
comments. A back end hands over its words in its ops (arena/gpu_words.h).

    words.py check        looks for them in runtime/
    words.py self-test    the check finds what it is for
"""
import re
import sys

from style import check_or_test, run_check

# The patterns of each vendor, and the files, as patterns of their paths in runtime/, that may have
# them.
VENDORS = {
    "CUDA": (r"[Cc][Uu][Dd][Aa]|\bcu[A-Z]\w*|\bCU[a-z_]\w*", "cupti/ gpu/cuda_codes gpu/gpu_backends.h "
             "gpu/gpu_cudart.c gpu/gpu_driver.c emit/emit_nvtx adapters/ session/connect.c"),
    "CUPTI": (r"cupti", "cupti/ gpu/cuda_codes.h session/connect.c"),
    "NVIDIA": (r"nvidia|\bnsys\b|nsight|nvprof", "cupti/ gpu/gpu_driver.c gpu/gpu_cudart.c "
               "emit/emit_nvtx adapters/"),
}

# File, a part of the line, reason.
ALLOWED = [
    ("model/activity_name.h", "nvprof", "the format that scripts read"),
]


def is_allowed(name, line):
    return any(name == file and part in line for file, part, _ in ALLOWED)


def check(root):
    for path in sorted((root / "runtime").rglob("*.[ch]")):
        name = path.relative_to(root / "runtime").as_posix()
        words = [(vendor, re.compile(pattern if vendor == "CUDA" else "(?i)" + pattern))
                 for vendor, (pattern, files) in VENDORS.items()
                 if not any(name.startswith(file) for file in files.split())]
        for number, line in enumerate(path.read_text().split("\n"), 1):
            for vendor, pattern in words:
                found = pattern.search(line)
                if found and not is_allowed(name, line):
                    yield f"runtime/{name}:{number}: '{found[0]}': {vendor} is named by its back " \
                          "end alone"


def self_test():
    cases = {
        "report/a.c": ("copies (cudaMallocHost)", 1),
        "record/b.c": ("/* as cuCtxCreate does */", 1),
        "capture/c.c": ("the Cupti tracer", 1),
        "tool/d.c": ("on an NVIDIA GPU", 1),
        "activity/e.c": ("the current scope accumulates, cut, curve", 0),
        "cupti/f.c": ("CUPTI calls cuInit", 0),
        "gpu/gpu_driver.c": ("cuInit", 0),
        "gpu/event_pool.c": ("cuEventRecord", 1),
    }
    for name, (text, count) in cases.items():
        if len(run_check(check, {"runtime/" + name: text})) != count:
            yield f"{name}: {text}: expected {count} faults"


if __name__ == "__main__":
    sys.exit(check_or_test(__doc__, check, self_test))
