/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums per window of steps (struct arena_windows): a bounded number of windows, whose width doubles
 * when they are full. Pure: no lock, no arena.
 */
#ifndef STINT_WINDOWS_H
#define STINT_WINDOWS_H

#include "arena.h"

/* The bytes of a record with room for so many windows, and the seq after them. */
static inline uint64_t windows_bytes(uint32_t room) {
    return sizeof(struct arena_windows) + ((uint64_t)room + 1) * sizeof(struct arena_window);
}
/* Zeroed memory becomes a record without sums. room: even, 2 at least. */
void windows_start(struct arena_windows *w, uint32_t room);
/* Adds to the window of a step, from 0. One thread at a time; readers of the run file may come at
 * any time. */
void windows_add(struct arena_windows *w, uint64_t step, uint64_t ticks, uint64_t calls);

#endif
