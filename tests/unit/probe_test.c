/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of the calls that are measured. A reading costs what the test says: 100 ns for the two
 * of a call, so that a call of 10 us or more is worth measuring.
 */
#include "harness_threads.h"
#include "record/probe.h"

#include <setjmp.h>

#include "recorded.h"
#include "support.h"

#define COST 100u
#define LONG (COST * 100u)
#define SHORT (LONG - 1)

struct fake_thread {
    uint32_t ended;
};

static unsigned reads[2], added, ended, forgotten, refused;
static uint64_t sum, most;
static void (*inside)(void); /* what a signal handler does in a reading */

static enum probe_mode mode = PROBE_ALL;

static enum probe_mode fake_open(void) {
    return mode;
}

static uint64_t fake_cost(void) {
    return COST;
}

static int probe_read_fake(void *thread, uint64_t *values, enum probe_side side) {
    (void)thread;
    ++reads[side];
    if (inside) {
        void (*call)(void) = inside;
        inside = NULL;
        call();
    }
    values[0] = fake_read();
    values[PROBE_VALUES - 1] = 1;
    return -(int)refused;
}

static void probe_add_fake(struct thread_block *b, struct stint_impl_node *n, const uint64_t *begin,
                           const uint64_t *end) {
    CHECK(b && n && end[PROBE_VALUES - 1] == 1);
    ++added;
    sum += end[0] - begin[0];
    most = end[0] - begin[0] > most ? end[0] - begin[0] : most;
}

static void end_fake(void *thread) {
    struct fake_thread *t = thread;
    CHECK(!t->ended); /* each thread has memory of its own, zeroed, here */
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}

static void forget_fake(void *thread) {
    (void)thread;
    ++forgotten;
}

static const struct probe_ops fake = {fake_open,       fake_cost,      sizeof(struct fake_thread),
                                      probe_read_fake, probe_add_fake, end_fake,
                                      forget_fake};

static void scope(uint64_t ns) {
    REGISTER_TIMER("scope");
    fake_advance(ns);
}

/* The nodes that begin finds without the slow path. */
static unsigned inline_nodes(void) {
    const struct stint_impl_thread *t = stint_impl_thread_here;
    unsigned found = 0;
    for (unsigned i = 0; i < STINT_IMPL_NEAR; ++i) {
        found += t->nearby[i]->key != 0;
    }
    return found;
}

/* The first of them. */
static const struct stint_impl_node *inline_node(void) {
    const struct stint_impl_thread *t = stint_impl_thread_here;
    unsigned i = 0;
    while (i + 1 < STINT_IMPL_NEAR && !t->nearby[i]->key) {
        ++i;
    }
    return stint_impl_node_at(t, t->nearby[i]->node);
}

TEST(probe, long_calls_are_measured) {
    probe_set_ops(&fake);
    for (int i = 0; i < 20; ++i) {
        scope(LONG);
    }
    CHECK_EQ_U64(added, 20);
    CHECK_EQ_U64(sum, 20 * LONG);
    CHECK_EQ_U64(reads[PROBE_BEGIN], 20);
    CHECK_EQ_U64(reads[PROBE_END], 20);
    CHECK_EQ_U64(stat_of("scope").total_ns, 20 * LONG);
    CHECK_EQ_U64(stat_of("scope").p50_ns, stat_of("scope").p99_ns);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(probe, short_calls_take_the_fast_path_after_some) {
    probe_set_ops(&fake);
    for (unsigned i = 0; i < PROBE_TRIES; ++i) {
        scope(SHORT);
        CHECK_EQ_U64(inline_nodes(), 0);
    }
    scope(SHORT); /* is entered in the tables, */
    scope(SHORT); /* and found there */
    CHECK_EQ_U64(inline_nodes(), 1);
    for (int i = 0; i < 10; ++i) {
        scope(100 * LONG);
    }
    CHECK_EQ_U64(added, 0);
    CHECK_EQ_U64(reads[PROBE_BEGIN], 1); /* of the first call */
    CHECK_EQ_U64(reads[PROBE_END], 0);
    CHECK_EQ_U64(calls_of("scope"), PROBE_TRIES + 12);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(probe, nothing_changes_without_settings) {
    scope(LONG);
    scope(LONG);
    CHECK(!probe_on());
    CHECK_EQ_U64(inline_nodes(), 1);
}

/* All readings so far take less than 1 % of the time at every moment, except for the one of the
 * first call. */
TEST(probe, the_cost_stays_below_one_percent) {
    uint64_t state = 7;
    probe_set_ops(&fake);
    for (int i = 0; i < 20000; ++i) {
        scope(random_next(&state) % (3 * LONG));
        uint64_t cost = (reads[PROBE_BEGIN] + reads[PROBE_END]) * COST / 2;
        CHECK(cost <= stat_of("scope").total_ns / 100 + COST);
    }
    CHECK(added > 1000);
}

static void recursive(unsigned depth) {
    REGISTER_TIMER("recursive");
    fake_advance(LONG);
    if (depth) {
        recursive(depth - 1);
    }
}

TEST(probe, recursive_calls_are_part_of_the_outer_one) {
    probe_set_ops(&fake);
    recursive(3);
    recursive(3);
    CHECK_EQ_U64(added, 2);
    CHECK_EQ_U64(sum, 8 * LONG);
    CHECK_EQ_U64(calls_of("recursive"), 8);
}

static void outer(void) {
    REGISTER_TIMER("outer");
    fake_advance(LONG);
    scope(2 * LONG);
    scope(SHORT);
}

TEST(probe, nested_calls_have_their_own) {
    probe_set_ops(&fake);
    outer();
    CHECK_EQ_U64(added, 3); /* the mean of "scope" is long */
    CHECK_EQ_U64(sum, 2 * (2 * LONG + SHORT) + LONG);
    CHECK_EQ_U64(most, 3 * LONG + SHORT);
}

static void in_a_handler(void) {
    scope(LONG);
}

TEST(probe, scopes_in_a_handler_that_interrupts_a_reading) {
    probe_set_ops(&fake);
    scope(LONG);
    outer();
    CHECK_EQ_U64(added, 4);
    inside = in_a_handler;
    outer(); /* the handler comes in the reading at its begin */
    CHECK_EQ_U64(added, 8);
    CHECK_EQ_U64(calls_of("scope"), 6);
    CHECK_EQ_U64(calls_of("outer"), 2);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static jmp_buf out;

static void left(void) {
    REGISTER_TIMER("left");
    fake_advance(LONG);
    longjmp(out, 1);
}

static void leave(void) {
    REGISTER_TIMER("around");
    if (!setjmp(out)) {
        left();
    }
}

TEST(probe, a_call_that_was_left_is_not_measured) {
    probe_set_ops(&fake);
    leave();
    CHECK_EQ_U64(added, 1); /* the one around it */
    CHECK_EQ_U64(reads[PROBE_BEGIN], 2);
    CHECK_EQ_U64(reads[PROBE_END], 1);
    CHECK_EQ_U64(calls_of("left"), 1);
    CHECK_EQ_U64(stat_of("left").samples, 0);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 1);
}

TEST(probe, a_reading_that_fails_is_not_added) {
    probe_set_ops(&fake);
    refused = 1;
    scope(LONG);
    refused = 0;
    CHECK_EQ_U64(added, 0);
    CHECK_EQ_U64(reads[PROBE_END], 0);
    scope(LONG);
    CHECK_EQ_U64(added, 1);
    CHECK_EQ_U64(calls_of("scope"), 2);
}

TEST(probe, names_made_at_run_time) {
    probe_set_ops(&fake);
    timed("long", LONG);
    timed("long", LONG);
    timed("short", SHORT);
    CHECK_EQ_U64(added, 2);
}

static void *run_thread(void *unused) {
    scope(LONG);
    return unused;
}

TEST(probe, each_thread_ends_once) {
    probe_set_ops(&fake);
    for (int i = 0; i < 3; ++i) {
        thread_run(run_thread, NULL);
    }
    CHECK_EQ_U64(ended, 3);
    CHECK_EQ_U64(added, 3); /* they share a recorder; the node's mean is long */
}

TEST(probe, the_child_of_a_fork_starts_anew) {
    probe_set_ops(&fake);
    REGISTER_TIMER("open");
    fake_advance(LONG);
    run_thread(NULL);
    IN_CHILD() {
        CHECK_EQ_U64(forgotten, 1);
        scope(LONG);
        CHECK_EQ_U64(added, 2);
        CHECK_EQ_U64(calls_of("scope"), 1);
        CHECK_EQ_U64(lost_in_all(), 0);
    }
    CHECK_EQ_U64(forgotten, 0);
}

/* ---- PROBE_LONG, without settings: scopes that turn out to be long. */

#define MS UINT64_C(1000000)

static void start_long(void) {
    mode = PROBE_LONG;
    probe_set_ops(&fake);
}

/* The scope's first call is on the fast path, and the others are measured. */
TEST(probe, long_scopes_are_measured_after_their_first_call) {
    start_long();
    for (int i = 0; i < 20; ++i) {
        scope(MS);
    }
    CHECK_EQ_U64(added, 19);
    CHECK_EQ_U64(sum, 19 * MS);
    CHECK_EQ_U64(inline_nodes(), 0);
    CHECK_EQ_U64(calls_of("scope"), 20);
    CHECK_EQ_U64(stat_of("scope").total_ns, 20 * MS);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(probe, scopes_below_a_millisecond_stay_on_the_fast_path) {
    start_long();
    for (int i = 0; i < 100; ++i) {
        scope(MS - 1);
    }
    CHECK_EQ_U64(inline_nodes(), 1);
    CHECK_EQ_U64(reads[PROBE_BEGIN], 0);
    CHECK(!inline_node()->measures);
}

/* A scope that is short on average again returns to the fast path, and stays there. */
TEST(probe, a_scope_that_is_long_no_more) {
    start_long();
    scope(MS);
    scope(MS);
    CHECK_EQ_U64(added, 1);
    for (int i = 0; i < 10; ++i) {
        scope(1000);
    }
    CHECK_EQ_U64(added, 2); /* the call that made the average short */
    CHECK_EQ_U64(inline_nodes(), 1);
    for (int i = 0; i < 10; ++i) {
        scope(100 * MS);
    }
    CHECK_EQ_U64(added, 2);
    CHECK_EQ_U64(calls_of("scope"), 22);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void by_number(unsigned i, uint64_t ns) {
    char name[16];
    snprintf(name, sizeof name, "scope %u", i);
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(ns);
}

/* The place that a long scope had in the table is neither empty nor one of another scope: those
 * whose places follow are found, also after the table has grown. */
TEST(probe, other_scopes_are_found_past_a_long_one) {
    start_long();
    for (unsigned round = 0; round < 3; ++round) {
        for (unsigned i = 0; i < 1000; ++i) {
            by_number(i, i % 3 ? 10 : MS);
        }
    }
    for (unsigned i = 0; i < 1000; ++i) {
        char name[16];
        snprintf(name, sizeof name, "scope %u", i);
        CHECK_EQ_U64(calls_of(name), 3);
    }
    CHECK_EQ_U64(added, 2 * 334);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void nested_long(void) {
    REGISTER_TIMER("around");
    scope(MS);
    scope(10);
}

TEST(probe, long_scopes_nested) {
    start_long();
    for (int i = 0; i < 10; ++i) {
        nested_long();
    }
    CHECK_EQ_U64(stat_of("around").self_ns, 0);
    CHECK_EQ_U64(stat_of("around").total_ns, 10 * (MS + 10));
    CHECK_EQ_U64(stat_of("scope").total_ns, 10 * (MS + 10));
    CHECK_EQ_U64(added, 9 + 1); /* the inner scope's second call made its average short */
}
