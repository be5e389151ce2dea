/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions of two threads with work 1:3, and serial time between them; then tasks. It prints two
 * times by its own clock, in nanoseconds, between which the waiting in implicit barriers has to be,
 * whatever else the machine does: how long the thread that arrives first waits for the other one at
 * least, and the time from each thread's arrival to the end of its region.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define REGIONS 20

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_ms(int ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

int main(void) {
    int64_t arrived[2], waited = 0, most = 0;
    int sum = 0;
    for (int i = 0; i < REGIONS; ++i) {
#pragma omp parallel num_threads(2)
        {
            int me = omp_get_thread_num();
            pause_ms(me ? 30 : 10);
            arrived[me] = now();
        }
        int64_t apart = arrived[1] - arrived[0];
        waited += apart < 0 ? -apart : apart;
        most += 2 * now() - arrived[0] - arrived[1];
        pause_ms(50);
    }
    int64_t begun = now();
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(sum)
        {
#pragma omp critical
            ++sum;
        }
    }
    most += 2 * (now() - begun);
    printf("%lld %lld\n", (long long)waited, (long long)most);
    return sum != 10;
}
