/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of this process by name, for statistics of one name (stat.c). It is made by the first
 * such call and grows with each: a process that makes none pays for node_list.h alone, others 50 to
 * 70 bytes a name. With the interval's lock (interval.c).
 */
#ifndef STINT_NAME_INDEX_H
#define STINT_NAME_INDEX_H

#include "model/snapshot.h"

/* Finds the nodes of a name; none if it is not known. The choice refers to memory of the index,
 * until the next call. 0, or -1: for want of memory the index does not have all nodes. */
int name_index_find(struct snapshot_choice *out, const char *name);
/* In the child of a fork, with its arena. */
void name_index_forget(void);

#endif
