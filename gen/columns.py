# SPDX-License-Identifier: Apache-2.0
"""columns.ini: the columns of the reports, for the runtime (C) and for docs/reports.md."""

import json
import os
import re

import records
import table

KINDS = {"text": "REPORT_TEXT", "count": "REPORT_COUNT", "time": "REPORT_TIME",
         "share": "REPORT_SHARE", "rate": "REPORT_RATE", "ratio": "REPORT_RATIO",
         "size": "REPORT_SIZE"}
NEEDS = ("samples", "self", "histogram", "first", "stddev", "gpu", "gpu_histogram", "bytes", "flops", "bound", "device", "counted",
         "multiplexed", "waiting", "partial", "on_cpu")
MARKS = ("self_partial", "corrected")
BOUNDS = ("at_most", "partial")
VIEWS = ("table", "tree")
ORDERS = ("after", "prometheus_after", "metric_after", "history_after",
          "diff_after")
OPTIONAL = ("needs", "hide", "spare", "mark", "bound", "values", "permille", "gpu_sort", "fluid_sort", "zero", "unit",
            "html", "prometheus", "metric", "stat", "history", "diff") + ORDERS

HEAD = """A report has some of these columns, in this order. Text is aligned left, numbers right. Times are in the unit of
`STINT_UNIT`, rates in units of 10^9, sizes in bytes, kB, MB (units of 1000). A column with "yes" under sort is a key of
`sort=`, whether the view shows it or not. A column with "if any" is omitted if no row has a value for it. The `legacy` view
has a fixed format.

"""


def read(path):
    """The columns of the table and those of records.ini beside it, in their order."""
    entries = table.read(path)
    numbers = beside(path)
    if os.path.exists(numbers):
        entries += [column_of(entry) for entry in records.shown(numbers)]
    for entry in entries:
        check(entry, path)
    table.unique_names(entries)
    table.unique(entries, "title")
    table.unique(entries, "field")
    return placed(entries, "after")


def check(entry, path):
    entry.check(("title", "kind", "field", "sort", "views", "doc"), OPTIONAL)
    entry.one_of("kind", KINDS)
    entry.one_of("sort", ("yes", "no"))
    entry.check_identifier("name", entry.name)
    field(entry)
    if "permille" in entry.values:
        permille(entry)
    if entry.get("sort") == "yes" and entry.get("kind") == "text":
        entry.fail("text cannot be sorted by")
    for key in ("gpu_sort", "fluid_sort"):
        if key in entry.values:
            entry.check_identifier(key, entry.get(key))
            if entry.get("sort") != "yes":
                entry.fail("%s, but it is not a key of sort=" % key)
    views(entry)
    needs(entry, path)
    flags(entry, "mark", MARKS)
    flags(entry, "bound", BOUNDS)
    for key, allowed in (("spare", ("yes", "no")), ("zero", ("unknown",)),
                         ("unit", records.UNITS), ("history", HISTORY)):
        if key in entry.values:
            entry.one_of(key, allowed)
    for key in FORMS:
        if key in entry.values:
            form(entry, key)


def placed(entries, key):
    """The entries in their order, but those with this key after the one that it names."""
    order = [entry for entry in entries if key not in entry.values]
    waiting = [entry for entry in entries if key in entry.values]
    while waiting:
        names = [entry.name for entry in order]
        ready = [entry for entry in waiting if entry.get(key) in names]
        if not ready:
            waiting[0].fail("%s: there is no column '%s' to come after" % (key, waiting[0].get(key)))
        order.insert(names.index(ready[0].get(key)) + 1, ready[0])
        waiting.remove(ready[0])
    return order


def column_of(number):
    """The column of a number of records.ini: a section of the other table."""
    values = {"kind": "count", "sort": "no", "views": "none", "doc": number.get("doc"),
              "needs": number.get("group"), "field": "extra.measure[MEASURE_%s]" % number.name.upper()}
    values.update((key, number.get(key)) for key in records.COLUMN + ("unit",) if key in number.values)
    values["doc"] = values.pop("says", values["doc"])
    if values["needs"] == "none":
        del values["needs"]
    else:
        values.setdefault("hide", "yes")
    return table.Entry(number.path, values.pop("column", number.name), values)


def beside(path):
    return os.path.join(os.path.dirname(os.path.abspath(path)), "records.ini")


def group_names(path):
    """The names of the groups of records.ini, which is beside the table or this script."""
    numbers = beside(path)
    return tuple(records.groups(numbers if os.path.exists(numbers) else beside(__file__)))


EXTRA = "extra."


def field(entry):
    """A member of struct stint_row or of its extra, a number of its measures or a percentile."""
    name = entry.get("field")
    if name.startswith(EXTRA):
        name = name[len(EXTRA):]
    name = re.sub(r"^(measure\[MEASURE|(gpu_)?percentile_ns\[PERCENTILE)_([A-Z0-9_]+)\]$",
                  lambda match: match[3].lower(), name)
    entry.check_identifier("field", name)


def c_field(entry):
    """An initialiser of struct row_field."""
    name = entry.get("field")
    if name.startswith(EXTRA):
        return "ROW_EXTRA_FIELD(%s)" % name[len(EXTRA):]
    return "ROW_FIELD(%s)" % name


def permille(entry):
    value = entry.get("permille")
    if not re.fullmatch(r"[1-9][0-9]{0,2}", value):
        entry.fail("permille '%s' is not a number from 1 to 999" % value)
    if entry.get("field") != "percentile_ns[PERCENTILE_%s]" % entry.name.upper():
        entry.fail("the field of a percentile is percentile_ns[PERCENTILE_%s]" % entry.name.upper())
    return int(value)


def percentiles(path):
    return having(path, "permille")


def views(entry):
    names = [] if entry.get("views") == "none" else entry.get("views").split()
    for name in names:
        if name not in VIEWS:
            entry.fail("unknown view '%s' (%s|none)" % (name, "|".join(VIEWS)))
    return names


def flags(entry, key, known):
    names = entry.get(key).split()
    for name in names:
        if name not in known:
            entry.fail("unknown %s '%s' (%s)" % (key, name, "|".join(known)))
    return names


def needs(entry, path):
    names = flags(entry, "needs", NEEDS + group_names(path))
    if "hide" in entry.values:
        entry.one_of("hide", ("yes", "no"))
        if entry.get("hide") == "yes" and not names:
            entry.fail("cannot hide: it needs nothing")


def c_needs(entry):
    return c_flags("ROW_", entry.get("needs").split())


def c_flags(prefix, names):
    return " | ".join(prefix + name.upper() for name in names) or "0"


def render_c(path):
    entries = read(path)
    lines = [table.c_banner(path),
             "#define STINT_COLUMN_COUNT %d\n" % len(entries),
             "static const struct report_column report_columns[STINT_COLUMN_COUNT] = {\n"]
    for entry in entries:
        lines.append("    {%s, %s, %s, %s, %s, %d /* sortable */, %s, %s, %d /* hide */, %d, %d, %s, %s},\n" % (
            table.c_string(entry.name), table.c_string(entry.get("title")),
            table.c_string(export_key(entry)),
            KINDS[entry.get("kind")], c_field(entry),
            entry.get("sort") == "yes", c_flags("REPORT_IN_", views(entry)), c_needs(entry),
            entry.get("hide") == "yes", entry.get("spare") == "yes",
            entry.get("kind") == "text" or "zero" in entry.values,
            c_flags("ROW_", entry.get("mark").split()),
            c_flags("ROW_", entry.get("bound").split())))
    return "".join(lines) + "};\n"


def render_percentiles(path):
    """The percentiles of a row, as an enum and a list for an initialiser."""
    found = percentiles(path)
    lines = [table.c_banner(path), "enum percentile {\n"]
    lines += ["    PERCENTILE_%s,\n" % entry.name.upper() for entry in found]
    lines.append("    PERCENTILE_COUNT\n};\n")
    lines.append("#define PERCENTILE_PERMILLES \\\n    {%s}\n" % ", ".join(
        "%d" % permille(entry) for entry in found))
    lines.append("#define PERCENTILE_KEYS \\\n    {%s}\n" % ", ".join(
        table.c_string(entry.name) for entry in found))
    return "".join(lines)


UNITS = {"time": "_ns", "share": "_ppm", "rate": "_per_s", "ratio": "_ppm", "size": "_bytes"}
GPU = "gpu_"


def export_key(entry):
    """The key in csv and json: with its unit (bytes_rate: bytes_per_s)."""
    kind = entry.get("kind")
    name = entry.name
    if kind == "rate" and name.endswith("_rate"):
        name = name[:-len("_rate")]
    return name + UNITS.get(kind, "")


def render_sorts(path):
    """By column: what sort= by it means in the views gpu and fluid."""
    lines = ["    {ACTIVITY_SORT_%s, FLUID_BY_%s},\n" % (
        entry.get("gpu_sort", "total").upper(), entry.get("fluid_sort", "total").upper())
             for entry in read(path)]
    return "%sstatic const struct report_sort report_sorts[] = {\n%s};\n" % (
        table.c_banner(path), "".join(lines))


# The form of a key's value, as a message says it, and its parts.
FORMS = {
    "html": ("TITLE: HINT", r"([^:]+): (.+)"),
    "prometheus": ("counter|gauge stint_scope_NAME: HELP",
                   r"(counter|gauge) (stint_scope_[a-z0-9_]+): (.+)"),
    "metric": ("NAME UNIT: DESCRIPTION", r"(stint\.[a-z0-9_.]+) ([^ :]+): (.+)"),
    "diff": ("WORD sum|call", r"([a-z][a-z0-9_]*) (sum|call)"),
    "stat": ("NUMBER MEMBER: COMMENT", r"([0-9]+) ([a-z][a-z0-9_]*)(?:: (.+))?"),
}
# The members of struct stint_stat that are no uint64_t: interval/stat.c fills them.
STAT_TYPES = {"threads": "uint32_t threads", "info": "char info[64]"}
HISTORY = ("count", "time", "some")


def form(entry, key):
    said, pattern = FORMS[key]
    match = re.fullmatch(pattern, entry.get(key))
    if not match:
        entry.fail("%s '%s' is not of the form %s" % (key, entry.get(key), said))
    return match.groups()


def having(path, key):
    """The columns with this key, in the order of its output."""
    return placed([entry for entry in read(path) if key in entry.values], key + "_after")


def render_prometheus(path):
    lines = []
    for entry in having(path, "prometheus"):
        kind, name, said = form(entry, "prometheus")
        lines.append("    {%s, %s, %s, EXPOSITION_%s, %s, %s, %d},\n" % (
            table.c_string(name), table.c_string(kind), table.c_string(said),
            "SECONDS" if entry.get("kind") == "time" else "NUMBER", c_field(entry),
            c_needs(entry), "zero" in entry.values))
    return "%sstatic const struct family column_families[] = {\n%s};\n" % (table.c_banner(path),
                                                                          "".join(lines))


def render_metrics(path):
    """The counters of a scope. A row without a sample has them, too."""
    lines = []
    for entry in having(path, "metric"):
        name, unit, said = form(entry, "metric")
        needed = [need for need in entry.get("needs").split() if need != "samples"]
        lines.append("    {%s, %s, %s, %s, %s},\n" % (
            table.c_string(name), table.c_string(said), table.c_string(unit), c_field(entry),
            c_flags("ROW_", needed)))
    return "%sstatic const struct metric_about scope_metrics[] = {\n%s};\n" % (
        table.c_banner(path), "".join(lines))


def stat_members(path):
    """The columns that are members of struct stint_stat, in its order, which never changes."""
    found = {}
    for entry in having(path, "stat"):
        number = int(form(entry, "stat")[0])
        if number in found:
            entry.fail("stat: %d is that of [%s]" % (number, found[number].name))
        found[number] = entry
    for number, entry in found.items():
        if number >= len(found):
            entry.fail("stat: %d, but there are %d members" % (number, len(found)))
    return [(form(found[number], "stat")[1:], found[number]) for number in sorted(found)]


def render_stat(path):
    lines = ["    {offsetof(stint_stat, %s), %s},\n" % (name, c_field(entry))
             for (name, _), entry in stat_members(path) if name not in STAT_TYPES]
    return "%sstatic const struct stat_member stat_members[] = {\n%s};\n" % (
        table.c_banner(path), "".join(lines))


def render_stat_header(path):
    """The members, for stint.h."""
    lines = []
    for (name, said), _ in stat_members(path):
        if said:
            lines += table.wrap("/* %s */" % said, "     * ", "    ", 100)
        lines.append("    %s;" % STAT_TYPES.get(name, "uint64_t " + name))
    return "".join(line + "\n" for line in lines)


def render_markdown_stat(path):
    names = ["`%s`" % name for (name, _), _ in stat_members(path)]
    return "\n".join(table.wrap("All members, in their order: %s." % ", ".join(names), width=118)) + "\n"


def render_stat_names(path):
    """Their names, for Python."""
    names = ", ".join('"%s"' % name for (name, _), _ in stat_members(path))
    return "    _names = (\n%s)\n" % "\n".join(table.wrap(names, "        ", width=100))


def render_history(path):
    """The numbers of the export history: of the CPU, and those of the GPU that are called likewise."""
    columns = {entry.name: entry for entry in read(path)}
    lines = []
    for entry in having(path, "history"):
        gpu = columns.get(GPU + entry.name)
        lines.append("    {%s, %s, HISTORY_%s, %s, %s, %d /* of the GPU, too */, %s},\n" % (
            table.c_string(entry.name), table.c_string(export_key(entry)),
            entry.get("history").upper(), c_field(entry), c_field(gpu or entry), gpu is not None,
            c_needs(entry)))
    return "%s#define HISTORY_COLUMNS %d\nstatic const struct history_column history_columns[] = " \
           "{\n%s};\n" % (table.c_banner(path), len(lines), "".join(lines))


def diff_words(path):
    return [form(entry, "diff")[0] for entry in having(path, "diff")]


def render_diff(path):
    """The numbers that stint diff compares besides calls and times."""
    lines = ["    {%s, %s, %d /* of a call */, %d /* bytes */},\n" % (
        table.c_string(form(entry, "diff")[0]), c_field(entry), form(entry, "diff")[1] == "call",
        entry.get("kind") == "size" or entry.get("unit") == "bytes")
             for entry in having(path, "diff")]
    return "%s#define DIFF_NUMBERS %d\n#define DIFF_NUMBER_LIST %s\n" \
           "static const struct diff_number diff_numbers[] = {\n%s};\n" % (
               table.c_banner(path), len(lines),
               ", ".join("DIFF_%s" % word.upper() for word in diff_words(path)), "".join(lines))


def for_page(path):
    """The columns of the table in the HTML page, as a list of JavaScript: `gpu` says that the value
    is in the object of a row that has this name."""
    found = []
    for entry in having(path, "html"):
        title, hint = form(entry, "html")
        key = export_key(entry)
        column = {"key": key, "title": title, "kind": entry.get("kind"), "hint": hint}
        if key.startswith(GPU):
            column.update({"key": entry.name, "gpu": key[len(GPU):]})
        if entry.get("kind") == "share":
            column["kind"] = "percent"  # "share" is the page's own, with a bar
        if entry.get("kind") == "rate":
            column["unit"] = title.replace("Bytes", "B")
        elif entry.get("kind") == "size":
            column.update({"kind": "rate", "unit": "B"})
        found.append(column)
    return json.dumps(found)


def into_schema(row, path):
    """Writes the columns into `row`, the properties of a row in docs/stint.schema.json: after those
    that are no columns; those of the GPU into its object `gpu`, without their prefix."""
    gpu = row.pop("gpu")
    for properties in (row, gpu["properties"]):
        for key in [key for key, value in properties.items() if "title" in value]:
            del properties[key]
    for entry in read(path):
        if entry.name == "name":
            continue
        key = export_key(entry)
        value = {"title": entry.get("title"), "description": entry.get("doc")}
        if entry.get("values"):
            value["enum"] = entry.get("values").split("|")
        elif entry.get("kind") == "text":
            value["type"] = "string"
        else:
            value["$ref"] = "#/$defs/whole"
        if key.startswith(GPU):
            gpu["properties"][key[len(GPU):]] = value
        else:
            row[key] = value
    row["gpu"] = gpu


def render_markdown(path):
    heads = ["key", "title", "kind", "sort"] + list(VIEWS) + ["meaning"]
    lines = [HEAD, table.markdown_row(heads), table.markdown_row(["---"] * len(heads))]
    for entry in read(path):
        yes = "if any" if entry.get("hide") == "yes" else "yes"
        shown = [yes if name in views(entry) else "" for name in VIEWS]
        sort = "yes" if entry.get("sort") == "yes" else ""
        lines.append(table.markdown_row(
            ["`%s`" % entry.name, entry.get("title"), entry.get("kind"), sort] + shown +
            [entry.get("doc")]))
    return "".join(lines)
