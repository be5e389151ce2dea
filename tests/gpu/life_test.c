/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole programs that reset the device, or destroy their context, with GPU scopes that were not
 * polled, and end: they end as without stint, and the report at exit counts each scope once. The
 * same while CUPTI is on.
 */
#include <sys/wait.h>

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

/* Runs the program, whose first five scopes are lost with the context, and which ends with its own
 * status. */
static void check_output(const char *how) {
    char *said = harness_capture(1, run_program, (void *)(uintptr_t)how);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    CHECK_CONTAINS(said, "main ends\n");
    CHECK_CONTAINS(said, "work");
    CHECK_CONTAINS(said, "lost: 5 GPU scopes with CPU time only: the GPU reported an error\n");
    CHECK(!strstr(said, "in flight"));
    CHECK(!strstr(said, "cupti 13.0: ") == !has_cupti);
    free(said);
}

static void check_program(const char *how) {
    has_cupti = 0;
    check_output(how);
    has_cupti = 1;
    check_output(how);
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

TEST(gpu_life, own_context_destroyed) {
    check_program("own");
}

TEST(gpu_life, reset_after_a_thread_has_ended) {
    check_program("thread");
}

TEST(gpu_life, reset_and_used_again) {
    check_program("again");
}

/* The driver is unloaded before stint. */
TEST(gpu_life, the_driver_is_gone) {
    check_program("shutdown");
}

HARNESS_MAIN()
