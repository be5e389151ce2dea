/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a tracer (tracer.c), with lists of the tests' own: the tracer that is used, the
 * reason if none is, and the calls of its ops. The tracer is a script that counts its calls.
 */

#include "../unit/support.h"
#include "arena/arena.h"
#include "capture/tracer.h"
#include "script_tracer.h"
#include "session/gpu_about.h"
#include "system/lock.h"

/* The first of a list, which says no. */
static int refuse(char reason[TRACER_REASON], void (*at_launch)(void)) {
    (void)at_launch;
    snprintf(reason, TRACER_REASON, "the device is in use");
    return -1;
}

static void never_close(int force) {
    (void)force;
    CHECK(0 && "closed without being open");
}

static const struct tracer_ops refusing = {.name = "first", .open = refuse, .close = never_close};

/* Nothing but what must be there. */
static int bare_is_open;

static int open_bare(char reason[TRACER_REASON], void (*at_launch)(void)) {
    (void)reason;
    (void)at_launch;
    bare_is_open = 1;
    return 0;
}

static void close_bare(int force) {
    (void)force;
    bare_is_open = 0;
}

static const struct tracer_ops bare = {.name = "bare", .open = open_bare, .close = close_bare};

static const struct tracer_ops *const two[] = {&refusing, &script_tracer, NULL};
static const struct tracer_ops *const one[] = {&script_tracer, NULL};
static const struct tracer_ops *const only_bare[] = {&bare, NULL};
static const struct tracer_ops *const nothing[] = {NULL};

static const struct script_line lines[] = {{"fill", 5000}, {"fill", 7000}, {"sum", 300}, {NULL, 0}};

static void use_list(const struct tracer_ops *const *list) {
    tracer_set_list(list);
    script.next = lines;
}

static void start_in_vain(NO_ARG) {
    CHECK(tracer_start() == -1);
}

static const char *describe(void) {
    static char text[300];
    gpu_about_describe(text, sizeof text); /* as headers of reports have it */
    return text;
}

static void train(void) {
    REGISTER_TIMER("train");
    for (int i = 0; i < 3; ++i) {
        script_launch();
        fake_advance(10000);
    }
}

TEST(tracer, the_next_of_the_list_is_used_where_the_first_refuses) {
    use_list(two);
    CHECK(!tracer_start() && tracer_is_on() && script.opens == 1);
    train();
    CHECK_STR_EQ(describe(), "script 1.0: 0 records, 0.0 % of the run, the script is short");
    tracer_flush(0);
    CHECK_STR_EQ(describe(), "script 1.0: 3 records, 0.0 % of the run, the script is short");
    tracer_stop();
    CHECK(!tracer_is_on() && script.closes == 1);
    char *report = report_of("gpu");
    CHECK_CONTAINS(report, "fill");
    CHECK_CONTAINS(report, "sum");
}

/* A call that ended has left the tracer: the next one is not taken for one of a signal handler. */
TEST(tracer, is_left_by_each_call) {
    use_list(two);
    CHECK(!tracer_start() && !lock_inside(LOCK_TRACER));
    CHECK(!tracer_start());
    tracer_flush(0);
    tracer_stop();
    CHECK(tracer_is_on() && !lock_inside(LOCK_TRACER));
    tracer_stop();
    CHECK(!tracer_is_on() && script.closes == 1);
}

TEST(tracer, the_reason_is_that_of_the_first) {
    use_list(two);
    script.refusal = "the script is lost";
    timed("train", 10);
    CHECK(!arena_header()->tracer_requested);
    char *said = harness_capture(2, start_in_vain, NULL);
    CHECK_STR_EQ(said,
                 "stint: no GPU activities: the device is in use; timers and captures go on\n");
    CHECK(!tracer_is_on() && script.opens == 1 && !script.closes);
    CHECK_STR_EQ(describe(), "no first: the device is in use");
    CHECK(arena_header()->tracer_requested);
    char *report = report_of("gpu");
    CHECK_CONTAINS(report, "No GPU activity was recorded: no first: the device is in use\n");
    tracer_flush(1);
    CHECK(!script.flushes);

    script.refusal = NULL;
    CHECK(!tracer_start() && tracer_is_on());
    CHECK_CONTAINS(describe(), "script 1.0: 0 records");
    tracer_stop();
}

TEST(tracer, no_tracer_in_the_list) {
    use_list(nothing);
    char *said = harness_capture(2, start_in_vain, NULL);
    CHECK_STR_EQ(said,
                 "stint: no GPU activities: this build has no tracer; timers and captures go on\n");
    CHECK_STR_EQ(describe(), "no tracer: this build has no tracer");
    tracer_flush(1);
}

static void check_child(void) {
    CHECK(script.forgets == 1 && !tracer_is_on());
    CHECK(tracer_start() == -1 && script.opens == 1);
    tracer_flush(1);
    CHECK(!script.flushes);
    CHECK_STR_EQ(describe(), "");
}

TEST(tracer, forgotten_in_the_child_of_a_fork) {
    use_list(one);
    CHECK(!tracer_start());
    harness_in_child(check_child);
    CHECK(!script.forgets && tracer_is_on());
    train();
    tracer_flush(0);
    CHECK(script.records == 3);
    tracer_stop();
}

static void check_child_before(void) {
    CHECK(!script.forgets);
    CHECK(!tracer_start() && script.opens == 1);
}

TEST(tracer, a_child_may_have_one_that_its_parent_never_opened) {
    use_list(one);
    harness_in_child(check_child_before);
}

static void check_bare_child(void) {
    CHECK(!tracer_is_on() && tracer_start() == -1);
    tracer_flush(1);
    CHECK_STR_EQ(describe(), "");
}

TEST(tracer, members_that_are_not_there_are_not_called) {
    use_list(only_bare);
    CHECK(!tracer_start() && tracer_is_on() && bare_is_open);
    tracer_flush(0);
    tracer_flush(1);
    CHECK_STR_EQ(describe(), "bare");
    harness_in_child(check_bare_child);
    tracer_stop();
    CHECK(!tracer_is_on() && !bare_is_open);
    tracer_flush(1);
}
