/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of scopes with the role waiting, in the order in which they were made: steps sum their
 * times (interval/step_windows.c).
 */
#ifndef STINT_WAITS_H
#define STINT_WAITS_H

#include <stdint.h>

#define WAITS_MOST 1024u /* nodes that are listed; the others are counted */

/* A new node of the process's arena, in units; any thread, and signal handlers. */
void waits_add(uint32_t unit);
/* The nodes that were added, WAITS_MOST at most. */
uint32_t waits_count(void);
/* The unit of one of them; 0: it is being added. */
uint32_t waits_node(uint32_t index);
/* The nodes that were added after WAITS_MOST. */
uint32_t waits_left_out(void);
/* Another number after each waits_forget. */
uint32_t waits_age(void);
/* In the child of a fork, with its arena. */
void waits_forget(void);

#endif
