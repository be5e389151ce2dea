/* SPDX-License-Identifier: Apache-2.0 */
/* The harness, judged from outside: runs the faulty program (argv of the build) and reads it. */
#include "harness.h"

#include <spawn.h>

extern char **environ;

struct command {
    const char *argument[4];
    int status;
};

static void spawn_faulty(void *arg) {
    struct command *c = (struct command *)arg;
    char program[] = FAULTY_PROGRAM;
    char *argv[6] = {program};
    pid_t child;
    for (int i = 0; i < 4 && c->argument[i]; ++i) {
        argv[i + 1] = (char *)(uintptr_t)c->argument[i];
    }
    dup2(1, 2); /* one text of both, in their order */
    if (posix_spawn(&child, program, NULL, NULL, argv, environ) == 0) {
        waitpid(child, &c->status, 0);
    }
}

/* Runs it with up to two arguments, checks the exit status, returns what it printed. */
static char *faulty(const char *first, const char *second, int exit_status) {
    struct command c = {{first, second}, -1};
    int saved = dup(2);
    char *text = harness_capture(1, spawn_faulty, &c);
    dup2(saved, 2);
    close(saved);
    CHECK(WIFEXITED(c.status));
    CHECK_EQ_U64((uint64_t)WEXITSTATUS(c.status), (uint64_t)exit_status);
    return text;
}

static void expect(const char *filter, int exit_status, const char *line) {
    CHECK_CONTAINS(faulty(filter, NULL, exit_status), line);
}

TEST(harness, passing_case_passes) {
    expect("good.passes", 0, "ok 1 - good.passes\n1 passed, 0 failed, 0 skipped\n");
}

TEST(harness, failing_check_names_file_and_condition) {
    char *text = faulty("bad.check", NULL, 1);
    CHECK_CONTAINS(text, "faulty.c:");
    CHECK_CONTAINS(text, "failed: CHECK(1 == 2)\n");
    CHECK_CONTAINS(text, "not ok 1 - bad.check # 1 failed\n0 passed, 1 failed, 0 skipped\n");
}

TEST(harness, failing_values_are_shown) {
    expect("bad.check_u64", 1, "7 (0x7) != 1099511627776 (0x10000000000)");
    expect("bad.sum", 1, "0x50000000000000001 != 0x00000000000000001");
    expect("bad.check_text", 1, "---- have\nhave this\n---- want\nwant that\n----");
    expect("bad.check_text", 1, "# 4 failed");
}

TEST(harness, counts_in_threads) {
    expect("bad.threads", 1, "# 2000 failed");
    expect("bad.threads", 1, "further failures are only counted\n");
}

TEST(harness, counts_in_forked_children) {
    expect("bad.forked", 1, "# 1 failed");
}

TEST(harness, check_inside_a_capture_is_seen) {
    expect("bad.captured", 1, "failed: CHECK(inside_a_capture)");
}

TEST(harness, crash_is_named) {
    expect("bad.crash", 1, "not ok 1 - bad.crash # killed by signal 11");
    expect("bad.abort", 1, "not ok 1 - bad.abort # killed by signal 6");
}

TEST(harness, exit_in_a_case_fails) {
    expect("bad.exit_zero", 1, "# left early, exit status 0");
    expect("bad.late_exit", 1, "# after its end, exit status 3");
}

TEST(harness, hang_is_ended) {
    setenv("HARNESS_SECONDS", "1", 1);
    expect("bad.hangs", 1, "not ok 1 - bad.hangs # no end within 1 s");
}

TEST(harness, skip_is_77) {
    expect("skip.says_why", HARNESS_SKIPPED, "ok 1 - skip.says_why # SKIP no such hardware\n");
    expect("skip.then_fails_anyway", 1, "not ok 1 - skip.then_fails_anyway # 1 failed");
}

TEST(harness, list_and_filter) {
    char *text = faulty("--list", "good.*", 0);
    CHECK_STR_EQ(text, "good.passes\ngood.null_is_only_null\n");
    expect("good.*", 0, "2 passed, 0 failed, 0 skipped\n");
    expect("good.pass", 2, "no case matches");
    expect("--lsit", 2, "usage:");
    text = faulty("other.file", "good.passes", 0);
    CHECK_CONTAINS(text, "2 passed, 0 failed, 0 skipped\n");
}

TEST(harness, no_fork_runs_in_this_process) {
    char *text = faulty("--no-fork", "bad.check*", 1);
    CHECK_CONTAINS(text, "0 passed, 3 failed, 0 skipped\n");
    text = faulty("--no-fork", "skip.says_why", HARNESS_SKIPPED);
    CHECK_CONTAINS(text, "0 passed, 0 failed, 1 skipped\n");
}

static void write_both_ways(void *arg) {
    printf("printed %s, ", (const char *)arg);
    fflush(stdout);
    dprintf(1, "written");
}

TEST(harness, capture_takes_stdio_and_write) {
    char word[] = "this";
    char *text = harness_capture(1, write_both_ways, word);
    CHECK_STR_EQ(text, "printed this, written");
    text = harness_capture(2, write_both_ways, word);
    CHECK_STR_EQ(text, "");
}
