/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every function of CUPTI's fails, in each of the ways there are: the program goes on, and what is
 * missing is said.
 */
#include "../unit/recorded.h"
#include "../unit/support.h"
#include "capture/tracer.h"
#include "cupti_double.h"

static const char *const functions[] = {
    "cuptiGetVersion",
    "cuptiSubscribe",
    "cuptiUnsubscribe",
    "cuptiEnableCallback",
    "cuptiGetCallbackName",
    "cuptiGetTimestamp",
    "cuptiActivitySetAttribute",
    "cuptiSetThreadIdType",
    "cuptiActivityRegisterCallbacks",
    "cuptiActivityEnable",
    "cuptiActivityDisable",
    "cuptiActivityFlushAll",
    "cuptiActivityGetNextRecord",
    "cuptiActivityGetNumDroppedRecords",
    "cuptiActivityEnableRuntimeApi",
    "cuptiActivityEnableDriverApi",
    "cuptiActivityEnableAllSyncRecords",
};
#define FUNCTIONS (sizeof functions / sizeof *functions)
static const int codes[] = {1, 8, 14, 15, 21, 27, 35, 39, 40, 987, 999, 12345};
#define CODES (sizeof codes / sizeof *codes)

/* Without these functions there is no tracing. */
static int is_vital(const char *function) {
    return !strcmp(function, "cuptiGetVersion") || !strcmp(function, "cuptiSubscribe") ||
           !strcmp(function, "cuptiGetTimestamp") ||
           !strcmp(function, "cuptiActivityRegisterCallbacks") ||
           !strcmp(function, "cuptiActivityEnable") ||
           !strcmp(function, "cuptiActivityGetNextRecord");
}

static void work(NO_ARG) {
    const struct cupti_double_kernel k = {.name = "k", .ns = 100};
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("work");
        tracer_start();
        cupti_double_launch(&k);
        cupti_double_wait(CUPTI_DOUBLE_ALL, 0, 0);
        tracer_flush(i);
        tracer_stop();
    }
}

static void check(const char *function, const char *fault) {
    char text[400];
    setenv("STINT_CUPTI_LIB", CUPTI_DOUBLE_LIBRARY, 1);
    setenv("STINT_CUDA_LIB", "/nonexistent/libcuda.so.1", 1);
    cupti_double_reset(fake_advance, fake_read);
    CHECK(!cupti_double_fail(fault));
    char *said = harness_capture(2, work, NULL);
    tracer_describe(text, sizeof text);
    CHECK_EQ_U64(calls_of("work"), 2);
    if (is_vital(function)) {
        CHECK_CONTAINS(said, "stint: no GPU activities: ");
        CHECK(said && strchr(said, '\n') == said + strlen(said) - 1); /* one line */
        CHECK_CONTAINS(text, "no cupti: ");
        CHECK(!cupti_double_subscribed());
        CHECK(!cupti_double_enabled(10));
    } else {
        CHECK_STR_EQ(said, "");
        CHECK_CONTAINS(text, "cupti 13.1: ");
    }
    CHECK(!tracer_is_on());
}

TEST(cupti_fault, each_function_in_each_way) {
    for (size_t f = 0; f < FUNCTIONS; ++f) {
        for (size_t c = 0; c < CODES; ++c) {
            char fault[100];
            snprintf(fault, sizeof fault, "%s=%d", functions[f], codes[c]);
            IN_CHILD_ABOUT(fault) {
                check(functions[f], fault);
            }
        }
    }
}

/* One call of the function fails, whichever; the others succeed. */
static void check_once(const char *fault) {
    setenv("STINT_CUPTI_LIB", CUPTI_DOUBLE_LIBRARY, 1);
    setenv("STINT_CUDA_LIB", "/nonexistent/libcuda.so.1", 1);
    cupti_double_reset(fake_advance, fake_read);
    CHECK(!cupti_double_fail(fault));
    char *said = harness_capture(2, work, NULL);
    CHECK(lines_of(said) <= 1);
    CHECK_EQ_U64(calls_of("work"), 2);
    CHECK(!tracer_is_on());
    cupti_double_fail(NULL);
    said = harness_capture(2, work, NULL); /* as if nothing had happened */
    CHECK_STR_EQ(said, "");
    CHECK(!tracer_is_on() && !cupti_double_subscribed());
}

TEST(cupti_fault, each_function_once) {
    for (size_t f = 0; f < FUNCTIONS; ++f) {
        for (unsigned call = 1; call <= 4; ++call) {
            char fault[100];
            snprintf(fault, sizeof fault, "%s:%u=999", functions[f], call);
            IN_CHILD_ABOUT(fault) {
                check_once(fault);
            }
        }
    }
}

/* Checks the description of a tracer with that fault. */
static void say(const char *fault, const char *expected) {
    IN_CHILD() {
        char text[400];
        setenv("STINT_CUPTI_LIB", CUPTI_DOUBLE_LIBRARY, 1);
        setenv("STINT_CUDA_LIB", "/nonexistent/libcuda.so.1", 1);
        cupti_double_reset(fake_advance, fake_read);
        cupti_double_fail(fault);
        harness_capture(2, work, NULL);
        tracer_describe(text, sizeof text);
        CHECK_STR_EQ(text, expected);
    }
}

TEST(cupti_fault, is_said) {
    say("cuptiActivityEnable=35", "no cupti: cuptiActivityEnable: no permission to profile this "
                                  "GPU (NVIDIA's ERR_NVGPUCTRPERM)");
    say("cuptiGetTimestamp=987", "no cupti: cuptiGetTimestamp: CUPTI_ERROR_OF_THE_DOUBLE");
    say("cuptiActivityRegisterCallbacks=1234",
        "no cupti: cuptiActivityRegisterCallbacks: error 1234");
    say("cuptiEnableCallback=1", "cupti 13.1: 12 records, 0.0 % of the run, without scopes");
    say("cuptiActivityFlushAll=999",
        "cupti 13.1: 0 records, 0.0 % of the run, flushing fails: CUPTI_ERROR_UNKNOWN");
}
