# SPDX-License-Identifier: Apache-2.0
"""cupti.ini: the part of CUPTI that stint uses, as types and record prefixes, as a loader's tables,
as the exports of the test double and as a check against CUPTI's headers (all C)."""

import re

import library
import table

KEYS = {  # kind -> required keys, further keys
    "type": (("type",), ("since",)),
    "callback": (("args",), ("type", "since")),
    "function": (("args", "required"), ("since",)),
    "code": (("value",), ("words", "ours")),
    "constant": (("value",), ("ours", "since")),
    "record": (("fields", "structs"), ("least",)),
    "activity": (("value", "record", "words"), ("since",)),
    "versions": (("list",), ()),
}
WIDTHS = {"u8": ("uint8_t", 1), "u16": ("uint16_t", 2), "u32": ("uint32_t", 4),
          "u64": ("uint64_t", 8), "text": ("const char *", 8)}
RESULT = "CUptiResult"


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
    entries = library.read(path, KEYS, numbers=("value", "since", "least"),
                           switches=("required",), distinct=("code", "activity"))
    check_records(entries)
    for entry in library.of(entries, "versions"):
        versions(entry)
    return entries


def check_records(entries):
    sized = [entry.name for entry in library.of(entries, "record") if entry.get("least")]
    for entry in library.of(entries, "record"):
        fields(entry)
        for name in entry.get("structs").split():
            if not re.fullmatch(r"\w+(@[0-9]+)?", name):
                entry.fail("struct '%s' is not NAME or NAME@VERSION" % name)
    for entry in library.of(entries, "activity"):
        entry.one_of("record", sized)


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
            lines.append(library.typedef(entry))
        elif kind == "callback":
            lines.append("typedef %s;\n" % callback(entry, entry.name))
    return "".join(lines)


def callback(entry, name):
    return library.pointer(entry.get("type", "void"), name, entry)


def numbers(entries):
    """Codes that have a name in the runtime; the numbers of others are not needed."""
    lines = ["enum cupti_code {\n"]
    lines += ["    %s = %s,\n" % (entry.get("ours"), entry.get("value"))
              for entry in library.of(entries, "code") if entry.get("ours")]
    lines.append("};\nenum cupti_constant {\n")
    lines += ["    %s = %s,\n" % (entry.name, entry.get("value"))
              for entry in library.of(entries, "constant") + library.of(entries, "activity")
              if not entry.get("ours")]
    return "".join(lines) + "};\n"


def struct(entry):
    lines = ["struct cupti_%s {\n" % entry.name]
    at = 0
    for field in fields(entry):
        if field.offset > at:
            lines.append("    char gap%d[%d];\n" % (at, field.offset - at))
        lines.append("    %s;\n" % library.declare(field.type, field.name))
        at = field.end
    lines.append("};\n")
    lines += [library.claim("offsetof(struct cupti_%s, %s) == %d"
                            % (entry.name, field.name, field.offset), field.name)
              for field in fields(entry)]
    if entry.get("least"):
        lines.append(library.claim("sizeof(struct cupti_%s) <= %s"
                                   % (entry.name, entry.get("least")), entry.name))
    return "".join(lines)


def render_types(path):
    """CUPTI's types, struct cupti with its functions, numbers, and records as far as they are
    read."""
    entries = read(path)
    lines = [table.c_banner(path), types(entries),
             library.loader_struct("cupti", RESULT, library.of(entries, "function")),
             numbers(entries)]
    lines += [struct(entry) for entry in library.of(entries, "record")]
    return "".join(lines)


def render_table(path):
    """The loader's tables: functions, codes in words, versions, and the kinds to switch on."""
    entries = read(path)
    lines = [table.c_banner(path), "/* name, where it goes, whether it must be there */\n"
             "static const struct cupti_symbol cupti_symbols[] = {\n"]
    lines += [library.loader_row(entry, table.c_string(entry.name), "cupti")
              for entry in library.of(entries, "function")]
    lines.append("};\n/* code, name, in words */\n"
                 "static const struct cupti_words cupti_codes[] = {\n")
    lines += [library.statement("    {%s, %s," % (entry.get("value"), table.c_string(entry.name)),
                                "%s}," % (table.c_string(entry.get("words")) if entry.get("words")
                                          else "NULL"), "     ")
              for entry in library.of(entries, "code")]
    lines.append("};\n/* version, toolkit */\n"
                 "static const struct cupti_toolkit cupti_toolkits[] = {\n")
    for entry in library.of(entries, "versions"):
        lines += ["    {%s, %s},\n" % (row[0], table.c_string(row[1])) for row in versions(entry)]
    lines.append("};\n/* number, bytes at least, bytes read, since that version, in words */\n"
                 "static const struct cupti_kind cupti_kinds[] = {\n")
    records = {entry.name: entry for entry in library.of(entries, "record")}
    lines += ["    {%s, %s, sizeof(struct cupti_%s), %s, %s},\n"
              % (entry.name, records[entry.get("record")].get("least"), entry.get("record"),
                 entry.get("since", "0"), table.c_string(entry.get("words")))
              for entry in library.of(entries, "activity")]
    return "".join(lines) + "};\n"


def render_double(path):
    """The exports, over cupti_types.inc; see library.double_export()."""
    functions = library.of(read(path), "function")
    lines = [table.c_banner(path), library.double_numbers(functions),
             "static const char *const double_names[DOUBLE_FUNCTIONS] = {\n",
             library.double_names(functions), "};\n"]
    lines += [library.double_export(entry, RESULT, [entry.name]) for entry in functions]
    return "".join(lines)


def render_check(path):
    """Compiles if the table says what CUPTI's headers and activity_kind.h say. Records: where the
    headers have all their versions."""
    entries = read(path)
    claims = {"function": lambda entry: library.claim_function(entry, RESULT),
              "type": claim_type, "callback": claim_callback, "code": library.claim_value,
              "constant": library.claim_value_and_ours, "activity": library.claim_value}
    lines = [table.c_banner(path), "#include <cuda.h>\n#include <cupti_activity.h>\n"
             "#include <cupti_callbacks.h>\n#include <cupti_result.h>\n"
             "#include <cupti_version.h>\n#include <stddef.h>\n\n"
             '#include "arena/activity_kind.h"\n\n', library.SAME,
             library.check(entries, claims, "CUPTI_API_VERSION"),
             "#if CUPTI_API_VERSION >= 130000\n"]
    lines += [claim_record(entry) for entry in library.of(entries, "record")]
    return "".join(lines) + "#endif\n"


def claim_type(entry):
    return "" if entry.get("type").startswith("struct ") else library.claim_type(entry)


def claim_callback(entry):
    return library.claim("__builtin_types_compatible_p(%s, %s)"
                         % (entry.name, callback(entry, "")), entry.name)


def claim_record(entry):
    text = ""
    structs = [name.partition("@") for name in entry.get("structs").split()]
    for name, _, since in structs:
        claims = claim_fields(entry, name)
        if name == structs[0][0] and entry.get("least"):
            claims += library.claim("sizeof(%s) == %s" % (name, entry.get("least")), name)
        text += "#if CUPTI_API_VERSION >= %s\n%s#endif\n" % (since, claims) if since else claims
    return text


def claim_fields(entry, name):
    text = ""
    for field in fields(entry):
        text += library.claim("offsetof(%s, %s) == %d" % (name, field.name, field.offset),
                              "%s %s" % (name, field.name))
        text += library.claim("sizeof(((%s *)0)->%s) == %d" % (name, field.name, field.size),
                              "%s %s" % (name, field.name))
    return text
