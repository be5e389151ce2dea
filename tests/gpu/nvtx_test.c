/* SPDX-License-Identifier: Apache-2.0 */
/* The scopes that are NVTX ranges, and the calls that a tool gets for them: nesting, names,
 * categories, threads. The tool is nvtx_injection.c, which real NVTX headers load and which logs
 * the calls. */
#include "emit/emit.h"
#include "harness_threads.h"

#include <setjmp.h>

#include "nvtx_story.h"

TEST(nvtx, ranges_nest_as_scopes_do) {
    attach();
    outer();
    outer();
    CHECK_STR_EQ(story(), "outer{inner{}inner{}}outer{inner{}inner{}}");
    CHECK_EQ_U64((uint64_t)tool->event[0].depth, 0);
    CHECK_EQ_U64((uint64_t)tool->event[1].depth, 1);
    CHECK_EQ_U64((uint64_t)tool->event[2].depth, 1);
    check_balanced();
    CHECK_EQ_U64(tool->starts, 1);
    CHECK_EQ_U64(tool->domains, 1);
    CHECK_EQ_U64(tool->strings, 2); /* once a site */
    CHECK_EQ_U64(calls_of("inner"), 4);
    CHECK_EQ_U64(stat_of("outer").total_ns, 4);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void every_kind(const char *name) {
    REGISTER_TIMER_FUNC();
    REGISTER_TIMER_INFO("info", "note");
    REGISTER_TIMER_SET("since", stint_now_us());
    REGISTER_TIMER_DYNAMIC(name);
    REGISTER_TIMER_OP("op", "instance");
    REGISTER_TIMER_DETAIL("detail", STINT_LEVEL_OP_DETAIL);
    REGISTER_GPU_TIMER("gpu", NULL);
    CHECK(stint_scope_begin("by name") == 0);
    CHECK(stint_scope_end("by name") == 0);
}

TEST(nvtx, every_kind_of_scope) {
    attach();
    every_kind("first");
    CHECK_STR_EQ(story(), "every_kind{info{since{first{op{gpu{by name{}}}}}}}");
    stint_level_set(STINT_LEVEL_ALL_OP_DETAIL);
    unsigned from = tool->events;
    every_kind("second");
    CHECK_STR_EQ(story_from(from, (int)syscall(SYS_gettid)),
                 "every_kind{info{since{second{op{instance{detail{gpu{by name{}}}}}}}}}");
    check_balanced();
}

TEST(nvtx, intervals_are_no_ranges) {
    stint_timer t;
    attach();
    TIMER_BEGIN(t, "interval");
    TIMER_END(t);
    CHECK(stint_sample_add("sample", 5) == 0);
    CHECK_STR_EQ(story(), "");
    CHECK_EQ_U64(calls_of("interval"), 1);
}

TEST(nvtx, sets_are_categories) {
    attach();
    stint_set *one = stint_set_get("one"), *two = stint_set_get("two");
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("in one", -1, one);
        REGISTER_TIMER("in two", -1, two);
        inner();
    }
    CHECK_CONTAINS(story(), "in one@2{in two@3{inner{}}}in one@2{");
    CHECK_STR_EQ(tool->category[1], "GlobalStatInfo");
    CHECK_STR_EQ(tool->category[2], "one");
    CHECK_STR_EQ(tool->category[3], "two");
    CHECK_EQ_U64(tool->categories, 3); /* once a set */
    check_balanced();
}

TEST(nvtx, recursion) {
    attach();
    recursive(3);
    CHECK_STR_EQ(story(), "recursive{around{recursive{around{recursive{}}}}}");
    check_balanced();
    recursive(200); /* 399 scopes: deeper than frames go */
    check_balanced();
    CHECK_EQ_U64(tool->pushes, 5 + STINT_IMPL_DEPTH);
    inner();
    check_balanced();
    CHECK_EQ_U64(calls_of("recursive"), 203);
}

static jmp_buf back;

static __attribute__((noinline)) void jumps(void) {
    REGISTER_TIMER("left");
    REGISTER_TIMER("left too");
    longjmp(back, 1);
}

TEST(nvtx, longjmp) {
    attach();
    {
        REGISTER_TIMER("around");
        if (!setjmp(back)) {
            jumps();
        }
    }
    CHECK_STR_EQ(story(), "around{left{left too{}}}");
    check_balanced();
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 2);
}

static int left_thread;

static void *leaves_open(void *unused) {
    left_thread = (int)syscall(SYS_gettid);
    REGISTER_TIMER("open");
    REGISTER_TIMER("open too");
    CHECK_EQ_U64(tool->pops, 0);
    pthread_exit(unused);
}

TEST(nvtx, scopes_open_at_the_end_of_a_thread) {
    attach();
    thread_run(leaves_open, NULL);
    CHECK_STR_EQ(story_from(0, left_thread), "open{open too{}}");
    check_balanced();
}

TEST(nvtx, many_threads) {
    attach();
    threads_run(8, works, NULL, 0);
    check_balanced();
    CHECK_EQ_U64(tool->starts, 1);
    CHECK_EQ_U64(tool->pushes, 24000);
    CHECK(tool->strings <= 16); /* two sites, eight threads at worst */
    CHECK_EQ_U64(calls_of("outer"), 8000);
}

TEST(nvtx, what_is_not_recorded_is_no_range) {
    attach();
    stint_filter_set("-inner");
    outer();
    CHECK_STR_EQ(story(), "outer{}");
    stint_timers_enable(0);
    outer();
    CHECK_STR_EQ(story(), "outer{}");
    stint_timers_enable(1);
    stint_filter_set(NULL);
    inner();
    CHECK_STR_EQ(story(), "outer{}inner{}");
}

TEST(nvtx, switched_off_inside) {
    attach();
    {
        REGISTER_TIMER("around");
        stint_timers_enable(0);
        inner();
    }
    CHECK_STR_EQ(story(), "around{}");
    check_balanced();
}

static int fast(void) {
    inner();
    return STINT_IMPL_LOAD(&stint_impl_thread_here->gate) != STINT_IMPL_SHUT;
}

static void quiet_and_fast(NO_ARG) {
    CHECK(fast());
    CHECK(fast());
    CHECK_EQ_U64(calls_of("inner"), 2);
}

static void check_quiet_and_fast(void) {
    CHECK_STR_EQ(harness_capture(2, quiet_and_fast, NULL), "");
}

TEST(nvtx, off_by_default) {
    setenv("NVTX_INJECTION64_PATH", NVTX_INJECTION, 1);
    unsetenv("STINT_NVTX");
    check_quiet_and_fast();
    CHECK(dlopen(NVTX_INJECTION, RTLD_NOW | RTLD_NOLOAD) == NULL);
}

TEST(nvtx, without_a_tool_nothing_changes) {
    setenv("STINT_NVTX", "1", 1);
    unsetenv("NVTX_INJECTION64_PATH");
    check_quiet_and_fast();
    CHECK(!emit_on());
}

TEST(nvtx, with_a_tool_that_is_missing) {
    setenv("STINT_NVTX", "1", 1);
    setenv("NVTX_INJECTION64_PATH", "/nowhere/tool.so", 1);
    check_quiet_and_fast();
}

TEST(nvtx, with_a_tool_the_slow_path) {
    attach();
    CHECK(!fast());
    stint_filter_set("-nothing");
    CHECK(!fast());
    CHECK_STR_EQ(story(), "inner{}inner{}");
}

TEST(nvtx, with_another_clock) {
    attach();
    setenv("STINT_CLOCK", "monotonic", 1);
    outer();
    CHECK_STR_EQ(story(), "outer{inner{}inner{}}");
    check_balanced();
}

TEST(nvtx, a_tool_without_strings) {
    attach();
    tool->without_strings = 1;
    inner();
    CHECK_STR_EQ(story(), "\"inner\"{}");
}

TEST(nvtx, errno_is_kept) {
    attach();
    for (int i = 0; i < 2; ++i) {
        errno = 7;
        outer();
        CHECK_EQ_U64((uint64_t)errno, 7);
        every_kind("name");
        CHECK_EQ_U64((uint64_t)errno, 7);
    }
}
