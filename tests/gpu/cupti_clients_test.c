/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other clients of CUPTI in the process: one that takes its buffers, and one that uses the
 * functions per subscriber of CUDA 13.2 and later.
 */
#include <sched.h>
#include <semaphore.h>

#include "cupti_seen.h"
#include "harness_threads.h"

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
    prepare_initialised();
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
    CHECK_STR_EQ(harness_capture(2, flush, &how), line);
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

static void step(NO_ARG) {
    stint_step();
}

static void check_step(const char *line) {
    CHECK_STR_EQ(harness_capture(2, step, NULL), line);
}

/* 2048 records of calls fill a buffer. */
static void begin_with_large_calls(void) {
    prepare_initialised();
    cupti_double_context(double_context_current());
    cupti_double_stride(4, 512); /* of the driver */
    cupti_double_stride(5, 512); /* of the runtime */
    CHECK(!tracer_start());
    fake_advance(1000);
}

/* Without a flush: more launches than have room in the buffers that CUPTI has. */
TEST(cupti_clients, takes_more_than_has_room) {
    begin_with_large_calls();
    launch(10);
    cupti_double_deliver();
    cupti_double_take_over();
    launch(1500); /* fit */
    check_step("");
    CHECK(!strstr(described(), "client"));
    launch(5000);
    check_step(TAKEN);
    check_step("");
    CHECK_CONTAINS(described(), ", another CUPTI client took the records of ");
}

/* The same number of launches, whose records come. */
TEST(cupti_clients, none_is_seen_in_many_launches) {
    begin_with_large_calls();
    for (int i = 0; i < 100; ++i) {
        launch(100);
        fake_advance(1000000);
        cupti_double_deliver();
    }
    check_step("");
    CHECK(!strstr(described(), "client"));
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
    harness_capture(2, flush, &how); /* says that it does not wait */
    CHECK(!strstr(described(), "client"));
    int code = double_capture_end(stream);
    cupti_double_call_on("cuStreamEndCapture", stream, code);
    CHECK(!double_fail("cuCtxSynchronize:*=700"));
    harness_capture(2, flush, &how);
    CHECK(!strstr(described(), "client"));
    double_fail(NULL);
    check_flush(TRACER_WAIT, TAKEN, ", another CUPTI client took the records of 6 launches");
}

/* ---- None does. */

static void *launch_often(NO_ARG) {
    for (int i = 0; i < 300; ++i) {
        launch(1);
        sched_yield();
    }
    return NULL;
}

static void flush_beside_launches(NO_ARG) {
    pthread_t threads[3];
    threads_start(threads, 3, launch_often, NULL, 0);
    for (int i = 0; i < 60; ++i) {
        static const int how[] = {TRACER_COMPLETE, TRACER_WAIT, TRACER_FORCED};
        tracer_flush(how[i % 3]);
        if (i % 10 == 9) {
            tracer_stop();
            CHECK(!tracer_start());
        }
    }
    threads_join(threads, 3);
}

TEST(cupti_clients, none_is_seen_beside_launches_of_threads) {
    begin_in_context();
    CHECK_STR_EQ(harness_capture(2, flush_beside_launches, NULL), "");
    CHECK(!strstr(described(), "client"));
}

/* One launch is under way during the wait, and its kernel begins after it: so no record is given
 * up. */
static sem_t is_under_way, may_go_on, has_launched;
static __thread int is_other;

static void advance_in_turn(uint64_t ns) {
    if (is_other) {
        sem_post(&is_under_way);
        sem_wait(&may_go_on);
    }
    fake_advance(ns);
}

static void *launch_in_turn(NO_ARG) {
    is_other = 1;
    launch(1);
    sem_post(&has_launched);
    return NULL;
}

static void launch_after_wait(const char *function, void *data) {
    pass_time(function, data);
    if (!strcmp(function, "cuCtxSynchronize")) {
        sem_post(&may_go_on);
        sem_wait(&has_launched);
    }
}

TEST(cupti_clients, none_is_seen_beside_a_launch_under_way) {
    pthread_t thread;
    begin_in_context();
    launch(3);
    sem_init(&is_under_way, 0, 0);
    sem_init(&may_go_on, 0, 0);
    sem_init(&has_launched, 0, 0);
    cupti_double_clock(advance_in_turn, fake_read);
    CHECK(!pthread_create(&thread, NULL, launch_in_turn, NULL));
    sem_wait(&is_under_way);
    double_hook(launch_after_wait, NULL);
    check_flush(TRACER_WAIT, "", "");
    pthread_join(thread, NULL);
    CHECK(count_of(ACTIVITY_KERNEL) == 0);
    double_hook(pass_time, NULL);
    check_flush(TRACER_WAIT, "", "");
    CHECK(count_of(ACTIVITY_KERNEL) == 4);
}

TEST(cupti_clients, none_is_seen_if_calls_have_no_records) {
    prepare_initialised();
    cupti_double_context(double_context_current());
    cupti_double_stride(5, 16); /* calls of the runtime: not a layout that is known */
    CHECK(!tracer_start());
    cupti_double_take_over();
    launch(3);
    check_flush(TRACER_WAIT, "", "");
}

/* ---- One that uses the functions per subscriber. They and the others exclude each other: the
 * later ones return 14 (CUDA 13.2; openxla/xla#41501: "Cannot mix global-scope and subscriber-scope
 * activity APIs"), or 39 (CUPTI's documentation of 13.3, "V1/V2 API Mixing"). */

static void start_in_vain(NO_ARG) {
    CHECK(tracer_start() == -1);
}

static void check_excluded(const char *fault, const char *line) {
    prepare();
    cupti_double_version(130200);
    CHECK(!cupti_double_fail(fault));
    CHECK_STR_EQ(harness_capture(2, start_in_vain, NULL), line);
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

/* ---- The functions per subscriber are used where the library has them all. */

static void begin_scoped(void) {
    prepare_initialised();
    double_hook(pass_time, NULL);
    cupti_double_context(double_context_current());
    cupti_double_version(130300);
    double_driver_version(13030);
    CHECK(!tracer_start());
    fake_advance(1000);
}

static void check_scoped_session(void) {
    unsigned before = count_of(ACTIVITY_KERNEL);
    CHECK(tracer_is_on() && cupti_double_scoped());
    {
        REGISTER_TIMER("train");
        launch(3);
    }
    tracer_flush(TRACER_WAIT);
    CHECK(count_of(ACTIVITY_KERNEL) == before + 3);
    CHECK_CONTAINS(described(), "cupti 13.3: ");
    CHECK_CONTAINS(described(), "of the run");
    CHECK(!strstr(described(), "without") && !strstr(described(), "fails"));
    tracer_stop();
    CHECK(!cupti_double_subscribed() && !cupti_double_scoped() && !cupti_double_enabled(10));
}

TEST(cupti_clients, functions_per_subscriber_are_used) {
    begin_scoped();
    CHECK(!cupti_double_per_thread());
    check_scoped_session();
    CHECK(!tracer_start()); /* a new subscriber */
    check_scoped_session();
    CHECK(!cupti_double_mixed());
    CHECK_STR_EQ(cupti_double_order(),
                 "cuptiGetVersion cuptiSubscribe_v2 cuptiGetTimestamp_v2 "
                 "cuptiActivityGetNextRecord_v2 cuptiGetCallbackName "
                 "cuptiActivitySetAttribute_v2 cuptiActivityRegisterCallbacks_v2 "
                 "cuptiEnableCallback cuptiActivityEnable_v2 cuptiActivityFlushAll "
                 "cuptiActivityGetNumDroppedRecords_v2 cuptiActivityDisable_v2 cuptiUnsubscribe");
}

TEST(cupti_clients, another_one_with_functions_per_subscriber_is_no_obstacle) {
    begin_scoped();
    cupti_double_other_scoped(1); /* now, and when the next session begins */
    check_scoped_session();
    CHECK(!tracer_start());
    check_scoped_session();
    CHECK(!cupti_double_mixed());
}

static void check_global(uint32_t version, int driver, const char *faults) {
    prepare();
    cupti_double_version(version);
    double_driver_version(driver);
    CHECK(!cupti_double_fail(faults));
    CHECK(!tracer_start());
    CHECK(cupti_double_subscribed() && !cupti_double_scoped());
    fake_advance(1000);
    launch(3);
    wait_and_flush(2);
    CHECK(count_of(ACTIVITY_KERNEL) == 3);
    CHECK(!cupti_double_mixed());
    tracer_stop();
    CHECK(!cupti_double_subscribed());
}

/* In CUDA 13.2 they were a preview. */
TEST(cupti_clients, the_global_functions_are_used_before_13_3) {
    check_global(130200, 13030, NULL);
}

TEST(cupti_clients, the_global_functions_are_used_if_the_others_fail) {
    check_global(130300, 13030, "cuptiSubscribe_v2=27");
}

TEST(cupti_clients, the_global_functions_are_used_if_the_clock_fails) {
    check_global(130300, 13030, "cuptiGetTimestamp_v2=27");
}

/* A wheel of CUDA 13.3 over the driver of 13.0 is usual. */
TEST(cupti_clients, the_global_functions_are_used_over_an_older_driver) {
    check_global(130300, 13000, NULL);
    CHECK_EQ_U64(cupti_double_calls("cuptiSubscribe_v2"), 0);
}

/* Or the driver says that it has them, and kinds of records cannot be enabled. */
TEST(cupti_clients, the_global_functions_are_used_if_kinds_cannot_be_enabled) {
    check_global(130300, 13030, "cuptiActivityEnable_v2=27");
}

TEST(cupti_clients, the_global_functions_are_used_beside_a_client_that_excludes_the_others) {
    check_global(130300, 13030, "cuptiActivityEnable_v2=14");
}

/* A failure of theirs is said by the name of the global one, and leaves nothing on. */
TEST(cupti_clients, functions_per_subscriber_fail) {
    prepare();
    cupti_double_version(130300);
    double_driver_version(13030);
    CHECK(!cupti_double_fail("cuptiActivityEnable_v2=35"));
    char *said = harness_capture(2, start_in_vain, NULL);
    CHECK_CONTAINS(said, "cuptiActivityEnable: no permission to profile this GPU");
    CHECK(!cupti_double_subscribed() && !cupti_double_mixed());
}
