/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes metrics as a request of OTLP in JSON, for the export otlp and its --follow. The members
 * are from opentelemetry/proto/metrics/v1; 64-bit integers are texts, and times in seconds have
 * nine decimals.
 */
#include "export_otlp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "export/export_names.h"
#include "formats.h"
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

static void otlp_decimal(struct encoder *e, const char *key, u128 n, unsigned digits) {
    otlp_key(e, key);
    sink_text(e->out, number_decimal(n, digits).text);
}

static void otlp_seconds(struct encoder *e, const char *key, u128 ns) {
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

static void otlp_put_label(struct encoder *e, const struct metric_series *s, int is_saturated) {
    const struct metric_label *l = &s->label;
    otlp_list(e, "attributes");
    if (l->name) {
        otlp_attribute_text(e, l->kind == METRIC_LOST ? "what" : "scope", l->name);
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
    if (is_saturated) {
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

/* ---- Exponential histograms. */

/* The index of the value that the samples of a bucket count as. */
static int32_t exponential_index(const struct metrics *m, const struct metric_series *h,
                                 const struct histogram_bucket *b) {
    double ns = metric_middle(m, h, b->index);
    return (int32_t)ceil(log2(ns * 1e-9) * (1 << METRIC_SCALE)) - 1;
}

int metric_to_exponential(struct metric_exponential *out, struct metrics *m,
                          const struct metric_series *h) {
    const struct histogram_bucket *b = h->buckets.bucket, *end = b + h->buckets.used;
    memset(out, 0, sizeof *out);
    if (b < end && !b->index) { /* 0 ticks */
        out->zero = b++->count;
    }
    if (b == end) {
        return 0;
    }
    out->offset = exponential_index(m, h, b);
    out->length = (uint32_t)(exponential_index(m, h, end - 1) - out->offset) + 1;
    out->count = scratch_array(&m->memory, out->length, sizeof *out->count);
    if (!out->count) {
        return -1;
    }
    for (; b < end; ++b) {
        out->count[exponential_index(m, h, b) - out->offset] += b->count;
    }
    return 0;
}

/* ---- Points. */

static void otlp_put_times(struct encoder *e) {
    otlp_long(e, "startTimeUnixNano", e->m->start_ns);
    otlp_long(e, "timeUnixNano", e->m->time_ns);
}

/* The slowest call and its note, in the first reading that has it. */
static void otlp_put_exemplar(struct encoder *e, const struct metric_series *h) {
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

static uint64_t bound_picoseconds(const struct encoder *e, const struct metric_series *h,
                                  uint32_t bucket) {
    return (uint64_t)(metric_bound(e->m, h, bucket) * 1000 + 0.5);
}

/* The counts of the buckets from the first to the last one in use, between one below and one above
 * them; a bound is the upper one of its bucket. Calls in open buckets are above the last bound. */
static void otlp_put_bounds(struct encoder *e, const struct metric_series *h) {
    const struct histogram_list *l = &h->buckets;
    uint32_t first = l->bucket[0].index, end = l->bucket[l->used - 1].index + 1, at = 0;
    uint64_t above = 0;
    if (l->open && end >= l->open) {
        end = l->open - 1;
        first = (uint32_t)u64_min(first, end);
    }
    otlp_list(e, "bucketCounts");
    if (first) {
        otlp_long(e, NULL, 0);
    }
    for (uint32_t i = first; i < end; ++i) {
        int used = l->bucket[at].index == i;
        otlp_long(e, NULL, used ? l->bucket[at].count : 0);
        at += (uint32_t)used;
    }
    for (; at < l->used; ++at) {
        above += l->bucket[at].count;
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
static int otlp_put_histogram(struct encoder *e, const struct metric_series *h) {
    struct metric_exponential x;
    if (!e->explicit_bounds && metric_to_exponential(&x, e->m, h)) {
        return -1;
    }
    otlp_begin(e, NULL);
    otlp_put_label(e, h, 0);
    otlp_put_times(e);
    otlp_long(e, "count", u128_narrow(h->count));
    otlp_seconds(e, "sum", h->sum_ns);
    if (!e->explicit_bounds) {
        otlp_put_exponential(e, &x);
    } else if (h->buckets.used) {
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

/* An integer of OTLP has 63 bits and a sign. */
static void otlp_put_counter(struct encoder *e, const struct metric_series *c, int seconds) {
    int is_saturated = !seconds && c->count > INT64_MAX;
    otlp_begin(e, NULL);
    otlp_put_label(e, c, is_saturated);
    otlp_put_times(e);
    if (seconds) {
        otlp_seconds(e, "asDouble", c->count);
    } else {
        otlp_long(e, "asInt", (uint64_t)u128_min(c->count, INT64_MAX));
    }
    otlp_end(e);
}

/* ---- Metrics. */

/* All points of a kind, from the first one on. -1 without memory. */
static int otlp_put_points(struct encoder *e, const struct metric_about *about,
                           const struct metric_series *first) {
    const struct metric_series *end = e->m->series + e->m->count;
    int failed = 0;
    otlp_list(e, "dataPoints");
    for (const struct metric_series *s = first; s < end && !failed; ++s) {
        if (s->label.kind != first->label.kind || s->hidden) {
            continue;
        }
        if (metric_is_histogram(s)) {
            failed = otlp_put_histogram(e, s);
        } else {
            otlp_put_counter(e, s, !strcmp(about->unit, "s"));
        }
    }
    otlp_list_end(e);
    return failed;
}

static const char *kind_of_points(const struct encoder *e, const struct metric_series *s) {
    if (!metric_is_histogram(s)) {
        return "sum";
    }
    return e->explicit_bounds ? "histogram" : "exponentialHistogram";
}

/* -1 without memory. */
static int otlp_put_metric(struct encoder *e, uint32_t kind) {
    const struct metrics *m = e->m;
    const struct metric_about *about = metric_about(kind);
    uint32_t i = 0;
    while (i < m->count && (m->series[i].label.kind != kind || m->series[i].hidden)) {
        ++i;
    }
    if (i == m->count) {
        return 0;
    }
    otlp_begin(e, NULL);
    otlp_text(e, "name", about->name);
    otlp_text(e, "description", about->description);
    otlp_text(e, "unit", about->unit);
    otlp_begin(e, kind_of_points(e, &m->series[i]));
    int failed = otlp_put_points(e, about, &m->series[i]);
    otlp_signed(e, "aggregationTemporality", m->delta ? DELTA : CUMULATIVE);
    if (!metric_is_histogram(&m->series[i])) {
        otlp_true(e, "isMonotonic");
    }
    otlp_end(e);
    otlp_end(e);
    return failed;
}

static int otlp_put_metrics(struct encoder *e) {
    if (otlp_put_metric(e, METRIC_DURATION) || otlp_put_metric(e, METRIC_GPU_DURATION)) {
        return -1;
    }
    for (uint32_t kind = METRIC_OF_SCOPE; metric_about(kind); ++kind) {
        otlp_put_metric(e, kind);
    }
    otlp_put_metric(e, METRIC_LOST);
    return otlp_put_metric(e, METRIC_STEPS);
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
    int failed = otlp_put_metrics(e);
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
