/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library as it is shipped, on the clock it chose: scopes whose two ends are on different
 * processors. Where the kernel trusts the counter its processors agree on it; what is seen of
 * them when they do not is a sample less, and a line that says so, never one of 584 years.
 */
#include <sched.h>
#include <time.h>

#include <stint/stint.h>

#include "harness_threads.h"

#define HOPS 2000

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static cpu_set_t allowed;

/* The number of the processor after that one. */
static size_t next_cpu(size_t cpu) {
    do {
        cpu = (cpu + 1) % CPU_SETSIZE;
    } while (!CPU_ISSET(cpu, &allowed));
    return cpu;
}

static size_t hop(size_t cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    cpu = next_cpu(cpu);
    CPU_SET(cpu, &one);
    CHECK(!sched_setaffinity(0, sizeof one, &one));
    return cpu;
}

static void *hops(void *arg) {
    static __thread stint_timer h;
    size_t cpu = *(size_t *)arg;
    for (int i = 0; i < HOPS; ++i) {
        REGISTER_TIMER("outer");
        TIMER_BEGIN(h, "handle");
        cpu = hop(cpu);
        {
            REGISTER_TIMER("inner");
            cpu = hop(cpu);
        }
        TIMER_END(h);
        { REGISTER_TIMER("short"); }
    }
    return NULL;
}

static void print(NO_ARG) {
    CHECK(!stint_report("table"));
}

/* The number of dropped samples in the report. */
static uint64_t dropped(void) {
    char *text = harness_capture(2, print, NULL);
    char *line = text ? strstr(text, " samples dropped because the clock stepped back") : NULL;
    uint64_t n = 0;
    while (line && line > text && line[-1] >= '0' && line[-1] <= '9') {
        --line;
    }
    if (line) {
        n = strtoull(line, NULL, 10);
    }
    return n;
}

enum { THREADS = 2 };

TEST(clock_migrate, scopes_that_end_on_another_processor) {
    static const char *const names[] = {"outer", "handle", "inner", "short"};
    pthread_t thread[THREADS];
    size_t start[THREADS];
    uint64_t calls = 0;
    CHECK(!sched_getaffinity(0, sizeof allowed, &allowed));
    if (CPU_COUNT(&allowed) < 2) {
        SKIP("one processor");
    }
    uint64_t from = now_ns();
    for (size_t i = 0; i < THREADS; ++i) {
        start[i] = i;
        CHECK(!pthread_create(&thread[i], NULL, hops, &start[i]));
    }
    threads_join(thread, THREADS);
    uint64_t wall = now_ns() - from;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        stint_stat s;
        CHECK(!stint_stat_get(names[i], &s, sizeof s));
        CHECK(s.max_ns <= wall + wall / 100);
        CHECK(s.total_ns <= THREADS * (wall + wall / 100));
        CHECK(s.samples * s.min_ns <= s.total_ns && s.total_ns <= s.samples * s.max_ns);
        calls += s.samples;
    }
    CHECK_EQ_U64(calls + dropped(), 4 * THREADS * HOPS);
}
