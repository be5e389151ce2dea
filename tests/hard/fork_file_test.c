/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks with run files: every process has its own, with its parent's number, and the parent's file
 * is what it would be without them.
 */
#include <sys/syscall.h>

#include "../run/run_support.h"
#include "harness_threads.h"
#include "recorded.h"
#include "system/lock.h"

static void work(const char *name, int n) {
    for (int i = 0; i < n; ++i) {
        timed(name, 1);
    }
}

/* ---- Children of children. */

#define DEPTH 6

/* Each but the last forks the next one, waits for it and goes on. */
static void generations(void) {
    pid_t child = 0;
    for (int i = 0; i <= DEPTH && !child; ++i) {
        work("generation", 3);
        child = i < DEPTH ? fork() : 0;
    }
    if (child) {
        CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    }
    work("generation", 4);
    CHECK_EQ_U64(calls_of("generation"), 7);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(fork_file, seven_generations) {
    run_begin("run-%p");
    run_body(generations);
    struct run_sum sum = run_sum("generation");
    CHECK_EQ_U64(sum.files, DEPTH + 1);
    CHECK_EQ_U64(sum.calls, 7 * (DEPTH + 1));
}

/* ---- A parent that is gone when the child records first. */

static pid_t grandparent;

static void daemonises(void) {
    int told[2];
    char byte;
    work("parent", 1);
    grandparent = getpid();
    CHECK(!pipe(told));
    pid_t child = fork();
    if (!child) {
        if (!fork()) {
            close(told[1]);
            CHECK(read(told[0], &byte, 1) == 0); /* all who could write have ended */
            work("daemon", 2);
            CHECK(arena_header()->parent_pid != 1 &&
                  arena_header()->parent_pid != (uint32_t)grandparent);
            _exit(0);
        }
        _exit(0);
    }
    CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    close(told[1]);
}

TEST(fork_file, an_orphan_knows_who_forked_it) {
    run_begin("run-%p");
    run_body(daemonises);
    while (run_sum("daemon").calls < 2) { /* a child of init now */
        usleep(10000);
    }
    struct run_sum sum = run_sum("daemon");
    CHECK_EQ_U64(sum.calls, 2);
    CHECK_EQ_U64(sum.orphans, 0);
    CHECK_EQ_U64(run_sum("parent").calls, 1);
}

/* Switches off LeakSanitizer in children. At exit, LeakSanitizer takes the locks of malloc. Locks
 * that another thread of the parent held at the fork are never released in the child, so that its
 * leak check would block without end. LeakSanitizer calls this function before a check
 * (sanitizer/lsan_interface.h); other builds ignore it. */
static int is_child;

__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
    return is_child;
}

/* ---- Children without fork handlers: _Fork is this system call, too. */

static pid_t clone_without_handlers(void) {
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* The thread sanitizer takes the child's new locks for those of the parent's threads. */
static int is_wiped_here(void) {
#if defined(__SANITIZE_THREAD__)
    return 0;
#endif
    lock_fork_watch();
    pid_t child = clone_without_handlers();
    if (!child) {
        _exit(!*lock_process_word);
    }
    return run_wait(child) != 0;
}

static void known(int n) {
    for (int i = 0; i < n; ++i) {
        REGISTER_TIMER("known");
        REGISTER_TIMER("inside");
        fake_advance(1);
    }
}

static void fresh(int n) {
    for (int i = 0; i < n; ++i) {
        REGISTER_TIMER("fresh");
        known(1);
    }
}

#define KNOWN 40 /* calls after which begin and end are inline */
static int runs_known, runs_fresh;

static void work_of_clone(void) {
    known(runs_known);
    fresh(runs_fresh);
    if (runs_known + runs_fresh) {
        CHECK_EQ_U64(calls_of("known"), (uint64_t)(runs_known + runs_fresh));
        CHECK_EQ_U64(lost_in_all(), 0);
        CHECK_EQ_U64(arena_header()->parent_pid, (uint64_t)getppid());
    }
    exit(0); /* the parent's file has no end yet */
}

static void *hold_registry(void *barrier) {
    lock_take(LOCK_REGISTRY);
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    lock_release(LOCK_REGISTRY);
    return NULL;
}

static void clones(void) {
    pthread_t t;
    pthread_barrier_t barrier;
    CHECK(!pthread_barrier_init(&barrier, NULL, 2));
    {
        REGISTER_TIMER("open");
        known(KNOWN);
        CHECK(!pthread_create(&t, NULL, hold_registry, &barrier));
        pthread_barrier_wait(&barrier);
        pid_t child = clone_without_handlers();
        if (!child) {
            is_child = 1;
            alarm(harness_child_seconds());
            work_of_clone();
        }
        CHECK_EQ_U64((uint64_t)run_wait(child), 0);
        pthread_barrier_wait(&barrier);
        CHECK(!pthread_join(t, NULL));
        known(KNOWN);
    }
    CHECK_EQ_U64(arena_header()->end.ticks, 0);
    CHECK_EQ_U64(calls_of("known"), 2 * KNOWN);
    CHECK_EQ_U64(calls_of("inside"), 2 * KNOWN);
    CHECK_EQ_U64(calls_of("open"), 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void check_clones(int known_calls, int fresh_calls) {
    run_begin("run-%p");
    runs_known = known_calls;
    runs_fresh = fresh_calls;
    run_body(clones);
    CHECK_EQ_U64(run_sum("known").calls, (uint64_t)(2 * KNOWN + known_calls + fresh_calls));
    CHECK_EQ_U64(run_sum("open").calls, 1);
}

/* With a lock that a thread of the parent has for ever. */
TEST(fork_file, a_child_without_fork_handlers_opens_new_known_and_no_scopes) {
    if (!is_wiped_here()) {
        SKIP("no MADV_WIPEONFORK here, or the thread sanitizer");
    }
    check_clones(0, 200);
    check_clones(100, 1);
    check_clones(0, 0);
}

/* ---- From a program in full swing. */

#define THREADS 3
#define CHILDREN 40
static int stop;

static void *busy(void *count) {
    char name[32];
    uint64_t n = 0;
    for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++n) {
        timed("busy", 1);
        if (n % 64 == 0) {
            snprintf(name, sizeof name, "name %u", (unsigned)(n / 64 % 100));
            timed(name, 1);
        }
    }
    *(uint64_t *)count = n;
    return NULL;
}

static pid_t (*make_child)(void) = fork;

static void full_swing(void) {
    pthread_t t[THREADS];
    uint64_t count[THREADS], sum = 0;
    threads_start(t, THREADS, busy, count, sizeof *count);
    for (int i = 0; i < CHILDREN; ++i) {
        REGISTER_TIMER("forking");
        pid_t child = make_child();
        if (!child) {
            is_child = 1;
            alarm(harness_child_seconds());
            work("child", 5);
            CHECK_EQ_U64(calls_of("busy"), 0);
            exit(0);
        }
        CHECK_EQ_U64((uint64_t)run_wait(child), 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(t[i], NULL);
        sum += count[i];
    }
    CHECK_EQ_U64(calls_of("busy"), sum);
    CHECK_EQ_U64(calls_of("forking"), CHILDREN);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void check_full_swing(void) {
#if defined(__SANITIZE_THREAD__)
    SKIP("the thread sanitizer does not support threads after a fork from many");
#endif
    run_begin("run-%p");
    run_body(full_swing);
    struct run_sum sum = run_sum("child");
    CHECK_EQ_U64(sum.files, CHILDREN);
    CHECK_EQ_U64(sum.calls, 5 * CHILDREN);
    CHECK_EQ_U64(run_sum("busy").files, 1);
    CHECK_EQ_U64(run_sum("forking").calls, CHILDREN);
}

TEST(fork_file, from_a_program_in_full_swing) {
    check_full_swing();
}

TEST(fork_file, without_fork_handlers_in_full_swing) {
    if (!is_wiped_here()) {
        SKIP("no MADV_WIPEONFORK here, or the thread sanitizer");
    }
    make_child = clone_without_handlers;
    check_full_swing();
}
