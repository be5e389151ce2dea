/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guard is never trusted: whatever leaves a block or enters it half-way, later numbers are right
 * and what got no sample is counted.
 */
#include <pthread.h>
#include <setjmp.h>
#include <ucontext.h>

#include "record/recorder.h"
#include "recorded.h"

static void plain(uint64_t ns) {
    REGISTER_TIMER("plain");
    fake_advance(ns);
}

static void check_sound(uint64_t abandoned) {
    uint64_t calls = calls_of("plain");
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), abandoned);
    plain(77);
    CHECK_EQ_U64(calls_of("plain"), calls + 1);
    CHECK_EQ_U64(open_scopes(), 0);
}

/* clang refuses to compile a jump over a guard; gcc does it without a word. */
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wswitch-unreachable"

static void jump_over(int where) {
    REGISTER_TIMER("around");
    switch (where) {
        REGISTER_TIMER("jumped over"); /* never opened, yet closed at the end of the block */
    case 1:
        fake_advance(1);
        break;
    default:
        fake_advance(2);
    }
}

TEST(guard_rule, switch_jumps_over_a_timer) {
    for (int i = 0; i < 100; ++i) {
        jump_over(i % 3);
    }
    CHECK_EQ_U64(calls_of("around"), 100);
    CHECK_EQ_U64(stat_of("around").total_ns, 33 + 67 * 2);
    CHECK_EQ_U64(calls_of("jumped over"), 0);
    check_sound(0);
}

static void jump_into(int half_way) {
    REGISTER_TIMER("around");
    if (half_way) {
        goto inside;
    }
    {
        REGISTER_TIMER("entered half-way");
    inside:
        fake_advance(3);
    }
}

TEST(guard_rule, goto_into_a_block) {
    for (int i = 0; i < 10; ++i) {
        jump_into(i % 2);
    }
    CHECK_EQ_U64(calls_of("entered half-way"), 5);
    CHECK_EQ_U64(stat_of("entered half-way").total_ns, 15);
    CHECK_EQ_U64(stat_of("around").total_ns, 30);
    check_sound(0);
}

#endif

TEST(guard_rule, goto_out_and_back) {
    int rounds = 0;
again : {
    REGISTER_TIMER("left by goto");
    fake_advance(5);
    if (++rounds < 10) {
        goto again; /* the compiler closes it: a plain sample */
    }
}
    CHECK_EQ_U64(calls_of("left by goto"), 10);
    CHECK_EQ_U64(stat_of("left by goto").total_ns, 50);
    check_sound(0);
}

static jmp_buf back;

static void three_scopes(void) {
    REGISTER_TIMER("one");
    fake_advance(1);
    REGISTER_TIMER("two");
    fake_advance(1);
    REGISTER_TIMER("three");
    fake_advance(1);
    longjmp(back, 1);
}

#define JUMPS 100000u

TEST(guard_rule, longjmp_in_a_loop) {
    static volatile unsigned jumps;
    if (setjmp(back) == 0 || jumps < JUMPS) {
        REGISTER_TIMER("loop");
        ++jumps;
        three_scopes();
    }
    /* Each round but the first found four open; the last four fall to whatever comes below. */
    CHECK_EQ_U64(open_scopes(), 4);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 4 * (JUMPS - 1));
    CHECK_EQ_U64(calls_of("three"), 0);
    CHECK_EQ_U64(arena_header()->site_count, 4);
    CHECK(arena_used() < 1 << 18);
    {
        uint64_t abandoned = lost(STINT_STATUS_ABANDONED);
        CHECK_EQ_U64(abandoned + open_scopes(), 4 * JUMPS);
    }
}

static volatile int always = 1; /* gcc takes a way out that never returns for none */

static void nested_jump(int depth) {
    REGISTER_TIMER("nested jump");
    fake_advance(1);
    if (depth > 1) {
        nested_jump(depth - 1);
    } else if (always) {
        longjmp(back, 1);
    }
}

static void catches(void) {
    REGISTER_TIMER("catches");
    if (setjmp(back) == 0) {
        nested_jump(50);
    }
    fake_advance(10);
}

TEST(guard_rule, longjmp_out_of_nested_functions) {
    catches();
    catches();
    CHECK_EQ_U64(calls_of("catches"), 2);
    CHECK_EQ_U64(stat_of("catches").total_ns, 120);
    CHECK_EQ_U64(calls_of("nested jump"), 0);
    check_sound(100);
}

/* A begin at an address that is still open: what is there and above it goes. */
TEST(guard_rule, begin_at_an_open_address) {
    static struct stint_impl_site a = {"a", "f", "f", 1, 0, 0, 0, 0},
                                  b = {"b", "f", "f", 2, 0, 0, 0, 0};
    uint64_t guard[2];
    for (int i = 0; i < 3; ++i) {
        stint_impl_begin_call(&guard[1], &a, 0);
        stint_impl_begin_call(&guard[0], &b, 0);
        fake_advance(5);
    }
    CHECK_EQ_U64(open_scopes(), 2);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 4);
    stint_impl_end_call(&guard[0], NULL);
    stint_impl_end_call(&guard[1], NULL);
    CHECK_EQ_U64(stat_of("a").total_ns, 5);
    check_sound(4);
}

TEST(guard_rule, two_in_a_frame_laid_out_either_way) {
    static struct stint_impl_site a = {"a", "f", "f", 1, 0, 0, 0, 0},
                                  b = {"b", "f", "f", 2, 0, 0, 0, 0};
    uint64_t guard[2];
    for (int first = 0; first < 2; ++first) {
        for (int i = 0; i < 10; ++i) {
            stint_impl_begin_call(&guard[first], &a, 0);
            fake_advance(1);
            stint_impl_begin_call(&guard[1 - first], &b, 0);
            fake_advance(2);
            stint_impl_end_call(&guard[1 - first], NULL);
            stint_impl_end_call(&guard[first], NULL);
        }
    }
    CHECK_EQ_U64(stat_of("a").total_ns, 60);
    CHECK_EQ_U64(stat_of("b").total_ns, 40);
    CHECK_EQ_U64(stat_of("a").self_ns, 20);
    check_sound(0);
}

TEST(guard_rule, end_of_the_lower_closes_it_and_drops_the_upper) {
    static struct stint_impl_site a = {"a", "f", "f", 1, 0, 0, 0, 0},
                                  b = {"b", "f", "f", 2, 0, 0, 0, 0};
    uint64_t guard[2];
    stint_impl_begin_call(&guard[1], &a, 0);
    stint_impl_begin_call(&guard[0], &b, 0);
    fake_advance(9);
    stint_impl_end_call(&guard[1], NULL);
    stint_impl_end_call(&guard[0], NULL); /* gone already */
    CHECK_EQ_U64(stat_of("a").total_ns, 9);
    CHECK_EQ_U64(calls_of("b"), 0);
    check_sound(1);
}

TEST(guard_rule, end_of_a_foreign_guard_is_ignored) {
    uint64_t guards[1000];
    plain(1);
    {
        REGISTER_TIMER("open");
        for (int i = 0; i < 1000; ++i) {
            struct stint_impl_call *lie = (struct stint_impl_call *)(void *)&guards[i];
            guards[i] = UINT64_MAX; /* its bytes are never read */
            stint_impl_end_call(lie, NULL);
            CHECK(recorder_end((uint64_t)(uintptr_t)lie, 0, lie) == -1);
        }
        stint_impl_end_call(NULL, NULL);
        fake_advance(4);
    }
    CHECK_EQ_U64(stat_of("open").total_ns, 4);
    check_sound(0);
}

/* ---- Coroutines */

#if defined(__GLIBC__) /* musl has no makecontext */

static ucontext_t main_context, coroutine_context;
static char coroutine_stack[64 << 10] __attribute__((aligned(16)));

static void coroutine(void) {
    {
        REGISTER_TIMER("coroutine");
        fake_advance(1);
        swapcontext(&coroutine_context, &main_context);
        fake_advance(2);
    }
    {
        REGISTER_TIMER("coroutine.later");
        fake_advance(3);
    }
}

static void coroutine_start(void) {
    getcontext(&coroutine_context);
    coroutine_context.uc_stack.ss_sp = coroutine_stack;
    coroutine_context.uc_stack.ss_size = sizeof coroutine_stack;
    coroutine_context.uc_link = &main_context;
    makecontext(&coroutine_context, coroutine, 0);
    swapcontext(&main_context, &coroutine_context);
}

TEST(guard_rule, coroutine_that_outlives_the_scope_around_it) {
    {
        REGISTER_TIMER("resumes");
        coroutine_start();
        fake_advance(10);
    }
    CHECK_EQ_U64(stat_of("resumes").total_ns, 11);
    swapcontext(&main_context, &coroutine_context); /* its scope is not on the stack any more */
    CHECK_EQ_U64(calls_of("coroutine"), 0);
    CHECK_EQ_U64(stat_of("coroutine.later").total_ns, 3);
    check_sound(1);
}

TEST(guard_rule, coroutine_resumed_in_order) {
    coroutine_start();
    fake_advance(10);
    swapcontext(&main_context, &coroutine_context);
    CHECK_EQ_U64(stat_of("coroutine").total_ns, 13);
    check_sound(0);
}

static void *resume(void *unused) {
    plain(1);
    swapcontext(&main_context, &coroutine_context);
    return unused;
}

TEST(guard_rule, coroutine_resumed_on_another_thread) {
    pthread_t t;
    if (SANITIZED) {
        SKIP("sanitizers do not follow a stack from thread to thread");
    }
    {
        REGISTER_TIMER("resumes");
        coroutine_start();
        CHECK(pthread_create(&t, NULL, resume, NULL) == 0);
        pthread_join(t, NULL);
        fake_advance(5);
    }
    CHECK_EQ_U64(calls_of("coroutine"), 0);
    CHECK_EQ_U64(calls_of("coroutine.later"), 1); /* by the other thread */
    CHECK_EQ_U64(calls_of("resumes"), 1);
    check_sound(1);
}

#endif

/* ---- Threads that end inside */

static void *exits(void *cancel) {
    REGISTER_TIMER("exits");
    REGISTER_TIMER("exits.inner");
    plain(1);
    if (cancel) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    pthread_exit(NULL);
}

static void check_exits(void *cancel) {
    pthread_t t;
    for (int i = 0; i < 10; ++i) {
        CHECK(pthread_create(&t, NULL, exits, cancel) == 0);
        pthread_join(t, NULL);
    }
    /* C unwinds its guards only when compiled with -fexceptions. */
    uint64_t samples = calls_of("exits") + calls_of("exits.inner");
    CHECK_EQ_U64(samples + lost(STINT_STATUS_ABANDONED), 20);
    CHECK_EQ_U64(calls_of("plain"), 10);
    CHECK_EQ_U64(arena_header()->thread_count, 1);
    check_sound(20 - samples);
}

TEST(guard_rule, pthread_exit_inside_scopes) {
    check_exits(NULL);
}

TEST(guard_rule, pthread_cancel_inside_scopes) {
    int yes = 1;
#if defined(__SANITIZE_ADDRESS__)
    SKIP("the address sanitizer's marks stay on a stack that cancellation unwound");
#endif
    check_exits(&yes);
}

HARNESS_MAIN()
