/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a test: started, with an argument each, and waited for. */
#ifndef STINT_TESTS_HARNESS_THREADS_H
#define STINT_TESTS_HARNESS_THREADS_H

#include <pthread.h>

#include "harness.h"

/* Starts `count` threads. The argument of each is `step` bytes behind the one before. */
HARNESS_FN void threads_start(pthread_t *thread, unsigned count, void *(*body)(void *), void *arg,
                              size_t step) {
    for (unsigned i = 0; i < count; ++i) {
        CHECK(!pthread_create(&thread[i], NULL, body, arg ? (char *)arg + i * step : NULL));
    }
}

HARNESS_FN void threads_join(const pthread_t *thread, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        CHECK(!pthread_join(thread[i], NULL));
    }
}

/* Runs at most 64 threads at once, up to the end of all. */
HARNESS_FN void threads_run(unsigned count, void *(*body)(void *), void *arg, size_t step) {
    pthread_t thread[64];
    if (CHECK(count <= sizeof thread / sizeof *thread)) {
        threads_start(thread, count, body, arg, step);
        threads_join(thread, count);
    }
}

/* Runs one thread up to its end; returns its result. */
HARNESS_FN void *thread_run(void *(*body)(void *), void *arg) {
    pthread_t thread;
    void *result = NULL;
    CHECK(!pthread_create(&thread, NULL, body, arg) && !pthread_join(thread, &result));
    return result;
}

#endif
