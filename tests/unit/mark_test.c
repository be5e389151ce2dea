/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TIMER_MARK and TIMER_VALUE: their events in the trace, their order, and their counts of losses.
 * Signal handlers that record at every instruction must not lose an event without a count.
 */
#include <math.h>
#include <pthread.h>

#include "stepping.h"
#include "support.h"
#include "traced.h"

static void begin_trace(const char *bytes) {
    setenv("STINT_TRACE", bytes, 1);
}

TEST(mark, marks_and_values_are_events) {
    begin_trace("64K");
    {
        REGISTER_TIMER("scope");
        fake_advance(3);
        TIMER_MARK("mark");
        fake_advance(2);
        TIMER_VALUE("value", -1.5);
        TIMER_VALUE("value", 3);
        fake_advance(1);
    }
    const struct traced *t = traced_now();
    const struct trace_lane *l = &t->t.lanes[0];
    CHECK_EQ_U64(t->t.lane_count, 1);
    CHECK_EQ_U64(l->count, 4);
    CHECK_EQ_U64(l->overwritten, 0);
    const struct trace_event *e = traced_event(t, l, 1);
    CHECK_EQ_U64(e->kind, TRACE_MARK);
    CHECK_EQ_U64(e->start_ns, 3);
    CHECK_STR_EQ(traced_name(t, e), "mark");
    e = traced_event(t, l, 2);
    CHECK_EQ_U64(e->kind, TRACE_VALUE);
    CHECK_EQ_U64(e->start_ns, 5);
    double low = fmin(e[0].value, e[1].value), high = fmax(e[0].value, e[1].value);
    CHECK(low == -1.5 && high == 3);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(mark, values_of_the_same_moment_keep_their_order) {
    begin_trace("64K");
    for (int i = 0; i < 100; ++i) {
        fake_advance(1);
        TIMER_VALUE("value", i * 0.25);
    }
    const struct traced *t = traced_now();
    for (unsigned i = 0; i < 100; ++i) {
        CHECK(traced_event(t, &t->t.lanes[0], i)->value == i * 0.25);
    }
}

TEST(mark, numbers_that_are_none_are_left_out_and_counted) {
    begin_trace("64K");
    TIMER_VALUE("value", NAN);
    TIMER_VALUE("value", INFINITY);
    TIMER_VALUE("value", 1e308);
    const struct traced *t = traced_now();
    CHECK_EQ_U64(traced_count(t, TRACE_VALUE, "value"), 1);
    CHECK(traced_event(t, &t->t.lanes[0], 0)->value == 1e308);
    CHECK_EQ_U64(traced_overwritten(t), 2);
}

static void values(int n) {
    for (int i = 0; i < n; ++i) {
        TIMER_VALUE("value", i);
    }
}

TEST(mark, values_of_a_full_ring) {
    begin_trace("4096");
    TIMER_MARK("odd"); /* so that the last value's payload is in the first place */
    values(1000);
    const struct traced *t = traced_now();
    CHECK_EQ_U64(traced_count(t, TRACE_VALUE, "value"), 128);
    TIMER_MARK("odd");
    t = traced_now(); /* now a payload is gone whose value is still there */
    CHECK_EQ_U64(traced_count(t, TRACE_VALUE, "value"), 127);
    CHECK_EQ_U64(traced_overwritten(t), 2002 - 256 + 1);
}

TEST(mark, off_and_filtered_ones_are_not_kept) {
    begin_trace("64K");
    stint_filter_set("-secret");
    TIMER_MARK("secret");
    TIMER_MARK("seen");
    stint_timers_enable(0);
    TIMER_MARK("off");
    TIMER_VALUE("off", 1);
    stint_timers_enable(1);
    const struct traced *t = traced_now();
    CHECK_EQ_U64(t->t.event_count, 1);
    CHECK_EQ_U64(traced_count(t, TRACE_MARK, "seen"), 1);
}

TEST(mark, keeps_errno) {
    begin_trace("64K");
    errno = 1234;
    TIMER_MARK("mark");
    TIMER_VALUE("value", 1);
    CHECK_EQ_U64((uint64_t)errno, 1234);
}

/* ---- Handlers at every instruction. */

static unsigned handled;

static void handler(int number) {
    (void)number;
    ++handled;
    TIMER_MARK("handler.mark");
    TIMER_VALUE("handler.value", handled);
    REGISTER_TIMER("handler.scope");
}

static void scope(void) {
    REGISTER_TIMER("main.scope");
    fake_advance(1);
}

static void everything(void) {
    scope();
    TIMER_MARK("main.mark");
    TIMER_VALUE("main.value", 42);
    REGISTER_TIMER("main.outer");
    scope();
}

static void check_all_there(unsigned rounds) {
    const struct traced *t = traced_now();
    traced_check(t);
    uint64_t refused = lost(STINT_STATUS_IN_SLOW_PATH);
    CHECK(handled > 100);
    CHECK_EQ_U64(traced_overwritten(t), 0);
    CHECK_EQ_U64(traced_count(t, TRACE_SPAN, "main.scope"), 2 * rounds);
    CHECK_EQ_U64(traced_count(t, TRACE_SPAN, "main.outer"), rounds);
    CHECK_EQ_U64(traced_count(t, TRACE_MARK, "main.mark"), rounds);
    CHECK_EQ_U64(traced_count(t, TRACE_VALUE, "main.value"), rounds);
    CHECK_EQ_U64(traced_count(t, TRACE_SPAN, "handler.scope") +
                     traced_count(t, TRACE_MARK, "handler.mark") +
                     traced_count(t, TRACE_VALUE, "handler.value") + refused,
                 3 * (uint64_t)handled);
    for (uint64_t i = 0; i < t->t.event_count; ++i) {
        const struct trace_event *e = &t->events[i];
        if (e->kind == TRACE_VALUE && !strcmp(traced_name(t, e), "main.value")) {
            CHECK(e->value == 42);
        }
    }
    CHECK_EQ_U64(lost_in_all(), refused);
}

TEST(mark, handlers_at_every_instruction_lose_no_event) {
    NEEDS_STEPPING(handler);
    begin_trace("64M");
    everything();
    handler(0);
    stepping(1);
    for (int i = 0; i < 10; ++i) {
        everything();
    }
    stepping(0);
    CHECK_EQ_U64(lost(STINT_STATUS_IN_SLOW_PATH), 0);
    check_all_there(11);
}

TEST(mark, handlers_at_every_instruction_of_the_first_use) {
    NEEDS_STEPPING(handler);
    begin_trace("64M");
    stepping(1);
    everything();
    stepping(0);
    check_all_there(1);
}

static unsigned longest;

static void long_handler(int number) {
    (void)number;
    ++handled;
    TIMER_MARK("handler.mark");
}

/* Long spans and values take two places; nothing comes between them. */
TEST(mark, handlers_at_every_instruction_of_a_pair) {
    NEEDS_STEPPING(long_handler);
    begin_trace("64M");
    TIMER_MARK("handler.mark");
    fake_advance(4 * STINT_IMPL_SPAN_LONG);
    stint_sample_add("main.long", STINT_IMPL_SPAN_LONG);
    stepping(1);
    stint_sample_add("main.long", 3 * STINT_IMPL_SPAN_LONG);
    stepping(0);
    const struct traced *t = traced_now();
    for (uint64_t i = 0; i < t->t.event_count; ++i) {
        longest += t->events[i].duration_ns == 3 * STINT_IMPL_SPAN_LONG;
    }
    CHECK_EQ_U64(longest, 1);
    CHECK_EQ_U64(traced_overwritten(t), 0);
}
