/* SPDX-License-Identifier: Apache-2.0 */
#include "export_histogram.h"

#include "base/histogram.h"

int export_histograms_start(struct export_histograms *h, struct snapshot *s,
                            const struct rows *rows) {
    h->rows = rows;
    h->unit = snapshot_steady_tick(s);
    h->left = s->size / sizeof(uint32_t);
    h->ticks = scratch_get(&s->memory, sizeof *h->ticks);
    h->ns = scratch_get(&s->memory, sizeof *h->ns);
    if (h->ticks && h->ns) {
        return 0;
    }
    return -1;
}

/* An open bucket ends with the longest call of the row. */
static void put_bucket(struct sink *out, const struct histogram *h, uint32_t bucket, uint64_t max) {
    uint64_t count = h->bucket[bucket];
    sink_put(out, "[", 1);
    sink_u64(out, histogram_low(bucket));
    sink_put(out, ",", 1);
    sink_u64(out, histogram_end(h, bucket, max));
    sink_put(out, ",", 1);
    sink_u64(out, count);
    sink_put(out, "]", 1);
}

void export_histogram_put(struct sink *out, struct export_histograms *h, uint32_t row, int gpu,
                          const char *before) {
    uint32_t needs = gpu ? ROW_GPU_HISTOGRAM : ROW_HISTOGRAM;
    uint64_t max = row_sampled(&h->rows->row[row], gpu).max_ns;
    if (!(h->rows->row[row].has & needs) || rows_histogram(h->ticks, h->rows, row, gpu)) {
        return;
    }
    histogram_to_ns(h->ns, h->ticks, h->unit);
    sink_text(out, before);
    sink_put(out, "[", 1);
    const char *comma = "";
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS && h->left; ++i) {
        if (h->ns->bucket[i]) {
            sink_text(out, comma);
            put_bucket(out, h->ns, i, max);
            comma = ",";
            --h->left;
        }
    }
    sink_put(out, "]", 1);
}
