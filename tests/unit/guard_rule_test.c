/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guard is never trusted: whatever leaves a block or enters it half-way, later numbers are right
 * and what got no sample is counted.
 */
#include <semaphore.h>
#include <setjmp.h>
#include <ucontext.h>

#include "harness_threads.h"
#include "record/node.h"
#include "record/recorder.h"
#include "recorded.h"

/* The inline path from the second call of a site on. */
__attribute__((constructor)) static void keep_no_samples(void) {
    node_raw_samples = 0;
}

static struct stint_impl_site site_a = {"a", "f", "f", 1, 0, 0, 0, 0},
                              site_b = {"b", "f", "f", 2, 0, 0, 0, 0},
                              site_c = {"c", "f", "f", 3, 0, 0, 0, 0};

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
    CHECK_EQ_U64(calls_of("three"), JUMPS - 1);
    CHECK_EQ_U64(stat_of("three").samples, 0);
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
    CHECK_EQ_U64(calls_of("nested jump"), 100);
    CHECK_EQ_U64(stat_of("nested jump").samples, 0);
    check_sound(100);
}

/* A begin at an address that is still open: what is there and above it goes. */
TEST(guard_rule, begin_at_an_open_address) {
    uint64_t guard[2];
    for (int i = 0; i < 3; ++i) {
        guard[1] = stint_impl_begin(&guard[1], &site_a, 0);
        guard[0] = stint_impl_begin(&guard[0], &site_b, 0);
        fake_advance(5);
    }
    CHECK_EQ_U64(open_scopes(), 2);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 4);
    stint_impl_end_open(&guard[0]);
    stint_impl_end_open(&guard[1]);
    CHECK_EQ_U64(stat_of("a").total_ns, 5);
    check_sound(4);
}

/* "b" has a higher guard than "a" around it; "c" is known inside "b", and opened where "a" was left
 * open. */
TEST(guard_rule, begin_at_an_open_address_below_a_higher_one) {
    uint64_t guard[3];
    for (int i = 0; i < 40; ++i) {
        guard[0] = stint_impl_begin(&guard[0], &site_a, 0);
        guard[2] = stint_impl_begin(&guard[2], &site_b, 0);
        guard[1] = stint_impl_begin(&guard[1], &site_c, 0);
        stint_impl_end_open(&guard[1]);
        stint_impl_end_open(&guard[2]);
        stint_impl_end_open(&guard[0]);
    }
    for (int i = 0; i < 3; ++i) {
        guard[0] = stint_impl_begin(&guard[0], &site_a, 0);
        guard[2] = stint_impl_begin(&guard[2], &site_b, 0);
        guard[0] = stint_impl_begin(&guard[0], &site_c, 0);
        CHECK_EQ_U64(open_scopes(), 1);
        stint_impl_end_open(&guard[0]);
    }
    check_sound(6);
}

/* "b" is known inside "a", and opened where "a" was left open. */
TEST(guard_rule, begin_of_a_child_at_its_parents_address) {
    uint64_t guard[2];
    for (int i = 0; i < 40; ++i) {
        guard[1] = stint_impl_begin(&guard[1], &site_a, 0);
        guard[0] = stint_impl_begin(&guard[0], &site_b, 0);
        fake_advance(2);
        stint_impl_end_open(&guard[0]);
        stint_impl_end_open(&guard[1]);
    }
    for (int i = 0; i < 2; ++i) {
        guard[1] = stint_impl_begin(&guard[1], &site_a, 0);
        guard[1] = stint_impl_begin(&guard[1], &site_b, 0);
        CHECK_EQ_U64(open_scopes(), 1);
        fake_advance(2);
        stint_impl_end_open(&guard[1]);
    }
    CHECK_EQ_U64(open_scopes(), 0);
    CHECK_EQ_U64(stat_of("a").total_ns, 40 * 2);
    CHECK_EQ_U64(stat_of("b").total_ns, 42 * 2);
    check_sound(2);
}

TEST(guard_rule, two_in_a_frame_laid_out_either_way) {
    uint64_t guard[2];
    for (int first = 0; first < 2; ++first) {
        for (int i = 0; i < 10; ++i) {
            guard[first] = stint_impl_begin(&guard[first], &site_a, 0);
            fake_advance(1);
            guard[1 - first] = stint_impl_begin(&guard[1 - first], &site_b, 0);
            fake_advance(2);
            stint_impl_end_open(&guard[1 - first]);
            stint_impl_end_open(&guard[first]);
        }
    }
    CHECK_EQ_U64(stat_of("a").total_ns, 60);
    CHECK_EQ_U64(stat_of("b").total_ns, 40);
    CHECK_EQ_U64(stat_of("a").self_ns, 20);
    check_sound(0);
}

TEST(guard_rule, end_of_the_lower_closes_it_and_drops_the_upper) {
    uint64_t guard[2];
    guard[1] = stint_impl_begin(&guard[1], &site_a, 0);
    guard[0] = stint_impl_begin(&guard[0], &site_b, 0);
    fake_advance(9);
    stint_impl_end_open(&guard[1]);
    stint_impl_end_open(&guard[0]); /* gone already */
    CHECK_EQ_U64(stat_of("a").total_ns, 9);
    CHECK_EQ_U64(calls_of("b"), 1);
    CHECK_EQ_U64(stat_of("b").samples, 0);
    check_sound(1);
}

TEST(guard_rule, end_of_a_foreign_guard_is_ignored) {
    uint64_t guards[1000];
    plain(1);
    {
        REGISTER_TIMER("open");
        for (int i = 0; i < 1000; ++i) {
            struct stint_impl_call *lie = (struct stint_impl_call *)(void *)&guards[i];
            guards[i] = UINT64_MAX; /* counts only beside a frame of this address */
            stint_impl_end_open(lie);
            CHECK(recorder_end((uint64_t)(uintptr_t)lie, guards[i], 0, lie) == -1);
        }
        stint_impl_end_open(NULL);
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
    CHECK_EQ_U64(stat_of("coroutine").samples, 0);
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
    if (SANITIZED) {
        SKIP("sanitizers do not follow a stack from thread to thread");
    }
    {
        REGISTER_TIMER("resumes");
        coroutine_start();
        thread_run(resume, NULL);
        fake_advance(5);
    }
    CHECK_EQ_U64(calls_of("coroutine"), 0);
    CHECK_EQ_U64(calls_of("coroutine.later"), 1); /* by the other thread */
    CHECK_EQ_U64(calls_of("resumes"), 1);
    CHECK_EQ_U64(lost(STINT_STATUS_OTHER_THREAD), 1);
    check_sound(0);
}

#endif

/* ---- Scopes that move to another thread and back, as those of coroutines and fibers on a pool. A
 * second thread does what it is told and keeps its open scopes in between. */

static stint_impl_opened place; /* where one coroutine after the other has its guard */
static sem_t told, done;
static void (*order)(void);

static void *follow_orders(void *unused) {
    for (;;) {
        sem_wait(&told);
        if (!order) {
            return unused;
        }
        order();
        sem_post(&done);
    }
}

static pthread_t second_start(void) {
    pthread_t t;
    sem_init(&told, 0, 0);
    sem_init(&done, 0, 0);
    plain(1);
    CHECK(pthread_create(&t, NULL, follow_orders, NULL) == 0);
    return t;
}

static void second_does(void (*what)(void)) {
    order = what;
    sem_post(&told);
    if (what) {
        sem_wait(&done);
    }
}

static void second_ends(pthread_t t) {
    second_does(NULL);
    pthread_join(t, NULL);
}

static void begin_a(void) {
    place = stint_impl_begin(&place, &site_a, 0);
}

static void begin_b(void) {
    place = stint_impl_begin(&place, &site_b, 0);
}

static void end_place(void) {
    stint_impl_end_open(&place);
    place = 0;
}

static stint_impl_opened *high;

static void end_high(void) {
    stint_impl_end_open(high);
}

TEST(guard_rule, ended_on_another_thread_is_no_sample_and_counted) {
    pthread_t t = second_start();
    begin_a();
    fake_advance(5);
    second_does(end_place);
    CHECK_EQ_U64(calls_of("a"), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_OTHER_THREAD), 1);
    fake_advance(5);
    begin_a(); /* not inside the one before: no recursive call of it */
    fake_advance(7);
    end_place();
    CHECK_EQ_U64(stat_of("a").samples, 1);
    CHECK_EQ_U64(stat_of("a").total_ns, 7);
    second_ends(t);
    check_sound(0);
    CHECK_EQ_U64(lost_in_all(), 1);
}

/* A scope that another thread ended stays around the one that is open inside it, and leaves with it
 * also when that one is jumped out of and its place opens again. */
TEST(guard_rule, ended_on_another_thread_around_one_that_was_jumped_out_of) {
    static stint_impl_opened inner;
    pthread_t t = second_start();
    begin_a();
    inner = stint_impl_begin(&inner, &site_a, 0); /* from now on a in a is known as recursive */
    stint_impl_end_open(&inner);
    end_place();
    begin_a();
    inner = stint_impl_begin(&inner, &site_b, 0);
    second_does(end_place);
    fake_advance(5);
    inner = stint_impl_begin(&inner, &site_a, 0);
    fake_advance(7);
    stint_impl_end_open(&inner);
    CHECK_EQ_U64(stat_of("a").samples, 2); /* a recursive call has none */
    CHECK_EQ_U64(stat_of("a").total_ns, 7);
    CHECK_EQ_U64(lost(STINT_STATUS_OTHER_THREAD), 1);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 1);
    second_ends(t);
    check_sound(1);
}

TEST(guard_rule, one_left_open_is_not_closed_by_another_at_its_address) {
    pthread_t t = second_start();
    begin_a();
    fake_advance(1);
    second_does(end_place);
    second_does(begin_b);
    fake_advance(300);
    end_place();
    CHECK_EQ_U64(calls_of("a"), 0);
    CHECK_EQ_U64(calls_of("b"), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_OTHER_THREAD), 2);
    second_ends(t);
    check_sound(0);
    CHECK_EQ_U64(lost_in_all(), 2);
}

TEST(guard_rule, many_that_all_end_on_the_other_thread) {
    pthread_t t = second_start();
    for (int i = 0; i < 1000; ++i) {
        void (*begin)(void) = i % 3 ? begin_a : begin_b;
        if (i % 2) {
            second_does(begin);
            fake_advance(3);
            end_place();
        } else {
            begin();
            fake_advance(2);
            second_does(end_place);
        }
        plain(1);
    }
    CHECK_EQ_U64(calls_of("a") + calls_of("b"), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_OTHER_THREAD), 1000);
    CHECK_EQ_U64(stat_of("plain").total_ns, 1001);
    second_ends(t);
    check_sound(0);
    CHECK_EQ_U64(lost_in_all(), 1000);
}

/* Its fiber was freed without an end: the frame is stale, and stays so until something takes it
 * off. */
TEST(guard_rule, one_that_never_ends_is_not_closed_by_another_at_its_address) {
    pthread_t t = second_start();
    stint_impl_opened around;
    around = stint_impl_begin(&around, &site_c, 0);
    begin_a();
    fake_advance(10);
    second_does(begin_b);
    fake_advance(1);
    end_place();
    CHECK_EQ_U64(calls_of("a") + calls_of("b"), 0);
    CHECK_EQ_U64(open_scopes(), 2);
    stint_impl_end_open(&around);
    CHECK_EQ_U64(stat_of("c").total_ns, 11);
    second_ends(t);
    CHECK_EQ_U64(lost(STINT_STATUS_OTHER_THREAD), 1);
    check_sound(1);
}

/* Guards further down than that of the one that was ended, and known in its place: nothing else
 * makes their begin search. */
TEST(guard_rule, ended_elsewhere_above_all_that_come_next) {
    stint_impl_opened guards[2];
    pthread_t t = second_start();
    high = &guards[1];
    for (int round = 0; round < 2; ++round) {
        *high = stint_impl_begin(high, &site_a, 0);
        const struct stint_impl_frame *frame = stint_impl_thread_here->top;
        if (round == 1) {
            second_does(end_high);
        }
        guards[0] = stint_impl_begin(&guards[0], &site_b, 0);
        CHECK(stint_impl_thread_here->top == frame + (round == 0));
        fake_advance(2);
        stint_impl_end_open(&guards[0]);
        if (round == 0) {
            stint_impl_end_open(high);
        }
    }
    CHECK_EQ_U64(calls_of("a"), 1);
    CHECK_EQ_U64(stat_of("a").self_ns, 0);
    CHECK_EQ_U64(stat_of("b").samples, 2);
    second_ends(t);
    check_sound(0);
    CHECK_EQ_U64(lost_in_all(), 1);
}

TEST(guard_rule, ended_elsewhere_below_an_open_scope) {
    pthread_t t = second_start();
    begin_a();
    {
        REGISTER_TIMER("above");
        second_does(end_place);
        fake_advance(3);
    }
    CHECK_EQ_U64(stat_of("above").total_ns, 3);
    second_ends(t);
    plain(1);
    check_sound(0);
    CHECK_EQ_U64(lost(STINT_STATUS_OTHER_THREAD), 1);
}

/* Each opening is counted once: by the thread that ends it or by the one that leaves it. */
TEST(guard_rule, ended_on_another_thread_after_its_own_is_gone) {
    pthread_t t = second_start();
    second_does(begin_a);
    second_ends(t);
    end_place();
    CHECK_EQ_U64(calls_of("a"), 1);
    CHECK_EQ_U64(stat_of("a").samples, 0);
    check_sound(1);
    CHECK_EQ_U64(lost_in_all(), 1);
}

TEST(guard_rule, recursive_call_ended_on_another_thread) {
    pthread_t t = second_start();
    stint_impl_opened outer;
    outer = stint_impl_begin(&outer, &site_a, 0);
    begin_a();
    second_does(end_place);
    fake_advance(4);
    stint_impl_end_open(&outer);
    CHECK_EQ_U64(calls_of("a"), 1);
    CHECK_EQ_U64(stat_of("a").total_ns, 4);
    second_ends(t);
    check_sound(0);
    CHECK_EQ_U64(lost(STINT_STATUS_OTHER_THREAD), 1);
}

/* A call that began before the one around it, which another thread has ended, is all in the scope
 * around that. */
TEST(guard_rule, began_sooner_than_a_call_ended_on_another_thread) {
    pthread_t t = second_start();
    uint64_t us = stint_now_us();
    {
        REGISTER_TIMER("around");
        fake_advance(10000);
        begin_a();
        stint_impl_opened inner;
        inner = stint_impl_begin(&inner, &site_a, 0);
        second_does(end_place);
        fake_advance(10000);
        {
            REGISTER_TIMER_SINCE("sooner", us + 5);
            fake_advance(10000);
        }
        stint_impl_end_open(&inner);
    }
    second_ends(t);
    CHECK_EQ_U64(stat_of("sooner").total_ns / 10, 2500); /* its start is in microseconds */
    CHECK_EQ_U64(stat_of("around").total_ns, 30000);
    CHECK_EQ_U64(stat_of("around").self_ns, 30000 - stat_of("sooner").total_ns);
    check_sound(0);
}

/* A guard that a jump has skipped holds whatever is in its memory, possibly the start of an open
 * scope. */
TEST(guard_rule, content_of_a_guard_is_not_believed_without_a_frame_of_its_address) {
    begin_a();
    stint_impl_opened jumped_over = place;
    stint_impl_end_open(&jumped_over);
    CHECK_EQ_U64(open_scopes(), 1);
    fake_advance(6);
    end_place();
    CHECK_EQ_U64(stat_of("a").total_ns, 6);
    check_sound(0);
    CHECK_EQ_U64(lost_in_all(), 0);
}

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
    for (int i = 0; i < 10; ++i) {
        thread_run(exits, cancel);
    }
    /* C unwinds its guards only when compiled with -fexceptions. */
    uint64_t samples = stat_of("exits").samples + stat_of("exits.inner").samples;
    CHECK_EQ_U64(calls_of("exits") + calls_of("exits.inner"), 20);
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
