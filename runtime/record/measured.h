/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a node besides its times: the side that writes. */
#ifndef STINT_MEASURED_H
#define STINT_MEASURED_H

#include "arena/measures.h"
#include "thread.h"

/* The block of a group, NULL if the node has none yet. Any thread. */
struct arena_measures *measured_find(char *base, const struct stint_impl_node *n,
                                     enum measure_group group);
/* The same, made if need be, all 0. NULL without memory, counted as lost. The node's owner; its
 * signal handlers may do the same in between. */
struct arena_measures *measured_get(struct thread_block *b, struct stint_impl_node *n,
                                    enum measure_group group);
/* The same, with so many bytes after the numbers that a reader does not look at. */
struct arena_measures *measured_get_with(struct thread_block *b, struct stint_impl_node *n,
                                         enum measure_group group, uint32_t bytes);

#endif
