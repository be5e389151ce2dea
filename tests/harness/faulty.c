/* SPDX-License-Identifier: Apache-2.0 */
/* Cases with known ends, run by harness_test.c: half of them have to fail. Second file of the
 * program: other.c has the main and registers through the same list. */
#include "harness.h"

#include <pthread.h>

static const int in_a_thread = 0, in_a_child = 0, inside_a_capture = 0;

TEST(good, passes) {
    CHECK(1 + 1 == 2);
    CHECK_EQ_U64(UINT64_MAX, UINT64_MAX);
    CHECK_STR_EQ("a", "a");
    CHECK_CONTAINS("haystack", "st");
}

TEST(good, null_is_only_null) {
    const char *null = NULL;
    CHECK_STR_EQ(null, null);
}

TEST(skip, says_why) {
    SKIP("no such hardware");
}

TEST(skip, then_fails_anyway) {
    harness_skip("no such hardware");
    CHECK(0);
}

TEST(bad, check) {
    CHECK(1 == 2);
}

TEST(bad, check_u64) {
    CHECK_EQ_U64(7, 1ull << 40);
}

TEST(bad, sum) {
    harness_u128 more = (harness_u128)5 << 64;
    CHECK_EQ_U64(more + 1, 1u);
}

TEST(bad, check_text) {
    CHECK_STR_EQ("have this", "want that");
    CHECK_CONTAINS("have this", "that");
    CHECK_STR_EQ("text", NULL);
    CHECK_CONTAINS(NULL, "that");
}

static void *fail_500_times(void *unused) {
    (void)unused;
    for (int i = 0; i < 500; ++i) {
        CHECK(in_a_thread);
    }
    return NULL;
}

TEST(bad, threads) {
    pthread_t thread[4];
    for (int i = 0; i < 4; ++i) {
        CHECK(pthread_create(&thread[i], NULL, fail_500_times, NULL) == 0);
    }
    for (int i = 0; i < 4; ++i) {
        pthread_join(thread[i], NULL);
    }
}

TEST(bad, forked) {
    pid_t child = fork();
    if (child == 0) {
        CHECK(in_a_child);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void fail_quietly(void *unused) {
    (void)unused;
    CHECK(inside_a_capture);
}

TEST(bad, captured) {
    harness_capture(2, fail_quietly, NULL);
}

TEST(bad, crash) {
    signal(SIGSEGV, SIG_DFL); /* sanitizers have a handler that turns it into an exit */
    raise(SIGSEGV);
}

TEST(bad, abort) {
    abort();
}

TEST(bad, exit_zero) {
    exit(0);
}

static void exit_three(void) {
    _exit(3);
}

TEST(bad, late_exit) {
    atexit(exit_three);
}

TEST(bad, hangs) {
    for (;;) {
        pause();
    }
}
