# SPDX-License-Identifier: Apache-2.0
"""Scopes of Python and of an extension in C (kernels.c) in one tree."""

import random

import kernels
import stint


@stint.scope("load")
def load(count):
    return [random.random() for _ in range(count)]


@stint.scope("log")
def log(change):
    changes.append(change)


changes = []
for _ in range(3):
    with stint.scope("epoch"):
        values = load(20000)
        kernels.smooth(values, 4, log)
    stint.step()
