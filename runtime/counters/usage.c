/* SPDX-License-Identifier: Apache-2.0 */
#include "usage.h"

#include <sys/resource.h>
#include <time.h>

#include "system/clock.h"

int usage_read_counts(uint64_t *values) {
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage)) {
        return -1;
    }
    values[USAGE_VOLUNTARY] = (uint64_t)usage.ru_nvcsw;
    values[USAGE_INVOLUNTARY] = (uint64_t)usage.ru_nivcsw;
    values[USAGE_MINOR] = (uint64_t)usage.ru_minflt;
    values[USAGE_MAJOR] = (uint64_t)usage.ru_majflt;
    return 0;
}

/* The wall time around the CPU time, which so is never the larger one. */
int usage_read_times(uint64_t *values, int at_end) {
    struct timespec cpu;
    if (!at_end) {
        values[USAGE_WALL] = clock_ns();
    }
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu)) {
        return -1;
    }
    if (at_end) {
        values[USAGE_WALL] = clock_ns();
    }
    values[USAGE_CPU] = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    return 0;
}
