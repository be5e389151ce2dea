/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads by the hundred thousand, five hundred at once, and such as are cancelled or end inside
 * scopes at any moment: nothing grows, and every scope opened is recorded or counted.
 */

#include "harness_threads.h"
#include "recorded.h"
#include "support.h"

#define SMALL_STACK ((size_t)128 << 10)

static pthread_attr_t small;

static void start(pthread_t *t, void *(*body)(void *), void *arg) {
    static int ready;
    if (!ready) {
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, SMALL_STACK);
        ready = 1;
    }
    if (!CHECK(pthread_create(t, &small, body, arg) == 0)) {
        exit(1);
    }
}

/* Resident memory, KiB. */
static long resident(void) {
    char text[64] = "";
    int fd = open("/proc/self/statm", O_RDONLY);
    CHECK(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    const char *second = strchr(text, ' ');
    return second ? atol(second) * (sysconf(_SC_PAGESIZE) / 1024) : 0;
}

static void *short_life(void *unused) {
    REGISTER_TIMER("short");
    REGISTER_TIMER_DYNAMIC("short.dynamic");
    fake_advance(1);
    return unused;
}

#define SHORT (SANITIZED ? 5000 : 100000)

TEST(threads, a_hundred_thousand_short_ones) {
    pthread_t t[2];
    long before = 0;
    uint64_t used = 0;
    for (int i = 0; i < SHORT; i += 2) {
        start(&t[0], short_life, NULL);
        start(&t[1], short_life, NULL);
        pthread_join(t[0], NULL);
        pthread_join(t[1], NULL);
        if (i == SHORT / 10) {
            before = resident();
            used = arena_used();
        }
    }
    CHECK(SANITIZED || resident() - before < 256);
    /* One more recorder is possible: the two threads may have run at the same time for the first
     * time later on. */
    CHECK(arena_used() - used < 32 << 10);
    CHECK(arena_header()->thread_count <= 2);
    CHECK_EQ_U64(calls_of("short"), SHORT);
    CHECK_EQ_U64(calls_of("short.dynamic"), SHORT);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* ---- At once. */

#define LIVE 512
static pthread_barrier_t all_alive, reported;

static void *long_life(void *number) {
    char name[24];
    snprintf(name, sizeof name, "own %u", (unsigned)(uintptr_t)number);
    for (int i = 0; i < 100; ++i) {
        REGISTER_TIMER("live");
        REGISTER_TIMER_DYNAMIC(name);
    }
    pthread_barrier_wait(&all_alive);
    REGISTER_TIMER("waiting");
    pthread_barrier_wait(&reported);
    return NULL;
}

TEST(threads, five_hundred_and_twelve_alive) {
    static pthread_t t[LIVE];
    pthread_barrier_init(&all_alive, NULL, LIVE + 1);
    pthread_barrier_init(&reported, NULL, LIVE + 1);
    for (uintptr_t i = 0; i < LIVE; ++i) {
        start(&t[i], long_life, (void *)i);
    }
    pthread_barrier_wait(&all_alive);
    char *said = report_of("table,threads,top=1000000");
    CHECK_EQ_U64(times_in(said, "\nlive "), LIVE);
    CHECK_EQ_U64(times_in(said, "\nown "), LIVE);
    CHECK_EQ_U64(arena_header()->thread_count, LIVE);
    pthread_barrier_wait(&reported);
    threads_join(t, LIVE);
    CHECK_EQ_U64(calls_of("live"), LIVE * 100);
    CHECK_EQ_U64(calls_of("own 511"), 100);
    CHECK_EQ_U64(calls_of("waiting"), LIVE);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* ---- Cancelled. What C leaves open is abandoned; with -fexceptions the guards are closed. */

struct victim {
    int anywhere;
    uint64_t opened; /* scopes */
    int rounds;      /* atomic */
};

#define NESTED(v, name)                                                                            \
    ++(v)->opened;                                                                                 \
    REGISTER_TIMER(name)

static void *victim(void *arg) {
    struct victim *v = arg;
    char name[24];
    if (v->anywhere) {
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    }
    for (;; __atomic_store_n(&v->rounds, v->rounds + 1, __ATOMIC_RELAXED)) {
        NESTED(v, "outer");
        NESTED(v, "middle");
        if (!v->anywhere) {
            snprintf(name, sizeof name, "name %d", v->rounds % 50);
            ++v->opened;
            REGISTER_TIMER_DYNAMIC(name);
            pthread_testcancel();
        }
        NESTED(v, "inner");
        fake_advance(1);
    }
    return NULL;
}

static uint64_t recorded_in_all(void) {
    struct snapshot s;
    uint64_t sum = 0;
    if (!CHECK(!interval_open(&s, 0))) {
        return 0;
    }
    for (uint32_t i = 0; i < s.node_count; ++i) {
        sum += s.nodes[i].count + s.nodes[i].recursions;
    }
    interval_close(&s);
    return sum;
}

#define CANCELLED 400

static void cancel_many(int anywhere, uint64_t *opened) {
    uint64_t used = 0;
    *opened = 0;
    for (int i = 0; i < CANCELLED; ++i) {
        struct victim v = {anywhere, 0, 0};
        pthread_t t;
        start(&t, victim, &v);
        for (int spin = 0; spin < i % 7 * 1000; ++spin) {
            __asm__ volatile("" ::: "memory");
        }
        while (!__atomic_load_n(&v.rounds, __ATOMIC_RELAXED)) {
            sched_yield();
        }
        pthread_cancel(t);
        pthread_join(t, NULL);
        *opened += v.opened;
        used = i == CANCELLED / 2 ? arena_used() : used;
    }
    CHECK(arena_used() - used < 16 << 10);
    CHECK_EQ_U64(arena_header()->thread_count, 1);
}

/* Everybody after them records as if nothing had been. */
static void check_next_ones(void) {
    uint64_t before = calls_of("short");
    pthread_t t;
    for (int i = 0; i < 100; ++i) {
        start(&t, short_life, NULL);
        pthread_join(t, NULL);
    }
    CHECK_EQ_U64(calls_of("short"), before + 100);
    CHECK_EQ_U64(lost(STINT_STATUS_IN_SLOW_PATH), 0);
}

TEST(threads, cancelled_inside_scopes) {
    uint64_t opened;
#if defined(__SANITIZE_ADDRESS__)
    SKIP("the address sanitizer's marks stay on a stack that cancellation unwound");
#endif
    cancel_many(0, &opened);
    CHECK_EQ_U64(recorded_in_all(), opened); /* with those that were left */
    CHECK_EQ_U64(lost_in_all(), lost(STINT_STATUS_ABANDONED));
    check_next_ones();
}

/* Threads are cancelled between any two instructions of known scopes. New scopes take a lock, and
 * POSIX lets no thread be cancelled there. */
TEST(threads, cancelled_anywhere) {
    uint64_t opened;
    if (SANITIZED) {
        SKIP("sanitizers do not survive asynchronous cancellation");
    }
    cancel_many(1, &opened);
    /* Each may have been cut off inside an opening or a closing. */
    uint64_t known = recorded_in_all();
    CHECK(known <= opened + CANCELLED && known + CANCELLED >= opened);
    check_next_ones();
}

static void *exits(void *unused) {
    REGISTER_TIMER("outer");
    REGISTER_TIMER("middle");
    if (!unused) {
        pthread_exit(NULL);
    }
    return unused;
}

TEST(threads, exit_inside_scopes) {
    pthread_t t;
    uint64_t used = 0;
    for (int i = 0; i < CANCELLED; ++i) {
        start(&t, exits, NULL);
        pthread_join(t, NULL);
        used = i ? used : arena_used();
    }
    CHECK_EQ_U64(arena_used(), used);
    CHECK_EQ_U64(calls_of("outer") + calls_of("middle"), 2 * CANCELLED);
    check_next_ones();
}

/* ---- Handles begun here and ended there. */

#define HANDLES 20000
static stint_timer handles[HANDLES];

static void *ends_handles(void *half) {
    for (int i = half ? 1 : 0; i < HANDLES; i += 2) {
        TIMER_END(handles[i]);
    }
    return NULL;
}

static void *begins_handles(void *unused) {
    for (int i = 0; i < HANDLES; ++i) {
        TIMER_BEGIN(handles[i], "handle");
    }
    return unused;
}

TEST(threads, handles_that_outlive_who_began_them) {
    pthread_t t[2];
    start(&t[0], begins_handles, NULL);
    pthread_join(t[0], NULL);
    fake_advance(10);
    start(&t[0], ends_handles, NULL);
    start(&t[1], ends_handles, handles);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    CHECK_EQ_U64(calls_of("handle"), HANDLES);
    CHECK_EQ_U64(stat_of("handle").total_ns, 10 * HANDLES);
    CHECK_EQ_U64(lost_in_all(), 0);
}
