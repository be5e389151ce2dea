/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library as it is shipped, in a program whose clock_gettime is its own, as tests with a clock
 * of their own have it, and under libfaketime: it may show one and the same time, or fail. The
 * first scope ends, one line says what is measured instead, and times are right. Built twice:
 * CLOCK_OF_LIBFAKETIME is the program that ctest runs with libfaketime preloaded.
 */
#include <sys/syscall.h>
#include <time.h>

#include <stint/stint.h>

#include "harness.h"

#define PASS_NS 20000000u

enum clock_mode { CLOCK_AS_IT_IS, CLOCK_FROZEN, CLOCK_FAILING };
static enum clock_mode mode;

#if !defined(CLOCK_OF_LIBFAKETIME)
int clock_gettime(clockid_t id, struct timespec *t) {
    switch (mode) {
    case CLOCK_AS_IT_IS:
        break;
    case CLOCK_FROZEN:
        t->tv_sec = 1577836800; /* the first moment of 2020, as libfaketime might show it */
        t->tv_nsec = 0;
        return 0;
    case CLOCK_FAILING:
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_clock_gettime, id, t);
}
#endif

static uint64_t kernel_ns(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t before, after;

static void record(NO_ARG) {
    before = kernel_ns();
    {
        REGISTER_TIMER("pass");
        uint64_t from = kernel_ns();
        while (kernel_ns() - from < PASS_NS) {
        }
    }
    after = kernel_ns();
}

/* Checks that the scope has at least the time that passed inside it and at most the time that
 * passed around it. The counter's rate is good to 0.1 %, and a shared machine gets a tenth. */
static void check_time(void) {
    stint_stat s;
    CHECK(!stint_stat_get("pass", &s, sizeof s) && s.calls == 1);
    CHECK(s.total_ns >= PASS_NS / 10 * 9 && s.total_ns <= (after - before) / 10 * 11);
}

static void print(NO_ARG) {
    CHECK(!stint_report("table"));
}

static void check_mode(enum clock_mode wanted) {
    mode = wanted;
    char *said = harness_capture(2, record, NULL);
    CHECK_CONTAINS(said, "stint: clock_gettime(CLOCK_MONOTONIC_RAW) fails or does not advance");
    check_time();
    CHECK_CONTAINS(harness_capture(2, print, NULL), "pass");
}

#if defined(CLOCK_OF_LIBFAKETIME)
TEST(clock_frozen, under_libfaketime) {
    struct timespec t;
    if (!getenv("FAKETIME")) {
        SKIP("no libfaketime (Debian: package faketime), or a sanitizer that has to come first");
    }
    CHECK(!clock_gettime(CLOCK_REALTIME, &t) && t.tv_sec == 1577836800);
    check_mode(CLOCK_FROZEN);
}
#else
TEST(clock_frozen, in_a_program_that_freezes_it) {
    check_mode(CLOCK_FROZEN);
}

TEST(clock_frozen, in_a_program_where_it_fails) {
    check_mode(CLOCK_FAILING);
}

TEST(clock_frozen, with_the_other_clock_too) {
    CHECK(!setenv("STINT_CLOCK", "monotonic", 1));
    check_mode(CLOCK_FROZEN);
}

TEST(clock_frozen, and_nothing_is_said_of_one_that_goes) {
    CHECK_STR_EQ(harness_capture(2, record, NULL), "");
    check_time();
}
#endif
