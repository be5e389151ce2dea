#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work of the tool grows in proportion to the names and to the spans of a run file, and to the
files that are merged.

    growth_test.py TOOL PROGRAM [NAMES SPANS FILES]

Each command reads a file and one with four times as many names or spans, or four times as many
files; NAMES, SPANS and FILES are the lower numbers. Callgrind counts the instructions of both,
which the load of the machine does not change. Four times as many names may take 4.5 times the
instructions: sorting takes more for each, and starting takes some for all.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from cases import FORMATS, SKIPPED, environment, is_sanitized, used_bytes

TOOL, PROGRAM = sys.argv[1:3]
TIMES = 4
LIMIT = 4.5
NAMES, SPANS, FILES = map(int, sys.argv[3:6] or (1000, 16384, 200))
OF_SPANS = ("chrome", "perfetto", "html")


def export(form):
    return lambda files: ["export", "--to", form, "-o", "/dev/null", files[0]]


BY_NAMES = {
    "report": lambda files: ["report", files[0]],
    "report, tree": lambda files: ["report", "--view", "tree", files[0]],
    "report, corrected": lambda files: ["report", "--view", "table,corrected", files[0]],
    "info": lambda files: ["info", files[0]],
    "top": lambda files: ["top", "--once", files[0]],
    "diff": lambda files: ["diff", *files],
    "merge": lambda files: ["merge", "-o", files[0] + ".merged", *files],
    **{form: export(form) for form in FORMATS},
}
BY_SPANS = {
    "report of a trace": lambda files: ["report", files[0]],
    "info of a trace": lambda files: ["info", files[0]],
    "merge of traces": lambda files: ["merge", "--keep", "threads", "-o", files[0] + ".merged",
                                      *files],
    **{"%s of a trace" % form: export(form) for form in OF_SPANS},
}
# A span of a trace adds so many; so few spans are all in a page of html.
INSTRUCTIONS_PER_SPAN = {"chrome": 440, "perfetto": 300, "html": 760}
BY_FILES = {
    "merge of files": lambda files: ["merge", "-o", files[0] + ".merged", *files],
    "merge of files, ranks": lambda files: ["merge", "--keep", "ranks", "-o", files[0] + ".merged",
                                            *files],
}


def record(folder, story, count, **settings):
    """Returns two run files of the same program."""
    files = [str(pathlib.Path(folder) / ("%s%d-%d" % (story, count, i))) for i in range(2)]
    for file in files:
        subprocess.run([PROGRAM, story, str(count)], check=True, stderr=subprocess.DEVNULL,
                       env=environment(STINT_FILE=file, **settings))
    return files


def copies(file):
    """Files with the same content, which are separate runs to a merge."""
    data = used_bytes(file)
    paths = [pathlib.Path("%s-%d" % (file, number)) for number in range(FILES * TIMES)]
    for path in paths:
        path.write_bytes(data)
    return list(map(str, paths))


def count_instructions(arguments):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", TOOL]
    done = subprocess.run(command + arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, env=environment(), check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit("stint %s: status %d: %s" % (" ".join(arguments), done.returncode,
                                              done.stderr[-500:]))
    return int(found.group(1))


def exceeds_limit(case, arguments, few, many):
    counts = [count_instructions(arguments(files)) for files in (few, many)]
    growth = counts[1] / counts[0]
    print("%s: %d, then %d instructions: %.2f, limit %.1f" % (case, *counts, growth, LIMIT))
    return growth > LIMIT


def exceeds_span_limit(form, few, many):
    counts = [count_instructions(export(form)(files)) for files in (few, many)]
    per_span = (counts[1] - counts[0]) / (SPANS * (TIMES - 1))
    limit = INSTRUCTIONS_PER_SPAN[form]
    print("%s: %.1f instructions a span, limit %d" % (form, per_span, limit))
    return per_span > limit


def main():
    if is_sanitized(TOOL) or not shutil.which("valgrind"):
        print("skipped: needs valgrind, and a tool without a sanitizer")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        names = [record(folder, "many", NAMES * times) for times in (1, TIMES)]
        # A ring is a quarter of STINT_TRACE.
        spans = [record(folder, "spans", SPANS * times, STINT_TRACE="%dK" % (SPANS * times // 16),
                        STINT_MEMORY="%dM" % (64 + SPANS * times // 16384))
                 for times in (1, TIMES)]
        runs = copies(record(folder, "many", 20)[0])
        over = [exceeds_limit(case, arguments, *names) for case, arguments in BY_NAMES.items()]
        over += [exceeds_limit(case, arguments, *spans) for case, arguments in BY_SPANS.items()]
        over += [exceeds_span_limit(form, *spans) for form in OF_SPANS]
        over += [exceeds_limit(case, arguments, runs[:FILES], runs)
                 for case, arguments in BY_FILES.items()]
    return int(any(over))


sys.exit(main())
