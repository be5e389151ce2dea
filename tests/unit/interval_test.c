/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals and the baselines that they subtract. The sums of all intervals must be those of the
 * run, also while threads record and new names appear.
 */
#include "harness_threads.h"
#include "interval/interval.h"

#include "model/baseline.h"
#include "support.h"

static stint_stat st;

TEST(interval, reset_subtracts_exactly) {
    for (int i = 0; i < 1000; ++i) {
        timed("a", 100);
    }
    stint_reset();
    CHECK(stint_stat_get("a", &st, sizeof st) == -1); /* nothing of it in this interval */
    for (int i = 0; i < 3; ++i) {
        timed("a", 40);
    }
    timed("b", 5);
    CHECK(!stint_stat_get("a", &st, sizeof st));
    CHECK_EQ_U64(st.calls, 3);
    CHECK_EQ_U64(st.samples, 3);
    CHECK_EQ_U64(st.total_ns, 120);
    CHECK_EQ_U64(st.self_ns, 120);
    CHECK_EQ_U64(st.p50_ns, 40);
    CHECK_EQ_U64(st.p99_ns, 40);
    CHECK_EQ_U64(st.min_ns, 40);
    CHECK(st.max_ns >= 40 && st.max_ns <= 43); /* a histogram's bound, within 6.3 % */
    CHECK_EQ_U64(st.first_ns, 0);              /* it was in an interval before */
    CHECK(!stint_stat_get("b", &st, sizeof st) && st.calls == 1 && st.first_ns == 5);
    stint_reset();
    CHECK(stint_stat_get("a", &st, sizeof st) == -1 && stint_stat_get("b", &st, sizeof st) == -1);
}

TEST(interval, a_new_maximum_is_exact_after_a_reset) {
    REGISTER_TIMER("around");
    timed("a", 100);
    stint_reset();
    fake_advance(1);
    timed("a", 12345);
    timed("a", 1);
    CHECK(!stint_stat_get("a", &st, sizeof st));
    CHECK_EQ_U64(st.max_ns, 12345);
    CHECK_EQ_U64(st.min_ns, 1);
}

TEST(interval, infos_of_earlier_intervals_are_not_shown) {
    for (int i = 0; i < 2; ++i) {
        const char *info = i ? "second" : "first";
        {
            REGISTER_TIMER_INFO("a", info);
            fake_advance(i ? 10 : 1000);
        }
        CHECK(!stint_stat_get("a", &st, sizeof st));
        CHECK_STR_EQ(st.info, i ? "" : "first"); /* the second is not a new maximum: not kept */
        stint_reset();
        fake_advance(1);
    }
}

static void deep(int n) {
    REGISTER_TIMER("deep");
    fake_advance(1);
    if (n) {
        deep(n - 1);
    }
}

TEST(interval, recursive_calls_are_subtracted_too) {
    deep(9);
    stint_reset();
    deep(4);
    CHECK(!stint_stat_get("deep", &st, sizeof st));
    CHECK_EQ_U64(st.calls, 5);
    CHECK_EQ_U64(st.samples, 1);
    CHECK_EQ_U64(st.total_ns, 5);
}

TEST(interval, sets_are_reset_one_by_one) {
    stint_set *other = stint_set_get("other");
    for (int i = 0; i < 3; ++i) {
        timed("a", 10);
        {
            REGISTER_TIMER("a", -1, other);
            fake_advance(7);
        }
        if (i == 0) {
            stint_set_reset(other);
        } else if (i == 1) {
            stint_set_reset(NULL);
        }
    }
    CHECK(!stint_stat_get("a", &st, sizeof st) && st.calls == 1 && st.total_ns == 10);
    CHECK(!stint_set_stat_get(other, "a", &st, sizeof st) && st.calls == 2 && st.total_ns == 14);
    CHECK_EQ_U64(st.p50_ns, 7);
    stint_reset();
    CHECK(stint_set_stat_get(other, "a", &st, sizeof st) == -1);
}

TEST(interval, resetting_one_set_leaves_the_run_its_wall_time) {
    struct snapshot s;
    timed("a", 900);
    stint_set_reset(stint_set_get("other"));
    timed("a", 100);
    CHECK(!interval_open(&s, 0));
    CHECK_EQ_U64(s.wall_ns, 1000); /* else "a" takes 1000 % of it */
    interval_close(&s);
    stint_reset();
    fake_advance(50);
    stint_set_reset(NULL);
    CHECK(!interval_open(&s, 0));
    CHECK_EQ_U64(s.wall_ns, 50);
    interval_close(&s);
}

TEST(interval, open_scopes_have_the_age_of_the_interval) {
    struct snapshot s;
    REGISTER_TIMER("open");
    fake_advance(1000);
    stint_reset();
    fake_advance(30);
    CHECK(!interval_open(&s, 0));
    CHECK_EQ_U64(s.nodes[1].extra->open, 30);
    interval_close(&s);
}

TEST(interval, reset_before_anything) {
    stint_reset();
    stint_set_reset(stint_set_get("x"));
    timed("a", 3);
    CHECK(!stint_stat_get("a", &st, sizeof st) && st.total_ns == 3);
}

/* Threads record, the main thread prints and resets: nothing may fall between or count twice. */
static int stop;
static unsigned new_names; /* a thread makes, one now and then */
static uint64_t recorded;

static void *record(void *number) {
    uint64_t calls = 0;
    char name[32];
    for (unsigned made = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++calls) {
        REGISTER_TIMER("loop");
        if (calls % 64 == 0 && made < new_names) {
            snprintf(name, sizeof name, "%u.%u", *(unsigned *)number, made++);
            timed(name, 0);
            ++calls;
        }
    }
    __atomic_fetch_add(&recorded, calls, __ATOMIC_RELAXED);
    return NULL;
}

/* Adds up calls and ticks. Times are in ticks, because two roundings to nanoseconds would differ
 * from one. */
static void add_nodes(const struct snapshot *s, uint64_t *calls, uint64_t *total) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        CHECK(s->nodes[i].parent == SNAPSHOT_NONE || s->nodes[i].site);
        *calls += s->nodes[i].count + s->nodes[i].recursions;
        *total += s->nodes[i].total;
    }
}

static void add_interval(int reset, uint64_t *calls, uint64_t *total) {
    struct snapshot s;
    struct rows rows;
    uint64_t in_nodes = 0;
    u128 in_rows = 0;
    CHECK(!interval_open(&s, reset));
    add_nodes(&s, &in_nodes, total);
    CHECK(!rows_flat(&rows, &s, 0));
    for (uint32_t i = 0; i < rows.count; ++i) {
        CHECK(row_is_sane(&rows.row[i]));
        CHECK(strcmp(rows.row[i].name, "?"));
        in_rows += rows.row[i].calls;
    }
    CHECK_EQ_U64(in_rows, in_nodes);
    *calls += in_nodes;
    interval_close(&s);
}

static void intervals(unsigned names, int rounds) {
    enum { THREADS = 2 };
    pthread_t thread[THREADS];
    unsigned number[THREADS];
    uint64_t calls = 0, total = 0, whole_calls = 0, whole_total = 0;
    struct snapshot s;
    new_names = names;
    fake_step = 1;
    for (unsigned i = 0; i < THREADS; ++i) {
        number[i] = i;
        pthread_create(&thread[i], NULL, record, &number[i]);
    }
    for (int i = 0; i < rounds; ++i) {
        add_interval(1, &calls, &total);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    threads_join(thread, THREADS);
    add_interval(0, &calls, &total);
    CHECK(!snapshot_take(&s)); /* the whole run, nothing subtracted */
    add_nodes(&s, &whole_calls, &whole_total);
    snapshot_free(&s);
    CHECK_EQ_U64(whole_calls, recorded);
    CHECK_EQ_U64(calls, whole_calls);
    CHECK_EQ_U64(total, whole_total);
}

TEST(interval, print_and_reset_loses_nothing) {
    intervals(0, 1000);
}

TEST(interval, nor_while_new_names_appear) {
    intervals(200, 100);
}

/* More threads at once than ever before, so that each round registers new recorders. */
static void *one_call(void *barrier) {
    timed("thread", 1);
    pthread_barrier_wait(barrier);
    return NULL;
}

TEST(interval, nor_while_threads_start) {
    enum { MOST = 48 };
    pthread_t thread[MOST];
    uint64_t calls = 0, total = 0, whole_calls = 0, whole_total = 0, started = 0;
    struct snapshot s;
    timed("oldest", 1);
    for (int n = 4; n <= MOST; n += 4, ++started) {
        pthread_barrier_t barrier;
        pthread_barrier_init(&barrier, NULL, (unsigned)n);
        for (int i = 0; i < n; ++i) {
            pthread_create(&thread[i], NULL, one_call, &barrier);
            add_interval(1, &calls, &total);
        }
        threads_join(thread, (unsigned)n);
        pthread_barrier_destroy(&barrier);
    }
    add_interval(1, &calls, &total);
    CHECK(!snapshot_take(&s));
    add_nodes(&s, &whole_calls, &whole_total);
    snapshot_free(&s);
    CHECK_EQ_U64(calls, 4 * started * (started + 1) / 2 + 1);
    CHECK_EQ_U64(calls, whole_calls);
    CHECK_EQ_U64(total, whole_total); /* not the calls: threads share the clock */
}

/* Its line on stderr is a cancellation point, said while the interval is locked. */
static void *asks_in_vain(void *unused) {
    pthread_cancel(pthread_self());
    stint_set_print(NULL, "never recorded");
    pthread_testcancel();
    return unused;
}

TEST(interval, cancelled_inside_a_report) {
    void *result = NULL;
    stint_stat stat;
    timed("a", 1);
    result = thread_run(asks_in_vain, NULL);
    CHECK(result == PTHREAD_CANCELED);
    CHECK(stint_stat_get("a", &stat, sizeof stat) ==
          0); /* would never return if the lock was kept */
}
