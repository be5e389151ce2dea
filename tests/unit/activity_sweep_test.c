/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sweep that turns activities into busy times, gaps and steps: case by case, and random items
 * against a slow model that knows all items at once.
 */
#include "activity/activity_sweep.h"

#include "support.h"

#define ITEMS 400
#define DEVICES 3
#define CORRELATIONS 64

/* The results of the sweep. */
static struct sweep_gap gaps[4 * ITEMS];
static struct step {
    uint32_t device;
    uint64_t start;
    uint64_t ns;
} steps[8 * ITEMS];
static unsigned gap_count, step_count, taken_count;

/* The calls that are known when the sweep asks for them. */
static struct {
    uint64_t start;
    uint32_t thread;
} known[CORRELATIONS];

static int on_call(void *data, uint32_t correlation, uint64_t *start, uint32_t *thread) {
    CHECK(data == known);
    if (!correlation || correlation >= CORRELATIONS || !known[correlation].start) {
        return -1;
    }
    *start = known[correlation].start;
    *thread = known[correlation].thread;
    return 0;
}

static void on_gap(void *data, const struct sweep_gap *gap) {
    (void)data;
    gaps[gap_count++] = *gap;
}

static int gaps_are_equal(const struct sweep_gap *a, const struct sweep_gap *b) {
    return a->device == b->device && a->cause == b->cause && a->node == b->node &&
           a->start == b->start && a->ns == b->ns;
}

static void on_take_back(void *data, const struct sweep_gap *gap) {
    unsigned i = 0;
    (void)data;
    while (i < gap_count && !gaps_are_equal(&gaps[i], gap)) {
        ++i;
    }
    if (CHECK(i < gap_count)) { /* only what was given out */
        gaps[i] = gaps[--gap_count];
        ++taken_count;
    }
}

static void on_step(void *data, uint32_t device, uint64_t start, uint64_t ns) {
    (void)data;
    steps[step_count++] = (struct step){device, start, ns};
}

static const struct sweep_ops ops = {on_call, on_gap, on_take_back, on_step};
static struct sweep sweep;
static void *memory;

static void start_with(uint32_t items, uint32_t holes) {
    const struct sweep_size size = {items, holes};
    free(memory);
    memory = malloc(sweep_bytes(&size));
    gap_count = step_count = taken_count = 0;
    memset(known, 0, sizeof known);
    sweep_open(&sweep, memory, &size, &ops, known);
}

/* With room for all idle times. */
static void start(uint32_t capacity) {
    start_with(capacity, 8 * ITEMS);
}

static unsigned report_every, items_given; /* items between two reports; 0 = none */

static void give(const struct sweep_item *item) {
    if (sweep_is_full(&sweep)) {
        sweep_some(&sweep);
    }
    sweep_add(&sweep, item);
    ++items_given;
    if (report_every && items_given % report_every == 0) {
        sweep_all(&sweep);
    }
}

static void work(uint32_t kind, uint64_t from, uint64_t to) {
    struct sweep_item item = {.start = from, .end = to, .kind = (uint16_t)kind, .node = 5};
    give(&item);
}

static void launched(uint64_t from, uint64_t to, uint64_t at, uint32_t thread) {
    struct sweep_item item = {
        .start = from, .end = to, .launched = at, .thread = thread, .node = 9};
    give(&item);
}

static void host(uint32_t kind, uint64_t from, uint64_t to, uint32_t thread) {
    struct sweep_item item = {.start = from, .end = to, .kind = (uint16_t)kind, .thread = thread};
    give(&item);
}

static void boundary(uint64_t at) {
    struct sweep_item item = {.start = at, .end = at, .kind = SWEEP_STEP};
    give(&item);
}

static const struct sweep_sum *busy(uint32_t detail) {
    return &sweep.now.devices[0].sums[detail];
}

TEST(activity_sweep, unions_and_overlap) {
    start(16);
    work(SWEEP_KERNEL, 100, 200);
    work(SWEEP_KERNEL, 150, 180); /* inside */
    work(SWEEP_COPY, 190, 260);
    work(SWEEP_KERNEL, 260, 300); /* follows on */
    work(SWEEP_COPY, 400, 410);
    sweep_all(&sweep);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->total, 210);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->count, 2);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->max, 200);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->min, 10);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->start, 100);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->end, 410);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_KERNEL)->total, 140);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_COPY)->total, 80);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_OVERLAP)->total, 10);
    CHECK_EQ_U64(gap_count, 1);
    CHECK_EQ_U64(gaps[0].ns, 100);
    CHECK_EQ_U64(gaps[0].node, 0); /* short */
    CHECK_EQ_U64(gaps[0].cause, ACTIVITY_GAP_UNKNOWN);
}

/* The device rests from 10 000 to 20 000 and goes on with what thread 1 launched at `at`. */
static uint32_t cause_with(uint32_t kind, uint64_t from, uint64_t to, uint32_t thread,
                           uint64_t at) {
    start(16);
    work(SWEEP_KERNEL, 5000, 10000);
    host(kind, from, to, thread);
    launched(20000, 21000, at, 1);
    sweep_all(&sweep);
    CHECK_EQ_U64(gap_count, 1);
    CHECK_EQ_U64(gaps[0].start, 10000);
    CHECK_EQ_U64(gaps[0].ns, 10000);
    CHECK_EQ_U64(gaps[0].node, 9);
    return gaps[0].cause;
}

TEST(activity_sweep, causes) {
    /* No call near. */
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 1, 2, 1, 19000), ACTIVITY_GAP_HOST_LATE);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 1, 2, 1, 10001), ACTIVITY_GAP_HOST_LATE);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 1, 2, 1, 10000), ACTIVITY_GAP_BETWEEN);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 1, 2, 1, 0), ACTIVITY_GAP_UNKNOWN);
    /* A wait that ends in the gap, at its beginning, a little before, long before. */
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 6000, 12000, 1, 19000), ACTIVITY_GAP_SYNC);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 11000, 12000, 1, 19000), ACTIVITY_GAP_SYNC);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 6000, 8000, 1, 19000), ACTIVITY_GAP_SYNC);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 6000, 7999, 1, 19000), ACTIVITY_GAP_HOST_LATE);
    /* A wait of another thread, of an unknown thread. */
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 6000, 12000, 2, 19000), ACTIVITY_GAP_HOST_LATE);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 6000, 12000, 0, 19000), ACTIVITY_GAP_SYNC);
    /* The work was launched before the wait was over, so the wait is not the cause. */
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 6000, 12000, 1, 11999), ACTIVITY_GAP_HOST_LATE);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_WAITS, 6000, 12000, 1, 9000), ACTIVITY_GAP_BETWEEN);
    /* A copy over more than half of it, over half of it. */
    CHECK_EQ_U64(cause_with(SWEEP_CALL_COPIES, 9000, 15001, 1, 19000), ACTIVITY_GAP_COPY);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_COPIES, 9000, 15000, 1, 19000), ACTIVITY_GAP_HOST_LATE);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_COPIES, 9000, 30000, 1, 9000), ACTIVITY_GAP_COPY);
    CHECK_EQ_U64(cause_with(SWEEP_CALL_COPIES, 9000, 30000, 2, 9000), ACTIVITY_GAP_BETWEEN);
    /* A function of the host, of no thread. */
    CHECK_EQ_U64(cause_with(SWEEP_FUNCTION, 9000, 15001, 0, 9000), ACTIVITY_GAP_FUNCTION);
    CHECK_EQ_U64(cause_with(SWEEP_FUNCTION, 9000, 15000, 0, 9000), ACTIVITY_GAP_BETWEEN);
}

TEST(activity_sweep, copy_goes_before_wait) {
    start(16);
    work(SWEEP_KERNEL, 5000, 10000);
    host(SWEEP_CALL_COPIES, 10500, 18000, 1);
    host(SWEEP_CALL_WAITS, 10600, 10700, 1);
    launched(20000, 21000, 19000, 1);
    sweep_all(&sweep);
    CHECK_EQ_U64(gaps[0].cause, ACTIVITY_GAP_COPY);
}

TEST(activity_sweep, asks_about_calls_when_it_needs_to_know) {
    struct sweep_item wait = {
        .start = 6000, .end = 12000, .correlation = 1, .kind = SWEEP_CALL_WAITS};
    struct sweep_item next = {.start = 20000, .end = 21000, .correlation = 2};
    start(16);
    work(SWEEP_KERNEL, 5000, 10000);
    give(&wait);
    give(&next);
    known[1].start = 6000;
    known[1].thread = 1;
    known[2].start = 19000;
    known[2].thread = 1;
    sweep_all(&sweep);
    CHECK_EQ_U64(gaps[0].cause, ACTIVITY_GAP_SYNC);
    start(16);
    work(SWEEP_KERNEL, 5000, 10000);
    give(&wait);
    give(&next);
    known[1].start = 6000;
    known[1].thread = 2; /* another one */
    known[2].start = 19000;
    known[2].thread = 1;
    sweep_all(&sweep);
    CHECK_EQ_U64(gaps[0].cause, ACTIVITY_GAP_HOST_LATE);
}

/* A long wait is found although many short ones followed it. */
TEST(activity_sweep, long_wait_among_short_ones) {
    start(256);
    work(SWEEP_KERNEL, 5000, 100000);
    host(SWEEP_CALL_WAITS, 6000, 100500, 1);
    for (uint64_t i = 0; i < SWEEP_CALLS - 1; ++i) {
        host(SWEEP_CALL_WAITS, 7000 + i, 7001 + i, 1);
    }
    launched(200000, 201000, 190000, 1);
    sweep_all(&sweep);
    CHECK_EQ_U64(gaps[0].cause, ACTIVITY_GAP_SYNC);
}

TEST(activity_sweep, steps) {
    start(16);
    work(SWEEP_KERNEL, 100, 200);
    boundary(150); /* the first says when the first step begins */
    work(SWEEP_KERNEL, 300, 400);
    boundary(350);
    boundary(360);
    work(SWEEP_COPY, 370, 420);
    boundary(500);
    sweep_all(&sweep);
    static const struct step want[] = {
        {SWEEP_NO_DEVICE, 150, 200}, {0, 150, 100}, /* 150 to 200, 300 to 350 */
        {SWEEP_NO_DEVICE, 350, 10},  {0, 350, 10},  {SWEEP_NO_DEVICE, 360, 140}, {0, 360, 60},
    };
    CHECK_EQ_U64(step_count, 6);
    for (unsigned i = 0; i < 6; ++i) {
        CHECK_EQ_U64(steps[i].device, want[i].device);
        CHECK_EQ_U64(steps[i].start, want[i].start);
        CHECK_EQ_U64(steps[i].ns, want[i].ns);
    }
}

TEST(activity_sweep, nothing_goes_over_a_break) {
    start(16);
    boundary(50);
    work(SWEEP_KERNEL, 100, 200);
    sweep_break(&sweep, 300);
    work(SWEEP_KERNEL, 90000, 90100);
    boundary(90200);
    work(SWEEP_KERNEL, 93000, 93100);
    boundary(95000);
    sweep_all(&sweep);
    CHECK_EQ_U64(gap_count, 1);
    CHECK_EQ_U64(gaps[0].start, 90100);
    CHECK_EQ_U64(step_count, 2);
    CHECK_EQ_U64(steps[0].start, 90200);
    CHECK_EQ_U64(steps[0].ns, 4800);
    CHECK_EQ_U64(steps[1].ns, 100);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->total, 300);
    CHECK_EQ_U64(sweep.late, 0);
}

TEST(activity_sweep, late_items_are_sorted_in) {
    start(16);
    boundary(50);
    work(SWEEP_KERNEL, 100, 200);
    work(SWEEP_KERNEL, 5000, 5100);
    boundary(6000);
    sweep_all(&sweep);
    CHECK_EQ_U64(gaps[0].ns, 4800);
    work(SWEEP_COPY, 5050, 5200);
    work(SWEEP_KERNEL, 300, 2400);
    sweep_all(&sweep);
    CHECK_EQ_U64(sweep.late, 0);
    CHECK_EQ_U64(taken_count, 1);
    CHECK_EQ_U64(gap_count, 2);
    CHECK_EQ_U64(gaps[0].ns, 100);
    CHECK_EQ_U64(gaps[1].ns, 2600);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->total, 100 + 2100 + 200);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_KERNEL)->total, 100 + 2100 + 100);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_OVERLAP)->total, 50);
    CHECK_EQ_U64(step_count, 2); /* not given out again */
    CHECK_EQ_U64(sweep.now.devices[0].step_total, 100 + 2100 + 200);
}

/* The cause of a gap, too, is found anew; what was known of a launch is not asked for again. */
TEST(activity_sweep, a_late_call_changes_the_cause) {
    struct sweep_item next = {.start = 20000, .end = 21000, .correlation = 1};
    start(16);
    known[1].start = 19000;
    known[1].thread = 1;
    work(SWEEP_KERNEL, 5000, 10000);
    give(&next);
    sweep_all(&sweep);
    CHECK_EQ_U64(gaps[0].cause, ACTIVITY_GAP_HOST_LATE);
    known[1].start = 0;
    host(SWEEP_CALL_WAITS, 6000, 12000, 1);
    sweep_all(&sweep);
    CHECK_EQ_U64(taken_count, 1);
    CHECK_EQ_U64(gap_count, 1);
    CHECK_EQ_U64(gaps[0].cause, ACTIVITY_GAP_SYNC);
}

TEST(activity_sweep, late_items_before_a_break) {
    start(16);
    work(SWEEP_KERNEL, 100, 200);
    sweep_break(&sweep, 5000);
    work(SWEEP_KERNEL, 90000, 90100);
    sweep_all(&sweep);
    CHECK_EQ_U64(gap_count, 0);
    work(SWEEP_KERNEL, 4000, 4100);
    sweep_all(&sweep);
    CHECK_EQ_U64(gap_count, 1);
    CHECK_EQ_U64(gaps[0].start, 200);
    CHECK_EQ_U64(gaps[0].ns, 3800);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->total, 300);
}

/* Work that belongs before what was removed from the buffer. */
TEST(activity_sweep, removed_items_leave_their_gaps) {
    start(4);
    boundary(50);
    work(SWEEP_KERNEL, 100, 200);
    launched(5000, 5100, 900, 1);
    boundary(6000);
    sweep_some(&sweep); /* removes all but the last */
    CHECK_EQ_U64(gap_count, 1);
    CHECK_EQ_U64(gaps[0].cause, ACTIVITY_GAP_HOST_LATE);
    launched(300, 2400, 150, 1);
    work(SWEEP_COPY, 2000, 2500);
    work(SWEEP_COPY, 5050, 5200);
    sweep_all(&sweep);
    CHECK_EQ_U64(sweep.late, 0);
    CHECK_EQ_U64(taken_count, 1);
    CHECK_EQ_U64(gap_count, 2);
    CHECK_EQ_U64(gaps[0].ns, 100);
    CHECK_EQ_U64(gaps[0].cause, ACTIVITY_GAP_BETWEEN);
    CHECK_EQ_U64(gaps[1].start, 2500);
    CHECK_EQ_U64(gaps[1].ns, 2500);
    CHECK_EQ_U64(gaps[1].node, 9);
    CHECK_EQ_U64(gaps[1].cause, ACTIVITY_GAP_BETWEEN);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->total, 100 + 2200 + 200);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_KERNEL)->total, 100 + 2100 + 100);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_COPY)->total, 500 + 150);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_OVERLAP)->total, 400 + 50);
    CHECK_EQ_U64(sweep.now.devices[0].step_total, 2500);
}

TEST(activity_sweep, late_steps_are_moved_and_counted) {
    start(16);
    work(SWEEP_KERNEL, 100, 200);
    work(SWEEP_KERNEL, 5000, 5100);
    sweep_all(&sweep);
    boundary(4000); /* taken for 5000 */
    boundary(5500);
    sweep_all(&sweep);
    CHECK_EQ_U64(sweep.late, 1);
    CHECK_EQ_U64(steps[0].start, 5000);
    CHECK_EQ_U64(steps[0].ns, 500);
}

/* Calls are recorded at once, what they launched when it is done. */
TEST(activity_sweep, calls_make_nothing_late) {
    start(16);
    host(SWEEP_CALL_WAITS, 100, 900, 1);
    sweep_all(&sweep);
    work(SWEEP_KERNEL, 50, 800);
    boundary(60);
    sweep_all(&sweep);
    CHECK_EQ_U64(sweep.late, 0);
    CHECK_EQ_U64(busy(ACTIVITY_BUSY_ANY)->total, 750);
}

/* ---- The model. */

static struct sweep_item all[ITEMS]; /* as they are fed */
static unsigned all_count;

static uint64_t draw(uint64_t *seed, uint64_t below) {
    return random_next(seed) % below;
}

static int is_work(const struct sweep_item *i) {
    return i->kind == SWEEP_KERNEL || i->kind == SWEEP_COPY;
}

static int by_start(const void *a, const void *b) {
    const struct sweep_item *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->end > y->end) - (x->end < y->end);
}

/* Makes items that all differ, in steps of 700 ns, ordered by their start. */
static void make_items(uint64_t *seed) {
    all_count = ITEMS;
    for (unsigned i = 0; i < all_count; ++i) {
        uint64_t at = (1 + draw(seed, 4 * ITEMS)) * 700 + i % 7;
        uint32_t kind = (uint32_t)draw(seed, 17);
        uint64_t before = draw(seed, 3) ? draw(seed, 10) * 700 : at;
        all[i] = (struct sweep_item){
            .start = at,
            .end = at + draw(seed, draw(seed, 8) ? 4 : 40) * 700,
            .launched = before < at ? at - before : 0,
            .node = i + 1,
            .thread = (uint32_t)draw(seed, 3),
            .device = (uint16_t)draw(seed, DEVICES),
            .kind = (uint16_t)(kind < 6    ? SWEEP_KERNEL
                               : kind < 12 ? SWEEP_COPY
                               : kind < 14 ? SWEEP_CALL_WAITS
                               : kind < 15 ? SWEEP_CALL_COPIES
                               : kind < 16 ? SWEEP_FUNCTION
                                           : SWEEP_STEP),
        };
    }
    qsort(all, all_count, sizeof *all, by_start);
    unsigned kept = 1;
    for (unsigned i = 1; i < all_count; ++i) {
        if (all[i].start != all[kept - 1].start) {
            all[kept++] = all[i];
        }
    }
    all_count = kept;
}

/* Time within [from, to) that something of the device and those kinds covers; bit 0 kernels, 1
 * copies; both: where both do. */
static uint64_t covered(uint32_t device, unsigned kinds, int both, uint64_t from, uint64_t to) {
    uint64_t sum = 0;
    /* Nothing changes between two neighbouring begins or ends. */
    for (uint64_t at = from; at < to;) {
        uint64_t next = to;
        unsigned here = 0;
        for (unsigned i = 0; i < all_count; ++i) {
            const struct sweep_item *w = &all[i];
            if (is_work(w) && w->device == device) {
                here |= w->start <= at && at < w->end ? 1u << (w->kind == SWEEP_COPY) : 0;
                next = w->start > at && w->start < next ? w->start : next;
                next = w->end > at && w->end < next ? w->end : next;
            }
        }
        sum += (both ? here == 3 : (here & kinds) != 0) ? next - at : 0;
        at = next;
    }
    return sum;
}

static uint32_t model_cause(const struct sweep_item *next, uint64_t from) {
    uint32_t own = next->launched ? ACTIVITY_GAP_BETWEEN : ACTIVITY_GAP_UNKNOWN;
    uint32_t cause = next->launched > from ? ACTIVITY_GAP_HOST_LATE : own;
    if (next->start - from < 1000) {
        return next->launched > from ? ACTIVITY_GAP_UNKNOWN : own;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (unsigned i = all_count; i-- > 0;) { /* the newest of those that cover it */
            const struct sweep_item *c = &all[i];
            int same = !c->thread || !next->thread || c->thread == next->thread;
            uint64_t low = c->start > from ? c->start : from;
            uint64_t high = c->end < next->start ? c->end : next->start;
            int covers = high > low && 2 * (high - low) > next->start - from;
            if (same && pass && covers && c->kind == SWEEP_CALL_COPIES) {
                return ACTIVITY_GAP_COPY;
            }
            if (same && pass && covers && c->kind == SWEEP_FUNCTION) {
                return ACTIVITY_GAP_FUNCTION;
            }
            if (same && !pass && c->kind == SWEEP_CALL_WAITS && c->end + 2000 >= from &&
                c->end <= next->launched) {
                cause = ACTIVITY_GAP_SYNC;
            }
        }
    }
    return cause;
}

static int gap_by_end(const void *a, const void *b) {
    const struct sweep_gap *x = a, *y = b;
    uint64_t x_end = x->start + x->ns, y_end = y->start + y->ns;
    return (x_end > y_end) - (x_end < y_end);
}

static void check_gaps(int causes) {
    unsigned n = 0, wrong = 0;
    qsort(gaps, gap_count, sizeof *gaps, gap_by_end); /* a late item's comes later */
    uint64_t end[DEVICES] = {0};
    for (unsigned i = 0; i < all_count; ++i) {
        const struct sweep_item *w = &all[i];
        uint64_t from = is_work(w) ? end[w->device] : 0;
        if (from && w->start > from) {
            const struct sweep_gap *g = &gaps[n++];
            int small = w->start - from < 1000;
            wrong += n > gap_count || g->device != w->device || g->start != from ||
                     g->ns != w->start - from || g->node != (small ? 0 : w->node) ||
                     (causes && g->cause != model_cause(w, from));
        }
        if (is_work(w)) {
            end[w->device] = w->end > from ? w->end : from;
        }
    }
    CHECK_EQ_U64(n, gap_count);
    CHECK_EQ_U64(wrong, 0);
}

static void check_steps(void) {
    unsigned n = 0, wrong = 0;
    uint64_t from = 0;
    int seen[DEVICES] = {0};
    for (unsigned i = 0; i < all_count; ++i) {
        const struct sweep_item *b = &all[i];
        if (is_work(b)) {
            seen[b->device] = 1;
        }
        if (b->kind != SWEEP_STEP) {
            continue;
        }
        for (uint32_t d = 0; from && d <= DEVICES; ++d) {
            if (d && !seen[d - 1]) {
                continue;
            }
            const struct step *s = &steps[n++];
            uint64_t ns = d ? covered(d - 1, 3, 0, from, b->start) : b->start - from;
            wrong += s->device != (d ? d - 1 : SWEEP_NO_DEVICE) || s->start != from || s->ns != ns;
        }
        from = b->start;
    }
    CHECK_EQ_U64(n, step_count);
    CHECK_EQ_U64(wrong, 0);
}

static void check_sums(void) {
    for (uint32_t d = 0; d < DEVICES; ++d) {
        const struct sweep_sum *sums = sweep.now.devices[d].sums;
        uint64_t end = 1u << 30;
        CHECK_EQ_U64(sums[ACTIVITY_BUSY_ANY].total, covered(d, 3, 0, 0, end));
        CHECK_EQ_U64(sums[ACTIVITY_BUSY_KERNEL].total, covered(d, 1, 0, 0, end));
        CHECK_EQ_U64(sums[ACTIVITY_BUSY_COPY].total, covered(d, 2, 0, 0, end));
        CHECK_EQ_U64(sums[ACTIVITY_BUSY_OVERLAP].total, covered(d, 3, 1, 0, end));
    }
}

/* Out of order, but by less than the sweep keeps back. */
static void feed_shuffled(uint64_t *seed, unsigned span) {
    static struct sweep_item shuffled[ITEMS];
    memcpy(shuffled, all, sizeof all);
    for (unsigned from = 0; span && from < all_count; from += span) {
        unsigned n = all_count - from < span ? all_count - from : span;
        for (unsigned i = n; i > 1; --i) {
            unsigned j = (unsigned)draw(seed, i);
            struct sweep_item item = shuffled[from + i - 1];
            shuffled[from + i - 1] = shuffled[from + j];
            shuffled[from + j] = item;
        }
    }
    for (unsigned i = 0; i < all_count; ++i) {
        give(&shuffled[i]);
    }
}

TEST(activity_sweep, equals_the_model) {
    uint64_t seed = 20240607;
    for (int round = 0; round < 60; ++round) {
        static const unsigned capacities[] = {ITEMS, 128, 64, 4};
        static const unsigned spans[] = {ITEMS, 30, 13, 0};
        make_items(&seed);
        start(capacities[round % 4]);
        feed_shuffled(&seed, spans[round % 4]);
        sweep_all(&sweep);
        CHECK_EQ_U64(sweep.late, 0);
        check_sums();
        check_gaps(1);
        check_steps();
    }
}

static int by_being_a_step(const void *a, const void *b) {
    const struct sweep_item *x = a, *y = b;
    int order = (y->kind == SWEEP_STEP) - (x->kind == SWEEP_STEP);
    return order ? order : by_start(a, b);
}

static void check_busy_times_of_steps(void) {
    for (uint32_t d = 0; d < DEVICES; ++d) {
        uint64_t from = 0, to = 0;
        for (unsigned i = 0; i < all_count; ++i) {
            if (all[i].kind == SWEEP_STEP) {
                from = from ? from : all[i].start;
                to = all[i].start;
            }
        }
        CHECK_EQ_U64(sweep.now.devices[d].step_total, covered(d, 3, 0, from, to));
    }
}

/* Delivered in any order, with reports in between. Steps are known when they end, long before what
 * belongs before them. */
static void feed_in_any_order(uint64_t *seed) {
    static struct sweep_item fed[ITEMS];
    memcpy(fed, all, sizeof all);
    qsort(fed, all_count, sizeof *fed, by_being_a_step);
    unsigned first = 0;
    while (first < all_count && fed[first].kind == SWEEP_STEP) {
        ++first;
    }
    for (unsigned i = all_count; i > first + 1; --i) {
        unsigned j = first + (unsigned)draw(seed, i - first);
        struct sweep_item item = fed[i - 1];
        fed[i - 1] = fed[j];
        fed[j] = item;
    }
    for (unsigned i = 0; i < all_count; ++i) {
        give(&fed[i]);
        if (!draw(seed, 20)) {
            sweep_all(&sweep);
        }
    }
    sweep_all(&sweep);
}

/* As if all had been known at once. */
TEST(activity_sweep, late_items_in_any_order_equal_the_model) {
    uint64_t seed = 1306;
    unsigned taken = 0;
    for (int round = 0; round < 60; ++round) {
        make_items(&seed);
        start(ITEMS);
        feed_in_any_order(&seed);
        taken += taken_count;
        CHECK_EQ_U64(sweep.late, 0);
        check_sums();
        check_gaps(1);
        check_busy_times_of_steps();
    }
    CHECK(taken > 1000);
}

static void make_without_steps(uint64_t *seed) {
    make_items(seed);
    for (unsigned i = 0; i < all_count; ++i) {
        if (all[i].kind == SWEEP_STEP) {
            all[i].kind = SWEEP_KERNEL;
        }
    }
}

/* Most of them are removed before what belongs before them comes. The steps end first, and those
 * that are removed with them stay in order. */
TEST(activity_sweep, removed_items_equal_the_model) {
    static const unsigned capacities[] = {4, 16, 32, 100};
    uint64_t seed = 51;
    unsigned taken = 0;
    for (int round = 0; round < 100; ++round) {
        make_without_steps(&seed);
        start(capacities[round % 4]);
        feed_in_any_order(&seed);
        taken += taken_count;
        CHECK_EQ_U64(sweep.late, 0);
        check_sums();
        check_gaps(0);
    }
    CHECK(taken > 1000);
}

/* The same with steps, which come in time. */
TEST(activity_sweep, removed_items_are_added_to_steps) {
    uint64_t seed = 90;
    for (int round = 0; round < 60; ++round) {
        make_items(&seed);
        start(32);
        for (unsigned part = 0; part < 2; ++part) { /* every third piece of work is late */
            for (unsigned i = 0; i < all_count; ++i) {
                if ((is_work(&all[i]) && all[i].node % 3 == 0) == part) {
                    give(&all[i]);
                }
            }
            sweep_all(&sweep);
        }
        CHECK_EQ_U64(sweep.late, 0);
        check_sums();
        check_gaps(0);
        check_busy_times_of_steps();
    }
}

static uint64_t idle_time(uint32_t device) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < gap_count; ++i) {
        sum += gaps[i].device == device ? gaps[i].ns : 0;
    }
    return sum;
}

static uint64_t time_from_first_to_last(uint32_t device) {
    uint64_t first = UINT64_MAX, last = 0;
    for (unsigned i = 0; i < all_count; ++i) {
        if (is_work(&all[i]) && all[i].device == device) {
            first = all[i].start < first ? all[i].start : first;
            last = all[i].end > last ? all[i].end : last;
        }
    }
    return last - first;
}

/* Busy times never exceed the model's, and differ only where records were counted as late; busy
 * and idle times add up in any case. */
TEST(activity_sweep, forgotten_gaps_are_counted) {
    uint64_t seed = 4, end = 1u << 30;
    unsigned late = 0, exact = 0;
    for (int round = 0; round < 100; ++round) {
        make_without_steps(&seed);
        start_with(16, 16 + 8 * (unsigned)draw(&seed, 160));
        feed_in_any_order(&seed);
        uint64_t missing = 0;
        for (uint32_t d = 0; d < DEVICES; ++d) {
            const struct sweep_sum *sums = sweep.now.devices[d].sums;
            uint64_t want[] = {covered(d, 3, 0, 0, end), covered(d, 1, 0, 0, end),
                               covered(d, 2, 0, 0, end), covered(d, 3, 1, 0, end)};
            uint64_t have[] = {sums[ACTIVITY_BUSY_ANY].total, sums[ACTIVITY_BUSY_KERNEL].total,
                               sums[ACTIVITY_BUSY_COPY].total, sums[ACTIVITY_BUSY_OVERLAP].total};
            for (unsigned i = 0; i < 4; ++i) {
                CHECK(have[i] <= want[i]);
                missing += want[i] - have[i];
            }
            uint64_t whole = time_from_first_to_last(d);
            CHECK(have[0] + idle_time(d) <= whole);
            CHECK(missing || have[0] + idle_time(d) == whole);
        }
        CHECK(!missing || sweep.late);
        CHECK(sweep.late <= all_count);
        late += sweep.late != 0;
        exact += !missing;
    }
    CHECK(late > 20);
    CHECK(exact > 10);
}

/* The same where the buffer is full again and again, and items are late by less than is kept. */
TEST(activity_sweep, reports_at_any_time_equal_the_model) {
    uint64_t seed = 7;
    for (int round = 0; round < 60; ++round) {
        make_without_steps(&seed);
        start(128);
        report_every = 1 + (unsigned)draw(&seed, 40);
        feed_shuffled(&seed, 30);
        report_every = 0;
        sweep_all(&sweep);
        CHECK_EQ_U64(sweep.late, 0);
        check_sums();
        check_gaps(1);
    }
}

/* Items come in any order. Busy times and gaps fill the time between the first and the last item,
 * and no kind is busier than all kinds together. */
TEST(activity_sweep, any_order_adds_up) {
    uint64_t seed = 99, late = 0;
    for (int round = 0; round < 100; ++round) {
        make_items(&seed);
        start(4 + (uint32_t)draw(&seed, 60));
        feed_shuffled(&seed, ITEMS);
        sweep_all(&sweep);
        late += sweep.late;
        for (uint32_t d = 0; d < DEVICES; ++d) {
            const struct sweep_sum *sums = sweep.now.devices[d].sums;
            uint64_t idle = 0;
            for (unsigned i = 0; i < gap_count; ++i) {
                idle += gaps[i].device == d ? gaps[i].ns : 0;
            }
            CHECK(sums[ACTIVITY_BUSY_ANY].total + idle <= sweep.now.devices[d].any.end);
            CHECK(sums[ACTIVITY_BUSY_ANY].total + idle >=
                  sums[ACTIVITY_BUSY_ANY].end - sums[ACTIVITY_BUSY_ANY].start);
            CHECK_EQ_U64(sums[ACTIVITY_BUSY_KERNEL].total + sums[ACTIVITY_BUSY_COPY].total,
                         sums[ACTIVITY_BUSY_ANY].total + sums[ACTIVITY_BUSY_OVERLAP].total);
        }
    }
    CHECK(late > 0);
}
