/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the sweep that work in order (activity_sweep.c) and late work
 * (activity_sweep_late.c) share.
 */
#ifndef STINT_ACTIVITY_SWEEP_PRIVATE_H
#define STINT_ACTIVITY_SWEEP_PRIVATE_H

#include "activity_sweep.h"

/* Adds the late work that waits (s->old) to s->base; the caller begins anew from there. */
void sweep_add_late(struct sweep *s);

/* ---- activity_sweep.c. */

/* By their start. */
int sweep_item_is_before(const void *what, uint32_t a, uint32_t b);

/* Asks when it was launched and by which thread, and keeps the answer: later it may be forgotten.
 * Returns the time, 0 = unknown. */
uint64_t sweep_find_launch(const struct sweep *s, struct sweep_item *item);
/* Finds the cause of a gap when only the hole is known. */
void sweep_judge_hole(struct hole *gap);

void sweep_sum_add(struct sweep_sum *sum, uint64_t start, uint64_t end);
/* Spans come in order of their start. */
void sweep_union_add(struct sweep_union *u, struct sweep_sum *sum, uint64_t start, uint64_t end);
/* A device was busy then, which was not known when the steps of that time ended. */
void sweep_step_raise(const struct sweep *s, struct sweep_device *d, uint64_t start, uint64_t end);
/* The device's work goes on from the end of what it ran, or begins anew at `start`. */
void sweep_step_extend(const struct sweep *s, const struct sweep_state *state,
                       struct sweep_device *d, uint64_t start, uint64_t end);

/* The lane of a device's work, and of its kernels (0) or copies (1). */
uint16_t sweep_get_lane(uint32_t device);
uint16_t sweep_get_kind_lane(uint32_t device, uint32_t which);
/* When the device began to be idle, after all that it ran; a break in tracing ends a hole. */
uint64_t sweep_get_idle_start(const struct sweep_device *d);
/* Work of that kind, in order. */
void sweep_put_kind(struct sweep *s, struct sweep_device *d, uint32_t device, uint32_t which,
                    uint64_t start, uint64_t end);

#endif
