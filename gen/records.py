# SPDX-License-Identifier: Apache-2.0
"""records.ini: the numbers of the records of a run, as enums, members and tables of rules (C)."""

import table

RECORDS = {"scope": "struct stint_impl_node", "activity": "struct arena_activity",
           "line": "struct stint_impl_line_cell", "rank_cell": "struct arena_rank_cell"}
PLACES = {"node": "struct stint_impl_node", "gpu": "struct arena_gpu"}
ADD = ("sum", "state", "most", "least", "earliest", "with", "ticks", "squares")
UNITS = ("count", "samples", "ticks", "moment", "ns", "bytes")
OF = ("own", "calls", "gpu")
# The keys of columns.ini that a number may have, and those that differ.
COLUMN = ("column", "after", "title", "kind", "sort", "gpu_sort", "fluid_sort", "views", "needs", "hide",
          "spare", "zero", "html", "prometheus", "prometheus_after", "metric", "metric_after", "stat",
          "history", "history_after", "diff", "diff_after", "says")
NUMBERS = 4096  # a block of a run file has 2 bytes for a number


def number(entry, value):
    """A number of run files, from its text."""
    if not value.isdigit() or int(value) >= NUMBERS:
        entry.fail("number '%s' is not one from 0 to %d" % (value, NUMBERS - 1))
    return int(value)


def take(entry, value, taken):
    """The same, which no other section may have."""
    taken_by = taken.setdefault(number(entry, value), entry.name)
    if taken_by != entry.name:
        entry.fail("number %s is that of [%s]; the next free one is %d"
                   % (value, taken_by, next(n for n in range(NUMBERS) if n not in taken)))
    return int(value)


def check_rules(entry):
    entry.one_of("add", ADD)
    if "unit" in entry.values:
        entry.one_of("unit", UNITS)
    if "of" in entry.values:
        entry.one_of("of", OF)


def read_fixed(entry, records):
    """A number that every record of a kind has."""
    record, _, name = entry.name.partition(".")
    if record not in RECORDS:
        entry.fail("unknown record '%s' (%s)" % (record, "|".join(RECORDS)))
    entry.check(("at", "add", "doc"), ("with", "unit", "of"))
    entry.member = name
    entry.check_identifier("name", name)
    entry.check_identifier("at", entry.get("at"))
    check_rules(entry)
    records.setdefault(record, []).append(entry)


def check_followers(records):
    """A number is taken with one that comes after it: numbers_add sees the two as they were."""
    for entries in records.values():
        names = [entry.member for entry in entries]
        for place, entry in enumerate(entries):
            if (entry.get("add") == "with") != ("with" in entry.values):
                entry.fail("add = with and the key 'with' come together")
            if "with" in entry.values and entry.get("with") not in names[place + 1:]:
                entry.fail("there is no number '%s' after it" % entry.get("with"))


def read_grouped(entry, taken, ended):
    """A number that only some scopes have."""
    entry.check(("number", "group", "add", "of", "doc"), ("at", "unit") + COLUMN)
    if "title" not in entry.values and any(key in entry.values for key in COLUMN):
        entry.fail("keys of a column, but no title")
    entry.number = take(entry, entry.get("number"), taken)
    entry.check_identifier("name", entry.name)
    entry.check_identifier("group", entry.get("group"))
    check_rules(entry)
    place = entry.get("at").partition(".")[0]
    if place and place not in PLACES:
        entry.fail("unknown place '%s' (%s)" % (place, "|".join(PLACES)))
    group = entry.get("group")
    if ended and ended[-1] == group:
        return
    if group in ended:
        entry.fail("group %s began above and has ended" % group)
    ended.append(group)


def read_all(path):
    """The numbers by record, those of groups, and those that are taken, with their sections."""
    records, grouped, taken, ended = {}, [], {}, []
    entries = table.read(path)
    for entry in entries:
        if entry.name == "reserved":
            entry.check(("numbers", "doc"))
            for value in entry.get("numbers").split():
                take(entry, value, taken)
    for entry in entries:
        if "." in entry.name:
            read_fixed(entry, records)
        elif entry.name != "reserved":
            read_grouped(entry, taken, ended)
            grouped.append(entry)
    check_followers(records)
    return records, grouped, taken


def shown(path):
    """The numbers that are columns of reports."""
    return [entry for entry in read_all(path)[1] if "title" in entry.values]


def groups(path):
    """The numbers of each group, in the order of the table."""
    found = {}
    for entry in read_all(path)[1]:
        found.setdefault(entry.get("group"), []).append(entry)
    return found


def members(word, names, vector):
    """A union of a vector of words and of its members by name, as a macro; names: of some places."""
    lines = ["    union {                                                     \\\n",
             "        %s %s;\n" % (word, vector), "        struct {\n"]
    at = 0
    for place, name in sorted(names.items()):
        if place > at:
            lines.append("            %s before_%s[%d];\n" % (word, name[1], place - at))
        lines.append("            %s %s;\n" % name)
        at = place + 1
    lines += ["        };\n", "    }\n"]
    return "".join("%s \\\n" % line.split("\n")[0].rstrip(" \\") for line in lines)[:-3] + "\n"


# The types of a number, and of one that is a double, in a record and in a sum of records.
FORMS = {"": ("uint64_t", "double"), "_SUMS": ("u128", "_Alignas(u128) double")}


def by_name(name, vector, entries):
    """The macros of a record and of a sum of records; entries: by place, with the members' names."""
    lines = []
    for form, (word, real) in FORMS.items():
        names = {place: (real if entry.get("add") == "squares" else word, member)
                 for place, (entry, member) in entries.items()}
        lines.append("#define %s%s_BY_NAME \\\n" % (name, form) + members(word, names, vector))
    return lines


def render_ids(path):
    records, grouped, taken = read_all(path)
    lines = [table.c_banner(path)]
    for record, entries in records.items():
        upper = record.upper()
        lines.append("enum %s_number {\n" % record)
        lines += ["    %s_%s,\n" % (upper, entry.member.upper()) for entry in entries]
        lines.append("    %s_NUMBERS\n};\n" % upper)
        lines += by_name(upper, "number[%s_NUMBERS]" % upper,
                         {place: (entry, entry.member) for place, entry in enumerate(entries)})
    lines += ["#define MEASURE_COUNT %d\n" % (max(taken) + 1), "enum measure {\n"]
    lines += ["    MEASURE_%s = %d,\n" % (entry.name.upper(), entry.number) for entry in grouped]
    lines.append("};\n#define MEASURE_GROUP_COUNT %d\nenum measure_group {\n" % len(groups(path)))
    lines += ["    MEASURE_GROUP_%s,\n" % name.upper() for name in groups(path)]
    lines.append("};\nenum measure_group_size {\n")
    lines += ["    MEASURES_OF_%s = %d,\n" % (name.upper(), len(of))
              for name, of in groups(path).items()]
    lines.append("};\n")
    lines += by_name("MEASURE", "measure[MEASURE_COUNT]",
                     {entry.number: (entry, entry.name) for entry in grouped if "at" in entry.values})
    return "".join(lines)


def render_flags(path):
    """The flags that say that a row has numbers of a group."""
    return table.c_banner(path) + "".join(
        "#define ROW_%s ((uint64_t)1 << (ROW_MEASURES + MEASURE_GROUP_%s))\n"
        % (name.upper(), name.upper()) for name in groups(path))


def rule(entry, at, leader=0):
    """An initialiser of struct number_rule."""
    return "{NUMBER_%s, UNIT_%s, OF_%s, %s, %s}" % (
        entry.get("add").upper(), entry.get("unit", "count").upper(),
        entry.get("of", "own").upper(), leader, at)


def render_measures(path):
    """The groups, for recorders and readers."""
    numbers, lists, places = [], [], []
    for of in groups(path).values():
        where = of[0].get("at").partition(".")[0] or "block"
        lists.append("    {&measure_numbers[%d], %d, MEASURES_IN_%s},\n"
                     % (len(numbers), len(of), where.upper()))
        numbers += ["    %d,\n" % entry.number for entry in of]
        places += ["    [%d] = %d,\n" % (entry.number, at) for at, entry in enumerate(of)]
    return "".join([
        table.c_banner(path), "static const uint8_t measure_places[MEASURE_COUNT] = {\n", *places,
        "};\nstatic const uint16_t measure_numbers[] = {\n", *numbers,
        "};\nstatic const struct measure_list measure_lists[MEASURE_GROUP_COUNT] = {\n", *lists,
        "};\n"])


def render_rules(path):
    """The rules of all numbers, for readers."""
    records = read_all(path)[0]
    lines = [table.c_banner(path)]
    for record, entries in records.items():
        upper = record.upper()
        lines.append("static const struct number_rule %s_numbers[%s_NUMBERS] = {\n"
                     % (record, upper))
        for entry in entries:
            place = "offsetof(%s, %s)" % (RECORDS[record], entry.get("at"))
            leader = "%s_%s" % (upper, entry.get("with").upper()) if "with" in entry.values else 0
            lines.append("    [%s_%s] = %s,\n" % (upper, entry.member.upper(),
                                                  rule(entry, place, leader)))
        lines.append("};\nconst struct record record_%s = {%s_numbers, %s_NUMBERS};\n"
                     % (record, record, upper))
    lines.append("static const struct number_rule measure_rules[MEASURE_COUNT] = {\n")
    for of in groups(path).values():
        for at, entry in enumerate(of):
            place = "%d * sizeof(uint64_t)" % at
            if "at" in entry.values:
                where, _, member = entry.get("at").partition(".")
                place = "offsetof(%s, %s)" % (PLACES[where], member)
            lines.append("    [%d] = %s,\n" % (entry.number, rule(entry, place)))
    return "".join(lines) + \
        "};\nconst struct record record_measures = {measure_rules, MEASURE_COUNT};\n"


def into_format(path, text):
    """Writes what the numbers are into the tables of structs of docs/format.md."""
    records, grouped, _ = read_all(path)
    for struct in {**RECORDS, **PLACES}.values():
        said = {entry.get("at"): entry for name, entries in records.items()
                if RECORDS[name] == struct for entry in entries}
        said.update({entry.get("at").partition(".")[2]: entry for entry in grouped
                     if PLACES.get(entry.get("at").partition(".")[0]) == struct})
        start = text.index("`%s`" % struct)
        end = text.index("\n\n", text.index("| offset |", start))
        lines = text[start:end].split("\n")
        for at, line in enumerate(lines):
            cells = line.split(" | ")
            if len(cells) == 4 and cells[2] in said:
                lines[at] = " | ".join(cells[:3] + [said.pop(cells[2]).get("doc") + " |"])
        for entry in said.values():
            entry.fail("docs/format.md has no row of %s in the table of %s"
                       % (entry.get("at"), struct))
        text = text[:start] + "\n".join(lines) + text[end:]
    return text


def render_markdown(path):
    """The numbers that lie in blocks."""
    lines = [table.markdown_row(("number", "name", "what")),
             table.markdown_row(("--:", "---", "---"))]
    for of in groups(path).values():
        lines += [table.markdown_row((entry.get("number"), "`%s`" % entry.name, entry.get("doc")))
                  for entry in of if "at" not in entry.values]
    return "".join(lines)
