/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up scopes of which not every call was timed (STINT_SAMPLE; the formulas are in
 * read/estimate.c and uncertainty.c). The total of the sum is the sum of the totals, and the
 * moments of its error are the sums of those of the runs' errors. While runs are added the moments
 * themselves are in the record; at the end it gets the sums from which a reader computes them:
 * `calls` is the number of all calls, which makes the reader's scale 1, and `weighted` is the sum
 * of the totals. Records are in a list until then.
 */
#include <string.h>

#include "base/arithmetic.h"
#include "merge.h"
#include "read/deviation.h"

/* The places of the moments in the record. */
enum { VARIANCE, SQUARES, CUBES };

#define FLOOR_TIMES 7   /* as in read/uncertainty.c */
#define SMALL_PART 1e-6 /* of the calls: then what no call showed is as little as can be */

static void add_moment(struct stint_impl_sampled *to, int which, double more) {
    double sum = double_of_bits(to->error[which]) + more;
    memcpy(&to->error[which], &sum, sizeof sum);
}

static struct stint_impl_sampled *add_record(struct merge *m, struct stint_impl_node *node) {
    if (node->gpu) {
        return merge_file_at(&m->file, node->gpu);
    }
    node->gpu = merge_file_get(&m->file, sizeof(struct stint_impl_sampled));
    if (!node->gpu) {
        return NULL;
    }
    struct stint_impl_sampled *to = merge_file_at(&m->file, node->gpu);
    to->node = m->sum.sampled;
    m->sum.sampled = node->gpu;
    return to;
}

int merge_sampled_add(struct merge *m, const struct merge_map *map, struct stint_impl_node *node,
                      const struct snapshot_node *n) {
    const struct snapshot_sampled *from = &n->extra->sampled;
    const struct uncertainty *error = &n->extra->uncertain;
    double rate = map->rate, squared = rate * rate;
    struct stint_impl_sampled *to = add_record(m, node);
    if (!to) {
        return -1;
    }
    uint64_t drawn = saturating_add(from->total, saturating_subtract(n->scaled, n->total));
    to->untimed = saturating_add(to->untimed, from->untimed);
    to->timed = saturating_add(to->timed, from->timed);
    to->total = saturating_add(to->total, merge_length(map, from->total));
    to->calls = saturating_add(to->calls, saturating_add(from->timed, from->untimed));
    to->weighted = saturating_add(to->weighted, merge_length(map, drawn));
    add_moment(to, VARIANCE, error->variance * squared);
    add_moment(to, SQUARES, error->squares * squared * squared);
    add_moment(to, CUBES, error->cubes * squared * rate);
    return 0;
}

/* Sets the sums so that a reader gets these moments. */
static void store_moments(struct stint_impl_sampled *to, double variance, double squares,
                          double cubes) {
    double e[STINT_IMPL_ERROR_SUMS] = {0};
    double calls = (double)to->calls, timed = (double)to->timed;
    double mean = (double)to->weighted / calls, v = calls * SMALL_PART;
    double looks = calls * calls / (v + calls);
    double unseen = double_square(FLOOR_TIMES * mean * (double)to->untimed / looks);
    double seen = double_max(variance - unseen, 0);
    double samples = double_square(variance) / squares;
    double spread = seen * (timed - 1) / (timed * v), third = 0;
    if (seen > 0) {
        third = cubes / (seen * deviation_root(seen / samples)) * spread * deviation_root(spread);
    }
    e[0] = v;
    e[1] = mean * v;
    e[2] = v * (spread + mean * mean);
    e[3] = v * (third + mean * mean * mean) + 3 * mean * e[2] - 3 * mean * mean * e[1];
    e[4] = v * v / samples;
    memcpy(to->error, e, sizeof e);
}

void merge_sampled_finish(struct merge *m) {
    uint32_t unit = m->sum.sampled;
    while (unit) {
        struct stint_impl_sampled *to = merge_file_at(&m->file, unit);
        double variance = double_of_bits(to->error[VARIANCE]);
        double squares = double_of_bits(to->error[SQUARES]);
        double cubes = double_of_bits(to->error[CUBES]);
        unit = to->node;
        to->node = 0;
        memset(to->error, 0, sizeof to->error);
        if (to->timed >= 2 && to->untimed && squares > 0) {
            store_moments(to, variance, squares, cubes);
        }
    }
}
