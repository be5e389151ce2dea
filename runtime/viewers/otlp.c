/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes metrics as a request of OTLP: one traversal for both encodings. Each member has its name
 * in JSON and its number in protobuf (opentelemetry/proto/metrics/v1). In JSON 64-bit integers are
 * texts, and times in seconds have nine decimals; in protobuf they are doubles.
 */
#include <stdio.h>

#include "export/export_names.h"
#include "formats.h"
#include "otlp.h"
#include "stint/stint.h"
#include "wire.h"

enum { DELTA = 1, CUMULATIVE = 2 }; /* AggregationTemporality */

struct encoder {
    struct sink *json;  /* or */
    struct text *proto; /* one of the two */
    const char *comma;  /* before the next member or item */
    struct metrics *m;
    int explicit_bounds;
};

/* ---- Members. field 0: an item of a list that otlp_list began. */

static void otlp_key(struct encoder *e, const char *key) {
    sink_text(e->json, e->comma);
    if (key) {
        sink_put(e->json, "\"", 1);
        sink_text(e->json, key);
        sink_put(e->json, "\":", 2);
    }
    e->comma = ",";
}

/* A message. key NULL: an item of a list. Returns what otlp_end needs. */
static size_t otlp_begin(struct encoder *e, const char *key, unsigned field) {
    if (e->proto) {
        return wire_begin(e->proto, field);
    }
    otlp_key(e, key);
    sink_put(e->json, "{", 1);
    e->comma = "";
    return 0;
}

static void otlp_end(struct encoder *e, size_t from) {
    if (e->proto) {
        wire_end(e->proto, from);
        return;
    }
    sink_put(e->json, "}", 1);
    e->comma = ",";
}

/* A list of messages: protobuf has none. */
static void otlp_list(struct encoder *e, const char *key) {
    if (e->json) {
        otlp_key(e, key);
        sink_put(e->json, "[", 1);
        e->comma = "";
    }
}

static void otlp_list_end(struct encoder *e) {
    if (e->json) {
        sink_put(e->json, "]", 1);
        e->comma = ",";
    }
}

static void otlp_text(struct encoder *e, const char *key, unsigned field, const char *text) {
    if (e->proto) {
        wire_put_bytes(e->proto, field, text, strlen(text));
        return;
    }
    otlp_key(e, key);
    sink_json(e->json, text, strlen(text));
}

/* An enumeration, a boolean (key of a true one) or a 32-bit number. */
static void otlp_small(struct encoder *e, const char *key, unsigned field, uint64_t n) {
    if (e->proto) {
        wire_put_number(e->proto, field, n);
        return;
    }
    otlp_key(e, key);
    sink_u64(e->json, n);
}

static void otlp_true(struct encoder *e, const char *key, unsigned field) {
    if (e->proto) {
        wire_put_number(e->proto, field, 1);
        return;
    }
    otlp_key(e, key);
    sink_text(e->json, "true");
}

/* sint32. */
static void otlp_signed(struct encoder *e, const char *key, unsigned field, int32_t n) {
    if (e->proto) {
        wire_put_number(e->proto, field, wire_zigzag(n));
        return;
    }
    otlp_key(e, key);
    if (n < 0) {
        sink_put(e->json, "-", 1);
    }
    sink_u64(e->json, n < 0 ? (uint64_t) - (int64_t)n : (uint64_t)n);
}

static void json_put_quoted(struct encoder *e, uint64_t n) {
    sink_put(e->json, "\"", 1);
    sink_u64(e->json, n);
    sink_put(e->json, "\"", 1);
}

/* fixed64, and sfixed64 of numbers that are not negative. */
static void otlp_fixed(struct encoder *e, const char *key, unsigned field, uint64_t n) {
    if (e->proto) {
        wire_put_fixed(e->proto, field, n);
        return;
    }
    otlp_key(e, key);
    json_put_quoted(e, n);
}

/* int64. */
static void otlp_int(struct encoder *e, const char *key, unsigned field, uint64_t n) {
    if (e->proto) {
        wire_put_number(e->proto, field, n);
        return;
    }
    otlp_key(e, key);
    json_put_quoted(e, n);
}

/* A whole number and `digits` decimals of it. */
static void json_put_decimal(struct encoder *e, uint64_t n, unsigned digits) {
    char rest[24] = ".";
    uint64_t unit = 1;
    for (unsigned i = 0; i < digits; ++i) {
        unit *= 10;
    }
    uint64_t part = n % unit;
    for (unsigned i = digits; i; --i, part /= 10) {
        rest[i] = (char)('0' + part % 10);
    }
    sink_u64(e->json, n / unit);
    sink_put(e->json, rest, digits + 1);
}

static void otlp_seconds(struct encoder *e, const char *key, unsigned field, uint64_t ns) {
    if (e->proto) {
        wire_put_fixed(e->proto, field, wire_double_bits((double)ns / 1e9));
        return;
    }
    otlp_key(e, key);
    json_put_decimal(e, ns, 9);
}

/* ---- Attributes. */

static void otlp_attribute_text(struct encoder *e, unsigned field, const char *key,
                                const char *text) {
    size_t pair = otlp_begin(e, NULL, field);
    otlp_text(e, "key", 1, key);
    size_t value = otlp_begin(e, "value", 2);
    otlp_text(e, "stringValue", 1, text);
    otlp_end(e, value);
    otlp_end(e, pair);
}

static void otlp_attribute_int(struct encoder *e, unsigned field, const char *key, uint64_t n) {
    size_t pair = otlp_begin(e, NULL, field);
    otlp_text(e, "key", 1, key);
    size_t value = otlp_begin(e, "value", 2);
    otlp_int(e, "intValue", 3, n);
    otlp_end(e, value);
    otlp_end(e, pair);
}

static void otlp_attribute_true(struct encoder *e, unsigned field, const char *key) {
    size_t pair = otlp_begin(e, NULL, field);
    otlp_text(e, "key", 1, key);
    size_t value = otlp_begin(e, "value", 2);
    otlp_true(e, "boolValue", 2);
    otlp_end(e, value);
    otlp_end(e, pair);
}

static void otlp_put_label(struct encoder *e, unsigned field, const struct metric_label *l,
                           enum metric_kind kind, int saturated) {
    otlp_list(e, "attributes");
    if (l->name) {
        otlp_attribute_text(e, field, kind == METRIC_LOST ? "what" : "scope", l->name);
    }
    if (l->set) {
        otlp_attribute_text(e, field, "set", l->set);
    }
    if (l->parent && *l->parent) {
        otlp_attribute_text(e, field, "parent", l->parent);
    }
    if (l->thread) {
        otlp_attribute_text(e, field, "thread.name", l->thread);
        otlp_attribute_int(e, field, "thread.id", l->tid);
    }
    if (saturated) {
        otlp_attribute_true(e, field, "saturated");
    }
    otlp_list_end(e);
}

static void otlp_put_resource(struct encoder *e) {
    const struct metrics *m = e->m;
    size_t resource = otlp_begin(e, "resource", 1);
    otlp_list(e, "attributes");
    otlp_attribute_text(e, 1, "service.name", m->program);
    if (m->pid) {
        char instance[EXPORT_NAME_BYTES * 4 + 16];
        snprintf(instance, sizeof instance, "%s:%u", m->host, m->pid);
        otlp_attribute_text(e, 1, "service.instance.id", instance);
        otlp_attribute_int(e, 1, "process.pid", m->pid);
    }
    otlp_attribute_text(e, 1, "host.name", m->host);
    if (m->rank) {
        otlp_attribute_int(e, 1, "rank", m->rank - 1);
    }
    otlp_list_end(e);
    otlp_end(e, resource);
}

/* ---- Points. */

static void otlp_put_times(struct encoder *e) {
    otlp_fixed(e, "startTimeUnixNano", 2, e->m->start_ns);
    otlp_fixed(e, "timeUnixNano", 3, e->m->time_ns);
}

/* -1 without memory, as the next one. */
static int otlp_put_exponential(struct encoder *e, const struct metric_histogram *h) {
    struct metric_exponential x;
    if (metric_to_exponential(&x, e->m, h)) {
        return -1;
    }
    size_t point = otlp_begin(e, NULL, 1);
    otlp_put_label(e, 1, &h->label, METRIC_CALLS, h->saturated);
    otlp_put_times(e);
    otlp_fixed(e, "count", 4, h->count);
    otlp_seconds(e, "sum", 5, h->sum_ns);
    otlp_signed(e, "scale", 6, METRIC_SCALE);
    otlp_fixed(e, "zeroCount", 7, x.zero);
    size_t positive = otlp_begin(e, "positive", 8);
    otlp_signed(e, "offset", 1, x.offset);
    if (e->proto) {
        size_t packed = wire_begin(e->proto, 2);
        for (uint32_t i = 0; i < x.length; ++i) {
            wire_put_varint(e->proto, x.count[i]);
        }
        wire_end(e->proto, packed);
    } else {
        otlp_list(e, "bucketCounts");
        for (uint32_t i = 0; i < x.length; ++i) {
            otlp_key(e, NULL);
            json_put_quoted(e, x.count[i]);
        }
        otlp_list_end(e);
    }
    otlp_end(e, positive);
    if (h->bounded) {
        otlp_seconds(e, "min", 12, h->min_ns);
        otlp_seconds(e, "max", 13, h->max_ns);
    }
    otlp_end(e, point);
    return 0;
}

static uint64_t bound_picoseconds(const struct encoder *e, const struct metric_histogram *h,
                                  uint32_t bucket) {
    return (uint64_t)(metric_bound(e->m, h, bucket) * 1000 + 0.5);
}

/* The counts of the buckets from the first to the last one in use, between one below and one above
 * them; a bound is the upper one of its bucket. */
static void otlp_put_bounds_json(struct encoder *e, const struct metric_histogram *h) {
    uint32_t first = h->bucket[0].bucket, last = h->bucket[h->buckets - 1].bucket;
    otlp_list(e, "bucketCounts");
    if (first) {
        otlp_key(e, NULL);
        json_put_quoted(e, 0);
    }
    for (uint32_t i = first, at = 0; i <= last; ++i) {
        int used = h->bucket[at].bucket == i;
        otlp_key(e, NULL);
        json_put_quoted(e, used ? h->bucket[at].count : 0);
        at += (uint32_t)used;
    }
    otlp_key(e, NULL);
    json_put_quoted(e, 0);
    otlp_list_end(e);
    otlp_list(e, "explicitBounds");
    for (uint32_t i = first ? first - 1 : 0; i <= last; ++i) {
        otlp_key(e, NULL);
        json_put_decimal(e, bound_picoseconds(e, h, i), 12);
    }
    otlp_list_end(e);
}

static void otlp_put_bounds_proto(struct encoder *e, const struct metric_histogram *h) {
    uint32_t first = h->bucket[0].bucket, last = h->bucket[h->buckets - 1].bucket;
    size_t packed = wire_begin(e->proto, 6);
    if (first) {
        wire_put_eight(e->proto, 0);
    }
    for (uint32_t i = first, at = 0; i <= last; ++i) {
        int used = h->bucket[at].bucket == i;
        wire_put_eight(e->proto, used ? h->bucket[at].count : 0);
        at += (uint32_t)used;
    }
    wire_put_eight(e->proto, 0);
    wire_end(e->proto, packed);
    packed = wire_begin(e->proto, 7);
    for (uint32_t i = first ? first - 1 : 0; i <= last; ++i) {
        wire_put_eight(e->proto, wire_double_bits((double)bound_picoseconds(e, h, i) / 1e12));
    }
    wire_end(e->proto, packed);
}

static void otlp_put_explicit(struct encoder *e, const struct metric_histogram *h) {
    size_t point = otlp_begin(e, NULL, 1);
    otlp_put_label(e, 9, &h->label, METRIC_CALLS, h->saturated);
    otlp_put_times(e);
    otlp_fixed(e, "count", 4, h->count);
    otlp_seconds(e, "sum", 5, h->sum_ns);
    if (h->buckets && e->proto) {
        otlp_put_bounds_proto(e, h);
    } else if (h->buckets) {
        otlp_put_bounds_json(e, h);
    }
    if (h->bounded) {
        otlp_seconds(e, "min", 11, h->min_ns);
        otlp_seconds(e, "max", 12, h->max_ns);
    }
    otlp_end(e, point);
}

/* ---- Metrics. */

static size_t otlp_begin_metric(struct encoder *e, const char *name, const char *description,
                                const char *unit) {
    size_t metric = otlp_begin(e, NULL, 2);
    otlp_text(e, "name", 1, name);
    otlp_text(e, "description", 2, description);
    otlp_text(e, "unit", 3, unit);
    return metric;
}

static int otlp_put_histograms(struct encoder *e, int gpu, const char *name,
                               const char *description) {
    const struct metrics *m = e->m;
    uint32_t i = 0;
    while (i < m->histograms && m->histogram[i].gpu != gpu) {
        ++i;
    }
    if (i == m->histograms) {
        return 0;
    }
    size_t metric = otlp_begin_metric(e, name, description, "s");
    size_t data = e->explicit_bounds ? otlp_begin(e, "histogram", 9)
                                     : otlp_begin(e, "exponentialHistogram", 10);
    otlp_list(e, "dataPoints");
    int failed = 0;
    for (; i < m->histograms && !failed; ++i) {
        if (m->histogram[i].gpu != gpu) {
            continue;
        }
        if (e->explicit_bounds) {
            otlp_put_explicit(e, &m->histogram[i]);
        } else {
            failed = otlp_put_exponential(e, &m->histogram[i]);
        }
    }
    otlp_list_end(e);
    otlp_small(e, "aggregationTemporality", 2, m->delta ? DELTA : CUMULATIVE);
    otlp_end(e, data);
    otlp_end(e, metric);
    return failed;
}

static const struct {
    const char *name;
    const char *description;
    const char *unit;
} counter_metrics[METRIC_KINDS] = {
    [METRIC_CALLS] = {"stint.scope.calls", "All calls, timed or not, recursive ones included.",
                      "{call}"},
    [METRIC_SELF] = {"stint.scope.self", "Time in a scope without what is nested in it.", "s"},
    [METRIC_MOVED] = {"stint.scope.moved", "Bytes that a scope declared to have moved.", "By"},
    [METRIC_FLOPS] = {"stint.scope.flops", "Operations that a scope declared.", "{operation}"},
    [METRIC_ALLOCATIONS] = {"stint.scope.allocations", "Allocations.", "{allocation}"},
    [METRIC_ALLOCATED] = {"stint.scope.allocated", "Bytes that were allocated.", "By"},
    [METRIC_LOST] = {"stint.lost", "What was lost, skipped or abandoned.", "{event}"},
    [METRIC_STEPS] = {"stint.steps", "Calls of stint_step.", "{step}"},
};

static void otlp_put_counter(struct encoder *e, const struct metric_counter *c) {
    size_t point = otlp_begin(e, NULL, 1);
    otlp_put_label(e, 7, &c->label, c->kind, 0);
    otlp_put_times(e);
    if (c->kind == METRIC_SELF) {
        otlp_seconds(e, "asDouble", 4, c->value);
    } else {
        otlp_fixed(e, "asInt", 6, c->value);
    }
    otlp_end(e, point);
}

static void otlp_put_counters(struct encoder *e, enum metric_kind kind) {
    const struct metrics *m = e->m;
    uint32_t i = 0;
    while (i < m->counters && m->counter[i].kind != kind) {
        ++i;
    }
    if (i == m->counters) {
        return;
    }
    size_t metric =
        otlp_begin_metric(e, counter_metrics[kind].name, counter_metrics[kind].description,
                          counter_metrics[kind].unit);
    size_t data = otlp_begin(e, "sum", 7);
    otlp_list(e, "dataPoints");
    for (; i < m->counters; ++i) {
        if (m->counter[i].kind == kind) {
            otlp_put_counter(e, &m->counter[i]);
        }
    }
    otlp_list_end(e);
    otlp_small(e, "aggregationTemporality", 2, m->delta ? DELTA : CUMULATIVE);
    otlp_true(e, "isMonotonic", 3);
    otlp_end(e, data);
    otlp_end(e, metric);
}

static int otlp_put_request(struct encoder *e) {
    otlp_list(e, "resourceMetrics");
    size_t run = otlp_begin(e, NULL, 1);
    otlp_put_resource(e);
    otlp_list(e, "scopeMetrics");
    size_t scope = otlp_begin(e, NULL, 2);
    size_t library = otlp_begin(e, "scope", 1);
    otlp_text(e, "name", 1, "stint");
    otlp_text(e, "version", 2, STINT_VERSION);
    otlp_end(e, library);
    otlp_list(e, "metrics");
    int failed = otlp_put_histograms(e, 0, "stint.scope.duration", "Durations of timed calls.") ||
                 otlp_put_histograms(e, 1, "stint.scope.gpu.duration", "Durations on the GPU.");
    for (enum metric_kind kind = 0; kind < METRIC_KINDS; ++kind) {
        otlp_put_counters(e, kind);
    }
    otlp_list_end(e);
    otlp_end(e, scope);
    otlp_list_end(e);
    otlp_end(e, run);
    otlp_list_end(e);
    return failed;
}

int otlp_put(struct sink *out, struct metrics *m, const struct otlp_form *form) {
    struct text proto;
    struct encoder e = {.comma = "", .m = m, .explicit_bounds = form->explicit_bounds};
    if (!form->proto) {
        e.json = out;
        sink_put(out, "{", 1);
        int failed = otlp_put_request(&e);
        sink_put(out, "}\n", 2);
        return failed;
    }
    text_start(&proto);
    e.proto = &proto;
    int failed = otlp_put_request(&e) || proto.failed;
    sink_put(out, proto.data, proto.length);
    text_free(&proto);
    return failed ? -1 : 0;
}

int otlp_export_run(struct sink *out, struct run *r, int proto) {
    struct metrics m;
    const struct otlp_form form = {.proto = proto};
    if (metrics_read(&m, r, 0)) {
        return -1;
    }
    int failed = otlp_put(out, &m, &form);
    metrics_free(&m);
    return failed;
}
