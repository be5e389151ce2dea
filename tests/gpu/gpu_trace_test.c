/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lanes of GPU streams in a trace: one lane per stream, with spans nested as they ran on the
 * stream. The driver double decides the times that the spans must have.
 */
#include <pthread.h>

#include "../unit/traced.h"
#include "cuda_double.h"

static void begin(void) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    setenv("STINT_TRACE", "1M", 1);
    double_reset();
    double_init();
}

static const struct traced *take(void) {
    double_advance((uint64_t)1 << 40);
    CHECK(!stint_gpu_flush());
    const struct traced *t = traced_now();
    traced_check(t);
    return t;
}

static void check_span(const struct traced *t, const struct trace_lane *l, uint64_t number,
                       const char *name, uint64_t ns, uint32_t depth) {
    const struct trace_event *e = traced_event(t, l, number);
    if (CHECK(e->kind == TRACE_SPAN)) {
        CHECK_STR_EQ(traced_name(t, e), name);
        CHECK_EQ_U64(e->duration_ns, ns);
        CHECK_EQ_U64(e->depth, depth);
    }
}

static void nested(void *s) {
    REGISTER_GPU_TIMER("outer", s);
    double_launch(s, 100);
    for (int i = 0; i < 2; ++i) {
        REGISTER_GPU_TIMER("inner", s);
        double_launch(s, 1000);
    }
    double_launch(s, 100);
}

TEST(gpu_trace, nested_scopes_on_one_stream) {
    begin();
    void *s = double_stream_new(NULL);
    nested(s);
    nested(s);
    const struct traced *t = take();
    const struct trace_lane *l = traced_lane(t, "GPU 0 stream 1");
    CHECK_EQ_U64(t->t.lane_count, 2); /* the thread's, and the stream's */
    CHECK_EQ_U64(l ? l->count : 0, 6);
    for (unsigned i = 0; i < 6; i += 3) {
        check_span(t, l, i, "outer", 2200, 0);
        check_span(t, l, i + 1, "inner", 1000, 1);
        check_span(t, l, i + 2, "inner", 1000, 1);
    }
    /* The CPU had ended the second before the GPU began it: it comes after the first. */
    CHECK_EQ_U64(traced_event(t, l, 3)->start_ns, traced_event(t, l, 0)->start_ns + 2200);
    CHECK_EQ_U64(l ? l->overwritten : 9, 0);
    CHECK_EQ_U64(l ? l->thread : 0, SNAPSHOT_NONE);
}

static void delay_record(const char *function, NO_ARG) {
    if (!strcmp(function, "cuEventRecord")) {
        fake_advance(63000);
    }
}

/* The GPU may reach the first event before the call that records it returns, as where the thread
 * loses its processor: a span that began later would end after the work did. */
TEST(gpu_trace, a_span_begins_before_its_first_event_is_recorded) {
    begin();
    void *s = double_stream_new(NULL);
    {
        REGISTER_TIMER("around");
        double_hook(delay_record, NULL);
        {
            REGISTER_GPU_TIMER("work", s);
            double_launch(s, 126000);
        }
        double_hook(NULL, NULL);
    }
    const struct traced *t = take();
    const struct trace_lane *host = &t->t.lanes[0], *l = traced_lane(t, "GPU 0 stream 1");
    const struct trace_event *around = traced_event(t, host, 0);
    CHECK_STR_EQ(traced_name(t, around), "around");
    check_span(t, l, 0, "work", 126000, 0);
    CHECK_EQ_U64(traced_event(t, l, 0)->start_ns, around->start_ns);
    CHECK_EQ_U64(around->duration_ns, 126000);
}

/* The host is late with an inner scope that the stream has long begun to wait for: the spans still
 * lie in each other. */
TEST(gpu_trace, inner_scopes_that_seem_to_end_late) {
    begin();
    void *s = double_stream_new(NULL);
    {
        REGISTER_GPU_TIMER("outer", s);
        double_launch(s, 10);
        fake_advance(500000); /* of the host alone */
        {
            REGISTER_GPU_TIMER("inner", s);
            double_launch(s, 2000);
        }
    }
    const struct traced *t = take();
    const struct trace_lane *l = traced_lane(t, "GPU 0 stream 1");
    CHECK_EQ_U64(t->t.lane_count, 2);
    check_span(t, l, 0, "outer", 502000, 0); /* as long as what is in it takes */
    check_span(t, l, 1, "inner", 2000, 1);
}

TEST(gpu_trace, a_lane_a_stream) {
    begin();
    void *a = double_stream_new(NULL), *b = double_stream_new(NULL);
    for (int i = 0; i < 3; ++i) {
        REGISTER_GPU_TIMER("a", a);
        double_launch(a, 500);
        REGISTER_GPU_TIMER("b", b);
        double_launch(b, 700);
    }
    const struct traced *t = take();
    const struct trace_lane *first = traced_lane(t, "stream 1");
    const struct trace_lane *second = traced_lane(t, "stream 2");
    CHECK_EQ_U64(t->t.lane_count, 3);
    CHECK(second > first);
    for (unsigned i = 0; i < 3; ++i) {
        check_span(t, first, i, "a", 500, 0);
        check_span(t, second, i, "b", 700, 0);
    }
}

static void *stream;
static pthread_barrier_t barrier;

static void *first_thread(void *unused) {
    double_context_make_current(unused);
    {
        REGISTER_GPU_TIMER("first", stream);
        double_launch(stream, 100);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier); /* the second has begun */
    }
    pthread_barrier_wait(&barrier);
    return NULL;
}

/* Neither is inside the other. */
TEST(gpu_trace, two_threads_on_one_stream) {
    pthread_t thread;
    begin();
    stream = double_stream_new(NULL);
    pthread_barrier_init(&barrier, NULL, 2);
    CHECK(!pthread_create(&thread, NULL, first_thread, double_context_current()));
    pthread_barrier_wait(&barrier);
    fake_advance(100);
    {
        REGISTER_GPU_TIMER("second", stream);
        double_launch(stream, 300);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier); /* the first has ended */
        double_launch(stream, 5000);
    }
    pthread_join(thread, NULL);
    const struct traced *t = take();
    const struct trace_lane *l = traced_lane(t, "stream 1");
    const struct trace_lane *beside = traced_lane(t, "stream 1 (overlapping 1)");
    CHECK_EQ_U64(l ? l->count : 0, 1);
    CHECK_EQ_U64(beside ? beside->count : 0, 1);
    check_span(t, l, 0, "first", 400, 0);
    check_span(t, beside, 0, "second", 5300, 0);
}

TEST(gpu_trace, default_streams_have_names) {
    begin();
    {
        REGISTER_GPU_TIMER("default", NULL);
        double_launch(NULL, 10);
    }
    {
        REGISTER_GPU_TIMER("own", (void *)(uintptr_t)2);
        double_launch((void *)(uintptr_t)2, 10);
    }
    const struct traced *t = take();
    check_span(t, traced_lane(t, "GPU 0 default stream"), 0, "default", 10, 0);
    check_span(t, traced_lane(t, "GPU 0 per-thread default stream"), 0, "own", 10, 0);
}

TEST(gpu_trace, more_streams_than_lanes_share_the_last) {
    begin();
    setenv("STINT_TRACE", "16M", 1);
    for (int i = 0; i < 100; ++i) {
        void *s = double_stream_new(NULL);
        REGISTER_GPU_TIMER("scope", s);
        double_launch(s, 10);
    }
    const struct traced *t = take();
    uint64_t spans = traced_count(t, TRACE_SPAN, "scope");
    CHECK(lost(STINT_STATUS_NO_TRACE) == 0);
    CHECK_EQ_U64(spans, 200); /* 100 on the CPU */
    CHECK(traced_lane(t, "other streams") != NULL);
    CHECK(traced_lane(t, "GPU 0 stream 63") != NULL);
}

TEST(gpu_trace, slow_ones_only) {
    begin();
    setenv("STINT_TRACE_MIN", "1us", 1);
    void *s = double_stream_new(NULL);
    for (int i = 0; i < 3; ++i) {
        REGISTER_GPU_TIMER("quick", s);
        double_launch(s, 999);
    }
    {
        REGISTER_GPU_TIMER("slow", s);
        double_launch(s, 1000);
    }
    const struct traced *t = take();
    CHECK_EQ_U64(t->t.event_count, 1);
    check_span(t, traced_lane(t, "stream 1"), 0, "slow", 1000, 0);
}
