/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that ends: exits_program STORY. Each has recorded 5 "load" and 20 "matmul" under 5
 * "step" before, and is in "outer" and "inner" when it ends.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <stint/stint.h>

static void nap(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void work(void) {
    for (int i = 0; i < 5; ++i) {
        REGISTER_TIMER("step");
        { REGISTER_TIMER("load"); }
        for (int j = 0; j < 4; ++j) {
            REGISTER_TIMER("matmul");
        }
    }
}

static void handler_of_atexit(void) {
    REGISTER_TIMER("in atexit");
    stint_report("table");
}

static void handler_of_quick_exit(void) {
    REGISTER_TIMER("in at_quick_exit");
    stint_report("table");
}

static void handler_of_signal(int number) {
    REGISTER_TIMER("in the handler");
    _exit(100 + number);
}

/* ---- Ways out. */

static void by_exit(void) {
    exit(3);
}

static void by_quick_exit(void) {
    at_quick_exit(handler_of_quick_exit);
    quick_exit(4);
}

static void by_underscore_exit(void) {
    _exit(5);
}

static void by_kill(void) {
    kill(getpid(), SIGKILL);
    pause();
}

/* Faults in the program's own code, not in the library's. */
static void by_segv(void) {
    void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *(volatile int *)hole = 1;
}

static void by_handled_segv(void) {
    signal(SIGSEGV, handler_of_signal);
    by_segv();
}

static void by_pthread_exit(void) {
    pthread_exit(NULL);
}

static void *exits_from_here(void *unused) {
    REGISTER_TIMER("other thread");
    exit(unused ? 0 : 6);
}

static void by_another_thread(void) {
    pthread_t t;
    pthread_create(&t, NULL, exits_from_here, NULL);
    for (;;) {
        pause();
    }
}

static void by_exit_in_atexit(void) {
    atexit(handler_of_atexit);
    exit(7);
}

/* ---- Detached threads that record, start and report during the end. */

static void *never_ends(void *number) {
    char name[32];
    for (unsigned i = 0;; ++i) {
        REGISTER_TIMER("never ends");
        REGISTER_TIMER("inside");
        if (i % 256 == 0) {
            snprintf(name, sizeof name, "name %u of %u", i / 256 % 1000, *(unsigned *)number);
            REGISTER_TIMER_DYNAMIC(name);
        }
    }
    return NULL;
}

static void *works(void *unused) {
    work();
    return unused;
}

static void *starts_others(void *unused) {
    for (;;) {
        pthread_t t;
        if (!pthread_create(&t, NULL, works, NULL)) {
            pthread_join(t, NULL);
        }
    }
    return unused;
}

static void *resets(void *unused) {
    for (;;) {
        stint_reset();
        nap(1);
    }
    return unused;
}

static void among_detached_threads(void) {
    static unsigned numbers[3] = {0, 1, 2};
    pthread_attr_t detached;
    pthread_t t;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 3; ++i) {
        pthread_create(&t, &detached, never_ends, &numbers[i]);
    }
    pthread_create(&t, &detached, resets, NULL);
    nap(10);
    exit(0);
}

static void among_starting_threads(void) {
    pthread_t t;
    pthread_create(&t, NULL, starts_others, NULL);
    nap(10);
    exit(0);
}

static const struct story {
    const char *name;
    void (*end)(void);
} stories[] = {
    {"exit", by_exit},
    {"quick_exit", by_quick_exit},
    {"_exit", by_underscore_exit},
    {"abort", abort},
    {"kill", by_kill},
    {"segv", by_segv},
    {"handled_segv", by_handled_segv},
    {"pthread_exit", by_pthread_exit},
    {"other_thread", by_another_thread},
    {"atexit", by_exit_in_atexit},
    {"detached", among_detached_threads},
    {"starting", among_starting_threads},
};

static void stand_inside(void (*end)(void)) {
    REGISTER_TIMER("outer");
    nap(2);
    REGISTER_TIMER("inner");
    end();
}

int main(int argc, char **argv) {
    work();
    for (size_t i = 0; argc > 1 && i < sizeof stories / sizeof *stories; ++i) {
        if (!strcmp(argv[1], stories[i].name)) {
            stand_inside(stories[i].end);
        }
    }
    return argc > 1; /* no such story; without one, an end like any other */
}
