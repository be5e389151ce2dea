/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the way from scopes to lanes: the spans that are read are those that ran, in order and
 * inside each other. */
#include "harness_threads.h"
#include "model/trace.h"

#include <math.h>
#include <sys/prctl.h>

#include "support.h"
#include "traced.h"

static void begin_trace(const char *bytes) {
    setenv("STINT_TRACE", bytes, 1);
    prctl(PR_SET_NAME, "stint_unit"); /* under valgrind it has another */
}

/* ---- A model of random trees. */

#define MODEL 20000

struct modelled {
    uint64_t start;
    uint64_t end;
    uint32_t depth;
    char name[8];
};

static struct modelled model[MODEL];
static unsigned modelled;
static uint64_t seed = 7;

static void grow(uint32_t depth) {
    if (modelled == MODEL || depth > 30) {
        return;
    }
    struct modelled *m = &model[modelled++]; /* by start, as they are read */
    m->depth = depth;
    snprintf(m->name, sizeof m->name, "n%u", (unsigned)(random_next(&seed) % 12));
    {
        REGISTER_TIMER_DYNAMIC(m->name); /* the same name below itself is a recursion */
        m->start = fake_now;
        fake_advance(1 + random_next(&seed) % 5);
        for (uint64_t n = random_next(&seed) % 4; n; --n) {
            grow(depth + 1);
            fake_advance(1 + random_next(&seed) % 3);
        }
        m->end = fake_now;
    }
    fake_advance(1);
}

static void check_model(const struct traced *t, unsigned trees) {
    const struct trace_lane *l = traced_lane(t, "stint_unit");
    CHECK_EQ_U64(t->t.lane_count, 1);
    CHECK_EQ_U64(l ? l->count : 0, modelled);
    CHECK(modelled > trees);
    for (unsigned i = 0; i < modelled; ++i) {
        const struct trace_event *e = traced_event(t, l, i);
        int same = e->start_ns == model[i].start - FAKE_START &&
                   e->duration_ns == model[i].end - model[i].start && e->depth == model[i].depth &&
                   !strcmp(traced_name(t, e), model[i].name);
        if (!CHECK(same)) {
            break;
        }
    }
}

TEST(trace, random_trees_are_read_as_they_ran) {
    begin_trace("64M");
    for (unsigned i = 0; i < 500; ++i) {
        grow(0);
    }
    const struct traced *t = traced_now();
    check_model(t, 500);
    traced_check(t);
    CHECK_EQ_U64(traced_overwritten(t), 0);
}

TEST(trace, on_the_slow_path_too) {
    begin_trace("64M");
    setenv("STINT_CLOCK", "monotonic", 1);
    for (unsigned i = 0; i < 50; ++i) {
        grow(0);
    }
    const struct traced *t = traced_now();
    check_model(t, 50);
}

/* The clock does not move: only the order tells which span is inside which. */
TEST(trace, spans_of_no_length) {
    begin_trace("1M");
    {
        REGISTER_TIMER("around");
        { REGISTER_TIMER("inside"); }
        { REGISTER_TIMER("beside"); }
    }
    const struct traced *t = traced_now();
    const struct trace_lane *l = traced_lane(t, "stint_unit");
    CHECK_EQ_U64(l ? l->count : 0, 3);
    CHECK_STR_EQ(traced_name(t, traced_event(t, l, 0)), "around");
    CHECK(traced_event(t, l, 1)->depth > 0 && traced_event(t, l, 2)->depth > 0);
    traced_check(t);
}

/* Spans of no length come after a span that ends where they begin, not in it. */
TEST(trace, spans_of_no_length_behind_another) {
    begin_trace("1M");
    timed("first", 5);
    timed("empty", 0);
    timed("third", 5);
    const struct traced *t = traced_now();
    for (unsigned i = 0; i < 3; ++i) {
        if (!strcmp(traced_name(t, traced_event(t, &t->t.lanes[0], i)), "empty")) {
            CHECK(traced_event(t, &t->t.lanes[0], i)->start_ns == 5);
        }
    }
    CHECK_EQ_U64(traced_event(t, &t->t.lanes[0], 0)->depth, 0);
    CHECK_EQ_U64(traced_event(t, &t->t.lanes[0], 1)->depth, 0);
    traced_check(t);
}

TEST(trace, none_without_the_setting) {
    timed("scope", 5);
    TIMER_MARK("mark");
    const struct traced *t = traced_now();
    CHECK_EQ_U64(t->t.lane_count + t->t.event_count, 0);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(trace, keeps_the_newest_and_counts_the_rest) {
    begin_trace("4096"); /* 256 events */
    for (uint64_t i = 1; i <= 1000; ++i) {
        timed("scope", i);
    }
    const struct traced *t = traced_now();
    const struct trace_lane *l = traced_lane(t, "stint_unit");
    CHECK_EQ_U64(l ? l->count : 0, 256);
    CHECK_EQ_U64(l ? l->overwritten : 0, 744);
    for (unsigned i = 0; i < 256; ++i) {
        CHECK_EQ_U64(traced_event(t, l, i)->duration_ns, 745 + i);
    }
}

static void *marks_on_a_thread(NO_ARG) {
    TIMER_MARK("mark");
    TIMER_VALUE("value", 1.5);
    timed("there", 5);
    return NULL;
}

/* `stint info` counts the same numbers as the lanes have, in memory that does not grow with the
 * events. */
TEST(trace, is_counted_without_its_events) {
    struct trace_count count;
    begin_trace("4M"); /* 65536 events of the first thread */
    for (uint64_t i = 0; i < 70000; ++i) {
        timed("scope", 1);
    }
    thread_run(marks_on_a_thread, NULL);
    struct traced *t = traced_now();
    struct scratch_mark before = scratch_mark(&t->s.memory);
    CHECK(!trace_count(&count, &t->s));
    struct scratch_mark after = scratch_mark(&t->s.memory);
    CHECK(before.chunks == after.chunks ? before.left - after.left < 65536 : after.left > 131072);
    CHECK_EQ_U64(count.rings, 2);
    CHECK_EQ_U64(count.kinds[TRACE_SPAN], traced_count(t, TRACE_SPAN, "scope") + 1);
    CHECK_EQ_U64(count.kinds[TRACE_SPAN], 65537);
    CHECK_EQ_U64(count.kinds[TRACE_MARK], 1);
    CHECK_EQ_U64(count.kinds[TRACE_VALUE], 1);
    CHECK_EQ_U64(count.overwritten, traced_overwritten(t));
}

TEST(trace, slow_calls_only) {
    begin_trace("64K");
    setenv("STINT_TRACE_MIN", "100us", 1);
    for (uint64_t i = 0; i < 4; ++i) {
        timed("scope", 99999);
        timed("scope", 100000);
        timed("scope", 500000);
        stint_sample_add("sample", i % 2 ? 99999 : 100000);
    }
    const struct traced *t = traced_now();
    CHECK_EQ_U64(traced_count(t, TRACE_SPAN, "scope"), 8);
    CHECK_EQ_U64(traced_count(t, TRACE_SPAN, "sample"), 2);
    CHECK_EQ_U64(calls_of("scope"), 12);
}

TEST(trace, spans_longer_than_their_place) {
    static const uint64_t limit = (uint64_t)1 << STINT_IMPL_SPAN_BITS;
    const uint64_t lengths[] = {limit - 2, limit - 1, limit,    limit * 9 + 5,
                                limit + 1, 3,         limit - 1};
    begin_trace("64K");
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        timed("long", lengths[i]);
    }
    {
        REGISTER_TIMER("around");
        fake_advance(2 * limit);
        timed("late", 7);
    }
    const struct traced *t = traced_now();
    const struct trace_lane *l = traced_lane(t, "stint_unit");
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        CHECK_EQ_U64(traced_event(t, l, i)->duration_ns, lengths[i]);
    }
    CHECK_EQ_U64(traced_event(t, l, 7)->duration_ns, 2 * limit + 7);
    CHECK_STR_EQ(traced_name(t, traced_event(t, l, 8)), "late");
    CHECK_EQ_U64(traced_event(t, l, 8)->depth, 1);
    CHECK_EQ_U64(traced_overwritten(t), 0);
}

static __attribute__((noinline)) void recursive(int depth) {
    REGISTER_TIMER("recursive");
    fake_advance(1);
    if (depth) {
        recursive(depth - 1);
    }
    fake_advance(1);
}

TEST(trace, every_call_of_a_recursion) {
    begin_trace("64K");
    recursive(9);
    const struct traced *t = traced_now();
    const struct trace_lane *l = traced_lane(t, "stint_unit");
    CHECK_EQ_U64(l ? l->count : 0, 10);
    for (unsigned i = 0; i < 10; ++i) {
        CHECK_EQ_U64(traced_event(t, l, i)->depth, i);
        CHECK_EQ_U64(traced_event(t, l, i)->duration_ns, 20 - 2 * i);
    }
}

static void through_around(int depth);

static __attribute__((noinline)) void through(int depth) {
    REGISTER_TIMER("through");
    fake_advance(1);
    if (depth) {
        through_around(depth);
    }
    fake_advance(1);
}

static __attribute__((noinline)) void through_around(int depth) {
    REGISTER_TIMER("around");
    through(depth - 1);
}

TEST(trace, every_call_of_a_recursion_through_another_scope) {
    begin_trace("64K");
    through(9);
    through(9); /* on the inline path */
    const struct traced *t = traced_now();
    const struct trace_lane *l = traced_lane(t, "stint_unit");
    CHECK_EQ_U64(l ? l->count : 0, 38);
    for (unsigned i = 0; i < 38; ++i) {
        CHECK_EQ_U64(traced_event(t, l, i)->depth, i % 19);
        CHECK_EQ_U64(traced_event(t, l, i)->duration_ns, 20 - 2 * ((i % 19 + 1) / 2));
    }
}

TEST(trace, intervals_have_lanes_of_their_own) {
    stint_timer a, b;
    begin_trace("64K");
    stint_step();
    {
        REGISTER_TIMER("scope");
        TIMER_BEGIN(a, "a");
        fake_advance(5);
        TIMER_BEGIN(b, "b");
        fake_advance(5);
        TIMER_END(a);
        fake_advance(5);
        TIMER_END(b);
    }
    fake_advance(1);
    stint_step();
    const struct traced *t = traced_now();
    traced_check(t);
    CHECK_EQ_U64(t->t.lane_count, 3);
    const struct trace_lane *first = traced_lane(t, "(intervals 1)");
    const struct trace_lane *second = traced_lane(t, "(intervals 2)");
    CHECK_EQ_U64(t->t.lanes[0].count, 1);
    CHECK_STR_EQ(traced_name(t, traced_event(t, &t->t.lanes[0], 0)), "scope");
    CHECK_EQ_U64(first ? first->count : 0, 2);
    CHECK_STR_EQ(traced_name(t, traced_event(t, first, 0)), "stint_step");
    CHECK_EQ_U64(traced_event(t, first, 0)->duration_ns, 16);
    CHECK_STR_EQ(traced_name(t, traced_event(t, first, 1)), "a");
    CHECK_EQ_U64(traced_event(t, first, 1)->depth, 1);
    CHECK_EQ_U64(second ? second->count : 0, 1);
    CHECK_STR_EQ(traced_name(t, traced_event(t, second, 0)), "b");
    CHECK_EQ_U64(traced_event(t, second, 0)->start_ns, 5);
}

TEST(trace, more_overlaps_than_lanes_are_counted) {
    stint_timer timers[40];
    begin_trace("64K");
    for (int i = 0; i < 40; ++i) {
        TIMER_BEGIN(timers[i], "interval");
        fake_advance(1);
    }
    for (int i = 0; i < 40; ++i) {
        TIMER_END(timers[i]);
        fake_advance(1);
    }
    const struct traced *t = traced_now();
    traced_check(t);
    CHECK_EQ_U64(t->t.event_count, 15); /* 16 lanes, the first one for scopes */
    CHECK_EQ_U64(traced_overwritten(t), 25);
}

static void *one_scope(void *barrier) {
    timed("thread", 5);
    pthread_barrier_wait(barrier);
    return NULL;
}

TEST(trace, threads_without_a_ring_are_counted) {
    pthread_t threads[5];
    pthread_barrier_t barrier;
    begin_trace("8192"); /* two rings */
    pthread_barrier_init(&barrier, NULL, 6);
    timed("main", 1);
    threads_start(threads, 5, one_scope, &barrier, 0);
    pthread_barrier_wait(&barrier);
    threads_join(threads, 5);
    const struct traced *t = traced_now();
    CHECK_EQ_U64(t->t.lane_count, 2);
    CHECK_EQ_U64(traced_count(t, TRACE_SPAN, "thread"), 1);
    CHECK_EQ_U64(calls_of("thread"), 5);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_TRACE), 4);
}

TEST(trace, times_of_another_clock_rate) {
    struct traced t = {0};
    begin_trace("64K");
    timed("scope", 3000);
    CHECK(!snapshot_take(&t.s));
    t.s.ns_per_tick = 0.5;
    t.s.start_ns = FAKE_START - 100; /* the process began before its first scope */
    CHECK(!traced_read(&t));
    CHECK_EQ_U64(traced_event(&t, &t.t.lanes[0], 0)->start_ns, 100);
    CHECK_EQ_U64(traced_event(&t, &t.t.lanes[0], 0)->duration_ns, 1500);
    traced_free(&t);
}
