/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the driver back end, called directly, over the driver double: contexts of
 * streams, events and their times, stream capture, codes. The double counts the calls and decides
 * the expected times.
 */
#include "double_state.h"
#include "driver_support.h"

static const struct gpu_ops *thread_ops;

/* ---- Contexts */

TEST(gpu_driver, life_of_the_driver) {
    const struct gpu_ops *ops = start();
    struct gpu_context c;
    double_reset();
    CHECK(!ops->uninitialized()); /* not asked yet */
    CHECK(ops->context(NULL, &c) == GPU_NOT_INITIALIZED);
    CHECK(ops->uninitialized());
    double_init_without_context();
    CHECK(ops->context(NULL, &c) == GPU_INVALID_CONTEXT);
    CHECK(!ops->uninitialized());
    CHECK(!c.handle && c.device == -1);
    double_context_make_current(double_context_new(3));
    CHECK(!ops->context(NULL, &c));
    CHECK(c.handle == double_context_current() && c.device == 3 && c.id != 0);
    double_shutdown();
    CHECK(ops->context(NULL, &c) == GPU_DEINITIALIZED);
}

TEST(gpu_driver, context_of_a_stream) {
    const struct gpu_ops *ops = start();
    void *home = double_context_current(), *away = double_context_new(2);
    void *here = double_stream_new(NULL), *there = double_stream_new(away);
    struct gpu_context a, b, c;
    CHECK(!ops->context(here, &a) && a.handle == home && a.device == 0);
    CHECK(!ops->context(there, &b) && b.handle == away && b.device == 2);
    CHECK(a.id != b.id);
    CHECK(double_context_current() == home);
    CHECK(!ops->context(GPU_STREAM_LEGACY, &c) && c.handle == home && c.id == a.id);
    CHECK(!ops->context(GPU_STREAM_PER_THREAD, &c) && c.handle == home);
    double_context_make_current(NULL);
    CHECK(ops->context(GPU_STREAM_LEGACY, &c) == GPU_INVALID_CONTEXT);
    CHECK(!ops->context(there, &c) && c.device == 2);
    CHECK(!double_context_current());
    double_stream_destroy(there);
    CHECK(ops->context(there, &c) == GPU_INVALID_HANDLE);
}

TEST(gpu_driver, a_driver_that_knows_no_context_of_a_stream) {
    const struct gpu_ops *ops = start();
    struct gpu_context c;
    CHECK(!double_fail("cuStreamGetCtx:*=801"));
    CHECK(!ops->context(double_stream_new(double_context_new(1)), &c));
    CHECK(c.handle == double_context_current());
}

TEST(gpu_driver, a_known_context_takes_two_calls) {
    const struct gpu_ops *ops = start();
    void *s = double_stream_new(double_context_new(1));
    struct gpu_context c;
    CHECK(!ops->context(s, &c));
    double_calls_clear();
    CHECK(!ops->context(s, &c) && c.device == 1);
    CHECK_EQ_U64(double_calls_all(), 2);
    CHECK_EQ_U64(double_calls("cuStreamGetCtx") + double_calls("cuCtxGetId"), 2);
}

TEST(gpu_driver, more_contexts_than_are_known) {
    const struct gpu_ops *ops = start();
    void *stream[200];
    struct gpu_context c;
    for (int i = 0; i < 200; ++i) {
        stream[i] = double_stream_new(double_context_new(i % 3));
    }
    for (int i = 0; i < 400; ++i) {
        CHECK(!ops->context(stream[i % 200], &c) && c.device == i % 200 % 3);
    }
}

TEST(gpu_driver, a_new_context_at_an_old_address) {
    const struct gpu_ops *ops = start();
    struct gpu_context a, b;
    CHECK(!ops->context(NULL, &a));
    double_context_replace(a.handle);
    CHECK(!ops->context(NULL, &b));
    CHECK(a.handle == b.handle && a.id != b.id);
    double_context_destroy(b.handle);
    CHECK(ops->context(NULL, &b) == GPU_INVALID_CONTEXT);
}

TEST(gpu_driver, leave_undoes_enter) {
    const struct gpu_ops *ops = start();
    void *home = double_context_current();
    struct gpu_context c = {.handle = double_context_new(1)}, own = {.handle = home};
    CHECK(!ops->enter(&c));
    CHECK(double_context_current() == c.handle);
    ops->leave(&c);
    CHECK(double_context_current() == home);
    CHECK(!ops->enter(&own));
    ops->leave(&own);
    CHECK(double_context_current() == home);
    double_context_make_current(NULL);
    CHECK(!ops->enter(&c));
    ops->leave(&c);
    CHECK(!double_context_current());
}

/* Nothing is asked by a handle that may be that of a destroyed context: the double would abort. */
TEST(gpu_driver, whether_a_context_exists) {
    const struct gpu_ops *ops = start();
    struct gpu_context own, primary;
    double_context_make_current(double_primary_use(0));
    CHECK(!ops->context(NULL, &primary) && ops->is_primary(&primary));
    CHECK(ops->is_current(&primary));
    double_context_make_current(double_context_new(1));
    CHECK(!ops->context(NULL, &own) && !ops->is_primary(&own));
    CHECK(!ops->is_current(&primary) && ops->exists(&primary, 1) == GPU_EXISTS);
    CHECK_EQ_U64(double_primary_references(0), 2); /* the program's */
    double_context_make_current(primary.handle);
    CHECK(ops->exists(&own, 0) == GPU_MAY_BE_GONE);
    double_primary_reset(0);
    CHECK(!ops->is_current(&primary) && ops->exists(&primary, 1) == GPU_IS_GONE);
    CHECK(ops->context(NULL, &own) == GPU_CONTEXT_IS_DESTROYED);
    double_context_make_current(NULL);
    CHECK(ops->exists(&primary, 1) == GPU_IS_GONE);
    double_primary_use(0); /* at the same address */
    CHECK(ops->exists(&primary, 1) == GPU_IS_GONE);
    double_context_make_current(primary.handle);
    CHECK(!ops->is_current(&primary) && ops->exists(&primary, 1) == GPU_IS_GONE);
    CHECK_EQ_U64(double_primaries_made(), 0);
}

/* ---- Events */

struct pair {
    void *from, *to;
};

static struct pair pair_on(const struct gpu_ops *ops, void *stream, uint64_t work) {
    struct pair p = {NULL, NULL};
    CHECK(!ops->event_new(&p.from) && !ops->event_new(&p.to));
    CHECK(!ops->event_record(p.from, stream));
    CHECK(!double_launch(stream, work));
    CHECK(!ops->event_record(p.to, stream));
    return p;
}

TEST(gpu_driver, an_event_pair) {
    const struct gpu_ops *ops = start();
    void *s = double_stream_new(NULL);
    uint64_t ns = 1;
    struct pair p = pair_on(ops, s, 3000000);
    CHECK(!ops->event_query(p.from));
    CHECK(ops->event_query(p.to) == GPU_NOT_READY);
    CHECK(ops->event_elapsed(p.from, p.to, &ns) == GPU_NOT_READY && ns == 0);
    double_advance(2999999);
    CHECK(ops->event_query(p.to) == GPU_NOT_READY);
    double_advance(1);
    CHECK(!ops->event_query(p.to));
    CHECK(!ops->event_elapsed(p.from, p.to, &ns));
    CHECK_EQ_U64(ns, 3000000);
    CHECK_EQ_U64(double_synchronise_calls(), 0);
    CHECK(!ops->event_drop(p.from) && !ops->event_drop(p.to));
    CHECK(ops->event_drop(p.to) == GPU_INVALID_HANDLE);
    CHECK_EQ_U64(double_events_alive(), 0);
}

TEST(gpu_driver, times_are_rounded_to_ns) {
    const struct gpu_ops *ops = start();
    static const uint64_t works[] = {0, 1, 7, 999, 1000, 123456, 16777216, 1000000000};
    for (size_t i = 0; i < sizeof works / sizeof *works; ++i) {
        struct pair p = pair_on(ops, GPU_STREAM_LEGACY, works[i]);
        uint64_t ns = 1, off;
        CHECK(!ops->event_wait(p.to));
        CHECK(!ops->event_elapsed(p.from, p.to, &ns));
        off = ns > works[i] ? ns - works[i] : works[i] - ns;
        CHECK(off <= works[i] >> 24); /* a float has 24 bits */
    }
}

TEST(gpu_driver, a_time_that_cannot_be) {
    const struct gpu_ops *ops = start();
    struct pair p = pair_on(ops, GPU_STREAM_LEGACY, 5000);
    uint64_t ns = 1;
    double_advance(5000);
    CHECK(ops->event_elapsed(p.to, p.from, &ns) == GPU_INVALID_VALUE);
    CHECK_EQ_U64(ns, 0);
}

TEST(gpu_driver, an_event_of_another_context) {
    const struct gpu_ops *ops = start();
    void *s = double_stream_new(double_context_new(1));
    void *e;
    struct gpu_context c;
    CHECK(!ops->event_new(&e));
    CHECK(ops->event_record(e, s) == GPU_INVALID_HANDLE);
    CHECK(!ops->context(s, &c) && !ops->enter(&c) && !ops->event_new(&e));
    ops->leave(&c);
    CHECK(!ops->event_record(e, s));
}

TEST(gpu_driver, only_event_wait_waits) {
    const struct gpu_ops *ops = start();
    struct pair p = pair_on(ops, GPU_STREAM_LEGACY, 5000);
    CHECK_EQ_U64(double_synchronise_calls(), 0);
    CHECK_EQ_U64(double_now(), 0);
    CHECK(!ops->event_wait(p.to));
    CHECK_EQ_U64(double_synchronise_calls(), 1);
    CHECK_EQ_U64(double_now(), 5000);
}

/* ---- Stream capture */

TEST(gpu_driver, a_stream_under_capture) {
    const struct gpu_ops *ops = start();
    void *s = double_stream_new(NULL), *other = double_stream_new_nonblocking(NULL), *e;
    int yes = 7;
    uint64_t ns;
    CHECK(!ops->capturing(s, &yes) && !yes);
    CHECK(!double_capture_begin(s, 0));
    CHECK(!ops->capturing(s, &yes) && yes);
    CHECK(!ops->capturing(other, &yes) && !yes);
    CHECK(!ops->capturing(GPU_STREAM_LEGACY, &yes) && yes);
    CHECK(!ops->capturing(NULL, &yes) && yes);
    CHECK(!double_capture_invalidated(s));
    CHECK(!ops->event_new(&e));
    CHECK(ops->event_record(e, GPU_STREAM_LEGACY) == GPU_CAPTURE_IMPLICIT);
    CHECK(double_capture_invalidated(s));
    CHECK(!ops->capturing(s, &yes) && yes);
    CHECK(double_capture_end(s) == 901);
    CHECK(!double_capture_begin(s, 0));
    CHECK(!ops->event_record(e, s));
    CHECK(ops->event_query(e) == GPU_CAPTURED_EVENT);
    CHECK(ops->event_elapsed(e, e, &ns) == GPU_CAPTURED_EVENT);
    CHECK(double_capture_end(s) == 0);
    CHECK(!ops->event_record(e, s) && !ops->event_query(e));
}

static void *query_from_elsewhere(void *event) {
    return (void *)(uintptr_t)thread_ops->event_query(event);
}

static void *query_relaxed(void *event) {
    int mode = GPU_MODE_RELAXED, code;
    CHECK(!thread_ops->capture_mode(&mode) && mode == 0);
    code = thread_ops->event_query(event);
    CHECK(!thread_ops->capture_mode(&mode) && mode == GPU_MODE_RELAXED);
    return (void *)(uintptr_t)code;
}

TEST(gpu_driver, a_query_during_anothers_capture) {
    const struct gpu_ops *ops = thread_ops = start();
    void *s = double_stream_new(NULL), *other = double_stream_new_nonblocking(NULL);
    struct pair p = pair_on(ops, other, 0);
    CHECK(!double_capture_begin(s, 0));
    CHECK(on_a_thread(query_relaxed, p.to) == 0);
    CHECK(!double_capture_invalidated(s));
    CHECK(on_a_thread(query_from_elsewhere, p.to) == 900);
    CHECK(double_capture_end(s) == 901);
    CHECK(!double_capture_begin(s, 1)); /* of its own thread's concern only */
    CHECK(on_a_thread(query_from_elsewhere, p.to) == 0);
    CHECK(!double_capture_invalidated(s));
    CHECK(ops->event_query(p.to) == 900);
    CHECK(double_capture_end(s) == 901);
    CHECK(!double_capture_begin(s, 2));
    CHECK(!ops->event_query(p.to));
    CHECK(double_capture_end(s) == 0);
}

/* ---- Tools and devices */

TEST(gpu_driver, tools) {
    const struct gpu_ops *ops = start();
    void *home = double_context_current();
    CHECK(!ops->capture_start());
    CHECK(double_profiling(NULL) && double_profiler_context() == home);
    CHECK(!ops->capture_start()); /* without effect */
    CHECK_EQ_U64(double_profiler_starts(), 1);
    CHECK(!ops->capture_stop() && !double_profiling(home));
    CHECK_EQ_U64(double_profiler_stops(), 1);
    double_context_make_current(NULL);
    CHECK(ops->capture_start() == GPU_INVALID_CONTEXT);
}

TEST(gpu_driver, devices) {
    const struct gpu_ops *ops = start();
    struct gpu_device d;
    double_device_name(1, "A name of more characters than a report has room for in its first line");
    double_device_attribute(1, 36, 0);
    double_device_attribute(1, 37, -5);
    CHECK(!ops->device(0, &d));
    CHECK_STR_EQ(d.name, "Double 0");
    CHECK(d.major == 9 && d.minor == 0 && d.multiprocessors == 132 && d.clock_khz == 1980000);
    CHECK(d.memory_clock_khz == 3201000 && d.memory_bus_bits == 6144 && d.fp64_ratio == 2);
    CHECK_EQ_U64(d.l2_bytes, 50 << 20);
    CHECK(!ops->device(1, &d));
    CHECK_EQ_U64(strlen(d.name), sizeof d.name - 1);
    CHECK(d.memory_clock_khz == 0 && d.memory_bus_bits == 0 && d.multiprocessors == 132);
    CHECK(ops->device(4, &d) == 101);
    CHECK(ops->device(-1, &d) == 101);
    CHECK(d.name[0] == '\0' && d.major == 0);
}

TEST(gpu_driver, names_of_codes) {
    CHECK_STR_EQ(gpu_code_name(&gpu_none, 700), "error");
    config.driver_lib = DOUBLE_LIBRARY;
    gpu_ops();
    CHECK_STR_EQ(gpu_code_name(gpu_ops(), 700), "CUDA_ERROR_ILLEGAL_ADDRESS");
    CHECK_STR_EQ(gpu_code_name(gpu_ops(), 987), "CUDA_ERROR_OF_THE_DOUBLE");
    CHECK_STR_EQ(gpu_code_name(gpu_ops(), 986), "error");
    CHECK_STR_EQ(gpu_code_name(gpu_ops(), 4), "CUDA_ERROR_DEINITIALIZED");
}

TEST(gpu_driver, fatal_codes) {
    static const int fatal[] = {4, 214, 220, 700, 702, 710, 714, 715, 716, 717, 718, 719, 999};
    static const int others[] = {0, 1, 2, 3, 34, 100, 201, 400, 600, 709, 713, 801, 900, 906, 907};
    CHECK(!gpu_is_fatal(&gpu_none, 700));
    config.driver_lib = DOUBLE_LIBRARY;
    gpu_ops();
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; ++i) {
        CHECK(gpu_is_fatal(gpu_ops(), fatal[i]));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        CHECK(!gpu_is_fatal(gpu_ops(), others[i]));
    }
}

/* ---- Faults */

/* Every op once; returns the last code that was none of those due. */
static int everything(const struct gpu_ops *ops, void *stream) {
    struct gpu_context c;
    struct gpu_device d;
    void *a = NULL, *b = NULL;
    int yes = 7, mode = GPU_MODE_RELAXED, seen = 0;
    uint64_t ns = 7;
    int codes[16], n = 0;
    codes[n++] = ops->context(stream, &c);
    if (!(codes[n++] = ops->enter(&c))) {
        codes[n++] = ops->event_new(&a);
        codes[n++] = ops->event_new(&b);
        ops->leave(&c);
    }
    codes[n++] = ops->capturing(stream, &yes);
    CHECK(yes == 0);
    codes[n++] = ops->event_record(a, stream);
    codes[n++] = ops->event_record(b, stream);
    codes[n++] = ops->capture_mode(&mode);
    codes[n++] = ops->event_query(b);
    codes[n++] = ops->event_wait(b);
    codes[n++] = ops->event_elapsed(a, b, &ns);
    CHECK_EQ_U64(ns, 0);
    codes[n++] = ops->event_drop(a);
    codes[n++] = ops->capture_start();
    codes[n++] = ops->capture_stop();
    codes[n++] = ops->wait();
    codes[n++] = ops->device(0, &d);
    ops->code_name(1);
    ops->capture_mode(&mode);
    while (n-- > 0) {
        seen = codes[n] == 700 ? 700 : seen;
    }
    return seen;
}

TEST(gpu_driver, every_function_fails_once_or_always) {
    static const char *const quiet[] = {
        /* whose failure costs a detail only, or that are not called here */
        "cuDevicePrimaryCtxGetState",
        "cuDevicePrimaryCtxRetain",
        "cuDevicePrimaryCtxRelease",
        "cuDeviceGetCount",
        "cuCtxGetDevice",
        "cuCtxPopCurrent",
        "cuDriverGetVersion",
        "cuDeviceGetAttribute",
        "cuDeviceGetName",
        "cuGetErrorName",
        "cuCtxGetCurrent",
        NULL};
    for (size_t f = 0; double_names[f]; ++f) {
        for (int always = 0; always < 2; ++always) {
            const struct gpu_ops *ops = start();
            void *s = double_stream_new(NULL);
            char fault[80];
            int shown = 1;
            snprintf(fault, sizeof fault, "%s:%s=700", double_names[f], always ? "*" : "1");
            CHECK(!double_fail(fault));
            int code = everything(ops, s);
            for (const char *const *q = quiet; *q; ++q) {
                shown &= strcmp(*q, double_names[f]) != 0;
            }
            if (!CHECK(code == (shown ? 700 : 0) || !shown)) {
                printf("# %s returned %d\n", fault, code);
            }
            CHECK(!double_fail(NULL));
            CHECK(!everything(ops, s));
        }
    }
}

TEST(gpu_driver, faults_that_cannot_be_read) {
    CHECK(double_fail("cuNothing:1=700") == -1);
    CHECK(double_fail("cuEventQuery") == -1);
    CHECK(double_fail("cuEventQuery:0=700") == -1);
    CHECK(double_fail("cuEventQuery:1=0") == -1);
    CHECK(double_fail("cuEventQuery:1=700;") == -1);
    CHECK(double_fail("cuEventQuery:1=700,cuEventDestroy_v2:*=4") == 0);
    CHECK(double_fail(NULL) == 0);
}
