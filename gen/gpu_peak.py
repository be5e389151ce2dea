# SPDX-License-Identifier: Apache-2.0
"""gpu_peak.ini: what a multiprocessor of a compute capability does in one clock (C)."""

import re

import table


def read(path):
    entries = table.read(path)
    for entry in entries:
        entry.check(("architecture", "fp32_lanes"))
        if not re.fullmatch(r"[1-9][0-9]?\.[0-9]", entry.name):
            entry.fail("name '%s' is not a compute capability, MAJOR.MINOR" % entry.name)
        if not re.fullmatch(r"[1-9][0-9]*", entry.get("fp32_lanes")):
            entry.fail("fp32_lanes '%s' is not a number above 0" % entry.get("fp32_lanes"))
    return entries


def render_c(path):
    rows = ["    {%s, %s, %s}, /* %s */\n" % (*entry.name.split("."), entry.get("fp32_lanes"),
                                              entry.get("architecture")) for entry in read(path)]
    return "%s/* compute capability, FP32 lanes a multiprocessor */\n" \
           "static const struct gpu_lanes gpu_lanes[] = {\n%s};\n" % (
               table.c_banner(path), "".join(rows))
