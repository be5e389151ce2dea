# SPDX-License-Identifier: Apache-2.0
"""stint.h as its readers see it: sections of entries, each a comment with the declarations below it.
It reads the one style in which the public header is written; tests/gen checks that it finds every
name that the header and the library have."""

import re

import table

END = "/* ---- Details, not for users"
FUNCTION = re.compile(r"STINT_IMPL_(?:CAPTURE_|STEP_)?FUNCTION\((?P<result>.*?), (?:\w+|\"\"), "
                      r"(?P<name>\w+), \((?P<parameters>.*?)\), .*\)$")
PROCEDURE = re.compile(r"STINT_IMPL_PROCEDURE\((?P<name>\w+), \((?P<parameters>.*?)\), .*\)$")
INLINE = re.compile(r"STINT_IMPL_INLINE (?P<result>.*?)(?P<name>\w+)\((?P<parameters>.*?)\) \{")
TYPEDEF = re.compile(r"typedef (?:struct \w+ \{.*\} (?P<structure>\w+)|struct \w+ (?P<opaque>\w+)"
                     r"|[\w ]+ \(\*(?P<pointer>\w+)\)\(.*\));$", re.S)
MACRO = re.compile(r"#define (?P<name>[A-Z]\w+)(?:\((?P<parameters>[^)]*)\))?(?: |$)")


class Declaration:
    """kind: function, type or macro; parameters: a text, None of a macro without; form: the result of
    a function, the whole of a type."""

    def __init__(self, kind, name, parameters, form):
        self.kind, self.name, self.parameters, self.form = kind, name, parameters, form


class Entry:
    def __init__(self, comment, found):
        self.comment, self.declarations = comment, found


def unwrap(comment):
    """The text of a comment, without its frame; indentation is kept."""
    lines = [re.sub(r"^ ?\*? ?", "", line) for line in comment[2:-2].split("\n")]
    lines[0] = comment[2:-2].split("\n")[0].strip()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def logical_lines(code):
    """The lines of the code, with each macro or function on one line; a struct stays as it is."""
    code = re.sub(r" *\\\n *", " ", code).strip()
    if code.startswith("typedef struct"):
        return [code]
    return re.sub(r"\n +", " ", code).split("\n")


def declaration(line):
    """None if it is not public: the name of a macro for the library itself contains IMPL."""
    for pattern in (FUNCTION, PROCEDURE, INLINE):
        match = pattern.match(line)
        if match:
            parts = match.groupdict("void")
            parameters = parts["parameters"].replace("* ", "*")
            return Declaration("function", parts["name"], parameters, parts.get("result", "void").strip())
    match = TYPEDEF.match(line)
    if match:
        name = match.group("structure") or match.group("opaque") or match.group("pointer")
        return Declaration("type", name, None, line)
    match = MACRO.match(line)
    if match and "IMPL" not in match.group("name"):
        return Declaration("macro", match.group("name"), match.group("parameters"), None)
    return None


def read(path):
    """The opening comment, and a list of (title, entries)."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(END) != 1:
        raise table.TableError("%s: expected '%s' once" % (path, END))
    opening, comment = None, None
    sections = [("Constants and types", [])]
    for part in re.split(r"^(/\*.*?\*/\n)", text[:text.index(END)], flags=re.S | re.M):
        title = re.fullmatch(r"/\* ---- (.*?) -+ \*/\n", part)
        if title:
            sections.append((title.group(1), []))
        elif part.startswith("/*"):
            comment = unwrap(part.strip())
            if opening is None and comment.startswith("stint:"):
                opening, comment = comment, None
        elif comment:
            found = [one for one in map(declaration, logical_lines(part)) if one]
            if found:
                sections[-1][1].append(Entry(comment, found))
            comment = None
    if opening is None:
        raise table.TableError("%s: expected a comment that begins with 'stint:'" % path)
    return opening, [(title, entries) for title, entries in sections if entries]
