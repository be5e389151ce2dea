#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The statistics of `stint diff` as SciPy computes them: diff_vectors.inc, for diff_math_test.c.

    diff_vectors.py           writes the file; needs SciPy
    diff_vectors.py --check   compares it with what SciPy says here, to 9 digits; 77 without SciPy

The inputs are fixed, so that only the numbers of SciPy are the test's expectation.
"""
import pathlib
import re
import sys

try:
    import numpy
    from scipy import stats
except ImportError:
    print("skipped: no SciPy (tests/pypi.sh scipy)")
    sys.exit(77)

FILE = pathlib.Path(__file__).resolve().parent / "diff_vectors.inc"
HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* Computed with SciPy by diff_vectors.py. */
"""

FREEDOMS = (1, 1.5, 2, 3, 4.7, 8, 30, 250, 1e5)
TS = (0.01, 0.5, 1, 1.96, 3.2, 7, 40)
PS = (0.9, 0.5, 0.1, 0.05, 0.01, 1e-4, 1e-6)

# Two sides of a test on means: as runs of a program could be, in milliseconds.
MEANS = (
    ((10.1, 9.8, 10.3), (11.9, 12.3, 12.0)),
    ((10.1, 9.8, 10.3, 10.0, 9.9), (10.2, 10.0, 10.1)),
    ((5.0, 5.2), (5.1, 4.9, 5.3, 5.05, 4.8, 5.15)),
    ((1.0, 1.5, 0.7, 2.2, 9.0), (1.1, 1.2, 1.0, 1.3, 1.15)),
    ((1e-3, 1.1e-3, 0.9e-3), (1e3, 1.2e3, 0.7e3)),
)
# Two sides of the rank test: (ticks, count) of buckets that are more than 2 % apart.
RANKS = (
    (((100, 10), (200, 10), (300, 10)), ((1000, 10), (2000, 10), (3000, 10))),
    (((100, 50), (120, 30), (400, 5)), ((100, 40), (120, 35), (400, 9))),
    (((64, 8), (96, 1)), ((64, 7), (96, 3), (1024, 1))),
    (((20, 1000), (40, 3), (5000, 2)), ((20, 900), (40, 90), (5000, 7))),
)
# p of many tests at once, and the accepted share of false findings.
FINDINGS = (
    ((0.2, 0.0001, 0.012, 0.9, 0.031), 0.05),
    ((0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216), 0.05),
    ((0.04, 0.05), 0.05), ((0.5, 0.6, 0.7), 0.01), ((1e-12, 1e-3, 1e-2), 0.01),
)
# Two sides of a comparison in the order of the runs: values, sides, distances to the run before.
ORDERS = (
    ((3.1, 3.3, 3.2, 3.9, 3.8, 4.1), "AAABBB", (1, 1, 1, 1, 1, 1)),
    ((9.0, 9.1, 9.4, 9.3, 9.9, 9.6, 9.8), "AAABBBB", (1, 1, 2, 30, 0.5, 1, 0.01)),
    ((1, 5, 2, 4, 1, 5, 2, 4), "BBAAAABB", (1, 1, 1, 1, 1, 1, 1, 1)),
    ((1, 1.1, 1.3, 1.2, 1.5, 1.8, 1.7, 1.9), "AAAABBBB", (1, 1, 1, 1, 1, 1, 1, 1)),
    ((1, 1.1, 1.3, 1.2, 1.5, 1.8, 1.7, 1.9), "ABABABAB", (1, 1, 1, 1, 1, 1, 1, 1)),
)


def widened(values, sides, distances):
    """The factor of diff_order.c, by matrices of all correlations."""
    count = len(values)
    x, b = numpy.array(values), numpy.array([side == "B" for side in sides])
    at = numpy.cumsum(numpy.maximum(distances, 0.1))
    alike = 0.95 ** abs(at[:, None] - at)
    design = numpy.stack([~b, b], 1) * 1.0
    contrast = b / b.sum() - ~b / (~b).sum()
    centred = numpy.eye(count) - design @ numpy.linalg.inv(design.T @ design) @ design.T
    seen = numpy.trace(centred @ alike) / (count - 2)
    if contrast @ alike @ contrast <= seen * (contrast @ contrast):
        return 1
    weights, errors = numpy.zeros(6), numpy.zeros(6)
    for i, share in enumerate(numpy.linspace(0, 1, 6)):
        r = share * alike + (1 - share) * numpy.eye(count)
        inverse = numpy.linalg.inv(r)
        sides_of = design.T @ inverse @ design
        rest = x @ (inverse - inverse @ design @ numpy.linalg.inv(sides_of) @ design.T @ inverse) @ x
        weights[i] = (numpy.linalg.det(r) * numpy.linalg.det(sides_of)) ** -0.5 * rest ** (1 - count / 2)
        errors[i] = (contrast @ r @ contrast * rest) ** 0.5
    variance = weights @ numpy.square(errors) / sum(weights)
    return max(1, 1.2 * variance ** 0.5 / errors[0])


def rows(name, kind, lines):
    return "static const %s %s[] = {\n%s};\n" % (kind, name, "".join("    %s,\n" % line
                                                                    for line in lines))


def number(value):
    return "%.17g" % value


def numbers(values, room):
    assert len(values) <= room
    return "{%s}" % ", ".join(number(value) for value in values)


def made():
    out = [HEAD]
    out.append(rows("student_p", "struct student", [
        "{%s, %s, %s}" % (number(t), number(df), number(2 * stats.t.sf(t, df)))
        for df in FREEDOMS for t in TS]))
    out.append(rows("student_t", "struct student", [
        "{%s, %s, %s}" % (number(stats.t.isf(p / 2, df)), number(df), number(p))
        for df in FREEDOMS for p in PS if stats.t.isf(p / 2, df) < 1e5]))
    lines = []
    for a, b in MEANS:
        # statistic = (mean b - mean a) / error
        found = stats.ttest_ind(b, a, equal_var=False)
        difference = numpy.mean(b) - numpy.mean(a)
        va, vb = (numpy.var(side, ddof=1) / len(side) for side in (a, b))
        freedom = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))
        lines.append("{{%d, %d}, %s, %s, %s, %s, %s, %s}" % (
            len(a), len(b), numbers(a, 6), numbers(b, 6), number(difference),
            number(difference / found.statistic), number(freedom), number(found.pvalue)))
    out.append(rows("welch", "struct welch", lines))
    lines = []
    for a, b in RANKS:
        left, right = ([ticks for ticks, count in side for _ in range(count)] for side in (a, b))
        found = stats.mannwhitneyu(left, right, use_continuity=False, method="asymptotic")
        lines.append("{{%d, %d}, {%s}, {%s}, %s}" % (
            len(a), len(b), ", ".join("{%d, %d}" % pair for pair in a),
            ", ".join("{%d, %d}" % pair for pair in b), number(found.pvalue)))
    out.append(rows("ranks", "struct ranks", lines))
    lines = []
    for ps, q in FINDINGS:
        # SciPy 1.10 has no function for it: the definition, by NumPy.
        order = numpy.sort(ps)
        good = order <= q * numpy.arange(1, len(ps) + 1) / len(ps)
        limit = order[good].max() if good.any() else -1
        lines.append("{%d, %s, %s, %s}" % (len(ps), numbers(ps, 10), number(q), number(limit)))
    out.append(rows("findings", "struct findings", lines))
    out.append(rows("orders", "struct order", [
        "{%s, \"%s\", %s, %s}" % (numbers(v, 8), sides, numbers(distances, 8),
                                  number(widened(v, sides, distances)))
        for v, sides, distances in ORDERS]))
    return "".join(out)


def values(text):
    return [float(word) for word in re.findall(r"(?<![\w.])-?\d[\d.e+-]*", text.split("*/")[-1])]


def main():
    new = made()
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(new)
        return 0
    have, want = values(FILE.read_text()), values(new)
    if len(have) == len(want) and all(abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-300
                                      for a, b in zip(have, want)):
        print("%d numbers as SciPy computes them" % len(want))
        return 0
    print("diff_vectors.inc differs from what SciPy computes; diff_vectors.py writes it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
