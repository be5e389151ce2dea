/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_SNAPSHOT_ACTIVITY_H
#define STINT_SNAPSHOT_ACTIVITY_H

#include "snapshot.h"

/* Reads the list that begins at that unit, after nodes and devices; for snapshot_read. 0, or -1
 * without memory. */
int snapshot_read_activities(struct snapshot *s, uint32_t first);

#endif
