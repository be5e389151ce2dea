/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that calls of the GPU's API gave and took back: who, how much, and how much a device
 * holds. What was given before the tracer looked is not known when it comes back, and not counted.
 * Under the activity lock.
 */
#ifndef STINT_ACTIVITY_MEMORY_H
#define STINT_ACTIVITY_MEMORY_H

#include "activity.h"
#include "activity_device.h"

/* 0, or -1 without memory. */
int activity_memory_open(void);
void activity_memory_forget(void);
/* gpu NULL: of no device. */
void activity_memory_give(const struct activity_record *r, const struct activity_gpu *gpu,
                          uint32_t node);
void activity_memory_take(const struct activity_record *r, uint32_t node);

#endif
