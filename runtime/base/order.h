/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers 0 … count - 1 in an order of the caller's: merge sort, so stable, without a worst
 * case and without malloc.
 */
#ifndef STINT_ORDER_H
#define STINT_ORDER_H

#include <stdint.h>

#include "scratch.h"

/* Whether a stands before b. */
typedef int (*order_rule)(const void *what, uint32_t a, uint32_t b);

/* NULL without memory. */
uint32_t *order_by(struct scratch *memory, uint32_t count, order_rule before, const void *what);

#endif
