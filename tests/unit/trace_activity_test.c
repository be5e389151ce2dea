/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lanes of GPU activities, as the reader of traces returns them: names, launches, order. The
 * events must be those of the records that the test adds.
 */
#include "activity_made.h"
#include "model/activity_name.h"
#include "record/ring.h"
#include "traced.h"

static struct traced t;

static void traced_open(void) {
    setenv("STINT_TRACE", "8M", 1);
    CHECK(!activity_open());
}

static const char *name_of(const struct trace_event *e) {
    static char name[ACTIVITY_NAME_BYTES];
    CHECK(e->activity < t.s.activity_count);
    activity_name(name, sizeof name, &t.s.activities[e->activity]);
    return name;
}

TEST(trace_activity, a_kernel_and_who_launched_it) {
    traced_open();
    REGISTER_TIMER("s");
    fake_advance(1000);
    activity_launch(1);
    fake_advance(9000);
    add(kernel("k", 1, 3000, 3500));
    add(copy(ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_DTOH, 3, 2, 1), 0, 4000, 4100, 64));
    traced_take(&t);
    const struct trace_lane *l = traced_lane(&t, "GPU 0 stream 7");
    const struct trace_event *e = traced_event(&t, l, 0);
    CHECK(l && l->activities && l->thread == SNAPSHOT_NONE && l->count == 2);
    CHECK_EQ_U64(e->kind, TRACE_SPAN);
    CHECK_EQ_U64(e->site, 0);
    CHECK_EQ_U64(e->node, SNAPSHOT_NONE);
    CHECK_STR_EQ(name_of(e), "k");
    CHECK_EQ_U64(e->duration_ns, 500);
    CHECK_EQ_U64(e->launch_thread, 0);
    CHECK_EQ_U64(e->start_ns - e->launch_ns, 2000);
    e = traced_event(&t, l, 1); /* unknown */
    CHECK_STR_EQ(name_of(e), "memcpy DtoH");
    CHECK_EQ_U64(e->launch_thread, SNAPSHOT_NONE);
    traced_check(&t);
    traced_free(&t);
}

/* Makes a lane like that of a GPU timer. */
static void timer_lane(uint64_t stream, uint32_t number) {
    uint32_t unit = arena_get(sizeof(struct arena_lane), ARENA_RECORD);
    struct arena_lane *l = arena_at(unit);
    REGISTER_TIMER("timed on the GPU");
    l->ring = ring_new();
    l->number = number;
    l->stream = stream;
    l->next = arena_header()->first_lane;
    arena_header()->first_lane = unit;
    ring_add_span(ring_at(l->ring), stint_impl_thread_here->top->node, FAKE_START + 10, 20);
}

/* Lanes of a merged file name their rank and process, as its threads do. */
TEST(trace_activity, lanes_of_merged_files_say_whose_they_are) {
    traced_open();
    struct activity_record r = kernel("k", 1, 10, 20);
    add(r);
    r.start += 5; /* beside the first */
    r.end += 5;
    add(r);
    timer_lane(0x1234, 9);
    struct arena_lane *l = arena_at(arena_header()->first_lane);
    l->pid = 4711;
    l = arena_at(l->next);
    l->rank = 3;
    l->pid = 4712;
    traced_take(&t);
    CHECK(traced_lane(&t, "0/4711 GPU 0 stream 9: timers"));
    CHECK(traced_lane(&t, "3/4712 GPU 0 stream 7"));
    CHECK(traced_lane(&t, "3/4712 GPU 0 stream 7 (overlapping 1)"));
    traced_free(&t);
}

/* The lane of a stream's timers says that it is one where there are two of a stream. */
TEST(trace_activity, names_of_lanes) {
    traced_open();
    struct activity_record r = kernel("k", 1, 10, 20);
    add(r);
    r.context = 3;
    r.device = 1;
    add(r);
    timer_lane(1, 8);
    timer_lane(0x1234, 9);
    traced_take(&t);
    CHECK(traced_lane(&t, "GPU 0 stream 7"));
    CHECK(traced_lane(&t, "GPU 1 context 3 stream 7"));
    CHECK(traced_lane(&t, "GPU 0 default stream 8: timers"));
    const struct trace_lane *l = traced_lane(&t, "GPU 0 stream 9: timers");
    CHECK(l && !l->activities);
    CHECK_EQ_U64(traced_event(&t, l, 0)->activity, SNAPSHOT_NONE);
    CHECK_STR_EQ(traced_name(&t, traced_event(&t, l, 0)), "timed on the GPU");
    traced_free(&t);
}

/* Activities at the same time are side by side, not inside each other. */
TEST(trace_activity, nothing_nests) {
    traced_open();
    add(kernel("long", 1, 1000, 9000));
    add(kernel("inside", 2, 2000, 3000));
    add(kernel("same start", 3, 1000, 1500));
    add(kernel("after", 4, 9000, 9500));
    traced_take(&t);
    CHECK_EQ_U64(t.t.lane_count, 2);
    CHECK_STR_EQ(t.t.lanes[1].name, "GPU 0 stream 7 (overlapping 1)");
    CHECK_EQ_U64(t.t.lanes[0].count, 2);
    CHECK_STR_EQ(name_of(traced_event(&t, &t.t.lanes[0], 1)), "after");
    CHECK_STR_EQ(name_of(traced_event(&t, &t.t.lanes[1], 0)), "same start");
    CHECK_STR_EQ(name_of(traced_event(&t, &t.t.lanes[1], 1)), "inside");
    for (uint64_t i = 0; i < t.t.event_count; ++i) {
        CHECK_EQ_U64(t.events[i].depth, 0);
    }
    traced_free(&t);
}

/* A span of a row that is not there, and one that names a scope's node: neither can be told. */
TEST(trace_activity, of_nothing) {
    traced_open();
    {
        REGISTER_TIMER("s");
        add(kernel("k", 1, 1000, 1500));
    }
    struct arena_lane *l = arena_at(arena_header()->first_lane);
    struct arena_thread *thread = arena_at(arena_header()->first_thread);
    ring_add_span(ring_at(l->ring), 3, FAKE_START + 2000, 10);
    ring_add_span(ring_at(l->ring), thread->root, FAKE_START + 3000, 10);
    traced_take(&t);
    const struct trace_lane *lane = traced_lane(&t, "GPU 0 stream 7");
    CHECK_EQ_U64(lane->count, 1);
    CHECK_EQ_U64(lane->overwritten, 2);
    traced_free(&t);
}

/* A launch too long ago for its payload, one by a thread that is none, and no payload at all. */
TEST(trace_activity, launches_nobody_knows) {
    traced_open();
    REGISTER_TIMER("s"); /* there is a thread */
    fake_advance(10000000);
    add(kernel("k", 0, 1000, 1500));
    struct arena_lane *l = arena_at(arena_header()->first_lane);
    struct stint_impl_ring *ring = ring_at(l->ring);
    uint32_t row = arena_header()->first_activity;
    uint64_t thread = (uint64_t)arena_header()->first_thread << STINT_IMPL_SPAN_BITS;
    uint64_t span = stint_impl_span(row, 10);
    ring_add_pair(ring, FAKE_START + 2 * STINT_IMPL_SPAN_LONG, span, thread | STINT_IMPL_SPAN_LONG);
    ring_add_pair(ring, FAKE_START + 3000, span, (uint64_t)1 << STINT_IMPL_SPAN_BITS | 5);
    ring_add_span(ring, row, FAKE_START + 4000, 10);
    traced_take(&t);
    const struct trace_lane *lane = traced_lane(&t, "GPU 0 stream 7");
    CHECK_EQ_U64(lane->count, 4);
    for (uint64_t i = 0; i < lane->count; ++i) {
        CHECK_EQ_U64(traced_event(&t, lane, i)->launch_thread, SNAPSHOT_NONE);
    }
    traced_free(&t);
}
