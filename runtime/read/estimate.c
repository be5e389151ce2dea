/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of a sampled node the calls come in blocks, and of each block of w calls one, drawn at random, is
 * timed: it took x and represents all w. So
 *
 *   mean  m = sum(w x) / sum(w)
 *   total T = n m, of all n calls
 *   variance of T = (n / sum(w))^2 k / (k - 1) sum(w (w - 1) (x - m)^2), for k timed calls
 *
 * With the same w for all, this is the textbook formula of a sample without replacement. One call of
 * every block is spread more evenly than k calls of all n are: the error is that or smaller. The
 * calls that were timed for another reason, as the first ones, are added as they are.
 *
 * The own time of a node with such children is its total without theirs. It does not matter in which
 * of its calls they were timed.
 */
#include "estimate.h"

#include <string.h>

#include "base/arithmetic.h"

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
    for (int i = 0; i < 3; ++i) {
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
    for (int i = 0; i < 3; ++i) {
        out->error[i] = double_max(out->error[i] - then->error[i], 0);
    }
}

/* The sum and variance of the node's calls that were drawn or left out. */
struct part {
    double total;
    double variance;
};

static struct part part_of_blocks(const struct snapshot_sampled *from) {
    struct part out;
    double k = (double)from->timed, n = k + (double)from->untimed;
    double mean = (double)from->weighted / (double)from->calls;
    double scale = n / (double)from->calls;
    const double *e = from->error;
    double spread = double_max(e[2] - 2 * mean * e[1] + mean * mean * e[0], 0);
    out.total = mean * n;
    out.variance = scale * scale * spread * k / (k - 1);
    return out;
}

/* With less than two drawn calls, the mean of all timed ones, which is off by their range at
 * most. */
static struct part part_of_few(const struct snapshot_node *n) {
    struct part out;
    double untimed = (double)n->sampled.untimed;
    double range = (double)saturating_subtract(n->max, n->min) * untimed;
    out.total = (double)n->sampled.total + (double)n->total / (double)n->count * untimed;
    out.variance = range * range;
    return out;
}

static void node_estimate(struct snapshot_node *n) {
    const struct snapshot_sampled *from = &n->sampled;
    struct part part;
    n->calls = saturating_add(n->count, from->untimed);
    n->scaled = n->total;
    n->variance = 0;
    n->saturated = 0;
    if (!from->untimed || !n->count) {
        return;
    }
    if (from->timed >= 2 && from->calls >= from->timed) {
        part = part_of_blocks(from);
    } else {
        part = part_of_few(n);
    }
    n->scaled =
        saturating_add(saturating_subtract(n->total, from->total), snapshot_whole(part.total));
    n->variance = part.variance;
    n->saturated = from->weighted == UINT64_MAX || n->scaled >= UINT64_MAX - 1;
}

void estimate_nodes(struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        struct snapshot_node *n = &s->nodes[i];
        node_estimate(n);
        n->inside = 0;
        n->splits = 0;
        n->own_variance = n->variance;
        n->estimated = n->sampled.untimed != 0;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent == SNAPSHOT_NONE || n->kind != STINT_IMPL_SCOPE_NODE) {
            continue;
        }
        struct snapshot_node *around = &s->nodes[n->parent];
        around->inside = saturating_add(around->inside, n->scaled);
        around->splits += n->count;
        around->own_variance += n->variance;
        around->estimated |= n->sampled.untimed != 0;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        struct snapshot_node *n = &s->nodes[i];
        n->own = saturating_subtract(n->scaled, n->estimated ? n->inside : n->nested);
        if (!n->estimated) {
            n->own_variance = 0;
        }
    }
}
