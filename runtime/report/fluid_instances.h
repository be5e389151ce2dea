/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators of one type, numbered in the order they were first seen: conv0, conv1, …
 */
#ifndef STINT_FLUID_INSTANCES_H
#define STINT_FLUID_INSTANCES_H

#include "read/rows.h"

struct fluid_instance {
    uint32_t type; /* name ids of struct stint_row */
    uint32_t name;
    uint64_t first_at;
    uint32_t number;
};

struct fluid_instances {
    struct fluid_instance *of; /* by type and name */
    uint32_t count;
};

/* Takes over an array in the snapshot's memory, in any order and with doubles; numbers are of no
 * matter yet. 0, or -1 without memory. */
int fluid_instances_number(struct fluid_instances *out, struct snapshot *s,
                           struct fluid_instance *found, uint32_t count);
/* SNAPSHOT_NONE for one that was not found. */
uint32_t fluid_instances_of(const struct fluid_instances *all, uint32_t type, uint32_t name);

#endif
