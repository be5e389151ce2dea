/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU timers over the driver double, and, built a second time, over the double of the runtime API.
 * Time is virtual on both sides, so that the expected times are exact to the nanosecond. Scopes
 * that cannot be measured must be counted as lost.
 */
#include <dlfcn.h>
#include <setjmp.h>

#include "../unit/recorded.h"
#include "cuda_double.h"
#include "harness_threads.h"

/* cudart initialises at its first call, and makes a context where it needs one. */
#ifdef TEST_CUDART
#define MAKES_CONTEXT 1
#else
#define MAKES_CONTEXT 0
#endif

/* Prepares a case; called before its first scope, because settings are read once. */
static void begin_gpu(void) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
    double_init();
}

static void *begin_gpu_stream(void) {
    begin_gpu();
    return double_stream_new(NULL);
}

static void begin_gpu_with(const char *name, const char *value) {
    setenv(name, value, 1);
    begin_gpu();
}

/* One scope that puts `work` ns on the stream. */
static void scope(void *stream, uint64_t work) {
    REGISTER_GPU_TIMER("scope", stream);
    double_launch(stream, work);
}

static void finish_gpu(void) {
    double_advance((uint64_t)1 << 40);
}

static uint64_t gpu_losses(void) {
    return lost(STINT_STATUS_GPU_DROPPED) + lost(STINT_STATUS_GPU_CAPTURED) +
           lost(STINT_STATUS_GPU_NO_DEVICE) + lost(STINT_STATUS_GPU_FAILED) +
           lost(STINT_STATUS_GPU_CONTEXT);
}

TEST(gpu_timer, measures_the_stream_and_the_cpu) {
    void *s = begin_gpu_stream();
    {
        REGISTER_GPU_TIMER("both", s);
        double_launch(s, 3000000);
        fake_advance(700);
    }
    finish_gpu();
    stint_stat both = stat_of("both");
    CHECK_EQ_U64(both.calls, 1);
    CHECK_EQ_U64(both.total_ns, 700);
    CHECK_EQ_U64(both.gpu_calls, 1);
    CHECK_EQ_U64(both.gpu_total_ns, 3000000);
    CHECK_EQ_U64(double_synchronise_calls(), 0);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(gpu_timer, sums_minimum_and_maximum) {
    void *s = begin_gpu_stream();
    for (uint64_t i = 1; i <= 10; ++i) {
        scope(s, i * 1000);
    }
    finish_gpu();
    stint_stat got = stat_of("scope");
    CHECK_EQ_U64(got.gpu_calls, 10);
    CHECK_EQ_U64(got.gpu_total_ns, 55000);
    CHECK_EQ_U64(got.gpu_min_ns, 1000);
    CHECK_EQ_U64(got.gpu_max_ns, 10000);
    CHECK(got.gpu_p50_ns >= 4800 && got.gpu_p50_ns <= 6200);
}

TEST(gpu_timer, reuses_its_events) {
    void *s = begin_gpu_stream();
    for (int i = 0; i < 1000; ++i) {
        scope(s, 100);
        double_advance(100);
    }
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1000);
    CHECK(double_events_made() <= 4);
    CHECK_EQ_U64(double_synchronise_calls(), 0);
}

TEST(gpu_timer, asks_twice_at_most_when_it_closes) {
    void *s = begin_gpu_stream();
    for (int i = 0; i < 100; ++i) {
        scope(s, 1000);
    }
    finish_gpu();
    for (int i = 0; i < 50; ++i) {
        uint64_t before = double_calls("cuEventQuery");
        scope(s, 1000);
        CHECK(double_calls("cuEventQuery") - before <= 2);
    }
}

/* Not for the runtime API, whose calls make others. */
#ifndef TEST_CUDART
/* The driver calls of a scope on that stream whose events were made by scopes before. */
static uint64_t calls_of_a_scope(void *stream) {
    for (int i = 0; i < 2; ++i) {
        scope(stream, 100);
        double_advance(1000);
    }
    double_calls_clear();
    scope(stream, 100);
    return double_calls_all();
}

TEST(gpu_timer, a_scope_makes_twelve_driver_calls) {
    begin_gpu();
    void *own = double_stream_new(NULL), *other = double_stream_new(double_primary_use(1));
    CHECK_EQ_U64(calls_of_a_scope(own), 12);
    CHECK_EQ_U64(double_calls("cuCtxPushCurrent"), 0);
    stint_gpu_flush();
    CHECK_EQ_U64(calls_of_a_scope(other), 18); /* two ask for the context of the stream */
    CHECK_EQ_U64(double_calls("cuCtxPushCurrent"), 2);
    CHECK_EQ_U64(double_calls("cuCtxPopCurrent"), 2);
    CHECK_EQ_U64(double_calls("cuThreadExchangeStreamCaptureMode"), 2);
    finish_gpu();
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 6);
}

TEST(gpu_timer, a_poll_goes_through_contexts_and_leaves_them) {
    begin_gpu();
    void *current = double_context_current();
    void *own = double_stream_new(NULL), *other = double_stream_new(double_primary_use(1));
    for (int i = 0; i < 5; ++i) {
        scope(own, 100);
        scope(other, 100);
    }
    finish_gpu();
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 10);
    CHECK(double_context_current() == current);
    CHECK_EQ_U64(double_calls("cuCtxPushCurrent"), double_calls("cuCtxPopCurrent"));
    CHECK_EQ_U64(lost_in_all(), 0);
}
#endif

TEST(gpu_timer, full_is_dropped_and_counted) {
    begin_gpu_with("STINT_GPU_IN_FLIGHT", "64");
    void *s = double_stream_new(NULL);
    for (int i = 0; i < 1000; ++i) {
        scope(s, 1000000);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_DROPPED), 936);
    finish_gpu();
    stint_stat got = stat_of("scope");
    CHECK_EQ_U64(got.calls, 1000);
    CHECK_EQ_U64(got.gpu_calls, 64);
    scope(s, 5);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_DROPPED), 936);
    CHECK_EQ_U64(double_synchronise_calls(), 0);
}

TEST(gpu_timer, slow_stream_holds_up_no_other) {
    begin_gpu();
    void *slow = double_stream_new(NULL), *quick = double_stream_new(NULL);
    scope(slow, (uint64_t)1 << 40);
    for (int i = 0; i < 10; ++i) {
        scope(quick, 100);
        double_advance(100);
    }
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 10);
}

TEST(gpu_timer, finished_pairs_of_an_idle_stream_make_room) {
    begin_gpu_with("STINT_GPU_IN_FLIGHT", "32");
    void *idle = double_stream_new(NULL), *used = double_stream_new(NULL);
    for (int i = 0; i < 31; ++i) {
        scope(idle, 10);
    }
    double_advance(1000);
    for (int i = 0; i < 30; ++i) { /* none of them done when the next one needs a place */
        scope(used, 10);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_DROPPED), 0);
    finish_gpu();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 61);
}

TEST(gpu_timer, many_streams_share_queues) {
    begin_gpu_with("STINT_GPU_IN_FLIGHT", "4096");
    for (int i = 0; i < 2000; ++i) {
        scope(double_stream_new(NULL), 100);
    }
    finish_gpu();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 2000);
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 200000);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 0);
}

TEST(gpu_timer, leaves_a_captured_stream_alone) {
    void *s = begin_gpu_stream();
    scope(s, 1);
    CHECK(!double_capture_begin(s, 0));
    for (int i = 0; i < 5; ++i) {
        scope(s, 1000);
    }
    CHECK(!double_capture_invalidated(s));
    CHECK_EQ_U64((uint64_t)double_capture_end(s), 0);
    finish_gpu();
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_CAPTURED), 5);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
    CHECK_EQ_U64(stat_of("scope").calls, 6);
}

TEST(gpu_timer, a_capture_that_begins_or_ends_inside) {
    void *s = begin_gpu_stream();
    {
        REGISTER_GPU_TIMER("begins inside", s);
        CHECK(!double_capture_begin(s, 0));
    }
    {
        REGISTER_GPU_TIMER("ends inside", s);
        CHECK_EQ_U64((uint64_t)double_capture_end(s), 0);
    }
    finish_gpu();
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_CAPTURED), 2);
    CHECK_EQ_U64(stat_of("begins inside").gpu_calls, 0);
}

TEST(gpu_timer, another_streams_capture_survives_polling) {
    begin_gpu();
    void *captured = double_stream_new(NULL), *s = double_stream_new(NULL);
    scope(s, 100);
    CHECK(!double_capture_begin(captured, 0));
    for (int i = 0; i < 20; ++i) {
        scope(s, 100);
        double_advance(50);
    }
    stat_of("scope");
    CHECK(!double_capture_invalidated(captured));
    CHECK_EQ_U64((uint64_t)double_capture_end(captured), 0);
    CHECK_EQ_U64(gpu_losses(), 0);
}

TEST(gpu_timer, legacy_stream_while_another_is_captured) {
    begin_gpu();
    void *captured = double_stream_new(NULL);
    CHECK(!double_capture_begin(captured, 0));
    { REGISTER_GPU_TIMER("legacy", NULL); }
    CHECK(!double_capture_invalidated(captured));
    CHECK_EQ_U64((uint64_t)double_capture_end(captured), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_CAPTURED), 1);
}

#if !MAKES_CONTEXT
TEST(gpu_timer, without_a_context) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
    scope(NULL, 1); /* CUDA not initialised */
    double_init_without_context();
    scope(NULL, 1); /* no context */
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 2);
    void *c = double_context_new(0);
    double_context_make_current(c);
    scope(NULL, 50);
    finish_gpu();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
    CHECK_EQ_U64(stat_of("scope").calls, 3);
}
#endif

#ifndef TEST_CUDART
/* The driver's library, by a name that does not exist yet. Each case has its own name, because
 * cases run at the same time in one folder. */
static char late_driver[40];

static void begin_without_driver(void) {
    snprintf(late_driver, sizeof late_driver, "./late_driver.%d.so", (int)getpid());
    begin_gpu();
    setenv("STINT_CUDA_LIB", late_driver, 1);
    scope(NULL, 100);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1);
    CHECK(!symlink(DOUBLE_LIBRARY, late_driver)); /* the program has loaded that file */
    fake_advance(1000000000);
}

TEST(gpu_timer, a_driver_that_the_program_loads_later) {
    begin_without_driver();
    scope(NULL, 100); /* looks */
    scope(NULL, 100);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 2);
    finish_gpu();
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
    unlink(late_driver);
}

TEST(gpu_timer, looks_for_a_driver_once_a_second) {
    begin_without_driver();
    unlink(late_driver);
    scope(NULL, 100); /* looks, and finds none */
    CHECK(!symlink(DOUBLE_LIBRARY, late_driver));
    fake_advance(999999000);
    scope(NULL, 100);
    scope(NULL, 100);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 4);
    fake_advance(1000);
    scope(NULL, 100); /* looks */
    scope(NULL, 100);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 5);
    unlink(late_driver);
}

TEST(gpu_timer, a_step_finds_a_driver) {
    begin_without_driver();
    stint_step();
    scope(NULL, 100);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1);
    unlink(late_driver);
}

/* It is looked for among the loaded libraries only: no context can exist in another one. */
TEST(gpu_timer, a_driver_that_is_not_loaded_stays_so) {
    begin_without_driver();
    unlink(late_driver);
    CHECK(!symlink(DOUBLE_OLD_LIBRARY, late_driver));
    for (int i = 0; i < 3; ++i) {
        fake_advance(1000000000);
        stint_step();
        scope(NULL, 100);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 4);
    CHECK(!dlopen(DOUBLE_OLD_LIBRARY, RTLD_NOW | RTLD_NOLOAD));
    unlink(late_driver);
}
#endif

TEST(gpu_timer, the_first_on_a_thread_that_blocks_signals) {
    sigset_t all;
    begin_gpu();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    scope(NULL, 50);
    finish_gpu();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
    CHECK_EQ_U64(gpu_losses(), 0);
}

TEST(gpu_timer, a_stream_of_a_context_that_is_not_current) {
    begin_gpu();
    void *other = double_primary_use(1), *mine = double_context_current();
    void *s = double_stream_new(other);
    scope(s, 70);
    CHECK(double_context_current() == mine);
    double_context_make_current(NULL);
    scope(s, 70);
    CHECK(MAKES_CONTEXT || !double_context_current());
    finish_gpu();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 2);
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 140);
    CHECK(MAKES_CONTEXT || !double_context_current());
}

TEST(gpu_timer, two_devices) {
    begin_gpu();
    void *a = double_stream_new(NULL), *b = double_stream_new(double_primary_use(1));
    for (int i = 0; i < 10; ++i) {
        scope(a, 10);
        scope(b, 30);
    }
    finish_gpu();
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 400);
    uint32_t devices = 0;
    for (uint32_t unit = arena_header()->first_device; unit;) {
        const struct arena_device *d = arena_at(unit);
        unit = d->next;
        ++devices;
    }
    CHECK_EQ_U64(devices, 2);
}

/* The runtime API tells nothing of contexts: after a reset its events are used, which is undefined
 * (docs/gpu.md). */
#ifndef TEST_CUDART
TEST(gpu_timer, devices_without_a_name) {
    begin_gpu();
    double_device_name(0, "");
    double_device_name(1, "");
    void *c = double_context_current();
    scope(double_stream_new(NULL), 10);
    double_context_replace(c); /* the same device, looked up again */
    double_context_make_current(c);
    scope(double_stream_new(NULL), 10);
    scope(double_stream_new(double_context_new(1)), 10);
    finish_gpu();
    const struct arena_device *second = arena_at(arena_header()->first_device);
    const struct arena_device *first = arena_at(second->next);
    CHECK_STR_EQ(first->name, "GPU 0");
    CHECK_STR_EQ(second->name, "GPU 1");
    CHECK_EQ_U64(first->next, 0);
}
#endif

static void print_table(NO_ARG) {
    stint_report("table");
}

TEST(gpu_timer, a_report_picks_up_what_is_done) {
    begin_gpu();
    scope(double_stream_new(NULL), 5000000);
    finish_gpu();
    char *said = harness_capture(2, print_table, NULL);
    CHECK_CONTAINS(said, "gpu calls");
    CHECK_CONTAINS(said, "5.000 ms");
}

#ifndef TEST_CUDART
TEST(gpu_timer, a_context_that_is_replaced) {
    begin_gpu();
    void *c = double_context_current();
    for (int round = 0; round < 3; ++round) {
        void *s = double_stream_new(NULL);
        for (int i = 0; i < 10; ++i) {
            scope(s, 100);
        }
        double_context_replace(c); /* with ten in flight */
        double_context_make_current(c);
    }
    void *s = double_stream_new(NULL);
    scope(s, 100);
    finish_gpu();
    stint_stat got = stat_of("scope");
    CHECK_EQ_U64(got.calls, 31);
    CHECK(got.gpu_calls >= 1);
    CHECK_EQ_U64(got.gpu_calls + gpu_losses(), 31);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 0);
}
#endif

TEST(gpu_timer, a_destroyed_stream) {
    void *s = begin_gpu_stream();
    {
        REGISTER_GPU_TIMER("gone", s);
        double_stream_destroy(s);
    }
    void *next = double_stream_new(NULL);
    scope(next, 5);
    finish_gpu();
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_FAILED), 1);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
}

TEST(gpu_timer, off_makes_no_call) {
    begin_gpu_with("STINT_GPU", "off");
    scope(NULL, 1);
    CHECK_EQ_U64(double_calls_all(), 0);
    CHECK_EQ_U64(stat_of("scope").calls, 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(gpu_timer, sync_waits_in_the_scope) {
    begin_gpu_with("STINT_GPU", "sync");
    void *s = double_stream_new(NULL);
    for (int i = 0; i < 3; ++i) {
        uint64_t before = double_now();
        scope(s, 4000);
        CHECK_EQ_U64(double_now() - before, 4000);
    }
    CHECK_EQ_U64(double_synchronise_calls(), 3);
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 12000);
    CHECK(!double_capture_begin(s, 0));
    scope(s, 1);
    CHECK_EQ_U64((uint64_t)double_capture_end(s), 0);
    CHECK_EQ_U64(double_synchronise_calls(), 3);
}

TEST(gpu_timer, flush_waits) {
    begin_gpu();
    void *s = double_stream_new(NULL), *t = double_stream_new(NULL);
    for (int i = 0; i < 10; ++i) {
        scope(s, 1000);
        scope(t, 500);
    }
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 20);
    CHECK(stint_gpu_flush() == 0);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 0);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 20);
    double_fail("cuEventSynchronize:*=700");
    scope(s, 1000);
    CHECK(stint_gpu_flush() != 0);
}

static int depth_left;

static void recursive(void *s) {
    REGISTER_GPU_TIMER("recursive", s);
    double_launch(s, 10);
    if (depth_left-- > 0) {
        recursive(s);
    }
}

TEST(gpu_timer, recursion_is_timed_at_the_outermost) {
    void *s = begin_gpu_stream();
    depth_left = 3;
    recursive(s);
    finish_gpu();
    stint_stat got = stat_of("recursive");
    CHECK_EQ_U64(got.calls, 4);
    CHECK_EQ_U64(got.gpu_calls, 1);
    CHECK_EQ_U64(got.gpu_total_ns, 40);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static jmp_buf away;

static void leaves(void *s) {
    REGISTER_GPU_TIMER("outer", s);
    REGISTER_GPU_TIMER("inner", s);
    longjmp(away, 1);
}

TEST(gpu_timer, longjmp_gives_its_pairs_back) {
    begin_gpu_with("STINT_GPU_IN_FLIGHT", "8");
    void *s = double_stream_new(NULL);
    for (volatile int i = 0; i < 1000; ++i) {
        if (!setjmp(away)) {
            leaves(s);
        }
    }
    scope(s, 100);
    finish_gpu();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_DROPPED), 0);
    CHECK(double_events_made() <= 16);
}

static void *ends_inside(void *s) {
    REGISTER_GPU_TIMER("left open", s);
    pthread_exit(NULL);
}

TEST(gpu_timer, threads_that_end_inside_give_their_pairs_back) {
    begin_gpu_with("STINT_GPU_IN_FLIGHT", "8");
    void *s = double_stream_new(NULL);
    for (int i = 0; i < 100; ++i) {
        thread_run(ends_inside, s);
    }
    scope(s, 100);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_DROPPED), 0);
}

struct worker {
    void *own;
    void *shared;
    void *context;
};

static void *work(void *arg) {
    struct worker *w = arg;
    double_context_make_current(w->context);
    for (int i = 0; i < 500; ++i) {
        {
            REGISTER_GPU_TIMER("own", w->own);
            double_launch(w->own, 10);
        }
        {
            REGISTER_GPU_TIMER("shared", w->shared);
            double_launch(w->shared, 10);
        }
        {
            REGISTER_GPU_TIMER("per thread", (void *)2);
            double_launch((void *)2, 10);
        }
        if (i % 100 == 0) {
            stat_of("own");
        }
    }
    return NULL;
}

TEST(gpu_timer, threads_at_once) {
    begin_gpu_with("STINT_GPU_IN_FLIGHT", "60000");
    struct worker workers[8];
    void *shared = double_stream_new(NULL);
    for (int i = 0; i < 8; ++i) {
        workers[i] = (struct worker){
            .own = double_stream_new(NULL), .shared = shared, .context = double_context_current()};
    }
    threads_run(8, work, workers, sizeof *workers);
    finish_gpu();
    CHECK_EQ_U64(stat_of("own").gpu_calls, 4000);
    CHECK_EQ_U64(stat_of("shared").gpu_calls, 4000);
    CHECK_EQ_U64(stat_of("per thread").gpu_calls, 4000);
    CHECK_EQ_U64(stat_of("own").gpu_total_ns, 40000);
    CHECK_EQ_U64(stat_of("per thread").gpu_total_ns, 40000);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 0);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* Every function fails at some call with every kind of error: no scope is lost on the CPU, and each
 * is measured on the GPU or counted as not. */
TEST(gpu_timer, survives_every_fault) {
    static const char *const functions[] = {
        "cuCtxGetCurrent",      "cuStreamIsCapturing", "cuEventCreate",
        "cuEventRecord",        "cuEventQuery",        "cuEventElapsedTime",
        "cuEventDestroy",       "cuEventSynchronize",  "cuThreadExchangeStreamCaptureMode",
        "cuStreamGetCtx",       "cuCtxGetDevice",      "cuCtxPushCurrent",
        "cuCtxPopCurrent",      "cuCtxGetId",          "cuDriverGetVersion",
        "cuDeviceGetAttribute", "cuDeviceGetName",     "cuGetErrorName"};
    static const int codes[] = {1, 2, 3, 4, 201, 400, 700, 709, 719, 906, 999};
    static const char *const calls[] = {"1", "3", "*"};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; ++f) {
        for (size_t c = 0; c < sizeof codes / sizeof *codes; ++c) {
            for (size_t n = 0; n < sizeof calls / sizeof *calls; ++n) {
                IN_CHILD() { /* from a state in which nothing was recorded */
                    char fault[100];
                    snprintf(fault, sizeof fault, "%s:%s=%d", functions[f], calls[n], codes[c]);
                    begin_gpu();
                    void *s = double_stream_new(NULL),
                         *o = double_stream_new(double_primary_use(1));
                    double_fail(fault);
                    for (int i = 0; i < 20; ++i) {
                        scope(i % 3 ? s : o, 100);
                        double_advance(50);
                    }
                    stint_gpu_flush();
                    stint_stat got = stat_of("scope");
                    /* Without its device, whether the other context exists is not known later. */
                    uint64_t left = arena_header()->gpu_in_flight;
                    int right =
                        got.calls == 20 && left <= 1 && got.gpu_calls + gpu_losses() + left == 20;
                    if (!right) {
                        fprintf(stderr, "%s: %llu calls, %llu on the GPU, %llu not\n", fault,
                                (unsigned long long)got.calls, (unsigned long long)got.gpu_calls,
                                (unsigned long long)gpu_losses());
                    }
                    CHECK(right);
                }
            }
        }
    }
}

TEST(gpu_timer, a_driver_that_is_gone_is_left_alone) {
    void *s = begin_gpu_stream();
    scope(s, 100);
    double_shutdown();
    scope(s, 100);
    uint64_t calls = double_calls_all();
    for (int i = 0; i < 10; ++i) {
        scope(s, 100);
    }
    CHECK(double_calls_all() - calls <= 1);
    CHECK_EQ_U64(stat_of("scope").calls, 12);
}

TEST(gpu_timer, a_crashed_device_is_left_alone) {
    void *s = begin_gpu_stream();
    scope(s, 100);
    double_fail("cuEventQuery:*=700");
    scope(s, 100);
    double_fail(NULL);
    uint64_t calls = double_calls_all();
    for (int i = 0; i < 10; ++i) {
        scope(s, 100);
    }
    CHECK_EQ_U64(double_calls_all(), calls);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_FAILED), 12);
}

TEST(gpu_timer, child_of_a_process_that_used_the_gpu) {
    void *s = begin_gpu_stream();
    scope(s, 100);
    IN_CHILD() {
        double_calls_clear();
        scope(s, 100);
        CHECK_EQ_U64(double_calls_all(), 0);
        CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1);
        CHECK_EQ_U64(stat_of("scope").calls, 1);
    }
    finish_gpu();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
}

TEST(gpu_timer, child_of_a_process_that_did_not) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
    if (!MAKES_CONTEXT) {
        scope(NULL, 100); /* looks for a context, finds none */
    }
    IN_CHILD() {
        double_init();
        void *s = double_stream_new(NULL);
        scope(s, 100);
        finish_gpu();
        CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
    }
}

static void *hook_stream;
static int hooked;

static void scope_in_a_signal(int number) {
    (void)number;
    REGISTER_GPU_TIMER("handler", hook_stream);
}

static void raise_inside(const char *function, void *data) {
    (void)data;
    if (!strcmp(function, "cuEventRecord") || !strcmp(function, "cuEventQuery")) {
        ++hooked;
        raise(SIGUSR1);
    }
}

TEST(gpu_timer, a_signal_handler_inside_the_driver) {
    begin_gpu();
    hook_stream = double_stream_new(NULL);
    signal(SIGUSR1, scope_in_a_signal);
    scope(hook_stream, 10);
    double_hook(raise_inside, NULL);
    for (int i = 0; i < 100; ++i) {
        scope(hook_stream, 10);
        double_advance(10);
    }
    double_hook(NULL, NULL);
    finish_gpu();
    CHECK(hooked > 200);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 101);
    CHECK_EQ_U64(stat_of("handler").calls, (uint64_t)hooked);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_DROPPED), (uint64_t)hooked);
}

static void tool_uses_timers(const char *function, void *data) {
    (void)function, (void)data;
    static __thread int deep;
    if (!deep) {
        deep = 1;
        REGISTER_GPU_TIMER("tool", hook_stream);
        deep = 0;
    }
}

TEST(gpu_timer, a_tool_behind_the_driver_with_timers_of_its_own) {
    begin_gpu();
    hook_stream = double_stream_new(NULL);
    double_hook(tool_uses_timers, NULL);
    for (int i = 0; i < 10; ++i) {
        scope(hook_stream, 10);
        double_advance(10);
    }
    double_hook(NULL, NULL);
    finish_gpu();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 10);
    CHECK(stat_of("tool").calls > 10);
}

static void cancel_self(const char *function, void *data) {
    (void)data;
    if (!strcmp(function, "cuEventQuery")) {
        pthread_testcancel(); /* what a driver's ioctl may be */
    }
}

static void *is_cancelled(void *s) {
    pthread_cancel(pthread_self());
    scope(s, 10);
    pthread_testcancel();
    return (void *)1;
}

TEST(gpu_timer, a_thread_cancelled_in_the_driver) {
    if (SANITIZED) {
        SKIP("gcc's AddressSanitizer mistakes the unwound stack for an underflow at thread exit");
    }
    begin_gpu();
    void *s = double_stream_new(NULL), *result = NULL;
    scope(s, 10);
    double_hook(cancel_self, NULL);
    result = thread_run(is_cancelled, s);
    CHECK(result == PTHREAD_CANCELED);
    double_hook(NULL, NULL);
    finish_gpu();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 2);
}

static void slow_one(void *s) {
    REGISTER_GPU_TIMER_INFO("informed", s, "batch 7");
    fake_advance((uint64_t)11 * 1000000000);
}

TEST(gpu_timer, info_and_its_threshold) {
    void *s = begin_gpu_stream();
    char *line = harness_capture(2, slow_one, s);
    CHECK_CONTAINS(line, "informed");
    CHECK_CONTAINS(line, "batch 7");
    CHECK_STR_EQ(stat_of("informed").info, "batch 7");
}

TEST(gpu_timer, goes_on_after_exit_of_the_driver) {
    begin_gpu();
    pid_t child = fork();
    if (child == 0) {
        void *s = double_stream_new(NULL);
        scope(s, (uint64_t)1 << 50); /* never done */
        exit(0);                     /* must not wait */
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_EQ_U64((uint64_t)status, 0);
}

TEST(gpu_timer, errno_is_kept) {
    void *s = begin_gpu_stream();
    errno = 77;
    scope(s, 10);
    finish_gpu();
    stint_gpu_flush();
    CHECK_EQ_U64((uint64_t)errno, 77);
}

/* ---- Declared work. */

TEST(declared_work, belongs_to_the_innermost_scope) {
    {
        REGISTER_TIMER("around");
        TIMER_BYTES(1);
        {
            REGISTER_TIMER("inside");
            TIMER_BYTES(1ull << 30);
            TIMER_BYTES(24);
            TIMER_FLOPS(2e9);
        }
        TIMER_FLOPS(5);
    }
    CHECK_EQ_U64(stat_of("around").bytes, 1);
    CHECK_EQ_U64(stat_of("around").flops, 5);
    CHECK_EQ_U64(stat_of("inside").bytes, (1ull << 30) + 24);
    CHECK_EQ_U64(stat_of("inside").flops, 2000000000);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(declared_work, outside_of_all_scopes_is_counted) {
    { REGISTER_TIMER("before"); }
    TIMER_BYTES(1);
    TIMER_FLOPS(1);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_SCOPE), 2);
    stint_timers_enable(0);
    TIMER_BYTES(1);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_SCOPE), 2);
}

static void nested_in_itself(int depth) {
    REGISTER_TIMER("self");
    TIMER_BYTES(10);
    if (depth) {
        nested_in_itself(depth - 1);
    }
}

TEST(declared_work, of_recursive_calls_adds_up) {
    nested_in_itself(4);
    CHECK_EQ_U64(stat_of("self").bytes, 50);
}

TEST(declared_work, starts_again_at_a_reset) {
    for (int i = 0; i < 2; ++i) {
        {
            REGISTER_TIMER("again");
            TIMER_BYTES(100);
            TIMER_FLOPS(7);
        }
        CHECK_EQ_U64(stat_of("again").bytes, 100);
        CHECK_EQ_U64(stat_of("again").flops, 7);
        stint_reset();
    }
}
