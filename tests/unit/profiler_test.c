/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler's calls: start, stop, reset, levels, blocks, the report at exit, threads and forks.
 * The reports themselves are compared in tests/screens.
 */
#include <setjmp.h>
#include <sys/stat.h>

#include "harness_threads.h"
#include "recorded.h"
#include "support.h"
#include "system/config.h"

#define REPORT "Profiling Report     <-"

struct stop {
    const char *key;
    const char *path;
    int result;
};

static void stop_it(void *arg) {
    struct stop *s = arg;
    s->result = stint_profiler_stop(s->key, s->path);
}

/* Stops the profiler and returns its output. */
static char *stop(const char *key, const char *path, int result) {
    struct stop s = {key, path, 7};
    char *said = harness_capture(2, stop_it, &s);
    CHECK(s.result == result);
    return said;
}

static void start(const char *option) {
    CHECK(!stint_profiler_start("CPU", option));
}

TEST(profiler, reports_what_happened_in_between) {
    timed("before", 1000);
    start(NULL);
    timed("inside", 20000);
    char *said = stop("total", NULL, 0);
    CHECK_CONTAINS(said, "Place: CPU\n");
    CHECK_CONTAINS(said, "Sorted by total time in descending order");
    CHECK_CONTAINS(said, "thread0::inside");
    CHECK_EQ_U64(times_in(said, REPORT), 1);
    CHECK(!strstr(said, "before"));
    timed("after", 1000);
    start(NULL);
    said = stop(NULL, "", 0);
    CHECK(!strstr(said, "inside") && !strstr(said, "after"));
}

TEST(profiler, all_is_the_default_state) {
    CHECK(!stint_profiler_start(NULL, NULL));
    char *said = stop(NULL, NULL, 0);
    CHECK_CONTAINS(said, "Place: All\n");
    CHECK_CONTAINS(said, "Sorted by event first end time");
}

static void bad_words(NO_ARG) {
    errno = 42;
    CHECK(stint_profiler_start("cpu", NULL) == -1);
    CHECK(stint_profiler_start("", "Default") == -1);
    CHECK(stint_profiler_start("All", "Detail") == -1);
    CHECK(stint_profiler_start("bad", "too") == -1);
    CHECK(stint_profiler_stop("avg", NULL) == -1);
    CHECK(stint_profiler_at_exit("CPU", NULL, "median", NULL) == -1);
    CHECK(stint_profiler_at_exit("gpu", NULL, NULL, NULL) == -1);
    REGISTER_PROFILER("CPU", "none", "total", NULL);
    REGISTER_PROFILER("CPU", NULL, "none", NULL);
    CHECK(errno == 42);
}

TEST(profiler, bad_words_are_one_line_each_and_start_nothing) {
    char *said = harness_capture(2, bad_words, NULL);
    CHECK_EQ_U64(lines_of(said), 9);
    CHECK_CONTAINS(said, "stint_profiler_start: state \"cpu\": expected CPU, GPU or All\n");
    CHECK_CONTAINS(said, "option \"Detail\": expected Default, OpDetail or AllOpDetail\n");
    CHECK_CONTAINS(said, "stint_profiler_stop: sorted_key \"avg\": expected default, calls, total, "
                         "max, min, ave, cpu or gpu\n");
    CHECK_CONTAINS(said, "STINT_PROFILER: option \"none\"");
    said = stop(NULL, NULL, 0);
    CHECK_STR_EQ(said, "");
}

TEST(profiler, a_bad_key_does_not_stop_it) {
    start(NULL);
    stop("avg", NULL, -1);
    CHECK_CONTAINS(stop("ave", NULL, 0), REPORT);
}

TEST(profiler, starts_once_and_stops_once) {
    start("OpDetail");
    timed("one", 1000);
    CHECK(stint_profiler_start("CPU", "AllOpDetail") == STINT_ERROR_BUSY); /* nothing is done */
    CHECK(config.level == STINT_LEVEL_OP_DETAIL);
    char *said = stop(NULL, NULL, 0);
    CHECK_CONTAINS(said, "one");
    said = stop("total", "/nowhere/at/all", 0);
    CHECK_STR_EQ(said, "");
}

static void levels(void) {
    REGISTER_TIMER_DETAIL("detail", STINT_LEVEL_OP_DETAIL);
    REGISTER_TIMER_DETAIL("all detail", STINT_LEVEL_ALL_OP_DETAIL);
}

TEST(profiler, option_is_the_level_until_it_stops) {
    static const struct {
        const char *option;
        int detail, all;
    } cases[] = {{NULL, 0, 0}, {"Default", 0, 0}, {"OpDetail", 1, 0}, {"AllOpDetail", 1, 1}};
    stint_level_set(1);
    stint_timers_enable(0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        start(cases[i].option);
        levels();
        char *said = stop(NULL, NULL, 0);
        CHECK((strstr(said, "::detail") != NULL) == cases[i].detail);
        CHECK((strstr(said, " all detail") != NULL) == cases[i].all);
        CHECK(config.level == 1 && !config.enable);
        levels(); /* switched off again */
    }
    CHECK_EQ_U64(calls_of("detail"), 1); /* of the interval of the last profile */
}

TEST(profiler, settings_changed_meanwhile_stay) {
    start("OpDetail");
    stint_level_set(2);
    stop(NULL, NULL, 0);
    CHECK(config.level == 2 && config.enable);
    start(NULL);
    stint_timers_enable(0);
    stop(NULL, NULL, 0);
    CHECK(config.level == 2 && !config.enable);
}

TEST(profiler, reset_forgets_the_warm_up) {
    timed("before", 10);
    stint_profiler_reset(); /* none runs: nothing */
    CHECK_EQ_U64(calls_of("before"), 1);
    start(NULL);
    timed("warm up", 10);
    stint_profiler_reset();
    timed("work", 10);
    char *said = stop(NULL, NULL, 0);
    CHECK(!strstr(said, "warm up"));
    CHECK_CONTAINS(said, "work");
}

/* ---- The block. */

static jmp_buf away;

static void leave(int how) {
    REGISTER_PROFILER("CPU", NULL, "calls", NULL);
    timed("block", 10);
    for (int i = 0; i < 2; ++i) {
        REGISTER_PROFILER("CPU", "OpDetail", "total", NULL); /* inside another: nothing */
        if (how == 1) {
            break;
        }
        if (how == 2) {
            goto out;
        }
        if (how == 3) {
            return;
        }
        if (how == 4) {
            longjmp(away, 1);
        }
    }
out:
    timed("behind", 10);
}

static void leave_it(void *how) {
    leave((int)(intptr_t)how);
}

TEST(profiler, block_ends_however_it_is_left) {
    for (intptr_t how = 0; how < 4; ++how) {
        char *said = harness_capture(2, leave_it, (void *)how);
        CHECK_EQ_U64(times_in(said, REPORT), 1);
        CHECK_CONTAINS(said, "Sorted by number of calls");
        CHECK_CONTAINS(said, "thread0::block");
        CHECK((strstr(said, "behind") != NULL) == (how != 3));
    }
}

static void jump(NO_ARG) {
    if (!setjmp(away)) {
        leave(4);
    }
}

/* A block that was jumped over has not ended: the profile goes on, the next block does nothing, and
 * a call ends it. */
TEST(profiler, block_that_was_jumped_over_goes_on) {
    char *said = harness_capture(2, jump, NULL);
    CHECK_STR_EQ(said, "");
    timed("later", 10);
    said = stop("total", NULL, 0);
    CHECK_CONTAINS(said, "later");
    said = harness_capture(2, leave_it, (void *)0);
    CHECK_EQ_U64(times_in(said, REPORT), 1);
}

static void stopped_inside(NO_ARG) {
    REGISTER_PROFILER("CPU", NULL, "calls", NULL);
    stint_profiler_stop("total", NULL);
    stint_profiler_start("CPU", NULL); /* not the block's */
}

TEST(profiler, block_ends_nothing_that_is_not_its_own) {
    char *said = harness_capture(2, stopped_inside, NULL);
    CHECK_EQ_U64(times_in(said, REPORT), 1);
    said = stop("ave", NULL, 0);
    CHECK_EQ_U64(times_in(said, REPORT), 1);
}

/* ---- Threads. */

static int goes_on = 1;
static uint64_t reports;

static void *profile_and_record(void *unused) {
    while (__atomic_load_n(&goes_on, __ATOMIC_RELAXED)) {
        stint_profiler_start("CPU", "OpDetail");
        timed("work", 1);
        levels();
        stint_profiler_reset();
        if (!stint_profiler_stop("calls", NULL)) {
            __atomic_fetch_add(&reports, 1, __ATOMIC_RELAXED);
        }
        REGISTER_PROFILER("CPU", NULL, NULL, NULL);
        timed("in block", 1);
    }
    return unused;
}

static void many(NO_ARG) {
    pthread_t threads[4];
    threads_start(threads, 4, profile_and_record, NULL, 0);
    while (__atomic_load_n(&reports, __ATOMIC_RELAXED) < 40) {
        levels();
    }
    __atomic_store_n(&goes_on, 0, __ATOMIC_RELAXED);
    threads_join(threads, 4);
}

TEST(profiler, from_many_threads_at_once) {
    stint_level_set(2);
    char *said = harness_capture(2, many, NULL);
    CHECK_CONTAINS(said, REPORT);
    CHECK(!strstr(said, "stint: "));
    said = stop(NULL, NULL, 0); /* each profile has ended */
    CHECK_STR_EQ(said, "");
    CHECK(config.level == 2 && config.enable);
}

/* ---- fork. */

static int in_child(void (*child)(void)) {
    int status = -1;
    pid_t pid = fork();
    if (!pid) {
        child();
        exit(harness_result->failures ? 1 : 0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void child_of_a_profile(void) {
    CHECK(config.level == 1 && !config.enable);
    stop(NULL, NULL, 0); /* not its profile */
    stint_timers_enable(1);
    timed("before", 5);
    start("AllOpDetail");
    timed("child", 5);
    char *said = stop(NULL, NULL, 0);
    CHECK_CONTAINS(said, "child");
    CHECK(!strstr(said, "before"));
}

TEST(profiler, a_child_has_none) {
    stint_level_set(1);
    stint_timers_enable(0);
    start("AllOpDetail");
    timed("parent", 5);
    CHECK(in_child(child_of_a_profile) == 0);
    char *said = stop(NULL, NULL, 0);
    CHECK_CONTAINS(said, "parent");
    CHECK(!strstr(said, "child"));
}

static void fork_in_block(NO_ARG) {
    REGISTER_PROFILER("CPU", NULL, NULL, NULL);
    timed("both", 5);
    pid_t pid = fork();
    if (pid) {
        waitpid(pid, NULL, 0);
    } else {
        timed("both", 5);
    }
}

TEST(profiler, a_childs_block_ends_nothing) {
    pid_t parent = getpid();
    char *said = harness_capture(2, fork_in_block, NULL);
    if (getpid() != parent) {
        _exit(0);
    }
    CHECK_EQ_U64(times_in(said, REPORT), 1);
}

/* ---- The end of the program. */

static void wait_for(void *child) {
    CHECK(in_child((void (*)(void))(uintptr_t)child) == 0);
}

/* Returns the output on stderr of a program that calls `child` and exits. */
static char *end_of(void (*child)(void)) {
    return harness_capture(2, wait_for, (void *)(uintptr_t)child);
}

static void late(void) {
    timed("in atexit", 20);
    dprintf(2, "handler\n");
}

static void profiled(void) {
    atexit(late);
    timed("before", 10);
    CHECK(!stint_profiler_at_exit("CPU", "Default", "total", NULL));
    timed("main", 10);
}

TEST(profiler, at_exit_comes_after_atexit_handlers) {
    char *said = end_of(profiled);
    CHECK(said && strstr(said, "handler\n------------------------->     Profiling") == said);
    CHECK_CONTAINS(said, "in atexit");
    CHECK_CONTAINS(said, "main");
    CHECK(!strstr(said, "before"));
    CHECK_EQ_U64(times_in(said, REPORT), 1);
}

static void profiled_and_reported(void) {
    profiled();
    stint_report_at_exit("table");
}

TEST(profiler, at_exit_comes_before_the_report) {
    char *said = end_of(profiled_and_reported);
    const char *table = strstr(said, "stint table: "), *profile = strstr(said, REPORT);
    CHECK(table && profile && profile < table);
}

static void ended_before(void) {
    profiled();
    stint_profiler_stop(NULL, NULL);
    dprintf(2, "stopped\n");
}

TEST(profiler, at_exit_is_over_when_it_is_stopped) {
    char *said = end_of(ended_before);
    CHECK_EQ_U64(times_in(said, REPORT), 1);
    CHECK(strstr(said, REPORT) < strstr(said, "stopped"));
}

static void started_before(void) {
    start("OpDetail");
    timed("early", 10);
    CHECK(!stint_profiler_at_exit("All", "Default", "max", NULL)); /* the end alone */
    CHECK(config.level == STINT_LEVEL_OP_DETAIL);
}

TEST(profiler, at_exit_takes_over_one_that_runs) {
    char *said = end_of(started_before);
    CHECK_CONTAINS(said, "Place: CPU\n");
    CHECK_CONTAINS(said, "Sorted by maximum time");
    CHECK_CONTAINS(said, "early");
}

static void nobody_ends_it(void) {
    start(NULL);
    timed("main", 10);
}

TEST(profiler, without_at_exit_nothing_is_printed) {
    char *said = end_of(nobody_ends_it);
    CHECK_STR_EQ(said, "");
}

static void nothing_recorded(void) {
    CHECK(!stint_profiler_at_exit("CPU", NULL, NULL, NULL));
}

TEST(profiler, nothing_recorded_nothing_said) {
    char *said = end_of(nothing_recorded);
    CHECK_STR_EQ(said, "");
}

static void child_exits(void) {
    profiled();
    pid_t pid = fork();
    if (!pid) {
        timed("child", 5);
        exit(0);
    }
    waitpid(pid, NULL, 0);
}

TEST(profiler, a_child_prints_no_profile_of_its_parent) {
    char *said = end_of(child_exits);
    CHECK_EQ_U64(times_in(said, REPORT), 1);
}
