/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callback for lines (stint_log_set): its text and level, its moment, and the threads on which
 * it is called. Lines that find no room must be counted.
 */

#include "harness_threads.h"
#include "system/config.h"
#include "system/lock.h"
#include "system/log.h"

#include "recorded.h"
#include "support.h"

#define BYTES 20000

static char got[BYTES];
static unsigned got_lines;
static int in_handler; /* of this thread's */
static int depth;

static void keep_line(void *data, int level, const char *line) {
    size_t length = strlen(got);
    CHECK(!in_handler && !lock_any_held() && !depth);
    ++depth;
    snprintf(got + length, sizeof got - length, "%s%d %s\n", (const char *)data, level, line);
    --depth;
    ++got_lines;
}

static void keep(void) {
    *got = '\0';
    CHECK(stint_log_set(keep_line, (void *)(uintptr_t) ">") == STINT_OK);
}

static void slow(const char *note) {
    REGISTER_TIMER_INFO("slow", note);
    fake_advance(10000001000);
}

static void all_levels(NO_ARG) {
    log_error("an %s", "error");
    log_warning("a warning");
    log_note("a note\n");
    slow("note");
}

TEST(log_callback, lines_have_a_level_and_no_prefix) {
    keep();
    CHECK_STR_EQ(harness_capture(2, all_levels, NULL), "");
    CHECK_STR_EQ(got, ">1 an error\n>2 a warning\n>3 a note\\n\n>4 Stat: [slow] note "
                      "[Span:10000ms1us] \n");
}

TEST(log_callback, null_is_stderr) {
    keep();
    CHECK(stint_log_set(NULL, NULL) == STINT_OK);
    char *text = harness_capture(2, all_levels, NULL);
    CHECK_EQ_U64(lines_of(text), 4);
    CHECK_CONTAINS(text, "stint: an error\n");
    CHECK_STR_EQ(got, "");
}

TEST(log_callback, functions_that_fail) {
    keep();
    CHECK(stint_report("no view") < 0);
    CHECK_EQ_U64(got_lines, 1);
    CHECK_CONTAINS(got, ">1 report \"no view\"");
}

TEST(log_callback, with_a_lock_held_lines_wait) {
    keep();
    lock_take(LOCK_STEP);
    log_note("first");
    lock_take(LOCK_REGISTRY);
    log_error("second");
    lock_release(LOCK_REGISTRY);
    CHECK_EQ_U64(got_lines, 0);
    lock_release(LOCK_STEP);
    CHECK_STR_EQ(got, ">3 first\n>1 second\n");
}

TEST(log_callback, sixty_four_lines_wait) {
    keep();
    for (int round = 0; round < 3; ++round) {
        *got = '\0';
        got_lines = 0;
        lock_take(LOCK_STEP);
        for (int i = 0; i < 70; ++i) {
            log_note("line %d", i);
        }
        lock_release(LOCK_STEP);
        CHECK_EQ_U64(got_lines, 65);
        CHECK_CONTAINS(got, ">3 line 63\n>2 6 more lines were dropped");
    }
}

static void end_under_a_lock(NO_ARG) {
    lock_take(LOCK_STEP);
    log_end();
    lock_release(LOCK_STEP);
    log_error("after the end");
}

/* The program ends in a signal handler that interrupted the library. */
TEST(log_callback, not_called_after_an_end_under_a_lock) {
    keep();
    char *text = harness_capture(2, end_under_a_lock, NULL);
    CHECK_STR_EQ(got, "");
    CHECK_CONTAINS(text, "stint: after the end\n");
}

static void seventy_under_a_lock(NO_ARG) {
    lock_take(LOCK_STEP);
    for (int i = 0; i < 70; ++i) {
        log_note("line %d", i);
    }
    lock_release(LOCK_STEP);
}

TEST(log_callback, sixty_four_lines_wait_for_stderr) {
    char *text = harness_capture(2, seventy_under_a_lock, NULL);
    CHECK_EQ_U64(lines_of(text), 65);
    CHECK_CONTAINS(text, "stint: line 63\nstint: 6 more lines were dropped");
}

static void on_signal(int number) {
    (void)number;
    in_handler = 1;
    slow("in a handler");
    in_handler = 0;
}

TEST(log_callback, not_in_a_signal_handler) {
    struct sigaction action = {.sa_handler = on_signal};
    keep();
    slow("before");
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    CHECK_EQ_U64(got_lines, 1);
    CHECK(stint_report("none") == 0); /* any function delivers it */
    CHECK_EQ_U64(got_lines, 2);
    CHECK_CONTAINS(got, "in a handler");
}

TEST(log_callback, a_thread_that_blocks_signals) {
    sigset_t block;
    keep();
    sigemptyset(&block);
    sigaddset(&block, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &block, NULL);
    slow("blocked");
    CHECK_EQ_U64(got_lines, 0);
    CHECK(stint_report("no view") < 0); /* a function is never in a handler */
    CHECK_EQ_U64(got_lines, 2);
    pthread_sigmask(SIG_UNBLOCK, &block, NULL);
}

static void complain(void *calls, int level, const char *line) {
    (void)line;
    CHECK(!depth && level == STINT_LOG_ERROR);
    ++depth;
    ++*(int *)calls;
    if (*(int *)calls < 5) {
        CHECK(stint_report("bad") < 0);
        CHECK(stint_report("worse") < 0);
    }
    stint_reset();
    --depth;
}

TEST(log_callback, a_callback_that_calls_stint_does_not_recurse) {
    int calls = 0;
    stint_log_set(complain, &calls);
    CHECK(stint_report("first") < 0);
    CHECK_EQ_U64((uint64_t)calls, 9);
}

static void always_complain(void *calls, int level, const char *line) {
    (void)level, (void)line;
    ++*(int *)calls;
    CHECK(stint_report("again") < 0);
}

TEST(log_callback, a_callback_that_always_fails_ends) {
    int calls = 0;
    stint_log_set(always_complain, &calls);
    CHECK(stint_report("first") < 0);
    CHECK(calls >= 1 && calls < 1000);
    stint_log_set(NULL, NULL);
}

static void replace_itself(void *calls, int level, const char *line) {
    (void)level, (void)line;
    ++*(int *)calls;
    keep();
}

TEST(log_callback, is_replaced_in_a_callback) {
    int calls = 0;
    stint_log_set(replace_itself, &calls);
    log_note("to the first");
    log_note("to the second");
    CHECK_EQ_U64((uint64_t)calls, 1);
    CHECK_STR_EQ(got, ">3 to the second\n");
}

static void take_away(void *data, int level, const char *line) {
    (void)data, (void)level, (void)line;
    stint_log_set(NULL, NULL);
}

/* Lines that were made for the callback are whole lines on stderr. */
static void two_lines(NO_ARG) {
    stint_log_set(take_away, NULL);
    lock_take(LOCK_STEP);
    log_note("to the callback");
    log_note("first");
    log_note("second");
    lock_release(LOCK_STEP);
}

TEST(log_callback, taken_away_the_rest_goes_to_stderr) {
    CHECK_STR_EQ(harness_capture(2, two_lines, NULL), "stint: first\nstint: second\n");
}

static void *write_many(void *unused) {
    for (int i = 0; i < 200; ++i) {
        log_note("x");
    }
    return unused;
}

static void count_line(void *count, int level, const char *line) {
    unsigned dropped = 0;
    (void)level;
    if (sscanf(line, "%u more lines", &dropped) != 1) {
        dropped = 1;
    }
    *(unsigned *)count += dropped; /* calls do not overlap */
}

TEST(log_callback, lines_of_several_threads_are_delivered_or_counted) {
    unsigned count = 0;
    stint_log_set(count_line, &count);
    threads_run(4, write_many, NULL, 0);
    while (count < 800 && !stint_report("none") && count != 800) {
    }
    CHECK_EQ_U64(count, 800);
    stint_log_set(NULL, NULL);
}

TEST(log_callback, environment_selects_levels) {
    setenv("STINT_LOG", "error", 1);
    setenv("STINT_NO_SUCH", "1", 1);
    keep();
    timed("configured", 1);
    log_error("e");
    log_warning("w");
    log_note("n");
    slow("s");
    CHECK_STR_EQ(got, ">1 e\n");
}

static void off_lines(void *unused) {
    timed("configured", 1);
    all_levels(unused);
}

TEST(log_callback, off_is_silent) {
    setenv("STINT_LOG", "off", 1);
    setenv("STINT_CLOCK", "sundial", 1);
    CHECK_STR_EQ(harness_capture(2, off_lines, NULL), "");
}

TEST(log_callback, a_child_leaves_the_lines_of_its_parent) {
    keep();
    lock_take(LOCK_STEP);
    log_note("of the parent");
    lock_release(LOCK_STEP);
    got_lines = 0;
    IN_CHILD() {
        log_note("of the child");
        CHECK_EQ_U64(got_lines, 1);
    }
    CHECK_EQ_U64(got_lines, 0);
}
