/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of one scope on this machine at this time, measured on the inline path.
 */
#ifndef STINT_COST_H
#define STINT_COST_H

#include <stdint.h>

/* Ticks of one begin and end, times 1000. Takes about 20 us and records nothing. */
uint64_t cost_ticks_x1000(void);
/* The same of a timed call of a scope that STINT_SAMPLE samples. */
uint64_t cost_sampled_x1000(void);

#endif
