/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"
#include "export_prometheus.h"
#include "metrics.h"

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

/* Counts a bucket from the first bound on that is not below its longest duration. So no call that
 * is longer than a bound is counted up to it, and a call that is up to 1/16 shorter may be missing
 * there. The row's maximum would tell more, but grows: counts would fall while the run goes on. An
 * open bucket has no longest duration, nor has the last one. */
static void count_up_to(struct exposition_histogram *out, const struct histogram *h, double unit) {
    uint64_t count = 0;
    uint32_t bucket = 0, end = h->open ? h->open - 1 : STINT_IMPL_BUCKETS - 1;
    for (uint32_t i = 0; i < EXPOSITION_BOUNDS; ++i) {
        double bound = (double)exposition_bound_ns(i);
        while (bucket < end && (double)(histogram_low(bucket + 1) - 1) * unit <= bound) {
            count += h->bucket[bucket++];
        }
        out->up_to[i] = count;
    }
}

static void put_family(const struct prometheus *p, const struct histogram_family *f) {
    uint64_t left = p->s->size / sizeof(uint32_t);
    exposition_family(p->x, f->name, "histogram", f->help);
    /* A file with more buckets in use than it has room for is damaged: they overlap. */
    for (uint32_t i = 0; i < p->rows->count; ++i) {
        const struct stint_row *r = &p->rows->row[p->order[i]];
        struct histogram h;
        if (metric_histogram_read(&h, p->rows, p->order[i], f->gpu)) {
            continue;
        }
        uint32_t used = histogram_used(&h);
        if (used > left) {
            return;
        }
        left -= used;
        const struct exposition_labels l = prometheus_scope(p, r);
        struct exposition_histogram m = {.sum_ns = rows_timed_ns(p->rows, p->order[i], f->gpu),
                                         .count = histogram_count(&h)};
        count_up_to(&m, &h, h.in_ns ? 1 : snapshot_steady_tick(p->s));
        exposition_histogram(p->x, &l, &m);
    }
}

void prometheus_histograms(const struct prometheus *p) {
    for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
        put_family(p, &families[i]);
    }
}
