/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that close what is not theirs and use the numbers again.
 */
#include <sys/resource.h>

#include "run_support.h"

static void begin(void) {
    run_begin("run");
    setenv("STINT_PERCENTILES", "0", 1);
}

/* The library takes a number from 512 on if the limit of descriptors allows that. */
static int numbers = 640;

static void limit_numbers(int most) {
    struct rlimit r = {(rlim_t)most, (rlim_t)most};
    numbers = most;
    if (setrlimit(RLIMIT_NOFILE, &r)) {
        SKIP("so many descriptors are not permitted here");
    }
}

static void close_from(int first) {
    for (int fd = first; fd < numbers; ++fd) {
        if (fd != harness_fd) {
            close(fd);
        }
    }
}

static void close_all(void) {
    close_from(3);
}

/* All numbers, on files whose blocks are counted. */
static void take_all(void) {
    char name[32];
    for (int i = 0; i < numbers; ++i) {
        snprintf(name, sizeof name, "other%d", i);
        int fd = open(run_path(name), O_RDWR | O_CREAT, 0600);
        CHECK(fd < 0 || write(fd, "x", 1) == 1);
        if (fd >= numbers - 1) {
            break;
        }
    }
}

static void check_others(void) {
    struct stat s;
    char name[32];
    unsigned found = 0;
    for (int i = 0; i < numbers; ++i) {
        snprintf(name, sizeof name, "other%d", i);
        if (!stat(run_path(name), &s)) {
            ++found;
            CHECK(s.st_size == 1 && s.st_blocks <= 8);
        }
    }
    CHECK(found > (unsigned)numbers - 20);
}

static void closes_and_reuses(void) {
    timed("before", 1);
    close_all();
    take_all();
    run_names(20000);
    CHECK(lost(STINT_STATUS_FILE_FULL) > 0);
    timed("before", 1);
    close_from(numbers - 10); /* a sanitizer opens files at the end */
}

static void check_strangers(int most) {
    begin();
    limit_numbers(most);
    run_silent(closes_and_reuses);
    check_others();
    const struct run_file *f = run_loaded(run_path("run"));
    CHECK_EQ_U64(run_calls(f, "before"), 2);
    CHECK_EQ_U64(run_calls(f, "name 0"), 1);
    CHECK(f->t.s.lost[STINT_STATUS_FILE_FULL] > 0);
    CHECK(f->t.s.lost[STINT_STATUS_NO_NAME] + f->t.s.lost[STINT_STATUS_NO_NODE] > 10000);
    CHECK(run_header(f)->end.ticks != 0);
}

TEST(descriptors, a_strangers_file_is_never_touched) {
    check_strangers(640);
}

TEST(descriptors, a_strangers_file_is_never_touched_where_few_are_allowed) {
    check_strangers(256);
}

/* The number is the program's now: the child of a fork must not close it. */
static void closes_reuses_and_forks(void) {
    timed("before", 1);
    close_all();
    int fd = open(run_path("mine"), O_RDWR | O_CREAT, 0600);
    pid_t child = fork();
    if (!child) {
        _exit(write(fd, "x", 1) == 1 ? 0 : 1);
    }
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
}

TEST(descriptors, a_child_closes_nothing_that_is_not_ours) {
    begin();
    run_body(closes_reuses_and_forks);
}

/* Twice forked, a session of its own, nothing open: what daemons do. */
static void becomes_a_daemon(void) {
    timed("parent", 1);
    if (fork()) {
        _exit(0);
    }
    setsid();
    if (fork()) {
        _exit(0);
    }
    close_all();
    (void)!chdir("/");
    timed("daemon", 1);
    run_names(20000);
    timed("daemon", 1);
    CHECK_EQ_U64(lost_in_all(), 0);
    exit(0);
}

TEST(descriptors, a_daemon) {
    begin();
    setenv("STINT_FILE", run_path("run-%p"), 1);
    run_body(becomes_a_daemon);
    while (!run_sum("daemon").ended) { /* a child of init now */
        usleep(10000);
    }
    CHECK_EQ_U64(run_sum("daemon").ended, 2);
    CHECK_EQ_U64(run_entries(NULL), 2);
}
