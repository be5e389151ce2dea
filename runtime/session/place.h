/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of this process in a parallel job: its rank and the number of ranks.
 */
#ifndef STINT_PLACE_H
#define STINT_PLACE_H

#include <stdint.h>

struct arena_job;

/* Enters what a launcher said. The registry's lock is held. */
void place_fill(void);
/* The rank of the process in its job, and the number of ranks, where no launcher told. */
void place_rank_seen(uint32_t rank, uint32_t size);
/* The arena's record of the place in a job, made if need be. NULL: no room, or a signal handler
 * interrupted the registry. */
struct arena_job *place_record(void);

#endif
