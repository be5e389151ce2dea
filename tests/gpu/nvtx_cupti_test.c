/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX ranges for a tool in a process in which stint starts CUPTI later: each scope is one range,
 * before, across and after the start, and the kernels have their scopes.
 */
#include "capture/tracer.h"
#include "cupti_double.h"
#include "nvtx_story.h"

static const struct cupti_double_kernel kernel = {.name = "_Z1kv", .ns = 5000};

static void attach_both(void) {
    attach();
    setenv("STINT_CUPTI_LIB", CUPTI_DOUBLE_LIBRARY, 1);
    setenv("STINT_CUDA_LIB", "/nonexistent/libcuda.so.1", 1);
    cupti_double_reset(fake_advance, fake_read);
}

static void launch(void) {
    REGISTER_TIMER("launch");
    cupti_double_launch(&kernel);
}

/* Kernels that were launched while CUPTI was on are of their scope. */
static void check_kernels_of_launch(uint64_t kernels) {
    cupti_double_wait(CUPTI_DOUBLE_ALL, 0, 0);
    tracer_flush(TRACER_COMPLETE);
    CHECK_EQ_U64(stat_of("launch").device_total_ns, kernels * 5000);
}

static void step(void) {
    REGISTER_TIMER("step");
    launch();
}

TEST(nvtx_cupti, started_between_scopes) {
    attach_both();
    step();
    CHECK(!tracer_start());
    step();
    step();
    CHECK_STR_EQ(story(), "step{launch{}}step{launch{}}step{launch{}}");
    check_balanced();
    check_kernels_of_launch(2);
    tracer_stop();
    step();
    CHECK_STR_EQ(story(), "step{launch{}}step{launch{}}step{launch{}}step{launch{}}");
    check_balanced();
    CHECK_EQ_U64(tool->starts, 1);
    CHECK_EQ_U64(tool->domains, 1);
    CHECK_EQ_U64(calls_of("launch"), 4);
}

static void start_inside(void) {
    REGISTER_TIMER("step");
    launch();
    CHECK(!tracer_start());
    launch();
}

TEST(nvtx_cupti, started_within_a_scope) {
    attach_both();
    start_inside();
    CHECK_STR_EQ(story(), "step{launch{}launch{}}");
    check_balanced();
    check_kernels_of_launch(1);
    tracer_stop();
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(nvtx_cupti, sessions_in_a_row) {
    attach_both();
    for (int i = 0; i < 50; ++i) {
        CHECK(!tracer_start());
        step();
        tracer_stop();
        step();
    }
    check_balanced();
    CHECK_EQ_U64(tool->pushes, 200);
    CHECK_EQ_U64(tool->starts, 1);
    CHECK_EQ_U64(calls_of("step"), 100);
}
