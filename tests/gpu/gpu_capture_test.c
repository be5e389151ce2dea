/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture ranges over the driver double: the calls of cuProfilerStart and cuProfilerStop, their
 * context and their moment. The double counts them; no call may be made in a possible signal
 * handler.
 */
#include <pthread.h>

#include "../unit/recorded.h"
#include "cuda_double.h"

static void begin_gpu(void) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
    double_init();
}

TEST(gpu_capture, outermost_range_starts_and_stops) {
    begin_gpu();
    for (int i = 0; i < 3; ++i) {
        REGISTER_GPU_PROFILER("outer");
        REGISTER_GPU_PROFILER("inner");
        CHECK(double_profiling(NULL));
    }
    CHECK(!double_profiling(NULL));
    CHECK_EQ_U64(double_profiler_starts(), 3);
    CHECK_EQ_U64(double_profiler_stops(), 3);
}

TEST(gpu_capture, waits_for_a_context) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
    {
        REGISTER_GPU_PROFILER("train");
        CHECK_EQ_U64(double_profiler_starts(), 0);
        double_init();
        { REGISTER_GPU_TIMER("first", NULL); }
        CHECK_EQ_U64(double_profiler_starts(), 1);
    }
    CHECK_EQ_U64(double_profiler_stops(), 1);
}

/* ---- A range before the program's first CUDA call. */

static void begin_without_a_context(void) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
}

TEST(gpu_capture, an_ordinary_scope_finds_the_context) {
    begin_without_a_context();
    {
        REGISTER_GPU_PROFILER("train");
        { REGISTER_TIMER("before"); }
        CHECK_EQ_U64(double_profiler_starts(), 0);
        double_init();
        {
            REGISTER_TIMER("first");
            CHECK(double_profiling(NULL));
        }
        { REGISTER_TIMER("second"); }
    }
    CHECK_EQ_U64(double_profiler_starts(), 1);
    CHECK_EQ_U64(double_profiler_stops(), 1);
}

TEST(gpu_capture, the_end_of_a_scope_finds_the_context) {
    begin_without_a_context();
    REGISTER_GPU_PROFILER("train");
    {
        REGISTER_TIMER("setup");
        double_init();
        fake_advance(1000); /* the longest yet */
    }
    CHECK(double_profiling(NULL));
}

TEST(gpu_capture, a_dynamic_scope_finds_the_context) {
    begin_without_a_context();
    REGISTER_GPU_PROFILER("train");
    double_init();
    CHECK(!stint_scope_begin("name"));
    CHECK(double_profiling(NULL));
    CHECK(!stint_scope_end("name"));
}

TEST(gpu_capture, a_step_finds_the_context) {
    begin_without_a_context();
    REGISTER_GPU_PROFILER("train");
    stint_step();
    CHECK_EQ_U64(double_profiler_starts(), 0);
    double_init();
    stint_step();
    CHECK(double_profiling(NULL));
}

TEST(gpu_capture, a_scope_that_may_be_in_a_handler_makes_no_call) {
    sigset_t one;
    begin_without_a_context();
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    REGISTER_GPU_PROFILER("train");
    double_init();
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    double_calls_clear();
    { REGISTER_TIMER("handler"); }
    CHECK_EQ_U64(double_calls_all(), 0);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    { REGISTER_TIMER("after"); }
    CHECK(double_profiling(NULL));
}

/* When none is pending a scope costs no call. */
TEST(gpu_capture, scopes_make_no_call_otherwise) {
    begin_gpu();
    { REGISTER_GPU_PROFILER("train"); }
    double_calls_clear();
    { REGISTER_TIMER("after"); }
    CHECK(!stint_scope_begin("name"));
    CHECK(!stint_scope_end("name"));
    CHECK_EQ_U64(double_calls_all(), 0);
}

static void range_without_a_context(NO_ARG) {
    REGISTER_GPU_PROFILER("lonely");
    stint_step();
}

TEST(gpu_capture, says_that_no_context_ever_came) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
    double_init_without_context();
    char *said = harness_capture(2, range_without_a_context, NULL);
    CHECK_CONTAINS(said, "nothing was captured in [lonely]: no CUDA context");
    CHECK_EQ_U64(double_profiler_starts(), 0);
}

TEST(gpu_capture, stops_where_it_started) {
    begin_gpu();
    void *first = double_context_current(), *second = double_context_new(1);
    GPU_PROFILER_START("range");
    double_context_make_current(second);
    GPU_PROFILER_STOP();
    CHECK(!double_profiling(first));
    CHECK(double_profiler_context() == first);
    CHECK(double_context_current() == second);
}

TEST(gpu_capture, by_steps_without_a_range) {
    setenv("STINT_CAPTURE", "steps 2-3", 1);
    begin_gpu();
    int on[8] = {0};
    for (int i = 0; i < 8; ++i) {
        on[i] = double_profiling(NULL);
        REGISTER_GPU_TIMER("work", NULL);
        stint_step();
    }
    for (int i = 0; i < 8; ++i) {
        CHECK(on[i] == (i == 2 || i == 3));
    }
}

TEST(gpu_capture, an_error_is_named) {
    begin_gpu();
    double_fail("cuProfilerStart:*=999");
    CHECK_CONTAINS(harness_capture(2, range_without_a_context, NULL), "CUDA_ERROR_UNKNOWN");
}
