/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open capture ranges of the process. Its user locks.
 */
#ifndef STINT_CAPTURE_RANGES_H
#define STINT_CAPTURE_RANGES_H

#include <pthread.h>
#include <stdint.h>

#include "capture_rules.h"

#define CAPTURE_RANGES 1024 /* open at once, inner ones too; more keep their balance, no more */

struct capture_range {
    const void *guard; /* its address; NULL: GPU_PROFILER_START */
    pthread_t thread;
    uint32_t generation;
    int rule;   /* the first that names it, -1 = none */
    int wanted; /* to be captured */
};

struct capture_ranges {
    uint32_t generation; /* forks that led here: older ranges are the parent's */
    unsigned count;
    unsigned unlisted[2]; /* blocks and starts that found no place */
    struct capture_range open[CAPTURE_RANGES];
};

/* Whether one of them is to be captured. */
int ranges_wanted(const struct capture_ranges *t);
/* wanted 0: whatever the rules say, which count it all the same. */
void ranges_open(struct capture_ranges *t, const void *guard, const char *name,
                 struct capture_rules *rules, int wanted);
/* guard NULL: the last start. -1 if there is no such range, nor one of the parent. */
int ranges_close(struct capture_ranges *t, const void *guard);
/* Those that are open are not to be captured. */
void ranges_unwant(struct capture_ranges *t);

#endif
