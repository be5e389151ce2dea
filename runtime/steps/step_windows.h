/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long each waiting scope waited per window of steps.
 */
#ifndef STINT_STEP_WINDOWS_H
#define STINT_STEP_WINDOWS_H

#include <stdint.h>

struct stint_impl_node;

/* Step number `step`, from 1, has ended. Any thread. Nothing happens in a program without waiting
 * scopes. */
void step_windows_add(uint64_t step);

/* The sums of the node's name and set by steps, or by its calls, in units; made if need be. 0: no
 * room is left. Under LOCK_STEP. */
uint32_t step_windows_get(const struct stint_impl_node *n, int by_calls);
/* Whether a scope of the node's name and set is around it: its time is in that one's. */
int step_windows_is_inside(const struct stint_impl_node *n);

#endif
