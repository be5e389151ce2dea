/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a call has two parts. The inner one lies between its two readings of the clock, so it
 * is in the node's own time; the outer one is in the time of the scope around it. No time of a
 * recursive call is recorded, and both parts are in the time of its outermost call. So without
 * stint's cost
 *
 *   self  = self as measured - inner part of its calls - outer part of its children's calls
 *   total = this self + these totals of its children
 *
 * where children are the scopes nested in it on the same thread: what another thread did with work
 * that was sent to it took no time here. Self times do not fall below 0, and so no total falls
 * below its children's. Calls of children inside a call that is open or was abandoned are in no
 * total; their part of the children's time says how much of the children's cost is not, either.
 *
 * The cost of a call is known from two measurements: it is at least the cost of a scope whose
 * records are in the nearest cache, and at most about the cost of one of many scopes; begin and end
 * are code of the program, so that one built without optimisation adds instructions to the latter,
 * as a processor with enough other work to wait for executes them beside it. Rows are without the
 * former. What the latter has in addition is in the outer part: the search for the node comes
 * before the first reading of the clock, and what is recorded after the second.
 *
 * Intervals (STINT_TIMER_BEGIN, stint_sample_add, stint_step) stay as they are: there is nothing of
 * stint in a sample that the program measured, and what is recorded during an interval is not
 * known.
 */
#include "report_cost.h"

#include "arena/arena.h"
#include "base/arithmetic.h"

static uint64_t cost_ps(uint64_t ticks_x1000, double ns_per_tick) {
    return snapshot_whole((double)ticks_x1000 * ns_per_tick);
}

void report_cost_read(struct report_cost *out, const struct arena_cost *from, double ns_per_tick) {
    out->timed = cost_ps(from->timed, ns_per_tick);
    out->recursive = cost_ps(from->recursive, ns_per_tick);
    out->dynamic = cost_ps(from->dynamic, ns_per_tick);
    out->reading = cost_ps(from->reading, ns_per_tick);
    out->inner = cost_ps(from->inner, ns_per_tick);
    out->outer = cost_ps(from->outer, ns_per_tick);
    out->dense = cost_ps(from->dense, ns_per_tick);
    out->gap = cost_ps(from->gap, ns_per_tick);
    out->cold = cost_ps(from->cold, ns_per_tick);
    out->ranges = from->ranges != 0;
}

/* Every group is read for each call that was measured. */
static uint64_t node_readings(const struct snapshot_node *n) {
    static const uint32_t counts[] = {
        MEASURE_USAGE_CALLS, MEASURE_CPU_CALLS, MEASURE_CORE_CALLS, MEASURE_BRANCH_CALLS,
        MEASURE_L1_CALLS,    MEASURE_LLC_CALLS, MEASURE_DTLB_CALLS, MEASURE_SOFTWARE_CALLS};
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        most = u64_max(most, n->measures->measure[counts[i]]);
    }
    return most;
}

/* A call whose begin and end were compiled without optimisation executes 4.3 times the instructions
 * of another: 4.3 to 4.9 times as many as -O2, 3.7 to 4.6 times as many as -Og
 * (bench.plain_factor). */
#define PLAIN_TENTHS 43

/* The most that a call costs where hundreds of scopes take turns; 0: not known. A recursive call
 * reads no clock, so it is the time of instructions that no reading hides. */
static uint64_t cold_ps(const struct report_cost *each, int plain) {
    if (!each->cold || !plain) {
        return each->cold;
    }
    return each->cold + each->recursive * (PLAIN_TENTHS - 10) / 10;
}

/* So many calls at so many picoseconds. */
static double calls_ns(uint64_t ps, uint64_t calls) {
    return (double)ps * (double)calls / 1000;
}

/* The cost of a timed call, in picoseconds. The processor overlaps the readings with the work
 * between them. It overlaps less where the time between two readings is little more than they
 * take. */
static double timed_ps(const struct report *r, const struct report_cost *each,
                       const struct snapshot_node *n) {
    double gaps = (double)n->count + (double)n->splits + 2 * (double)snapshot_recursive(n);
    double ps = (double)snapshot_own(n) * r->snapshot->ns_per_tick * 1000,
           floor = (double)each->gap;
    if (!(gaps > 0) || !(floor > 0)) {
        return (double)each->timed;
    }
    /* 1 up to 1.5 times what readings take, 0 from twice that on. */
    double part = double_max(double_min((2 - ps / gaps / floor) / 0.5, 1), 0);
    return (double)each->timed + ((double)each->dense - (double)each->timed) * part;
}

/* So many calls at one cost or the other, whichever is greater. */
static double most_ns(double ps, uint64_t cold, uint64_t calls) {
    return double_max(ps, (double)cold) * (double)calls / 1000;
}

void node_cost_add(struct node_cost *to, const struct report *r, const struct snapshot_node *n) {
    static const struct report_cost none;
    const struct report_cost *each = r->cost ? r->cost : &none;
    double timed = timed_ps(r, each, n);
    uint64_t readings = node_readings(n);
    uint64_t inner_calls = snapshot_recursive(n);
    uint64_t dynamic = r->snapshot->sites[n->site].dynamic != 0;
    int plain = r->snapshot->sites[n->site].plain != 0;
    uint64_t cold = cold_ps(each, plain);
    double named_again = calls_ns(each->dynamic * dynamic, inner_calls);
    double recursive = calls_ns(each->recursive, inner_calls) + named_again;
    double named = calls_ns(each->dynamic * dynamic, n->count);
    uint64_t left_calls = snapshot_left(n); /* read the clock once */
    double left = calls_ns(each->timed / 2, left_calls);
    double most_recursive = most_ns((double)each->recursive, cold, inner_calls) + named_again;
    double read = calls_ns(each->reading, readings);
    u128 calls = snapshot_calls(n) + n->recursions;
    to->calls += calls;
    if (plain) {
        to->plain += calls;
    }
    to->readings += readings;
    to->ns_calls += timed * (double)n->count / 1000 + recursive + named + left;
    to->ns_readings += read;
    to->most_calls += most_ns(timed, cold, n->count) + most_recursive + named +
                      most_ns((double)each->timed / 2, cold / 2, left_calls);
    uint64_t outer = u64_max(each->outer, saturating_subtract(cold, each->inner));
    to->ns_inner += calls_ns(each->inner, n->count) + recursive;
    to->ns_outer += calls_ns(each->outer, n->count) + named + read;
    to->most_inner += calls_ns(each->inner, n->count) + most_recursive;
    to->most_outer += calls_ns(outer, n->count) + named + read;
}

/* ---- Times without it. */

/* The cost of the children of a node, in ticks. */
struct children_cost {
    double outer;
    double total;    /* what their totals are without */
    double most;     /* the outer part at most */
    uint64_t inside; /* their totals */
};

/* The part of the children's calls that is in the node's total. */
static double part_in_total(const struct snapshot_node *n, uint64_t inside) {
    if (inside <= n->nested) {
        return 1;
    }
    return (double)n->nested / (double)inside;
}

static void node_correct(const struct report *r, uint32_t index, const struct children_cost *inside,
                         struct children_cost *around) {
    const struct snapshot_node *n = &r->snapshot->nodes[index];
    struct snapshot_cost *out = &r->snapshot->costs[index];
    struct node_cost cost = {0};
    double ns_per_tick = r->snapshot->ns_per_tick;
    node_cost_add(&cost, r, n);
    double part = part_in_total(n, inside->inside);
    double own = cost.ns_inner / ns_per_tick + inside->outer * part;
    out->own = u64_min(snapshot_whole(own + 0.5), snapshot_own(n));
    out->all = u64_min(snapshot_whole((double)out->own + inside->total * part), n->total);
    double most = cost.most_inner / ns_per_tick + inside->most * part;
    uint64_t most_own = u64_min(snapshot_whole(most + 0.5), snapshot_own(n));
    r->snapshot->cost_most += most_own;
    around->most += cost.most_outer / ns_per_tick;
    around->outer += cost.ns_outer / ns_per_tick;
    around->total += (double)out->all;
    around->inside = saturating_add(around->inside, n->total);
}

int report_correct(const struct report *r) {
    struct snapshot *s = r->snapshot;
    struct children_cost *children =
        scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *children);
    s->costs = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *s->costs);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    s->cost_most = 0;
    for (uint32_t i = s->node_count; i-- > 0;) { /* children before their parents */
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent != SNAPSHOT_NONE && n->kind == STINT_IMPL_SCOPE_NODE) {
            node_correct(r, i, &children[i], &children[n->parent]);
        }
    }
    return 0;
}
