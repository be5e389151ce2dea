# SPDX-License-Identifier: Apache-2.0
"""driver.ini: the part of the CUDA driver that stint uses, as a loader's table and as names, as the
codes it returns, as the exports of the test double and as a check against cuda.h (all C)."""

import library
import table

KEYS = {  # kind -> required keys, further keys
    "function": (("args", "required"), ("names", "since")),
    "type": (("type",), ()),
    "code": (("value",), ("fatal", "ours", "since")),
    "attribute": (("value", "field"), ()),
    "constant": (("value",), ("ours",)),
}
MOST_NAMES = 2
RESULT = "CUresult"


def read(path):
    entries = library.read(path, KEYS, numbers=("value", "since"), switches=("required", "fatal"),
                           distinct=("code", "attribute"))
    for entry in entries:
        if len(names(entry)) > MOST_NAMES:
            entry.fail("more than %d names" % MOST_NAMES)
    table.unique(entries, "field")
    return entries


def names(entry):
    return (entry.get("names") or entry.name).split()


def types(entries):
    return "".join(library.typedef(entry) for entry in library.of(entries, "type"))


def render_table(path):
    """The types, struct driver, what to look for, and the device's attributes."""
    entries = read(path)
    functions = library.of(entries, "function")
    lines = [table.c_banner(path), types(entries),
             library.loader_struct("driver", RESULT, functions),
             "/* names in order of preference, where it goes, whether it must be there */\n"
             "static const struct driver_symbol driver_symbols[] = {\n"]
    for entry in functions:
        symbols = ", ".join(table.c_string(name) for name in names(entry))
        lines.append(library.loader_row(entry, "{%s}" % symbols, "driver"))
    lines.append("};\nstatic const struct driver_attribute driver_attributes[] = {\n")
    lines += ["    {%s, offsetof(struct gpu_device, %s)},\n"
              % (entry.get("value"), entry.get("field"))
              for entry in library.of(entries, "attribute")]
    return "".join(lines) + "};\n"


def render_calls(path):
    """The names of the functions, for a tracer that leaves out the calls of this library."""
    names_of = [table.c_string(name) for entry in library.of(read(path), "function")
                for name in names(entry)]
    return "%sstatic const char *const driver_calls[] = {\n%s};\n" % (
        table.c_banner(path), "".join("    %s,\n" % name for name in names_of))


def render_codes(path):
    """The rows, and each number that has a name of ours, for the code that compares the two."""
    entries = read(path)
    rows = ["    {%s, %d, %s},\n" % (entry.get("value"), entry.get("fatal") == "yes",
                                     table.c_string(entry.name))
            for entry in library.of(entries, "code")]
    numbers = ["    IS(%s, %s)" % (entry.get("ours"), entry.get("value"))
               for entry in entries if entry.get("ours")]
    return "%s/* code, whether no call can be right after it, name */\n" \
           "static const struct cuda_code_row cuda_codes[] = {\n%s};\n" \
           "#define CUDA_NUMBERS(IS) \\\n%s\n" % (
               table.c_banner(path), "".join(rows), " \\\n".join(numbers))


def render_double(path):
    """The types, and the exports with all their symbols; see library.double_export()."""
    entries = read(path)
    functions = library.of(entries, "function")
    lines = [table.c_banner(path), types(entries), library.double_numbers(functions),
             "const char *const double_names[DOUBLE_FUNCTIONS + 1] = {\n",
             library.double_names(functions), "    NULL};\n"]
    lines += [library.double_export(entry, RESULT, names(entry)) for entry in functions]
    return "".join(lines)


def render_check(path):
    """Compiles if the table says what cuda.h and gpu.h say."""
    claims = {"function": lambda entry: library.claim_function(entry, RESULT),
              "type": library.claim_type, "code": library.claim_value_and_ours,
              "attribute": library.claim_value, "constant": library.claim_value_and_ours}
    return "".join([table.c_banner(path), "#include <cuda.h>\n#include <cudaProfiler.h>\n\n"
                    '#include "gpu/gpu.h"\n\n', library.SAME,
                    library.check(read(path), claims, "CUDA_VERSION")])
