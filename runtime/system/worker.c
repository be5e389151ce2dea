/* SPDX-License-Identifier: Apache-2.0 */
#include "worker.h"

#include <pthread.h>

/* Returns whether the process is still the one that began; the child of a fork that a signal
 * handler made during the transition is another one. */
static int worker_step(struct worker *w, int transition) {
    uint32_t generation = w->generation;
    int state = w->state;
    lock_release(w->lock);
    state = w->ops->perform(transition, state);
    lock_take(w->lock);
    if (generation != w->generation) {
        return 0;
    }
    w->state = state;
    if (w->ops->settle) {
        w->ops->settle(state);
    }
    return 1;
}

/* As worker_run returns. */
static int worker_run_all(struct worker *w) {
    int is_first = 1;
    for (;;) {
        int transition = w->ops->choose(w->state, is_first);
        if (!transition) {
            break;
        }
        if (!worker_step(w, transition)) {
            return 0;
        }
        is_first = 0;
    }
    w->is_busy = 0;
    return 1;
}

int worker_run(struct worker *w) {
    int cancel;
    if (w->is_busy) {
        return 0;
    }
    /* A cancelled thread would leave the worker busy, and nothing would change any more. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    w->is_busy = 1;
    int done = worker_run_all(w);
    pthread_setcancelstate(cancel, NULL);
    return done;
}

void worker_forget(struct worker *w, int state) {
    ++w->generation;
    w->is_busy = 0;
    w->state = state;
}
