/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs are killed by kill -9 at random moments. The file then has all that was done, except for
 * at most one sample per thread. Each thread has a clock of its own, on which every scope takes 7
 * ticks.
 */
#include <pthread.h>

#include "run_support.h"

#define THREADS 4
#define ROUNDS (SANITIZED ? 40 : 200)

/* The clock of the test, which replaces fake_clock.c. */
uint64_t fake_now, fake_step;
static __thread uint64_t my_now = FAKE_START;

void fake_advance(uint64_t ns) {
    __atomic_fetch_add(&my_now, ns, __ATOMIC_RELAXED);
}

uint64_t stint_fake_ticks(void) {
    return __atomic_fetch_add(&my_now, 7, __ATOMIC_RELAXED);
}

struct published {
    uint64_t scopes; /* ended, by its own thread */
    char away[56];
};
static struct published *published;

#define SCOPE(n)                                                                                   \
    static void scope_##n(void) {                                                                  \
        REGISTER_TIMER("scope" #n);                                                                \
    }
SCOPE(0)
SCOPE(1)
SCOPE(2)
SCOPE(3)

static void *work(void *number) {
    static void (*const scopes[THREADS])(void) = {scope_0, scope_1, scope_2, scope_3};
    uintptr_t me = (uintptr_t)number;
    fake_advance(1000); /* a new thread's clock is before the file's start, where no event may be */
    for (;;) {
        scopes[me]();
        __atomic_store_n(&published[me].scopes, published[me].scopes + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void record(void) {
    pthread_t t;
    scope_0(); /* makes the file before another thread could: its start is by this clock */
    published[0].scopes = 1;
    for (uintptr_t i = 1; i < THREADS; ++i) {
        if (pthread_create(&t, NULL, work, (void *)i)) {
            exit(9);
        }
    }
    work(NULL);
}

static int is_near(uint64_t a, uint64_t b) {
    return a <= b + 1 && b <= a + 1;
}

static void check_nodes(const struct run_file *f) {
    unsigned found = 0;
    for (uint32_t i = 0; i < f->t.s.node_count; ++i) {
        const struct snapshot_node *n = &f->t.s.nodes[i];
        const char *name = f->t.s.sites[n->site].name;
        if (!n->site || strncmp(name, "scope", 5)) {
            continue;
        }
        const struct stint_impl_node *raw =
            (const struct stint_impl_node *)(const void *)(f->bytes +
                                                           (size_t)n->unit * STINT_IMPL_UNIT);
        ++found;
        CHECK(is_near(n->count, published[name[5] - '0'].scopes));
        CHECK(n->recursions == 0);
        if (raw->seq % 2 == 0) {
            CHECK_EQ_U64(n->total, 7 * n->count);
        } else {
            CHECK(n->total == 7 * n->count || n->total == 7 * (n->count - 1));
        }
        CHECK(n->min == 7 && n->max == 7);
    }
    CHECK_EQ_U64(found, THREADS);
}

/* Checks that the trace lacks at most one event per thread. */
static void check_trace(const struct run_file *f) {
    const struct traced *t = &f->t;
    CHECK_EQ_U64(t->t.lane_count, THREADS);
    traced_check(t);
    for (uint64_t i = 0; i < t->t.event_count; ++i) {
        if (!CHECK(t->events[i].duration_ns == 7 && t->events[i].depth == 0)) {
            break;
        }
    }
    for (uint32_t i = 0; i < t->t.lane_count; ++i) {
        const struct trace_lane *l = &t->t.lanes[i];
        const struct trace_event *last = traced_event(&f->t, l, l->count - 1);
        uint64_t all = published[traced_name(&f->t, last)[5] - '0'].scopes;
        CHECK(is_near(l->count + l->overwritten, all));
    }
}

static void kill_once(uint64_t *seed) {
    struct run_file f;
    uint64_t ready = 0;
    memset(published, 0, THREADS * sizeof *published);
    pid_t child = run_start(record);
    while (ready < THREADS) {
        ready = 0;
        for (unsigned i = 0; i < THREADS; ++i) {
            ready += __atomic_load_n(&published[i].scopes, __ATOMIC_ACQUIRE) != 0;
        }
        sched_yield();
    }
    usleep((useconds_t)(random_next(seed) % 3000));
    kill(child, SIGKILL);
    CHECK(WIFSIGNALED(run_wait(child)));
    if (CHECK(!run_load(&f, run_path("run")))) {
        CHECK_EQ_U64(run_header(&f)->end.ticks, 0);
        check_nodes(&f);
        check_trace(&f);
        run_unload(&f);
    }
}

static void kill_often(const char *trace) {
    uint64_t seed = (uint64_t)getpid() | 1;
    published = (struct published *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    run_begin("run");
    setenv("STINT_TRACE", trace, 1);
    for (int i = 0; i < ROUNDS / 2; ++i) {
        kill_once(&seed);
    }
    CHECK_EQ_U64(run_entries(NULL), 1);
}

TEST(kill, at_random_moments) {
    kill_often("1M");
}

TEST(kill, at_random_moments_with_short_rings) {
    kill_often("20K");
}
