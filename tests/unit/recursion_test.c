/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls right inside another one of their scope, which the inline path counts by itself, and those
 * that it has to leave to the slow path: with other scopes between, with a trace or a threshold,
 * deeper than there are frames, or with a guard that was left open. The calls end after the inline
 * path knows the scopes, because the first call of each takes the slow path anyway.
 */
#include <setjmp.h>

#include "record/registry.h"

#include "recorded.h"
#include "support.h"

static void leaf(void) {
    REGISTER_TIMER("leaf");
    fake_advance(10);
}

static __attribute__((noinline)) void direct(int depth) {
    REGISTER_TIMER("direct");
    fake_advance(1);
    leaf();
    if (depth > 1) {
        direct(depth - 1);
    }
}

TEST(recursion, calls_in_a_row) {
    for (int i = 0; i < 3; ++i) {
        direct(4);
    }
    stint_stat s = stat_of("direct");
    CHECK_EQ_U64(s.calls, 12);
    CHECK_EQ_U64(s.samples, 3);
    CHECK_EQ_U64(s.total_ns, 3 * 44);
    CHECK_EQ_U64(s.self_ns, 3 * 4);
    CHECK_EQ_U64(stat_of("leaf").calls, 12);
    CHECK_EQ_U64(stat_of("leaf").total_ns, 120);
    CHECK_EQ_U64(lost_in_all(), 0);
}

#define OTHERS 300 /* more than STINT_IMPL_NEAR */

/* A site's number for each place of the tables. */
static void others_inside(void) {
    static struct stint_impl_site sites[OTHERS];
    static char names[OTHERS][24];
    for (int i = 0; i < OTHERS; ++i) {
        stint_impl_opened guard;
        snprintf(names[i], sizeof names[i], "other %d", i);
        sites[i].name = names[i];
        sites[i].file = sites[i].function = "";
        guard = stint_impl_begin(&guard, &sites[i], 0);
        fake_advance(1);
        stint_impl_end(&guard);
    }
}

static jmp_buf leaving;

/* a, b: a letter is a scope inside the one before it; x: the scopes above, first in a
 * scope of their own; !: a scope a, and all are left. */
static void spell(const char *scopes);

static __attribute__((noinline)) void spell_a(const char *rest) {
    REGISTER_TIMER("a");
    fake_advance(1);
    spell(rest);
}

static __attribute__((noinline)) void spell_b(const char *rest) {
    REGISTER_TIMER("b");
    fake_advance(100);
    spell(rest);
}

static void spell(const char *scopes) {
    if (*scopes == 'a') {
        spell_a(scopes + 1);
    } else if (*scopes == 'b') {
        spell_b(scopes + 1);
    } else if (*scopes == 'x') {
        {
            REGISTER_TIMER("y");
            others_inside();
        }
        others_inside();
        spell(scopes + 1);
    } else if (*scopes == '!') {
        spell_a("");
        longjmp(leaving, 1);
    }
}

/* In "aabbaabb", the second b is right inside a call of its scope, the last a right inside one that
 * is not the outermost. Each has its own time. */
TEST(recursion, of_both_kinds) {
    for (int i = 0; i < 5; ++i) {
        spell("aabbaabb");
        spell("abba");
        spell("baab");
    }
    CHECK_EQ_U64(stat_of("a").calls, 5 * 8);
    CHECK_EQ_U64(stat_of("b").calls, 5 * 8);
    CHECK_EQ_U64(stat_of("a").self_ns, 5 * 8);
    CHECK_EQ_U64(stat_of("b").self_ns, 5 * 800);
    CHECK_EQ_U64(stat_of("a").total_ns, 5 * (404 + 202 + 102));
    CHECK_EQ_U64(stat_of("b").total_ns, 5 * (402 + 201 + 202));
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* Where a call of a would be an inner one. */
TEST(recursion, and_other_scopes_in_its_place) {
    for (int i = 0; i < 4; ++i) {
        spell("aba");
        spell("abx");
    }
    for (int i = 0; i < OTHERS; ++i) {
        char name[24];
        snprintf(name, sizeof name, "other %d", i);
        CHECK_EQ_U64(stat_of(name).samples, 8);
    }
    CHECK_EQ_U64(stat_of("a").calls, 4 * 3);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static __attribute__((noinline)) void with_threshold(int depth) {
    REGISTER_TIMER("slow", 20);
    fake_advance(10000);
    if (depth > 1) {
        with_threshold(depth - 1);
    }
}

static void slow_around(int depth);

static __attribute__((noinline)) void slow_through(int depth) {
    REGISTER_TIMER("through", 20);
    fake_advance(10000);
    if (depth > 1) {
        slow_around(depth);
    }
}

static __attribute__((noinline)) void slow_around(int depth) {
    REGISTER_TIMER("around");
    slow_through(depth - 1);
}

static void three_slow_through(NO_ARG) {
    slow_through(3);
}

static void three_slow(NO_ARG) {
    with_threshold(3);
}

/* The same with a scope between the calls, once the inline path ends them. */
TEST(recursion, through_another_scope_with_a_threshold) {
    char *text = harness_capture(2, three_slow_through, NULL);
    text = harness_capture(2, three_slow_through, NULL);
    CHECK_STR_EQ(text, "Stat: [through]  [Span:0ms20us] \nStat: [through]  [Span:0ms30us] \n");
}

/* 30, 20 and 10 us: two are over 20 us, once the scope is known. */
TEST(recursion, with_a_threshold) {
    with_threshold(1);
    char *text = harness_capture(2, three_slow, NULL);
    CHECK_STR_EQ(text, "Stat: [slow]  [Span:0ms20us] \nStat: [slow]  [Span:0ms30us] \n");
}

static void spell_and_leave(const char *scopes) {
    if (!setjmp(leaving)) {
        spell(scopes);
    }
}

/* In these a call right inside the second a ends, then all are left: its time is nowhere. */
TEST(recursion, inside_an_inner_call_that_is_left) {
    static const char *const ways[] = {"aba!", "abxa!"}; /* a is tried first, and is not */
    for (int i = 0; i < 8; ++i) {
        REGISTER_TIMER("top");
        spell("abaa");
        spell_and_leave(ways[i % 2]);
    }
    CHECK_EQ_U64(stat_of("a").self_ns, 8 * 3);
    CHECK_EQ_U64(stat_of("b").self_ns, 8 * 100);
    CHECK_EQ_U64(stat_of("a").calls, 8 * 3 + 8 * 3);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 8 * 3);
}

static void steps_back(const char *rest);

static __attribute__((noinline)) void back_around(const char *rest) {
    REGISTER_TIMER("around");
    fake_advance(100);
    steps_back(rest);
}

/* A letter < is a step of the clock back by 50. */
static __attribute__((noinline)) void steps_back(const char *rest) {
    REGISTER_TIMER("back");
    fake_advance(10);
    if (*rest == '<') {
        fake_now -= 50;
    } else if (*rest) {
        back_around(rest + 1);
    }
}

/* The inner call, which ends before it began, is counted and has no time. */
TEST(recursion, while_the_clock_steps_back) {
    for (int i = 0; i < 4; ++i) {
        steps_back("-");
    }
    uint64_t own = stat_of("back").self_ns, around = stat_of("around").self_ns;
    steps_back("-<");
    CHECK_EQ_U64(stat_of("back").calls, 10);
    CHECK_EQ_U64(stat_of("back").self_ns, own + 10);
    CHECK_EQ_U64(stat_of("around").self_ns, around + 60);
}

/* Guards as a compiler lays them out that inlines a recursion. */
static void upwards(void) {
    enum { DEEP = 5 };
    stint_impl_opened guard[DEEP];
    static struct stint_impl_site site = {"upwards", __FILE__, __func__, __LINE__, 0, 0, 0, 0};
    for (int i = 0; i < DEEP; ++i) {
        guard[i] = stint_impl_begin(&guard[i], &site, 0);
        fake_advance(1);
        leaf();
    }
    for (int i = DEEP; i-- > 0;) {
        stint_impl_end(&guard[i]);
    }
}

TEST(recursion, with_higher_guards_further_in) {
    for (int i = 0; i < 4; ++i) {
        upwards();
    }
    CHECK_EQ_U64(stat_of("upwards").calls, 20);
    CHECK_EQ_U64(stat_of("upwards").samples, 4);
    CHECK_EQ_U64(stat_of("upwards").self_ns, 20);
    CHECK_EQ_U64(stat_of("leaf").calls, 20);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* Deeper calls than there are frames are counted. */
TEST(recursion, deeper_than_the_frames) {
    direct(3);
    direct(3 * STINT_IMPL_DEPTH);
    CHECK_EQ_U64(stat_of("direct").calls, 3 + 3 * STINT_IMPL_DEPTH);
    CHECK_EQ_U64(stat_of("direct").samples, 2);
    CHECK_EQ_U64(stat_of("direct").total_ns, 33 + 11 * 3 * STINT_IMPL_DEPTH);
    direct(3);
    CHECK_EQ_U64(stat_of("direct").calls, 6 + 3 * STINT_IMPL_DEPTH);
}

/* The second call of the scope has the guard of the first one, which was left open. */
static void left_open(int again) {
    int times = 0;
back:
    ++times;
    stint_impl_opened guard;
    static struct stint_impl_site site = {"left", __FILE__, __func__, __LINE__, 0, 0, 0, 0};
    guard = stint_impl_begin(&guard, &site, 0);
    fake_advance(5);
    if (times <= again) {
        goto back;
    }
    stint_impl_end(&guard);
}

TEST(recursion, a_guard_that_was_left_open) {
    for (int i = 0; i < 3; ++i) {
        left_open(0);
    }
    left_open(2);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 2);
    CHECK_EQ_U64(stat_of("left").samples, 4);
    CHECK_EQ_U64(stat_of("left").total_ns, 20);
    CHECK_EQ_U64(stat_of("left").calls, 6);
}

/* There was no room for its name. The root of the tree has no site either. */
TEST(recursion, a_scope_without_a_name) {
    leaf();
    stint_impl_opened guard;
    static struct stint_impl_site site = {"none", __FILE__, __func__, __LINE__, 0, 0, 0, 0};
    site.word = (uint64_t)registry_gate() << 32 | STINT_IMPL_SITE_NO_ID;
    const struct stint_impl_frame *top = stint_impl_thread_here->top;
    guard = stint_impl_begin(&guard, &site, 0);
    CHECK(stint_impl_thread_here->top == top);
    CHECK_EQ_U64(guard, 0);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_NAME), 1);
}
