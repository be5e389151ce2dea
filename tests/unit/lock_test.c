/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of locks, and what waits until none is held. A lock and fork: by another thread, by its
 * holder, and by a signal handler that interrupted its holder. What it guards is whole for the
 * thread that has it, and the child's is free.
 */
#include "harness_threads.h"
#include "system/lock.h"

#include "forking.h"

#define TESTED LOCK_EVENTS /* its owner has nothing to forget here */

static uint64_t left, right;    /* equal whenever the lock is free */
static int forgotten, was_held; /* in how many children on the way here, and in the last */

static int marked; /* another mark than its own says that it was interrupted */

static int interrupted(void) {
    return marked || lock_inside(TESTED);
}

static void forget(int held) {
    ++forgotten;
    was_held = held;
}

/* Replaces the owner, whose constructor has run before. */
static void watch_tested(void) {
    static const struct lock_fork calls = {interrupted, forget};
    lock_over_fork(TESTED, &calls);
}

static int is_free(void) {
    int taken = !lock_try(TESTED);
    if (taken) {
        lock_drop(TESTED);
    }
    return taken;
}

/* Uses the lock as a client does. The two counters are written one after the other, so that a
 * second holder would show. */
static int is_whole(void) {
    lock_take(TESTED);
    int equal = left == right && lock_inside(TESTED);
    ++left;
    ++right;
    lock_release(TESTED);
    return equal && !lock_inside(TESTED);
}

/* Forks outside the lock. */
static void fork_plainly(void) {
    int before = forgotten;
    IN_CHILD() {
        CHECK(forgotten == before + 1 && was_held);
        CHECK(!lock_inside(TESTED) && left == right && is_free());
        CHECK(is_whole());
    }
    CHECK(!lock_inside(TESTED) && forgotten == before);
}

TEST(lock, is_free_in_parent_and_child) {
    watch_tested();
    fork_plainly();
    CHECK(is_free());
    CHECK(is_whole());
    fork_plainly();
}

/* ---- Another thread has it. */

static int holds, stop;

static void *hold_for_long(void *unused) {
    lock_take(TESTED);
    ++left;
    __atomic_store_n(&holds, 1, __ATOMIC_RELEASE);
    usleep(50000);
    ++right;
    lock_release(TESTED);
    /* The thread sanitizer takes one that has ended by the fork for forgotten in the child. */
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        usleep(1000);
    }
    return unused;
}

TEST(lock, fork_waits_for_another_holder) {
    watch_tested();
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
    watch_tested();
    pthread_t t[2];
    threads_start(t, 2, take_often, NULL, 0);
    for (int i = 0; i < 50; ++i) {
        fork_plainly();
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    threads_join(t, 2);
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
        CHECK(is_free()); /* for a handler that does not return, too */
    }
}

static void end_child(void) {
    if (is_child) {
        CHECK(is_whole());
        fork_plainly();
        CHECK(is_free());
        _exit(0);
    }
}

/* The thread sees no other one's change before it has let go itself. */
static void fork_while_holding(void) {
    stepping_install(SIGUSR1, fork_in_handler);
    lock_take(TESTED);
    uint64_t at = ++left;
    CHECK(raise(SIGUSR1) == 0);
    CHECK(lock_inside(TESTED));
    if (!is_child) {
        CHECK(!is_free());
        harness_ends_well(child);
        usleep(20000); /* for a waiting thread */
    }
    CHECK(left == at && ++right == at);
    lock_release(TESTED);
    end_child();
    CHECK(is_whole());
}

#if defined(__SANITIZE_THREAD__)
#define NEEDS_NEW_LOCKS() SKIP("the thread sanitizer knows no lock that is made anew while held")
#else
#define NEEDS_NEW_LOCKS()
#endif

TEST(lock, fork_in_a_handler_inside) {
    watch_tested();
    NEEDS_NEW_LOCKS();
    fork_while_holding();
    fork_plainly();
}

TEST(lock, others_go_on_waiting) {
    watch_tested();
    pthread_t t[2];
    NEEDS_NEW_LOCKS();
    threads_start(t, 2, take_often, NULL, 0);
    for (int i = 0; i < 10; ++i) {
        fork_while_holding();
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    threads_join(t, 2);
}

static void child_finds_it_free(void) {
    CHECK(is_free());
}

static void take_thrice(void) {
    for (int i = 0; i < 3; ++i) {
        lock_take(TESTED);
        lock_release(TESTED);
    }
}

TEST(lock, fork_after_every_instruction) {
    watch_tested();
    NEEDS_TRAP_FLAG();
    CHECK(is_whole()); /* the C library's functions are bound now */
    lives_on = child_finds_it_free;
    fork_all_over(take_thrice, end_child);
    CHECK(!lock_inside(TESTED) && is_free() && is_whole());
}

/* ---- Inside, but without the lock. */

TEST(lock, visit) {
    watch_tested();
    int state;
    NEEDS_NEW_LOCKS();
    stepping_install(SIGUSR1, fork_in_handler);
    errno = 5;
    struct lock_visit v = lock_visit_begin(TESTED);
    CHECK(lock_inside(TESTED) && is_free());
    lock_hold(TESTED);
    lock_drop(TESTED);
    CHECK(raise(SIGUSR1) == 0);
    CHECK(lock_inside(TESTED) && is_free());
    CHECK(!pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state));
    CHECK(state == PTHREAD_CANCEL_DISABLE);
    errno = 7;
    lock_visit_end(TESTED, v);
    CHECK(errno == 5 && !lock_inside(TESTED));
    CHECK(!pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state));
    CHECK(state == PTHREAD_CANCEL_ENABLE);
    end_child();
    harness_ends_well(child);
    fork_plainly();
}

TEST(lock, another_mark_than_its_own) {
    watch_tested();
    NEEDS_NEW_LOCKS();
    int before = forgotten;
    lock_hold(TESTED);
    marked = 1; /* or fork waits for itself */
    IN_CHILD() {
        CHECK(forgotten == before + 1 && !was_held && !lock_inside(TESTED));
        lock_drop(TESTED); /* once too often */
        marked = 0;
        CHECK(is_free() && is_whole());
    }
    CHECK(!is_free() && !lock_inside(TESTED));
    lock_drop(TESTED);
    marked = 0;
    CHECK(is_free());
    fork_plainly();
}

TEST(lock, renewed_in_a_child) {
    watch_tested();
    NEEDS_NEW_LOCKS();
    lock_take(TESTED);
    lock_renew(TESTED);
    CHECK(!lock_inside(TESTED) && !lock_any_held() && is_free());
}

/* ---- The order. */

/* Returns the wait status of a child that takes the second lock while it holds the first. */
static int take_both(enum lock_id first, enum lock_id second) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        close(STDERR_FILENO);
        alarm(harness_child_seconds());
        lock_take(first);
        lock_take(second);
        lock_release(second);
        lock_release(first);
        _exit(lock_any_held() ? 1 : 0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    return status;
}

TEST(lock, a_violation_of_the_order_is_caught) {
    watch_tested();
    for (int first = 0; first < LOCK_COUNT; ++first) {
        for (int second = 0; second < LOCK_COUNT; ++second) {
            int status = take_both((enum lock_id)first, (enum lock_id)second);
            if (first < second) {
                CHECK_EQ_U64((uint64_t)status, 0);
            } else {
                CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
            }
        }
    }
}

static void violate(NO_ARG) {
    pid_t pid = fork();
    if (pid == 0) {
        lock_take(LOCK_REGISTRY);
        lock_take(LOCK_STEP);
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
}

TEST(lock, a_violation_names_both) {
    watch_tested();
    char *said = harness_capture(STDERR_FILENO, violate, NULL);
    CHECK_STR_EQ(said, "stint: lock order: STEP is taken by a thread that holds REGISTRY "
                       "(runtime/system/lock_table.h)\n");
}

/* ---- What waits. */

static int calls;

static void count_call(void) {
    CHECK(!lock_any_held() && !lock_inside(LOCK_STEP) && !lock_inside(LOCK_REGISTRY));
    ++calls;
}

TEST(lock, a_call_waits_for_the_last_release) {
    watch_tested();
    lock_take(LOCK_STEP);
    lock_take(LOCK_REGISTRY);
    CHECK(lock_any_held());
    lock_when_free(count_call);
    lock_release(LOCK_REGISTRY);
    CHECK(lock_any_held() && calls == 0);
    lock_release(LOCK_STEP);
    CHECK(!lock_any_held() && calls == 1);
    lock_take(LOCK_STEP);
    lock_release(LOCK_STEP);
    CHECK_EQ_U64((uint64_t)calls, 1);
}

TEST(lock, a_call_of_the_parent_is_not_the_childs) {
#if defined(__SANITIZE_THREAD__)
    SKIP("the thread sanitizer takes the order of a fork in a handler for that of the program");
#else
    watch_tested();
    lock_take(LOCK_STEP);
    lock_when_free(count_call);
    IN_CHILD() { /* as in a signal handler: it does not wait for STEP */
        lock_release(LOCK_STEP);
        CHECK_EQ_U64((uint64_t)calls, 0);
    }
    CHECK_EQ_U64((uint64_t)calls, 0);
    lock_release(LOCK_STEP);
    CHECK_EQ_U64((uint64_t)calls, 1);
#endif
}

TEST(lock, trying_keeps_what_is_held) {
    watch_tested();
    lock_take(TESTED);
    CHECK(lock_try(TESTED) == -1 && lock_any_held());
    lock_release(TESTED);
    CHECK(!lock_any_held());
}
