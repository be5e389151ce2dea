/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of nodes of which not every call is timed (STINT_SAMPLE), with their errors.
 */
#ifndef STINT_ESTIMATE_H
#define STINT_ESTIMATE_H

#include "snapshot.h"

/* Sets calls, scaled, own and their variances of all nodes. */
void estimate_nodes(struct snapshot *s);
/* Reads the sums of a node at a unit of the arena; all 0 if there are none. */
void estimate_read(struct snapshot_sampled *out, const struct snapshot *s, uint32_t unit);
/* Leaves of the sums what came after `then`. */
void estimate_subtract(struct snapshot_sampled *out, const struct snapshot_sampled *then);

#endif
