/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus' protobuf format, called by exposition.c: length-delimited MetricFamily messages, with
 * native histograms. A family without series is left out. Names are as in the text format: each
 * byte that is not UTF-8 is \xff.
 */
#include <string.h>

#include "metrics.h"
#include "prometheus_form.h"
#include "wire.h"

/* Fields of io.prometheus.client.MetricFamily, Metric, LabelPair and Summary. */
enum { FAMILY_NAME = 1, FAMILY_HELP = 2, FAMILY_TYPE = 3, FAMILY_METRIC = 4 };
enum { METRIC_LABEL = 1, METRIC_GAUGE = 2, METRIC_COUNTER = 3, METRIC_SUMMARY = 4 };
enum { METRIC_HISTOGRAM = 7, LABEL_NAME = 1, LABEL_VALUE = 2, NUMBER_VALUE = 1 };
enum { SUMMARY_COUNT = 1, SUMMARY_SUM = 2, SUMMARY_QUANTILE = 3 };
enum { QUANTILE_QUANTILE = 1, QUANTILE_VALUE = 2 };
/* Fields of Histogram and BucketSpan. */
enum { HISTOGRAM_COUNT = 1, HISTOGRAM_SUM = 2, HISTOGRAM_SCHEMA = 5, HISTOGRAM_ZERO_BOUND = 6 };
enum { HISTOGRAM_ZERO_COUNT = 7, HISTOGRAM_SPAN = 12, HISTOGRAM_DELTA = 13 };
enum { SPAN_OFFSET = 1, SPAN_LENGTH = 2 };

/* 2^-128, as client libraries have it: without it a histogram of zeros would not be a native one.
 * */
#define ZERO_THRESHOLD 2.938735877055719e-39
/* Empty buckets between two others that cost less than a new span. */
#define SPAN_GAP 2

/* ---- Metrics. */

/* Begins a Metric, with its labels; for wire_end. */
static size_t native_begin_metric(struct text *out, const struct prometheus_labels *l) {
    size_t metric = wire_begin(out, FAMILY_METRIC);
    for (uint32_t i = 0; i < l->count; ++i) {
        char value[METRIC_NAME_BYTES];
        size_t length = metric_clean(value, l->label[i].value);
        size_t label = wire_begin(out, METRIC_LABEL);
        wire_put_bytes(out, LABEL_NAME, l->label[i].key, strlen(l->label[i].key));
        wire_put_bytes(out, LABEL_VALUE, value, length);
        wire_end(out, label);
    }
    return metric;
}

static void native_put_double(struct text *out, unsigned field, double value) {
    wire_put_fixed(out, field, wire_double_bits(value));
}

static double to_seconds(uint64_t ns) {
    return (double)ns / 1e9;
}

static void native_put_number(struct text *out, const struct prometheus_family *f,
                              const struct prometheus_labels *l, uint64_t value,
                              enum prometheus_unit unit) {
    unsigned field = strcmp(f->type, "counter") ? METRIC_GAUGE : METRIC_COUNTER;
    size_t metric = native_begin_metric(out, l);
    size_t number = wire_begin(out, field);
    native_put_double(out, NUMBER_VALUE,
                      unit == PROMETHEUS_SECONDS ? to_seconds(value) : (double)value);
    wire_end(out, number);
    wire_end(out, metric);
}

static void native_put_summary(struct text *out, const struct prometheus_family *f,
                               const struct prometheus_labels *l,
                               const struct prometheus_summary *m) {
    static const uint16_t permilles[PERCENTILE_COUNT] = PERCENTILE_PERMILLES;
    (void)f;
    size_t metric = native_begin_metric(out, l);
    size_t summary = wire_begin(out, METRIC_SUMMARY);
    wire_put_number(out, SUMMARY_COUNT, m->count);
    native_put_double(out, SUMMARY_SUM, to_seconds(m->sum_ns));
    for (uint32_t i = 0; i < PERCENTILE_COUNT && m->percentile_ns; ++i) {
        size_t quantile = wire_begin(out, SUMMARY_QUANTILE);
        native_put_double(out, QUANTILE_QUANTILE, permilles[i] / 1000.0);
        native_put_double(out, QUANTILE_VALUE, to_seconds(m->percentile_ns[i]));
        wire_end(out, quantile);
    }
    wire_end(out, summary);
    wire_end(out, metric);
}

/* ---- Native histograms. */

/* The exponential buckets in use, in the order of their indices. */
struct native_buckets {
    uint64_t zero;
    uint32_t used;
    int32_t index[STINT_IMPL_BUCKETS]; /* Prometheus': one more than OpenTelemetry's */
    uint64_t count[STINT_IMPL_BUCKETS];
};

static void native_buckets_fill(struct native_buckets *out, const struct prometheus_histogram *m) {
    double unit = m->gpu ? 1 : m->s->ns_per_tick;
    out->zero = m->h->bucket[0]; /* 0 ticks */
    out->used = 0;
    for (uint32_t i = 1; i < STINT_IMPL_BUCKETS; ++i) {
        if (!m->h->bucket[i]) {
            continue;
        }
        int32_t index = metric_exponential_index(histogram_middle(i) * unit) + 1;
        if (!out->used || out->index[out->used - 1] != index) {
            out->index[out->used] = index;
            out->count[out->used++] = 0;
        }
        out->count[out->used - 1] += m->h->bucket[i];
    }
}

/* The number after the last bucket of the span that begins with bucket `from`. */
static uint32_t span_end(const struct native_buckets *b, uint32_t from) {
    uint32_t end = from + 1;
    while (end < b->used && b->index[end] - b->index[end - 1] <= SPAN_GAP + 1) {
        ++end;
    }
    return end;
}

/* The first offset is an index, the others are gaps. */
static void spans_put(struct text *out, const struct native_buckets *b) {
    int64_t before = 0;
    for (uint32_t i = 0; i < b->used;) {
        uint32_t end = span_end(b, i);
        int64_t first = b->index[i], last = b->index[end - 1];
        size_t span = wire_begin(out, HISTOGRAM_SPAN);
        wire_put_number(out, SPAN_OFFSET, wire_zigzag(first - before));
        wire_put_number(out, SPAN_LENGTH, (uint64_t)(last - first + 1));
        wire_end(out, span);
        before = last + 1;
        i = end;
    }
}

/* Each bucket of the spans as the difference from the one before, also where that is empty. */
static void deltas_put(struct text *out, const struct native_buckets *b) {
    int64_t before = 0;
    size_t deltas = wire_begin(out, HISTOGRAM_DELTA);
    for (uint32_t i = 0; i < b->used;) {
        uint32_t end = span_end(b, i);
        for (int32_t at = b->index[i]; i < end; ++at) {
            int64_t count = at == b->index[i] ? (int64_t)b->count[i++] : 0;
            wire_put_varint(out, wire_zigzag(count - before));
            before = count;
        }
    }
    wire_end(out, deltas);
}

static void native_put_histogram(struct text *out, const struct prometheus_family *f,
                                 const struct prometheus_labels *l,
                                 const struct prometheus_histogram *m) {
    struct native_buckets b;
    (void)f;
    native_buckets_fill(&b, m);
    size_t metric = native_begin_metric(out, l);
    size_t histogram = wire_begin(out, METRIC_HISTOGRAM);
    wire_put_number(out, HISTOGRAM_COUNT, m->count);
    native_put_double(out, HISTOGRAM_SUM, to_seconds(m->sum_ns));
    wire_put_number(out, HISTOGRAM_SCHEMA, wire_zigzag(METRIC_SCALE));
    native_put_double(out, HISTOGRAM_ZERO_BOUND, ZERO_THRESHOLD);
    wire_put_number(out, HISTOGRAM_ZERO_COUNT, b.zero);
    spans_put(out, &b);
    deltas_put(out, &b);
    wire_end(out, histogram);
    wire_end(out, metric);
}

/* ---- Families. */

static const char *const type_names[] = {"counter", "gauge", "summary", "untyped", "histogram"};

static unsigned family_type(const struct prometheus_family *f) {
    unsigned type = 0;
    while (strcmp(f->type, type_names[type])) {
        ++type;
    }
    return type;
}

static void native_put_family(struct text *out, const struct prometheus_family *f,
                              const struct text *series) {
    struct text head;
    if (!series->length) {
        return;
    }
    text_start(&head);
    wire_put_bytes(&head, FAMILY_NAME, f->name, strlen(f->name));
    wire_put_bytes(&head, FAMILY_HELP, f->help, strlen(f->help));
    wire_put_number(&head, FAMILY_TYPE, family_type(f));
    wire_put_varint(out, head.length + series->length);
    text_put(out, head.data, head.length);
    text_put(out, series->data, series->length);
    out->failed |= head.failed;
    text_free(&head);
}

const struct prometheus_form prometheus_proto = {native_put_family, native_put_number,
                                                 native_put_summary, native_put_histogram};
