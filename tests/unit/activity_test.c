/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for records of every kind: the clock, the scope they belong to, the counts of lost records,
 * any order of arrival, fork, threads, and lack of memory. Records are made by hand; the expected
 * sums are those of the records.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "activity_made.h"
#include "support.h"

TEST(activity, clock_counts_from_the_arena) {
    CHECK_EQ_U64(activity_clock(), 1); /* no arena, and never 0 */
    CHECK(!activity_open());
    CHECK_EQ_U64(activity_clock(), 1);
    fake_advance(123456789);
    CHECK_EQ_U64(activity_clock(), 123456789);
}

TEST(activity, nothing_before_it_is_open) {
    activity_launch(1);
    activity_step();
    activity_settle();
    activity_pause();
    add(kernel("k", 1, 10, 20));
    activity_begin();
    activity_device(0, &(struct gpu_device){.major = 9});
    CHECK(!activity_knows_device(0));
    activity_end();
    CHECK(!arena.base);
    CHECK(!activity_open());
    CHECK(!row_newest());
}

TEST(activity, kernel_goes_to_the_innermost_scope) {
    uint32_t outer, inner;
    CHECK(!activity_open());
    {
        REGISTER_TIMER("outer");
        outer = node_here();
        activity_launch(1);
        {
            REGISTER_TIMER("inner");
            inner = node_here();
            activity_launch(2);
        }
    }
    add(kernel("k", 1, 10, 20));
    add(kernel("k", 2, 30, 60));
    CHECK_EQ_U64(rows_of(ACTIVITY_KERNEL), 2);
    const struct arena_activity *a = row_newest();
    CHECK_EQ_U64(a->node, inner);
    CHECK_EQ_U64(a->total, 30);
    CHECK_STR_EQ(row_name(a), "k");
    a = row_next(a);
    CHECK_EQ_U64(a->node, outer);
    CHECK_EQ_U64(a->total, 10);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void recurse(int depth) {
    REGISTER_TIMER("recursive");
    activity_launch(3);
    if (depth) {
        REGISTER_TIMER("between");
        recurse(depth - 1);
    }
}

TEST(activity, recursive_scope_is_the_outermost_one) {
    CHECK(!activity_open());
    recurse(2);
    add(kernel("k", 3, 10, 20));
    const struct arena_activity *a = row(ACTIVITY_KERNEL, 0, "k");
    const struct stint_impl_node *n = arena_at(a->node);
    CHECK_EQ_U64(n->recursions, 2);
    CHECK_STR_EQ(arena_text_at(arena_site_at(n->site)->name)->bytes, "recursive");
}

TEST(activity, outside_of_all_scopes) {
    CHECK(!activity_open());
    activity_launch(1); /* no scope ever on this thread */
    { REGISTER_TIMER("s"); }
    activity_launch(2);
    add(kernel("k", 1, 10, 20));
    add(kernel("k", 2, 10, 20));
    CHECK_EQ_U64(row_newest()->node, 0);
    CHECK_EQ_U64(count_of(row_newest()), 2);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_UNKNOWN), 0);
}

TEST(activity, unknown_launch_is_counted) {
    CHECK(!activity_open());
    add(kernel("k", 7, 10, 20));
    add(kernel("k", 0, 10, 20));
    add(copy(0, 8, 10, 20, 1));
    add(of_kind(ACTIVITY_FILL, copy(0, 9, 10, 20, 1)));
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_UNKNOWN), 4);
    /* Records of other kinds need no launch. */
    add(call("cudaMalloc", 10, 10, 20));
    add(of_kind(ACTIVITY_SYNC, call(NULL, 11, 10, 20)));
    add(of_kind(ACTIVITY_OVERHEAD, call(NULL, 0, 10, 20)));
    add(of_kind(ACTIVITY_ALLOC, call(NULL, 12, 10, 20)));
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_UNKNOWN), 4);
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 2);
    CHECK_EQ_U64(row(ACTIVITY_KERNEL, 0, "k")->node, 0);
}

TEST(activity, times_that_cannot_be) {
    CHECK(!activity_open());
    fake_advance(1000000);
    uint64_t ms = 1000000;
    activity_launch(1);
    add(kernel("k", 1, 0, 0));
    add(kernel("k", 1, 0, 20));
    add(kernel("k", 1, 30, 20));
    add(kernel("k", 1, 30, 1000000 + ms + 1));
    add(kernel("k", 1, UINT64_MAX, UINT64_MAX));
    add(call("f", 1, 30, 20));
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_BAD), 6);
    CHECK(!row_newest());
    add(kernel("k", 1, 30, 30)); /* short, and a little ahead */
    add(kernel("k", 1, 30, 1000000 + ms));
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_BAD), 6);
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 2);
}

TEST(activity, kinds_nobody_knows_are_left_alone) {
    CHECK(!activity_open());
    add(of_kind(ACTIVITY_NONE, kernel("k", 1, 10, 20)));
    for (uint32_t kind = ACTIVITY_BUSY; kind < ACTIVITY_KINDS + 3; ++kind) {
        if (kind != ACTIVITY_UNIFIED) {
            add(of_kind(kind, kernel("k", 1, 10, 20)));
        }
    }
    CHECK(!row_newest());
}

/* A batch of copies is one record. */
TEST(activity, copies_of_a_batch) {
    CHECK(!activity_open());
    fake_advance(1000000);
    struct activity_record r = copy(ACTIVITY_COPY_BATCH, 1, 10, 10 + 1601, 170);
    activity_launch(1);
    r.copies = 16;
    add(r);
    const struct arena_activity *a = row(ACTIVITY_COPY, ACTIVITY_COPY_BATCH, NULL);
    CHECK_EQ_U64(count_of(a), 16);
    CHECK(a->total == 1601 && a->min == 100 && a->max == 101);
    CHECK(a->bytes == 170 && a->min_bytes == 10 && a->max_bytes == 11);
    CHECK(a->first_at == 10 && a->last_at == 10 + 1601);
    r.copies = 65537; /* more than there can be */
    add(r);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_BAD), 1);
    CHECK_EQ_U64(count_of(a), 16);
}

/* ---- Any order. */

#define PROGRAM 2000

static struct activity_record program[PROGRAM];
static unsigned program_length;

/* Calls of the runtime with one of the driver inside, calls of the driver alone, and what ran
 * because of them: one kernel, a graph of some, a copy, nothing. */
static void make_program(uint32_t first) {
    uint64_t seed = 7, at = 1000;
    unsigned n = 0;
    for (uint32_t id = first; n + 8 < PROGRAM; ++id, at += 10000) {
        uint64_t kind = random_next(&seed) % 5;
        uint64_t took = 1000 + random_next(&seed) % 1000;
        uint64_t run = at + random_next(&seed) % 5000;
        activity_launch(id);
        if (kind == 4) {
            program[n++] = of_kind(ACTIVITY_DRIVER, call("cuOne", id, at, at + took));
        } else {
            program[n++] = call("cudaOne", id, at, at + took);
            program[n++] = of_kind(ACTIVITY_DRIVER, call("cuInner", id, at + 1, at + took - 1));
        }
        for (uint64_t i = 0; i < kind; ++i) {
            program[n++] =
                i == 3 ? copy(1, id, run + 100 * i, run + 100 * i + took / 20, 64)
                       : kernel(i % 2 ? "a" : "b", id, run + 100 * i, run + 100 * i + took / 20);
        }
    }
    program_length = n;
}

static void shuffle_program(unsigned span) {
    uint64_t seed = 5;
    for (unsigned from = 0; span && from + span <= program_length; from += span) {
        for (unsigned i = span; i > 1; --i) {
            unsigned a = from + i - 1, b = from + (unsigned)(random_next(&seed) % i);
            struct activity_record r = program[a];
            program[a] = program[b];
            program[b] = r;
        }
    }
}

struct outcome {
    uint64_t rows;
    uint64_t digest;
    uint64_t launches;
    uint64_t driver;
};

/* Adds up all rows of a scope, whatever their order. */
static struct outcome outcome_of(uint32_t node) {
    struct outcome o = {0};
    for (const struct arena_activity *a = row_newest(); a; a = row_next(a)) {
        if (a->node == node) {
            uint64_t fields[] = {a->kind,
                                 a->detail,
                                 a->seq,
                                 a->total,
                                 a->min,
                                 a->max,
                                 a->bytes,
                                 a->first_at,
                                 a->last_at,
                                 a->launches,
                                 a->launch_total,
                                 a->delay_total,
                                 a->name ? (unsigned char)row_name(a)[strlen(row_name(a)) - 1] : 0};
            uint64_t h = 1;
            for (unsigned i = 0; i < sizeof fields / sizeof *fields; ++i) {
                h = (h ^ fields[i]) * 0x9e3779b97f4a7c15u;
                h ^= h >> 29;
            }
            o.digest += h;
            ++o.rows;
            o.launches += a->launches;
            o.driver += a->kind == ACTIVITY_DRIVER ? count_of(a) : 0;
        }
    }
    return o;
}

static struct outcome run_program(uint32_t first, unsigned span) {
    REGISTER_TIMER_DYNAMIC(span == PROGRAM ? "all" : span ? "some" : "none");
    make_program(first);
    shuffle_program(span < program_length ? span : program_length);
    activity_begin();
    for (unsigned i = 0; i < program_length; ++i) {
        activity_add(&program[i]);
    }
    activity_end();
    activity_settle();
    return outcome_of(node_here());
}

TEST(activity, any_order_gives_the_same_rows) {
    CHECK(!activity_open());
    fake_advance(100000000); /* longer than the program */
    struct outcome none = run_program(1, 0);
    struct outcome some = run_program(10001, 50), all = run_program(20001, PROGRAM);
    /* Gaps and the like go by the order of time, and overlap with those of the first program. */
    CHECK(none.rows > 5 && none.launches > 200 && none.driver > 50);
    CHECK_EQ_U64(some.launches, none.launches);
    CHECK_EQ_U64(all.launches, none.launches);
    CHECK_EQ_U64(some.driver, none.driver);
    CHECK_EQ_U64(all.driver, none.driver);
    CHECK_EQ_U64(rows_of(ACTIVITY_DRIVER), 3);
}

/* Every row the same, in an arena of its own. */
TEST(activity, any_order_gives_the_same_sums) {
    struct outcome *out =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < 3; ++i) {
        IN_CHILD() {
            CHECK(!activity_open());
            fake_advance(100000000);
            out[i] = run_program(1, i == 0 ? 0 : i == 1 ? 50 : PROGRAM);
        }
    }
    CHECK(out[0].rows > 5);
    CHECK_EQ_U64(out[1].rows, out[0].rows);
    CHECK_EQ_U64(out[1].digest, out[0].digest);
    CHECK_EQ_U64(out[2].digest, out[0].digest);
}

/* ---- fork. */

static void clean_child(void) {
    activity_launch(1);
    add(kernel("k", 1, 10, 20));
    activity_step();
    activity_settle();
    CHECK(!arena.base);
    CHECK(!activity_open());
    CHECK(!row_newest());
    {
        REGISTER_TIMER("child");
        activity_launch(1);
        add(kernel("k", 1, 10, 20));
        CHECK_EQ_U64(row_newest()->node, node_here());
    }
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(activity, child_starts_clean) {
    CHECK(!activity_open());
    activity_launch(1);
    add(kernel("k", 1, 10, 20));
    harness_in_child(clean_child);
    add(kernel("k", 1, 10, 20));
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 2);
    harness_in_child(clean_child);
}

/* Forks as a signal handler does that interrupted the thread between begin and end: the call ends
 * in the child, too. */
TEST(activity, fork_between_begin_and_end) {
    struct activity_record r = kernel("k", 1, 10, 20), other = kernel("other", 1, 10, 20);
    int status = 1;
#if defined(__SANITIZE_THREAD__)
    SKIP("the thread sanitizer takes the order of fork's locks for that of two threads");
#endif
    CHECK(!activity_open());
    activity_launch(1);
    activity_begin();
    activity_add(&r);
    pid_t child = fork();
    activity_add(&other);
    activity_add(&r);
    activity_end();
    if (!child) {
        alarm(harness_child_seconds());
        clean_child();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 2);
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "other")), 1);
}

static void fork_again(void) {
    harness_in_child(clean_child);
    clean_child();
}

TEST(activity, forgotten_twice) {
    CHECK(!activity_open());
    harness_in_child(fork_again);
    CHECK(!activity_open());
    activity_launch(1);
    add(kernel("k", 1, 10, 20));
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 1);
}

/* Activities of a handler that interrupts an activity are left out; the interrupted one goes on. */
TEST(activity, within_itself) {
    struct activity_record r = kernel("k", 1, 10, 20);
    CHECK(!activity_open());
    activity_launch(1);
    activity_begin();
    activity_add(&r);
    add(kernel("inner", 1, 10, 20));
    activity_settle();
    activity_pause();
    CHECK(activity_open() == -1);
    activity_add(&r);
    activity_end();
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 2);
    CHECK_EQ_U64(rows_of(ACTIVITY_KERNEL), 1);
    add(r);
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 3);
}

/* ---- Threads. */

#define LAUNCHES 20000u
#define LAUNCHERS 3u

static uint32_t next_correlation;                   /* atomic */
static uint32_t launched[LAUNCHES * LAUNCHERS + 1]; /* release */

static void *launcher(void *number) {
    const char *names[] = {"one", "two", "three"};
    for (unsigned i = 0; i < LAUNCHES; ++i) {
        REGISTER_TIMER_DYNAMIC(names[(uintptr_t)number]);
        uint32_t id = __atomic_add_fetch(&next_correlation, 1, __ATOMIC_RELAXED);
        activity_launch(id);
        __atomic_store_n(&launched[id], 1, __ATOMIC_RELEASE);
        if (i % 100 == 0) {
            activity_step();
        }
    }
    return NULL;
}

static void *reader(void *stop) {
    while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE)) {
        struct snapshot s;
        if (!interval_open(&s, 0)) {
            interval_close(&s);
        }
    }
    return NULL;
}

TEST(activity, threads_launch_while_another_adds) {
    pthread_t threads[LAUNCHERS + 1];
    int stop = 0;
    CHECK(!activity_open());
    for (uintptr_t i = 0; i < LAUNCHERS; ++i) {
        CHECK(!pthread_create(&threads[i], NULL, launcher, (void *)i));
    }
    CHECK(!pthread_create(&threads[LAUNCHERS], NULL, reader, &stop));
    for (uint32_t id = 1; id <= LAUNCHES * LAUNCHERS; ++id) {
        while (!__atomic_load_n(&launched[id], __ATOMIC_ACQUIRE)) {
            sched_yield();
        }
        add(kernel("k", id, 10, 20));
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i <= LAUNCHERS; ++i) {
        pthread_join(threads[i], NULL);
    }
    activity_settle();
    CHECK_EQ_U64(rows_of(ACTIVITY_KERNEL), LAUNCHERS);
    for (const struct arena_activity *a = row_newest(); a; a = row_next(a)) {
        CHECK(a->kind != ACTIVITY_KERNEL || count_of(a) == LAUNCHES);
    }
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* ---- Memory. */

TEST(activity, arena_full) {
    uint64_t added = 0, had = 0;
    char name[900];
    setenv("STINT_MEMORY", "1M", 1);
    CHECK(!activity_open());
    activity_launch(1);
    memset(name, 'k', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (; added < 10000; ++added) {
        snprintf(name, sizeof name, "%080u", (unsigned)added);
        name[80] = added % 3 ? 'k' : '\0';
        add(kernel(name, 1, 10, 20));
    }
    for (const struct arena_activity *a = row_newest(); a; a = row_next(a)) {
        had += a->kind == ACTIVITY_KERNEL && a->name ? count_of(a) : 0;
    }
    CHECK(had > 100);
    CHECK_EQ_U64(had + lost(STINT_STATUS_ACTIVITY_FULL), added);
    activity_settle();
    add(kernel("one more", 1, 10, 20));
    CHECK_EQ_U64(rows_of(ACTIVITY_BUSY), 0); /* no room for its row either */
}

TEST(activity, no_arena) {
    struct rlimit small = {(rlim_t)1 << 20, (rlim_t)1 << 20};
    if (SANITIZED) {
        SKIP("a sanitizer needs memory, too");
    }
    setenv("STINT_MEMORY", "1M", 1);
    CHECK(!setrlimit(RLIMIT_AS, &small));
    CHECK(activity_open() == -1);
    activity_launch(1);
    add(kernel("k", 1, 10, 20));
    activity_step();
    activity_settle();
}

static rlim_t more_memory;
static unsigned *failed_opens; /* shared with children */

/* Opens with an arena and `more_memory` bytes of addresses. */
static void open_with_limit(void) {
    struct rlimit all, limit;
    timed("scope", 1);
    rlim_t before = harness_mapped();
    CHECK(!getrlimit(RLIMIT_AS, &all));
    limit = all;
    limit.rlim_cur = before + more_memory;
    CHECK(!setrlimit(RLIMIT_AS, &limit));
    int result = activity_open();
    add(kernel("k", 1, 10, 20));
    CHECK(!setrlimit(RLIMIT_AS, &all));
    if (result) {
        ++*failed_opens;
        CHECK_EQ_U64(harness_mapped(), before);
        CHECK(!activity_open());
    }
}

/* Each table in turn is the first one without memory; the tables before it are freed. */
TEST(activity, no_tables) {
    if (SANITIZED) {
        SKIP("a sanitizer needs memory, too");
    }
    setenv("STINT_MEMORY", "1M", 1);
    failed_opens =
        mmap(NULL, sizeof *failed_opens, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(failed_opens != MAP_FAILED);
    CHECK(!activity_open()); /* loads what demangling needs */
    for (more_memory = 0; more_memory < (rlim_t)28 << 20; more_memory += (rlim_t)256 << 10) {
        harness_in_child(open_with_limit);
    }
    CHECK(*failed_opens > 20 && *failed_opens < 112);
}
