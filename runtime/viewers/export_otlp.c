/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes metrics as a request of OTLP in JSON, for the export otlp and its --follow. The members
 * are from opentelemetry/proto/metrics/v1; 64-bit integers are texts, and times in seconds have
 * nine decimals.
 */
#include <stdio.h>

#include "export/export_names.h"
#include "formats.h"
#include "metrics.h"
#include "stint/stint.h"

enum { DELTA = 1, CUMULATIVE = 2 }; /* AggregationTemporality */

struct encoder {
    struct sink *out;
    const char *comma; /* before the next member or item */
    struct metrics *m;
    int explicit_bounds;
};

/* ---- Members. key NULL: an item of a list that otlp_list began. */

static void otlp_key(struct encoder *e, const char *key) {
    sink_text(e->out, e->comma);
    if (key) {
        sink_put(e->out, "\"", 1);
        sink_text(e->out, key);
        sink_put(e->out, "\":", 2);
    }
    e->comma = ",";
}

static void otlp_begin(struct encoder *e, const char *key) {
    otlp_key(e, key);
    sink_put(e->out, "{", 1);
    e->comma = "";
}

static void otlp_end(struct encoder *e) {
    sink_put(e->out, "}", 1);
    e->comma = ",";
}

static void otlp_list(struct encoder *e, const char *key) {
    otlp_key(e, key);
    sink_put(e->out, "[", 1);
    e->comma = "";
}

static void otlp_list_end(struct encoder *e) {
    sink_put(e->out, "]", 1);
    e->comma = ",";
}

static void otlp_text(struct encoder *e, const char *key, const char *text) {
    otlp_key(e, key);
    sink_json_clean(e->out, text);
}

/* An enumeration. */
static void otlp_small(struct encoder *e, const char *key, uint64_t n) {
    otlp_key(e, key);
    sink_u64(e->out, n);
}

static void otlp_true(struct encoder *e, const char *key) {
    otlp_key(e, key);
    sink_text(e->out, "true");
}

static void otlp_signed(struct encoder *e, const char *key, int32_t n) {
    otlp_key(e, key);
    if (n < 0) {
        sink_put(e->out, "-", 1);
    }
    sink_u64(e->out, n < 0 ? (uint64_t) - (int64_t)n : (uint64_t)n);
}

/* A number of 64 bits. */
static void otlp_long(struct encoder *e, const char *key, uint64_t n) {
    otlp_key(e, key);
    sink_put(e->out, "\"", 1);
    sink_u64(e->out, n);
    sink_put(e->out, "\"", 1);
}

/* A whole number and `digits` decimals of it. */
static void otlp_decimal(struct encoder *e, const char *key, uint64_t n, unsigned digits) {
    char rest[24] = ".";
    uint64_t unit = 1;
    for (unsigned i = 0; i < digits; ++i) {
        unit *= 10;
    }
    uint64_t part = n % unit;
    for (unsigned i = digits; i; --i, part /= 10) {
        rest[i] = (char)('0' + part % 10);
    }
    otlp_key(e, key);
    sink_u64(e->out, n / unit);
    sink_put(e->out, rest, digits + 1);
}

static void otlp_seconds(struct encoder *e, const char *key, uint64_t ns) {
    otlp_decimal(e, key, ns, 9);
}

/* ---- Attributes. */

static void otlp_attribute_begin(struct encoder *e, const char *key) {
    otlp_begin(e, NULL);
    otlp_text(e, "key", key);
    otlp_begin(e, "value");
}

static void otlp_attribute_end(struct encoder *e) {
    otlp_end(e);
    otlp_end(e);
}

static void otlp_attribute_text(struct encoder *e, const char *key, const char *text) {
    otlp_attribute_begin(e, key);
    otlp_text(e, "stringValue", text);
    otlp_attribute_end(e);
}

static void otlp_attribute_int(struct encoder *e, const char *key, uint64_t n) {
    otlp_attribute_begin(e, key);
    otlp_long(e, "intValue", n);
    otlp_attribute_end(e);
}

static void otlp_attribute_true(struct encoder *e, const char *key) {
    otlp_attribute_begin(e, key);
    otlp_true(e, "boolValue");
    otlp_attribute_end(e);
}

static void otlp_put_label(struct encoder *e, const struct metric_label *l, enum metric_kind kind,
                           int saturated) {
    otlp_list(e, "attributes");
    if (l->name) {
        otlp_attribute_text(e, kind == METRIC_LOST ? "what" : "scope", l->name);
    }
    if (l->set) {
        otlp_attribute_text(e, "set", l->set);
    }
    if (l->parent && *l->parent) {
        otlp_attribute_text(e, "parent", l->parent);
    }
    if (l->thread) {
        otlp_attribute_text(e, "thread.name", l->thread);
        otlp_attribute_int(e, "thread.id", l->tid);
    }
    if (saturated) {
        otlp_attribute_true(e, "saturated");
    }
    otlp_list_end(e);
}

static void otlp_put_resource(struct encoder *e) {
    const struct metrics *m = e->m;
    otlp_begin(e, "resource");
    otlp_list(e, "attributes");
    otlp_attribute_text(e, "service.name", m->program);
    if (m->pid) {
        char instance[EXPORT_NAME_BYTES * 4 + 16];
        snprintf(instance, sizeof instance, "%s:%u", m->host, m->pid);
        otlp_attribute_text(e, "service.instance.id", instance);
        otlp_attribute_int(e, "process.pid", m->pid);
    }
    otlp_attribute_text(e, "host.name", m->host);
    if (m->rank) {
        otlp_attribute_int(e, "rank", m->rank - 1);
    }
    otlp_list_end(e);
    otlp_end(e);
}

/* ---- Points. */

static void otlp_put_times(struct encoder *e) {
    otlp_long(e, "startTimeUnixNano", e->m->start_ns);
    otlp_long(e, "timeUnixNano", e->m->time_ns);
}

/* The slowest call and its note, in the first reading that has it. */
static void otlp_put_exemplar(struct encoder *e, const struct metric_histogram *h) {
    if (!h->note || h->noted) {
        return;
    }
    otlp_list(e, "exemplars");
    otlp_begin(e, NULL);
    otlp_long(e, "timeUnixNano", e->m->time_ns);
    otlp_seconds(e, "asDouble", h->max_ns);
    otlp_list(e, "filteredAttributes");
    otlp_attribute_text(e, "note", h->note);
    otlp_list_end(e);
    otlp_end(e);
    otlp_list_end(e);
}

static void otlp_put_exponential(struct encoder *e, const struct metric_exponential *x) {
    otlp_signed(e, "scale", METRIC_SCALE);
    otlp_long(e, "zeroCount", x->zero);
    otlp_begin(e, "positive");
    otlp_signed(e, "offset", x->offset);
    otlp_list(e, "bucketCounts");
    for (uint32_t i = 0; i < x->length; ++i) {
        otlp_long(e, NULL, x->count[i]);
    }
    otlp_list_end(e);
    otlp_end(e);
}

static uint64_t bound_picoseconds(const struct encoder *e, const struct metric_histogram *h,
                                  uint32_t bucket) {
    return (uint64_t)(metric_bound(e->m, h, bucket) * 1000 + 0.5);
}

/* The counts of the buckets from the first to the last one in use, between one below and one above
 * them; a bound is the upper one of its bucket. Calls in open buckets are above the last bound. */
static void otlp_put_bounds(struct encoder *e, const struct metric_histogram *h) {
    uint32_t first = h->bucket[0].bucket, end = h->bucket[h->buckets - 1].bucket + 1, at = 0;
    uint64_t above = 0;
    if (h->open && end >= h->open) {
        end = h->open - 1;
        first = (uint32_t)u64_min(first, end);
    }
    otlp_list(e, "bucketCounts");
    if (first) {
        otlp_long(e, NULL, 0);
    }
    for (uint32_t i = first; i < end; ++i) {
        int used = h->bucket[at].bucket == i;
        otlp_long(e, NULL, used ? h->bucket[at].count : 0);
        at += (uint32_t)used;
    }
    for (; at < h->buckets; ++at) {
        above += h->bucket[at].count;
    }
    otlp_long(e, NULL, above);
    otlp_list_end(e);
    otlp_list(e, "explicitBounds");
    for (uint32_t i = first ? first - 1 : 0; i < end; ++i) {
        otlp_decimal(e, NULL, bound_picoseconds(e, h, i), 12);
    }
    otlp_list_end(e);
}

/* -1 without memory. */
static int otlp_put_point(struct encoder *e, const struct metric_histogram *h) {
    struct metric_exponential x;
    if (!e->explicit_bounds && metric_to_exponential(&x, e->m, h)) {
        return -1;
    }
    otlp_begin(e, NULL);
    otlp_put_label(e, &h->label, METRIC_CALLS, h->saturated);
    otlp_put_times(e);
    otlp_long(e, "count", h->count);
    otlp_seconds(e, "sum", h->sum_ns);
    if (!e->explicit_bounds) {
        otlp_put_exponential(e, &x);
    } else if (h->buckets) {
        otlp_put_bounds(e, h);
    }
    if (h->bounded) {
        otlp_seconds(e, "min", h->min_ns);
        otlp_seconds(e, "max", h->max_ns);
    }
    otlp_put_exemplar(e, h);
    otlp_end(e);
    return 0;
}

/* ---- Metrics. */

static void otlp_begin_metric(struct encoder *e, const char *name, const char *description,
                              const char *unit) {
    otlp_begin(e, NULL);
    otlp_text(e, "name", name);
    otlp_text(e, "description", description);
    otlp_text(e, "unit", unit);
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
    otlp_begin_metric(e, name, description, "s");
    otlp_begin(e, e->explicit_bounds ? "histogram" : "exponentialHistogram");
    otlp_list(e, "dataPoints");
    int failed = 0;
    for (; i < m->histograms && !failed; ++i) {
        if (m->histogram[i].gpu == gpu) {
            failed = otlp_put_point(e, &m->histogram[i]);
        }
    }
    otlp_list_end(e);
    otlp_small(e, "aggregationTemporality", m->delta ? DELTA : CUMULATIVE);
    otlp_end(e);
    otlp_end(e);
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
    otlp_begin(e, NULL);
    otlp_put_label(e, &c->label, c->kind, 0);
    otlp_put_times(e);
    if (c->kind == METRIC_SELF) {
        otlp_seconds(e, "asDouble", c->value);
    } else {
        otlp_long(e, "asInt", c->value);
    }
    otlp_end(e);
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
    otlp_begin_metric(e, counter_metrics[kind].name, counter_metrics[kind].description,
                      counter_metrics[kind].unit);
    otlp_begin(e, "sum");
    otlp_list(e, "dataPoints");
    for (; i < m->counters; ++i) {
        if (m->counter[i].kind == kind) {
            otlp_put_counter(e, &m->counter[i]);
        }
    }
    otlp_list_end(e);
    otlp_small(e, "aggregationTemporality", m->delta ? DELTA : CUMULATIVE);
    otlp_true(e, "isMonotonic");
    otlp_end(e);
    otlp_end(e);
}

static int otlp_put_request(struct encoder *e) {
    otlp_list(e, "resourceMetrics");
    otlp_begin(e, NULL);
    otlp_put_resource(e);
    otlp_list(e, "scopeMetrics");
    otlp_begin(e, NULL);
    otlp_begin(e, "scope");
    otlp_text(e, "name", "stint");
    otlp_text(e, "version", STINT_VERSION);
    otlp_end(e);
    otlp_list(e, "metrics");
    int failed = otlp_put_histograms(e, 0, "stint.scope.duration", "Durations of timed calls.") ||
                 otlp_put_histograms(e, 1, "stint.scope.gpu.duration", "Durations on the GPU.");
    for (enum metric_kind kind = 0; kind < METRIC_KINDS; ++kind) {
        otlp_put_counters(e, kind);
    }
    otlp_list_end(e);
    otlp_end(e);
    otlp_list_end(e);
    otlp_end(e);
    otlp_list_end(e);
    return failed;
}

int otlp_put(struct sink *out, struct metrics *m, int explicit_bounds) {
    struct encoder e = {.out = out, .comma = "", .m = m, .explicit_bounds = explicit_bounds};
    sink_put(out, "{", 1);
    int failed = otlp_put_request(&e);
    sink_put(out, "}\n", 2);
    return failed;
}

int export_otlp(struct sink *out, struct run *r) {
    struct metrics m;
    if (metrics_read(&m, r, 0)) {
        return -1;
    }
    int failed = otlp_put(out, &m, 0);
    metrics_free(&m);
    return failed;
}
