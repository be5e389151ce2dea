/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of GPU events, added up in the arena: one record per node, and the devices they ran on.
 * Under the event pool's lock.
 */
#ifndef STINT_EVENT_SUMS_H
#define STINT_EVENT_SUMS_H

#include "gpu.h"

/* Sums for one node, in units; 0 without memory. Also without the lock. */
uint32_t event_sums_new(void);
/* One sample; device in units, 0 = unknown. */
void event_sums_add(uint32_t sums, uint32_t device, uint64_t ns);
/* The record of a device, made at the first call for its number and its vendor's words; 0 without
 * memory. Also without the lock. */
uint32_t event_sums_device(int number, const struct gpu_words *words, const struct gpu_device *d);

#endif
