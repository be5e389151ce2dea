/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declared bytes and operations over time, and how near that comes to what the device can do.
 */
#ifndef STINT_RATES_H
#define STINT_RATES_H

#include "rows.h"

/* From a row's sums; the peaks of the device its GPU time is of, 0 = unknown. */
void rates_fill(struct stint_row *r, uint64_t peak_bytes_per_s, uint64_t peak_flops_per_s);

#endif
