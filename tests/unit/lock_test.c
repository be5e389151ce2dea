/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock and fork: by another thread, by its holder, and by a signal handler that interrupted its
 * holder. What it guards is whole for whoever has it, and the child's is free.
 */
#include "base/lock.h"

#include "forking.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct lock_here here __attribute__((tls_model("initial-exec")));
static uint64_t left, right;    /* equal whenever nobody has the lock */
static int forgotten, was_held; /* in how many children on the way here, and in the last */

static void forget(void) {
    ++forgotten;
    was_held = here.held_for_fork;
}

LOCK_OVER_FORK(lock, here, here.inside, forget())

static int is_free(pthread_mutex_t *which) {
    int taken = !pthread_mutex_trylock(which);
    if (taken) {
        pthread_mutex_unlock(which);
    }
    return taken;
}

/* As whoever uses it: both are written apart, so that a second holder would show. */
static int is_whole(void) {
    lock_take(&lock, &here);
    int equal = left == right && here.inside;
    ++left;
    ++right;
    lock_release(&lock, &here);
    return equal && !here.inside;
}

static void expect_good(pid_t child) {
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQ_U64((uint64_t)status, 0);
}

/* Forks outside the lock. */
static void fork_plainly(void) {
    int before = forgotten;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(harness_child_seconds());
        CHECK(forgotten == before + 1 && was_held);
        CHECK(!here.inside && left == right && is_free(&lock));
        CHECK(is_whole());
        _exit(0);
    }
    expect_good(pid);
    CHECK(!here.inside && forgotten == before);
}

TEST(lock, is_free_in_parent_and_child) {
    fork_plainly();
    CHECK(is_free(&lock));
    CHECK(is_whole());
    fork_plainly();
}

/* ---- Another thread has it. */

static int holds, stop;

static void *hold_for_long(void *unused) {
    lock_take(&lock, &here);
    ++left;
    __atomic_store_n(&holds, 1, __ATOMIC_RELEASE);
    usleep(50000);
    ++right;
    lock_release(&lock, &here);
    /* The thread sanitizer takes one that has ended by the fork for forgotten in the child. */
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        usleep(1000);
    }
    return unused;
}

TEST(lock, fork_waits_for_another_holder) {
    pthread_t t;
    CHECK(pthread_create(&t, NULL, hold_for_long, NULL) == 0);
    while (!__atomic_load_n(&holds, __ATOMIC_ACQUIRE)) {
    }
    fork_plainly();
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(t, NULL);
    CHECK(is_whole());
}

static void *take_often(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        CHECK(is_whole());
    }
    return unused;
}

TEST(lock, fork_among_many_holders) {
    pthread_t t[2];
    for (int i = 0; i < 2; ++i) {
        CHECK(pthread_create(&t[i], NULL, take_often, NULL) == 0);
    }
    for (int i = 0; i < 50; ++i) {
        fork_plainly();
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; ++i) {
        pthread_join(t[i], NULL);
    }
    CHECK(is_whole());
}

/* ---- A signal handler that interrupted the holder forks, and returns in both. */

static pid_t child;

static void fork_in_handler(int number) {
    int before = forgotten;
    (void)number;
    child = fork();
    if (child == 0) {
        alarm(harness_child_seconds());
        is_child = 1;
        CHECK(forgotten == before + 1 && !was_held);
        CHECK(is_free(&lock)); /* for a handler that does not return, too */
    }
}

static void end_child(void) {
    if (is_child) {
        CHECK(is_whole());
        fork_plainly();
        CHECK(is_free(&lock));
        _exit(0);
    }
}

/* The thread sees no other one's change before it has let go itself. */
static void fork_while_holding(void) {
    stepping_install(SIGUSR1, fork_in_handler);
    lock_take(&lock, &here);
    uint64_t at = ++left;
    CHECK(raise(SIGUSR1) == 0);
    CHECK(here.inside);
    if (!is_child) {
        CHECK(!is_free(&lock));
        expect_good(child);
        usleep(20000); /* for whoever waits */
    }
    CHECK(left == at && ++right == at);
    lock_release(&lock, &here);
    end_child();
    CHECK(is_whole());
}

#if defined(__SANITIZE_THREAD__)
#define NEEDS_NEW_LOCKS() SKIP("the thread sanitizer knows no lock that is made anew while held")
#else
#define NEEDS_NEW_LOCKS()
#endif

TEST(lock, fork_in_a_handler_inside) {
    NEEDS_NEW_LOCKS();
    fork_while_holding();
    fork_plainly();
}

TEST(lock, others_go_on_waiting) {
    pthread_t t[2];
    NEEDS_NEW_LOCKS();
    for (int i = 0; i < 2; ++i) {
        CHECK(pthread_create(&t[i], NULL, take_often, NULL) == 0);
    }
    for (int i = 0; i < 10; ++i) {
        fork_while_holding();
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; ++i) {
        pthread_join(t[i], NULL);
    }
}

static void child_finds_it_free(void) {
    CHECK(is_free(&lock));
}

static void take_thrice(void) {
    for (int i = 0; i < 3; ++i) {
        lock_take(&lock, &here);
        lock_release(&lock, &here);
    }
}

TEST(lock, fork_after_every_instruction) {
    NEEDS_TRAP_FLAG();
    CHECK(is_whole()); /* the C library's functions are bound now */
    lives_on = child_finds_it_free;
    fork_all_over(take_thrice, end_child);
    CHECK(!here.inside && is_free(&lock) && is_whole());
}

/* ---- Inside, but without the lock. */

TEST(lock, visit) {
    int state;
    NEEDS_NEW_LOCKS();
    stepping_install(SIGUSR1, fork_in_handler);
    errno = 5;
    struct lock_visit v = lock_visit_begin(&here);
    CHECK(here.inside && is_free(&lock));
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    CHECK(raise(SIGUSR1) == 0);
    CHECK(here.inside && is_free(&lock));
    CHECK(!pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state));
    CHECK(state == PTHREAD_CANCEL_DISABLE);
    errno = 7;
    lock_visit_end(&here, v);
    CHECK(errno == 5 && !here.inside);
    CHECK(!pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state));
    CHECK(state == PTHREAD_CANCEL_ENABLE);
    end_child();
    expect_good(child);
    fork_plainly();
}

TEST(lock, another_mark_than_its_own) {
    pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
    struct lock_here mine = {0, 1};
    pthread_mutex_lock(&other);
    lock_before_fork(&other, &mine, 1); /* or it waits for itself */
    CHECK(!mine.held_for_fork && !mine.inside);
    lock_after_fork_parent(&other, &mine);
    CHECK(!is_free(&other));
    pthread_mutex_unlock(&other);
    lock_before_fork(&other, &mine, 0);
    CHECK(mine.held_for_fork && mine.inside && !is_free(&other));
    lock_after_fork_parent(&other, &mine);
    CHECK(!mine.inside && is_free(&other));
}

HARNESS_MAIN()
