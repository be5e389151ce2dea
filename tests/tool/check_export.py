#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the exporters write: the structure each format asks for, and where viewers trip.

    check_export.py check FORMAT FILE          the file is what FORMAT must be
    check_export.py golden PROGRAM FORMAT RUN  PROGRAM FORMAT RUN prints golden/RUN.FORMAT, which is
                                               right; UPDATE=1 in the environment writes it anew
    check_export.py agree PROGRAM              formats tell the same totals
    check_export.py self-test PROGRAM          every fault put into a right file is found
"""

import collections
import csv
import decimal
import difflib
import io
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

import otlp
from cases import FORMATS as ALL_FORMATS, ROOT, Wrong, need

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = ROOT / "docs" / "stint.schema.json"
FORMATS = tuple(name for name in ALL_FORMATS if name != "html")
TABLES = ("devices", "kernels", "memory", "api", "gaps", "steps", "activities")
RUNS = ("full", "tree", "empty", "zero", "gpu")


def unique(pairs):
    keys = [key for key, _ in pairs]
    need(len(set(keys)) == len(keys), "a key twice: %s" % keys)
    return dict(pairs)


def no_constant(text):
    raise Wrong("not a finite number: " + text)


def load_json(data, parse_float=decimal.Decimal):
    try:
        return json.loads(data.decode("utf-8"), parse_float=parse_float,
                          parse_constant=no_constant, object_pairs_hook=unique)
    except ValueError as error:
        raise Wrong("not JSON: %s" % error) from None


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


class Totals(collections.Counter):
    """Inclusive nanoseconds by name."""


class Lane:
    """Spans of one lane: each inside the one around it, by start, the longer first."""

    def __init__(self, name):
        self.name, self.open, self.last = name, [], (-1, 0)

    def add(self, start, end):
        need(end >= start, "%s: a span that ends before it starts" % self.name)
        need((start, -end) >= self.last, "%s: out of order at %s" % (self.name, start))
        self.last = (start, -end)
        while self.open and self.open[-1] <= start and (self.open[-1], start) != (end, end):
            self.open.pop()
        need(not self.open or end <= self.open[-1],
             "%s: [%s, %s] is over the end of what is around it" % (self.name, start, end))
        self.open.append(end)


def nanoseconds(value, what):
    ns = decimal.Decimal(value) * 1000
    need(ns == int(ns) and ns >= 0, "%s is no whole nanosecond: %s" % (what, value))
    return int(ns)


CHROME_KEYS = {"X": {"ph", "pid", "tid", "ts", "dur", "name", "cat"},
               "i": {"ph", "pid", "tid", "ts", "name", "s"},
               "C": {"ph", "pid", "tid", "ts", "name", "args"},
               "M": {"ph", "pid", "tid", "name", "args"},
               "s": {"ph", "pid", "tid", "ts", "id", "cat", "name"},
               "f": {"ph", "bp", "pid", "tid", "ts", "id", "cat", "name"}}


def chrome_arrow(event, start, arrows, lane):
    """Checks one end of an arrow from a launch to the span that precedes the arrow's end in the
    file."""
    need(whole(event["id"]) and event["cat"] == event["name"] == "launch", "an arrow: %s" % event)
    ends = arrows.setdefault(event["id"], {})
    need(event["ph"] not in ends, "an arrow with two ends alike: %s" % event)
    ends[event["ph"]] = start
    if event["ph"] == "f":
        need(event["bp"] == "e", "an arrow to the next span: %s" % event)
        need(lane and lane.last[0] == start, "an arrow to no span: %s" % event)


def chrome_event(event, names, lanes, totals, arrows):
    kind = event.get("ph")
    need(kind in CHROME_KEYS, "a kind nobody reads: %s" % event)
    keys = CHROME_KEYS[kind]
    need(keys - {"cat"} <= set(event) <= keys, "keys: %s" % event)
    need(whole(event["pid"]) and whole(event["tid"]) and max(event["pid"], event["tid"]) < 2**31,
         "pid and tid are small integers: %s" % event)
    place = (event["pid"], event["tid"])
    if kind == "M":
        if event["name"] == "thread_name":
            need(place not in names, "two lanes have the number %s" % (place,))
            names[place] = event["args"]["name"]
        return
    need(place in names, "a lane without a name: %s" % event)
    start = nanoseconds(event["ts"], "ts")
    if kind == "X":
        duration = nanoseconds(event["dur"], "dur")
        lanes.setdefault(place, Lane(names[place])).add(start, start + duration)
        totals[event["name"]] += duration
    elif kind in "sf":
        chrome_arrow(event, start, arrows, lanes.get(place))
    elif kind == "i":
        need(event["s"] == "t", "a mark is the thread's: %s" % event)
    else:
        need(list(event["args"]) == ["value"], "a counter has one value: %s" % event)


def check_chrome(data):
    document = load_json(data)
    need(set(document) == {"displayTimeUnit", "otherData", "traceEvents"}, "the object's keys")
    need(not re.search(rb'"(ts|dur)":(?!\d+\.\d{3}[,}])', data), "three decimals, nothing else")
    need(document["traceEvents"][0]["name"] == "process_name", "the process is named first")
    names, lanes, totals, arrows = {}, {}, Totals(), {}
    for event in document["traceEvents"]:
        chrome_event(event, names, lanes, totals, arrows)
    for ends in arrows.values():
        need(set(ends) == {"s", "f"} and ends["s"] <= ends["f"], "half an arrow: %s" % ends)
    return totals


# ---- Perfetto: what of its .proto files is written here: field -> (name, kind or message) ----

INTERNED = {1: ("iid", "number"), 2: ("name", "text")}
MESSAGES = {
    "Trace": {1: ("packet", "Packet")},
    "Packet": {8: ("timestamp", "number"), 10: ("sequence", "number"), 11: ("event", "Event"),
               12: ("interned", "InternedData"), 13: ("flags", "number"),
               60: ("track", "Descriptor")},
    "Descriptor": {1: ("uuid", "number"), 2: ("name", "text"), 3: ("process", "Process"),
                   4: ("thread", "Thread"), 5: ("parent", "number"), 8: ("counter", "Counter")},
    "Process": {1: ("pid", "number"), 6: ("name", "text")},
    "Thread": {1: ("pid", "number"), 2: ("tid", "number"), 5: ("name", "text")},
    "Counter": {},
    "Event": {3: ("category", "number"), 9: ("type", "number"), 10: ("name", "number"),
              11: ("track", "number"), 44: ("value", "double"), 47: ("flow", "fixed"),
              48: ("flow_ends", "fixed")},
    "InternedData": {1: ("category", "Interned"), 2: ("name", "Interned")},
    "Interned": INTERNED,
    # pprof: github.com/google/pprof/proto/profile.proto
    "Profile": {1: ("sample_type", "ValueType"), 2: ("sample", "Sample"), 4: ("location", "Location"),
                5: ("function", "Function"), 6: ("string", "text"), 9: ("time_nanos", "number"),
                10: ("duration_nanos", "number"), 14: ("default_sample_type", "number")},
    "ValueType": {1: ("type", "number"), 2: ("unit", "number")},
    "Sample": {1: ("location_id", "number"), 2: ("value", "number"), 3: ("label", "Label")},
    "Label": {1: ("key", "number"), 3: ("num", "number")},
    "Location": {1: ("id", "number"), 4: ("line", "Line")},
    "Line": {1: ("function_id", "number"), 2: ("line", "number")},
    "Function": {1: ("id", "number"), 2: ("name", "number"), 3: ("system_name", "number"),
                 4: ("filename", "number"), 5: ("start_line", "number")},
}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 64, "a number that is cut off")
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def field_value(data, at, wire, kind):
    if wire == 0:
        need(kind == "number", "a number where %s belongs" % kind)
        return varint(data, at)
    if wire == 1:
        need(kind in ("double", "fixed") and at + 8 <= len(data),
             "eight bytes where %s belongs" % kind)
        return struct.unpack("<d" if kind == "double" else "<Q", data[at:at + 8])[0], at + 8
    need(wire == 2 and kind not in ("number", "double", "fixed"),
         "wire type %d for %s" % (wire, kind))
    size, at = varint(data, at)
    need(at + size <= len(data), "a length past the end")
    body = data[at:at + size]
    if kind != "text":
        return decode(body, kind), at + size
    try:
        return body.decode("utf-8"), at + size
    except UnicodeDecodeError:
        raise Wrong("text that is no UTF-8: %r" % body) from None


def decode(data, message):
    """A list of (name, value)."""
    fields, at = [], 0
    while at < len(data):
        tag, at = varint(data, at)
        need(tag >> 3 in MESSAGES[message], "%s has no field %d here" % (message, tag >> 3))
        name, kind = MESSAGES[message][tag >> 3]
        value, at = field_value(data, at, tag & 7, kind)
        fields.append((name, value))
    return fields


def show(fields):
    return " ".join("%s{%s}" % (name, show(value)) if isinstance(value, list)
                    else "%s=%s" % (name, json.dumps(value)) for name, value in fields)


class PerfettoReader:
    def __init__(self):
        self.tracks, self.names, self.open, self.last = {}, {}, {}, {}
        self.totals, self.flows = Totals(), {}

    def packet(self, index, packet):
        need(packet.get("sequence") == 1, "a packet of no sequence")
        need(packet.get("flags") == (1 if index == 0 else 2) or "track" in packet,
             "the first packet clears the state, events need it")
        if "track" in packet:
            self.describe(unique(packet["track"]))
        for kind, entry in packet.get("interned", []):
            entry = unique(entry)
            need(entry["iid"] > 0 and (kind, entry["iid"]) not in self.names, "an iid twice or 0")
            self.names[kind, entry["iid"]] = entry["name"]
        if "event" in packet:
            self.event(packet["timestamp"], unique(packet["event"]))

    def describe(self, track):
        need(track["uuid"] not in self.tracks or "process" not in track, "a track twice")
        need("parent" not in track or track["parent"] in self.tracks, "a parent not described yet")
        self.tracks[track["uuid"]] = track

    def event(self, at, event):
        track = event["track"]
        need(track in self.tracks, "an event on a track not described yet")
        if event["type"] == COUNTER:
            need("counter" in self.tracks[track] and abs(event["value"]) < float("inf"),
                 "a counter's value")
            return
        for end in ("flow", "flow_ends"):
            if end in event:
                ends = self.flows.setdefault(event[end], {})
                need(end not in ends, "an arrow with two ends alike: %s" % event)
                ends[end] = at
        if "flow" in event: # a launch: it is in the lane of its work
            need(event["type"] == INSTANT, "a launch that takes time: %s" % event)
        else:
            need(at >= self.last.get(track, 0), "track %d goes back in time" % track)
            self.last[track] = at
        stack = self.open.setdefault(track, [])
        if event["type"] == END:
            need(stack, "an end without a begin")
            start, name = stack.pop()
            self.totals[name] += at - start
            return
        need(("name", event["name"]) in self.names, "a name not interned yet")
        need(("category", event["category"]) in self.names, "a category not interned yet")
        if event["type"] == BEGIN:
            stack.append((at, self.names["name", event["name"]]))


def check_perfetto(data):
    reader = PerfettoReader()
    for index, (_, packet) in enumerate(decode(data, "Trace")):
        reader.packet(index, unique(packet))
    need(reader.tracks, "no track")
    need(not any(reader.open.values()), "a span without an end")
    for ends in reader.flows.values():
        need(len(ends) == 2 and ends["flow"] <= ends["flow_ends"], "half an arrow: %s" % ends)
    return reader.totals


# ---- pprof ----

def all_of(fields, name):
    return [value for key, value in fields if key == name]


def check_pprof(data):
    """The names of a stack, each once, get its time, as check_folded counts."""
    profile = decode(data, "Profile")
    strings = all_of(profile, "string")
    need(strings and strings[0] == "", "the first string is empty")
    types = [unique(entry) for entry in all_of(profile, "sample_type")]
    need([(strings[entry["type"]], strings[entry["unit"]]) for entry in types] ==
         [("calls", "count"), ("time", "nanoseconds")], "types: %s" % types)
    need(strings[unique([(k, v) for k, v in profile if k == "default_sample_type"])
                 ["default_sample_type"]] == "time", "the default type")
    functions = {unique(entry)["id"]: unique(entry) for entry in all_of(profile, "function")}
    need(len(functions) == len(all_of(profile, "function")) and 0 not in functions, "ids of functions")
    names = {}
    for entry in map(unique, all_of(profile, "location")):
        need(entry["id"] > 0 and entry["id"] not in names, "ids of locations")
        function = functions[unique(entry["line"])["function_id"]]
        need(function["filename"] < len(strings), "no such string")
        names[entry["id"]] = strings[function["name"]]
    totals = Totals()
    for sample in all_of(profile, "sample"):
        values, stack = all_of(sample, "value"), all_of(sample, "location_id")
        need(len(values) == 2 and stack and max(values) < 2**63, "a sample: %s" % sample)
        need([strings[unique(label)["key"]] for label in all_of(sample, "label")] == ["thread"], "label")
        for name in {names[location] for location in stack}:
            totals[name] += values[1]
    return totals


# ---- The others ----

def check_folded(data):
    totals = Totals()
    text = data.decode("utf-8")
    need(not text or text.endswith("\n"), "the last line is cut off")
    for line in text.split("\n")[:-1]:
        match = re.fullmatch(r"([^\x00-\x1f\x7f-\x9f\u2028\u2029]+) ([1-9][0-9]*)", line)
        need(match, "not `stack number`: %r" % line)
        frames = match.group(1).split(";")
        need(all(frames), "a frame without a name: %r" % line)
        for frame in set(frames):
            totals[frame] += int(match.group(2))
    return totals


CSV_TEXT = {"name", "set", "thread", "bound", "info", "kind", "what", "why", "scope", "direction",
            "from", "to", "lib", "precision", "limiter", "host", "histogram", "gpu_histogram"}


def csv_rows(data):
    text = data.decode("utf-8")
    need(not text.startswith("\ufeff"), "a byte order mark")
    need("\n" not in re.sub(r'"(?:[^"]|"")*"', "", text).replace("\r\n", ""), "lines end in CRLF")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    need(rows and all(re.fullmatch("[a-z0-9_]+", key) for key in rows[0]), "the head")
    need(len(set(rows[0])) == len(rows[0]), "a column twice")
    for row in rows[1:]:
        need(len(row) == len(rows[0]), "a row of %d cells: %s" % (len(row), row))
        for key, cell in zip(rows[0], row):
            need(cell[:1] not in ("=", "+", "-", "@", "\t", "\r") or not cell, "formula: %r" % cell)
            need(key in CSV_TEXT or re.fullmatch(r"[0-9]*", cell), "%s: %r" % (key, cell))
    return rows[0], [dict(zip(rows[0], row)) for row in rows[1:]]


def check_csv(data):
    head, rows = csv_rows(data)
    need(head[:4] == ["name", "set", "tid", "thread"], "the head")
    totals = Totals()
    for row in rows:
        totals[row["name"]] += int(row["total_ns"] or 0)
    return totals


def check_csv_table(data):
    """Checks rows that may differ in all columns but numbers; the largest total comes first."""
    head, rows = csv_rows(data)
    need({"calls", "busy_ns"} & set(head), "the head")
    order = [int(row.get("total_ns") or 0) for row in rows]
    need(order == sorted(order, reverse=True), "the largest total comes first")
    return Totals()


class Schema:
    """The part of JSON Schema that the schema file uses. Members that it does not name are an
    error."""

    def __init__(self, document):
        self.document = document

    def check(self, value, schema, where):
        if "$ref" in schema:
            self.check(value, self.document["$defs"][schema["$ref"].split("/")[-1]], where)
        kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
        kind = schema.get("type")
        if kind:
            need(isinstance(value, kinds[kind]) and
                 (kind != "integer" or not isinstance(value, bool)), "%s: no %s" % (where, kind))
        need("const" not in schema or value == schema["const"], "%s: %r" % (where, value))
        need("enum" not in schema or value in schema["enum"], "%s: %r" % (where, value))
        need("minimum" not in schema or value >= schema["minimum"], "%s: %r" % (where, value))
        for key in schema.get("required", ()):
            need(key in value, "%s: no %s" % (where, key))
        if "properties" in schema:
            for key, member in value.items():
                need(key in schema["properties"], "%s: %s is not in the schema" % (where, key))
                self.check(member, schema["properties"][key], "%s.%s" % (where, key))
        for i, item in enumerate(value if "items" in schema else ()):
            self.check(item, schema["items"], "%s[%d]" % (where, i))


def check_json(data):
    def no_float(text):
        raise Wrong("not a whole number: " + text)
    document = load_json(data, no_float)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Schema(schema).check(document, schema, "run")
    need(all("thread" not in row for row in document["stats"] + document["tree"]), "a thread")
    for row in document["thread_stats"]:
        need(row["thread"] < len(document["threads"]), "no such thread: %s" % row)
    for i, row in enumerate(document["tree"]):
        need(row.get("parent", -1) < i, "a parent behind its child: %s" % row)
    order = [row.get("total_ns", 0) for row in document["stats"]]
    need(order == sorted(order, reverse=True), "the largest total comes first")
    return Totals({row["name"]: row.get("total_ns", 0) for row in document["stats"]})


SERIES = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*\})? '
                    r'([0-9]+(?:\.[0-9]+)?)')


def family_of(name, kinds):
    for suffix, members in (("_sum", ("summary", "histogram")),
                            ("_count", ("summary", "histogram")), ("_bucket", ("histogram",))):
        if name.endswith(suffix) and kinds.get(name[:-len(suffix)]) in members:
            return name[:-len(suffix)]
    return name


def check_buckets(name, buckets, count):
    """Checks the buckets of one scope: the bounds are powers of two of nanoseconds and +Inf, the
    counts do not fall, and the last is the count."""
    bounds = [decimal.Decimal(bound) * 10**9 for bound, _ in buckets[:-1]]
    counts = [number for _, number in buckets]
    need(bounds == [2**i for i in range(4, 47)] and buckets[-1][0] == "+Inf", "bounds of " + name)
    need(counts == sorted(counts) and counts[-1] == count, "buckets of " + name)


def check_prometheus(data):
    text = data.decode("utf-8")
    need(text.endswith("\n"), "the last line is cut off")
    kinds, seen, totals, family, buckets = {}, set(), Totals(), None, []
    lines = text.split("\n")[:-1]
    for i, line in enumerate(lines):
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            need(family not in kinds and len(line.split(" ")) > 3, "a family twice: " + family)
            need(lines[i + 1].startswith("# TYPE %s " % family), "HELP without TYPE: " + family)
        elif line.startswith("# TYPE "):
            kinds[family] = line.split(" ")[3]
            need(kinds[family] != "counter" or family.endswith("_total"), "not _total: " + family)
        else:
            match = SERIES.fullmatch(line)
            need(match, "not a series (or with a time): %r" % line)
            need(family_of(match.group(1), kinds) == family, "not in its family: " + line)
            need(match.group(1, 2) not in seen, "a series twice: " + line)
            seen.add(match.group(1, 2))
            bound = re.search(r',le="([^"]+)"}$', match.group(2) or "")
            if bound and match.group(1).endswith("_bucket"):
                buckets.append((bound.group(1), int(match.group(3))))
            elif buckets and match.group(1).endswith("_count"):
                check_buckets(line, buckets, int(match.group(3)))
                buckets = []
            if match.group(1) == "stint_scope_seconds_sum":
                totals[match.group(2)] += nanoseconds(decimal.Decimal(match.group(3)) * 1000000,
                                                      "seconds")
    return totals


def check_otlp(data):
    need(data.endswith(b"}\n") and data.count(b"\n") == 1, "a request is a line")
    otlp.points(otlp.from_json(load_json(data)))
    return Totals()


def check(kind, data):
    """By the function check_KIND. Returns the totals, if the format has any."""
    name = "check_" + ("csv_table" if kind.startswith("csv_") else kind.replace("-", "_"))
    need(name in globals(), "the format %s has no check: write %s(data) in %s" % (kind, name, __file__))
    try:
        return globals()[name](data)
    except (KeyError, IndexError, TypeError, AttributeError, UnicodeDecodeError, struct.error,
            csv.Error) as error:
        raise Wrong("%s: %s" % (type(error).__name__, error)) from None


# ---- Commands ----

def export(program, kind, run):
    return subprocess.run([program, kind, run], stdout=subprocess.PIPE, check=True).stdout


LOST = b"stint_lost_total{"


def without_repeats(lines):
    """The lines without buckets that add no call: check_buckets() knows the bounds."""
    kept, count = [], None
    for line in lines:
        before, count = count, line.rsplit(b" ", 1)[1] if b"_bucket{" in line else None
        if count is None or count != before:
            kept.append(line)
    return kept


def heads_of(lines):
    """The lines that tell what follows in every run: heads of families, and names of losses."""
    return [line.rsplit(b" ", 1)[0] if line.startswith(LOST) else line for line in lines
            if line.startswith((b"# ", LOST))]


def without_heads(lines, full):
    """The lines without heads and without losses that are 0, which the run full has as well."""
    heads = heads_of(full)
    need([head for head in heads_of(lines) if head in heads] == heads, "not the heads of 'full'")
    return [line for line in lines if line not in heads
            and not (line.startswith(LOST) and line.endswith(b" 0\n"))]


def fields_of(profile):
    return [show([field]) + "\n" for field in decode(profile, "Profile")]


def readable(program, kind, run, data):
    """Returns the content of the golden file: the data, or its fields as text if the format is
    binary. What a table or the run full says already is left out of Prometheus' text."""
    if kind == "prometheus":
        lines = without_repeats(data.splitlines(True))
        if run not in ("full", "tree"):
            lines = without_heads(lines, export(program, kind, "full").splitlines(True))
        return b"".join(lines)
    if kind == "pprof":
        fields = fields_of(data)
        if run == "tree":  # the run full without its trace
            full = fields_of(export(program, kind, "full"))
            fields = difflib.unified_diff(full, fields, "full.pprof", "tree.pprof", n=0)
        return "".join(fields).encode("utf-8")
    if kind != "perfetto":
        return data
    return "".join(show(packet) + "\n" for _, packet in decode(data, "Trace")).encode("utf-8")


def golden(program, kind, run):
    data = export(program, kind, run)
    check(kind, data)
    # The run tree is full without its trace, and most formats show no trace: one file for both.
    same = run == "tree" and kind not in ("chrome", "perfetto", "pprof")
    path = HERE / "golden" / ("%s.%s" % ("full" if same else run, kind))
    have = readable(program, kind, run, data)
    if os.environ.get("UPDATE"):
        path.write_bytes(have)
        return 0
    want = path.read_bytes() if path.exists() else b""
    if have == want:
        return 0
    lines = [text.decode("utf-8", "backslashreplace").splitlines(True) for text in (want, have)]
    sys.stdout.writelines(difflib.unified_diff(*lines, str(path), "this export"))
    print("\nUPDATE=1 ctest -R export writes the files anew.")
    return 1


def gpu_agrees(program):
    """json's object, csv's tables and the series of prometheus."""
    document = json.loads(export(program, "json", "gpu").decode())["gpu"]
    series = dict(re.findall(r"(?m)^(stint_[a-z_]+\{.*\}) (\S+)$",
                             export(program, "prometheus", "gpu").decode()))
    for table in TABLES:
        _, rows = csv_rows(export(program, "csv_" + table, "gpu"))
        texts = [{key: str(value) for key, value in row.items()} for row in document[table]]
        for row in rows:
            for key in [key for key, cell in row.items() if cell == ""]:
                del row[key]
            for key, cell in row.items():
                row[key] = cell[1:] if cell[:2] in ("'=",) else cell
        need(rows and rows == texts, "%s: csv and json differ\n%s\n%s" % (table, rows, texts))
    for key, table in (("stint_api_calls_total", "api"), ("stint_kernel_runs_total", "kernels"),
                       ("stint_copy_runs_total", "memory")):
        need(sum(int(value) for name, value in series.items() if name.startswith(key)) ==
             sum(row["calls"] for row in document[table]), "%s: prometheus and json differ" % key)
    busy = series['stint_device_busy_seconds_total{device="0",gpu="Example GPU"}']
    need(decimal.Decimal(busy) * 10**9 == document["devices"][0]["busy_ns"], "busy: %s" % busy)


def page_has_families(program):
    """The table of docs/exports.md has the families of Prometheus, and no others."""
    page = (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`(stint_(?:scope|device|kernel|copy|api|run|steps|lost)_\w+)`", page))
    listed |= {name.replace("busy", kind) for name in listed if name.startswith("stint_device_busy")
               for kind in ("kernel", "copy", "overlap", "idle")}
    written = set(re.findall(r"(?m)^# TYPE (\S+)", export(program, "prometheus", "gpu").decode()))
    need(listed == written, "docs/exports.md: %s" % sorted(listed ^ written))


def agree(program):
    """One run, one truth: formats of spans among themselves, those of sums among themselves."""
    page_has_families(program)
    totals = {(kind, run): check(kind, export(program, kind, run))
              for kind in FORMATS for run in RUNS}
    spans = totals["chrome", "full"]
    need(spans and spans == totals["perfetto", "full"], "spans: chrome and perfetto differ")
    sums = totals["json", "full"]
    plain = {name: ns for name, ns in sums.items() if name.isidentifier() or "." in name}
    need(plain and all(totals["csv", "full"][name] == ns for name, ns in plain.items()),
         "sums: json and csv differ")
    need(sum(sums.values()) == sum(totals["csv", "full"].values()) ==
         sum(totals["prometheus", "full"].values()), "sums: json, csv and prometheus differ")
    spans = totals["chrome", "gpu"]
    need(spans["memcpy DtoH"] == 2000000 and spans == totals["perfetto", "gpu"],
         "what GPUs did: chrome and perfetto differ")
    gpu_agrees(program)
    lines = export(program, "folded", "tree").decode().split("\n")[:-1]
    samples = all_of(decode(export(program, "pprof", "tree"), "Profile"), "sample")
    plain = {name: ns for name, ns in totals["folded", "tree"].items() if name.isidentifier()}
    need(len(plain) > 1 and all(totals["pprof", "tree"][name] == ns for name, ns in plain.items()),
         "the tree: folded, pprof")
    need(sum(int(line.rsplit(" ", 1)[1]) for line in lines) ==
         sum(all_of(sample, "value")[1] for sample in samples), "the tree: sums of folded, pprof")
    return 0


# Faults that must be found: (format, text that is replaced once, its replacement); None: the file
# is cut off at half its length.
FAULTS = [
    ("chrome", b"\n]}", b"\n]"), ("chrome", b"\n]}", b",\n]}"),
    ("chrome", b'"ts":10000.000', b'"ts":10000'), ("chrome", b'"ts":10000.000', b'"ts":10000.0'),
    ("chrome", b'"dur":10000.000', b'"dur":10000.0005'),
    ("chrome", b'"dur":10000.000', b'"dur":40000.000'),
    ("chrome", b'"dur":10000.000', b'"dur":NaN'),
    ("chrome", b'"tid":4243', b'"tid":"4243"'), ("chrome", b'"value":0.25', b'"value":Infinity'),
    ("chrome", b'"name":"step"}', b'"name":"step","args":{"calls":1}}'),
    ("chrome", b"\\\\xff", b"\xff"), ("chrome", b'"s":"t"', b'"s":"g"'),
    ("chrome", b'"name":"thread_name"', b'"name":"thread"'),
    ("chrome", b'"ts":10000.000', b'"ts":70000.000'), ("chrome", None, None),
    ("folded", b"step 15000000", b"step"), ("folded", b"step 15000000", b"step 0"),
    ("folded", b"step 15000000", b"step 1.5"), ("folded", b"step;step.load", b"step;;step.load"),
    ("folded", b"two\\x0alines", b"two\nlines"), ("folded", None, None),
    ("csv", b'"\'=cmd', b'"=cmd'), ("csv", b'""7""', b'"7"'), ("csv", b"\r\n", b"\n"),
    ("csv", b",tid,", b","), ("csv", b",5,,110000000", b",5,,0.11"),
    ("csv", b"\\xff", b"\xff"),
    ("json", b'"calls":5', b'"calls":5.0'), ("json", b'"calls":5', b'"calls":NaN'),
    ("json", b'"calls":5', b'"cals":5'), ("json", b'"calls":5', b'"calls":-5'),
    ("json", b'"calls":5', b'"calls":5,"calls":5'), ("json", b'stint.run/1', b'stint.run/2'),
    ("json", b'"parent":12', b'"parent":13'), ("json", b'"thread":1', b'"thread":2'),
    ("json", b'"state":"killed"', b'"state":"dead"'), ("json", b"\\\\xff", b"\xc0\xaf"),
    ("json", None, None),
    ("prometheus", b'quantile="0.9"', b'quantile="0.5"'),
    ("prometheus", b'le="0.000000256"', b'le="0.00000025"'), ("prometheus", b'le="+Inf"} ', b'le="+Inf"} 9'),
    ("prometheus", b'le="0.001048576"} 0', b'le="0.001048576"} 9'), ("prometheus", b'le="+Inf"', b'le="1000"'),
    ("prometheus", b"_total 3", b"_total 3 1"),
    ("prometheus", b"_total 3", b"_total NaN"), ("prometheus", b"# HELP stint_steps_total", b"#"),
    ("prometheus", b'\\"', b'"'), ("prometheus", b"two\\nlines", b"two\nlines"),
    ("prometheus", b"TYPE stint_steps_total", b"TYPE stint_step_total"),
    ("otlp", b'"count":"', b'"count":"1'), ("otlp", b'"scale":6', b'"scale":5'),
    ("otlp", b'"isMonotonic":true', b'"isMonotonic":false'), ("otlp", b'"count":"3"', b'"count":3'),
    ("otlp", None, None),
    ("chrome gpu", b'"ph":"s"', b'"ph":"f","bp":"e"'), ("chrome gpu", b'"bp":"e"', b'"bp":"s"'),
    ("chrome gpu", b'"id":2', b'"id":1'), ("chrome gpu", b'"ts":11000.000', b'"ts":13000.000'),
    ("chrome gpu", b'"ph":"f","bp":"e","pid":4242,"tid":4194305,"ts":12000.000',
     b'"ph":"f","bp":"e","pid":4242,"tid":4194305,"ts":12000.001'),
    ("perfetto gpu", b"\xf9\x02\x01\0", b"\x81\x03\x01\0"),
    ("perfetto gpu", b"\xf9\x02\x02\0", b"\xf9\x02\x01\0"),
    ("json gpu", b'"busy_ns":', b'"buzy_ns":'), ("json gpu", b'"async":1', b'"async":"yes"'),
    ("prometheus gpu", b'"cuCtxSynchronize",kind="driver"', b'"cudaLaunchKernel",kind="api"'),
    ("csv_kernels gpu", b'"\'=k', b'"=k'), ("csv_kernels gpu", b",4,", b",4.0,"),
    ("pprof", b"count", b"calls"), ("pprof", None, None), ("pprof", b"\x32\x80\x00", b"\x32\x81\x00x"),
    ("perfetto", b"\x50\x01\x68\x01", b"\x50\x01\x68\x02"),
    ("perfetto", b"\\xff", b"\xffxxx"),
    ("perfetto", b"\x48\x02\x58\x02", b"\x48\x01\x58\x02"), ("perfetto", b"\x58\x02", b"\x58\x63"),
    ("perfetto", b"\x48\x01\x58\x02\x50\x02", b"\x48\x02\x58\x02\x50\x02"),
    ("perfetto", b"\x50\x02\x18\x01", b"\x50\x7f\x18\x01"), ("perfetto", None, None),
]


def self_test(program):
    missed = 0
    right = {kind: export(program, kind, "full") for kind in FORMATS}
    for kind, old, new in FAULTS:
        kind, _, run = kind.partition(" ")
        data = export(program, kind, run) if run else right[kind]
        bad = data[:len(data) // 2] if old is None else data.replace(old, new, 1)
        need(bad != data, "%s: %r is not in the file" % (kind, old))
        try:
            check(kind, bad)
        except Wrong:
            continue
        missed += 1
        print("%s: not found: %r for %r" % (kind, new, old))
    print("%d of %d faults found" % (len(FAULTS) - missed, len(FAULTS)))
    return 1 if missed else 0


def main(arguments):
    commands = {"golden": golden, "agree": agree, "self-test": self_test}
    try:
        if arguments[0] == "check":
            check(arguments[1], pathlib.Path(arguments[2]).read_bytes())
            return 0
        return commands[arguments[0]](*arguments[1:])
    except Wrong as wrong:
        print("%s: %s" % (" ".join(arguments), wrong))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
