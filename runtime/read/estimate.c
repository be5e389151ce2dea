/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a sampled node come in blocks. One call of each block of w calls, drawn at random,
 * is timed: it took x and represents all w. So
 *
 *   mean  m = sum(w x) / sum(w)
 *   total T = n m, of all n calls
 *   variance of T = (n / sum(w))^2 k / (k - 1) sum(v (x - m)^2)
 *
 * with v = w (w - 1), for k timed calls. With the same w for all, this is the textbook formula of
 * a sample without replacement. One call of every block is spread more evenly than k calls of all
 * n are: the error is that or smaller. The variance is known as well as from sum(v)^2 / sum(v^2)
 * calls, which is k where all w are the same. The calls that were timed for another reason, as the
 * first ones, are added as they are.
 *
 * The own time of a node with such children is its total without theirs. It does not matter in
 * which of its calls they were timed.
 */
#include "estimate.h"

#include <string.h>

#include "base/arithmetic.h"
#include "deviation.h"

#define ACQUIRE(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

void estimate_read(struct snapshot_sampled *out, const struct snapshot *s, uint32_t unit) {
    const struct stint_impl_sampled *from = snapshot_at(s, unit, sizeof *from);
    memset(out, 0, sizeof *out);
    if (!from) {
        return;
    }
    out->untimed = ACQUIRE(&from->untimed);
    out->timed = ACQUIRE(&from->timed);
    out->total = ACQUIRE(&from->total);
    out->calls = ACQUIRE(&from->calls);
    out->weighted = ACQUIRE(&from->weighted);
    for (int i = 0; i < STINT_IMPL_ERROR_SUMS; ++i) {
        out->error[i] = double_of_bits(ACQUIRE(&from->error[i]));
    }
}

void estimate_subtract(struct snapshot_sampled *out, const struct snapshot_sampled *then) {
    out->untimed -= then->untimed;
    out->timed -= then->timed;
    out->total -= then->total;
    out->calls -= then->calls;
    if (out->weighted != UINT64_MAX) {
        out->weighted -= then->weighted;
    }
    for (int i = 0; i < STINT_IMPL_ERROR_SUMS; ++i) {
        out->error[i] = double_max(out->error[i] - then->error[i], 0);
    }
}

/* The sum of the node's calls that were drawn or left out. */
struct part {
    double total;
    struct uncertainty uncertain;
};

#define SPREAD_LEAST 1e-9 /* of the squared mean: less is rounding */

static struct part part_of_blocks(const struct snapshot_sampled *from) {
    struct part out;
    double k = (double)from->timed, untimed = (double)from->untimed;
    double calls = (double)from->calls, mean = (double)from->weighted / calls;
    double squared = mean * mean, scale = (k + untimed) / calls;
    const double *e = from->error;
    double spread = double_max(e[2] - 2 * mean * e[1] + squared * e[0], 0) / e[0];
    double third = (e[3] - 3 * mean * e[2] + 3 * squared * e[1]) / e[0] - squared * mean;
    struct uncertain_sum sum;
    sum.samples = e[0] * e[0] / e[4];
    sum.looks = calls * calls / (e[0] + calls);
    sum.variance = scale * scale * e[0] * spread * k / (k - 1);
    sum.others = mean * untimed;
    sum.skewness = 0;
    if (spread > SPREAD_LEAST * squared) {
        sum.skewness = double_max(third, -third) / (spread * deviation_root(spread));
    }
    uncertainty_of(&out.uncertain, &sum);
    out.total = mean * (k + untimed);
    return out;
}

/* With too few drawn calls to see their spread, the mean of all timed ones. */
static struct part part_of_few(const struct snapshot_node *n) {
    struct part out;
    double others = (double)n->total / (double)n->count * (double)n->extra->sampled.untimed;
    const struct uncertain_sum sum = {.samples = 1, .looks = 1, .others = others};
    uncertainty_of(&out.uncertain, &sum);
    out.total = (double)n->extra->sampled.total + others;
    return out;
}

static void node_estimate(struct snapshot *s, uint32_t index) {
    struct snapshot_node *n = &s->nodes[index];
    const struct snapshot_sampled *from = &n->extra->sampled;
    static const struct uncertainty exactly;
    struct part part;
    n->calls = saturating_add(n->count, from->untimed);
    n->scaled = n->total;
    n->inside = 0;
    n->splits = 0;
    if (n->extra == &snapshot_no_extra) {
        return; /* all calls were timed */
    }
    struct snapshot_extra *more = snapshot_extra_of(s, index);
    more->uncertain = more->own_uncertain = exactly;
    more->saturated = 0;
    more->estimated = from->untimed != 0;
    if (!from->untimed || !n->count) {
        return;
    }
    if (from->timed >= 2 && from->calls >= from->timed && from->error[4] > 0) {
        part = part_of_blocks(from);
    } else {
        part = part_of_few(n);
    }
    n->scaled =
        saturating_add(saturating_subtract(n->total, from->total), snapshot_whole(part.total));
    more->uncertain = more->own_uncertain = part.uncertain;
    more->saturated = from->weighted == UINT64_MAX || n->scaled >= UINT64_MAX - 1;
}

/* Adds a time that may be below 0 to one sum or the other. */
static void add_signed(uint64_t *above, uint64_t *below, uint64_t ticks) {
    if (ticks > INT64_MAX) {
        *below = saturating_add(*below, -ticks);
    } else {
        *above = saturating_add(*above, ticks);
    }
}

/* The calls' time without nested scopes. The own time of a recursive call is in the time of the
 * scope around it, and belongs to the node that counts the call. */
static uint64_t own_of(const struct snapshot_node *n) {
    uint64_t with = n->scaled, without = n->nested;
    if (n->extra->estimated) {
        without = n->inside;
    }
    if (n->measures) {
        add_signed(&with, &without, n->measures->value[MEASURE_INNER_TICKS]);
    }
    if (n->measures && n->extra->estimated) {
        add_signed(&without, &with, n->measures->value[MEASURE_LENT_TICKS]);
    }
    return saturating_subtract(with, without);
}

void estimate_nodes(struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        node_estimate(s, i);
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent == SNAPSHOT_NONE || n->kind != STINT_IMPL_SCOPE_NODE) {
            continue;
        }
        struct snapshot_node *around = &s->nodes[n->parent];
        around->inside = saturating_add(around->inside, n->scaled);
        around->splits += n->count;
        if (n->extra->sampled.untimed) {
            struct snapshot_extra *more = snapshot_extra_of(s, n->parent);
            uncertainty_add(&more->own_uncertain, &n->extra->uncertain);
            more->estimated = 1;
        }
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        s->nodes[i].own = own_of(&s->nodes[i]);
    }
}
