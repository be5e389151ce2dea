/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime-API back end over its double: the differences to the driver back end. Its calls make
 * a context, keep the program's own error, and fail for other reasons. Reports and counts of lost
 * times are compared with fixed texts and numbers.
 */

#include "../unit/recorded.h"
#include "cuda_double.h"
#include "cudart_double.h"
#include "gpu/gpu.h"
#include "harness_threads.h"

static const struct gpu_ops *start(void) {
    double_reset();
    double_init();
    const struct gpu_ops *ops = gpu_ops();
    CHECK_STR_EQ(ops->reason, NULL);
    CHECK_STR_EQ(ops->name, "cudart");
    CHECK(errno != 1);
    return ops;
}

static void scope(void *stream, uint64_t work) {
    REGISTER_GPU_TIMER("scope", stream);
    double_launch(stream, work);
}

/* ---- Contexts */

TEST(gpu_cudart, a_context_is_a_device) {
    const struct gpu_ops *ops = start();
    void *there = double_stream_new(double_context_new(2));
    void *home = double_context_current();
    struct gpu_context a, b;
    CHECK(!ops->context(NULL, &a) && a.device == 0 && a.handle && a.id == 0);
    CHECK(!ops->context(there, &b) && b.device == 2 && b.handle != a.handle);
    CHECK(double_context_current() == home);
    double_stream_destroy(there);
    CHECK(ops->context(there, &b) == GPU_INVALID_HANDLE && !b.handle && b.device == -1);
    double_context_make_current(double_context_new(3));
    CHECK(!ops->context(GPU_STREAM_PER_THREAD, &b) && b.device == 3);
    CHECK(!double_fail("cuCtxGetDevice:1=709"));
    CHECK(ops->context(NULL, &b) == GPU_CONTEXT_IS_DESTROYED && !b.handle && b.device == -1);
}

TEST(gpu_cudart, a_scope_makes_its_context) {
    double_reset();
    scope(NULL, 30);
    CHECK(double_context_current());
    scope(NULL, 30);
    double_advance(1000);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 2);
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 60);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(gpu_cudart, leave_undoes_enter) {
    const struct gpu_ops *ops = start();
    void *home = double_context_current(), *away = double_context_new(1);
    struct gpu_context own, other = {.handle = (void *)(uintptr_t)2, .device = 1};
    CHECK(!ops->context(NULL, &own));
    CHECK(!ops->enter(&own) && double_context_current() == home);
    CHECK(!ops->enter(&other) && double_context_current() == away);
    CHECK(!ops->enter(&other) && double_context_current() == away);
    CHECK(!ops->enter(&own) && double_context_current() == home);
    CHECK(ops->enter(&other) == GPU_UNSUPPORTED); /* nothing nests that deep */
    ops->leave(&own);
    CHECK(double_context_current() == away);
    ops->leave(&other);
    CHECK(double_context_current() == away);
    ops->leave(&other);
    CHECK(double_context_current() == home);
    ops->leave(&own);
    CHECK(double_context_current() == home);
    void *second = double_context_new(0); /* the program's own, not the primary one */
    double_context_make_current(second);
    CHECK(!ops->enter(&own) && double_context_current() == second);
    ops->leave(&own);
    CHECK(double_context_current() == second);
    other.handle = (void *)(uintptr_t)99;
    CHECK(ops->enter(&other) == cudaErrorInvalidDevice);
    CHECK(double_context_current() == second && cudaPeekAtLastError() == cudaSuccess);
}

/* ---- The program's last error */

TEST(gpu_cudart, leaves_no_error_behind) {
    static const char *const functions[] = {
        "cuCtxGetCurrent",     "cuCtxGetDevice",       "cuStreamGetCtx",
        "cuStreamIsCapturing", "cuEventCreate",        "cuEventRecord",
        "cuEventQuery",        "cuEventSynchronize",   "cuEventDestroy",
        "cuEventElapsedTime",  "cuProfilerStart",      "cuProfilerStop",
        "cuDeviceGetName",     "cuDeviceGetAttribute", "cuThreadExchangeStreamCaptureMode"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
        const struct gpu_ops *ops = start();
        void *s = double_stream_new(NULL), *e = NULL;
        struct gpu_context c;
        struct gpu_device d;
        int yes, mode = GPU_MODE_RELAXED;
        uint64_t ns;
        char fault[60];
        snprintf(fault, sizeof fault, "%s:*=999", functions[i]);
        CHECK(!double_fail(fault));
        ops->context(NULL, &c);
        ops->context(s, &c);
        c.handle = (void *)(uintptr_t)1;
        if (!ops->enter(&c)) {
            ops->leave(&c);
        }
        ops->capturing(s, &yes);
        ops->capture_mode(&mode);
        ops->event_new(&e);
        ops->event_record(e, s);
        ops->event_query(e);
        ops->event_wait(e);
        ops->event_elapsed(e, e, &ns);
        ops->event_drop(e);
        ops->capture_start();
        ops->capture_stop();
        ops->device(0, &d);
        if (!CHECK(double_calls(functions[i]) > 0 && cudaPeekAtLastError() == cudaSuccess)) {
            printf("# %s\n", fault);
        }
    }
}

TEST(gpu_cudart, a_stream_at_work_leaves_no_error) {
    const struct gpu_ops *ops = start();
    void *s = double_stream_new(NULL);
    int yes = 0;
    scope(s, 1000);
    scope(s, 1000);
    CHECK(double_calls("cuEventQuery") > 0);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(!double_capture_begin(s, 0));
    CHECK(!ops->capturing(NULL, &yes) && yes);
    CHECK(cudaGetLastError() == cudaSuccess);
    { REGISTER_GPU_TIMER("legacy", NULL); } /* 906 */
    CHECK(!double_capture_end(s));
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_CAPTURED), 1);
}

TEST(gpu_cudart, the_programs_own_error_stays) {
    start();
    void *s = double_stream_new(NULL);
    cudart_double_set_error(cudaErrorInvalidConfiguration);
    for (int i = 0; i < 20; ++i) {
        scope(s, 1000);
        double_advance(500);
    }
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 0); /* nothing could be asked */
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 20);
    CHECK_EQ_U64(double_calls("cuEventQuery"), 0);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    double_advance(1000000);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 20);
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 20000);
}

/* It cannot be put back; but an error the program was to see does not become none. */
TEST(gpu_cudart, a_fault_under_the_programs_own_error) {
    const struct gpu_ops *ops = start();
    void *e = NULL;
    cudart_double_set_error(cudaErrorInvalidConfiguration);
    CHECK(!double_fail("cuEventCreate:1=2"));
    CHECK(ops->event_new(&e) == cudaErrorMemoryAllocation && !e);
    CHECK(cudaPeekAtLastError() != cudaSuccess);
}

TEST(gpu_cudart, flushing_under_the_programs_own_error) {
    start();
    void *s = double_stream_new(NULL);
    scope(s, 1000);
    cudart_double_set_error(cudaErrorInvalidConfiguration);
    CHECK(!stint_gpu_flush());
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
}

/* ---- Tools and devices */

TEST(gpu_cudart, a_capture_makes_its_context) {
    double_reset();
    {
        REGISTER_GPU_PROFILER("range");
        CHECK_EQ_U64(double_profiler_starts(), 1);
    }
    CHECK_EQ_U64(double_profiler_stops(), 1);
    CHECK(double_context_current() && double_profiler_context() == double_context_current());
}

TEST(gpu_cudart, devices) {
    const struct gpu_ops *ops = start();
    struct gpu_device d;
    double_device_name(1, "A name of more characters than a report has room for in its first line");
    double_device_attribute(1, 36, 0);
    CHECK(!ops->device(0, &d));
    CHECK_STR_EQ(d.name, "Double 0");
    CHECK(d.major == 9 && d.minor == 0 && d.multiprocessors == 132 && d.clock_khz == 1980000);
    CHECK(d.memory_clock_khz == 3201000 && d.memory_bus_bits == 6144 && d.fp64_ratio == 2);
    CHECK_EQ_U64(d.l2_bytes, 50 << 20);
    CHECK(!ops->device(1, &d));
    CHECK_EQ_U64(strlen(d.name), sizeof d.name - 1);
    CHECK(d.memory_clock_khz == 0 && d.multiprocessors == 132);
    CHECK(ops->device(4, &d) == cudaErrorInvalidDevice && !d.name[0] && !d.major);
}

TEST(gpu_cudart, streams_have_the_numbers_of_the_interface) {
    CHECK((void *)cudaStreamLegacy == GPU_STREAM_LEGACY);
    CHECK((void *)cudaStreamPerThread == GPU_STREAM_PER_THREAD);
}

TEST(gpu_cudart, names_of_codes) {
    start();
    CHECK_STR_EQ(gpu_code_name(gpu_ops(), 700), "CUDA_ERROR_ILLEGAL_ADDRESS");
    CHECK_STR_EQ(gpu_code_name(gpu_ops(), cudaErrorInvalidConfiguration),
                 "cudaErrorInvalidConfiguration");
    CHECK_STR_EQ(gpu_code_name(gpu_ops(), 12345), "error");
}

/* ---- Nothing to use */

static void print_table(NO_ARG) {
    stint_report("table");
}

static void check_report(const char *wanted) {
    CHECK_CONTAINS(harness_capture(2, print_table, NULL), wanted);
}

static void run_range(NO_ARG) {
    REGISTER_GPU_PROFILER("range");
}

static void check_broken(cudaError_t code, int version, const char *reason, int capture_first) {
    char header[160], line[160];
    cudart_double_broken(code, version);
    snprintf(header, sizeof header, "GPU none (%s)", reason);
    snprintf(line, sizeof line, "nothing is captured: %s", reason);
    for (int i = 0; i < 3 && !capture_first; ++i) {
        scope(NULL, 1);
    }
    CHECK_CONTAINS(harness_capture(2, run_range, NULL), line);
    for (int i = 0; i < 3 && capture_first; ++i) {
        scope(NULL, 1);
    }
    CHECK_STR_EQ(gpu_ops()->reason, reason);
    check_report(header);
    CHECK_EQ_U64(stat_of("scope").calls, 3);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 3);
    CHECK_EQ_U64(lost_in_all(), 3);
}

TEST(gpu_cudart, no_driver) {
    check_broken(cudaErrorInsufficientDriver, 0, "no CUDA driver: no libcuda.so.1", 0);
}

TEST(gpu_cudart, no_driver_for_a_capture) {
    check_broken(cudaErrorInsufficientDriver, 0, "no CUDA driver: no libcuda.so.1", 1);
}

TEST(gpu_cudart, an_old_driver) {
    char reason[100];
    snprintf(reason, sizeof reason, "the CUDA driver supports CUDA 11.4, too old for cudart %d.%d",
             CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    check_broken(cudaErrorInsufficientDriver, 11040, reason, 0);
}

TEST(gpu_cudart, the_toolkits_stub) {
    check_broken(cudaErrorStubLibrary, 0, "libcuda.so.1 is the toolkit's stub, not a driver", 0);
}

TEST(gpu_cudart, no_device) {
    check_broken(cudaErrorNoDevice, CUDART_VERSION, "no CUDA device", 1);
}

TEST(gpu_cudart, another_reason) {
    check_broken(cudaErrorInvalidConfiguration, CUDART_VERSION,
                 "the CUDA runtime returns cudaErrorInvalidConfiguration", 0);
}

static void *first_scope(void *barrier) {
    pthread_barrier_wait(barrier);
    scope(NULL, 1);
    CHECK_STR_EQ(gpu_ops()->reason, "no CUDA device");
    return NULL;
}

TEST(gpu_cudart, no_device_for_many_at_once) {
    pthread_barrier_t barrier;
    cudart_double_broken(cudaErrorNoDevice, CUDART_VERSION);
    pthread_barrier_init(&barrier, NULL, 8);
    threads_run(8, first_scope, &barrier, 0);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 8);
}

TEST(gpu_cudart, a_report_alone_asks_nothing) {
    double_reset();
    { REGISTER_TIMER("cpu"); }
    stat_of("cpu");
    CHECK(stint_report("table") == 0);
    CHECK(!gpu_known());
    CHECK_EQ_U64(double_calls_all(), 0);
}
