#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a manual page for each command of the tool `stint` from options.ini.

    python3 gen/manual.py FOLDER    writes FOLDER/stint-COMMAND.1
"""

import pathlib
import re
import sys
import textwrap

sys.dont_write_bytecode = True

import gen
import options

HERE = pathlib.Path(__file__).resolve().parent


def sentences(text):
    """mdoc: each sentence begins a line; macros stay on theirs."""
    parts = re.split(r"(?<=[.]) (?=[A-Z`])", " ".join(text.split()))
    lines = "".join(options.man_text(part, "") for part in parts).splitlines()
    wrapped = []
    for line in lines:
        wrapped += [line] if line.startswith(".") else textwrap.wrap(line, 78)
    return "".join(line + "\n" for line in wrapped)


def synopsis(usage):
    name, _, rest = usage.partition(" ")
    return ".Nm stint\n.Cm %s\n" % name + (rest.replace("-", "\\-") + "\n" if rest else "")


def render_page(command, date):
    usage = " ".join(command.synopsis().split(" ")[1:])
    text = '.\\" SPDX-License-Identifier: Apache-2.0\n'
    text += ".Dd %s\n.Dt STINT-%s 1\n.Os\n" % (date, command.name.upper())
    text += ".Sh NAME\n.Nm stint-%s\n.Nd %s\n" % (command.name, command.get("line").rstrip("?"))
    text += ".Sh SYNOPSIS\n" + synopsis(usage)
    text += ".Sh DESCRIPTION\n" + sentences(command.get("doc"))
    if command.get("more"):
        text += ".Pp\n" + sentences(command.get("more"))
    if command.options:
        text += ".Pp\nThe options are:\n" + options.man_options(command)
    return text + ".Sh SEE ALSO\n.Xr stint 1\n"


def main(argv):
    if len(argv) != 1:
        sys.exit(__doc__.split("\n", maxsplit=1)[0])
    template = (HERE.parent / "runtime/tool/stint.1.in").read_text(encoding="ascii")
    date = re.search(r"^\.Dd (.*)$", template, re.M).group(1)
    folder = pathlib.Path(argv[0])
    folder.mkdir(parents=True, exist_ok=True)
    for command in options.read(str(HERE / "options.ini")):
        if not command.is_tool():
            page = render_page(command, date)
            gen.write_if_changed(str(folder / ("stint-%s.1" % command.name)), page.encode("ascii"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
