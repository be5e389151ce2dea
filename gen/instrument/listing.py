# SPDX-License-Identifier: Apache-2.0
"""The list of `stint instrument --list`: what was instrumented, what was left out, and the sums.

    total: 2 files, 5 functions instrumented, 1 left out
    a.c: 3 functions instrumented, 1 left out
    a.c:12: jumps: left out: it calls setjmp, which returns twice
    b.c: 2 functions instrumented, 0 left out

Each compiler that runs replaces what the list says about its source, and the sums. They run at the same
time: the file is locked.
"""
import fcntl
import re

TOTAL = 'total: '
COUNTS = re.compile(r': (\d+) functions? instrumented, (\d+) left out(?:, (\d+) in headers)?$')
FAILED = ': not instrumented: '


def count_text(n, noun):
    return '%d %s%s' % (n, noun, '' if n == 1 else 's')


def source_lines(source, copy, failure):
    """The lines of the list about a source; failure: why it was not instrumented, or None."""
    if failure:
        return ['%s%s%s' % (source, FAILED, failure)]
    head = '%s: %s instrumented, %d left out' % (source, count_text(len(copy.done), 'function'),
                                               len(copy.left_out))
    if copy.in_headers:
        head += ', %d in headers' % len(copy.in_headers)
    lines = [head]
    for name, place, reason in copy.left_out:
        at = source
        if place:
            at = '%s:%d' % (place.file, place.line())
            if place.file != source:
                at = source + ': ' + at
        lines.append('%s: %s: left out: %s' % (at, name, reason))
    lines += ['%s: %s: left out: defined in %s:%d, and only sources themselves are copied'
              % (source, name, header, line) for name, header, line in copy.in_headers]
    return lines


def total_line(lines):
    counts = [COUNTS.search(line) for line in lines]
    counts = [[int(n or 0) for n in found.groups()] for found in counts if found]
    done, left_out, in_headers = [sum(column) for column in zip(*counts)] or [0, 0, 0]
    failed = sum(FAILED in line for line in lines)
    files = count_text(len(counts) + failed, 'file')
    text = '%s%s, %s instrumented, %d left out' % (TOTAL, files, count_text(done, 'function'), left_out)
    if in_headers:
        text += ', %d in headers' % in_headers
    if failed:
        text += ', %s not instrumented' % count_text(failed, 'file')
    return text


def write_list(path, source, copy, failure):
    with open(path, 'a+', encoding='utf-8', errors='surrogateescape') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        lines = [line for line in file.read().splitlines()
                 if not line.startswith((source + ':', TOTAL))]
        lines = sorted(lines) + source_lines(source, copy, failure)
        file.seek(0)
        file.truncate()
        file.write('\n'.join([total_line(lines)] + lines) + '\n')
