# SPDX-License-Identifier: Apache-2.0
"""driver.ini: the part of the CUDA driver that stint uses, as a loader's table, as the codes it
returns, as the exports of the test double and as a check against cuda.h (all C)."""

import re

import table

KEYS = {  # kind -> required keys, further keys
    "function": (("args", "required"), ("names", "since")),
    "type": (("type",), ()),
    "code": (("value",), ("fatal", "ours", "since")),
    "attribute": (("value", "field"), ()),
    "constant": (("value",), ("ours",)),
}
MOST_NAMES = 2
WIDTH = 100


def read(path):
    entries = table.read(path)
    for entry in entries:
        if "kind" not in entry.values:
            entry.fail("no key 'kind'")
        entry.one_of("kind", KEYS)
        required, optional = KEYS[entry.get("kind")]
        entry.check(("kind",) + required, optional)
        if not re.fullmatch(r"[A-Za-z]\w*", entry.name):
            entry.fail("name '%s' is not a C identifier" % entry.name)
        for key in ("value", "since"):
            if not re.fullmatch(r"[0-9]*", entry.get(key)):
                entry.fail("%s '%s' is not a number" % (key, entry.get(key)))
        for key in ("required", "fatal"):
            if key in entry.values:
                entry.one_of(key, ("yes", "no"))
        if len(names(entry)) > MOST_NAMES:
            entry.fail("more than %d names" % MOST_NAMES)
    for kind in ("code", "attribute"):
        table.unique(of(entries, kind), "value")
    table.unique(entries, "ours")
    table.unique(entries, "field")
    return entries


def of(entries, kind):
    return [entry for entry in entries if entry.get("kind") == kind]


def names(entry):
    return (entry.get("names") or entry.name).split()


def args(entry):
    return [arg.strip() for arg in entry.get("args").split(",")]


def declare(kind, name):
    return kind + ("" if kind.endswith("*") else " ") + name


def types(entries):
    return "".join("typedef %s;\n" % declare(entry.get("type"), entry.name)
                   for entry in of(entries, "type"))


def statement(head, rest, indent):
    """One line, or two where it is too wide."""
    line = "%s %s" % (head, rest)
    return (line if len(line) <= WIDTH else "%s\n%s%s" % (head, indent, rest)) + "\n"


def render_table(path):
    """The types, struct driver, what to look for, and the device's attributes."""
    entries = read(path)
    functions = of(entries, "function")
    lines = [table.c_banner(path), types(entries), "struct driver {\n"]
    lines += ["    CUresult (*%s)(%s);\n" % (entry.name, ", ".join(args(entry)))
              for entry in functions]
    lines.append("};\n/* names in order of preference, where it goes, whether it must be there */\n"
                 "static const struct driver_symbol driver_symbols[] = {\n")
    lines += [statement("    {{%s}," % ", ".join(table.c_string(name) for name in names(entry)),
                        "offsetof(struct driver, %s), %d},"
                        % (entry.name, entry.get("required") == "yes"), "     ")
              for entry in functions]
    lines.append("};\nstatic const struct driver_attribute driver_attributes[] = {\n")
    lines += ["    {%s, offsetof(struct gpu_device, %s)},\n"
              % (entry.get("value"), entry.get("field")) for entry in of(entries, "attribute")]
    return "".join(lines) + "};\n"


def render_codes(path):
    rows = ["    {%s, %d, %s},\n" % (entry.get("value"), entry.get("fatal") == "yes",
                                     table.c_string(entry.name))
            for entry in of(read(path), "code")]
    return "%s/* code, whether no call can be right after it, name */\n" \
           "static const struct gpu_code_row gpu_codes[] = {\n%s};\n" % (
               table.c_banner(path), "".join(rows))


def render_double(path):
    """Needs DOUBLE_EXPORT, int double_enter(int function), which returns the code to return instead
    of making the call, or 0, and a static double_cuX() each. DOUBLE_OLD leaves out all that is not
    required."""
    entries = read(path)
    functions = of(entries, "function")
    lines = [table.c_banner(path), types(entries), "enum double_function {\n"]
    lines += ["    DOUBLE_%s,\n" % entry.name for entry in functions]
    lines.append("    DOUBLE_FUNCTIONS\n};\n"
                 "const char *const double_names[DOUBLE_FUNCTIONS + 1] = {\n")
    lines += ["    %s,\n" % table.c_string(entry.name) for entry in functions]
    lines.append("    NULL};\n")
    for entry in functions:
        lines.append(render_export(entry))
    return "".join(lines)


def render_export(entry):
    given = [] if args(entry) == ["void"] else args(entry)
    letters = ["abcdefgh"[i] for i in range(len(given))]
    parameters = ", ".join(declare(*pair) for pair in zip(given, letters)) or "void"
    text = "static CUresult double_%s(%s);\n" % (entry.name, parameters)
    exports = ""
    for name in names(entry):
        exports += ("DOUBLE_EXPORT CUresult %s(%s);\n" % (name, parameters) +
                    "DOUBLE_EXPORT CUresult %s(%s) {\n" % (name, parameters) +
                    "    int injected = double_enter(DOUBLE_%s);\n" % entry.name +
                    "    return injected ? injected : double_%s(%s);\n}\n"
                    % (entry.name, ", ".join(letters)))
    if entry.get("required") == "no":
        exports = "#ifndef DOUBLE_OLD\n%s#endif\n" % exports
        text = text.replace("static", "__attribute__((unused)) static", 1)
    return text + exports


def render_check(path):
    """Compiles if the table says what cuda.h and gpu.h say."""
    entries = read(path)
    lines = [table.c_banner(path), "#include <cuda.h>\n#include <cudaProfiler.h>\n\n",
             '#include "gpu.h"\n\n#define SAME(name, type) '
             '__builtin_types_compatible_p(__typeof__(&name), type)\n\n']
    for entry in entries:
        checks = {"function": check_function, "type": check_type}.get(
            entry.get("kind"), check_value)(entry)
        if entry.get("since"):
            checks = "#if CUDA_VERSION >= %s\n%s#endif\n" % (entry.get("since"), checks)
        lines.append(checks)
    return "".join(lines)


def check_function(entry):
    return statement("_Static_assert(SAME(%s, CUresult (*)(%s))," % (
        entry.name, ", ".join(args(entry))), '"%s");' % entry.name, " " * 15)


def check_type(entry):
    return statement("_Static_assert(sizeof(%s) == sizeof(%s)," % (
        entry.name, entry.get("type")), '"%s");' % entry.name, " " * 15)


def check_value(entry):
    text = ""
    for name in (entry.name, entry.get("ours")):
        if name:
            text += statement("_Static_assert((int)%s == %s," % (name, entry.get("value")),
                              '"%s");' % name, " " * 15)
    return text
