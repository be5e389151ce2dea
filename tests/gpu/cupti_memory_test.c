/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a device over time: a lane of the trace with the bytes that are allocated from each
 * allocation and free on, in any order in which the records come.
 */
#include "../unit/recorded.h"
#include "../unit/traced.h"
#include "capture/tracer.h"
#include "cupti_double.h"

#define DEVICE_MEMORY 3

static void begin_traced(const char *trace) {
    setenv("STINT_CUPTI_LIB", CUPTI_DOUBLE_LIBRARY, 1);
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    if (trace) {
        setenv("STINT_TRACE", trace, 1);
    }
    cupti_double_reset(fake_advance, fake_read);
    CHECK(!tracer_start());
    fake_advance(1000);
}

static const struct traced *take_trace(void) {
    tracer_flush(TRACER_COMPLETE);
    const struct traced *t = traced_now();
    traced_check(t);
    return t;
}

static void check_value(const struct traced *t, const struct trace_lane *l, uint64_t number,
                        uint64_t bytes) {
    const struct trace_event *e = traced_event(t, l, number);
    CHECK(e->kind == TRACE_VALUE && e->activity < t->s.activity_count);
    CHECK(e->launch_thread == SNAPSHOT_NONE);
    CHECK_EQ_U64((uint64_t)e->value, bytes);
}

TEST(cupti_memory, a_lane_a_device) {
    begin_traced("1M");
    cupti_double_alloc(0, 0x1000, 1 << 20, DEVICE_MEMORY);
    cupti_double_alloc(1, 0x2000, 4096, DEVICE_MEMORY);
    cupti_double_alloc(0, 0x3000, 512, DEVICE_MEMORY);
    cupti_double_free(0, 0x1000, 1 << 20, DEVICE_MEMORY);
    cupti_double_alloc(0, 0x4000, 99, 2); /* of the host */
    const struct traced *t = take_trace();
    const struct trace_lane *l = traced_lane(t, "GPU 0 memory");
    if (CHECK(l != NULL) && CHECK_EQ_U64(l->count, 3)) {
        CHECK(l->memory && !l->activities && l->thread == SNAPSHOT_NONE);
        check_value(t, l, 0, 1 << 20);
        check_value(t, l, 1, (1 << 20) + 512);
        check_value(t, l, 2, 512);
        const struct trace_event *first = traced_event(t, l, 0);
        CHECK_EQ_U64(traced_event(t, l, 1)->start_ns - first->start_ns, 2000); /* two calls */
        CHECK_EQ_U64(l->overwritten, 0);
    }
    l = traced_lane(t, "GPU 1 memory");
    if (CHECK(l != NULL) && CHECK_EQ_U64(l->count, 1)) {
        check_value(t, l, 0, 4096);
    }
}

TEST(cupti_memory, no_lane_without_a_trace) {
    begin_traced(NULL);
    cupti_double_alloc(0, 0x1000, 1 << 20, DEVICE_MEMORY);
    tracer_flush(TRACER_COMPLETE);
    CHECK_EQ_U64(arena_header()->first_lane, 0);
}

/* The newest values are kept, and how many are gone is known. */
TEST(cupti_memory, more_than_the_ring_holds) {
    begin_traced("64K");
    for (uint64_t i = 0; i < 20000; ++i) {
        cupti_double_alloc(0, 0x1000 * (i + 1), 16, DEVICE_MEMORY);
    }
    const struct traced *t = take_trace();
    const struct trace_lane *l = traced_lane(t, "GPU 0 memory");
    if (CHECK(l && l->count > 0 && l->overwritten > 0)) {
        check_value(t, l, l->count - 1, 20000 * 16);
    }
}
