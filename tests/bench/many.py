#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one part of a made-up program of 300 functions, each with a scope and some work.

    many.py PART -o FILE      PART 0 to 9

30 functions call 3 of the next 90 each, and those 3 of the last 180: 390 scopes a pass, up to 3
deep, every third leaf from two parents. The parts are translation units, as a real program has.
"""
import argparse
import os
import random

PARTS = 10
TOPS, MIDS, LEAVES = 30, 90, 180


def children(index):
    """Functions 0-29 are tops, 30-119 mids, 120-299 leaves."""
    if index < TOPS:
        return [TOPS + 3 * index + k for k in range(3)]
    if index < TOPS + MIDS:
        mid = index - TOPS
        return [TOPS + MIDS + leaf % LEAVES for leaf in (2 * mid, 2 * mid + 1, 2 * mid + 37)]
    return []


def work(rng):
    """Eight to fourteen statements on x: multiplies, table loads, short loops, branches."""
    forms = (
        "x = x * {a}u + {b}u;",
        "x ^= many_table[(x >> {s}) & 1023];",
        "if (x & {m}u) {{\n        x = (x ^ {a}u) >> 1;\n    }} else {{\n"
        "        x += {b}u;\n    }}",
        "for (int i = 0; i < {n}; ++i) {{\n"
        "        x = (x << 7 | x >> 57) + many_table[(x + {s}) & 1023];\n    }}",
        "x += (x >> {s}) * {b}u;",
    )
    values = dict(a=rng.getrandbits(31) | 1, b=rng.getrandbits(20), s=rng.randrange(5, 40),
                  m=1 << rng.randrange(20), n=rng.randrange(2, 7))
    return ["    " + rng.choice(forms).format(**values) for _ in range(rng.randrange(8, 15))]


def function(index):
    rng = random.Random(index)
    calls = ["    x = MANY(%d)(x);" % child for child in children(index)]
    lines = work(rng)
    for call in calls:
        lines.insert(rng.randrange(len(lines) + 1), call)
    return ("MANY_CODE uint64_t MANY(%d)(uint64_t x) {\n"
            '    REGISTER_TIMER("many.%03d");\n%s\n    return x;\n}\n'
            % (index, index, "\n".join(lines)))


def part(number):
    total = TOPS + MIDS + LEAVES
    mine = [i for i in range(total) if i % PARTS == number]
    named = sorted(set(mine) | {c for i in mine for c in children(i)})
    text = ["/* SPDX-License-Identifier: Apache-2.0 */", "/* Made by many.py. */",
            '#include "many.h"\n']
    if number == 0:
        named = sorted(set(named) | set(range(TOPS)))
        text.append("#if MANY_VARIANT == 9 /* one table for all variants */")
        text.append("uint32_t many_table[1024];\n#endif\n")
    text += ["extern uint64_t MANY(%d)(uint64_t x);" % i for i in named]
    text += [""] + [function(i) for i in mine]
    if number == 0:
        calls = "".join("        x = MANY(%d)(x);\n" % i for i in range(TOPS))
        text.append("uint64_t MANY_RUN(long passes) {\n    uint64_t x = 1;\n"
                    "    for (long i = 0; i < passes; ++i) {\n%s    }\n    return x;\n}\n\n"
                    "size_t MANY_BYTES(void) {\n    return (size_t)(MANY_STOP - MANY_START);\n}"
                    % calls)
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", type=int)
    parser.add_argument("-o", dest="output", required=True)
    arguments = parser.parse_args()
    os.makedirs(os.path.dirname(os.path.abspath(arguments.output)), exist_ok=True)
    with open(arguments.output, "w", encoding="ascii") as file:
        file.write(part(arguments.part))


if __name__ == "__main__":
    main()
