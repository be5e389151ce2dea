/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps and schedules: numbers, phases, callbacks, and the two switches that a program and a
 * schedule have. Captures are counted by fake_gpu.h.
 */

#include "capture/capture.h"
#include "fake_gpu.h"
#include "harness_threads.h"
#include "recorded.h"
#include "support.h"

static void scope(void) {
    REGISTER_TIMER("work");
    fake_advance(10);
}

/* ---- Numbers and wall time. */

TEST(step, numbers) {
    CHECK_EQ_U64(stint_step(), 1);
    CHECK_EQ_U64(stint_step(), 2);
    CHECK_EQ_U64(arena_header()->steps, 2);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(step, wall_time_is_a_row_from_the_second_call_on) {
    fake_advance(5000); /* before the first: not a whole step, perhaps */
    stint_step();
    CHECK_EQ_U64(calls_of("stint_step"), 0);
    for (uint64_t i = 1; i <= 4; ++i) {
        fake_advance(i * 100);
        stint_step();
    }
    stint_stat s = stat_of("stint_step");
    CHECK_EQ_U64(s.calls, 4);
    CHECK_EQ_U64(s.total_ns, 1000);
    CHECK_EQ_U64(s.min_ns, 100);
    CHECK_EQ_U64(s.max_ns, 400);
    CHECK_EQ_U64(arena_site_at(1)->role, STINT_ROLE_STEP);
}

TEST(step, no_row_while_recording_is_off) {
    stint_timers_enable(0);
    for (int i = 0; i < 5; ++i) {
        fake_advance(100);
        CHECK_EQ_U64(stint_step(), (uint64_t)i + 1);
    }
    CHECK_EQ_U64(calls_of("stint_step"), 0);
    stint_timers_enable(1);
    fake_advance(100);
    stint_step();
    CHECK_EQ_U64(calls_of("stint_step"), 1);
    CHECK_EQ_U64(stat_of("stint_step").total_ns, 100);
}

static void *steps(void *unused) {
    for (int i = 0; i < 1000; ++i) {
        stint_step();
    }
    return unused;
}

static unsigned rounds_ready;

static void count_rounds(void *data, uint64_t first, uint64_t last) {
    (void)data;
    CHECK_EQ_U64(last - first, 1);
    CHECK_EQ_U64(first % 10, 8);
    __atomic_fetch_add(&rounds_ready, 1, __ATOMIC_RELAXED);
}

TEST(step, any_thread) {
    stint_schedule s = schedule_make(0, 5, 3, 2, 0);
    CHECK(!stint_timers_schedule(&s, sizeof s, count_rounds, NULL));
    CHECK(!stint_capture_schedule(&s, sizeof s, count_rounds, NULL));
    int saved = dup(2);
    dup2(open("/dev/null", O_WRONLY), 2);
    threads_run(4, steps, NULL, 0);
    dup2(saved, 2);
    CHECK_EQ_U64(stint_step(), 4001);
    CHECK_EQ_U64(rounds_ready, 800);
    CHECK_EQ_U64(arena_header()->steps, 4001);
}

TEST(step, errno_is_kept) {
    stint_schedule s = schedule_make(0, 1, 0, 0, 0);
    errno = 1234;
    stint_step();
    free(NULL);
    int saved = dup(2);
    dup2(open("/dev/null", O_WRONLY), 2);
    errno = 1234;
    CHECK(stint_timers_schedule(&s, sizeof s, NULL, NULL) == -1);
    CHECK(stint_capture_schedule(&s, sizeof s, NULL, NULL) == -1);
    CHECK(!stint_capture_schedule(NULL, 0, NULL, NULL));
    CHECK(!stint_timers_schedule(NULL, 0, NULL, NULL));
    stint_step();
    CHECK(errno == 1234);
    dup2(saved, 2);
}

static void bad_schedules(NO_ARG) {
    stint_schedule s = schedule_make(1, 1, 1, 0, 1);
    CHECK(stint_timers_schedule(&s, sizeof s, NULL, NULL) == -1);
    CHECK(stint_capture_schedule(&s, sizeof s, NULL, NULL) == -1);
}

TEST(step, schedule_without_a_record_phase_is_refused) {
    char *text = harness_capture(2, bad_schedules, NULL);
    CHECK_STR_EQ(text, "stint: stint_timers_schedule: a schedule needs a record phase; ignored\n"
                       "stint: stint_capture_schedule: a schedule needs a record phase; ignored\n");
    scope();
    CHECK_EQ_U64(calls_of("work"), 1);
}

/* ---- Timers by schedule. */

static struct {
    unsigned times;
    uint64_t first, last, calls, steps;
    void *data;
} ready;

static void note(void *data, uint64_t first, uint64_t last) {
    ++ready.times;
    ready.first = first;
    ready.last = last;
    ready.data = data;
    ready.calls = calls_of("work"); /* takes the locks that a report takes */
    ready.steps = calls_of("stint_step");
}

TEST(step, timers_record_what_the_schedule_says) {
    int mine;
    stint_schedule s = schedule_make(2, 1, 2, 3, 2);
    CHECK(!stint_timers_schedule(&s, sizeof s, note, &mine));
    /* ..|.wwRRR|.wwRRR|... */
    for (uint64_t i = 0; i < 20; ++i) {
        scope();
        scope();
        stint_step();
        CHECK_EQ_U64(ready.times, i < 7 ? 0 : i < 13 ? 1 : 2);
    }
    CHECK_EQ_U64(ready.first, 11);
    CHECK_EQ_U64(ready.last, 13);
    CHECK_EQ_U64(ready.calls, 6);
    CHECK_EQ_U64(ready.steps, 3);
    CHECK(ready.data == &mine);
    CHECK_EQ_U64(calls_of("work"), 6); /* nothing came after it */
    CHECK(!stint_timers_schedule(NULL, 0, NULL, NULL));
    scope();
    CHECK_EQ_U64(calls_of("work"), 7);
}

TEST(step, back_to_back_rounds_each_start_anew) {
    stint_schedule s = schedule_make(0, 0, 0, 2, 0);
    CHECK(!stint_timers_schedule(&s, sizeof s, note, NULL));
    for (unsigned i = 0; i < 10; ++i) {
        scope();
        stint_step();
        CHECK_EQ_U64(ready.times, (i + 1) / 2);
    }
    CHECK_EQ_U64(ready.first, 8);
    CHECK_EQ_U64(ready.last, 9);
    CHECK_EQ_U64(ready.calls, 2);
    CHECK_EQ_U64(calls_of("work"), 0);
}

TEST(step, schedule_begins_in_the_middle_of_a_record_phase) {
    stint_schedule s = schedule_make(0, 2, 0, 4, 1);
    for (int i = 0; i < 3; ++i) {
        scope();
        stint_step();
    }
    CHECK(!stint_timers_schedule(&s, sizeof s, note, NULL));
    for (int i = 0; i < 3; ++i) {
        scope();
        stint_step();
    }
    CHECK_EQ_U64(ready.times, 1);
    CHECK_EQ_U64(ready.first, 3);
    CHECK_EQ_U64(ready.last, 5);
    CHECK_EQ_U64(ready.calls, 3);
}

TEST(step, the_users_switch_and_the_schedules_are_two) {
    stint_schedule s = schedule_make(0, 2, 0, 2, 0);
    scope();
    CHECK(!stint_timers_schedule(&s, sizeof s, note, NULL));
    stint_timers_enable(1); /* does not open a closed step */
    scope();
    CHECK_EQ_U64(calls_of("work"), 1);
    stint_timers_enable(0);
    stint_step();
    stint_step(); /* record, but the user says no */
    scope();
    CHECK_EQ_U64(calls_of("work"), 0);
    stint_timers_enable(1);
    scope();
    CHECK_EQ_U64(calls_of("work"), 1);
    stint_timers_enable(0);
    CHECK(!stint_timers_schedule(NULL, 0, NULL, NULL));
    scope();
    CHECK_EQ_U64(calls_of("work"), 1);
}

static void takes_long(void *data, uint64_t first, uint64_t last) {
    (void)data, (void)first, (void)last;
    fake_advance(1000000);
}

TEST(step, a_callback_is_no_part_of_a_step) {
    stint_schedule s = schedule_make(0, 0, 0, 2, 1);
    CHECK(!stint_capture_schedule(&s, sizeof s, takes_long, NULL));
    for (int i = 0; i < 5; ++i) {
        fake_advance(100);
        stint_step();
    }
    CHECK_EQ_U64(stat_of("stint_step").max_ns, 100);
    CHECK_EQ_U64(calls_of("stint_step"), 4);
}

static int captured_then;

static void note_running(void *data, uint64_t first, uint64_t last) {
    (void)data, (void)first, (void)last;
    captured_then = fake_gpu.running;
}

TEST(step, the_capture_ends_before_the_timers_report) {
    stint_schedule s = schedule_make(0, 1, 0, 2, 1);
    fake_context = 1;
    captured_then = 7;
    CHECK(!stint_capture_schedule(&s, sizeof s, NULL, NULL));
    CHECK(!stint_timers_schedule(&s, sizeof s, note_running, NULL));
    for (int i = 0; i < 5; ++i) {
        stint_step();
    }
    CHECK(captured_then == 0);
    CHECK_CAPTURES(1);
}

static void default_report(NO_ARG) {
    stint_schedule s = schedule_make(0, 1, 0, 2, 1);
    CHECK(!stint_timers_schedule(&s, sizeof s, NULL, NULL));
    for (int i = 0; i < 10; ++i) {
        scope();
        stint_step();
    }
}

TEST(step, without_a_callback_a_report_is_printed) {
    char *text = harness_capture(2, default_report, NULL);
    CHECK_CONTAINS(text, "work");
    CHECK_CONTAINS(text, "stint_step");
    CHECK_EQ_U64(times_in(text, "testprog"), 1); /* one header */
}

static void ends_the_schedule(void *data, uint64_t first, uint64_t last) {
    note(data, first, last);
    CHECK(!stint_timers_schedule(NULL, 0, NULL, NULL));
    stint_step();
}

TEST(step, callback_may_end_the_schedule) {
    stint_schedule s = schedule_make(0, 0, 0, 1, 0);
    CHECK(!stint_timers_schedule(&s, sizeof s, ends_the_schedule, NULL));
    scope();
    stint_step();
    scope();
    stint_step();
    CHECK_EQ_U64(ready.times, 1);
    CHECK_EQ_U64(calls_of("work"), 2); /* and is not reset */
}

static void child_of_steps(void) {
    scope();
    CHECK_EQ_U64(calls_of("work"), 1);
    fake_advance(1000);
    CHECK_EQ_U64(stint_step(), 1);
    CHECK_EQ_U64(arena_header()->steps, 1);
    CHECK_EQ_U64(calls_of("stint_step"), 0);
    fake_advance(77);
    stint_step();
    CHECK_EQ_U64(stat_of("stint_step").total_ns, 77);
    CHECK_EQ_U64(ready.times, 0);
}

TEST(step, child_of_a_fork_counts_from_zero_and_records) {
    stint_schedule s = schedule_make(1, 1, 0, 1, 0);
    CHECK(!stint_timers_schedule(&s, sizeof s, note, NULL));
    scope(); /* closed */
    harness_in_child(child_of_steps);
    stint_step();
    harness_in_child(child_of_steps);
    CHECK_EQ_U64(stint_step(), 2);
}

static int is_in, may_go;

static void slow_callback(void *data, uint64_t first, uint64_t last) {
    (void)data, (void)first, (void)last;
    __atomic_store_n(&is_in, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&may_go, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
}

static void *one_step(void *unused) {
    stint_step();
    return unused;
}

/* Makes calls while another thread is in its callback: none of them may wait for it. */
static void go_on_meanwhile(void) {
    pthread_t t;
    CHECK(!pthread_create(&t, NULL, one_step, NULL));
    while (!__atomic_load_n(&is_in, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    stint_step();
    GPU_PROFILER_START("meanwhile");
    GPU_PROFILER_STOP();
    stint_timers_enable(1);
    report_of("table");
    harness_in_child(child_of_steps);
    __atomic_store_n(&may_go, 1, __ATOMIC_RELEASE);
    pthread_join(t, NULL);
}

TEST(step, timers_callback_holds_nothing) {
    stint_schedule s = schedule_make(0, 0, 0, 1, 1);
    CHECK(!stint_timers_schedule(&s, sizeof s, slow_callback, NULL));
    go_on_meanwhile();
}

TEST(step, capture_callback_holds_nothing) {
    stint_schedule s = schedule_make(0, 0, 0, 1, 1);
    CHECK(!stint_capture_schedule(&s, sizeof s, slow_callback, NULL));
    go_on_meanwhile();
}

/* Programs that were built with another header have fewer members, or more. */
TEST(step, schedules_of_other_sizes) {
    struct {
        stint_schedule known;
        uint32_t later;
    } s = {schedule_make(0, 1, 0, 2, 3), 0};
    CHECK(stint_timers_schedule(&s.known, sizeof s, note, NULL) == STINT_OK);
    CHECK(stint_timers_schedule(&s.known, offsetof(stint_schedule, repeat), note, NULL) ==
          STINT_OK);
    int saved = dup(2);
    dup2(open("/dev/null", O_WRONLY), 2);
    CHECK(stint_timers_schedule(&s.known, 0, note, NULL) == STINT_ERROR_UNKNOWN);
    s.later = 1;
    CHECK(stint_timers_schedule(&s.known, sizeof s, note, NULL) == STINT_ERROR_NOT_AVAILABLE);
    CHECK(stint_capture_schedule(&s.known, sizeof s, note, NULL) == STINT_ERROR_NOT_AVAILABLE);
    dup2(saved, 2);
    CHECK(stint_timers_schedule(NULL, 0, NULL, NULL) == STINT_OK);
}
