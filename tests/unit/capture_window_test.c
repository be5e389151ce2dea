/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windows of a capture: steps and ranges that STINT_CAPTURE or a schedule selects, where they
 * begin and end. The GPU back end is fake_gpu.h, which counts starts and stops.
 */
#include "capture/capture_private.h"

#include "capture/capture.h"
#include "fake_gpu.h"
#include "gpu/stream_timer.h"
#include "recorded.h"
#include "support.h"

#define ENABLE(name) "Enable GPU Profiler Stat: [" name "]\n"

/* The step that a start or a stop fell into. */
static char trace[256];
static unsigned seen_starts, seen_stops;

static void note_captures(const char *at) {
    if (fake_gpu.stops != seen_stops) {
        strcat(strcat(trace, "]"), at);
        seen_stops = fake_gpu.stops;
    }
    if (fake_gpu.starts != seen_starts) {
        strcat(strcat(trace, "["), at);
        seen_starts = fake_gpu.starts;
    }
}

static void run_steps(void *count) {
    char number[24];
    fake_context = 1;
    note_captures("at once ");
    for (unsigned i = 0; i < (unsigned)(uintptr_t)count; ++i) {
        {
            REGISTER_GPU_PROFILER("range");
            fake_advance(1000);
        }
        snprintf(number, sizeof number, "in %u ", i);
        note_captures(number);
        uint64_t begun = stint_step();
        snprintf(number, sizeof number, "%u ", (unsigned)begun);
        note_captures(number);
    }
}

static void expect(unsigned count, const char *captures, const char *lines) {
    char *text = harness_capture(2, run_steps, (void *)(uintptr_t)count);
    CHECK_STR_EQ(trace, captures);
    CHECK_STR_EQ(text, lines);
    CHECK_EQ_U64(fake_gpu.wrong, 0);
}

TEST(capture_window, environment_captures_steps) {
    setenv("STINT_CAPTURE", "steps 3-5", 1);
    expect(10, "[3 ]6 ", ENABLE("steps 3-5"));
}

TEST(capture_window, environment_repeats_steps) {
    setenv("STINT_CAPTURE", "steps 2,every=4;range:skip=7,record=1", 1);
    expect(9, "[2 ]3 [6 ]7 ]in 7 [in 7 ", ENABLE("steps 2-2") ENABLE("steps 6-6") ENABLE("range"));
}

TEST(capture_window, the_first_step_begins_with_the_first_range) {
    setenv("STINT_CAPTURE", "steps 0-1", 1);
    expect(5, "[in 0 ]2 ", ENABLE("steps 0-1"));
}

TEST(capture_window, the_first_step_begins_with_the_first_poke) {
    setenv("STINT_CAPTURE", "steps 0-", 1);
    fake_context = 1;
    stream_timer_seek_context();
    CHECK_EQ_U64(fake_gpu.starts, 1);
    stint_step();
    stint_step();
    CHECK_EQ_U64(fake_gpu.stops, 0);
    CHECK(!stream_timer_context_wanted);
}

TEST(capture_window, a_first_step_that_is_over_is_not_captured) {
    setenv("STINT_CAPTURE", "steps 0", 1);
    fake_context = 1;
    stint_step();
    CHECK_CAPTURES(0);
}

TEST(capture_window, adjacent_windows_are_two) {
    setenv("STINT_CAPTURE", "steps 1-2,every=2", 1);
    expect(6, "[1 ]3 [3 ]5 [5 ", ENABLE("steps 1-2") ENABLE("steps 3-4") ENABLE("steps 5-6"));
}

TEST(capture_window, overlapping_rules_are_one) {
    setenv("STINT_CAPTURE", "steps 1-3;steps 2-5", 1);
    expect(8, "[1 ]6 ", ENABLE("steps 1-3"));
}

TEST(capture_window, a_slow_step_arms_the_next) {
    setenv("STINT_CAPTURE", "steps 1-2,when=stint_step>5us", 1);
    fake_context = 1;
    int saved = dup(2);
    dup2(open("/dev/null", O_WRONLY), 2);
    for (uint64_t i = 0; i < 20; ++i) {
        fake_advance(i == 6 || i == 7 || i == 14 ? 6000 : 4000);
        uint64_t begun = stint_step();
        CHECK_EQ_U64((uint64_t)fake_gpu.running,
                     begun == 7 || begun == 8 || begun == 15 || begun == 16);
    }
    dup2(saved, 2);
}

static void note_range(void *data, uint64_t first, uint64_t last) {
    char text[64];
    CHECK(!fake_gpu.running); /* the tool has stopped */
    (void)data;
    snprintf(text, sizeof text, "(%u-%u) ", (unsigned)first, (unsigned)last);
    note_captures("");
    strcat(trace, text);
}

TEST(capture_window, schedule_captures_steps_and_ranges_no_longer_matter) {
    stint_schedule s = schedule_make(1, 1, 1, 2, 2);
    setenv("STINT_CAPTURE", "range", 1); /* the call wins */
    CHECK(!stint_capture_schedule(&s, sizeof s, note_range, NULL));
    expect(15, "[3 ](3-4) [7 ](7-8) ", ENABLE("steps 3-4") ENABLE("steps 7-8"));
}

TEST(capture_window, back_to_back_schedule_stops_reports_and_starts) {
    stint_schedule s = schedule_make(2, 0, 0, 1, 3);
    CHECK(!stint_capture_schedule(&s, sizeof s, note_range, NULL));
    expect(8, "[2 ](2-2) [3 ](3-3) [4 ](4-4) ",
           ENABLE("steps 2-2") ENABLE("steps 3-3") ENABLE("steps 4-4"));
}

TEST(capture_window, capture_schedule_begins_at_once_and_ends_at_once) {
    stint_schedule s = schedule_make(0, 0, 0, 100, 0);
    fake_context = 1;
    GPU_PROFILER_START("open");
    CHECK_EQ_U64(fake_gpu.starts, 1);
    stint_step();
    stint_step();
    CHECK(!stint_capture_schedule(&s, sizeof s, note_range, NULL));
    CHECK_EQ_U64(fake_gpu.starts, 2); /* of its own */
    CHECK_EQ_U64(fake_gpu.stops, 1);
    stint_step();
    CHECK(!stint_capture_schedule(NULL, 0, NULL, NULL));
    CHECK_CAPTURES(2); /* the open range does not come back */
    GPU_PROFILER_STOP();
    GPU_PROFILER_START("next");
    CHECK_EQ_U64(fake_gpu.starts, 3);
    GPU_PROFILER_STOP();
    CHECK_CAPTURES(3);
    CHECK_STR_EQ(trace, ""); /* cut short: not ready */
}

static void pending_window(NO_ARG) {
    stint_step();
    stint_step();
    stint_step();
}

TEST(capture_window, window_without_a_context_says_so) {
    setenv("STINT_CAPTURE", "steps 1", 1);
    char *text = harness_capture(2, pending_window, NULL);
    CHECK_CONTAINS(text, ENABLE("steps 1-1"));
    CHECK_CONTAINS(text, "stint: nothing was captured in [steps 1-1]: no CUDA context");
}

static void child_captures_its_own_steps(void) {
    run_steps((void *)(uintptr_t)6);
    CHECK_STR_EQ(trace, "[2 ]4 ");
}

TEST(capture_window, child_of_a_fork_has_the_environments_rules_from_its_own_step_0) {
    setenv("STINT_CAPTURE", "steps 2-3", 1);
    fake_context = 1;
    stint_step();
    harness_in_child(child_captures_its_own_steps);
    stint_step();
    CHECK_EQ_U64(fake_gpu.starts, 1);
}

static void child_without_schedule(void) {
    run_steps((void *)(uintptr_t)3);
    CHECK_EQ_U64(fake_gpu.starts, 3); /* by its ranges */
}

TEST(capture_window, child_of_a_fork_has_no_schedule) {
    stint_schedule s = schedule_make(0, 1, 0, 1, 0);
    CHECK(!stint_capture_schedule(&s, sizeof s, note_range, NULL));
    harness_in_child(child_without_schedule);
    CHECK_STR_EQ(trace, "");
}
