/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex that is held to the end of the block, on every way out of it. */
#ifndef STINT_TESTS_LOCKED_H
#define STINT_TESTS_LOCKED_H

#include <pthread.h>

static inline pthread_mutex_t *locked_take(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    return mutex;
}

static inline void locked_drop(pthread_mutex_t **mutex) {
    pthread_mutex_unlock(*mutex);
}

/* taken: a call that takes a mutex and returns it. */
#define LOCKED_BY(taken)                                                                           \
    __attribute__((cleanup(locked_drop), unused)) pthread_mutex_t *locked = (taken)
#define LOCKED(mutex) LOCKED_BY(locked_take(mutex))

#endif
