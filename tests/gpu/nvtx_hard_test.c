/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX ranges under hard conditions: a slow tool, a tool that has scopes of its own, signals,
 * cancellation and fork. The tool is nvtx_injection.c; its ranges must stay balanced, and each
 * scope is recorded or counted as lost.
 */
#include "emit/emit.h"

#include <pthread.h>

#include "nvtx_story.h"
#include "stepping.h"

static void (*at_start)(void);

__attribute__((visibility("default"))) nvtx_test_starting_fn nvtx_test_starting;

void nvtx_test_starting(void) {
    if (at_start) {
        at_start();
    }
}

static void takes_long(void) {
    fake_advance(1000);
}

TEST(nvtx_hard, what_the_tool_takes_is_not_the_scopes) {
    attach();
    tool->inside = takes_long;
    inner();
    CHECK_EQ_U64(stat_of("inner").total_ns, 1);
}

/* A tool, or a signal handler that interrupts it, has scopes of its own. */
static void has_a_scope(void) {
    REGISTER_TIMER("the tool's");
    fake_advance(1);
}

TEST(nvtx_hard, scopes_inside_the_tool_are_refused) {
    attach();
    tool->inside = has_a_scope;
    outer();
    CHECK_STR_EQ(story(), "outer{inner{}inner{}}");
    CHECK_EQ_U64(lost(STINT_STATUS_IN_SLOW_PATH), 6);
    CHECK_EQ_U64(calls_of("the tool's"), 0);
    CHECK_EQ_U64(calls_of("inner"), 2);
    check_balanced();
}

static unsigned handled;

static void handler(int number) {
    (void)number;
    ++handled;
    REGISTER_TIMER("handler");
    inner();
}

TEST(nvtx_hard, scopes_of_signal_handlers) {
    attach();
    stepping_install(SIGUSR1, handler);
    {
        REGISTER_TIMER("around");
        raise(SIGUSR1);
    }
    CHECK_STR_EQ(story(), "around{handler{inner{}}}");
    check_balanced();
}

#if defined(__x86_64__) && !SANITIZED
/* The trap flag: a signal after every instruction. Below the red zone, which may be in use. */
#define TRAP(change)                                                                               \
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change                                 \
                     " (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::                               \
                         : "memory", "cc")

TEST(nvtx_hard, a_signal_at_every_instruction) {
    attach();
    outer();
    handler(0);
    stepping_install(SIGTRAP, handler);
    TRAP("orq $0x100,");
    for (int i = 0; i < 3; ++i) {
        outer();
        recursive(2);
    }
    TRAP("andq $~0x100,");
    CHECK(handled > 1000);
    CHECK_EQ_U64(calls_of("outer"), 4);
    CHECK_EQ_U64(calls_of("recursive"), 6);
    CHECK(calls_of("handler") > 100);
    check_balanced();
    CHECK_EQ_U64(tool->pushes, calls_of("outer") + calls_of("inner") + calls_of("recursive") +
                                   calls_of("around") + calls_of("handler"));
    CHECK_EQ_U64(lost_in_all(), lost(STINT_STATUS_IN_SLOW_PATH));
}
#endif

static int in_tool, calls_before;

static void waits_to_be_cancelled(void) {
    if (calls_before-- == 0) {
        __atomic_store_n(&in_tool, 1, __ATOMIC_RELEASE);
        pause(); /* a cancellation point */
    }
}

static void *cancelled(void *unused) {
    REGISTER_TIMER("cancelled");
    inner();
    CHECK(0);
    return unused;
}

static void check_cancelled(int before, uint64_t left) {
    pthread_t t;
    attach();
    tool->inside = waits_to_be_cancelled;
    calls_before = before;
    CHECK(pthread_create(&t, NULL, cancelled, NULL) == 0);
    while (!__atomic_load_n(&in_tool, __ATOMIC_ACQUIRE)) {
        usleep(1000);
    }
    pthread_cancel(t);
    pthread_join(t, NULL);
    check_balanced();
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), left);
    CHECK(pthread_create(&t, NULL, works, NULL) == 0); /* continues that thread's recorder */
    pthread_join(t, NULL);
    CHECK_EQ_U64(calls_of("outer"), 1000);
    CHECK_EQ_U64(arena_header()->thread_count, 1);
    check_balanced();
}

TEST(nvtx_hard, cancelled_inside_push) {
#if SANITIZED
    SKIP("sanitizers do not follow a cancellation");
#endif
    check_cancelled(1, 2);
    CHECK_CONTAINS(story_from(0, tool->event[0].thread), "cancelled{}");
}

TEST(nvtx_hard, cancelled_inside_pop) {
#if SANITIZED
    SKIP("sanitizers do not follow a cancellation");
#endif
    check_cancelled(2, 1); /* the inner one has given its sample */
    CHECK_CONTAINS(story_from(0, tool->event[0].thread), "cancelled{inner{}}");
}

/* Numbers of sites begin anew in the child: what was registered under them is another's. */
TEST(nvtx_hard, fork) {
    pid_t child;
    int status = 1;
    unsigned from;
    attach();
    {
        REGISTER_TIMER("parent");
        REGISTER_TIMER("parent too");
        from = tool->events;
        child = fork();
        if (child == 0) {
            alarm(harness_child_seconds());
            inner();
        }
    }
    if (child == 0) {
        outer();
        CHECK_STR_EQ(story_from(from, (int)getpid()), "inner{}outer{inner{}inner{}}");
        CHECK_EQ_U64(lost_in_all(), 0);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    inner();
    CHECK_STR_EQ(story(), "parent{parent too{}}inner{}");
    check_balanced();
}

static void forks(void) {
    IN_CHILD() {
        inner(); /* still inside the call that asks the tool: refused, as in a handler */
        CHECK(!emit_on());
    }
}

/* NVTX itself would wait without end there. */
TEST(nvtx_hard, fork_while_the_tool_starts) {
    attach();
    at_start = forks;
    inner();
    CHECK_STR_EQ(story(), "inner{}");
    CHECK_EQ_U64(tool->starts, 1);
}
