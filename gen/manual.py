#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes manual pages.

    python3 gen/manual.py commands FOLDER  stint-COMMAND.1 for each command of the tool, from options.ini
    python3 gen/manual.py api FOLDER       stint.3, from the comments of the public header, and
                                           stint.7, from stint.7.in with the variables of env.ini
"""

import pathlib
import re
import sys
import textwrap

sys.dont_write_bytecode = True

import env
import gen
import header
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


# ---- stint(3): the comments of the header.

def roff_line(text):
    """A line of text as it is: no escape, no macro."""
    text = text.replace("\\", "\\e").replace("\u2026", "...")
    if text.startswith((".", "'")):
        text = "\\&" + text
    return text


def prose(lines):
    """Each sentence begins a line. A function is named without parentheses, and words are as they
    are, because mdoc has macros for both."""
    out = []
    for sentence in re.split(r"(?<=[.:;!?]) (?=\S)", re.sub(r"(?<=\w)\(\)|`", "", " ".join(map(str.strip, lines)))):
        out += textwrap.wrap(sentence, 78, break_on_hyphens=False, break_long_words=False)
    return [roff_line(line) for line in out]


def blocks(text):
    """("text", lines), ("literal", lines) of what is indented, ("item", lines) of `word: ...` that goes
    on below itself, indented."""
    found = []
    lines = text.split("\n")
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if not line:
            found.append(("end", []))
        elif re.match(r"\w+: ", line) and following.startswith("  "):
            found.append(("item", [line]))
        elif line.startswith("  ") and found and found[-1][0] == "item":
            found[-1][1].append(line)
        else:
            kind = "literal" if line.startswith("  ") else "text"
            if not found or found[-1][0] != kind:
                found.append((kind, []))
            found[-1][1].append(line)
    return [block for at, block in enumerate(found)
            if block[0] != "end" or at + 1 < len(found) and found[at + 1][0] != "end"]


def comment_text(text):
    out = []
    for kind, lines in blocks(text):
        if kind == "end":
            out.append(".Pp")
        elif kind == "literal":
            if out and out[-1] == ".Pp":
                out.pop()
            margin = min(len(line) - len(line.lstrip()) for line in lines)
            out.append(".Bd -literal -offset indent")
            out += [roff_line(line[margin:]).replace("-", "\\-") for line in lines]
            out.append(".Ed")
        else:
            if out and (out[-1] == ".Ed" or kind == "item" and out[-1] != ".Pp"):
                out.append(".Pp")
            out += prose(lines)
    return [line for at, line in enumerate(out)
            if line != ".Pp" or at + 1 < len(out) and out[at + 1] != ".Pp"]


def arguments(parameters):
    return "".join(' "%s"' % one.strip() for one in parameters.split(",") if one.strip())


def item_heads(one):
    if one.kind == "type":
        return [".It Vt " + one.name]
    if one.parameters is None:
        return [".It Dv " + one.name]
    if one.kind == "macro":
        return [".It Fn %s%s" % (one.name, arguments(one.parameters))]
    return [".It Xo", '.Ft "%s"' % one.form, ".Fn %s%s" % (one.name, arguments(one.parameters)), ".Xc"]


def structure(one):
    """The members of a struct with their comments; other types as they are declared."""
    if one.form.startswith("typedef struct") and "{" not in one.form:
        return []
    lines = one.form.split("\n")
    return [".Bd -literal"] + [roff_line(line) for line in lines] + [".Ed"]


def render_entry(entry):
    out = []
    for one in entry.declarations:
        out += item_heads(one)
    out += comment_text(entry.comment)
    for one in entry.declarations:
        if one.kind == "type":
            out += structure(one)
    return out


def render_api(path, date):
    opening, sections = header.read(path)
    what, _, rest = opening.partition("\n\n")
    title = re.sub(r"\s+", " ", what).partition(": ")[2].partition(".")[0]
    out = ['.\\" SPDX-License-Identifier: Apache-2.0', ".Dd " + date, ".Dt STINT 3", ".Os", ".Sh NAME",
           ".Nm stint", ".Nd " + title, ".Sh SYNOPSIS", ".In stint/stint.h", ".Pp",
           "cc \\-DWITH_TIMER", ".Ar file.c", "\\-lstint", ".Sh DESCRIPTION"]
    out += comment_text(rest)
    for name, entries in sections:
        out += [".Ss " + name, ".Bl -tag -width Ds"]
        for entry in entries:
            out += render_entry(entry)
        out.append(".El")
    out += [".Sh SEE ALSO", ".Xr stint 1 ,", ".Xr stint 7"]
    return "\n".join(out) + "\n"


# ---- stint(7): concepts.

def environment():
    out = [".Bl -tag -width Ds"]
    for entry in env.read(str(HERE / "env.ini")):
        out += [".It Ev " + entry.name] + prose([entry.get("doc")])
    return "\n".join(out + [".El"]) + "\n"


def render_concepts(path):
    return path.read_text(encoding="ascii").replace('.\\" @environment@\n', environment())


def commands(folder, date):
    for command in options.read(str(HERE / "options.ini")):
        if not command.is_tool():
            page = render_page(command, date)
            gen.write_if_changed(str(folder / ("stint-%s.1" % command.name)), page.encode("ascii"))


def main(argv):
    if len(argv) != 2 or argv[0] not in ("commands", "api"):
        sys.exit(__doc__)
    template = (HERE.parent / "runtime/tool/stint.1.in").read_text(encoding="ascii")
    date = re.search(r"^\.Dd (.*)$", template, re.M).group(1)
    folder = pathlib.Path(argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if argv[0] == "commands":
        commands(folder, date)
        return 0
    page = render_api(str(HERE.parent / "include/stint/stint.h"), date)
    gen.write_if_changed(str(folder / "stint.3"), page.encode("ascii"))
    page = render_concepts(HERE / "stint.7.in")
    gen.write_if_changed(str(folder / "stint.7"), page.encode("ascii"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
