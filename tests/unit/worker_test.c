/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The desired-state worker: transitions come one at a time, without the lock, and a request that is
 * made during one is served before the worker stops: from within it, from a signal handler, from
 * another thread. In the child of a fork the interrupted call changes nothing.
 */
#include "system/worker.h"

#include "harness_threads.h"

#define TESTED LOCK_EVENTS /* its owner has nothing to forget here */

enum { OFF, ON, FAILED };
enum { NOTHING, TURN_ON, TURN_OFF };

static const struct worker_ops ops;
static struct worker worker = {.ops = &ops, .lock = TESTED};

static int requested;               /* under the lock */
static int fails;                   /* a transition to ON does */
static int settled;                 /* the last state that was */
static unsigned performed;          /* transitions */
static int inside;                  /* performs under way */
static void (*in_the_middle)(void); /* of the next transition, once */

static int choose(int state, int is_first) {
    CHECK(lock_inside(TESTED) && lock_any_held());
    if (state == ON) {
        return requested ? NOTHING : TURN_OFF;
    }
    return requested && (state == OFF || is_first) ? TURN_ON : NOTHING;
}

static int perform(int transition, int state) {
    void (*call)(void) = in_the_middle;
    CHECK(!lock_any_held());
    CHECK(__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED) == 0);
    CHECK(transition == (state == ON ? TURN_OFF : TURN_ON));
    ++performed;
    in_the_middle = NULL;
    if (call) {
        call();
    }
    __atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED);
    if (transition == TURN_OFF) {
        return OFF;
    }
    return fails ? FAILED : ON;
}

static void settle(int state) {
    CHECK(lock_inside(TESTED) && state == worker.state);
    settled = state;
}

static const struct worker_ops ops = {.choose = choose, .perform = perform, .settle = settle};

static int request(int to) {
    lock_take(TESTED);
    requested = to;
    int done = worker_run(&worker);
    CHECK(lock_inside(TESTED) && lock_any_held());
    lock_release(TESTED);
    return done;
}

static void expect(int state, unsigned transitions) {
    CHECK(worker.state == state && !worker.is_busy);
    CHECK(settled == state);
    CHECK_EQ_U64(performed, transitions);
    CHECK(!lock_any_held() && !lock_inside(TESTED));
}

TEST(worker, performs_what_is_requested_once) {
    CHECK(request(0));
    expect(OFF, 0);
    CHECK(request(1));
    expect(ON, 1);
    CHECK(request(1));
    expect(ON, 1);
    CHECK(request(0));
    expect(OFF, 2);
}

TEST(worker, a_failed_transition_is_tried_once_per_run) {
    fails = 1;
    CHECK(request(1));
    expect(FAILED, 1);
    CHECK(request(1));
    expect(FAILED, 2);
    CHECK(request(0));
    expect(FAILED, 2);
    fails = 0;
    CHECK(request(1));
    expect(ON, 3);
}

/* ---- Requests during a transition. */

static void request_off(void) {
    CHECK(!request(0));
    CHECK(worker.is_busy && worker.state == OFF && performed == 1);
}

TEST(worker, request_from_within_the_transition) {
    in_the_middle = request_off;
    CHECK(request(1));
    expect(OFF, 2);
}

static void request_there_and_back(void) {
    CHECK(!request(0));
    CHECK(!request(1));
}

TEST(worker, the_last_request_holds) {
    in_the_middle = request_there_and_back;
    CHECK(request(1));
    expect(ON, 1);
}

static void handle_signal(int number) {
    (void)number;
    request_off();
}

static void raise_signal(void) {
    CHECK(raise(SIGUSR1) == 0);
}

TEST(worker, request_from_a_signal_handler) {
    signal(SIGUSR1, handle_signal);
    in_the_middle = raise_signal;
    CHECK(request(1));
    expect(OFF, 2);
}

static void *request_on_thread(void *unused) {
    request_off();
    return unused;
}

/* The other thread returns while the transition is still under way: this one waits for it. */
static void request_from_thread(void) {
    thread_run(request_on_thread, NULL);
}

TEST(worker, request_from_another_thread) {
    in_the_middle = request_from_thread;
    CHECK(request(1));
    expect(OFF, 2);
}

static void *request_often(void *last) {
    for (int i = 0; i < 2000; ++i) {
        request(i & 1);
    }
    request(*(const int *)last);
    return NULL;
}

TEST(worker, two_threads_at_once) {
    int last = 1;
    threads_run(2, request_often, &last, 0);
    expect(ON, performed);
    CHECK(performed % 2 == 1);
}

/* ---- Cancellation and fork. */

static int was_cancelled_late;

static void reach_cancellation_point(void) {
    CHECK(pthread_cancel(pthread_self()) == 0);
    pthread_testcancel();
    was_cancelled_late = 1;
}

static void *request_and_test(void *unused) {
    in_the_middle = reach_cancellation_point;
    CHECK(request(1));
    pthread_testcancel();
    CHECK(0 && "not cancelled");
    return unused;
}

TEST(worker, cancelled_after_the_transition) {
    thread_run(request_and_test, NULL);
    CHECK(was_cancelled_late);
    expect(ON, 1);
}

static pid_t child = -1;

static void forget_in_child(int held) {
    (void)held;
    worker_forget(&worker, OFF);
    settled = OFF;
    requested = 0;
}

static void fork_in_handler(int number) {
    (void)number;
    child = fork();
    if (child == 0) {
        alarm(harness_child_seconds());
        CHECK(worker.state == OFF && !worker.is_busy);
    }
}

TEST(worker, fork_within_the_transition) {
    static const struct lock_fork calls = {.in_child = forget_in_child};
    int status = 1;
    lock_over_fork(TESTED, &calls);
    signal(SIGUSR1, fork_in_handler);
    in_the_middle = raise_signal;
    int done = request(1);
    if (child == 0) {
        CHECK(!done);
        expect(OFF, 1); /* not ON, which is the parent's */
        CHECK(request(1));
        expect(ON, 2);
        _exit(0);
    }
    CHECK(done);
    expect(ON, 1);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQ_U64((uint64_t)status, 0);
}
