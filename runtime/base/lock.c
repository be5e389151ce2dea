/* SPDX-License-Identifier: Apache-2.0 */
#include "lock.h"

void lock_before_fork(pthread_mutex_t *lock, struct lock_here *here, int interrupted) {
    here->held_for_fork = !interrupted;
    if (here->held_for_fork) {
        lock_take(lock, here);
    }
}

void lock_after_fork_parent(pthread_mutex_t *lock, struct lock_here *here) {
    if (here->held_for_fork) {
        lock_release(lock, here);
    }
}

void lock_after_fork_child(pthread_mutex_t *lock, struct lock_here *here) {
    if (here->held_for_fork) {
        here->held_for_fork = 0;
        lock_release(lock, here);
    } else {
        pthread_mutex_init(lock, NULL);
    }
}
