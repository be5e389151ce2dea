#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Change points by SciPy's t-test, by brute force: trend_vectors.inc, for trend_test.c.

    trend_vectors.py           writes the file; needs SciPy
    trend_vectors.py --check   compares it with what SciPy says here, to 7 digits; 77 without SciPy

The series are drawn with fixed seeds and have no value far off, so that none is moved.
"""
import pathlib
import random
import re
import statistics
import sys

try:
    from scipy import stats
except ImportError:
    print("skipped: no SciPy (tests/pypi.sh scipy)")
    sys.exit(77)

FILE = pathlib.Path(__file__).resolve().parent / "trend_vectors.inc"
HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* Computed with SciPy by trend_vectors.py. */
"""
ALPHA, SIDE, WINDOW, WHOLE = 0.01, 3, 16, 0.8
# Length, and the steps: (first value, change).
CASES = ((8, [(4, 0.3)]), (12, []), (20, [(10, 0.1)]), (31, [(5, -0.08)]), (40, [(24, 0.03)]),
         (40, [(37, 0.2)]), (40, []), (60, [(20, 0.1), (40, -0.1)]), (60, [(15, 0.1), (30, 0.1), (45, 0.1)]),
         (200, [(100, 0.05), (112, -0.05)]), (400, [(333, 0.02)]))


def draw(number, length, steps):
    """Uniform noise of 1 %: no value is far off."""
    source = random.Random(number)
    return [round(16 + source.uniform(-0.0173, 0.0173) + sum(by for at, by in steps if i >= at), 6)
            for i in range(length)]


def best_of(x, start, end):
    """(p, at) of the most significant place, for one test."""
    return min(((float(stats.ttest_ind(x[start:at], x[at:end]).pvalue), at)
                for at in range(start + SIDE, end - SIDE + 1)), default=(1, start))


def places(start, end):
    return max(0, end - start - 2 * SIDE + 1)


def windows(start, end):
    length = (end - start) // 2
    while length >= WINDOW:
        at = start
        while at + length <= end:
            yield at, at + length
            at += length // 2
        length //= 2


def split(x, start, end):
    p, at = best_of(x, start, end)
    found = [(min(1, p * places(start, end) / WHOLE), at)]
    parts = list(windows(start, end))
    if parts:
        p, at = min(best_of(x, *part) for part in parts)
        found.append((min(1, p * sum(places(*part) for part in parts) / (1 - WHOLE)), at))
    return min(found)


def find(x, start, end):
    if end - start < 2 * SIDE:
        return []
    p, at = split(x, start, end)
    return find(x, start, at) + [at] + find(x, at, end) if p <= ALPHA else []


def changes(x):
    """(at, p, before, after)"""
    rough, kept = find(x, 0, len(x)), []
    for i, _ in enumerate(rough):
        start = kept[-1][0] if kept else 0
        end = rough[i + 1] if i + 1 < len(rough) else len(x)
        p, at = best_of(x, start, end)
        p = min(1, p * places(start, end) / WHOLE)
        if p <= ALPHA:
            kept.append((at, p))
    edges = [0] + [at for at, _ in kept] + [len(x)]
    return [(at, p, statistics.median(x[edges[i]:at]), statistics.median(x[at:edges[i + 2]]))
            for i, (at, p) in enumerate(kept)]


def text():
    made = HEAD + "static const struct trend_vector trend_vectors[] = {\n"
    for number, (length, steps) in enumerate(CASES):
        x = draw(number, length, steps)
        found = changes(x)
        made += "    {%d, {%s},\n     %d, {%s}},\n" % (
            length, ", ".join("%.6f" % v for v in x), len(found),
            ", ".join("{%d, %.9g, %.9g, %.9g}" % change for change in found) or "{0, 0, 0, 0}")
    return made + "};\n"


def numbers_of(made):
    return [float(v) for v in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", made)]


def main():
    made = text()
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(made)
        return 0
    old, new = numbers_of(FILE.read_text()), numbers_of(made)
    if len(old) != len(new) or any(abs(a - b) > 1e-6 * abs(b) for a, b in zip(old, new)):
        print("trend_vectors.inc is not what SciPy computes: run trend_vectors.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
