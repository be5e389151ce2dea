/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mixed load for as long as it is told: soak SECONDS FOLDER. Nested and recursive scopes, names
 * made at run time, handles that end on other threads, scopes left by longjmp, threads that come
 * and go, end inside scopes or are cancelled there, a signal a millisecond whose handler is
 * instrumented, marks, reports, resets, exports. At its end it prints how many scopes it opened;
 * soak_test.py looks on from outside and compares.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <stint/stint.h>

#define NAMES 150
#define HANDLES 16
#define AT_ONCE 4 /* short threads */

static uint64_t opened; /* scopes and intervals; atomic */
static int stop;        /* relaxed */
static const char *folder;
static stint_set *other;

static void opens(void) {
    __atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
}

static int goes_on(void) {
    return !__atomic_load_n(&stop, __ATOMIC_RELAXED);
}

/* xorshift64*: each thread has its own. */
static uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

static void fail(const char *what) {
    fprintf(stderr, "soak: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- The pieces of the load. */

static void on_signal(int number) {
    (void)number;
    opens();
    REGISTER_TIMER("signal");
}

static unsigned recursive(unsigned depth) {
    opens();
    REGISTER_TIMER("recursive");
    TIMER_BYTES(depth);
    return depth ? recursive(depth - 1) + 1 : 1;
}

/* Each in itself and in one of two sets, deeper than the recorder goes. */
static unsigned deep(unsigned depth) {
    char name[32];
    snprintf(name, sizeof name, "depth %u", depth);
    opens();
    REGISTER_TIMER_DYNAMIC(name, -1, depth % 3 ? other : NULL);
    return depth ? deep(depth - 1) + 1 : 1;
}

static void run_time_name(uint64_t number) {
    char name[32];
    snprintf(name, sizeof name, "name %u", (unsigned)(number % NAMES));
    opens();
    REGISTER_TIMER_DYNAMIC(name);
    opens();
    REGISTER_TIMER("below a name");
}

__attribute__((noinline)) static void jump_out(jmp_buf *to) {
    opens();
    REGISTER_TIMER("jumped over");
    opens();
    REGISTER_TIMER("jumped over too");
    longjmp(*to, 1);
}

static void jumped(void) {
    jmp_buf back;
    opens();
    REGISTER_TIMER("jumps");
    if (!setjmp(back)) {
        jump_out(&back);
    }
}

static struct {
    pthread_mutex_t lock;
    int open;
    stint_timer timer;
} places[HANDLES];

/* A handle begun here ends wherever its place is wanted next. */
static void handles(uint64_t number, int may_begin) {
    size_t i = number % HANDLES;
    pthread_mutex_lock(&places[i].lock);
    if (places[i].open) {
        TIMER_END(places[i].timer);
    } else if (may_begin) {
        opens();
        TIMER_BEGIN(places[i].timer, "handle");
    }
    places[i].open = !places[i].open && may_begin;
    pthread_mutex_unlock(&places[i].lock);
}

static void by_name(void) {
    opens();
    if (!stint_scope_begin("by name")) {
        stint_scope_end("by name");
    }
    opens();
    stint_sample_add("added", 1000);
}

static void some(uint64_t *state) {
    opens();
    REGISTER_TIMER("some");
    for (int i = 0; i < 200; ++i) {
        opens();
        REGISTER_TIMER("short");
    }
    run_time_name(random_next(state));
    recursive((unsigned)(random_next(state) % 8));
    handles(random_next(state), 1);
    jumped();
    by_name();
    TIMER_MARK("mark");
    TIMER_VALUE("value", (double)*state);
}

/* ---- The threads. */

static void *works(void *seed) {
    uint64_t state = (uint64_t)(uintptr_t)seed;
    while (goes_on()) {
        some(&state);
        stint_step();
    }
    return NULL;
}

static void *short_life(void *seed) {
    uint64_t state = (uint64_t)(uintptr_t)seed;
    some(&state);
    if (state % 3 == 0) {
        opens();
        REGISTER_TIMER("left open");
        pthread_exit(NULL);
    }
    if (state % 3 == 1) {
        opens();
        REGISTER_TIMER("cancelled inside");
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    return NULL;
}

static void start(pthread_t *thread, void *(*body)(void *), uint64_t seed) {
    if (pthread_create(thread, NULL, body, (void *)(uintptr_t)seed)) {
        fail("pthread_create");
    }
}

static void *come_and_go(void *unused) {
    uint64_t state = 4711;
    pthread_t thread[AT_ONCE];
    while (goes_on()) {
        for (int i = 0; i < AT_ONCE; ++i) {
            start(&thread[i], short_life, random_next(&state) | 1);
        }
        for (int i = 0; i < AT_ONCE; ++i) {
            pthread_join(thread[i], NULL);
        }
    }
    return unused;
}

static void *reports(void *unused) {
    char path[512];
    struct timespec pause = {0, 50000000};
    stint_stat s;
    snprintf(path, sizeof path, "%s/export", folder);
    for (unsigned i = 0; goes_on(); ++i) {
        int failed = stint_report(i % 2 ? "table,threads" : "tree");
        failed |= i % 3 ? 0 : stint_report_and_reset();
        failed |= stint_export(path, i % 2 ? "json" : "csv");
        if (failed) {
            fail("a report");
        }
        deep(300); /* here, where no handle is open: each would be a parent of all these */
        stint_reset();
        stint_stat_get("some", &s, sizeof s);
        stint_filter_set(i % 8 == 7 ? "+*" : NULL); /* all again, of another gate */
        while (nanosleep(&pause, NULL) && goes_on()) {
        }
    }
    return unused;
}

static void *(*const bodies[])(void *) = {works, works, come_and_go, reports};
enum { BODIES = sizeof bodies / sizeof *bodies };

static pthread_barrier_t all_there;

static void see_all(uint64_t *state) {
    for (unsigned i = 0; i < NAMES; ++i) {
        opens();
        REGISTER_TIMER("some");
        run_time_name(i);
    }
    for (unsigned i = 0; i < 8 * HANDLES; ++i) {
        some(state);
    }
    deep(300);
}

/* Runs all a thread can run, on a thread of its own, often enough that every node has more than its
 * first samples, and so a histogram. The thread goes on when all the others have done the same. */
static void *sees_all(void *seed) {
    uint64_t state = (uint64_t)(uintptr_t)seed;
    for (unsigned i = 0; i < 2 * STINT_IMPL_RAW; ++i) {
        see_all(&state);
    }
    pthread_barrier_wait(&all_there);
    return short_life(seed);
}

/*
 * Starts the largest number of threads that can run at once, main among them. The scheduler decides
 * how many short threads meet, and the kernel which thread gets a signal. Without this function the
 * last block may be made and filled minutes later, which looks like growth.
 */
static void warm_up(void) {
    enum { MOST = 1 + BODIES + AT_ONCE }; /* a signal may come to any of them */
    pthread_t thread[MOST];
    pthread_barrier_init(&all_there, NULL, MOST);
    for (unsigned i = 0; i < MOST; ++i) {
        start(&thread[i], sees_all, i + 1);
    }
    for (unsigned i = 0; i < MOST; ++i) {
        pthread_join(thread[i], NULL);
    }
    pthread_barrier_destroy(&all_there);
}

static void signals_start(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval each = {{0, 1000}, {0, 1000}};
    if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &each, NULL)) {
        fail("setitimer");
    }
}

static void signals_stop(void) {
    struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &none, NULL);
}

static void wait_for(long seconds) {
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    do {
        struct timespec pause = {0, 50000000};
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

int main(int argc, char **argv) {
    pthread_t thread[BODIES];
    if (argc != 3) {
        fprintf(stderr, "usage: soak SECONDS FOLDER\n");
        return 2;
    }
    folder = argv[2];
    other = stint_set_get("other");
    for (size_t i = 0; i < HANDLES; ++i) {
        pthread_mutex_init(&places[i].lock, NULL);
    }
    warm_up();
    signals_start();
    for (size_t i = 0; i < BODIES; ++i) {
        start(&thread[i], bodies[i], i + 1);
    }
    wait_for(strtol(argv[1], NULL, 10));
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < BODIES; ++i) {
        pthread_join(thread[i], NULL);
    }
    signals_stop();
    for (size_t i = 0; i < HANDLES; ++i) {
        handles(i, 0);
    }
    printf("%llu\n", (unsigned long long)__atomic_load_n(&opened, __ATOMIC_RELAXED));
    return fflush(stdout) != 0;
}
