# SPDX-License-Identifier: Apache-2.0
"""A decoder of OTLP's requests in JSON, from the public .proto files of opentelemetry-proto."""
from cases import need

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
