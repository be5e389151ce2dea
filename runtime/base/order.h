/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sort of the library: a merge sort of numbers by a rule of the caller's, so stable, without a
 * worst case and without malloc. Parts that are in order already are only copied.
 */
#ifndef STINT_ORDER_H
#define STINT_ORDER_H

#include <stdint.h>

#include "scratch.h"

/* Whether a comes before b. */
typedef int (*order_rule)(const void *what, uint32_t a, uint32_t b);
/* The rule of an array of uint64_t: the smaller one first. */
int order_is_less(const void *numbers, uint32_t a, uint32_t b);

/* The numbers 0 to count - 1 in order. NULL without memory. */
uint32_t *order_by(struct scratch *memory, uint32_t count, order_rule before, const void *what);

/* The same in arrays of the caller's: the one of the two that has the result. */
uint32_t *order_in(uint32_t *order, uint32_t *spare, uint32_t count, order_rule before,
                   const void *what);
/* The same of the numbers that are in `order`. */
uint32_t *order_these(uint32_t *order, uint32_t *spare, uint32_t count, order_rule before,
                      const void *what);

#endif
