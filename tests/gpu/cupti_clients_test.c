/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other clients of CUPTI in the process: one that takes its buffers, and one that uses the functions
 * per subscriber of CUDA 13.2 and later.
 */
#include <pthread.h>

#include "cupti_seen.h"

/* ---- One that registers buffer callbacks of its own. */

#define TAKEN                                                                                      \
    "stint: no GPU activities: another CUPTI client takes the records (it called "                 \
    "cuptiActivityRegisterCallbacks); timers and captures go on\n"

static void pass_time(const char *function, void *data) {
    (void)data;
    if (!strcmp(function, "cuCtxSynchronize")) {
        fake_advance(10000000000u); /* longer than all that was launched */
    }
}

/* Calls are made in a context; waiting for it lets the kernels end. */
static void begin_in_context(void) {
    prepare();
    double_reset();
    double_init();
    double_hook(pass_time, NULL);
    cupti_double_context(double_context_current());
    CHECK(!tracer_start());
    fake_advance(1000);
}

static void launch(int times) {
    for (int i = 0; i < times; ++i) {
        cupti_double_launch(&add_kernel);
    }
}

static void flush(void *how) {
    tracer_flush(*(int *)how);
}

static void check_flush(int how, const char *line, const char *words) {
    char *said = harness_capture(2, flush, &how);
    CHECK_STR_EQ(said, line);
    free(said);
    if (*words) {
        CHECK_CONTAINS(described(), words);
    } else {
        CHECK(!strstr(described(), "client"));
    }
}

TEST(cupti_clients, takes_the_records) {
    begin_in_context();
    launch(10);
    check_flush(TRACER_WAIT, "", "");
    CHECK(count_of(ACTIVITY_KERNEL) == 10);
    cupti_double_take_over();
    launch(20);
    check_flush(TRACER_COMPLETE, "", ""); /* not certain: some might still run */
    check_flush(TRACER_WAIT, TAKEN, ", another CUPTI client took the records of 20 launches");
    CHECK(cupti_double_taken() > 0);
    launch(1);
    check_flush(TRACER_WAIT, "", ", another CUPTI client took the records of 21 launches");
    check_flush(TRACER_WAIT, "", ", another CUPTI client took the records of 21 launches");
    CHECK(count_of(ACTIVITY_KERNEL) == 10);
    tracer_stop();
    CHECK(!tracer_start()); /* registers its own again */
    launch(5);
    check_flush(TRACER_WAIT, "", ", another CUPTI client took the records of 21 launches");
    CHECK(count_of(ACTIVITY_KERNEL) == 15);
}

TEST(cupti_clients, takes_a_buffer_under_way) {
    begin_in_context();
    launch(3);
    cupti_double_deliver(); /* begins a buffer, and keeps what still runs */
    cupti_double_take_over();
    launch(4);
    check_flush(TRACER_FORCED, TAKEN, ", another CUPTI client took the records of ");
    CHECK(count_of(ACTIVITY_KERNEL) == 0);
}

TEST(cupti_clients, takes_the_first_record) {
    begin_in_context();
    cupti_double_take_over();
    launch(1);
    check_flush(TRACER_WAIT, TAKEN, ", another CUPTI client took the records of 1 launch");
}

TEST(cupti_clients, takes_them_until_the_end_of_the_session) {
    begin_in_context();
    cupti_double_take_over();
    launch(3);
    cupti_double_wait(CUPTI_DOUBLE_ALL, 2, 0);
    tracer_stop(); /* flushes what is complete only: nothing is said */
    CHECK(!strstr(described(), "client"));
}

/* It is in doubt if there is a capture, no context is known, or waiting fails. */
TEST(cupti_clients, says_nothing_where_it_is_in_doubt) {
    begin();
    double_reset();
    double_init();
    cupti_double_take_over();
    launch(3);
    check_flush(TRACER_WAIT, "", ""); /* calls had no context */
    cupti_double_context(double_context_current());
    launch(3);
    void *stream = double_stream_new_nonblocking(NULL);
    cupti_double_call_on("cuStreamBeginCapture_v2", stream, 0);
    CHECK(!double_capture_begin(stream, 0));
    int how = TRACER_WAIT;
    free(harness_capture(2, flush, &how)); /* says that it does not wait */
    CHECK(!strstr(described(), "client"));
    int code = double_capture_end(stream);
    cupti_double_call_on("cuStreamEndCapture", stream, code);
    CHECK(!double_fail("cuCtxSynchronize:*=700"));
    free(harness_capture(2, flush, &how));
    CHECK(!strstr(described(), "client"));
    double_fail(NULL);
    check_flush(TRACER_WAIT, TAKEN, ", another CUPTI client took the records of 6 launches");
}

/* ---- None does. */

static int over;

static void *launch_until_over(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        launch(3);
    }
    return NULL;
}

static void flush_beside_launches(void *unused) {
    pthread_t threads[3];
    (void)unused;
    for (int i = 0; i < 3; ++i) {
        CHECK(!pthread_create(&threads[i], NULL, launch_until_over, NULL));
    }
    for (int i = 0; i < 100; ++i) {
        static const int how[] = {TRACER_COMPLETE, TRACER_WAIT, TRACER_FORCED};
        tracer_flush(how[i % 3]);
        if (i % 10 == 9) {
            tracer_stop();
            CHECK(!tracer_start());
        }
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; ++i) {
        pthread_join(threads[i], NULL);
    }
}

TEST(cupti_clients, none_is_seen_beside_launches_of_threads) {
    begin_in_context();
    char *said = harness_capture(2, flush_beside_launches, NULL);
    CHECK_STR_EQ(said, "");
    free(said);
    CHECK(!strstr(described(), "client"));
}

TEST(cupti_clients, none_is_seen_if_calls_have_no_records) {
    prepare();
    double_reset();
    double_init();
    cupti_double_context(double_context_current());
    cupti_double_stride(5, 16); /* calls of the runtime: not a layout that is known */
    CHECK(!tracer_start());
    cupti_double_take_over();
    launch(3);
    check_flush(TRACER_WAIT, "", "");
}

/* ---- One that uses the functions per subscriber. They and the others exclude each other: the later
 * ones return 14 (CUDA 13.2; openxla/xla#41501: "Cannot mix global-scope and subscriber-scope
 * activity APIs"), or 39 (CUPTI's documentation of 13.3, "V1/V2 API Mixing"). */

static void start_in_vain(void *unused) {
    (void)unused;
    CHECK(tracer_start() == -1);
}

static void check_excluded(const char *fault, const char *line) {
    prepare();
    cupti_double_version(130200);
    CHECK(!cupti_double_fail(fault));
    char *said = harness_capture(2, start_in_vain, NULL);
    CHECK_STR_EQ(said, line);
    free(said);
    CHECK(!cupti_double_subscribed() && !cupti_double_enabled(10));
}

TEST(cupti_clients, excludes_the_others) {
    check_excluded("cuptiActivityEnable=14",
                   "stint: no GPU activities: cuptiActivityEnable: another CUPTI client uses the "
                   "functions per subscriber (V2) of CUDA 13.2 and later, which exclude these; "
                   "timers and captures go on\n");
}

TEST(cupti_clients, excludes_the_others_when_buffers_are_registered) {
    check_excluded("cuptiActivityRegisterCallbacks=14",
                   "stint: no GPU activities: cuptiActivityRegisterCallbacks: another CUPTI client "
                   "uses the functions per subscriber (V2) of CUDA 13.2 and later, which exclude "
                   "these; timers and captures go on\n");
}

HARNESS_MAIN()
