/* SPDX-License-Identifier: Apache-2.0 */
#include "activity_made.h"
#include "record/ring.h"

static const struct arena_lane *lane_newest(void) {
    uint32_t unit = arena_header()->first_lane;
    return unit ? arena_at(unit) : NULL;
}

/* Returns the event of that number in the newest lane. */
static const struct stint_impl_event *place(uint64_t number) {
    return stint_impl_ring_event(ring_at(lane_newest()->ring), number);
}

static uint64_t places(void) {
    return ring_at(lane_newest()->ring)->head;
}

static void traced_open(const char *least) {
    setenv("STINT_TRACE", "8M", 1);
    setenv("STINT_TRACE_MIN", least, 1);
    CHECK(!activity_open());
}

static uint64_t payload(uint32_t thread, uint64_t ticks) {
    return (uint64_t)thread << STINT_IMPL_SPAN_BITS | ticks;
}

TEST(activity_lane, span_and_launch) {
    traced_open("0");
    REGISTER_TIMER("s");
    fake_advance(1000);
    activity_launch(1);
    fake_advance(9000);
    add(kernel("k", 1, 3000, 3500));
    const struct arena_lane *l = lane_newest();
    CHECK_EQ_U64(l->kind, ARENA_LANE_ACTIVITIES);
    CHECK_EQ_U64(l->number, 1);
    CHECK_EQ_U64(l->stream, 7);
    CHECK_EQ_U64(l->context, 1);
    CHECK_EQ_U64(l->device, row_newest()->device);
    CHECK_EQ_U64(places(), 2);
    uint64_t at = FAKE_START + 3000;
    uint64_t kind = (uint64_t)STINT_IMPL_EVENT_PAYLOAD << STINT_IMPL_EVENT_KIND;
    CHECK_EQ_U64(place(0)->at, kind | at);
    uint32_t thread = arena_header()->first_thread;
    CHECK_EQ_U64(place(0)->what, payload(thread, 2000));
    CHECK_EQ_U64(place(1)->at, at);
    uint32_t unit = arena_header()->first_activity;
    CHECK_EQ_U64(place(1)->what, stint_impl_span(unit, 500));
}

TEST(activity_lane, launch_that_is_known_by_its_record) {
    traced_open("0");
    fake_advance(100000);
    add(call("cudaLaunchKernel", 1, 2500, 2600));
    add(kernel("k", 1, 3000, 3500));
    CHECK_EQ_U64(place(0)->what, payload(0, 500));
    add(kernel("k", 2, 4000, 4500)); /* not at all */
    CHECK_EQ_U64(place(2)->what, payload(0, STINT_IMPL_SPAN_LONG));
    add(call("cudaLaunchKernel", 3, 9000, 9100)); /* clocks that do not agree */
    add(kernel("k", 3, 5000, 5500));
    CHECK_EQ_U64(place(4)->what, payload(0, 0));
}

TEST(activity_lane, one_a_stream) {
    traced_open("0");
    add(kernel("k", 1, 10, 20));
    add(on_stream(8, kernel("k", 1, 30, 40)));
    struct activity_record r = kernel("k", 1, 50, 60);
    r.context = 2;
    add(r);
    r.device = 1;
    add(r);
    CHECK_EQ_U64(lane_newest()->number, 4);
    CHECK_EQ_U64(places(), 2);
    add(copy(1, 1, 70, 80, 8)); /* with the kernels of its stream */
    CHECK_EQ_U64(arena_header()->lane_count, 4);
    add(call("cudaMalloc", 1, 10, 20)); /* not on a stream */
    CHECK_EQ_U64(arena_header()->lane_count, 4);
}

TEST(activity_lane, more_streams_than_lanes) {
    traced_open("0");
    for (uint32_t i = 1; i <= 100; ++i) {
        add(on_stream(i, kernel("k", 1, 10 * i, 10 * i + 5)));
    }
    CHECK_EQ_U64(arena_header()->lane_count, 64);
    CHECK_EQ_U64(lane_newest()->stream, 0);
    CHECK_EQ_U64(places(), 2 * 37);
    add(on_stream(5, kernel("k", 1, 5000, 5005)));
    CHECK_EQ_U64(places(), 2 * 37);
}

TEST(activity_lane, short_ones_are_left_out) {
    traced_open("100ns");
    add(kernel("k", 1, 1000, 1100));
    add(kernel("k", 1, 2000, 2099));
    CHECK_EQ_U64(places(), 2);
}

TEST(activity_lane, none_without_a_trace) {
    CHECK(!activity_open());
    add(kernel("k", 1, 1000, 1100));
    CHECK(!lane_newest());
}

/* The oldest give way. */
TEST(activity_lane, ring_goes_round) {
    setenv("STINT_TRACE", "64K", 1);
    CHECK(!activity_open());
    for (uint64_t i = 1; i <= 5000; ++i) {
        add(kernel("k", 1, 100 * i, 100 * i + 50));
    }
    uint64_t size = ring_at(lane_newest()->ring)->mask + 1;
    CHECK_EQ_U64(places(), 10000);
    CHECK(size < 10000);
    CHECK_EQ_U64(place(9999)->at, FAKE_START + 500000);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_TRACE), 0);
}
