/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything at once: threads record, begin and end, while others print, print and reset, export,
 * read single statistics and change the filter. HARD_SECONDS says how long (default 5; a
 * thorough run takes 60, under each sanitizer). All the time, and at the end:
 *   every statistic   count x min <= total <= count x max
 *   every report      the sum over threads is the merged row
 *   all intervals     add up to the whole run, and that to what the threads did
 */
#include <sched.h>
#include <time.h>

#include "harness_threads.h"
#include "model/rows.h"
#include "model/snapshot.h"
#include "recorded.h"
#include "support.h"

#define NEW_NAMES 400 /* that appear in the course of it */

static int stop;          /* relaxed */
static uint64_t opened;   /* scopes and intervals of names that no filter takes; atomic */
static uint64_t filtered; /* of the others, some of which are recorded; atomic */
static uint64_t rounds;   /* reports, of each kind; atomic */
static char directory[64];

static int goes_on(void) {
    return !__atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void count(uint64_t *what, uint64_t n) {
    __atomic_fetch_add(what, n, __ATOMIC_RELAXED);
}

/* ---- Those who record. */

static uint64_t nested(unsigned depth) {
    REGISTER_TIMER("recursive");
    fake_advance(depth);
    return depth ? nested(depth - 1) + 1 : 1;
}

static uint64_t one_round(unsigned i, stint_set *set) {
    static __thread stint_timer h;
    uint64_t n = 5;
    REGISTER_TIMER("round");
    TIMER_BEGIN(h, "handle");
    {
        REGISTER_TIMER_INFO("info", "any information");
        n += nested(i % 4);
        REGISTER_TIMER("set", -1, set);
    }
    TIMER_END(h);
    {
        REGISTER_TIMER("filtered");
        count(&filtered, 1);
    }
    stint_sample_add("added", i % 1000);
    return n;
}

static void *record(void *set) {
    uint64_t n = 0;
    for (unsigned i = 0; goes_on(); ++i) {
        n += one_round(i, (stint_set *)set);
    }
    count(&opened, n);
    return NULL;
}

#define STEADY 1000u /* ticks, all alike */

static void *steady(void *unused) {
    uint64_t n = 0;
    for (; goes_on(); ++n) {
        stint_sample_add("steady", STEADY);
    }
    count(&opened, n);
    return unused;
}

static void *short_life(void *number) {
    char name[32];
    snprintf(name, sizeof name, "name %u", *(unsigned *)number % NEW_NAMES);
    uint64_t n = 1;
    for (unsigned i = 0; i < 20; ++i) {
        REGISTER_TIMER_DYNAMIC(name);
        n += one_round(i, NULL) + (i > 0);
    }
    count(&opened, n);
    return NULL;
}

static void *come_and_go(void *unused) {
    pthread_t thread[3];
    unsigned number[3];
    for (unsigned i = 0; goes_on(); i += 3) {
        for (unsigned k = 0; k < 3; ++k) {
            number[k] = i + k;
            CHECK(!pthread_create(&thread[k], NULL, short_life, &number[k]));
        }
        threads_join(thread, 3);
    }
    return unused;
}

/* ---- Those who look. */

/* Adds up calls and ticks. Times are in ticks, because two roundings to nanoseconds would differ
 * from one. */
static void add_nodes(const struct snapshot *s, uint64_t *calls, uint64_t *total) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        *calls += s->nodes[i].count + s->nodes[i].recursions;
        *total += s->nodes[i].total;
    }
}

/* Rows of rows_flat with and without threads, of one snapshot. */
static void check_threads_add_up(const struct rows *merged, const struct rows *each) {
    for (uint32_t i = 0; i < merged->count; ++i) {
        const struct stint_row *m = &merged->row[i];
        u128 calls = 0, samples = 0, total = 0;
        uint64_t threads = 0, min = UINT64_MAX, max = 0;
        for (uint32_t k = 0; k < each->count; ++k) {
            const struct stint_row *e = &each->row[k];
            if (e->name_id == m->name_id && e->set == m->set) {
                calls += e->calls;
                samples += e->samples;
                total += e->total_ns;
                threads += e->samples != 0;
                min = e->samples && e->min_ns < min ? e->min_ns : min;
                max = e->samples && e->max_ns > max ? e->max_ns : max;
            }
        }
        CHECK_EQ_U64(calls, m->calls);
        CHECK_EQ_U64(samples, m->samples);
        CHECK_EQ_U64(threads, m->threads);
        CHECK(total <= m->total_ns && m->total_ns <= total + threads); /* each was rounded down */
    }
}

static void check_rows(struct snapshot *s) {
    struct rows merged, each;
    CHECK(!rows_flat(&merged, s, 0) && !rows_flat(&each, s, 1));
    for (uint32_t i = 0; i < merged.count; ++i) {
        CHECK(row_is_sane(&merged.row[i]));
    }
    for (uint32_t i = 0; i < each.count; ++i) {
        CHECK(row_is_sane(&each.row[i]));
    }
    check_threads_add_up(&merged, &each);
}

static int node_is_sane(const struct snapshot_node *n) {
    return !n->count || (n->total / n->count >= n->min && n->total <= n->count * n->max &&
                         n->min <= n->first && n->first <= n->max);
}

/* Checks the nodes as recorded, before a row corrects them. A writer that is stopped in the middle
 * of a sample leaves its node one sample off; at the next attempt a different writer is stopped. */
static void check_nodes(void) {
    struct snapshot s;
    unsigned wrong = 1;
    for (int tries = 0; wrong && tries < 20; ++tries) {
        wrong = 0;
        if (CHECK(!snapshot_take(&s))) {
            for (uint32_t i = 0; i < s.node_count; ++i) {
                wrong += !node_is_sane(&s.nodes[i]);
            }
            snapshot_free(&s);
        }
    }
    CHECK(!wrong);
}

struct sums {
    uint64_t calls;
    uint64_t total;
};

static void add_interval(struct sums *sums, int reset) {
    struct snapshot s;
    if (CHECK(!interval_open(&s, reset))) {
        add_nodes(&s, &sums->calls, &sums->total);
        check_rows(&s);
        interval_close(&s);
    }
}

/* The only thread that resets. */
static void *reset(void *sums) {
    while (goes_on()) {
        add_interval((struct sums *)sums, 1);
        check_nodes();
        count(&rounds, 1);
    }
    return NULL;
}

static void *print(void *unused) {
    static const char *const views[] = {"table,threads", "tree", "legacy", "table,sort=max,top=3"};
    for (unsigned i = 0; goes_on(); ++i) {
        CHECK(!stint_report(views[i % 4]));
        stint_threads_show(i % 2 != 0);
        count(&rounds, 1);
    }
    return unused;
}

static void *export_files(void *unused) {
    static const char *const formats[] = {"json", "csv", "text"};
    char path[96];
    for (unsigned i = 0; goes_on(); ++i) {
        snprintf(path, sizeof path, "%s/out", directory);
        CHECK(!stint_export(path, formats[i % 3]));
        count(&rounds, 1);
    }
    return unused;
}

static void *get(void *set) {
    static const char *const names[] = {"round", "recursive", "info", "handle", "added"};
    for (unsigned i = 0; goes_on(); ++i) {
        stint_stat s;
        if (!stint_stat_get(names[i % 5], &s, sizeof s)) {
            CHECK(s.samples <= s.calls && s.samples * s.min_ns <= s.total_ns &&
                  s.total_ns <= s.samples * s.max_ns);
        }
        const stint_stat *here = stint_stat_here("round", sizeof(stint_stat));
        CHECK(!here || here->min_ns <= here->max_ns);
        stint_set_stat_get((stint_set *)set, "set", &s, sizeof s);
    }
    return NULL;
}

static void *change(void *unused) {
    struct timespec a_while = {0, 1000000};
    for (unsigned i = 0; goes_on(); ++i) {
        CHECK(!stint_filter_set(i % 2 ? "-filtered" : NULL));
        stint_level_set((int)(i % 3));
        nanosleep(&a_while, NULL);
    }
    return unused;
}

/* ---- All of them. */

static time_t seconds(void) {
    const char *text = getenv("HARD_SECONDS");
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 ? (time_t)n : 5;
}

static void run(struct sums *sums) {
    stint_set *set = stint_set_get("other");
    const struct {
        void *(*body)(void *);
        void *arg;
    } all[] = {{steady, NULL},       {record, set}, {record, NULL},
               {come_and_go, NULL},  {reset, sums}, {print, NULL},
               {export_files, NULL}, {get, set},    {change, NULL}};
    enum { THREADS = sizeof all / sizeof *all };
    pthread_t thread[THREADS];
    struct timespec left = {seconds(), 0};
    for (size_t i = 0; i < THREADS; ++i) {
        CHECK(!pthread_create(&thread[i], NULL, all[i].body, all[i].arg));
    }
    while (nanosleep(&left, &left)) {
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    threads_join(thread, THREADS);
}

/* Adds up the calls of names that no filter takes, and those of the other names. */
static void split(const struct snapshot *s, uint64_t *kept, uint64_t *other) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent != SNAPSHOT_NONE) {
            int is_other = !strcmp(s->sites[n->site].name, "filtered");
            *(is_other ? other : kept) += n->count + n->recursions;
        }
    }
}

TEST(concurrency, everything_at_once) {
    struct sums intervals = {0, 0}, whole = {0, 0};
    struct snapshot s;
    uint64_t kept = 0, other = 0;
    snprintf(directory, sizeof directory, "/tmp/stint-concurrency-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    setenv("STINT_OUTPUT", "/dev/null", 1);
    setenv("STINT_TRACE", "1M", 1);
    fake_step = 1;
    run(&intervals);
    add_interval(&intervals, 0);
    if (CHECK(!snapshot_take(&s))) {
        add_nodes(&s, &whole.calls, &whole.total);
        split(&s, &kept, &other);
        snapshot_free(&s);
    }
    CHECK_EQ_U64(intervals.calls, whole.calls);
    CHECK_EQ_U64(intervals.total, whole.total);
    CHECK_EQ_U64(kept, opened);
    CHECK(other <= filtered && other > 0 && (other < filtered || rounds < 10));
    CHECK_EQ_U64(lost_in_all(), lost(STINT_STATUS_CLOCK_BACK) + lost(STINT_STATUS_NO_TRACE));
    CHECK_EQ_U64(lost(STINT_STATUS_CLOCK_BACK), 0);
    printf("# %" PRIu64 " scopes, %" PRIu64 " reports\n", opened, rounds);
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    CHECK(system(command) == 0);
}

/* A writer that is in the middle of a sample a sixth of the time: total and count disagree. */
static struct stint_impl_node *half_written;
static uint64_t beats;

static void beat(unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
        STINT_IMPL_STORE(&beats, beats + 1);
    }
}

static void *write_slowly(void *unused) {
    stint_sample_add("slowly", STEADY);
    struct stint_impl_node *n = arena_at(newest_thread()->root);
    n = arena_at(n->child);
    __atomic_store_n(&half_written, n, __ATOMIC_RELEASE);
    while (goes_on()) {
        uint64_t seq = STINT_IMPL_LOAD(&n->seq);
        STINT_IMPL_STORE(&n->seq, seq + 1);
        beat(300);
        STINT_IMPL_PUBLISH(&n->total, n->total + STEADY);
        STINT_IMPL_PUBLISH(&n->seq, seq + 2);
        beat(1500);
    }
    return unused;
}

/* A snapshot that is taken while the writer is running does not show half a sample. */
TEST(concurrency, pictures_are_whole) {
    pthread_t thread;
    unsigned looks = 0, torn = 0;
    CHECK(!pthread_create(&thread, NULL, write_slowly, NULL));
    while (!__atomic_load_n(&half_written, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    for (time_t end = time(NULL) + 10; looks < 2000 && time(NULL) < end;) {
        struct snapshot s;
        uint64_t before = STINT_IMPL_LOAD(&beats);
        if (!CHECK(!snapshot_take(&s))) {
            break;
        }
        if (STINT_IMPL_LOAD(&beats) - before > 1800) {
            ++looks;
            torn += s.nodes[1].total != s.nodes[1].count * STEADY;
        }
        snapshot_free(&s);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    printf("# %u of %u torn\n", torn, looks);
    if (looks < 200) {
        SKIP("the two threads hardly ran at the same time");
    }
    CHECK(torn <= looks / 50);
}
