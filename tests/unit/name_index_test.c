/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of one name, which are read from the nodes of that name alone: each must be equal to
 * the row that a snapshot of everything gives, whatever was recorded, in which order it was read,
 * and since which reset.
 */
#include "interval/name_index.h"

#include "gpu_activities.h"
#include "gpu_sums.h"
#include "harness_threads.h"
#include "model/baseline.h"
#include "record/node_list.h"
#include "recorded.h"
#include "support.h"

#define NAMES 7

static const char *const names[NAMES] = {"a", "ab", "another name", "b", "c", "loop", "z"};
static stint_set *sets[3];
static unsigned compared;

/* The rows as stint_stat_each gives them: from a snapshot of everything. */
struct whole {
    const char *name;
    stint_stat stat;
    int found;
};

static int find_whole(void *data, const char *name, const stint_stat *stat) {
    struct whole *w = data;
    if (!strcmp(name, w->name)) {
        w->stat = *stat;
        w->found = 1;
    }
    return 0;
}

static void compare_histograms(stint_set *set, const char *name, uint32_t number) {
    static stint_bucket seen[STINT_IMPL_BUCKETS];
    static struct histogram h;
    struct snapshot s;
    struct rows rows;
    uint64_t quantile[3] = {STINT_NS_UNKNOWN, STINT_NS_UNKNOWN, STINT_NS_UNKNOWN};
    static const unsigned permille[3] = {0, 333, 1000};
    uint32_t used = 0;
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, 0));
    for (uint32_t i = 0; i < rows.count; ++i) {
        if (rows.row[i].set == number && !strcmp(rows.row[i].name, name)) {
            used = rows_histogram(&h, &rows, i, 0) ? 0 : histogram_used(&h);
            for (unsigned k = 0; k < 3; ++k) {
                rows_quantile(&quantile[k], &rows, i, permille[k]);
            }
        }
    }
    interval_close(&s);
    CHECK(stint_stat_histogram(set, name, seen, STINT_IMPL_BUCKETS) == (int)used);
    uint64_t calls = 0;
    for (uint32_t i = 0; i < used; ++i) {
        calls += seen[i].calls;
    }
    CHECK_EQ_U64(calls, used ? histogram_count(&h) : 0);
    for (unsigned k = 0; k < 3; ++k) {
        CHECK_EQ_U64(stint_stat_quantile(set, name, permille[k]), quantile[k]);
    }
}

/* Every name in every set. */
static void compare_all(void) {
    for (unsigned i = 0; i < NAMES * 3; ++i) {
        stint_set *set = sets[i / NAMES];
        struct whole w = {.name = names[i % NAMES]};
        stint_stat one;
        CHECK(!stint_stat_each(set, find_whole, &w));
        int result = stint_set_stat_get(set, w.name, &one, sizeof one);
        CHECK(result == (w.found ? STINT_OK : STINT_ERROR_UNKNOWN));
        if (!w.found) {
            continue;
        }
        ++compared;
        if (!CHECK(!memcmp(&one, &w.stat, sizeof one))) {
            printf("%s: %llu calls, not %llu; %llu ns, not %llu; max %llu, not %llu\n", w.name,
                   (unsigned long long)one.calls, (unsigned long long)w.stat.calls,
                   (unsigned long long)one.total_ns, (unsigned long long)w.stat.total_ns,
                   (unsigned long long)one.max_ns, (unsigned long long)w.stat.max_ns);
        }
        compare_histograms(set, w.name, stint_impl_set_id(set));
    }
}

/* The calls that the footer of a report shows. */
static void compare_calls(void) {
    struct snapshot s;
    struct rows rows, calls;
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, 0) && !rows_calls(&calls, &s));
    CHECK_EQ_U64(rows.count, calls.count);
    for (uint32_t i = 0; i < rows.count && i < calls.count; ++i) {
        CHECK(rows.row[i].calls == calls.row[i].calls && rows.row[i].name == calls.row[i].name &&
              rows.row[i].set == calls.row[i].set);
    }
    interval_close(&s);
}

struct work {
    uint64_t random;
    unsigned left;
    int gpu;
};

static void record_tree(struct work *w, unsigned depth);

static void record_inside(struct work *w, unsigned depth) {
    if (random_next(&w->random) % 16 == 0) {
        STINT_TIMER_BYTES(random_next(&w->random) % 1000);
    }
    if (w->gpu && random_next(&w->random) % 16 == 0) {
        gpu_took(0, random_next(&w->random) % 100000);
    }
    fake_advance(random_next(&w->random) % (random_next(&w->random) % 8 ? 300 : 1000000));
    if (depth < 6 && random_next(&w->random) % 3) {
        record_tree(w, depth + 1);
    }
    fake_advance(random_next(&w->random) % 50);
}

static void record_tree(struct work *w, unsigned depth) {
    static const char *const notes[2] = {"a note", "another, longer note"};
    for (unsigned n = (unsigned)(random_next(&w->random) % 4); n && w->left; --n) {
        --w->left;
        uint64_t draw = random_next(&w->random);
        stint_set *set = sets[draw / 64 % 5 % 3];
        if (draw % 8 == 0) {
            STINT_TIMER("a", -1, set); /* "a" at two places, and at run time */
            record_inside(w, depth);
        } else if (draw % 8 == 1) {
            STINT_TIMER("loop", -1, set);
            record_inside(w, depth);
        } else if (draw % 8 == 2) {
            STINT_TIMER_INFO("a", notes[draw >> 32 & 1], -1, set);
            record_inside(w, depth);
        } else if (draw % 8 == 3) {
            STINT_TIMER_SINCE("b", stint_now_us() - draw / 8 % 4, -1, set);
            record_inside(w, depth);
        } else if (draw % 64 == 5) {
            stint_sample_add(names[draw >> 8 & 1], draw >> 40 & 0xfffff);
        } else {
            STINT_TIMER_DYNAMIC(names[draw / 1024 % NAMES], -1, set);
            record_inside(w, depth);
        }
    }
}

static void record_some(struct work *w, unsigned scopes) {
    w->left = scopes;
    while (w->left) {
        record_tree(w, 0);
    }
}

static void sets_get(void) {
    sets[1] = stint_set_get("one");
    sets[2] = stint_set_get("two");
}

static void check_runs(uint64_t seed, int gpu) {
    struct work w = {.random = seed, .gpu = gpu};
    sets_get();
    for (unsigned scopes = 1; scopes < 3000; scopes *= 3) {
        record_some(&w, scopes);
        compare_all();
        compare_calls();
    }
    CHECK(compared > 50);
}

TEST(name_index, is_equal_to_a_snapshot_of_everything) {
    check_runs(1, 0);
}

TEST(name_index, is_equal_with_times_of_gpus) {
    timed("c", 1);
    gpu_sums_device("gpu", 1000, 1000);
    check_runs(2, 1);
}

TEST(name_index, is_equal_after_resets) {
    struct work w = {.random = 3, .gpu = 1};
    timed("c", 1);
    gpu_sums_device("gpu", 1000, 1000);
    sets_get();
    for (unsigned i = 0; i < 12; ++i) {
        record_some(&w, 10u << i % 6);
        compare_all();
        if (i % 3) {
            stint_set_reset(sets[i % 3]);
        } else {
            stint_reset();
        }
        compare_all();
    }
    CHECK(compared > 50);
}

TEST(name_index, is_equal_inside_open_scopes) {
    struct work w = {.random = 4};
    sets_get();
    record_some(&w, 100);
    STINT_TIMER("a");
    fake_advance(100);
    STINT_TIMER("loop");
    compare_all();
    {
        STINT_TIMER("a");
        fake_advance(1);
        compare_all();
    }
    record_some(&w, 100);
    compare_all();
}

static void *record_in_thread(void *seed) {
    struct work w = {.random = *(uint64_t *)seed};
    record_some(&w, 400);
    return NULL;
}

TEST(name_index, is_equal_with_many_threads) {
    uint64_t seed[8] = {11, 12, 13, 14, 15, 16, 17, 18};
    struct work w = {.random = 5};
    sets_get();
    record_some(&w, 100);
    threads_run(8, record_in_thread, seed, sizeof *seed);
    compare_all();
    threads_run(8, record_in_thread, seed, sizeof *seed);
    compare_all();
    CHECK(stat_of("a").threads > 1);
}

/* A scope that an activity of a GPU was launched in counts it, as do those around. */
TEST(name_index, activities_count_for_the_scopes_around) {
    sets_get();
    {
        STINT_TIMER("a");
        STINT_TIMER("b");
        gpu_activity_took(gpu_activity(ACTIVITY_KERNEL, 0, "k", 0, 7), 1000, 0);
    }
    compare_all();
    CHECK_EQ_U64(stat_of("a").device_calls, 1);
}

TEST(name_index, names_that_do_not_exist) {
    stint_stat s;
    CHECK(stint_stat_get("a", &s, sizeof s) == STINT_ERROR_UNKNOWN);
    timed("ab", 1);
    sets_get();
    CHECK(stint_stat_get("a", &s, sizeof s) == STINT_ERROR_UNKNOWN);
    CHECK(stint_stat_get("", &s, sizeof s) == STINT_ERROR_UNKNOWN);
    CHECK(stint_stat_get("abc", &s, sizeof s) == STINT_ERROR_UNKNOWN);
    CHECK(stint_set_stat_get(sets[1], "ab", &s, sizeof s) == STINT_ERROR_UNKNOWN);
    CHECK(!stint_stat_get("ab", &s, sizeof s));
}

static void timed_with_note(const char *path, const char *note) {
    STINT_TIMER_DYNAMIC(path);
    for (unsigned i = 0; i < 40; ++i) {
        STINT_TIMER_INFO("a", note);
        fake_advance(7);
    }
}

/* Calls that are equally long, or began at the same time: the order of the nodes is another one. */
TEST(name_index, equal_calls) {
    sets_get();
    timed_with_note("p", "b");
    timed_with_note("q", "c");
    timed_with_note("r", "a");
    timed_with_note("s", NULL);
    compare_all();
    CHECK_STR_EQ(stat_of("a").info, "c");
    stint_reset();
    {
        STINT_TIMER("b");
        STINT_TIMER("c");
        STINT_TIMER("loop");
        STINT_TIMER("z");
        timed("b", 5);
    }
    compare_all();
    CHECK_EQ_U64(stat_of("b").samples, 1);
}

/* More names than the first tables of the index hold, some of them found before. */
TEST(name_index, many_names) {
    char name[16];
    for (unsigned i = 0; i < 5000; ++i) {
        snprintf(name, sizeof name, "name %u", i);
        timed(name, i + 1);
        if (i % 500 == 0) {
            CHECK_EQ_U64(stat_of("name 0").total_ns, 1);
        }
    }
    for (unsigned i = 0; i < 5000; i += 7) {
        snprintf(name, sizeof name, "name %u", i);
        CHECK_EQ_U64(stat_of(name).total_ns, i + 1);
    }
}

/* The sums of nodes that are read into one would not be theirs. */
TEST(name_index, totals_too_large_for_one_node) {
    static const char *const paths[3] = {"p", "q", "r"};
    struct whole w = {.name = "a"};
    stint_stat one;
    for (unsigned i = 0; i < 3; ++i) {
        STINT_TIMER_DYNAMIC(paths[i]);
        for (unsigned k = 0; k < 40; ++k) {
            STINT_TIMER("a");
            fake_advance(k + i);
        }
    }
    const struct arena_thread *t = newest_thread();
    const struct stint_impl_node *root = arena_at(t->root);
    for (uint32_t path = root->child; path;) {
        struct stint_impl_node *p = arena_at(path), *n = arena_at(p->child);
        n->total += UINT64_MAX / 2;
        path = p->sibling;
    }
    CHECK(!stint_stat_each(NULL, find_whole, &w));
    CHECK(!stint_stat_get("a", &one, sizeof one));
    CHECK(!memcmp(&one, &w.stat, sizeof one));
}

static void record_in_child(void) {
    stint_stat s;
    CHECK(stint_stat_get("a", &s, sizeof s) == STINT_ERROR_UNKNOWN);
    timed("b", 5);
    timed("a", 2);
    CHECK_EQ_U64(stat_of("a").total_ns, 2);
    CHECK_EQ_U64(stat_of("b").total_ns, 5);
}

TEST(name_index, a_child_of_a_fork_starts_empty) {
    timed("a", 1);
    CHECK_EQ_U64(calls_of("a"), 1);
    timed("b", 1);
    harness_in_child(record_in_child);
    CHECK_EQ_U64(stat_of("a").total_ns, 1);
    CHECK_EQ_U64(stat_of("b").total_ns, 1);
}

/* ---- While others record, and reset. */

static int over;

static void *record_on(void *unused) {
    (void)unused;
    char name[16];
    for (unsigned i = 0; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); ++i) {
        snprintf(name, sizeof name, "path %u", i % 700);
        STINT_TIMER_DYNAMIC(name);
        STINT_TIMER("a");
    }
    return NULL;
}

static void *reset_on(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        stint_set_reset(stint_set_get("one"));
    }
    return NULL;
}

static void *read_on(void *unused) {
    (void)unused;
    uint64_t calls = 0;
    for (unsigned i = 0; i < 200; ++i) {
        stint_stat s;
        if (stint_stat_get("a", &s, sizeof s)) {
            continue;
        }
        CHECK(s.calls >= calls && s.samples == s.calls);
        calls = s.calls;
        stint_stat_quantile(sets[1], "a", 990);
    }
    return NULL;
}

TEST(name_index, while_others_record_and_reset) {
    pthread_t recording[2], resetting, reading[3];
    sets_get();
    threads_start(recording, 2, record_on, NULL, 0);
    threads_start(&resetting, 1, reset_on, NULL, 0);
    threads_start(reading, 3, read_on, NULL, 0);
    threads_join(reading, 3);
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    threads_join(recording, 2);
    threads_join(&resetting, 1);
    compare_all();
}
