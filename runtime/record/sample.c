/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the calls that are timed with STINT_SAMPLE, and keeps the sums that totals and their
 * errors are computed from. Called by the recorder on the owner's thread and by its signal
 * handlers.
 *
 * Calls are divided into blocks of N, and of each block one, drawn at random, is timed: so whatever
 * pattern calls have, each is timed with the same probability, and no part of the run is left out.
 * The inline path counts down to the timed call; a timed call always ends on the slow path
 * (node_add_sample leaves `span` 0), which draws the next one here. A call that was timed while
 * others were to come first, as one begun with an earlier start, represents itself alone and is in
 * no sum.
 *
 * With STINT_SAMPLE=auto:SHARE% each node has an N of its own, which changes from block to block,
 * so that the timed calls of a thread's sampled nodes cost at most that share of the time since the
 * first of them was sampled. Nodes that are called rarely are timed each time. Those that are
 * called so often that this costs more than an equal part of the share get that part each. N is at
 * most a 32nd of the calls so far, so that no single call represents much of a total. It is chosen
 * before the block's first call and so does not depend on how long the block's calls take: the
 * estimate of each block is without bias, whatever N was before.
 */
#include "sample.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/config.h"
#include "node.h"
#include "tree.h"

static struct stint_impl_sampled *sampled_at(const struct thread_block *b, uint32_t unit) {
    return stint_impl_sampled_at(b->hot.base, unit);
}

/* xorshift32 and a product: a number below `limit`. */
static uint32_t draw_below(struct stint_impl_sampled *s, uint32_t limit) {
    uint32_t x = s->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    s->random = x;
    return (uint32_t)(((x * 0x2545f4914f6cdd1du >> 32) * limit) >> 32);
}

/* ---- auto: the cost of timed calls, and N. */

#define WEIGHT_MAX ((uint64_t)1 << 20)
#define BLOCKS_LEAST 32 /* of a node's calls so far, each as long as the next one at most */

static uint64_t (*cost_measure_calls)(void);
static int cost_asked;      /* by the thread that measures, relaxed */
static uint64_t cost_x1000; /* ticks of a timed call, 0 = not known yet; relaxed */

void sample_set_cost(uint64_t (*measure)(void)) {
    cost_measure_calls = measure;
}

/* Once in the process. The measurement times calls, too. */
static void cost_ask(void) {
    if (cost_measure_calls && !__atomic_exchange_n(&cost_asked, 1, __ATOMIC_RELAXED)) {
        STINT_IMPL_STORE(&cost_x1000, cost_measure_calls());
    }
}

/* N of the next block. What all the node's calls since it is sampled would have cost says how many
 * of the next ones can be timed; what was spent corrects that where calls come faster or slower
 * now. */
static uint32_t weight_choose(const struct thread_sampling *all, const struct stint_impl_sampled *s,
                              uint64_t now) {
    uint64_t weight = s->weight, calls = s->timed + s->untimed, wanted = WEIGHT_MAX;
    double cost = (double)STINT_IMPL_LOAD(&cost_x1000) / 1000;
    double budget = config.sample.share * (double)saturating_subtract(now, all->from);
    double spent = cost * (double)all->timed, mine = cost * (double)s->timed;
    double part = budget / (all->thinned + (weight < 2));
    if (!(cost > 0)) {
        return 1;
    }
    if (cost * (double)calls < part * (double)WEIGHT_MAX) {
        wanted = (uint64_t)(cost * (double)calls / part) + 1;
    }
    if (spent > budget && mine * all->nodes > budget) {
        /* Little by little: calls of very unequal weights say less. */
        wanted = u64_max(wanted, weight + weight / 4 + 1);
    }
    if (spent < budget && mine < part / 2) {
        wanted = u64_min(wanted, weight / 2);
    }
    wanted = u64_min(wanted, u64_min(calls / BLOCKS_LEAST, WEIGHT_MAX));
    return (uint32_t)u64_max(wanted, 1);
}

/* ---- Blocks. */

/* `weight` calls, after those that are left of the block before. */
static void block_start(struct stint_impl_sampled *s, uint32_t weight) {
    uint32_t before = draw_below(s, weight);
    uint32_t left = s->rest + before;
    s->weight = weight;
    s->rest = weight - 1 - before;
    STINT_IMPL_STORE(&s->left, left);
}

/* The block after the one whose drawn call ended at `now`. */
static void block_next(struct thread_block *b, struct stint_impl_sampled *s, uint64_t now) {
    struct thread_sampling *all = &b->sampling;
    uint32_t weight = (uint32_t)config.sample.every;
    if (config.sample.share > 0) {
        if (!all->from) {
            all->from = now;
        }
        ++all->timed;
        weight = weight_choose(all, s, now);
        all->thinned -= s->weight > 1;
        all->thinned += weight > 1;
    }
    block_start(s, weight);
}

static void add_double(uint64_t *bits, double more) {
    uint64_t is = STINT_IMPL_LOAD(bits);
    double sum;
    memcpy(&sum, &is, sizeof sum);
    sum += more;
    memcpy(&is, &sum, sizeof is);
    STINT_IMPL_PUBLISH(bits, is);
}

static void sums_add(struct stint_impl_sampled *s, uint64_t ticks) {
    uint64_t weight = s->weight;
    double others = (double)weight * (double)(weight - 1), x = (double)ticks;
    const double more[STINT_IMPL_ERROR_SUMS] = {others, others * x, others * x * x,
                                                others * x * x * x, others * others};
    STINT_IMPL_PUBLISH(&s->timed, s->timed + 1);
    STINT_IMPL_PUBLISH(&s->total, s->total + ticks);
    STINT_IMPL_PUBLISH(&s->calls, s->calls + weight);
    STINT_IMPL_PUBLISH(&s->weighted,
                       saturating_add(s->weighted, saturating_multiply(weight, ticks)));
    for (int i = 0; i < STINT_IMPL_ERROR_SUMS; ++i) {
        add_double(&s->error[i], more[i]);
    }
}

/* The same in every run of a program, and another one for each node and thread. */
static uint32_t random_start(const struct thread_block *b, const struct stint_impl_node *n) {
    uint64_t place = (uint64_t)n->site << 32 | tree_node(b, n->parent)->site;
    uint64_t mixed = (place ^ (uint64_t)b->record->ordinal << 20) * 0x2545f4914f6cdd1du;
    return (uint32_t)(mixed >> 32) | 1;
}

/* The sums of the node, which has no GPU time. -1 without memory. The flag comes first: a reader
 * takes the unit for that of sums only with it. */
static int sums_give(struct thread_block *b, struct stint_impl_node *n) {
    uint32_t unit = arena_get(sizeof(struct stint_impl_sampled), ARENA_RECORD);
    if (!unit) {
        return -1;
    }
    struct stint_impl_sampled *s = sampled_at(b, unit);
    s->random = random_start(b, n);
    s->start = stint_impl_start_untimed(unit).word;
    s->node = (uint32_t)((size_t)((char *)n - b->hot.base) / STINT_IMPL_UNIT);
    s->parent = n->parent;
    s->key = stint_impl_scope_key(n->set, n->site);
    if (config.sample.share > 0) {
        cost_ask();
        ++b->sampling.nodes;
        block_start(s, 1);
    } else {
        block_start(s, (uint32_t)config.sample.every);
    }
    __atomic_fetch_or(&n->kind, STINT_IMPL_SAMPLED, __ATOMIC_RELEASE);
    STINT_IMPL_PUBLISH(&n->gpu, unit);
    return 0;
}

static int call_is_exact(const struct stint_impl_call *call) {
    return call && (call->info || call->threshold_us >= 0);
}

/* Work that another scope sent is found by no edge, so never inline, and always timed. */
static int node_is_sampled_at_all(const struct stint_impl_node *n) {
    uint32_t kind = STINT_IMPL_LOAD(&n->kind);
    return sample_is_on() && !(kind & (STINT_IMPL_EXACT | STINT_IMPL_SAMPLED | STINT_IMPL_SENT));
}

void sample_check(struct thread_block *b, struct stint_impl_node *n,
                  const struct stint_impl_call *call) {
    if (stint_impl_sampled_of(n) && call_is_exact(call)) {
        sample_never(n);
    }
    if (!node_is_sampled_at_all(n)) {
        return;
    }
    if (call_is_exact(call) || STINT_IMPL_LOAD(&n->gpu) || node_is_watched(b, n)) {
        sample_never(n);
        return;
    }
    if (STINT_IMPL_LOAD(&n->seq) < 2 * SAMPLE_FIRST_CALLS) {
        /* So that the next call, too, ends on the slow path and comes here. */
        STINT_IMPL_PUBLISH(&n->span, 0);
        return;
    }
    if (config.percentiles && !STINT_IMPL_LOAD(&n->histogram)) {
        return; /* no memory: a span of 0 would look for some again */
    }
    if (sums_give(b, n)) {
        sample_never(n);
        return;
    }
    tree_forget_near(b, n); /* found by its edge alone */
    STINT_IMPL_PUBLISH(&n->span, 0);
}

int sample_add(struct thread_block *b, struct stint_impl_node *n, uint64_t start, uint64_t ticks) {
    uint32_t unit = stint_impl_sampled_of(n);
    if (!unit) {
        return 0;
    }
    struct stint_impl_sampled *s = sampled_at(b, unit);
    tree_forget_near(b, n); /* a signal handler may have started it while begin put it there */
    if (!STINT_IMPL_LOAD(&s->left)) {
        sums_add(s, ticks);
        block_next(b, s, start + ticks);
    }
    return 1;
}

uint64_t sample_weight(const struct thread_block *b, const struct stint_impl_node *n) {
    uint32_t unit = stint_impl_sampled_of(n);
    if (!unit || STINT_IMPL_LOAD(&sampled_at(b, unit)->left)) {
        return 1;
    }
    return sampled_at(b, unit)->weight;
}

/* The thread's other nodes get the part of one that was sampled and is not any more. A signal
 * handler that does this while its thread counts may be undone: the part then stays unused. */
static void share_leave(const struct stint_impl_sampled *s) {
    struct thread_block *b = thread_block_here();
    if (!b || !(config.sample.share > 0)) {
        return;
    }
    struct thread_sampling *all = &b->sampling;
    all->nodes = (uint32_t)saturating_subtract(all->nodes, 1);
    all->thinned = (uint32_t)saturating_subtract(all->thinned, s->weight > 1);
}

void sample_never(struct stint_impl_node *n) {
    if (sample_is_on() && !(STINT_IMPL_LOAD(&n->kind) & STINT_IMPL_EXACT)) {
        uint32_t unit = stint_impl_sampled_of(n);
        __atomic_fetch_or(&n->kind, STINT_IMPL_EXACT, __ATOMIC_RELAXED);
        if (unit) {
            struct stint_impl_sampled *s = arena_at(unit);
            STINT_IMPL_STORE(&s->key, 0); /* the inline path does not find them any more */
            share_leave(s);
        }
    }
}

void sample_count_untimed(const struct thread_block *b, struct stint_impl_start start) {
    struct stint_impl_sampled *s = sampled_at(b, stint_impl_start_sampled(start));
    STINT_IMPL_STORE(&s->untimed, STINT_IMPL_LOAD(&s->untimed) + 1);
}
