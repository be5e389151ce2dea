/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the measurements the thread-local pointer points to a separate recorder, with an arena of its
 * own that holds one site, a root, one node and what belongs to it. A signal handler that opens a
 * scope during this finds this recorder busy; its scope is counted as lost.
 *
 * The scope that is measured contains some work, and what counts is how much longer the same work
 * takes with it than without it, as in a program: a processor overlaps reading the clock with the
 * work around it, so that empty scopes one after the other take up to twice as long. It is measured
 * with less work, too, for scopes whose recorded times show that there is not much between two
 * readings. What the other paths do between two readings is on the way to the next one, and is
 * measured without work.
 *
 * Both are the least that a call costs: one scope, whose records are in the nearest cache and whose
 * branches are predicted. The most that programs with timers in hundreds of functions were seen to
 * pay is a call of one of COLD_SCOPES scopes, drawn at random, with no work that it could overlap
 * with: its records are in the second cache, the branches are not predicted, and half of the scopes
 * are found by a search.
 *
 * Corrected times need to know where the cost is: what the scope has recorded is compared with the
 * time of the work alone, of little work, because it is short scopes that have to be corrected.
 */
#include "cost.h"

#include <stddef.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/scratch.h"
#include "dynamic.h"
#include "emit/emit.h"
#include "probe.h"
#include "recorder.h"
#include "registry.h"
#include "system/clock.h"
#include "system/config.h"
#include "thread.h"

/* A process of a few milliseconds pays for each of these: 54 000 instructions in all. With ten
 * times as many the medians of 200 processes differ by up to 8 %, that of the cold scopes by 16 %,
 * less than the quartiles of either. */
#define ROUNDS 5 /* the best of; see cost_rounds. The first one fills the caches */
#define PAIRS 7
#define PAIRS_COARSE 100 /* where the clock counts in steps that are longer than reading it */
#define READINGS 8       /* if two of them in a row may be equal, it does */
#define EVENTS 64        /* of the trace ring */
#define SITE 1u

/* The work in a scope: so many multiplications. Each waits for the one before it, and takes about
 * 0.25 ns. */
enum work {
    NO_WORK,
    SMALL_WORK = 16, /* of a short scope */
    DENSE_WORK = 30, /* where scopes follow each other closely */
    LONG_WORK = 51,
};

#define COLD_BITS 8
#define COLD_SCOPES (1u << COLD_BITS)
#define COLD_EDGE_BITS (COLD_BITS + 3)
#define COLD_CHUNKS (COLD_SCOPES / ARENA_SITES_PER_CHUNK + 1)

int cost_rounds = ROUNDS;

static const char run_time_name[] = "a name made at run time";

struct bench_arena {
    _Alignas(STINT_IMPL_UNIT) struct arena_header header;
    _Alignas(STINT_IMPL_UNIT) struct arena_site site;
    _Alignas(STINT_IMPL_UNIT) struct stint_impl_node root;
    _Alignas(STINT_IMPL_UNIT) struct stint_impl_node node;
    _Alignas(STINT_IMPL_UNIT) struct stint_impl_histogram histogram;
    _Alignas(STINT_IMPL_UNIT) struct stint_impl_ring ring;
    struct stint_impl_event events[EVENTS];
};

/* An arena with many scopes. Their histograms overlap: each begins a line after the one before, so
 * that equal durations are in different lines. */
struct cold_arena {
    _Alignas(STINT_IMPL_UNIT) struct arena_header header;
    _Alignas(STINT_IMPL_UNIT) struct arena_site chunk[ARENA_SITES_PER_CHUNK];
    _Alignas(STINT_IMPL_UNIT) struct stint_impl_node root;
    _Alignas(STINT_IMPL_UNIT) struct stint_impl_node node[COLD_SCOPES];
    _Alignas(STINT_IMPL_UNIT) char histograms[COLD_SCOPES * STINT_IMPL_UNIT];
    struct stint_impl_histogram last;
    struct stint_impl_edge edge[COLD_SCOPES];
    const struct stint_impl_edge *edges[1u << COLD_EDGE_BITS];
    struct stint_impl_site site[COLD_SCOPES];
};

#define COLD_UNIT_OF(member) ((uint32_t)(offsetof(struct cold_arena, member) / STINT_IMPL_UNIT))
#define NODE_UNITS ((uint32_t)(sizeof(struct stint_impl_node) / STINT_IMPL_UNIT))

#define UNIT_OF(member) ((uint32_t)(offsetof(struct bench_arena, member) / STINT_IMPL_UNIT))

struct bench {
    struct thread_block block;
    struct arena_thread record;
    struct stint_impl_frame frames[4];
    struct stint_impl_site site;
    struct stint_impl_edge edge;
    uint64_t random; /* what the work is done with */
    enum work work;
    uint64_t word;                /* of the name */
    void (*pair)(struct bench *); /* a call of the scope with the clock of this process */
    int tries_inline;             /* before the slow path */
    uint64_t reading;             /* ticks between two readings of the clock, at least */
    uint64_t pairs;               /* of a round */
    uint32_t draw;                /* the state of the generator that draws of the cold scopes */
    struct bench_arena arena;
    struct cold_arena cold; /* has no memory where it is not used */
};

/* ---- The recorder. */

static void bench_prepare(struct bench *b) {
    struct stint_impl_thread *t = &b->block.hot;
    t->gate = 1;
    t->base = (char *)&b->arena;
    t->top = b->frames;
    t->last = b->frames + 3;
    t->trace_min = UINT64_MAX;
    t->edges = b->block.first_edges;
    t->edge_shift = 64 - THREAD_EDGE_BITS;
    for (size_t i = 0; i < sizeof b->frames / sizeof *b->frames; ++i) {
        b->frames[i].node = UNIT_OF(root);
    }
    for (size_t i = 0; i < STINT_IMPL_NEAR; ++i) {
        t->nearby[i] = &thread_no_edge;
        t->again[i] = &thread_no_edge;
    }
    b->frames[0].low = UINT64_MAX;
    b->record.root = UNIT_OF(root);
    b->block.record = &b->record;
    b->block.frames = b->frames;
    b->block.links = b->block.first_links;
    b->block.link_mask = THREAD_LINKS - 1;
    b->block.busy = 1;
    b->random = 1;
    b->work = LONG_WORK;
    b->site.word = (uint64_t)1 << 32 | SITE;
    b->arena.header.site_chunk[0] = UNIT_OF(site);
    struct stint_impl_node *n = &b->arena.node;
    n->span = STINT_IMPL_SLOW_TICKS;
    n->site = SITE;
    n->parent = UNIT_OF(root);
    if (config.percentiles) {
        n->histogram = UNIT_OF(histogram);
    }
    uint64_t key = stint_impl_edge_key(UNIT_OF(root), 0, SITE);
    b->edge.key = stint_impl_scope_key(0, SITE);
    b->edge.parent = UNIT_OF(root);
    b->edge.node = UNIT_OF(node);
    t->edges[stint_impl_edge_slot(key, t->edge_shift)] = &b->edge;
    if (config.trace.bytes && !config.trace_min_ns) {
        b->arena.ring.mask = EVENTS - 1;
        t->ring = &b->arena.ring;
        t->trace_min = 0;
    }
}

/* Puts the edge where it is looked for. 0, or -1 if all places are taken. */
static int cold_link(struct bench *b, struct stint_impl_edge *edge, uint32_t unit, uint32_t id) {
    struct stint_impl_thread *t = &b->block.hot;
    edge->key = stint_impl_scope_key(0, id);
    edge->parent = COLD_UNIT_OF(root);
    edge->node = unit;
    uint64_t key = stint_impl_edge_key(COLD_UNIT_OF(root), 0, id);
    uint64_t slot = stint_impl_edge_slot(key, t->edge_shift);
    for (uint32_t i = 0; i < STINT_IMPL_EDGE_GROUP; ++i) {
        if (!t->edges[slot ^ i]) {
            t->edges[slot ^ i] = edge;
            return 0;
        }
    }
    return -1;
}

static void cold_put_scope(struct bench *b, uint32_t i) {
    struct stint_impl_node *n = &b->cold.node[i];
    uint32_t id = i + 1, unit = COLD_UNIT_OF(node) + i * NODE_UNITS;
    n->span = STINT_IMPL_SLOW_TICKS;
    n->site = id;
    n->parent = COLD_UNIT_OF(root);
    if (config.percentiles) {
        n->histogram = COLD_UNIT_OF(histograms) + i;
        b->cold.histograms[i * STINT_IMPL_UNIT] = 1; /* its page is there */
    }
    b->cold.site[i].word = (uint64_t)1 << 32 | id;
    if (cold_link(b, &b->cold.edge[i], unit, id)) {
        b->cold.site[i].word = b->cold.site[0].word;
    }
}

/* The recorder is one of the scopes of that arena from then on. */
static void cold_prepare(struct bench *b) {
    struct stint_impl_thread *t = &b->block.hot;
    for (size_t i = 0; i < sizeof b->frames / sizeof *b->frames; ++i) {
        b->frames[i].node = COLD_UNIT_OF(root);
        b->frames[i].pending = 0;
    }
    for (size_t i = 0; i < COLD_CHUNKS; ++i) {
        b->cold.header.site_chunk[i] = COLD_UNIT_OF(chunk);
    }
    t->base = (char *)&b->cold;
    t->edges = b->cold.edges;
    t->edge_shift = 64 - COLD_EDGE_BITS;
    b->record.root = COLD_UNIT_OF(root);
    for (uint32_t i = 0; i < COLD_SCOPES; ++i) {
        cold_put_scope(b, i);
    }
    for (size_t i = 0; i < STINT_IMPL_NEAR; ++i) {
        t->nearby[i] = &thread_no_edge; /* edges that were used last are tried first */
    }
}

/* ---- What is measured. */

#define WORK_STEP                                                                                  \
    x *= 3;                                                                                        \
    __asm__ volatile("" : "+r"(x));
#define WORK_5_STEPS WORK_STEP WORK_STEP WORK_STEP WORK_STEP WORK_STEP

/* Without a loop: its time would depend on where it lies and on how well its end is predicted. */
static inline __attribute__((always_inline)) void work_do(struct bench *b) {
    uint64_t x = b->random;
    if (b->work >= SMALL_WORK) {
        WORK_5_STEPS WORK_5_STEPS WORK_5_STEPS WORK_STEP
    }
    if (b->work >= DENSE_WORK) {
        WORK_5_STEPS WORK_5_STEPS WORK_STEP WORK_STEP WORK_STEP WORK_STEP
    }
    if (b->work >= LONG_WORK) {
        WORK_5_STEPS WORK_5_STEPS WORK_5_STEPS WORK_5_STEPS WORK_STEP
    }
    b->random = x;
}

static void pair_of_work(struct bench *b) {
    work_do(b);
}

static void pair_inline(struct bench *b) {
    stint_impl_opened guard;
    guard = stint_impl_begin_body(&guard, &b->site, 0);
    work_do(b);
    stint_impl_end_body(&guard, 0);
}

/* With a clock that is not the inline one. */
static void pair_slow(struct bench *b) {
    stint_impl_opened guard;
    uint64_t me = (uint64_t)(uintptr_t)&guard;
    if (!b->tries_inline || !stint_impl_open_body(&b->block.hot, me, 0, SITE)) {
        recorder_begin_known_sent(&b->block, me, SITE, 0);
    }
    work_do(b);
    stint_impl_end_body(&guard, 0);
}

static inline __attribute__((always_inline)) struct stint_impl_site *cold_draw(struct bench *b) {
    b->draw = b->draw * 1664525u + 1013904223u; /* Numerical Recipes' */
    return &b->cold.site[b->draw >> (32 - COLD_BITS)];
}

/* With the calls that a site makes. */
static void pair_cold(struct bench *b) {
    stint_impl_opened guard;
    guard = stint_impl_begin(&guard, cold_draw(b), 0);
    stint_impl_end(&guard);
}

static void pair_of_draws(struct bench *b) {
    b->word = (uint64_t)(uintptr_t)cold_draw(b);
}

/* Each waits for the one before it, as the scope for its name. */
static void pair_of_names(struct bench *b) {
    size_t same = (size_t)(b->word & 1);
    b->word = dynamic_look_up(&b->block, &run_time_name[same], sizeof run_time_name - 1);
}

/* Reads it when all that came before has been executed. A processor executes hundreds of
 * instructions at a time: it would read the clock before most of the work of a short round. */
static uint64_t read_clock_after(void) {
#if defined(__x86_64__)
    __asm__ volatile("lfence" : : : "memory");
#else
    __asm__ volatile("isb" : : : "memory");
#endif
    return clock_ticks();
}

static void bench_read_clock(struct bench *b) {
    b->reading = UINT64_MAX;
    for (int i = 0; i < READINGS; ++i) {
        uint64_t from = read_clock_after();
        b->reading = u64_min(b->reading, read_clock_after() - from);
    }
    b->pairs = b->reading ? PAIRS : PAIRS_COARSE;
}

/* Ticks of a round of calls. */
static uint64_t bench_round(struct bench *b, void (*pair)(struct bench *)) {
    uint64_t from = read_clock_after();
    for (uint64_t i = 0; i < b->pairs; ++i) {
        pair(b);
    }
    return saturating_subtract(read_clock_after() - from, b->reading);
}

/* Ticks of a call, times 1000; of the best round. */
static uint64_t bench_time(struct bench *b, void (*pair)(struct bench *)) {
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < cost_rounds; ++round) {
        best = u64_min(best, bench_round(b, pair));
    }
    return best * 1000 / b->pairs;
}

/* The two parts of a call of a short scope, by the rounds that were not disturbed: the clock may
 * count in steps as large as the parts, so that a single round says little. Returns what such a
 * call records. */
static uint64_t bench_parts(struct bench *b, void (*pair)(struct bench *), uint64_t *inner,
                            uint64_t *outer) {
    uint64_t ticks[ROUNDS], recorded[ROUNDS], best = UINT64_MAX;
    uint64_t all = 0, inside = 0, rounds = 0;
    b->work = SMALL_WORK;
    for (int i = 0; i < cost_rounds; ++i) {
        uint64_t before = b->arena.node.total;
        ticks[i] = bench_round(b, pair);
        recorded[i] = b->arena.node.total - before;
        best = u64_min(best, ticks[i]);
    }
    for (int i = 0; i < cost_rounds; ++i) {
        if (ticks[i] - best <= best / 8) {
            all += ticks[i];
            inside += recorded[i];
            ++rounds;
        }
    }
    uint64_t mean = inside * 1000 / (rounds * b->pairs);
    *outer = saturating_subtract(all, inside) * 1000 / (rounds * b->pairs);
    b->pairs *= 2; /* of little work: a round is long beside the steps of the clock */
    *inner = saturating_subtract(mean, bench_time(b, pair_of_work));
    b->pairs /= 2;
    b->work = NO_WORK;
    return mean;
}

/* Returns the time that a call adds to its work, in ticks times 1000. Work with and without the
 * call is measured in turn. So a processor that changes its speed, or is shared, changes both. */
static uint64_t bench_cost(struct bench *b, void (*pair)(struct bench *)) {
    uint64_t with = UINT64_MAX, without = UINT64_MAX;
    for (int round = 0; round < cost_rounds; ++round) {
        with = u64_min(with, bench_round(b, pair));
        without = u64_min(without, bench_round(b, pair_of_work));
    }
    return saturating_subtract(with, without) * 1000 / b->pairs;
}

static uint64_t cost_of_recursion(struct bench *b) {
    stint_impl_opened outer[2];
    recorder_begin_known_sent(&b->block, (uint64_t)(uintptr_t)&outer[1], SITE, 0);
    uint64_t cost = bench_cost(b, b->pair);
    recorder_end((uint64_t)(uintptr_t)&outer[1], outer[1], 0, NULL);
    return cost;
}

static uint64_t cost_of_a_name(struct bench *b) {
    dynamic_keep(&b->block, run_time_name, sizeof run_time_name - 1);
    return bench_cost(b, pair_of_names);
}

/* The mean of the rounds that were not disturbed: each calls other scopes. */
static uint64_t cost_of_cold(struct bench *b) {
    uint64_t ticks[ROUNDS], best = UINT64_MAX, without = UINT64_MAX, all = 0, rounds = 0;
    for (int i = 0; i < cost_rounds; ++i) {
        ticks[i] = bench_round(b, pair_cold);
        best = u64_min(best, ticks[i]);
        without = u64_min(without, bench_round(b, pair_of_draws));
    }
    for (int i = 0; i < cost_rounds; ++i) {
        if (ticks[i] - best <= best / 4) {
            all += ticks[i];
            ++rounds;
        }
    }
    return saturating_subtract(all / rounds, without) * 1000 / b->pairs;
}

static void measure_cold(struct bench *b, struct arena_cost *out) {
    cold_prepare(b);
    out->cold = cost_of_cold(b);
}

static void measure_all(struct bench *b, struct arena_cost *out) {
    b->work = DENSE_WORK;
    out->dense = bench_cost(b, b->pair);
    out->gap = bench_parts(b, b->pair, &out->inner, &out->outer);
    out->recursive = cost_of_recursion(b);
    out->dynamic = cost_of_a_name(b);
    b->work = LONG_WORK; /* after the others: by now the branches are predicted */
    out->timed = bench_cost(b, b->pair);
    b->work = NO_WORK;
    out->reading = probe_cost() * 1000;
    if (b->tries_inline) {
        measure_cold(b, out);
    }
}

/* Each range of the slow path is begun and ended by a tool, which is not measured. */
static void measure_with_ranges(struct bench *b, struct arena_cost *out) {
    out->timed = bench_cost(b, pair_inline);
    out->dense = out->timed;
    out->recursive = out->timed;
    bench_parts(b, pair_inline, &out->inner, &out->outer);
    out->ranges = 1;
}

void cost_read(struct arena_cost *out) {
    struct bench *b = pages_get(sizeof *b);
    memset(out, 0, sizeof *out);
    if (!b) {
        return;
    }
    pages_fill(b, sizeof *b);
    bench_prepare(b);
    bench_read_clock(b);
    b->pair = pair_inline;
    b->tries_inline = !thread_slow_only();
    if (!b->tries_inline) {
        b->pair = pair_slow;
    }
    /* At once: after a fork in a signal handler between the two, `mine` would be the parent's. */
    struct stint_impl_thread *mine =
        __atomic_exchange_n(&stint_impl_thread_here, &b->block.hot, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (emit_on()) {
        measure_with_ranges(b, out);
    } else {
        measure_all(b, out);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stint_impl_thread_here = mine;
    thread_pages_put(&b->block);
    pages_put(b, sizeof *b);
    registry_settle(); /* in a child that a signal handler has forked */
}
