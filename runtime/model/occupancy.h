/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theoretical occupancy: how many of the warps a multiprocessor can hold a kernel lets it hold.
 */
#ifndef STINT_OCCUPANCY_H
#define STINT_OCCUPANCY_H

#include "snapshot.h"

struct occupancy {
    uint32_t permille;   /* of its warps */
    uint32_t blocks;     /* on a multiprocessor at once */
    const char *limiter; /* "registers", "shared memory", "blocks", "block size"; "" at 1000 */
};

/* The occupancy of a kernel's configuration. 0, or -1 for another activity and for a device whose
 * limits are unknown. */
int occupancy_of(struct occupancy *out, const struct snapshot_device *d,
                 const struct snapshot_activity *a);

#endif
