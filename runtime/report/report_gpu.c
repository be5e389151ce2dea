/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of the footer about the GPU.
 */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "report.h"
#include "system/config.h"

static void put_in_flight(const struct report *r) {
    uint64_t n = r->snapshot->gpu_in_flight;
    if (n) {
        text_add(r->out, "GPU: %llu scope%s in flight, %s time is still to come (%s)\n",
                 (unsigned long long)n, text_plural(n), n == 1 ? "its" : "their",
                 "stint_gpu_flush waits");
    }
}

static int peaks_equal(const struct snapshot_device *a, const struct snapshot_device *b) {
    return !strcmp(a->name, b->name) && a->bytes_per_s == b->bytes_per_s &&
           a->flops_per_s == b->flops_per_s;
}

/* Whether a share of its peak is shown, or would be if it were known. */
static int in_use(const struct report *r, const struct snapshot_device *d) {
    const struct snapshot *s = r->snapshot;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (measures_have(n->measures, MEASURE_GROUP_GPU) &&
            n->extra->gpu.device != SNAPSHOT_NONE &&
            measures_have(n->measures, MEASURE_GROUP_DECLARED) &&
            peaks_equal(&s->devices[n->extra->gpu.device], d) &&
            (r->options->set == REPORT_ALL_SETS || n->set == r->options->set)) {
            return 1;
        }
    }
    return 0;
}

/* Zero is unknown. */
static void put_rate(struct text *t, double rate, const char *unit, const char *unknown) {
    if (rate > 0) {
        int decimals = (rate < 10) + (rate < 100);
        text_add(t, "%s %s", number_fixed(rate, decimals).text, unit);
    } else {
        text_add(t, "%s", unknown);
    }
}

static void gpu_put_peak(const struct report *r, const struct snapshot_device *d) {
    text_add(r->out, "peak of ");
    text_name(r->out, d->name, strlen(d->name), 0);
    if (!(d->bytes_per_s || d->flops_per_s)) {
        text_add(r->out, ": unknown, STINT_GPU_PEAK can say it\n");
        return;
    }
    text_add(r->out, config.gpu_peak ? " with STINT_GPU_PEAK: " : " at nominal clocks: ");
    put_rate(r->out, (double)d->bytes_per_s / 1e9, "GB/s", "memory unknown");
    text_add(r->out, ", ");
    put_rate(r->out, (double)d->flops_per_s / 1e12, "TFLOP/s single precision without tensor cores",
             "operations unknown");
    text_add(r->out, "\n");
}

void report_gpu(const struct report *r) {
    const struct snapshot *s = r->snapshot;
    put_in_flight(r);
    for (uint32_t i = s->device_count; i-- > 0;) { /* oldest first */
        int again = 0;
        for (uint32_t k = i + 1; k < s->device_count; ++k) {
            again |= peaks_equal(&s->devices[i], &s->devices[k]);
        }
        if (!again && in_use(r, &s->devices[i])) {
            gpu_put_peak(r, &s->devices[i]);
        }
    }
}
