# SPDX-License-Identifier: Apache-2.0
"""Decoders of OTLP's requests, in JSON and protobuf, and of Prometheus' protobuf exposition.

Written from the public .proto files (opentelemetry-proto and client_model), by their field numbers.
"""
import struct

from cases import need

# ---- Decoders -----------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 70, "a number that is cut off")
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def zigzag(n):
    return n >> 1 ^ -(n & 1)


# field: (name, kind or message, repeated)
MESSAGES = {
    "Request": {1: ("resourceMetrics", "ResourceMetrics", 1)},
    "ResourceMetrics": {1: ("resource", "Resource", 0), 2: ("scopeMetrics", "ScopeMetrics", 1)},
    "Resource": {1: ("attributes", "KeyValue", 1)},
    "ScopeMetrics": {1: ("scope", "Scope", 0), 2: ("metrics", "Metric", 1)},
    "Scope": {1: ("name", "text", 0), 2: ("version", "text", 0)},
    "Metric": {1: ("name", "text", 0), 2: ("description", "text", 0), 3: ("unit", "text", 0),
               7: ("sum", "Sum", 0), 9: ("histogram", "Histogram", 0),
               10: ("exponentialHistogram", "Exponential", 0)},
    "Sum": {1: ("dataPoints", "Number", 1), 2: ("aggregationTemporality", "number", 0),
            3: ("isMonotonic", "bool", 0)},
    "Histogram": {1: ("dataPoints", "Bounds", 1), 2: ("aggregationTemporality", "number", 0)},
    "Exponential": {1: ("dataPoints", "Buckets", 1), 2: ("aggregationTemporality", "number", 0)},
    "Number": {7: ("attributes", "KeyValue", 1), 2: ("startTimeUnixNano", "fixed", 0),
               3: ("timeUnixNano", "fixed", 0), 4: ("asDouble", "double", 0),
               6: ("asInt", "fixed", 0)},
    "Bounds": {9: ("attributes", "KeyValue", 1), 2: ("startTimeUnixNano", "fixed", 0),
               3: ("timeUnixNano", "fixed", 0), 4: ("count", "fixed", 0), 5: ("sum", "double", 0),
               6: ("bucketCounts", "fixeds", 0), 7: ("explicitBounds", "doubles", 0),
               11: ("min", "double", 0), 12: ("max", "double", 0)},
    "Buckets": {1: ("attributes", "KeyValue", 1), 2: ("startTimeUnixNano", "fixed", 0),
                3: ("timeUnixNano", "fixed", 0), 4: ("count", "fixed", 0), 5: ("sum", "double", 0),
                6: ("scale", "signed", 0), 7: ("zeroCount", "fixed", 0), 8: ("positive", "Positive", 0),
                12: ("min", "double", 0), 13: ("max", "double", 0)},
    "Positive": {1: ("offset", "signed", 0), 2: ("bucketCounts", "varints", 0)},
    "KeyValue": {1: ("key", "text", 0), 2: ("value", "Any", 0)},
    "Any": {1: ("stringValue", "text", 0), 2: ("boolValue", "bool", 0), 3: ("intValue", "int", 0)},
    # io.prometheus.client
    "Family": {1: ("name", "text", 0), 2: ("help", "text", 0), 3: ("type", "number", 0),
               4: ("metric", "Series", 1)},
    "Series": {1: ("label", "Label", 1), 2: ("gauge", "Value", 0), 3: ("counter", "Value", 0),
               4: ("summary", "Summary", 0), 7: ("histogram", "Native", 0)},
    "Label": {1: ("name", "text", 0), 2: ("value", "text", 0)},
    "Value": {1: ("value", "double", 0)},
    "Summary": {1: ("count", "number", 0), 2: ("sum", "double", 0), 3: ("quantile", "Quantile", 1)},
    "Quantile": {1: ("quantile", "double", 0), 2: ("value", "double", 0)},
    "Native": {1: ("count", "number", 0), 2: ("sum", "double", 0), 5: ("schema", "signed", 0),
               6: ("zeroThreshold", "double", 0), 7: ("zeroCount", "number", 0),
               12: ("span", "Span", 1), 13: ("delta", "signeds", 0)},
    "Span": {1: ("offset", "signed", 0), 2: ("length", "number", 0)},
}


def content(body, kind):
    if kind == "text":
        return body.decode("utf-8")
    if kind in ("fixeds", "doubles"):
        need(len(body) % 8 == 0, "packed numbers of eight bytes")
        return list(struct.unpack("<%d%s" % (len(body) // 8, "d" if kind == "doubles" else "Q"), body))
    if kind in ("varints", "signeds"):
        values, at = [], 0
        while at < len(body):
            value, at = varint(body, at)
            values.append(zigzag(value) if kind == "signeds" else value)
        return values
    return decode(body, kind)


def decode(data, message):
    """Decodes a message to the form that the JSON export has, with numbers as numbers."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        need(tag >> 3 in MESSAGES[message], "%s has no field %d" % (message, tag >> 3))
        name, kind, repeated = MESSAGES[message][tag >> 3]
        if tag & 7 == 0:
            need(kind in ("number", "int", "bool", "signed"), "a number for %s" % name)
            value, at = varint(data, at)
            value = {"signed": zigzag, "bool": bool}.get(kind, int)(value)
        elif tag & 7 == 1:
            need(kind in ("fixed", "double"), "eight bytes for %s" % name)
            value = struct.unpack("<d" if kind == "double" else "<Q", data[at:at + 8])[0]
            at += 8
        else:
            need(tag & 7 == 2 and kind not in ("number", "int", "bool", "signed", "fixed", "double"),
                 "wire type %d for %s" % (tag & 7, name))
            size, at = varint(data, at)
            need(at + size <= len(data), "a length past the end")
            value, at = content(data[at:at + size], kind), at + size
        if repeated:
            found.setdefault(name, []).append(value)
        else:
            need(name not in found, "%s twice" % name)
            found[name] = value
    return found


NUMBERS = {"startTimeUnixNano", "timeUnixNano", "count", "zeroCount", "asInt", "intValue"}


def from_json(value, key=None):
    """64-bit integers are texts there; others must not be."""
    if isinstance(value, dict):
        return {k: from_json(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [from_json(v, key) for v in value]
    if key in NUMBERS or key == "bucketCounts":
        need(isinstance(value, str) and value.isdigit(), "%s is %r" % (key, value))
        return int(value)
    return value


def attributes(of):
    found = {}
    for pair in of.get("attributes", []):
        (value,) = pair["value"].values()
        need(pair["key"] not in found, "an attribute twice: %s" % pair)
        found[pair["key"]] = value
    return found


class Point:
    def __init__(self, point, metric, resource):
        self.metric, self.resource, self.labels = metric["name"], resource, attributes(point)
        self.point = point
        data = metric.get("sum") or metric.get("histogram") or metric["exponentialHistogram"]
        self.delta = data["aggregationTemporality"] == 1
        need(data["aggregationTemporality"] in (1, 2), "temporality")
        self.start, self.end = point["startTimeUnixNano"], point["timeUnixNano"]
        need(self.start <= self.end, "times", point)
        self.key = (self.metric, tuple(sorted(self.labels.items())))
        self.buckets = {}
        if "exponentialHistogram" in metric:
            need(point["scale"] == 6, "scale", point)
            positive = point.get("positive", {})
            for i, count in enumerate(positive.get("bucketCounts", [])):
                if count:
                    self.buckets[positive["offset"] + i] = count
            need(sum(self.buckets.values()) + point["zeroCount"] == point["count"],
                 "the count is not the sum of the buckets", point)
        elif "histogram" in metric:
            counts, bounds = point.get("bucketCounts", [0]), point.get("explicitBounds", [])
            need(len(counts) == len(bounds) + 1 and bounds == sorted(set(bounds)), "bounds", point)
            need(sum(counts) == point["count"], "the count is not the sum of the buckets", point)
            self.buckets = {bound: count for bound, count in zip(bounds, counts) if count}
        else:
            need(metric["sum"]["isMonotonic"], "a sum that falls")
        self.value = point.get("asInt", point.get("asDouble", point.get("count")))


def points(request):
    found = {}
    need(list(request) == ["resourceMetrics"] and len(request["resourceMetrics"]) == 1, "a request")
    for run in request["resourceMetrics"]:
        resource = attributes(run["resource"])
        for scope in run["scopeMetrics"]:
            need(scope["scope"]["name"] == "stint", "scope")
            for metric in scope.get("metrics", []):
                data = (metric.get("sum") or metric.get("histogram") or
                        metric["exponentialHistogram"])
                for one in data["dataPoints"]:
                    point = Point(one, metric, resource)
                    need(point.key not in found, "a series twice: %s" % (point.key,))
                    found[point.key] = point
    return found


def delimited(data):
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        need(at + size <= len(data), "a length past the end")
        yield data[at:at + size]
        at += size
