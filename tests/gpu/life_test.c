/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole programs that reset the device, or destroy their context, with GPU scopes that were not
 * polled, and end: they end as without stint, no destroyed context or event is used (the double
 * aborts), and the report at exit counts each scope once. The same while CUPTI is on.
 */

#include "cuda_double.h"
#include "harness.h"

static int status, has_cupti;

static void run_program(void *how) {
    char command[1000];
    snprintf(
        command, sizeof command,
        "STINT_GPU=%s STINT_CUPTI_LIB='%s' STINT_CUDA_LIB='%s' STINT_REPORT=table '%s' %s 2>&1",
        has_cupti ? "cupti" : "events", CUPTI_DOUBLE_LIBRARY, DOUBLE_LIBRARY, LIFE_PROGRAM,
        (const char *)how);
    status = system(command);
}

/* Runs the program, of whose scopes `count` are lost, and which ends with its own status. */
static void check_output(const char *how, const char *count, const char *why) {
    char line[200];
    snprintf(line, sizeof line, "lost: %s GPU scopes with CPU time only: %s\n", count, why);
    char *said = harness_capture(1, run_program, (void *)(uintptr_t)how);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    CHECK_CONTAINS(said, "main ends\n");
    CHECK_CONTAINS(said, "work");
    CHECK_CONTAINS(said, line);
    CHECK(!strstr(said, "in flight"));
    CHECK(!strstr(said, "cuda_double: "));
    CHECK(!strstr(said, "cupti 13.1: ") == !has_cupti);
}

static void check_loss(const char *how, const char *count, const char *why) {
    has_cupti = 0;
    check_output(how, count, why);
    has_cupti = 1;
    check_output(how, count, why);
}

static void check_program(const char *how) {
    check_loss(how, "5", "their context was destroyed, or may have been");
}

TEST(gpu_life, reset_with_work_that_runs) {
    check_program("reset");
}

TEST(gpu_life, reset_with_work_that_has_ended) {
    check_program("finished");
}

TEST(gpu_life, reset_within_a_scope) {
    check_program("open");
}

TEST(gpu_life, last_reference_released) {
    check_program("release");
}

TEST(gpu_life, own_context_destroyed) {
    check_program("own");
}

TEST(gpu_life, own_context_destroyed_by_another_thread) {
    check_program("own_of_other");
}

TEST(gpu_life, own_context_not_current_at_exit) {
    check_program("own_not_current");
}

TEST(gpu_life, many_own_contexts_destroyed) {
    check_loss("many", "3000", "their context was destroyed, or may have been");
}

TEST(gpu_life, reset_after_a_thread_has_ended) {
    check_program("thread");
}

TEST(gpu_life, reset_and_used_again) {
    check_program("again");
}

TEST(gpu_life, reset_and_another_context_used) {
    check_program("elsewhere");
}

/* The driver is unloaded before stint. */
TEST(gpu_life, the_driver_is_gone) {
    check_program("shutdown");
}
