/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"
#include "export_prometheus.h"

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
    exposition_family(p->x, f->name, "histogram", f->help);
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
        const struct prometheus_labels l = prometheus_scope(p, r);
        const struct prometheus_histogram m = {
            p->s, &h, f->gpu, rows_timed_ns(p->rows, p->order[i], f->gpu), histogram_count(&h)};
        exposition_histogram(p->x, &l, &m);
    }
}

void prometheus_histograms(const struct prometheus *p) {
    for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
        put_family(p, &families[i]);
    }
}
