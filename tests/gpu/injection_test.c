/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with libstint.so and STINT_GPU=cupti: CUPTI is not called before CUDA is initialised.
 */
#include "harness.h"

#ifdef INJECTION_PROGRAM
struct run {
    const char *settings, *how;
};

static void run_program(void *data) {
    const struct run *r = data;
    char command[2000];
    snprintf(command, sizeof command,
             "env -u CUDA_INJECTION64_PATH STINT_CUPTI_LIB='%s' STINT_CUDA_LIB='%s' "
             "STINT_GPU=cupti STINT_OUTPUT=stdout %s '%s' %s 2>&1",
             CUPTI_DOUBLE_LIBRARY, DOUBLE_LIBRARY, r->settings, INJECTION_PROGRAM, r->how);
    CHECK(system(command) == 0);
}

static char *output_of(const char *settings, const char *how) {
    struct run r = {settings, how};
    return harness_capture(1, run_program, &r);
}

static void check_traced(const char *said) {
    CHECK_CONTAINS(said, "main: 0 calls of CUPTI, subscribed 0\nthe driver calls stint\n"
                         "in a scope: 1 calls of CUPTI, subscribed 1\n");
    CHECK_CONTAINS(said, "add(float*)");
}
#else
#define NOT_SHARED "the library is static here"
#endif

TEST(injection, cupti_is_not_called_before_cuda) {
#ifdef INJECTION_PROGRAM
    char *said = output_of("", "");
    check_traced(said);
    free(said);
#else
    SKIP(NOT_SHARED);
#endif
}

TEST(injection, a_child_may_be_the_first_to_use_cuda) {
#ifdef INJECTION_PROGRAM
    char *said = output_of("", "fork");
    check_traced(said);
    CHECK_CONTAINS(said, "parent: 0 calls of CUPTI, subscribed 0\n");
    free(said);
#else
    SKIP(NOT_SHARED);
#endif
}

TEST(injection, another_tool_has_the_variable) {
#ifdef INJECTION_PROGRAM
    char *said = output_of("CUDA_INJECTION64_PATH=/nonexistent/tool.so", "");
    CHECK_CONTAINS(said, "main: 0 calls of CUPTI, subscribed 0\nthe driver calls no library\n"
                         "in a scope: 1 calls of CUPTI, subscribed 1\n");
    CHECK_CONTAINS(said, "add(float*)");
    free(said);
#else
    SKIP(NOT_SHARED);
#endif
}

TEST(injection, a_child_without_stint_is_left_alone) {
#ifdef INJECTION_PROGRAM
    char *said = output_of("STINT_REPORT=gpu", "start '" INJECTION_OTHER "'");
    CHECK_CONTAINS(said, "other: the driver calls stint: 1, 0 calls of CUPTI\n");
    CHECK(!strstr(said, "stint gpu: stint_gpu_injection_other"));
    free(said);
#else
    SKIP(NOT_SHARED);
#endif
}

TEST(injection, a_child_with_stint_is_traced) {
#ifdef INJECTION_PROGRAM
    char *said = output_of("", "start '" INJECTION_PROGRAM "'");
    check_traced(said);
    free(said);
#else
    SKIP(NOT_SHARED);
#endif
}

TEST(injection, after_cuda_was_initialised_children_do_not_have_it) {
#ifdef INJECTION_PROGRAM
    char *said = output_of("", "list");
    check_traced(said);
    CHECK_CONTAINS(said, "STINT_GPU=cupti\n"); /* the environment is in it */
    CHECK(!strstr(said, "\nCUDA_INJECTION64_PATH="));
    free(said);
#else
    SKIP(NOT_SHARED);
#endif
}

HARNESS_MAIN()
