/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classic histograms of the prometheus export. The quantiles of several processes cannot be
 * combined; buckets of equal bounds can be added. So the bounds are the same for every scope, run
 * and machine: 1, 2 and 5 times each power of ten from 100 ns to 100 s.
 */
#include "base/histogram.h"
#include "export_prometheus.h"

#define BOUND_MIN_NS ((uint64_t)100)
#define BOUND_MAX_NS ((uint64_t)100000000000)
#define BOUND_TEXT 32

struct histogram_family {
    const char *name;
    const char *help;
    int gpu;
};

static const struct histogram_family families[] = {
    {"stint_scope_duration_seconds",
     "Durations of calls, in buckets that can be added over processes.", 0},
    {"stint_scope_gpu_duration_seconds",
     "Durations on the GPU, in buckets that can be added over processes.", 1},
};

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

/* The bound in seconds without trailing zeros, 9 decimals at most. */
static void bound_format(char out[BOUND_TEXT], uint64_t ns) {
    uint64_t rest = ns % 1000000000, digit = 100000000, whole = ns / 1000000000;
    char digits[BOUND_TEXT];
    size_t n = 0, at = 0;
    do {
        digits[n++] = (char)('0' + whole % 10);
        whole /= 10;
    } while (whole);
    while (n) {
        out[at++] = digits[--n];
    }
    out[at++] = '.';
    do {
        out[at++] = (char)('0' + rest / digit);
        rest %= digit;
        digit /= 10;
    } while (rest);
    out[at] = '\0';
}

/* The duration that a bucket of the recorder counts as: its middle, within 3.2 % of each of its
 * values. */
static uint64_t bucket_ns(const struct snapshot *s, uint32_t bucket, int gpu) {
    uint64_t low = histogram_low(bucket), high = histogram_low(bucket + 1) - 1;
    uint64_t middle = low + (high - low) / 2;
    if (gpu) { /* in nanoseconds already */
        return middle;
    }
    return snapshot_ns(s, middle);
}

static void put_bound(const struct prometheus *p, const struct stint_row *r, const char *name,
                      const char *bound, uint64_t count) {
    prometheus_scope(p, r, name, "_bucket");
    prometheus_label(p->out, ",le", export_field(bound, BOUND_TEXT));
    sink_put(p->out, "}", 1);
    prometheus_value(p->out, count, PROMETHEUS_NUMBER);
}

static void put_buckets(const struct prometheus *p, const struct stint_row *r,
                        const struct histogram_family *f, const struct histogram *h) {
    uint64_t count = 0;
    uint32_t bucket = 0;
    for (uint64_t ns = BOUND_MIN_NS; ns <= BOUND_MAX_NS; ns = bound_after(ns)) {
        char bound[BOUND_TEXT];
        while (bucket < STINT_IMPL_BUCKETS && bucket_ns(p->s, bucket, f->gpu) <= ns) {
            count += h->bucket[bucket++];
        }
        bound_format(bound, ns);
        put_bound(p, r, f->name, bound, count);
    }
    put_bound(p, r, f->name, "+Inf", histogram_count(h));
}

/* Where memory for a histogram was refused, some calls are in no bucket: no series, rather than one
 * that is too small. A thread that records meanwhile may have counted one call in one place only.
 * */
static int has_all_calls(const struct stint_row *r, const struct histogram *h, int gpu) {
    uint64_t expected = gpu ? r->extra->gpu_calls : r->samples;
    return histogram_count(h) + r->threads >= expected;
}

static uint32_t buckets_used(const struct histogram *h) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        used += h->bucket[i] != 0;
    }
    return used;
}

static void put_family(const struct prometheus *p, const struct histogram_family *f) {
    uint32_t needs = f->gpu ? ROW_GPU_HISTOGRAM : ROW_HISTOGRAM;
    uint64_t left = p->s->size / sizeof(uint32_t);
    prometheus_head(p->out, f->name, "histogram", f->help);
    /* A file with more buckets in use than it has room for is damaged: they overlap. */
    for (uint32_t i = 0; i < p->rows->count; ++i) {
        const struct stint_row *r = &p->rows->row[p->order[i]];
        struct histogram h;
        if (!(r->has & needs) || rows_histogram(&h, p->rows, p->order[i], f->gpu) ||
            !has_all_calls(r, &h, f->gpu)) {
            continue;
        }
        uint32_t used = buckets_used(&h);
        if (used > left) {
            return;
        }
        left -= used;
        put_buckets(p, r, f, &h);
        prometheus_series(p, r, f->name, "_sum", rows_timed_ns(p->rows, p->order[i], f->gpu),
                          PROMETHEUS_SECONDS);
        prometheus_series(p, r, f->name, "_count", histogram_count(&h), PROMETHEUS_NUMBER);
    }
}

void prometheus_histograms(const struct prometheus *p) {
    for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
        put_family(p, &families[i]);
    }
}
