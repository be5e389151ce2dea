/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus' text format, in base units (seconds), called by exposition.c. There are no
 * timestamps: node_exporter skips a file that has any. Two series with the same labels make the
 * scrape fail, so each byte that is not UTF-8 is written as \xff, where other exports write U+FFFD.
 *
 * Histograms are classic ones. The quantiles of several processes cannot be combined; buckets of
 * equal bounds can be added. So the bounds are the same for every scope, run and machine: 1, 2 and
 * 5 times each power of ten from 100 ns to 100 s.
 */
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "base/utf8.h"
#include "prometheus_form.h"

#define BOUND_MIN_NS ((uint64_t)100)
#define BOUND_MAX_NS ((uint64_t)100000000000)
#define SECOND_NS ((uint64_t)1000000000)
#define PERMILLE_NS ((uint64_t)1000000)
#define BOUND_TEXT 32

/* ---- Labels. */

void prometheus_label_add(struct prometheus_labels *l, const char *key, struct export_name value) {
    if (l->count < PROMETHEUS_LABELS) {
        l->label[l->count].key = key;
        l->label[l->count].value = value;
        ++l->count;
    }
}

static int label_is_special(char c) {
    return c == '"' || c == '\\' || c == '\n';
}

/* A part of a label's value, with the characters escaped that the format requires. */
static void label_put_bytes(struct text *out, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        if (bytes[i] == '\n') {
            text_put(out, "\\n", 2);
            continue;
        }
        if (label_is_special(bytes[i])) {
            text_put(out, "\\", 1);
        }
        text_put(out, bytes + i, 1);
    }
}

static void label_put_value(struct text *out, struct export_name value, int terminal) {
    int utf8 = terminal && terminal_is_utf8();
    for (size_t i = 0; i < value.length;) {
        char shown[TERMINAL_PIECE];
        size_t length, columns;
        uint32_t c = 0;
        size_t n = utf8_next(value.bytes + i, value.length - i, &c);
        if (n && (!terminal || label_is_special(value.bytes[i]))) {
            label_put_bytes(out, value.bytes + i, n);
        } else {
            n = terminal_show(value.bytes + i, value.length - i, utf8, shown, &length, &columns);
            label_put_bytes(out, shown, length);
        }
        i += n;
    }
}

/* NAMESUFFIX{key="value",...}; extra: one more key, or NULL. */
static void series_put(struct text *out, const char *name, const char *suffix,
                       const struct prometheus_labels *l, const char *extra, const char *value) {
    const char *before = "{";
    text_put(out, name, strlen(name));
    text_put(out, suffix, strlen(suffix));
    for (uint32_t i = 0; i < l->count; ++i) {
        text_add(out, "%s%s=\"", before, l->label[i].key);
        label_put_value(out, l->label[i].value, l->terminal);
        text_put(out, "\"", 1);
        before = ",";
    }
    if (extra) {
        text_add(out, "%s%s=\"%s\"", before, extra, value);
    }
    if (l->count || extra) {
        text_put(out, "}", 1);
    }
}

/* ---- Values. */

static void number_put(struct text *out, uint64_t n) {
    text_add(out, " %llu\n", (unsigned long long)n);
}

/* Exact: with nine decimals. */
static void seconds_put(struct text *out, uint64_t ns) {
    text_add(out, " %llu.%09llu\n", (unsigned long long)(ns / SECOND_NS),
             (unsigned long long)(ns % SECOND_NS));
}

/* Seconds without trailing zeros, with one decimal at least: labels. */
static void bound_format(char out[BOUND_TEXT], uint64_t ns) {
    int length = snprintf(out, BOUND_TEXT, "%llu.%09llu", (unsigned long long)(ns / SECOND_NS),
                          (unsigned long long)(ns % SECOND_NS));
    while (out[length - 1] == '0' && out[length - 2] != '.') {
        --length;
    }
    out[length] = '\0';
}

static void text_put_number(struct text *out, const struct prometheus_family *f,
                            const struct prometheus_labels *l, uint64_t value,
                            enum prometheus_unit unit) {
    series_put(out, f->name, "", l, NULL, NULL);
    if (unit == PROMETHEUS_SECONDS) {
        seconds_put(out, value);
    } else {
        number_put(out, value);
    }
}

static void put_sum_and_count(struct text *out, const struct prometheus_family *f,
                              const struct prometheus_labels *l, uint64_t sum_ns, uint64_t count) {
    series_put(out, f->name, "_sum", l, NULL, NULL);
    seconds_put(out, sum_ns);
    series_put(out, f->name, "_count", l, NULL, NULL);
    number_put(out, count);
}

static void text_put_summary(struct text *out, const struct prometheus_family *f,
                             const struct prometheus_labels *l,
                             const struct prometheus_summary *m) {
    static const uint16_t permilles[PERCENTILE_COUNT] = PERCENTILE_PERMILLES;
    for (uint32_t i = 0; i < PERCENTILE_COUNT && m->percentile_ns; ++i) {
        char quantile[BOUND_TEXT];
        bound_format(quantile, permilles[i] * PERMILLE_NS);
        series_put(out, f->name, "", l, "quantile", quantile);
        seconds_put(out, m->percentile_ns[i]);
    }
    put_sum_and_count(out, f, l, m->sum_ns, m->count);
}

/* ---- Classic histograms. */

/* 1, 2, 5, 10, 20, 50 ... */
static uint64_t bound_after(uint64_t ns) {
    uint64_t power = 1;
    while (power * 10 <= ns) {
        power *= 10;
    }
    if (ns / power == 2) {
        return 5 * power;
    }
    return 2 * ns;
}

/* The duration that a bucket of the recorder counts as: its middle, within 3.2 % of each of its
 * values. */
static uint64_t bucket_ns(const struct prometheus_histogram *m, uint32_t bucket) {
    uint64_t low = histogram_low(bucket), high = histogram_low(bucket + 1) - 1;
    uint64_t middle = low + (high - low) / 2;
    if (m->gpu) {
        return middle;
    }
    return snapshot_ns(m->s, middle);
}

static void text_put_histogram(struct text *out, const struct prometheus_family *f,
                               const struct prometheus_labels *l,
                               const struct prometheus_histogram *m) {
    uint64_t count = 0;
    uint32_t bucket = 0;
    for (uint64_t ns = BOUND_MIN_NS; ns <= BOUND_MAX_NS; ns = bound_after(ns)) {
        char bound[BOUND_TEXT];
        while (bucket < STINT_IMPL_BUCKETS && bucket_ns(m, bucket) <= ns) {
            count += m->h->bucket[bucket++];
        }
        bound_format(bound, ns);
        series_put(out, f->name, "_bucket", l, "le", bound);
        number_put(out, count);
    }
    series_put(out, f->name, "_bucket", l, "le", "+Inf");
    number_put(out, m->count);
    put_sum_and_count(out, f, l, m->sum_ns, m->count);
}

static void text_put_family(struct text *out, const struct prometheus_family *f,
                            const struct text *series) {
    text_add(out, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name, f->type);
    text_put(out, series->data, series->length);
}

const struct prometheus_form prometheus_text = {text_put_family, text_put_number, text_put_summary,
                                                text_put_histogram};
