/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control of capturing tools: they start as soon as there is a context, and stop in that
 * context. The GPU back end is fake_gpu.h, which counts starts and stops and can fail.
 */
#include "capture/capture_private.h"
#include "harness_threads.h"

#include "capture/capture.h"
#include "fake_gpu.h"
#include "gpu/stream_timer.h"
#include "recorded.h"

#define ENABLE(name) "Enable GPU Profiler Stat: [" name "]\n"

static void expect(void (*body)(void *), const char *text) {
    CHECK_STR_EQ(harness_capture(2, body, NULL), text);
}

static void plain(NO_ARG) {
    REGISTER_GPU_PROFILER("plain");
}

TEST(capture_tool, driver_error_is_named) {
    fake_context = 1;
    fake_gpu.start_code = GPU_ILLEGAL_ADDRESS;
    expect(plain, ENABLE("plain") "stint: nothing is captured: the driver returns "
                                  "CUDA_ERROR_ILLEGAL_ADDRESS\n");
    CHECK_EQ_U64(fake_gpu.starts, 1);
    CHECK_EQ_U64(fake_gpu.stops, 0); /* nothing to stop */
    fake_gpu.start_code = 0;
    expect(plain, ENABLE("plain"));
    CHECK_EQ_U64(fake_gpu.starts, 2);
    CHECK_EQ_U64(fake_gpu.stops, 1);
}

static void context_comes(NO_ARG) {
    REGISTER_GPU_PROFILER("early");
    CHECK_EQ_U64(fake_gpu.starts, 0);
    CHECK(stream_timer_context_wanted);
    stream_timer_seek_context(); /* still none */
    CHECK_EQ_U64(fake_gpu.starts, 0);
    fake_context = 7;
    stream_timer_seek_context();
    CHECK_EQ_U64(fake_gpu.starts, 1);
    CHECK_EQ_U64(fake_gpu.started_in, 7);
    CHECK(!stream_timer_context_wanted);
}

TEST(capture_tool, waits_for_a_context) {
    expect(context_comes, ENABLE("early"));
    CHECK_CAPTURES(1);
}

static void context_before_inner(NO_ARG) {
    REGISTER_GPU_PROFILER("early");
    fake_context = 7;
    REGISTER_GPU_PROFILER("inner");
    CHECK_EQ_U64(fake_gpu.starts, 1);
}

TEST(capture_tool, inner_range_finds_the_context) {
    expect(context_before_inner, ENABLE("early"));
    CHECK_CAPTURES(1);
}

static void context_before_step(NO_ARG) {
    REGISTER_GPU_PROFILER("early");
    fake_context = 7;
    stint_step();
    CHECK_EQ_U64(fake_gpu.starts, 1);
}

TEST(capture_tool, step_finds_the_context) {
    expect(context_before_step, ENABLE("early"));
    CHECK_CAPTURES(1);
}

#define MISSED(name)                                                                               \
    "stint: nothing was captured in [" name "]: no CUDA context existed while it ran; begin it "   \
    "after the first CUDA call, or use a STINT_GPU_TIMER or stint_step in it\n"

TEST(capture_tool, never_a_context) {
    expect(plain, ENABLE("plain") MISSED("plain"));
    CHECK(!stream_timer_context_wanted);
    CHECK_CAPTURES(0);
}

static void exits_inside(NO_ARG) {
    pid_t child = fork();
    if (!child) {
        GPU_PROFILER_START("to the end");
        exit(0);
    }
    waitpid(child, NULL, 0);
}

TEST(capture_tool, never_a_context_to_the_end_of_the_program) {
    expect(exits_inside, ENABLE("to the end") MISSED("to the end"));
}

TEST(capture_tool, poke_asks_nobody_when_nothing_waits) {
    fake_context = 1;
    plain(NULL);
    unsigned before = fake_gpu.contexts;
    for (int i = 0; i < 1000; ++i) {
        stream_timer_seek_context();
        stint_step();
    }
    CHECK_EQ_U64(fake_gpu.contexts, before);
}

TEST(capture_tool, stops_where_it_started) {
    fake_context = 1;
    GPU_PROFILER_START("a");
    fake_context = 2;
    GPU_PROFILER_STOP();
    CHECK_CAPTURES(1);
    CHECK_EQ_U64(fake_gpu.stopped_in, 1);
    CHECK_EQ_U64(fake_gpu.enters, 1);
    CHECK_EQ_U64(fake_gpu.leaves, 1);
    CHECK_EQ_U64(fake_context, 2);
}

TEST(capture_tool, stops_somewhere_when_its_context_is_gone) {
    fake_context = 1;
    GPU_PROFILER_START("a");
    fake_context = 2;
    fake_gpu.enter_code = GPU_CONTEXT_IS_DESTROYED;
    GPU_PROFILER_STOP();
    CHECK_CAPTURES(1);
    CHECK_EQ_U64(fake_gpu.stopped_in, 2);
    CHECK_EQ_U64(fake_gpu.leaves, 0);
}

static void *stops(void *unused) {
    GPU_PROFILER_STOP();
    return unused;
}

TEST(capture_tool, another_thread_without_a_context_stops_it) {
    fake_context = 1;
    GPU_PROFILER_START("a");
    thread_run(stops, NULL);
    CHECK_CAPTURES(1);
    CHECK_EQ_U64(fake_gpu.stopped_in, 1);
}

static void plain_range(NO_ARG) {
    REGISTER_GPU_PROFILER("plain");
}

TEST(capture_tool, a_back_end_without_captures_and_events) {
    fake_gpu.lacks_captures = 1;
    fake_context = 7;
    char *said = harness_capture(2, plain_range, NULL);
    CHECK_CONTAINS(said, "stint: nothing is captured: the back end fake starts no profiler\n");
    CHECK_CAPTURES(0);
    { REGISTER_GPU_TIMER("scope", NULL); }
    CHECK_EQ_U64(fake_count(&fake_gpu.contexts), 0);
    CHECK_STR_EQ(gpu_code_name(gpu_ops(), GPU_ILLEGAL_ADDRESS), "error");
    CHECK(!gpu_is_fatal(gpu_ops(), GPU_ILLEGAL_ADDRESS));
}
