# SPDX-License-Identifier: Apache-2.0
"""env.ini: the environment variables, for the parser and `--help` (C) and docs/environment.md."""

import os
import re

import table
import words

MARKDOWN_WIDTH = 100
HELP_LIMIT = 4095  # the longest string literal C11 promises; beyond it -Wpedantic warns

# kind -> what may be written besides the values of the entry
KINDS = {
    "switch": "",
    "choice": "",
    "level": "",
    "size": "In bytes, or a number with K, M or G (of 1024).",
    "trace": "In bytes, or a number with K, M or G (of 1024).",
    "duration": "A number with ns, us, ms or s; us without a unit.",
    "text": "",
    "globs": "",
    "view": "",
}

SIZES = ("size", "trace")

HEAD = """
# Environment variables

The variables are read once, at the first use of the library in the process. A call in the program has
precedence over the environment, and the environment over the default. For an invalid value one line on
stderr names the value and what is expected, and the variable is ignored; it never stops the program. A
name that begins with STINT_ and is not in this list is reported, too. An empty value is the same as
none. Where 0 and 1 are the values, 1 may also be on, yes or true, and 0 off, no or false. A set-uid
program ignores all variables.

A program built without `WITH_TIMER` and `WITH_PROFILER` does not read them.

"""


def read(path):
    entries = table.read(path)
    for entry in entries:
        if not re.fullmatch(r"STINT_[A-Z][A-Z_]*", entry.name):
            entry.fail("name '%s' is not of the form STINT_NAME" % entry.name)
        if "kind" not in entry.values:
            entry.fail("no key 'kind'")
        entry.one_of("kind", KINDS)
        kind = entry.get("kind")
        range_keys = ("min", "max") if kind in SIZES else ("values",)
        entry.check(("kind", "field", "default", "doc") + range_keys, ("more", "call", "tracer"))
        entry.check_identifier("field", entry.get("field"))
        words.expand(os.path.dirname(path), entry, "values")
        check_default(entry)
    table.unique(entries, "field")
    return entries


def size(entry, key):
    match = re.fullmatch(r"([0-9]+)([KMG]?)", entry.get(key))
    if not match:
        entry.fail("%s '%s' is not a size" % (key, entry.get(key)))
    return int(match.group(1)) << {"": 0, "K": 10, "M": 20, "G": 30}[match.group(2)]


def values(entry):
    """The values that may be written; a size has its bounds."""
    kind = entry.get("kind")
    if kind in SIZES:
        touch = "[,touch]" if kind == "trace" else ""
        return "%s..%s%s" % (entry.get("min"), entry.get("max"), touch)
    return entry.get("values")


def bounds(entry):
    """Smallest and largest value; for a choice, of its place in the list of values."""
    kind = entry.get("kind")
    if kind in SIZES:
        return size(entry, "min"), size(entry, "max")
    if kind in ("switch", "choice", "level"):
        return 0, len(entry.get("values").split("|")) - 1
    return 0, 0


def check_default(entry):
    kind, default = entry.get("kind"), entry.get("default")
    fixed = {"switch": "0|1", "level": "0|1|2"}.get(kind)
    if fixed and entry.get("values") != fixed:
        entry.fail("the values of a %s are %s" % (kind, fixed))
    if kind in ("switch", "choice", "level") and default not in entry.get("values").split("|"):
        entry.fail("default '%s' is not one of %s" % (default, entry.get("values")))
    if kind in SIZES:
        low, high = bounds(entry)
        if not low <= size(entry, "default") <= high:
            entry.fail("default '%s' is not between min and max" % default)


def render_c(path):
    entries = read(path)
    lines = [table.c_banner(path), "#define STINT_ENV_COUNT %d\n" % len(entries),
             "/* name, kind, field, min, max, values */\n",
             "static const struct env_entry env_table[] = {\n"]
    for entry in entries:
        field = entry.get("field")
        low, high = bounds(entry)
        lines.append("    {%s, ENV_%s, %s, %d, %d, %s},\n" % (
            table.c_string(entry.name), entry.get("kind").upper(),
            "offsetof(struct stint_config, %s)" % field, low, high,
            table.c_string(values(entry))))
    return "".join(lines) + "};\n"


def render_tracer(path):
    """The value that asks for tracing, a string literal."""
    asked = [entry.get("tracer") for entry in read(path) if entry.get("tracer")]
    if len(asked) != 1:
        raise table.TableError("%s: one section has a key 'tracer'" % path)
    return table.c_banner(path) + table.c_string(asked[0]) + "\n"


def render_help(path):
    """One string literal, to be included as an initializer or an argument."""
    entries = read(path)
    lines = ["Environment:"]
    for entry in entries:
        lines += fold("  %s=%s" % (entry.name, values(entry)), " " * 6)
        lines += table.wrap("%s (default: %s)" % (entry.get("doc"), entry.get("default")), " " * 6)
    for line in lines:
        if len(line) > table.HELP_WIDTH:
            raise table.TableError("%s: %s: wider than %d columns"
                                   % (path, line.strip(), table.HELP_WIDTH))
    text = "".join(line + "\n" for line in lines)
    if len(text) > HELP_LIMIT:
        raise table.TableError("%s: the help is %d bytes long, C11 promises %d"
                               % (path, len(text), HELP_LIMIT))
    return table.c_banner(path) + "".join(table.c_string(line + "\n") + "\n" for line in lines)


def fold(text, indent):
    """Breaks a usage line before a "[" or a "|" where it is too wide."""
    lines = [""]
    for part in re.split(r"(?=[\[|])", text):
        if lines[-1] and len(lines[-1] + part) > table.HELP_WIDTH:
            lines.append(indent)
        lines[-1] += part
    return lines


def render_markdown(path):
    entries = read(path)
    lines = [table.markdown_banner(path), HEAD]
    for entry in entries:
        lines.append(markdown_section(entry))
    return "".join(lines).rstrip("\n") + "\n"


def markdown_section(entry):
    usage = "`%s=%s`:" % (entry.name, values(entry))
    said = "Default: %s." % entry.get("default")
    if entry.get("call"):
        said += " Call: `%s`." % entry.get("call")
    text = " ".join(part for part in (usage, entry.get("doc"), entry.get("more"),
                                      KINDS[entry.get("kind")], said) if part)
    return "## %s\n\n%s\n\n" % (
        entry.name, "\n".join(table.wrap(text, width=MARKDOWN_WIDTH)))
