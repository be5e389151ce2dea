/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of nodes without that of the scopes nested in them.
 */
#ifndef STINT_OWN_TIME_H
#define STINT_OWN_TIME_H

#include "snapshot.h"

/* Sets inside, splits and own of all nodes. */
void own_times(struct snapshot *s);

#endif
