# SPDX-License-Identifier: Apache-2.0
"""The version is that of the headers; everything else is in pyproject.toml."""

import pathlib
import re

from setuptools import setup

HEADER = pathlib.Path(__file__).resolve().parents[2] / "include" / "stint" / "stint.h"
setup(version=".".join(re.findall(r"(?m)^#define STINT_VERSION_[A-Z]+ (\d+)$", HEADER.read_text())))
