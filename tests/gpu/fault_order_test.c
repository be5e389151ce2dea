/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the driver and of CUPTI that fail now and then, answer late and in any order: each
 * run makes up which calls fail with what, calls of either yield their processor for a while, and
 * buffers of records are held back and come last one first. The program's results and the
 * number of its scopes are those of a run without faults, each scope is measured or counted as not,
 * and a reason is given in one line at most.
 */
#include <sched.h>

#include "../unit/recorded.h"
#include "../unit/support.h"
#include "capture/tracer.h"
#include "cuda_double.h"
#include "cupti_double.h"
#include "harness_threads.h"

enum { RUNS = 100, THREADS = 3, SCOPES = 30, SESSIONS = 3, FAULTS = 6 };

static const char *const driver_functions[] = {"cuCtxGetCurrent",
                                               "cuStreamIsCapturing",
                                               "cuEventCreate",
                                               "cuEventRecord",
                                               "cuEventQuery",
                                               "cuEventElapsedTime",
                                               "cuEventDestroy",
                                               "cuEventSynchronize",
                                               "cuThreadExchangeStreamCaptureMode",
                                               "cuStreamGetCtx",
                                               "cuCtxGetDevice",
                                               "cuCtxPushCurrent",
                                               "cuCtxPopCurrent",
                                               "cuCtxGetId",
                                               "cuDriverGetVersion",
                                               "cuCtxSynchronize",
                                               "cuDeviceGetAttribute",
                                               "cuDeviceGetName",
                                               "cuDevicePrimaryCtxGetState"};
static const int driver_codes[] = {1, 2, 3, 4, 201, 400, 700, 709, 900, 906, 999};

static const char *const cupti_functions[] = {
    "cuptiGetVersion",           "cuptiSubscribe",
    "cuptiUnsubscribe",          "cuptiEnableCallback",
    "cuptiGetCallbackName",      "cuptiGetTimestamp",
    "cuptiActivityEnable",       "cuptiActivityDisable",
    "cuptiActivityFlushAll",     "cuptiActivityRegisterCallbacks",
    "cuptiActivitySetAttribute", "cuptiActivityGetNextRecord"};
static const int cupti_codes[] = {1, 8, 14, 15, 21, 35, 39, 987, 999};

/* Makes a text "function:nth=code,...". Now and then a function always fails: its text has `always`
 * in place of the number. */
static void make_faults(uint64_t *seed, const char *const *names, size_t name_count,
                        const int *codes, size_t code_count, const char *always, char out[600]) {
    out[0] = '\0';
    for (int i = 0; i < FAULTS; ++i) {
        size_t length = strlen(out);
        const char *separator = length ? "," : "";
        const char *name = names[random_next(seed) % name_count];
        char nth[24];
        snprintf(nth, sizeof nth, ":%u", (unsigned)(random_next(seed) % 60 + 1));
        const char *when = random_next(seed) % 24 ? nth : always;
        int code = codes[random_next(seed) % code_count];
        snprintf(out + length, 600 - length, "%s%s%s=%d", separator, name, when, code);
    }
}

static uint64_t delays; /* any thread */

/* One call in 32 is late, by up to three yields. On a machine with much other load each yield takes
 * tens of milliseconds: with 31 000 of them this test took 3 s alone and 300 s with ten others. */
static void answer_late(const char *function, void *data) {
    uint64_t seed = __atomic_add_fetch(&delays, 0x9e3779b97f4a7c15u, __ATOMIC_RELAXED);
    (void)function, (void)data;
    if (random_next(&seed) % 32) {
        return;
    }
    for (uint64_t n = random_next(&seed) % 3 + 1; n; --n) {
        sched_yield();
    }
}

static void *context;
static uint64_t result; /* of the program; any thread */

static void *run_thread(void *number) {
    const struct cupti_double_kernel kernel = {.name = "k", .ns = 100};
    double_context_make_current(context);
    void *stream = double_stream_new(NULL);
    for (int i = 0; i < SCOPES; ++i) {
        REGISTER_GPU_TIMER("work", stream);
        double_launch(stream, 100);
        cupti_double_launch(&kernel);
        double_advance(50);
        errno = 7;
        { REGISTER_TIMER("inner"); }
        __atomic_fetch_add(&result, (uint64_t)(i + errno), __ATOMIC_RELAXED);
    }
    return number;
}

static void run_program(void *seed) {
    pthread_t thread[THREADS];
    threads_start(thread, THREADS, run_thread, NULL, 0);
    for (int i = 0; i < SESSIONS; ++i) {
        tracer_start();
        cupti_double_hold((int)(random_next(seed) % 2));
        tracer_flush(TRACER_COMPLETE);
        stint_gpu_flush();
        tracer_stop();
    }
    threads_join(thread, THREADS);
    cupti_double_hold(0);
    double_advance(1000000);
    stint_gpu_flush();
}

static uint64_t gpu_losses(void) {
    return lost(STINT_STATUS_GPU_DROPPED) + lost(STINT_STATUS_GPU_CAPTURED) +
           lost(STINT_STATUS_GPU_NO_DEVICE) + lost(STINT_STATUS_GPU_FAILED) +
           lost(STINT_STATUS_GPU_CONTEXT);
}

static void check_run(uint64_t seed, char driver_faults[600], char cupti_faults[600]) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    setenv("STINT_CUPTI_LIB", CUPTI_DOUBLE_LIBRARY, 1);
    double_reset();
    double_init();
    context = double_context_current();
    cupti_double_reset(fake_advance, fake_read);
    CHECK(!double_fail(driver_faults) && !cupti_double_fail(cupti_faults));
    delays = seed;
    double_hook(answer_late, NULL);
    cupti_double_hook(answer_late, NULL);
    char *said = harness_capture(2, run_program, &seed);
    CHECK_EQ_U64(result, THREADS * (SCOPES * (SCOPES - 1) / 2 + SCOPES * 7));
    stint_stat work = stat_of("work");
    CHECK_EQ_U64(work.calls, THREADS * SCOPES);
    CHECK_EQ_U64(calls_of("inner"), THREADS * SCOPES);
    CHECK_EQ_U64(work.gpu_calls + gpu_losses(), THREADS * SCOPES);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 0);
    CHECK(lines_of(said) <= 1);
    if (said && *said) {
        CHECK_CONTAINS(said, "stint: no GPU activities: ");
    }
    CHECK(!tracer_is_on());
}

TEST(fault_order, late_and_in_any_order) {
    for (unsigned run = 0; run < RUNS; ++run) {
        uint64_t seed = run * 7919 + 1;
        char driver_faults[600], cupti_faults[600];
        make_faults(&seed, driver_functions, sizeof driver_functions / sizeof *driver_functions,
                    driver_codes, sizeof driver_codes / sizeof *driver_codes, ":*", driver_faults);
        make_faults(&seed, cupti_functions, sizeof cupti_functions / sizeof *cupti_functions,
                    cupti_codes, sizeof cupti_codes / sizeof *cupti_codes, "", cupti_faults);
        char about[1300];
        snprintf(about, sizeof about, "run %u, %s and %s", run, driver_faults, cupti_faults);
        IN_CHILD_ABOUT(about) { /* from a state in which nothing was recorded */
            check_run(seed, driver_faults, cupti_faults);
        }
    }
}
