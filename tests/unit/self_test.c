/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self time: a recorded call's ticks without those of the recorded calls right inside it, whatever
 * is open or was abandoned meanwhile. So self times add up to the time in the outermost recorded
 * calls.
 */
#include <setjmp.h>

#include "harness_threads.h"
#include "recorded.h"
#include "support.h"

static void leaf(uint64_t ns) {
    REGISTER_TIMER("leaf");
    fake_advance(ns);
}

static void step(void) {
    REGISTER_TIMER("step");
    fake_advance(2);
    leaf(18);
}

static void steps(int count) {
    for (int i = 0; i < count; ++i) {
        step();
    }
}

static struct stint_row tree_row(const char *name) {
    struct snapshot s;
    struct rows rows;
    struct stint_row out = {0};
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_tree(&rows, &s));
    const struct stint_row *r = row_in(&rows, 0, name);
    if (CHECK(r != NULL)) {
        out = *r;
    }
    interval_close(&s);
    return out;
}

/* Checks the times in the flat statistics and in the tree. */
static void check_self(const char *name, uint64_t total, uint64_t self) {
    struct stint_row tree = tree_row(name);
    CHECK_EQ_U64(stat_of(name).total_ns, total);
    CHECK_EQ_U64(stat_of(name).self_ns, self);
    CHECK_EQ_U64(tree.total_ns, total);
    CHECK_EQ_U64(tree.self_ns, self);
}

TEST(self, without_the_call_that_is_open) {
    steps(10);
    REGISTER_TIMER("step");
    fake_advance(1000);
    check_self("step", 200, 20);
    leaf(100);
    check_self("step", 200, 20);
    check_self("leaf", 280, 280);
}

TEST(self, of_an_open_call_is_its_own) {
    struct snapshot s;
    REGISTER_TIMER("step");
    fake_advance(7);
    leaf(100);
    fake_advance(1);
    {
        REGISTER_TIMER("inner");
        fake_advance(30);
        leaf(200);
        CHECK(!interval_open(&s, 0));
        CHECK_EQ_U64(s.nodes[s.threads[0].open[0].node].extra->open, 338);
        CHECK_EQ_U64(s.nodes[s.threads[0].open[0].node].extra->open_self, 8);
        CHECK_EQ_U64(s.nodes[s.threads[0].open[1].node].extra->open, 230);
        CHECK_EQ_U64(s.nodes[s.threads[0].open[1].node].extra->open_self, 30);
        interval_close(&s);
    }
    fake_advance(2);
    CHECK(!interval_open(&s, 0));
    CHECK_EQ_U64(s.nodes[s.threads[0].open[0].node].extra->open_self, 10);
    interval_close(&s);
}

static void down(int depth) {
    REGISTER_TIMER("down");
    fake_advance(1);
    leaf(10);
    if (depth) {
        down(depth - 1);
    } else {
        struct snapshot s;
        CHECK(!interval_open(&s, 0));
        CHECK_EQ_U64(s.nodes[s.threads[0].open[0].node].extra->open_self, 4);
        interval_close(&s);
    }
}

TEST(self, of_a_recursive_scope) {
    down(3);
    check_self("down", 44, 4);
    down(3);
    check_self("down", 88, 8);
}

static void *leave(void *unused) {
    REGISTER_TIMER("step");
    fake_advance(2);
    leaf(18);
    pthread_exit(unused);
}

TEST(self, without_the_children_of_abandoned_calls) {
    steps(10);
    for (int i = 0; i < 10; ++i) {
        thread_run(leave, NULL);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 10);
    CHECK_EQ_U64(stat_of("step").total_ns, 200);
    CHECK_EQ_U64(stat_of("step").self_ns, 20);
    CHECK_EQ_U64(stat_of("leaf").total_ns, 360);
}

static jmp_buf back;

static void jumps(void) {
    REGISTER_TIMER("abandoned");
    fake_advance(5);
    leaf(30);
    longjmp(back, 1);
}

static void around_jumps(void) {
    REGISTER_TIMER("around");
    fake_advance(1);
    if (!setjmp(back)) {
        jumps();
    }
    fake_advance(4);
}

/* An abandoned call has no time of its own: it belongs to the call around it, as if there were no
 * timer, and what was recorded in it was recorded in that one. */
TEST(self, of_the_call_around_an_abandoned_one) {
    around_jumps();
    around_jumps();
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 2);
    check_self("around", 80, 20);
    check_self("leaf", 60, 60);
}

TEST(self, of_a_call_whose_inner_one_met_a_clock_stepping_back) {
    {
        REGISTER_TIMER("around");
        fake_advance(100);
        {
            REGISTER_TIMER("back");
            leaf(20);
            fake_advance((uint64_t)-50);
        }
        fake_advance(30);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_CLOCK_BACK), 1);
    check_self("around", 100, 80);
}

/* The inner call is longer than the one around it, which has nothing left and not less. */
static void since(uint64_t start_us) {
    REGISTER_TIMER_SET("since", start_us);
    fake_advance(3000);
}

TEST(self, of_a_call_around_one_that_began_before_it) {
    uint64_t start_us = stint_now_us();
    fake_advance(50000);
    {
        REGISTER_TIMER("around");
        fake_advance(1000);
        since(start_us);
        fake_advance(500);
    }
    check_self("since", 54000, 54000);
    check_self("around", 4500, 500);
    steps(1);
    {
        REGISTER_TIMER("around");
        fake_advance(7000);
    }
    CHECK_EQ_U64(stat_of("around").self_ns, 7500); /* the other call's time is its own */
}

static void one_site(uint64_t start_us, int depth) {
    REGISTER_TIMER_SET("one site", start_us);
    fake_advance(1000);
    if (depth > 1) {
        one_site(start_us - 40000, depth - 1);
    } else if (depth) {
        REGISTER_TIMER_SET("in it", start_us + 30000);
        fake_advance(2000);
    }
}

TEST(self, of_what_began_inside_a_recursive_call_and_before_the_outermost) {
    fake_advance(100000000);
    one_site(stint_now_us() - 50000, 2);
    one_site(stint_now_us(),
             2); /* 4000 ns, all of them in "in it", too; and that is not a new maximum */
    check_self("one site", 50008000, 0);
    one_site(stint_now_us(), 0);
    check_self("one site", 50009000, 1000);
}

TEST(self, after_a_reset_in_the_middle_of_a_call) {
    steps(10);
    {
        REGISTER_TIMER("step");
        fake_advance(1000);
        leaf(100);
        stint_reset();
        fake_advance(10);
        leaf(200);
        struct snapshot s;
        CHECK(!interval_open(&s, 0));
        CHECK_EQ_U64(s.nodes[s.threads[0].open[0].node].extra->open, 210);
        CHECK_EQ_U64(s.nodes[s.threads[0].open[0].node].extra->open_self, 10);
        interval_close(&s);
    }
    check_self("step", 1310, 1010); /* it counts in the interval in which it ends, whole */
    stint_reset();
    steps(3);
    check_self("step", 60, 6);
}

TEST(self, with_the_other_clock) {
    setenv("STINT_CLOCK", "monotonic", 1);
    steps(10);
    REGISTER_TIMER("step");
    fake_advance(1000);
    leaf(100);
    check_self("step", 200, 20);
}
