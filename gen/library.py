# SPDX-License-Identifier: Apache-2.0
"""The common part of the tables of libraries that stint loads at run time: reading them, and the
loader's tables, the test double's exports and the check against the library's own headers (all C).

An entry has a kind, and its section is a C name. A function has `args`, its parameter types, and
`required`; a type has `type`; what begins with a version of the headers has `since`."""

import re

import table

WIDTH = 100
SAME = "#define SAME(name, type) __builtin_types_compatible_p(__typeof__(&name), type)\n\n"


def read(path, kinds, numbers, switches, distinct):
    """kinds: kind -> required keys, further keys; numbers, switches: keys whose values are numbers,
    yes or no; distinct: kinds with no value twice."""
    entries = table.read(path)
    for entry in entries:
        if "kind" not in entry.values:
            entry.fail("no key 'kind'")
        entry.one_of("kind", kinds)
        required, optional = kinds[entry.get("kind")]
        entry.check(("kind",) + required, optional)
        if not re.fullmatch(r"[A-Za-z]\w*", entry.name):
            entry.fail("name '%s' is not a C identifier" % entry.name)
        for key in numbers:
            if not re.fullmatch(r"[0-9]*", entry.get(key)):
                entry.fail("%s '%s' is not a number" % (key, entry.get(key)))
        for key in switches:
            if key in entry.values:
                entry.one_of(key, ("yes", "no"))
    for kind in distinct:
        table.unique(of(entries, kind), "value")
    table.unique(entries, "ours")
    return entries


def of(entries, kind):
    return [entry for entry in entries if entry.get("kind") == kind]


def args(entry):
    return [arg.strip() for arg in entry.get("args").split(",")]


# ---- Pieces of C ----

def declare(kind, name):
    return kind + ("" if kind.endswith("*") else " ") + name


def pointer(result, name, entry):
    return "%s (*%s)(%s)" % (result, name, ", ".join(args(entry)))


def typedef(entry):
    return "typedef %s;\n" % declare(entry.get("type"), entry.name)


def statement(head, rest, indent, gap=" "):
    """One line, or two where it is too wide."""
    line = head + gap + rest
    return (line if len(line) <= WIDTH else "%s\n%s%s" % (head, indent, rest)) + "\n"


# ---- The loader ----

def loader_struct(name, result, functions):
    """A member for each function."""
    members = [statement("    %s (*%s)(" % (result, entry.name),
                         "%s);" % ", ".join(args(entry)), " " * 8, gap="")
               for entry in functions]
    return "struct %s {\n%s};\n" % (name, "".join(members))


def loader_row(entry, looked_for, name):
    """A row of the loader: the name to look for, its place in struct `name`, whether it must be
    there."""
    return statement("    {%s," % looked_for, "offsetof(struct %s, %s), %d}," % (
        name, entry.name, entry.get("required") == "yes"), "     ")


# ---- The test double ----

def double_numbers(functions):
    rows = ["    DOUBLE_%s,\n" % entry.name for entry in functions]
    return "enum double_function {\n%s    DOUBLE_FUNCTIONS\n};\n" % "".join(rows)


def double_names(functions):
    return "".join("    %s,\n" % table.c_string(entry.name) for entry in functions)


def double_export(entry, result, symbols):
    """Needs DOUBLE_EXPORT, int double_enter(int function), which returns the code to return instead
    of making the call, or 0, int double_leave(int function, int code), which returns the code, and a
    static double_X() for function X. DOUBLE_OLD leaves it out if it is not required."""
    given = [] if args(entry) == ["void"] else args(entry)
    letters = ["abcdefgh"[i] for i in range(len(given))]
    parameters = ", ".join(declare(*pair) for pair in zip(given, letters)) or "void"
    text = "static %s double_%s(%s);\n" % (result, entry.name, parameters)
    exports = ""
    for name in symbols:
        head = "DOUBLE_EXPORT %s %s(%s)" % (result, name, parameters)
        exports += ("%s;\n%s {\n" % (head, head) +
                    "    int code = double_enter(DOUBLE_%s);\n" % entry.name +
                    "    return double_leave(DOUBLE_%s, code ? code : double_%s(%s));\n}\n"
                    % (entry.name, entry.name, ", ".join(letters)))
    if entry.get("required") == "no":
        exports = "#ifndef DOUBLE_OLD\n%s#endif\n" % exports
        text = "__attribute__((unused)) " + text
    return text + exports


# ---- The check: it compiles if the table says what the headers say ----

def claim(condition, name):
    return statement("_Static_assert(%s," % condition, '"%s");' % name, " " * 15)


def claim_function(entry, result):
    return claim("SAME(%s, %s)" % (entry.name, pointer(result, "", entry)), entry.name)


def claim_type(entry):
    return claim("sizeof(%s) == sizeof(%s)" % (entry.name, entry.get("type")), entry.name)


def claim_value(entry, name=None):
    name = name or entry.name
    return claim("(int)%s == %s" % (name, entry.get("value")), name)


def claim_value_and_ours(entry):
    ours = entry.get("ours")
    return claim_value(entry) + (claim_value(entry, ours) if ours else "")


def check(entries, claims, version):
    """claims: kind -> what to say of such an entry; version: the macro that `since` speaks of."""
    lines = []
    for entry in entries:
        text = claims[entry.get("kind")](entry) if entry.get("kind") in claims else ""
        if entry.get("since"):
            text = "#if %s >= %s\n%s#endif\n" % (version, entry.get("since"), text)
        lines.append(text)
    return "".join(lines)
