/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler with CUPTI beside it, on the double: there while a profile of the GPU runs, given
 * back at its end, and no reason for a profile not to be made.
 */
#include "cupti_seen.h"

static void stop_profile(NO_ARG) {
    CHECK(!stint_profiler_stop("total", NULL));
}

static char *stopped(void) {
    char *said = harness_capture(2, stop_profile, NULL);
    CHECK_CONTAINS(said, "Profiling Report");
    CHECK(!tracer_is_on() && !cupti_double_subscribed());
    return said;
}

static void work(void) {
    REGISTER_TIMER("work");
    cupti_double_launch(&add_kernel);
    fake_advance(10000);
}

TEST(cupti_profiler, has_it_from_start_to_stop) {
    static const char *const states[] = {"GPU", "All", NULL};
    prepare_initialised();
    for (int i = 0; i < 3; ++i) {
        CHECK(!stint_profiler_start(states[i], NULL));
        CHECK(tracer_is_on() && cupti_double_subscribed());
        CHECK(stint_profiler_start(states[i], NULL) == STINT_ERROR_BUSY); /* one start */
        work();
        stopped();
        CHECK(count_of(ACTIVITY_KERNEL) == (unsigned)i + 1);
    }
}

TEST(cupti_profiler, a_profile_of_the_cpu_does_not_touch_it) {
    prepare();
    CHECK(!stint_profiler_start("CPU", NULL));
    { REGISTER_TIMER("work"); }
    stopped();
    CHECK_EQ_U64(cupti_double_calls_all(), 0);
}

TEST(cupti_profiler, what_was_on_before_stays) {
    begin();
    CHECK(!stint_profiler_start("All", NULL));
    work();
    harness_capture(2, stop_profile, NULL);
    CHECK(tracer_is_on() && cupti_double_subscribed());
    tracer_stop();
    CHECK(!tracer_is_on() && !cupti_double_subscribed());
}

static void start_in_vain(NO_ARG) {
    CHECK(!stint_profiler_start("All", NULL));
    CHECK(!tracer_is_on());
}

TEST(cupti_profiler, goes_on_without_it) {
    prepare_initialised();
    cupti_double_fail("cuptiSubscribe=39");
    char *said = harness_capture(2, start_in_vain, NULL);
    CHECK_CONTAINS(said, "stint: no GPU activities: cuptiSubscribe: another tool has CUPTI");
    CHECK(said && strchr(said, '\n') == said + strlen(said) - 1); /* one line */
    { REGISTER_TIMER("work"); }
    said = stopped();
    CHECK_CONTAINS(said, "thread0::work");
}

/* ---- What still runs when a profile stops. ---- */

static void pass_time(const char *function, void *data) {
    (void)data;
    if (!strcmp(function, "cuCtxSynchronize")) {
        fake_advance(10000);
    }
}

/* Starts a profile in a context in which calls are made; waiting for the context lets the kernels
 * end. */
static void prepare_context(void) {
    prepare_initialised();
    double_hook(pass_time, NULL);
    cupti_double_context(double_context_current());
    CHECK(!stint_profiler_start("All", NULL));
    cupti_double_launch(&add_kernel);
}

static void check_kernels(unsigned times) {
    CHECK(count_of(ACTIVITY_KERNEL) == times);
    if (times) {
        CHECK_EQ_U64(first_of(ACTIVITY_KERNEL)->end - first_of(ACTIVITY_KERNEL)->start, 5000);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_BAD), 0);
}

TEST(cupti_profiler, waits_for_what_runs) {
    prepare_context();
    stopped();
    check_kernels(1);
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 1);
}

TEST(cupti_profiler, waits_for_every_context) {
    prepare_context();
    for (int i = 1; i < 4; ++i) {
        cupti_double_context(double_context_new(i));
        cupti_double_launch(&add_kernel);
    }
    void *current = double_context_current();
    stopped();
    check_kernels(4);
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 4);
    CHECK(double_context_current() == current);
}

/* The driver's function calls CUPTI's callbacks, as a driver's would. */
static void make_call(const char *function, void *data) {
    if (!strcmp(function, "cuCtxSynchronize")) {
        ++*(int *)data;
        cupti_double_wait(CUPTI_DOUBLE_ALL, 2, 0);
    }
}

TEST(cupti_profiler, its_own_waiting_is_not_recorded) {
    int waits = 0;
    prepare_context();
    double_hook(make_call, &waits);
    stopped();
    check_kernels(1);
    CHECK(waits == 1);
    CHECK(count_of(ACTIVITY_SYNC) == 0);
    for (unsigned i = 0; i < seen_count; ++i) {
        CHECK(!seen[i].name || !strstr(seen[i].name, "Synchronize"));
    }
}

#define CAPTURED                                                                                   \
    "stint: GPU work that still runs is not waited for: a stream is or may be being captured\n"

static void check_not_waited(void) {
    char *said = stopped();
    CHECK_CONTAINS(said, CAPTURED);
    CHECK(!stint_profiler_start("All", NULL));
    cupti_double_launch(&add_kernel);
    said = stopped();
    CHECK(!strstr(said, CAPTURED)); /* said once */
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 0);
    fake_advance(20000);
    tracer_flush(TRACER_COMPLETE); /* it comes later */
    check_kernels(2);
}

static void check_waited(unsigned kernels) {
    char *said = stopped();
    CHECK(!strstr(said, CAPTURED));
    check_kernels(kernels);
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 1);
}

/* A program's calls: CUPTI sees them, the driver does them. */
static void *capture_begin(const char *name) {
    void *stream = double_stream_new_nonblocking(NULL);
    cupti_double_call_on(name, stream, 0);
    CHECK(!double_capture_begin(stream, 0));
    return stream;
}

static int capture_end(const char *name, void *stream) {
    int code = double_capture_end(stream);
    cupti_double_call_on(name, stream, code);
    return code;
}

static const char *const begin_names[] = {"cuStreamBeginCapture_v2", "cudaStreamBeginCapture"};
static const char *const end_names[] = {"cuStreamEndCapture", "cudaStreamEndCapture"};

/* Non-blocking streams: the legacy stream knows nothing of their captures. */
TEST(cupti_profiler, does_not_wait_during_a_capture) {
    for (int i = 0; i < 2; ++i) {
        prepare_context();
        seen_count = 0;
        void *stream = capture_begin(begin_names[i]);
        char *said = stopped();
        CHECK(i || strstr(said, CAPTURED));
        CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 0);
        CHECK(!capture_end(end_names[i], stream));
    }
}

TEST(cupti_profiler, does_not_wait_during_a_capture_of_a_blocking_stream) {
    prepare_context();
    void *stream = double_stream_new(NULL);
    CHECK(!double_capture_begin(stream, 1));
    check_not_waited();
    CHECK(!double_capture_end(stream));
}

/* Another client or an earlier library's session saw its begin; here a kernel is launched on it. */
TEST(cupti_profiler, does_not_wait_during_a_capture_that_began_before) {
    prepare_context();
    stopped();
    void *stream = double_stream_new_nonblocking(NULL);
    CHECK(!double_capture_begin(stream, 0));
    double_calls_clear();
    CHECK(!stint_profiler_start("All", NULL));
    cupti_double_launch(&(struct cupti_double_kernel){.name = "captured", .handle = stream});
    stopped();
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 0);
    CHECK(!double_capture_end(stream));
}

TEST(cupti_profiler, an_end_whose_begin_was_not_seen_hides_no_later_capture) {
    prepare_context();
    void *before = double_stream_new_nonblocking(NULL);
    CHECK(!double_capture_begin(before, 0));
    CHECK(!capture_end("cuStreamEndCapture", before));
    CHECK(capture_end("cuStreamEndCapture", before)); /* fails: there is none */
    void *stream = capture_begin("cuStreamBeginCapture_v2");
    stopped();
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 0);
    CHECK(!capture_end("cuStreamEndCapture", stream));
}

/* The session does not see the end. */
TEST(cupti_profiler, waits_after_a_capture_that_ended_between_sessions) {
    prepare_context();
    void *stream = capture_begin("cudaStreamBeginCapture");
    stopped();
    CHECK(!double_capture_end(stream));
    CHECK(!stint_profiler_start("All", NULL));
    cupti_double_launch(&(struct cupti_double_kernel){.name = "k", .handle = stream, .ns = 5000});
    check_waited(2);
}

/* Nothing reports the end of that capture, and a stream that may be destroyed cannot be asked. */
TEST(cupti_profiler, does_not_wait_after_a_session_that_ended_during_a_capture) {
    prepare_context();
    void *stream = capture_begin("cudaStreamBeginCapture");
    stopped();
    CHECK(!double_capture_end(stream));
    double_stream_destroy(stream);
    double_calls_clear();
    CHECK(!stint_profiler_start("All", NULL));
    cupti_double_launch(&add_kernel);
    stopped();
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 0);
    CHECK_EQ_U64(double_calls("cuStreamIsCapturing"), 1); /* the legacy stream */
}

TEST(cupti_profiler, waits_after_a_capture) {
    prepare_context();
    void *stream = double_stream_new_nonblocking(NULL);
    cupti_double_call_on("cuStreamBeginCapture_v2", stream, 1); /* fails: there is none */
    for (int i = 0; i < 2; ++i) {
        void *captured = capture_begin(begin_names[i]);
        CHECK(!capture_end(end_names[i], captured));
    }
    check_waited(1);
}

TEST(cupti_profiler, a_destroyed_stream_is_not_asked_for) {
    static const char *const names[] = {"cuStreamDestroy_v2", "cudaStreamDestroy"};
    prepare_context();
    for (int i = 0; i < 2; ++i) {
        void *stream = capture_begin(begin_names[i]);
        cupti_double_launch(&(struct cupti_double_kernel){.name = "k", .handle = stream});
        cupti_double_call_on(names[i], stream, 0);
        double_stream_destroy(stream);
    }
    double_calls_clear();
    stopped();
    CHECK_EQ_U64(double_calls("cuStreamIsCapturing"), 1);
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 1);
}

TEST(cupti_profiler, a_stream_of_a_destroyed_context_is_not_asked_for) {
    static const char *const names[] = {"cudaDeviceReset", "cudaThreadExit", "cuCtxDestroy_v2"};
    prepare_context();
    for (int i = 0; i < 3; ++i) {
        double_stream_destroy(capture_begin(begin_names[0]));
        cupti_double_call(names[i]);
    }
    cupti_double_launch(&add_kernel); /* in another one */
    double_calls_clear();
    check_waited(2);
    CHECK_EQ_U64(double_calls("cuStreamIsCapturing"), 1); /* the legacy stream */
}

/* It does not wait in doubt: if the driver cannot say, or if there are more streams than are
 * kept. */
TEST(cupti_profiler, does_not_wait_in_doubt) {
    prepare_context();
    CHECK(!double_fail("cuStreamIsCapturing:*=999"));
    CHECK_CONTAINS(stopped(), CAPTURED);
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 0);
    CHECK(!double_fail(NULL));
    prepare_context();
    for (uintptr_t i = 1; i < 4096; ++i) {
        cupti_double_call_on("cudaStreamBeginCapture", (void *)(i << 8), 1);
    }
    double_calls_clear();
    stopped();
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 0);
    CHECK_EQ_U64(double_calls("cuStreamIsCapturing"), 1);
}

TEST(cupti_profiler, does_not_wait_for_a_context_that_ended) {
    static const char *const functions[] = {"cuCtxDestroy_v2", "cuDevicePrimaryCtxReset_v2",
                                            "cudaDeviceReset", "cudaThreadExit"};
    prepare_context();
    for (int i = 0; i < 4; ++i) {
        fake_advance(10000);
        cupti_double_call(functions[i]);
        stopped();
        CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 0);
        CHECK(!stint_profiler_start("All", NULL));
        cupti_double_launch(&add_kernel);
    }
    stopped(); /* a call was made in it: it exists */
    CHECK_EQ_U64(double_calls("cuCtxSynchronize"), 1);
}

TEST(cupti_profiler, waiting_fails) {
    prepare_context();
    CHECK(!double_fail("cuCtxSynchronize:*=700"));
    stopped();
    CHECK_CONTAINS(described(), ", waiting for the GPU fails: CUDA_ERROR_ILLEGAL_ADDRESS");
}

/* The driver fails in any of its functions, once or always: the profile is made, its counts are
 * right, and the program's context is current as before. */
static void check_with_fault(const char *fault) {
    prepare_context();
    void *current = double_context_current();
    work();
    CHECK(!double_fail(fault));
    char *said = stopped();
    CHECK(!double_fail(NULL));
    CHECK_CONTAINS(said, "thread0::work");
    CHECK(double_context_current() == current);
    CHECK_EQ_U64(calls_of("work"), 1);
    fake_advance(10000);
    tracer_flush(TRACER_COMPLETE);
    check_kernels(2);
}

TEST(cupti_profiler, the_driver_fails) {
    static const char *const functions[] = {
        "cuCtxGetCurrent",    "cuStreamIsCapturing",  "cuThreadExchangeStreamCaptureMode",
        "cuCtxSynchronize",   "cuCtxPushCurrent",     "cuCtxGetDevice",
        "cuCtxGetId",         "cuDeviceGetAttribute", "cuDeviceGetName",
        "cuDriverGetVersion", "cuGetErrorName"};
    static const int codes[] = {1, 3, 4, 201, 400, 700, 709, 900, 999, 12345};
    static const char *const calls[] = {"1", "2", "*"};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; ++f) {
        for (size_t i = 0; i < 3 * sizeof codes / sizeof *codes; ++i) {
            char fault[100];
            snprintf(fault, sizeof fault, "%s:%s=%d", functions[f], calls[i % 3], codes[i / 3]);
            IN_CHILD_ABOUT(fault) {
                check_with_fault(fault);
            }
        }
    }
}

/* It has the functions that are required alone: it cannot wait. */
TEST(cupti_profiler, an_old_driver_does_not_wait) {
    prepare();
    setenv("STINT_CUDA_LIB", DOUBLE_OLD_LIBRARY, 1);
    setenv("STINT_DOUBLE_INIT", "1", 1);
    cupti_double_context(&fake_now); /* any */
    CHECK(!stint_profiler_start("All", NULL));
    work();
    fake_advance(10000);
    stopped();
    CHECK(!strstr(described(), "fails"));
    check_kernels(1);
}

TEST(cupti_profiler, stint_gpu_flush_waits) {
    prepare_context();
    stint_gpu_flush();
    check_kernels(1);
    stopped();
}
