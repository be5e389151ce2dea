/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups the activities of a snapshot into the rows of a table, for the view gpu, the exports and
 * `stint diff`. A hash map finds the row of an activity by what rows are told apart by; histograms
 * are added up row by row, after the grouping, in one buffer. All memory is the snapshot's.
 */
#include "activity_table.h"

#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "base/name.h"
#include "base/order.h"
#include "baseline.h"
#include "deviation.h"

/* While grouping. */
struct activity_grouping {
    struct snapshot *s;
    struct activity_row *rows;
    uint32_t *members;      /* of each row the first, + 1 */
    uint32_t *next;         /* by activity, + 1 */
    struct hash_map row_of; /* hash of what tells rows apart, to rows */
    uint32_t count;
    struct histogram *sum, *taken; /* of the row at hand */
    struct histogram *read;        /* one of them */
};

/* The quantity of an activity that a histogram and samples are of, and its numbers. */
enum activity_quantity { QUANTITY_TIME, QUANTITY_BYTES };
static const struct {
    uint8_t total, squares, min, max;
    uint8_t loose_min, loose_max;
    uint8_t has_median;
} quantities[] = {{ACTIVITY_TOTAL, ACTIVITY_SQUARES, ACTIVITY_MIN, ACTIVITY_MAX, SNAPSHOT_LOOSE_MIN,
                   SNAPSHOT_LOOSE_MAX, ACTIVITY_HAS_MEDIAN},
                  {ACTIVITY_BYTES, ACTIVITY_BYTE_SQUARES, ACTIVITY_MIN_BYTES, ACTIVITY_MAX_BYTES,
                   SNAPSHOT_LOOSE_MIN_BYTES, SNAPSHOT_LOOSE_MAX_BYTES, ACTIVITY_HAS_MEDIAN_BYTES}};

static uint32_t member_histogram(const struct snapshot_activity *a, enum activity_quantity which) {
    return which == QUANTITY_TIME ? a->histogram : a->byte_histogram;
}

static uint32_t activity_row_hash(const struct snapshot_activity *a) {
    const uint32_t parts[] = {a->kind, a->detail, a->device, a->context, a->stream, a->node};
    uint64_t h = hash_bytes(a->name, a->name_length);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        h = hash_add(h, parts[i]);
    }
    return (uint32_t)h;
}

static int activity_rows_equal(const struct snapshot_activity *a,
                               const struct snapshot_activity *b) {
    return a->kind == b->kind && a->detail == b->detail && a->device == b->device &&
           a->context == b->context && a->stream == b->stream && a->node == b->node &&
           a->name_length == b->name_length && !memcmp(a->name, b->name, a->name_length);
}

/* The fields that tell the row of the activity apart; the others are 0. */
static struct snapshot_activity activity_row_key(const struct snapshot_activity *a, unsigned by) {
    struct snapshot_activity key = {.name = a->name,
                                    .name_length = a->name_length,
                                    .kind = a->kind,
                                    .detail = a->detail,
                                    .device = a->device,
                                    .node = SNAPSHOT_NONE};
    if (by & ACTIVITY_BY_SCOPE) {
        key.node = a->node;
    }
    if (!(by & ACTIVITY_BY_DETAIL) && a->kind == ACTIVITY_COPY) {
        key.detail = ACTIVITY_COPY_DIRECTION(a->detail);
    }
    if (!(by & ACTIVITY_BY_DETAIL) && a->kind == ACTIVITY_FILL) {
        key.detail = 0;
    }
    if (by & ACTIVITY_BY_STREAM) {
        key.context = a->context;
        key.stream = a->stream;
    }
    return key;
}

static uint32_t row_of(struct activity_grouping *g, const struct snapshot_activity *a,
                       unsigned by) {
    struct snapshot_activity key = activity_row_key(a, by);
    uint32_t hash = activity_row_hash(&key);
    struct hash_map_walk walk;
    uint32_t row = hash_map_first(&g->row_of, hash, &walk);
    while (row != HASH_MAP_NONE && !activity_rows_equal(&g->rows[row].sum.of, &key)) {
        row = hash_map_next(&g->row_of, &walk);
    }
    if (row != HASH_MAP_NONE) {
        return row;
    }
    row = g->count++;
    activity_sum_start(&g->rows[row].sum, &key);
    hash_map_add(&g->row_of, hash, row);
    return row;
}

void activity_sum_start(struct activity_sum *sum, const struct snapshot_activity *of) {
    sum->of = *of;
    numbers_clear(&record_activity, sum->number);
}

void activity_sum_add(struct activity_sum *to, const struct snapshot_activity *a) {
    struct snapshot_activity *of = &to->of;
    of->varies |= a->varies || (to->count && memcmp(of->shape, a->shape, sizeof of->shape));
    if (!to->count || a->max > to->max) { /* the shape of the longest launch is shown */
        memcpy(of->shape, a->shape, sizeof of->shape);
    }
    numbers_add(&record_activity, to->number, a->number, 0);
    of->loose |= a->loose;
}

static void activity_sum_histograms(const struct activity_grouping *g, uint32_t row,
                                    enum activity_quantity which) {
    const struct snapshot *s = g->s;
    memset(g->sum, 0, sizeof *g->sum);
    memset(g->taken, 0, sizeof *g->taken);
    for (uint32_t at = g->members[row]; at; at = g->next[at - 1]) {
        const struct snapshot_activity *a = &s->activities[at - 1];
        baseline_add_histogram(g->sum, s, SNAPSHOT_NONE, member_histogram(a, which), g->read);
        if (which == QUANTITY_TIME) {
            baseline_add_histogram(g->taken, s, SNAPSHOT_NONE, a->taken_histogram, g->read);
        }
    }
    histogram_take(g->sum, g->taken);
}

/* The standard deviation of n values, from their sum and the sum of their squares. */
static uint64_t stddev_of(u128 count, u128 total, double squares, uint64_t widest) {
    double n = (double)count, sum = (double)total;
    double distances = squares - sum * (sum / n); /* squared, from the mean */
    double v = 0;
    if (count > 1 && distances > 0) {
        v = deviation_root(distances / (n - 1));
    }
    return u64_min(snapshot_whole(v + 0.5), widest);
}

/* ---- Medians. */

/* The samples that were kept, or NULL. */
static const uint64_t *member_samples(const struct snapshot *s, const struct snapshot_activity *a,
                                      enum activity_quantity which) {
    if (which == QUANTITY_TIME) {
        const struct arena_samples *times = snapshot_at(s, a->samples, sizeof *times);
        return times ? times->ns : NULL;
    }
    const struct arena_sizes *sizes = NULL;
    if (a->byte_histogram) {
        sizes = snapshot_at(s, a->samples, offsetof(struct arena_sizes, histogram));
    }
    return sizes ? sizes->bytes : NULL;
}

/* All samples of the row's members; 0: not all were kept, or there are too many. */
static uint32_t activity_samples(const struct activity_grouping *g, uint32_t row,
                                 enum activity_quantity which, uint64_t out[ARENA_SAMPLES]) {
    uint32_t count = 0;
    for (uint32_t at = g->members[row]; at; at = g->next[at - 1]) {
        const struct snapshot_activity *a = &g->s->activities[at - 1];
        const uint64_t *samples = member_samples(g->s, a, which);
        uint64_t end = saturating_add(a->before, a->count);
        if (!samples || end > ARENA_SAMPLES || a->count > ARENA_SAMPLES - count || a->taken_count) {
            return 0;
        }
        for (uint64_t i = a->before; i < end; ++i) {
            out[count++] = STINT_IMPL_LOAD(&samples[i]);
        }
    }
    return count;
}

/* The mean of the two middle samples where their number is even. */
static uint64_t median_of_samples(const uint64_t *samples, uint32_t count) {
    uint32_t order[ARENA_SAMPLES], spare[ARENA_SAMPLES];
    const uint32_t *sorted = order_in(order, spare, count, order_is_less, samples);
    uint64_t low = samples[sorted[(count - 1) / 2]], high = samples[sorted[count / 2]];
    return low + (high - low) / 2;
}

/* sum: of the row's histograms, of which there is one at least. */
static uint64_t row_median(const struct activity_grouping *g, uint32_t row,
                           enum activity_quantity which, const struct histogram *sum) {
    uint64_t samples[ARENA_SAMPLES];
    uint32_t count = activity_samples(g, row, which, samples);
    if (count) {
        return median_of_samples(samples, count);
    }
    return histogram_percentile(sum, histogram_count(sum), 500);
}

/* The bounds where they are not exact, and what the histograms and samples give. */
static void finish_quantity(const struct activity_grouping *g, struct activity_row *r,
                            enum activity_quantity which, uint64_t *median, uint64_t *stddev) {
    uint32_t row = (uint32_t)(r - g->rows);
    u128 *number = r->sum.number, count = r->sum.count, total = number[quantities[which].total];
    uint64_t min = (uint64_t)number[quantities[which].min];
    uint64_t max = (uint64_t)number[quantities[which].max];
    activity_sum_histograms(g, row, which);
    uint64_t counted = histogram_count(g->sum);
    if (counted && r->sum.of.loose & quantities[which].loose_min) {
        min = u64_max(min, histogram_min(g->sum));
    }
    if (counted && r->sum.of.loose & quantities[which].loose_max) {
        max = u64_min(max, histogram_max(g->sum));
    }
    mean_of(total, count, &min, &max);
    number[quantities[which].min] = min;
    number[quantities[which].max] = max;
    if (counted && !g->sum->full) {
        *median = u64_clamp(row_median(g, row, which, g->sum), min, max);
        r->has |= quantities[which].has_median;
    }
    *stddev = stddev_of(count, total, double_of_bits((uint64_t)number[quantities[which].squares]),
                        max - min);
}

static void activity_row_finish(const struct activity_grouping *g, struct activity_row *r,
                                u128 total) {
    const struct snapshot *s = g->s;
    const struct activity_sum *a = &r->sum;
    const struct snapshot_activity *of = &a->of;
    r->avg = u128_narrow(a->total / a->count);
    finish_quantity(g, r, QUANTITY_TIME, &r->median, &r->stddev);
    uint64_t counted = histogram_count(g->sum);
    if (histogram_beyond(g->sum) > counted - histogram_rank(counted, 500)) {
        r->has |= ACTIVITY_MEDIAN_BEYOND;
    }
    if (activity_kind_has_sizes(of->kind)) {
        r->has |= ACTIVITY_HAS_SIZES;
        finish_quantity(g, r, QUANTITY_BYTES, &r->median_bytes, &r->stddev_bytes);
    }
    if (total) {
        r->share_ppm = snapshot_whole((double)a->total * 1e6 / (double)total);
    }
    if (a->total) {
        r->bytes_per_s = snapshot_whole((double)a->bytes * 1e9 / (double)a->total);
    }
    if (a->launches) {
        r->launch_avg = u128_narrow(a->launch_total / a->launches);
        r->delay_avg = u128_narrow(a->delay_total / a->launches);
        r->has |= ACTIVITY_HAS_LAUNCH;
    }
    r->lib = r->precision = "";
    if (of->kind == ACTIVITY_KERNEL) {
        r->lib = kernel_lib(of->name, of->name_length);
        r->precision = kernel_precision(of->name, of->name_length);
        if (of->device < s->device_count &&
            !occupancy_of(&r->occupancy, &s->devices[of->device], of)) {
            r->has |= ACTIVITY_HAS_OCCUPANCY;
        }
    }
}

static int asked_for(const struct snapshot *s, const struct snapshot_activity *a,
                     const struct activity_ask *ask) {
    return a->count && ask->kinds & ACTIVITY_IN(a->kind) &&
           (ask->set == ACTIVITY_EVERY_SET ||
            (a->node < s->node_count && s->nodes[a->node].set == ask->set));
}

static int activity_grouping_start(struct activity_grouping *g, struct snapshot *s,
                                   const struct activity_ask *ask) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        most += (uint32_t)asked_for(s, &s->activities[i], ask);
    }
    memset(g, 0, sizeof *g);
    g->s = s;
    g->rows = scratch_array(&s->memory, (size_t)most + 1, sizeof *g->rows);
    g->members = scratch_array(&s->memory, (size_t)most + 1, sizeof *g->members);
    g->next = scratch_array(&s->memory, (size_t)s->activity_count + 1, sizeof *g->next);
    g->sum = scratch_get(&s->memory, sizeof *g->sum);
    g->taken = scratch_get(&s->memory, sizeof *g->taken);
    g->read = scratch_get(&s->memory, sizeof *g->read);
    hash_map_start(&g->row_of, &s->memory, most);
    return scratch_failed(&s->memory) ? -1 : 0;
}

int activity_table(struct activity_table *out, struct snapshot *s, const struct activity_ask *ask) {
    struct activity_grouping g;
    memset(out, 0, sizeof *out);
    if (activity_grouping_start(&g, s, ask)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (asked_for(s, a, ask)) {
            uint32_t row = row_of(&g, a, ask->by);
            activity_sum_add(&g.rows[row].sum, a);
            g.next[i] = g.members[row];
            g.members[row] = i + 1;
            out->total += a->total;
        }
    }
    out->count = g.count;
    out->rows = g.rows;
    out->row = scratch_array(&s->memory, g.count, sizeof(struct activity_row *));
    out->order = scratch_array(&s->memory, g.count, sizeof *out->order);
    out->spare = scratch_array(&s->memory, g.count, sizeof *out->spare);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < g.count; ++i) {
        activity_row_finish(&g, &g.rows[i], out->total);
    }
    activity_table_sort(out, ACTIVITY_SORT_TOTAL);
    return 0;
}

/* ---- The order. */

static u128 value_of(const struct activity_row *r, enum activity_sort by) {
    const u128 values[] = {
        [ACTIVITY_SORT_TOTAL] = r->sum.total, [ACTIVITY_SORT_CALLS] = r->sum.count,
        [ACTIVITY_SORT_AVG] = r->avg,         [ACTIVITY_SORT_MIN] = r->sum.min,
        [ACTIVITY_SORT_MAX] = r->sum.max,     [ACTIVITY_SORT_BYTES] = r->sum.bytes};
    return values[by];
}

/* No two rows are equal in all of it, so that the order is the same in every run. */
static int activity_row_before(const struct activity_row *a, const struct activity_row *b,
                               enum activity_sort by) {
    const struct snapshot_activity *x = &a->sum.of, *y = &b->sum.of;
    u128 va = value_of(a, by), vb = value_of(b, by);
    if (va != vb) {
        return va > vb;
    }
    int order = name_compare(x->name, x->name_length, y->name, y->name_length);
    const uint32_t keys[][2] = {{x->kind, y->kind},     {x->detail, y->detail},
                                {y->device, x->device}, {x->context, y->context},
                                {x->stream, y->stream}, {x->node, y->node}};
    for (size_t i = 0; !order && i < sizeof keys / sizeof *keys; ++i) {
        order = (keys[i][0] > keys[i][1]) - (keys[i][0] < keys[i][1]);
    }
    return order < 0;
}

struct sorting {
    const struct activity_row *rows;
    enum activity_sort by;
};

static int is_row_before(const void *what, uint32_t a, uint32_t b) {
    const struct sorting *s = what;
    return activity_row_before(&s->rows[a], &s->rows[b], s->by);
}

void activity_table_sort(struct activity_table *t, enum activity_sort by) {
    const struct sorting s = {t->rows, by};
    const uint32_t *order = order_in(t->order, t->spare, t->count, is_row_before, &s);
    for (uint32_t i = 0; i < t->count; ++i) {
        t->row[i] = &t->rows[order[i]];
    }
}
