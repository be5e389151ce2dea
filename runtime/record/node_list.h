/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A word for each node of the process's arena, outside of it: 4 bytes per 320 of the arena. At
 * first the words link the nodes in the order in which they were made. The reader that takes the
 * nodes uses their words for lists of its own.
 */
#ifndef STINT_NODE_LIST_H
#define STINT_NODE_LIST_H

#include <stdint.h>

/* A new node, in units; any thread, and signal handlers. */
void node_list_add(uint32_t unit);
/* Takes all nodes that were added, newest first, 0 = none; for one caller at a time. -1: there was
 * no memory for a word, so nodes are missing. */
int node_list_take(uint32_t *newest);
/* The word of a node that was taken: the next node, until the caller writes it. */
uint32_t *node_list_word(uint32_t unit);
/* In the child of a fork, with its arena. */
void node_list_forget(void);

#endif
