/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds a node to the sums of its row: calls, the numbers of outer calls, own time, measures, and
 * what is open. A scope inside one of the same name and set is
 * nested: its calls and their own time are added, the rest is in the sums of the outer one. Times
 * stay ticks until rows_finish.
 */
#include "rows_private.h"

#include <string.h>

#include "base/arithmetic.h"
#include "stint/stint.h"

/* The extras of a row, to be written to: from the first such call on it has them. */
struct row_extras {
    struct group_extra *group;
    struct stint_row_extra *row;
};

static struct row_extras row_extras_of(struct grouping *g, uint32_t row) {
    struct group *group = &g->groups[row];
    struct rows *rows = g->rows;
    if (!group->extra) {
        rows->extra[rows->extra_count] = stint_row_no_extra;
        rows->row[row].extra = &rows->extra[rows->extra_count];
        group->extra = ++rows->extra_count;
        struct group_extra *extra = &g->extras[group->extra - 1];
        extra->gpu.in_ns = 1;
        extra->added.in_ns = 1;
        numbers_clear(&record_scope, extra->added.number);
    }
    return (struct row_extras){&g->extras[group->extra - 1], &rows->extra[group->extra - 1]};
}

/* A step contains the scopes that ran in it, but is not their parent: its own time is not known. */
static int node_is_step(const struct snapshot *s, const struct snapshot_node *n) {
    return n->kind == STINT_IMPL_INTERVAL_NODE && s->sites[n->site].role == STINT_ROLE_STEP;
}

/* If it ran on devices of different peaks, there is no peak. */
static void row_add_peaks(struct group_extra *to, const struct snapshot *s, uint32_t device) {
    static const struct snapshot_device unknown;
    const struct snapshot_device *d = &unknown;
    if (device < s->device_count) {
        d = &s->devices[device];
    }
    if (!to->gpu_nodes++) {
        to->bytes_per_s = d->bytes_per_s;
        to->flops_per_s = d->flops_per_s;
    }
    if (to->bytes_per_s != d->bytes_per_s) {
        to->bytes_per_s = 0;
    }
    if (to->flops_per_s != d->flops_per_s) {
        to->flops_per_s = 0;
    }
}

/* Adds to the times on the GPU what they have beside their sums. */
static void row_add_gpu(struct grouping *g, uint32_t row, const struct snapshot_node *n) {
    struct row_extras to = row_extras_of(g, row);
    to.group->gpu.loose |= n->extra->gpu.loose;
    row_add_peaks(to.group, g->s, n->extra->gpu.device);
    link_histogram(g, &to.group->gpu, n->extra->gpu.histogram, SNAPSHOT_NONE, 1);
}

static void row_add_device(struct grouping *g, uint32_t row, const struct snapshot_node *n) {
    struct device_work work = rows_device_of(g->work, (uint32_t)(n - g->s->nodes));
    if (!work.count) {
        return;
    }
    struct row_extras to = row_extras_of(g, row);
    to.row->device_calls += work.count;
    to.row->device_total_ns += work.total;
}

static void row_add_measures(struct grouping *g, uint32_t row, const struct snapshot_node *n,
                             unsigned nested) {
    if (!measures_any(n->measures)) {
        return;
    }
    struct stint_row_extra *to = row_extras_of(g, row).row;
    measures_add(&to->groups, to->measure, n->measures, nested);
    g->rows->row[row].has |= (uint64_t)to->groups << ROW_MEASURES;
    if (n->measures->gpu_calls && !(nested & ROW_NESTED_GPU)) {
        row_add_gpu(g, row, n);
    }
}

/* Adds the time of open calls, and calls that were not timed. */
static void row_add_extra(struct grouping *g, uint32_t row, const struct snapshot_extra *n,
                          unsigned nested) {
    struct row_extras to = row_extras_of(g, row);
    to.group->open = u64_max(n->open, to.group->open);
    to.group->open_self += n->open_self;
    if (!(nested & ROW_NESTED)) {
        to.group->open_all += n->open;
    }
    to.row->untimed += n->untimed;
    if (n->untimed) {
        g->rows->row[row].has |= ROW_PARTIAL;
    }
    if (n->untimed || n->holds_untimed) {
        g->rows->row[row].has |= ROW_SELF_PARTIAL;
    }
}

static void row_add_own(struct grouping *g, uint32_t row, const struct snapshot_node *n) {
    struct group *to = &g->groups[row];
    if (node_is_step(g->s, n)) {
        return;
    }
    if (n->in_ns) {
        row_extras_of(g, row).group->added_self += snapshot_own(n);
    } else {
        to->self += snapshot_own(n);
    }
    if (g->costs) {
        g->costs[row].own += g->s->costs[n - g->s->nodes].own;
    }
    g->rows->row[row].has |= ROW_SELF;
}

/* Adds the time of a node with samples that is not nested. */
static void row_add_times(struct grouping *g, uint32_t row, const struct snapshot_node *n) {
    struct group *to = &g->groups[row];
    struct stint_row *r = &g->rows->row[row];
    to->has_intervals |= n->kind == STINT_IMPL_INTERVAL_NODE;
    r->threads += to->last_thread != n->thread;
    to->last_thread = n->thread;
    struct times *times = &to->cpu;
    if (n->in_ns) {
        times = &row_extras_of(g, row).group->added;
        to->cpu.in_ns = 1;
    } else if (n->max > times->max ||
               (n->max == times->max && strcmp(n->extra->info, r->info) > 0)) {
        r->info = n->extra->info; /* whichever of them comes first, as in a merge */
    }
    uint64_t number[SCOPE_NUMBERS];
    memcpy(number, n->number, sizeof number);
    if (!n->first) {
        number[SCOPE_FIRST_AT] = 0; /* it is not known */
    }
    numbers_add(&record_scope, times->number, number, 0);
    times->loose |= n->loose;
    if (g->costs) {
        g->costs[row].all += g->s->costs[n - g->s->nodes].all;
    }
    if (g->waiting && g->waiting[n - g->s->nodes]) {
        row_extras_of(g, row).group->waiting += g->waiting[n - g->s->nodes];
    }
}

void row_add_node(struct grouping *g, uint32_t row, const struct snapshot_node *n,
                  unsigned nested) {
    struct stint_row *r = &g->rows->row[row];
    int is_outer = !(nested & ROW_NESTED);
    r->calls += snapshot_calls(n) + n->recursions;
    if (g->s->corrected && n->kind == STINT_IMPL_SCOPE_NODE) {
        r->has |= ROW_CORRECTED;
    }
    row_add_own(g, row, n);
    row_add_measures(g, row, n, nested);
    if (n->extra != &snapshot_no_extra) {
        row_add_extra(g, row, n->extra, nested);
    }
    if (is_outer) {
        row_add_device(g, row, n);
    }
    if (is_outer && n->count) {
        row_add_times(g, row, n);
    }
}
