/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one scope costs here and now, measured on the inline path itself.
 */
#ifndef STINT_COST_H
#define STINT_COST_H

#include <stdint.h>

/* Ticks of one begin and end, times 1000; about 20 us of work. Nothing it does is recorded. */
uint64_t cost_ticks_x1000(void);

#endif
