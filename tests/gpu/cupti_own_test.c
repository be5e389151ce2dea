/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's own calls of the driver while CUPTI records: each call that the event pool makes of
 * the driver's double is also one of CUPTI's, with callbacks and a record, as CUPTI sees every
 * call. None may be among the records that reports are made of.
 */
#include "cupti_seen.h"

static unsigned own_calls, unknown_calls;

/* A function by its name in the table of the driver, as CUPTI names it. */
static void trace_call(const char *function, NO_ARG) {
    static const char *const suffixes[] = {"", "_v2", "_ptsz"};
    char name[80];
    uint32_t before = own_calls;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && own_calls == before; ++i) {
        snprintf(name, sizeof name, "%s%s", function, suffixes[i]);
        if (cupti_double_records_call(name)) {
            cupti_double_call(name);
            ++own_calls;
        }
    }
    unknown_calls += own_calls == before;
}

static void run_scopes(void) {
    void *stream = double_stream_new(NULL);
    for (int i = 0; i < 100; ++i) {
        REGISTER_GPU_TIMER("scope", stream);
        double_launch(stream, 5000);
        double_advance(3000);
    }
}

static void begin_with(const char *setting) {
    setenv("STINT_GPU", setting, 1);
    double_reset();
    double_init();
    begin();
    double_hook(trace_call, NULL);
}

TEST(cupti_own, calls_of_scopes_are_not_among_all_calls) {
    begin_with("cupti,all");
    run_scopes();
    CHECK(own_calls > 1000);
    CHECK_EQ_U64(unknown_calls, 0);
    double_hook(NULL, NULL);
    double_advance(1000000);
    cupti_double_call("cuEventRecord"); /* the program's own */
    cupti_double_call("cuCtxGetCurrent");
    tracer_flush(TRACER_COMPLETE);
    CHECK_EQ_U64(seen_count, 2);
    CHECK_STR_EQ(first_of(ACTIVITY_DRIVER)->name, "cuEventRecord");
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(cupti_own, waits_of_a_flush_are_left_out) {
    begin_with("cupti");
    run_scopes();
    stint_gpu_flush(); /* waits for events */
    CHECK(double_calls("cuEventSynchronize") > 0);
    double_hook(NULL, NULL);
    cupti_double_call("cuModuleLoad");
    tracer_flush(TRACER_COMPLETE);
    CHECK_EQ_U64(seen_count, 1);
    CHECK_STR_EQ(first_of(ACTIVITY_DRIVER)->name, "cuModuleLoad");
}

/* Where only some calls are recorded, no callback is made for the others. */
TEST(cupti_own, callbacks_only_where_all_calls_are_recorded) {
    begin_with("cupti");
    CHECK(!cupti_double_calls_back("cuEventRecord"));
    CHECK(cupti_double_calls_back("cuEventQuery"));
}
