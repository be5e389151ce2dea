/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles of `stint top`: differences of two readings, as the deltas of `stint export --follow`
 * are. A flat table only: the paths to a scope share its histogram. */
#include "top.h"

#include <stdlib.h>

#include "export/tool/metrics.h"

/* The first reading of a run is an interval that began with it. */
static int read_interval(struct metrics *out, struct metrics *now, const struct metrics *then) {
    if (metrics_raise(now, then)) {
        return -1;
    }
    return metrics_since(out, now, then);
}

/* row_of: by number in rows_flat; NULL: the row is filtered out. first: of the two percentiles. */
static void set_percentiles(struct top_table *t, struct top_row *const *row_of, uint32_t count,
                            const struct metrics *m, enum top_percentile first) {
    static const uint32_t permilles[] = {500, 990};
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct metric_series *h = &m->series[i];
        struct top_row *row = h->row < count ? row_of[h->row] : NULL;
        if (!row || h->label.kind != METRIC_DURATION || h->hidden) {
            continue;
        }
        t->has_percentiles = 1;
        for (uint32_t k = 0; k < 2; ++k) {
            row->percentile[first + k].ns = metric_percentile(m, h, permilles[k]);
            row->percentile[first + k].known = 1;
            row->percentile[first + k].or_more = metric_is_beyond(h, permilles[k]);
        }
    }
}

static struct top_row **list_by_source(const struct top_table *t, uint32_t *count) {
    *count = 0;
    for (uint32_t i = 0; i < t->count; ++i) {
        if (t->row[i].source >= *count) {
            *count = t->row[i].source + 1;
        }
    }
    struct top_row **out = calloc((size_t)*count + 1, sizeof(struct top_row *));
    for (uint32_t i = 0; out && i < t->count; ++i) {
        out[t->row[i].source] = &t->row[i];
    }
    return out;
}

int top_percentiles_read(struct top_table *now, const struct top_table *then, struct run *r,
                         int each_thread) {
    if (now->tree) {
        return 0;
    }
    uint32_t count;
    struct top_row **row_of = list_by_source(now, &count);
    struct metrics *m = calloc(1, sizeof *m);
    if (!row_of || !m || metrics_read(m, r, each_thread)) {
        free(row_of);
        free(m);
        return -1;
    }
    now->metrics = m;
    const struct metrics *before = then->metrics;
    int failed = 0;
    if (before && before->pid == m->pid && before->start_ns == m->start_ns) {
        struct metrics since;
        failed = read_interval(&since, m, before);
        if (!failed) {
            set_percentiles(now, row_of, count, &since, TOP_MORE_P50);
            metrics_free(&since);
        }
    } else {
        set_percentiles(now, row_of, count, m, TOP_MORE_P50);
    }
    set_percentiles(now, row_of, count, m, TOP_ALL_P50);
    free(row_of);
    return failed;
}

void top_percentiles_free(struct top_table *t) {
    if (t->metrics) {
        metrics_free(t->metrics);
        free(t->metrics);
        t->metrics = NULL;
    }
}
