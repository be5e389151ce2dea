/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a node: count, total, minimum, maximum, info, and where percentiles come from. The
 * first samples are kept in the node itself: their percentiles are exact, and most nodes of a large
 * program never need the 2880 bytes of a histogram. Called by the recorder on the owner's thread
 * and by its signal handlers, which may interrupt each function here. Readers of the run file see
 * a node at any time, by its seq.
 */
#include "node.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/histogram.h"
#include "base/utf8.h"
#include "measured.h"
#include "system/config.h"
#include "tree.h"
#include "watch.h"

uint32_t node_raw_samples = STINT_IMPL_RAW;

/* ---- Where percentiles come from. */

/* Also of an interval, whose sample a signal handler may interrupt for another one. 0 if there is
 * no room, or not for so long a sample. */
static int raw_keep(struct stint_impl_node *n, uint64_t ticks) {
    if (ticks >= STINT_IMPL_RAW_COUNTED - 1) {
        return 0;
    }
    for (uint32_t i = 0; i < node_raw_samples; ++i) {
        uint32_t is = STINT_IMPL_LOAD(&n->raw[i]);
        if (!is && __atomic_compare_exchange_n(&n->raw[i], &is, (uint32_t)ticks + 1, 0,
                                               __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
            return 1;
        }
    }
    return 0;
}

/* Counts the samples that the node has kept. First each is marked, so that a reader, which adds
 * those without a mark, has none twice. */
static void raw_count(char *base, struct stint_impl_node *n, uint32_t histogram) {
    for (uint32_t i = 0; i < STINT_IMPL_RAW && STINT_IMPL_LOAD(&n->raw[i]); ++i) {
        uint32_t is = __atomic_fetch_or(&n->raw[i], STINT_IMPL_RAW_COUNTED, __ATOMIC_RELEASE);
        if (!(is & STINT_IMPL_RAW_COUNTED)) {
            histogram_add(base, histogram, is - 1);
        }
    }
}

/* Without memory the node has no histogram for good, which is counted once: its next span is not
 * 0. */
static void histogram_give(struct thread_block *b, struct stint_impl_node *n) {
    uint32_t unit = tree_get_histogram(b, n);
    if (!unit) {
        thread_lose(b, STINT_STATUS_NO_HISTOGRAM);
        return;
    }
    STINT_IMPL_PUBLISH(&n->histogram, unit);
    raw_count(b->hot.base, n, unit);
}

/* Where a sample is for percentiles: in the node itself, whose span is 0 as long as it keeps its
 * samples, or in the histogram, which counts it if there is one. */
enum sample_place { SAMPLE_KEPT, SAMPLE_COUNTED };

static enum sample_place sample_store(struct thread_block *b, struct stint_impl_node *n,
                                      uint64_t ticks) {
    int is_new = !STINT_IMPL_LOAD(&n->histogram) && !STINT_IMPL_LOAD(&n->span);
    if (is_new && config.percentiles) {
        if (raw_keep(n, ticks)) {
            return SAMPLE_KEPT;
        }
        histogram_give(b, n);
    }
    histogram_add(b->hot.base, STINT_IMPL_LOAD(&n->histogram), ticks);
    return SAMPLE_COUNTED;
}

/* ---- One sample. */

static void info_keep(struct stint_impl_node *n, const char *info) {
    size_t length = 0;
    if (info) {
        length = utf8_cut(info, strnlen(info, STINT_IMPL_INFO), STINT_IMPL_INFO - 1);
    }
    for (size_t i = 0; i < STINT_IMPL_INFO; ++i) {
        char byte = '\0';
        if (i < length) {
            byte = info[i];
        }
        __atomic_store_n(&n->info[i], byte, __ATOMIC_RELEASE);
    }
}

/* Whether a capture waits for a slow call of the site. 0: a recorder that is not the arena's. */
static uint8_t node_mark(const struct thread_block *b, const struct stint_impl_node *n) {
    uint32_t site = STINT_IMPL_LOAD(&n->site);
    if (!site) {
        return 0;
    }
    return STINT_IMPL_LOAD(&arena_site_in(b->hot.base, site)->watched);
}

/* So that a sample over the maximum or the limit of a capture takes the slow path. */
static uint64_t span_between(uint64_t min, uint64_t max, uint8_t mark) {
    uint64_t limit = u64_min(max, STINT_IMPL_SLOW_TICKS - 1) + 1;
    limit = u64_min(limit, watch_limit(mark));
    return saturating_subtract(limit, min);
}

void node_add_sample(struct thread_block *b, struct stint_impl_node *n, uint64_t start,
                     uint64_t ticks, uint64_t nested, const char *info) {
    enum sample_place place = sample_store(b, n, ticks);
    uint64_t seq = STINT_IMPL_LOAD(&n->seq);
    uint8_t mark = node_mark(b, n);
    int is_first = seq < 2;
    seq |= 1; /* as inline */
    STINT_IMPL_STORE(&n->seq, seq);
    STINT_IMPL_PUBLISH(&n->total, n->total + ticks);
    STINT_IMPL_PUBLISH(&n->nested, n->nested + nested);
    if (ticks < n->min) {
        STINT_IMPL_PUBLISH(&n->min, ticks);
    }
    if (is_first) {
        STINT_IMPL_PUBLISH(&n->first, ticks);
        STINT_IMPL_PUBLISH(&n->first_at, start);
    }
    if (is_first || ticks > n->max) {
        STINT_IMPL_PUBLISH(&n->max, ticks);
        STINT_IMPL_PUBLISH(&n->max_at, start);
        info_keep(n, info);
    }
    if (place != SAMPLE_KEPT) {
        STINT_IMPL_PUBLISH(&n->span, span_between(n->min, n->max, mark));
    }
    STINT_IMPL_PUBLISH(&n->seq, seq + 1);
    watch_sample(mark, ticks);
}

static void value_lower(uint64_t *value, uint64_t to) {
    uint64_t is = STINT_IMPL_LOAD(value);
    while (to < is &&
           !__atomic_compare_exchange_n(value, &is, to, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

static int value_raise(uint64_t *value, uint64_t to) {
    uint64_t is = STINT_IMPL_LOAD(value);
    while (to > is) {
        if (__atomic_compare_exchange_n(value, &is, to, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
            return 1;
        }
    }
    return 0;
}

/* Each field changes in one step. seq is odd from the first of them on, and the one that completes
 * its sample makes it the next even number: one that was left in the middle does not count, and
 * leaves nothing wrong to the next. */
int node_add_interval(struct thread_block *b, struct stint_impl_node *n, uint64_t start,
                      uint64_t time, uint64_t ticks) {
    if (time > UINT64_MAX - STINT_IMPL_LOAD(&n->total)) {
        return -1;
    }
    if (sample_store(b, n, time) != SAMPLE_KEPT) {
        STINT_IMPL_STORE(&n->span, 1); /* keeps no more samples; nothing else looks at it */
    }
    uint64_t seq = __atomic_fetch_or(&n->seq, 1, __ATOMIC_RELAXED);
    int is_first = seq < 2;
    value_lower(&n->min, time);
    if (is_first) {
        STINT_IMPL_PUBLISH(&n->first, time);
        STINT_IMPL_PUBLISH(&n->first_at, start);
    }
    if (value_raise(&n->max, time) || is_first) {
        STINT_IMPL_PUBLISH(&n->max_at, start);
    }
    __atomic_fetch_add(&n->total, time, __ATOMIC_RELEASE);
    seq = STINT_IMPL_LOAD(&n->seq);
    while (!__atomic_compare_exchange_n(&n->seq, &seq, (seq | 1) + 1, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    watch_sample(node_mark(b, n), ticks);
    return 0;
}

/* ---- Own time of calls inside an open one of their node. */

/* The block of the group recursion, nearly always the node's first. NULL without memory. */
static inline __attribute__((always_inline)) struct arena_measures *
inner_block(struct thread_block *b, uint32_t node) {
    struct stint_impl_node *n = tree_node(b, node);
    uint32_t unit = STINT_IMPL_LOAD(&n->measures);
    struct arena_measures *first = (struct arena_measures *)(void *)tree_node(b, unit);
    if (unit && first->range.first == MEASURE_INNER_TICKS) {
        return first;
    }
    return measured_get(b, n, MEASURE_GROUP_RECURSION);
}

/* One instruction adds: a signal handler may come before or after it. */
int node_add_inner(struct thread_block *b, uint32_t node, uint64_t ticks) {
    struct arena_measures *to = inner_block(b, node);
    if (!to) {
        return -1;
    }
    stint_impl_owner_add(&to->value[0], ticks);
    return 0;
}
