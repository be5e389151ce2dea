#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory of the tool grows by at most so many bytes with each name of the run file.

    tool_memory_test.py TOOL PROGRAM

The peak of the tool is counted without the used part of the files that it reads. Two sizes: what
each name adds is the slope between them. A report of the process itself has all of its text in
memory, too; the peak is counted without that of the same process with no report.
A trace that a command does not show takes no memory: reserved space of its rings is not read, not even
after another program has read it, when the file system calls it data.
"""
import pathlib
import subprocess
import sys
import tempfile

from cases import environment, field, header_bytes, header_fields, is_sanitized, peak_kb

TOOL, PROGRAM = sys.argv[1:3]
FEW, MANY = 15000, 60000
BYTES_PER_NAME = 730
BYTES_IN_PROCESS = 880
TRACED_NAMES, TRACED_KB = 100, 4096
FEW_SPANS, MANY_SPANS = 1 << 16, 1 << 20
BYTES_PER_SPAN = 16
COMMANDS = {
    "table": ["report"],
    "tree": ["report", "--view", "tree"],
    "corrected": ["report", "--view", "table,corrected"],
    "json": ["export", "--to", "json", "-o", "/dev/null"],
    "csv": ["export", "--to", "csv", "-o", "/dev/null"],
    "info": ["info"],
    "diff": ["diff"],
}


def peak_bytes(case, file):
    """Returns the peak memory without the files themselves; diff reads the file twice."""
    files = [file] * (2 if case == "diff" else 1)
    used = field(header_bytes(file), header_fields()["used"])
    return peak_kb(PROGRAM, TOOL, *COMMANDS[case], *files) * 1024 - len(files) * used


def peak_in_process(report, names):
    return 1024 * peak_kb(PROGRAM, "/usr/bin/env", f"STINT_REPORT={report}", "STINT_OUTPUT=/dev/null",
                          "STINT_MEMORY=1024M", PROGRAM, "many", str(names))


def exceeds_limit(case, files):
    if case == "in process":
        peak = {names: peak_in_process("table", names) - peak_in_process("none", names) for names in files}
        limit = BYTES_IN_PROCESS
    else:
        peak = {names: peak_bytes(case, file) for names, file in files.items()}
        limit = BYTES_PER_NAME * (2 if case == "diff" else 1)
    per_name = (peak[MANY] - peak[FEW]) / (MANY - FEW)
    print("%s: %.0f bytes for each name, limit %d" % (case, per_name, limit))
    if per_name > limit:
        print("A number that few rows have belongs in struct stint_row_extra. One that all rows have raises "
              "the limit in %s by its size." % __file__)
    return not 0 < per_name <= limit


def exceeds_with_trace(folder):
    file = pathlib.Path(folder) / "traced.stint"
    subprocess.run([PROGRAM, "many", str(TRACED_NAMES)], check=True, stderr=subprocess.DEVNULL,
                   env=environment(STINT_FILE=file, STINT_TRACE="256M"))
    with open(file, "rb") as data:
        while data.read(1 << 20):
            pass
    peak = {name: peak_kb(PROGRAM, TOOL, *COMMANDS[name], file) for name in ("table", "tree", "info")}
    print("with a trace: %s kB, limit %d" % (peak, TRACED_KB))
    return max(peak.values()) > TRACED_KB


def exceeds_with_spans(folder):
    """A span adds memory for its order; the ring is not read whole."""
    files = {}
    for spans in (FEW_SPANS, MANY_SPANS):
        files[spans] = str(pathlib.Path(folder) / ("spans%d.stint" % spans))
        subprocess.run([PROGRAM, "spans", str(spans)], check=True, stderr=subprocess.DEVNULL,
                       env=environment(STINT_FILE=files[spans], STINT_TRACE="%dK" % (spans // 16),
                                       STINT_MEMORY="256M"))
    over = 0
    for form in ("chrome", "perfetto", "html"):
        few, many = [1024 * peak_kb(PROGRAM, TOOL, "export", "--to", form, "-o", "/dev/null", file)
                     for file in files.values()]
        per_span = (many - few) / (MANY_SPANS - FEW_SPANS)
        print("%s of a trace: %.1f bytes for each span, limit %d" % (form, per_span, BYTES_PER_SPAN))
        over |= per_span > BYTES_PER_SPAN
    return over


def main():
    if is_sanitized(TOOL):
        print("skipped: a sanitizer's memory is not the tool's")
        return 77
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for names in (FEW, MANY):
            files[names] = str(pathlib.Path(folder) / ("%d.stint" % names))
            subprocess.run([PROGRAM, "many", str(names)], check=True, stderr=subprocess.DEVNULL,
                           env=environment(STINT_FILE=files[names], STINT_MEMORY="1024M"))
        return int(any([exceeds_with_trace(folder), exceeds_with_spans(folder),
                        *[exceeds_limit(case, files) for case in [*COMMANDS, "in process"]]]))


sys.exit(main())
