/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler with CUPTI beside it, on the double: there while a profile of the GPU runs, given
 * back at its end, and no reason for a profile not to be made.
 */
#include "cupti_seen.h"

static void stop_profile(void *unused) {
    (void)unused;
    CHECK(!stint_profiler_stop("total", NULL));
}

static char *stopped(void) {
    char *said = harness_capture(2, stop_profile, NULL);
    CHECK_CONTAINS(said, "Profiling Report");
    CHECK(!tracer_is_on() && !cupti_double_subscribed());
    return said;
}

static void work(void) {
    REGISTER_TIMER("work");
    cupti_double_launch(&add_kernel);
    fake_advance(10000);
}

TEST(cupti_profiler, has_it_from_start_to_stop) {
    static const char *const states[] = {"GPU", "All", NULL};
    prepare();
    for (int i = 0; i < 3; ++i) {
        CHECK(!stint_profiler_start(states[i], NULL));
        CHECK(tracer_is_on() && cupti_double_subscribed());
        CHECK(!stint_profiler_start(states[i], NULL)); /* one profile a process, and one start */
        work();
        free(stopped());
        CHECK(count_of(ACTIVITY_KERNEL) == (unsigned)i + 1);
    }
}

TEST(cupti_profiler, a_profile_of_the_cpu_does_not_touch_it) {
    prepare();
    CHECK(!stint_profiler_start("CPU", NULL));
    { REGISTER_TIMER("work"); }
    free(stopped());
    CHECK_EQ_U64(cupti_double_calls_all(), 0);
}

TEST(cupti_profiler, what_was_on_before_stays) {
    begin();
    CHECK(!stint_profiler_start("All", NULL));
    work();
    free(harness_capture(2, stop_profile, NULL));
    CHECK(tracer_is_on() && cupti_double_subscribed());
    tracer_stop();
    CHECK(!tracer_is_on() && !cupti_double_subscribed());
}

static void start_in_vain(void *unused) {
    (void)unused;
    CHECK(!stint_profiler_start("All", NULL));
    CHECK(!tracer_is_on());
}

TEST(cupti_profiler, goes_on_without_it) {
    prepare();
    cupti_double_fail("cuptiSubscribe=39");
    char *said = harness_capture(2, start_in_vain, NULL);
    CHECK_CONTAINS(said, "stint: no GPU activities: cuptiSubscribe: another tool has CUPTI");
    CHECK(said && strchr(said, '\n') == said + strlen(said) - 1); /* one line */
    free(said);
    { REGISTER_TIMER("work"); }
    said = stopped();
    CHECK_CONTAINS(said, "thread0::work");
    free(said);
}

HARNESS_MAIN()
