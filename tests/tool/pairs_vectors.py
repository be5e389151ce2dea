#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Intervals of pairs by numerical integration: pairs_vectors.inc, for pairs_test.c.

    pairs_vectors.py           writes the file; needs SciPy
    pairs_vectors.py --check   compares it with what SciPy says here, to 7 digits; 77 without SciPy

With a standard deviation s that has the prior 1/s, and a change of d s with d normal and of
variance PRIOR, the ratio of the marginal likelihoods is that of the densities of t. The tool has
the closed form; here the density is integrated over d and over the deviation of the pairs, and the
ends of the interval are where the ratio is 1/alpha.
"""
import math
import pathlib
import re
import sys

try:
    import numpy
    from scipy import integrate, optimize, stats
except ImportError:
    print("skipped: no SciPy (tests/pypi.sh scipy)")
    sys.exit(77)

FILE = pathlib.Path(__file__).resolve().parent / "pairs_vectors.inc"
HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* Computed with SciPy by pairs_vectors.py. */
"""
PRIOR = 10.0
# The cases have at most 7 pairs. With more, far pairs are moved, which has a test of its own.
CASES = (
    (0.05, (0.021, 0.018, 0.025, 0.02, 0.019, 0.0223)),
    (0.05, (0.01, -0.02, 0.015, -0.004, 0.03, 0.001, -0.012)),
    (0.01, (0.1, 0.12, 0.11, 0.09, 0.105, 0.1, 0.098)),
    (0.2, (-0.3, -0.25, -0.4, -0.1, -0.35)),
    (0.0025, (0.02, 0.021, 0.0195, 0.0202, 0.0209, 0.0199, 0.0201)),
)


def ratio(t, n):
    """The marginal likelihood with a change over that without one."""
    freedom = n - 1
    u = numpy.linspace(1e-4, 6, 1201)  # the deviation of the pairs over the true one
    d = numpy.linspace(-40, 40, 4001)
    weight_u = stats.chi.pdf(u * math.sqrt(freedom), freedom) * math.sqrt(freedom) * u
    weight_d = stats.norm.pdf(d, 0, math.sqrt(PRIOR)) * (d[1] - d[0])
    density = stats.norm.pdf(t * u[:, None], d[None, :] * math.sqrt(n)) @ weight_d
    whole = integrate.simpson(density * weight_u, x=u)
    return whole / stats.t.pdf(t, freedom)


def vector(alpha, change):
    n = len(change)
    mean, error = numpy.mean(change), numpy.std(change, ddof=1) / math.sqrt(n)
    t = optimize.brentq(lambda t: math.log(ratio(t, n) * alpha), 0, 30, xtol=1e-10)
    return mean, t * error, min(1, 1 / ratio(mean / error, n))


def lines():
    for alpha, change in CASES:
        numbers = ["%.9g" % x for x in vector(alpha, change)]
        yield "    {%d, %r, {%s}, %s},\n" % (len(change), alpha, ", ".join(map(repr, change)),
                                            ", ".join(numbers))


def text():
    return "%sstatic const struct pairs_vector pairs_vectors[] = {\n%s};\n" % (HEAD, "".join(lines()))


def numbers_of(made):
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", made)]


def main():
    made = text()
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(made)
        return 0
    old, new = numbers_of(FILE.read_text()), numbers_of(made)
    if len(old) != len(new) or any(abs(a - b) > 1e-6 * abs(b) for a, b in zip(old, new)):
        print("pairs_vectors.inc is not what SciPy computes: run pairs_vectors.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
