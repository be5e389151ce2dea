/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls functions of the public header, for prices.py to count what they execute: on the clock of
 * the tests, so that the counts do not vary.
 *
 *     prices NAMES THREADS NODES CALLS
 *
 * NAMES other names are recorded, and on each of THREADS threads the scope "wanted" with CALLS
 * calls in each of NODES places of the tree. Writes one line per counted call: the name of the
 * function.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_clock.h"
#include "stint/stint.h"

enum { BUCKETS = 704 };

static unsigned nodes, calls;
static pthread_barrier_t recorded, ended;
static stint_stat stat;
static stint_bucket buckets[BUCKETS];

/* Two octaves, and some outliers. */
static void record_wanted(unsigned i) {
    STINT_TIMER("wanted");
    fake_advance(100 + i % 40 * 5);
    if (i % 100 == 0) {
        fake_advance(i * 10);
    }
}

static void record_nodes(void) {
    char name[24];
    for (unsigned n = 0; n < nodes; ++n) {
        snprintf(name, sizeof name, "place %u", n);
        STINT_TIMER_DYNAMIC(name);
        for (unsigned i = 0; i < calls; ++i) {
            record_wanted(i);
        }
    }
}

static void *record_in_thread(void *unused) {
    record_nodes();
    pthread_barrier_wait(&recorded);
    pthread_barrier_wait(&ended);
    return unused;
}

static void call_stat_get(void) {
    stint_stat_get("wanted", &stat, sizeof stat);
}

static void call_stat_here(void) {
    stint_stat_here("wanted", sizeof stat);
}

static void call_stat_quantile(void) {
    stint_stat_quantile(NULL, "wanted", 990);
}

static void call_stat_histogram(void) {
    stint_stat_histogram(NULL, "wanted", buckets, BUCKETS);
}

static void call_stat_get_unknown(void) {
    stint_stat_get("not recorded", &stat, sizeof stat);
}

static void call_sample_add(void) {
    stint_sample_add("added", 1234);
}

static void call_now_us(void) {
    stint_now_us();
}

static void call_sender_here(void) {
    stint_sender_here();
}

static void call_scope_begin_end(void) {
    stint_scope_begin("bound");
    stint_scope_end("bound");
}

static void call_set_get(void) {
    stint_set_get("a set");
}

static int see_stat(void *data, const char *name, const stint_stat *s) {
    (void)data;
    (void)name;
    (void)s;
    return 0;
}

static int see_row(void *data, const stint_tree_row *row) {
    (void)data;
    (void)row;
    return 0;
}

static void call_stat_each(void) {
    stint_stat_each(NULL, see_stat, NULL);
}

static void call_tree_each(void) {
    stint_tree_each(see_row, NULL);
}

static void call_set_reset(void) {
    stint_set_reset(stint_set_get("a set"));
}

/* A reset is the last one: from then on each call subtracts. */
static const struct {
    const char *name;
    void (*call)(void);
} prices[] = {
    {"stint_stat_get", call_stat_get},
    {"stint_stat_get, no such name", call_stat_get_unknown},
    {"stint_stat_here", call_stat_here},
    {"stint_stat_quantile", call_stat_quantile},
    {"stint_stat_histogram", call_stat_histogram},
    {"stint_sample_add", call_sample_add},
    {"stint_scope_begin and stint_scope_end", call_scope_begin_end},
    {"stint_now_us", call_now_us},
    {"stint_sender_here", call_sender_here},
    {"stint_set_get", call_set_get},
    {"stint_stat_each", call_stat_each},
    {"stint_tree_each", call_tree_each},
    {"stint_set_reset", call_set_reset},
};

__attribute__((noinline)) void prices_counted(void (*call)(void));
void prices_counted(void (*call)(void)) {
    call();
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv) {
    pthread_t thread[16];
    char name[24];
    unsigned names = argc > 4 ? (unsigned)atoi(argv[1]) : 10;
    unsigned threads = argc > 4 ? (unsigned)atoi(argv[2]) : 1;
    nodes = argc > 4 ? (unsigned)atoi(argv[3]) : 1;
    calls = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
    if (threads < 1 || threads > sizeof thread / sizeof *thread) {
        return 2;
    }
    for (unsigned i = 0; i < names; ++i) {
        snprintf(name, sizeof name, "other %u", i);
        STINT_TIMER_DYNAMIC(name);
    }
    record_nodes();
    pthread_barrier_init(&recorded, NULL, threads);
    pthread_barrier_init(&ended, NULL, threads);
    for (unsigned i = 1; i < threads; ++i) {
        pthread_create(&thread[i], NULL, record_in_thread, NULL);
    }
    pthread_barrier_wait(&recorded);
    for (unsigned i = 0; i < sizeof prices / sizeof *prices; ++i) {
        prices[i].call();
        prices[i].call();
        prices_counted(prices[i].call);
        puts(prices[i].name);
    }
    pthread_barrier_wait(&ended);
    for (unsigned i = 1; i < threads; ++i) {
        pthread_join(thread[i], NULL);
    }
    return 0;
}
