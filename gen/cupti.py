# SPDX-License-Identifier: Apache-2.0
"""cupti.ini: the part of CUPTI that stint uses, as types and record prefixes, as a loader's tables,
as the exports of the test double and as a check against CUPTI's headers (all C)."""

import re

import driver
import table

KEYS = {  # kind -> required keys, further keys
    "type": (("type",), ()),
    "callback": (("args",), ("type",)),
    "function": (("args", "required"), ("since",)),
    "code": (("value",), ("words", "ours")),
    "constant": (("value",), ("ours",)),
    "record": (("fields", "structs"), ("least",)),
    "activity": (("value", "record", "words"), ()),
    "versions": (("list",), ()),
}
WIDTHS = {"u8": ("uint8_t", 1), "u16": ("uint16_t", 2), "u32": ("uint32_t", 4),
          "u64": ("uint64_t", 8), "text": ("const char *", 8)}


class Field:
    def __init__(self, entry, text):
        match = re.fullmatch(r"(\w+) ([A-Za-z]\w*) ([0-9]+)", text)
        if not match or match.group(1) not in WIDTHS:
            entry.fail("field '%s' is not WIDTH NAME OFFSET (%s)" % (text, "|".join(WIDTHS)))
        self.type, self.size = WIDTHS[match.group(1)]
        self.name = match.group(2)
        self.offset = int(match.group(3))
        if self.offset % self.size:
            entry.fail("field '%s' is not aligned" % text)

    @property
    def end(self):
        return self.offset + self.size


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
        for key in ("value", "since", "least"):
            if not re.fullmatch(r"[0-9]*", entry.get(key)):
                entry.fail("%s '%s' is not a number" % (key, entry.get(key)))
        if "required" in entry.values:
            entry.one_of("required", ("yes", "no"))
    for kind in ("code", "activity"):
        table.unique(of(entries, kind), "value")
    table.unique(entries, "ours")
    check_records(entries)
    for entry in of(entries, "versions"):
        versions(entry)
    return entries


def check_records(entries):
    sized = [entry.name for entry in of(entries, "record") if entry.get("least")]
    for entry in of(entries, "record"):
        fields(entry)
    for entry in of(entries, "activity"):
        entry.one_of("record", sized)


def of(entries, kind):
    return [entry for entry in entries if entry.get("kind") == kind]


def fields(entry):
    """In the order of their offsets, none over another, all within the least size."""
    found = [Field(entry, text.strip()) for text in entry.get("fields").split(",")]
    for before, after in zip(found, found[1:]):
        if after.offset < before.end:
            entry.fail("field '%s' begins before the end of '%s'" % (after.name, before.name))
    if entry.get("least") and found[-1].end > int(entry.get("least")):
        entry.fail("field '%s' does not fit into %s bytes" % (found[-1].name, entry.get("least")))
    return found


def versions(entry):
    rows = [row.split() for row in entry.get("list").split(",")]
    for row in rows:
        if len(row) != 2 or not re.fullmatch(r"[0-9]+", row[0]):
            entry.fail("'%s' is not VERSION TOOLKIT" % " ".join(row))
    return rows


def types(entries):
    lines = []
    for entry in entries:
        kind = entry.get("kind")
        if kind == "type":
            lines.append("typedef %s;\n" % driver.declare(entry.get("type"), entry.name))
        elif kind == "callback":
            lines.append("typedef %s;\n" % callback(entry, entry.name))
    return "".join(lines)


def callback(entry, name):
    return "%s (*%s)(%s)" % (entry.get("type", "void"), name, ", ".join(driver.args(entry)))


def numbers(entries):
    """Codes by our names alone; whoever needs no name of one needs no number."""
    lines = ["enum cupti_code {\n"]
    lines += ["    %s = %s,\n" % (entry.get("ours"), entry.get("value"))
              for entry in of(entries, "code") if entry.get("ours")]
    lines.append("};\nenum cupti_constant {\n")
    lines += ["    %s = %s,\n" % (entry.name, entry.get("value"))
              for entry in of(entries, "constant") + of(entries, "activity")
              if not entry.get("ours")]
    return "".join(lines) + "};\n"


def struct(entry):
    lines = ["struct cupti_%s {\n" % entry.name]
    at = 0
    for field in fields(entry):
        if field.offset > at:
            lines.append("    char gap%d[%d];\n" % (at, field.offset - at))
        lines.append("    %s;\n" % driver.declare(field.type, field.name))
        at = field.end
    lines.append("};\n")
    lines += [driver.statement("_Static_assert(offsetof(struct cupti_%s, %s) == %d,"
                               % (entry.name, field.name, field.offset),
                               '"%s");' % field.name, " " * 15) for field in fields(entry)]
    if entry.get("least"):
        lines.append('_Static_assert(sizeof(struct cupti_%s) <= %s, "%s");\n'
                     % (entry.name, entry.get("least"), entry.name))
    return "".join(lines)


def render_types(path):
    """CUPTI's types, struct cupti with its functions, numbers, and records as far as they are
    read."""
    entries = read(path)
    lines = [table.c_banner(path), types(entries), "struct cupti {\n"]
    lines += [driver.statement("    CUptiResult (*%s)(" % entry.name,
                               "%s);" % ", ".join(driver.args(entry)), " " * 8).replace("( ", "(")
              for entry in of(entries, "function")]
    lines += ["};\n", numbers(entries)]
    lines += [struct(entry) for entry in of(entries, "record")]
    return "".join(lines)


def render_table(path):
    """What to look for, codes in words, versions, and the kinds to switch on."""
    entries = read(path)
    lines = [table.c_banner(path), "/* name, where it goes, whether it must be there */\n"
             "static const struct cupti_symbol cupti_symbols[] = {\n"]
    lines += [driver.statement("    {%s," % table.c_string(entry.name),
                               "offsetof(struct cupti, %s), %d},"
                               % (entry.name, entry.get("required") == "yes"), "     ")
              for entry in of(entries, "function")]
    lines.append("};\n/* code, name, in words */\nstatic const struct cupti_words cupti_codes[] = {\n")
    lines += [driver.statement("    {%s, %s," % (entry.get("value"), table.c_string(entry.name)),
                               "%s}," % (table.c_string(entry.get("words")) if entry.get("words")
                                         else "NULL"), "     ")
              for entry in of(entries, "code")]
    lines.append("};\n/* version, toolkit */\n"
                 "static const struct cupti_toolkit cupti_toolkits[] = {\n")
    for entry in of(entries, "versions"):
        lines += ["    {%s, %s},\n" % (row[0], table.c_string(row[1])) for row in versions(entry)]
    lines.append("};\n/* number, bytes at least, bytes read, in words */\n"
                 "static const struct cupti_kind cupti_kinds[] = {\n")
    records = {entry.name: entry for entry in of(entries, "record")}
    lines += ["    {%s, %s, sizeof(struct cupti_%s), %s},\n"
              % (entry.name, records[entry.get("record")].get("least"), entry.get("record"),
                 table.c_string(entry.get("words"))) for entry in of(entries, "activity")]
    return "".join(lines) + "};\n"


def render_double(path):
    """Needs cupti_types.inc, DOUBLE_EXPORT, int double_enter(int function), which returns the code
    to return instead of making the call, or 0, and a static double_cuptiX() each. DOUBLE_OLD leaves
    out all that is not required."""
    functions = of(read(path), "function")
    lines = [table.c_banner(path), "enum double_function {\n"]
    lines += ["    DOUBLE_%s,\n" % entry.name for entry in functions]
    lines.append("    DOUBLE_FUNCTIONS\n};\n"
                 "static const char *const double_names[DOUBLE_FUNCTIONS] = {\n")
    lines += ["    %s,\n" % table.c_string(entry.name) for entry in functions]
    lines.append("};\n")
    lines += [render_export(entry) for entry in functions]
    return "".join(lines)


def render_export(entry):
    letters = ["abcdefgh"[i] for i in range(len(driver.args(entry)))]
    parameters = ", ".join(driver.declare(*pair) for pair in zip(driver.args(entry), letters))
    text = "static CUptiResult double_%s(%s);\n" % (entry.name, parameters)
    export = ("DOUBLE_EXPORT CUptiResult %s(%s);\n" % (entry.name, parameters) +
              "DOUBLE_EXPORT CUptiResult %s(%s) {\n" % (entry.name, parameters) +
              "    int injected = double_enter(DOUBLE_%s);\n" % entry.name +
              "    return injected ? injected : double_%s(%s);\n}\n"
              % (entry.name, ", ".join(letters)))
    if entry.get("required") == "no":
        export = "#ifndef DOUBLE_OLD\n%s#endif\n" % export
        text = text.replace("static", "__attribute__((unused)) static", 1)
    return text + export


def render_check(path):
    """Compiles if the table says what CUPTI's headers and activity_kind.h say. Records: where the
    headers have all their versions."""
    entries = read(path)
    lines = [table.c_banner(path), "#include <cuda.h>\n#include <cupti_activity.h>\n"
             "#include <cupti_callbacks.h>\n#include <cupti_result.h>\n"
             "#include <cupti_version.h>\n#include <stddef.h>\n\n"
             '#include "activity_kind.h"\n\n#define SAME(name, type) '
             '__builtin_types_compatible_p(__typeof__(&name), type)\n\n']
    checks = {"type": check_type, "callback": check_callback, "function": check_function,
              "code": check_value, "constant": check_value, "activity": check_value}
    for entry in entries:
        text = checks.get(entry.get("kind"), lambda entry: "")(entry)
        if entry.get("since"):
            text = "#if CUPTI_API_VERSION >= %s\n%s#endif\n" % (entry.get("since"), text)
        lines.append(text)
    lines.append("#if CUPTI_API_VERSION >= 130000\n")
    lines += [check_record(entry) for entry in of(entries, "record")]
    return "".join(lines) + "#endif\n"


def claim(condition, name):
    return driver.statement("_Static_assert(%s," % condition, '"%s");' % name, " " * 15)


def check_type(entry):
    if entry.get("type").startswith("struct "):
        return ""
    return claim("sizeof(%s) == sizeof(%s)" % (entry.name, entry.get("type")), entry.name)


def check_callback(entry):
    return claim("__builtin_types_compatible_p(%s, %s)" % (entry.name, callback(entry, "")),
                 entry.name)


def check_function(entry):
    return claim("SAME(%s, CUptiResult (*)(%s))" % (entry.name, ", ".join(driver.args(entry))),
                 entry.name)


def check_value(entry):
    ours = entry.get("ours") if entry.get("kind") == "constant" else ""
    return "".join(claim("(int)%s == %s" % (name, entry.get("value")), name)
                   for name in (entry.name, ours) if name)


def check_record(entry):
    text = ""
    structs = entry.get("structs").split()
    for name in structs:
        for field in fields(entry):
            text += claim("offsetof(%s, %s) == %d" % (name, field.name, field.offset),
                          "%s %s" % (name, field.name))
            text += claim("sizeof(((%s *)0)->%s) == %d" % (name, field.name, field.size),
                          "%s %s" % (name, field.name))
    if entry.get("least"):
        text += claim("sizeof(%s) == %s" % (structs[0], entry.get("least")), structs[0])
    return text
