/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While a thread calls the driver for a GPU scope, another thread finds that the scope's context
 * has been destroyed, and a context of another device takes its place in the table: nothing of the
 * first is recorded of the second. The double's hook stops the thread at a call of each kind.
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>

#include "../unit/traced.h"
#include "cuda_double.h"
#include "gpu/gpu.h"

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

static void stop(const char *function, void *unused) {
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
    (void)unused;
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
    int status = -1;
    pid_t child = fork(); /* from a state in which nothing was recorded */
    if (!child) {
        unsigned before = harness_result->failures;
        begin();
        scope_of_first(function);
        check_second();
        check_losses();
        _exit(harness_result->failures != before);
    }
    waitpid(child, &status, 0);
    if (!CHECK(status == 0)) {
        dprintf(harness_fd, "    stopped at %s\n", function);
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
    struct traced t;
    setenv("STINT_TRACE", "1M", 1);
    begin();
    scope_of_first(NULL);
    take_place(NULL);
    double_advance(1000000);
    stint_gpu_flush();
    traced_take(&t);
    traced_check(&t.t);
    CHECK_EQ_U64(t.t.lane_count, 3); /* the thread's, and the streams' */
    const struct trace_lane *l = traced_lane(&t, "GPU 0");
    CHECK_EQ_U64(l ? l->count : 0, 1);
    CHECK_STR_EQ(traced_name(&t, traced_event(&t, l, 0)), "first");
    l = traced_lane(&t, "GPU 1");
    CHECK_EQ_U64(l ? l->count : 0, 1);
    CHECK_STR_EQ(traced_name(&t, traced_event(&t, l, 0)), "second");
    traced_free(&t);
}

HARNESS_MAIN()
