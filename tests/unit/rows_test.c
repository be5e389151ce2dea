/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the table and of the tree: merging of lines, threads and sets, self time, open scopes.
 * Random programs are compared with a plain account of their scopes.
 */
#include "model/rows.h"

#include <pthread.h>

#include "support.h"

static struct snapshot s;
static struct rows rows;

static void flat(int each_thread) {
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, each_thread));
    for (uint32_t i = 0; i < rows.count; ++i) {
        CHECK(row_is_sane(&rows.row[i]));
    }
}

static const struct stint_row *flat_row(const char *name) {
    const struct stint_row *r = row_in(&rows, 0, name);
    return CHECK(r != NULL) ? r : &rows.row[0];
}

static void again(uint64_t ns) {
    REGISTER_TIMER("same");
    fake_advance(ns);
}

TEST(rows, one_name_from_two_lines_is_one_row) {
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("same");
        fake_advance(10);
    }
    again(30);
    flat(0);
    CHECK_EQ_U64(rows.count, 1);
    const struct stint_row *r = flat_row("same");
    CHECK_EQ_U64(r->calls, 3);
    CHECK_EQ_U64(r->samples, 3);
    CHECK_EQ_U64(r->total_ns, 50);
    CHECK_EQ_U64(r->self_ns, 50);
    CHECK_EQ_U64(r->avg_ns, 16);
    CHECK_EQ_U64(r->min_ns, 10);
    CHECK_EQ_U64(r->max_ns, 30);
    CHECK_EQ_U64(r->first_ns, 10);
    CHECK_EQ_U64(r->percentile_ns[PERCENTILE_P50], 10);
    CHECK_EQ_U64(r->percentile_ns[PERCENTILE_P99], 30);
    CHECK_EQ_U64(r->threads, 1);
    CHECK_EQ_U64(r->share_ppm, 1000000);
    interval_close(&s);
}

TEST(rows, a_name_nested_in_itself_is_not_counted_twice) {
    {
        REGISTER_TIMER("same");
        fake_advance(10);
        again(5);
        {
            REGISTER_TIMER("between");
            again(7);
        }
    }
    flat(0);
    const struct stint_row *r = flat_row("same");
    CHECK_EQ_U64(r->calls, 3);
    CHECK_EQ_U64(r->samples, 1);
    CHECK_EQ_U64(r->total_ns, 22);
    CHECK_EQ_U64(r->self_ns, 22); /* all of it is spent in "same" itself … */
    CHECK_EQ_U64(flat_row("between")->self_ns, 0);
    CHECK_EQ_U64(flat_row("between")->total_ns, 7);
    interval_close(&s);
}

TEST(rows, self_is_without_what_is_nested) {
    {
        REGISTER_TIMER("outer");
        fake_advance(1);
        {
            REGISTER_TIMER("middle");
            fake_advance(20);
            timed("inner", 300);
        }
        timed("inner", 4000);
    }
    flat(0);
    CHECK_EQ_U64(flat_row("outer")->total_ns, 4321);
    CHECK_EQ_U64(flat_row("outer")->self_ns, 1);
    CHECK_EQ_U64(flat_row("middle")->total_ns, 320);
    CHECK_EQ_U64(flat_row("middle")->self_ns, 20);
    CHECK_EQ_U64(flat_row("inner")->self_ns, 4300);
    interval_close(&s);
}

static void factorial(int n) {
    REGISTER_TIMER("factorial");
    fake_advance(1);
    if (n > 1) {
        factorial(n - 1);
    }
}

TEST(rows, recursion_counts_every_call_and_times_the_outermost) {
    factorial(10);
    factorial(4);
    flat(0);
    const struct stint_row *r = flat_row("factorial");
    CHECK_EQ_U64(r->calls, 14);
    CHECK_EQ_U64(r->samples, 2);
    CHECK_EQ_U64(r->total_ns, 14);
    CHECK_EQ_U64(r->self_ns, 14);
    CHECK_EQ_U64(r->max_ns, 10);
    CHECK_EQ_U64(r->min_ns, 4);
    interval_close(&s);
}

static void *work(void *ns) {
    for (int i = 0; i < 100; ++i) {
        timed("work", *(uint64_t *)ns);
    }
    timed("once", 1);
    return NULL;
}

TEST(rows, threads_sum_to_the_merged_row) {
    uint64_t ns[3] = {100, 1000, 10000};
    for (int i = 0; i < 3; ++i) {
        pthread_t thread;
        if (i < 2) {
            pthread_create(&thread, NULL, work, &ns[i]);
            pthread_join(thread, NULL);
        } else {
            work(&ns[i]);
        }
        stint_scope_begin("hold"); /* the main thread has a recorder of its own from now on */
    }
    flat(1);
    u128 calls = 0, total = 0;
    uint64_t lines = 0;
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *r = &rows.row[i];
        CHECK(r->thread != SNAPSHOT_NONE);
        if (!strcmp(r->name, "work")) {
            calls += r->calls;
            total += r->total_ns;
            ++lines;
        }
    }
    interval_close(&s);
    CHECK(lines == 2 || lines == 3);
    CHECK_EQ_U64(calls, 300);
    flat(0);
    const struct stint_row *r = flat_row("work");
    CHECK(r->thread == SNAPSHOT_NONE);
    CHECK_EQ_U64(r->calls, calls);
    CHECK_EQ_U64(r->total_ns, total);
    CHECK_EQ_U64(r->total_ns, 100 * 11100);
    CHECK_EQ_U64(r->min_ns, 100);
    CHECK_EQ_U64(r->max_ns, 10000);
    CHECK_EQ_U64(r->threads, lines);
    CHECK(r->percentile_ns[PERCENTILE_P50] >= 968 &&
          r->percentile_ns[PERCENTILE_P50] <= 1032); /* histograms of all threads together */
    CHECK(r->percentile_ns[PERCENTILE_P90] >= 9680 && r->percentile_ns[PERCENTILE_P90] <= 10000);
    interval_close(&s);
}

TEST(rows, sets_are_apart) {
    stint_set *other = stint_set_get("other");
    timed("a", 5);
    {
        REGISTER_TIMER_DYNAMIC("a", -1, other);
        fake_advance(7);
    }
    flat(0);
    CHECK_EQ_U64(rows.count, 2);
    CHECK_EQ_U64(flat_row("a")->total_ns, 5);
    CHECK_EQ_U64(row_in(&rows, other->id, "a")->total_ns, 7);
    interval_close(&s);
}

TEST(rows, open_scopes_have_their_age_and_no_sample) {
    REGISTER_TIMER("open");
    fake_advance(100);
    timed("done", 11);
    {
        REGISTER_TIMER("deeper");
        fake_advance(1000);
        flat(0);
        CHECK_EQ_U64(flat_row("open")->extra->open_ns, 1111);
        CHECK_EQ_U64(flat_row("open")->calls, 0);
        CHECK_EQ_U64(flat_row("open")->total_ns, 0);
        CHECK_EQ_U64(flat_row("deeper")->extra->open_ns, 1000);
        CHECK_EQ_U64(flat_row("done")->extra->open_ns, 0);
        CHECK_EQ_U64(s.threads[0].open_count, 2);
        CHECK_EQ_U64(s.threads[0].open[1].ticks, 1000);
        interval_close(&s);
    }
}

TEST(rows, handles_and_added_samples_are_nobodys_child) {
    stint_timer h = {{0, 0}};
    {
        REGISTER_TIMER("scope");
        TIMER_BEGIN(h, "handle");
        fake_advance(10);
        CHECK(!stint_sample_add("added", 1000000));
    }
    fake_advance(5);
    TIMER_END(h);
    flat(0);
    CHECK_EQ_U64(flat_row("handle")->total_ns, 15);
    CHECK_EQ_U64(flat_row("scope")->self_ns, 10);
    CHECK_EQ_U64(flat_row("added")->total_ns, 1000000);
    interval_close(&s);
}

TEST(rows, a_tree_row_is_a_path) {
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("left");
        timed("leaf", 10);
    }
    {
        REGISTER_TIMER("right");
        timed("leaf", 5);
    }
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_tree(&rows, &s));
    CHECK_EQ_U64(rows.count, 4);
    u128 under_left = 0, under_right = 0;
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *r = &rows.row[i];
        CHECK(row_is_sane(r));
        if (r->parent != SNAPSHOT_NONE) {
            CHECK(r->parent < i); /* parents first */
            *(strcmp(rows.row[r->parent].name, "left") ? &under_right : &under_left) = r->total_ns;
        }
    }
    CHECK_EQ_U64(under_left, 20);
    CHECK_EQ_U64(under_right, 5);
    interval_close(&s);
}

/* A scope that ends nowhere else but on its own stack: the plain account to compare with. */
#define NAMES 6
static struct account { uint64_t calls, total, self, samples; } account[NAMES];
static const char *const name_of[NAMES] = {"n0", "n1", "n2", "n3", "n4", "n5"};

static void wander(uint64_t *state, unsigned used, int depth, int recursion) {
    for (int i = 0; i < 3; ++i) {
        unsigned n = (unsigned)(random_next(state) % NAMES);
        if (depth == 5 || (!recursion && used >> n & 1)) {
            continue;
        }
        uint64_t from = fake_now, own = random_next(state) % 1000;
        stint_scope_begin(name_of[n]);
        fake_advance(own);
        uint64_t before = fake_now;
        wander(state, used | 1u << n, depth + 1, recursion);
        uint64_t slept = fake_now - before;
        stint_scope_end(name_of[n]);
        ++account[n].calls;
        if (!(used >> n & 1)) {
            ++account[n].samples;
            account[n].total += fake_now - from;
        }
        account[n].self += own;
        CHECK(slept <= fake_now - from);
    }
}

static void compare(void) {
    u128 self = 0;
    uint64_t begun = FAKE_START;
    flat(0);
    for (int n = 0; n < NAMES; ++n) {
        const struct stint_row *r = flat_row(name_of[n]);
        CHECK_EQ_U64(r->calls, account[n].calls);
        CHECK_EQ_U64(r->samples, account[n].samples);
        CHECK_EQ_U64(r->total_ns, account[n].total);
        CHECK_EQ_U64(r->self_ns, account[n].self);
        self += r->self_ns;
    }
    CHECK_EQ_U64(self, fake_now - begun); /* every moment is self time of one scope */
    interval_close(&s);
}

/* The name has no sample in one place, and is open in another. */
TEST(rows, work_of_an_abandoned_call_is_in_its_row) {
    stint_scope_begin("around");
    stint_scope_begin("inner");
    TIMER_BYTES(100);
    TIMER_FLOPS(7);
    stint_scope_end("around");
    flat(0);
    CHECK_EQ_U64(flat_row("inner")->calls, 1);
    CHECK_EQ_U64(flat_row("inner")->extra->bytes, 100);
    CHECK_EQ_U64(flat_row("inner")->extra->flops, 7);
    interval_close(&s);
}

/* The histogram is that of all places of a name: the bounds are as near as it knows. */
TEST(rows, bounds_in_the_tree_are_of_the_interval) {
    timed("a", 6000);
    timed("a", 1);
    stint_reset();
    timed("a", 100);
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_tree(&rows, &s));
    const struct stint_row *r = flat_row("a");
    CHECK_EQ_U64(r->calls, 1);
    CHECK(r->max_ns >= 100 && r->max_ns <= 106);
    CHECK(r->min_ns >= 94 && r->min_ns <= 100);
    CHECK(!(r->has & ROW_HISTOGRAM));
    interval_close(&s);
}

/* The outermost call began at this moment; the call inside it, by its own account, before. */
TEST(rows, open_time_is_the_outermost_calls) {
    stint_scope_begin("a");
    REGISTER_TIMER_DYNAMIC_SET("a", stint_now_us() - 5);
    flat(0);
    CHECK_EQ_U64(rows.count ? rows.row[0].extra->open_ns : 0, 0);
    interval_close(&s);
    fake_advance(30);
    flat(0);
    CHECK_EQ_U64(flat_row("a")->extra->open_ns, 30);
    interval_close(&s);
}

TEST(rows, agree_with_a_plain_account) {
    uint64_t state = 7;
    for (int i = 0; i < 200; ++i) {
        wander(&state, 0, 0, 0);
    }
    compare();
}

TEST(rows, agree_with_a_plain_account_under_recursion) {
    uint64_t state = 11;
    for (int i = 0; i < 200; ++i) {
        wander(&state, 0, 0, 1);
    }
    compare();
}
TEST(rows, intervals_that_overlap_have_no_share) {
    {
        REGISTER_TIMER("scope");
        fake_advance(100);
    }
    stint_sample_add("apart", 90);
    stint_sample_add("overlap", 90);
    stint_sample_add("overlap", 90);
    flat(0);
    CHECK_EQ_U64(flat_row("scope")->share_ppm, 1000000);
    CHECK_EQ_U64(flat_row("apart")->share_ppm, 900000);
    CHECK_EQ_U64(flat_row("overlap")->share_ppm, ROW_UNKNOWN);
    CHECK_EQ_U64(flat_row("overlap")->total_ns, 180);
    interval_close(&s);
}

TEST(rows, waiting_is_the_self_time_of_scopes_that_wait) {
    {
        REGISTER_TIMER("region");
        fake_advance(10);
        {
            REGISTER_TIMER_ROLE("barrier", STINT_ROLE_WAITING);
            fake_advance(20);
            {
                REGISTER_TIMER("a task while it waits"); /* work */
                fake_advance(5);
                {
                    REGISTER_TIMER_ROLE("barrier", STINT_ROLE_WAITING); /* recursive */
                    fake_advance(3);
                }
            }
        }
    }
    flat(0);
    CHECK_EQ_U64(flat_row("region")->total_ns, 38);
    CHECK_EQ_U64(flat_row("region")->self_ns, 10);
    CHECK_EQ_U64(flat_row("region")->extra->waiting_ns, 23);
    CHECK_EQ_U64(flat_row("barrier")->extra->waiting_ns, 23);
    CHECK_EQ_U64(flat_row("a task while it waits")->extra->waiting_ns, 3);
    CHECK(flat_row("region")->has & ROW_WAITING);
    interval_close(&s);
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_tree(&rows, &s));
    CHECK_EQ_U64(rows.row[0].extra->waiting_ns, 23);
    interval_close(&s);
}
