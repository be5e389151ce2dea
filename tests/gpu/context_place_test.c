/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of contexts that the event pool knows. While a thread calls the driver for a GPU scope,
 * another thread finds that the scope's context has been destroyed, and a context of another device
 * takes its place in the table: nothing of the first is recorded of the second. The double's hook
 * stops the thread at a call of each kind. When the table is full, the context that has not been in
 * use for the longest time loses its place. Times that cannot be asked for delay no others.
 */
#include <semaphore.h>

#include "../unit/traced.h"
#include "cuda_double.h"
#include "gpu/gpu.h"
#include "harness_threads.h"

static void *first, *second; /* contexts of device 0, which is primary, and of device 1 */
static const char *stopped_at;
static int stops_too; /* the other thread, while it looks up the device of the second context */
static pthread_t other;
static int has_other;
static sem_t taken, go_on;

static void begin(void) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
    double_init();
    first = double_context_current();
    second = double_context_new(1);
    sem_init(&taken, 0, 0);
    sem_init(&go_on, 0, 0);
}

static void scope_of_second(void) {
    REGISTER_GPU_TIMER("second", GPU_STREAM_LEGACY);
    double_launch(GPU_STREAM_LEGACY, 70);
}

static void *take_place(void *unused) {
    double_context_make_current(first);
    CHECK(!double_fail("cuEventRecord:1=201")); /* no valid context */
    { REGISTER_GPU_TIMER("found", GPU_STREAM_LEGACY); }
    double_context_make_current(second);
    scope_of_second();
    sem_post(&taken);
    return unused;
}

static void stop(const char *function, NO_ARG) {
    if (stopped_at && !strcmp(function, stopped_at)) {
        stopped_at = NULL; /* once */
        has_other = !pthread_create(&other, NULL, take_place, NULL);
        sem_wait(&taken);
    } else if (stops_too && !strcmp(function, "cuDeviceGetName") &&
               double_context_current() == second) {
        stops_too = 0;
        sem_post(&taken);
        sem_wait(&go_on);
    }
}

static void join_other(void) {
    sem_post(&go_on);
    if (has_other) {
        pthread_join(other, NULL);
    }
    has_other = 0;
}

/* A scope of the first context, which is stopped in itself or in its poll. */
static void scope_of_first(const char *at) {
    stopped_at = at;
    double_hook(stop, NULL);
    {
        REGISTER_GPU_TIMER("first", GPU_STREAM_LEGACY);
        join_other();
        double_launch(GPU_STREAM_LEGACY, 100);
    }
    double_advance(1000000);
    stint_gpu_flush();
    join_other();
    double_hook(NULL, NULL);
    CHECK(stopped_at == NULL && !stops_too);
}

/* Its time is only asked for in its own context, as it is no primary one. */
static void check_second(void) {
    double_context_make_current(NULL);
    double_advance(1000000);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("second").gpu_calls, 0);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 1);
    double_context_make_current(second);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("second").gpu_calls, 1);
    CHECK_EQ_U64(stat_of("second").gpu_total_ns, 70);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 0);
}

static void check_losses(void) {
    CHECK_EQ_U64(stat_of("first").calls, 1);
    CHECK_EQ_U64(stat_of("first").gpu_calls, 0);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_CONTEXT), 1);   /* "first" */
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1); /* "found" */
    CHECK_EQ_U64(lost_in_all(), 2);
}

static void check_call(const char *function) {
    IN_CHILD_ABOUT(function) { /* from a state in which nothing was recorded */
        begin();
        scope_of_first(function);
        check_second();
        check_losses();
    }
}

/* The first scope of a context looks up its device. */
TEST(context_place, taken_while_the_device_is_looked_up) {
    check_call("cuDeviceGetName");
    check_call("cuDevicePrimaryCtxGetState");
    check_call("cuDevicePrimaryCtxRetain");
    check_call("cuDevicePrimaryCtxRelease");
}

TEST(context_place, taken_while_both_devices_are_looked_up) {
    stops_too = 1;
    check_call("cuDevicePrimaryCtxRelease");
}

TEST(context_place, taken_while_the_first_event_is_recorded) {
    check_call("cuEventCreate");
    check_call("cuEventRecord");
}

/* The time of the first context is known by then, but not which device it was. */
TEST(context_place, taken_while_the_events_are_queried) {
    check_call("cuEventQuery");
    check_call("cuEventElapsedTime");
}

/* Both have a stream with that handle. */
TEST(context_place, lanes_are_those_of_each_device) {
    setenv("STINT_TRACE", "1M", 1);
    begin();
    scope_of_first(NULL);
    take_place(NULL);
    double_advance(1000000);
    stint_gpu_flush();
    const struct traced *t = traced_now();
    traced_check(t);
    CHECK_EQ_U64(t->t.lane_count, 3); /* the thread's, and the streams' */
    const struct trace_lane *l = traced_lane(t, "GPU 0");
    CHECK_EQ_U64(l ? l->count : 0, 1);
    CHECK_STR_EQ(traced_name(t, traced_event(t, l, 0)), "first");
    l = traced_lane(t, "GPU 1");
    CHECK_EQ_U64(l ? l->count : 0, 1);
    CHECK_STR_EQ(traced_name(t, traced_event(t, l, 0)), "second");
}

static void scope_in(void *context) {
    double_context_make_current(context);
    {
        REGISTER_GPU_TIMER("scope", NULL);
        double_launch(NULL, 100);
    }
    double_advance(100);
    stint_gpu_flush();
}

enum { PLACES = 1024 };

/* As a program that makes a context for each job, and has another one all the time. */
static void contexts_in_turn(int count) {
    for (int i = 0; i < count; ++i) {
        void *context = double_context_new(i % 4);
        scope_in(context);
        double_context_destroy(context);
        scope_in(first);
    }
}

TEST(context_place, more_contexts_in_turn_than_places) {
    begin();
    contexts_in_turn(3 * PLACES);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 6 * PLACES);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* Nothing tells that they are gone. */
static void end_contexts_with_work_in_flight(int count, void *stream) {
    for (int i = 0; i < count; ++i) {
        void *context = double_context_new(1);
        double_context_make_current(context);
        {
            REGISTER_GPU_TIMER("ended", stream);
            double_launch(stream, 70);
        }
        double_context_destroy(context);
    }
}

TEST(context_place, after_contexts_that_ended_with_work_in_flight) {
    setenv("STINT_GPU_IN_FLIGHT", "4000", 1);
    begin();
    end_contexts_with_work_in_flight(PLACES, NULL);
    contexts_in_turn(2 * PLACES);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 4 * PLACES);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_CONTEXT), PLACES);
    CHECK_EQ_U64(lost_in_all(), PLACES);
}

TEST(context_place, many_contexts_keep_their_events) {
    enum { MANY = 100, ROUNDS = 20 };
    void *contexts[MANY];
    begin();
    for (int i = 0; i < MANY; ++i) {
        contexts[i] = double_context_new(0);
    }
    for (int i = 0; i < ROUNDS * MANY; ++i) {
        scope_in(contexts[i % MANY]);
    }
    CHECK_EQ_U64(stat_of("scope").gpu_calls, ROUNDS * MANY);
    CHECK_EQ_U64(double_events_made(), 2 * MANY);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(context_place, a_context_with_an_open_scope_keeps_its_own) {
    setenv("STINT_GPU_IN_FLIGHT", "4000", 1);
    begin();
    end_contexts_with_work_in_flight(PLACES, NULL);
    scope_in(first);
    stint_gpu_flush();
    double_context_make_current(second);
    {
        REGISTER_GPU_TIMER("around", NULL);
        contexts_in_turn(2 * PLACES);
        double_context_make_current(second);
    }
    double_advance(100);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("around").gpu_calls, 1);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 4 * PLACES + 1);
    CHECK_EQ_U64(lost_in_all(), PLACES);
}

/* Streams with the same handle share a few queues. */
TEST(context_place, work_in_flight_of_ended_contexts_delays_no_other) {
    begin();
    end_contexts_with_work_in_flight(20, NULL);
    for (int i = 0; i < 20; ++i) {
        scope_in(first);
    }
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 20);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 20);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void work(uint64_t ns) {
    REGISTER_GPU_TIMER("work", GPU_STREAM_LEGACY);
    double_launch(GPU_STREAM_LEGACY, ns);
}

/* The spans of a stream's lane depend on each other. */
static void check_order(void) {
    double_context_make_current(second);
    work(70);
    work(71);
    double_context_make_current(NULL);
    stint_gpu_flush(); /* asks for neither */
    double_context_make_current(second);
    work(72);
    double_advance(1000000);
    stint_gpu_flush();
    const struct traced *t = traced_now();
    traced_check(t);
    uint64_t next = 70;
    for (uint64_t i = 0; i < t->t.event_count; ++i) {
        const struct trace_event *e = &t->events[i];
        if (!strcmp(traced_name(t, e), "work") && e->duration_ns) {
            CHECK_EQ_U64(e->duration_ns, next++);
        }
    }
    CHECK_EQ_U64(next, 73);
}

TEST(context_place, times_that_wait_for_their_context_keep_their_order) {
    setenv("STINT_TRACE", "1M", 1);
    begin();
    check_order();
}

TEST(context_place, in_a_shared_queue_too) {
    setenv("STINT_TRACE", "1M", 1);
    begin();
    end_contexts_with_work_in_flight(8, GPU_STREAM_LEGACY);
    check_order();
}

/* More than there are queues. */
TEST(context_place, times_of_many_streams_wait_for_their_context) {
    begin();
    double_context_make_current(second);
    for (int i = 0; i < 600; ++i) {
        void *stream = double_stream_new(NULL);
        REGISTER_GPU_TIMER("scope", stream);
        double_launch(stream, 70);
    }
    double_context_make_current(NULL);
    stint_gpu_flush();
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 600);
    double_context_make_current(second);
    double_advance(1000000);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 600);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 0);
}

/* Only those of contexts that may be gone make room. */
TEST(context_place, a_context_that_is_current_again_loses_no_times) {
    setenv("STINT_GPU_IN_FLIGHT", "4", 1);
    begin();
    double_context_make_current(second);
    scope_of_second();
    double_context_make_current(NULL);
    stint_gpu_flush();
    double_context_make_current(second);
    for (int i = 0; i < 5; ++i) {
        scope_of_second();
    }
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_CONTEXT), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_DROPPED), 2);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 4);
}

static void *crash_device(void *unused) {
    double_context_make_current(first);
    CHECK(!double_fail("cuEventRecord:1=700"));
    { REGISTER_GPU_TIMER("crash", NULL); }
    return unused;
}

static void crash_once(const char *function, NO_ARG) {
    if (stopped_at && !strcmp(function, stopped_at)) {
        stopped_at = NULL;
        thread_run(crash_device, NULL);
    }
}

/* No later call asks for the time. */
TEST(context_place, the_device_crashes_while_the_context_is_looked_for) {
    begin();
    double_context_make_current(second);
    scope_of_second();
    double_context_make_current(NULL);
    stopped_at = "cuCtxGetCurrent";
    double_hook(crash_once, NULL);
    stint_gpu_flush();
    double_hook(NULL, NULL);
    CHECK(!stopped_at);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 0);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_FAILED) + lost(STINT_STATUS_GPU_CONTEXT), 2);
}
