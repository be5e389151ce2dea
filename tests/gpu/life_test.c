/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole programs that reset the device, or destroy their context, with GPU scopes that were not
 * polled, and end: they end as without stint, and the report at exit counts each scope once.
 */
#include <sys/wait.h>

#include "cuda_double.h"
#include "harness.h"

static int status;

static void run_program(void *how) {
    char command[1000];
    snprintf(command, sizeof command, "STINT_CUDA_LIB='%s' STINT_REPORT=table '%s' %s 2>&1",
             DOUBLE_LIBRARY, LIFE_PROGRAM, (const char *)how);
    status = system(command);
}

/* Whose five first scopes are lost to the context, and that ends with its own status. */
static char *output_of(const char *how) {
    char *said = harness_capture(1, run_program, (void *)(uintptr_t)how);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    CHECK_CONTAINS(said, "main ends\n");
    CHECK_CONTAINS(said, "work");
    CHECK_CONTAINS(said, "lost: 5 GPU scopes with CPU time only: the GPU reported an error\n");
    CHECK(!strstr(said, "in flight"));
    return said;
}

TEST(gpu_life, reset_with_work_that_runs) {
    free(output_of("reset"));
}

TEST(gpu_life, reset_with_work_that_has_ended) {
    free(output_of("finished"));
}

TEST(gpu_life, reset_within_a_scope) {
    free(output_of("open"));
}

TEST(gpu_life, own_context_destroyed) {
    free(output_of("own"));
}

TEST(gpu_life, reset_after_a_thread_has_ended) {
    free(output_of("thread"));
}

TEST(gpu_life, reset_and_used_again) {
    free(output_of("again"));
}

/* As when the driver is unloaded before stint. */
TEST(gpu_life, the_driver_is_gone) {
    free(output_of("shutdown"));
}

HARNESS_MAIN()
