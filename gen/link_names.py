# SPDX-License-Identifier: Apache-2.0
"""The names that the library has in a static program.

A function or variable that one file of the runtime defines and another one uses is global: a
program that links libstint.a, or compiles the amalgamated stint.c, could not define a function of
that name. A pragma for each of them has the compiler write stint_internal_NAME into the object.
Sources, debug information and the shared library, where these names are local, keep the short name.
gcc renames a definition only after a declaration: its file includes the header.

    python3 gen/link_names.py FILE     writes the header with the pragmas, for the option -include
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "gen/instrument"))

from output_file import write_if_changed

# Not in the library.
TOOL_LAYERS = re.compile(r"(ranks|export/tool|adapters|mem|runfile|tool/\w+)$")
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'
                      r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)\s*", re.S)
FUNCTION = re.compile(r"^(?!static\b|typedef\b|return\b|extern\b)[a-z][\w \t\n*]*?\b(\w+)\(", re.M)
VARIABLE = re.compile(r"^extern\b[^;()]*?(?:\(\*)?(\w+)(?:\[[^;]*\])*(?:\)\([^;]*\))?\s*;", re.M)
PUBLIC = re.compile(r"stint_|InitializeInjection$")


def layers():
    """The folders of the library, lowest first."""
    lines = (ROOT / "runtime/layers.txt").read_text(encoding="utf-8").splitlines()
    names = [line.split(":")[0] for line in lines if re.match(r"[a-z/]+:", line)]
    return [name for name in names if not TOOL_LAYERS.match(name)]


def find_names():
    """Finds what the headers of the library declare and its files define."""
    names = set()
    for layer in layers():
        for path in (ROOT / "runtime" / layer).glob("*.[ch]"):
            code = NOT_CODE.sub("", path.read_text(encoding="utf-8"))
            names.update(FUNCTION.findall(code))
            names.update(VARIABLE.findall(code))
    return sorted(name for name in names if not PUBLIC.match(name))


def render():
    return "".join("#pragma redefine_extname %s stint_internal_%s\n" % (name, name)
                   for name in find_names())


if __name__ == "__main__":
    write_if_changed(sys.argv[1], render().encode("ascii"))
