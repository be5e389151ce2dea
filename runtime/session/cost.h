/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a call on this machine at this time, measured on the paths that scopes take with the
 * settings of this process.
 */
#ifndef STINT_COST_H
#define STINT_COST_H

#include <stdint.h>

/* Ticks times 1000, of one begin and end. */
struct cost {
    uint64_t timed;
    uint64_t recursive; /* a call inside an open one of its scope */
    uint64_t dynamic;   /* in addition, with a name made at run time */
    uint64_t sampled;   /* a timed call of a scope that STINT_SAMPLE samples; 0: it is not set */
    uint64_t untimed;   /* any other call of it */
    uint64_t reading;   /* in addition, of STINT_RUSAGE and STINT_COUNTERS; 0: not set */
    /* For corrected times: what of a timed call with little work in it is in its own time, and what
     * is not but in the time of the scope around it. */
    uint64_t inner;
    uint64_t outer;
    uint64_t sampled_inner;
    uint64_t sampled_outer;
    int ranges; /* NVTX ranges come with every scope, and are not in it */
};

/* Takes about 0.2 ms and records nothing. All 0 without memory. */
void cost_read(struct cost *out);
/* `sampled` alone, whether STINT_SAMPLE is set or not. */
uint64_t cost_sampled_x1000(void);

#endif
