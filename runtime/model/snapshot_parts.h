/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between snapshot.c, which reads an arena, and the files that read a part of it each.
 */
#ifndef STINT_SNAPSHOT_PARTS_H
#define STINT_SNAPSHOT_PARTS_H

#include "snapshot.h"

struct arena_header;

#define SNAPSHOT_ACQUIRE(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

/* How often a value that a thread may be writing is read again. The fuzzer, where no thread writes,
 * sets it lower. */
#ifndef SNAPSHOT_TRIES
#define SNAPSHOT_TRIES 200
#endif
/* Tries for all records together, while threads record: a thread or GPU lane has one odd node; a
 * second of waiting. */
#define SNAPSHOT_PATIENCE (1000u * SNAPSHOT_TRIES)

/* Begins a snapshot with what the header of the arena says. 0, or -1: it is not an arena. */
int snapshot_read_head(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                       const struct clock_stamp *now);
/* The parts of one node, site or thread. The node's index has its unit, parent and thread. */
void snapshot_read_node(struct snapshot *s, uint32_t index, const struct stint_impl_node *n);
void snapshot_read_site(const struct snapshot *s, const struct arena_header *h, uint32_t id,
                        struct snapshot_site *out);
int snapshot_read_devices(struct snapshot *s, const struct arena_header *h);

/* In this order: names are read after the nodes, so that whatever a node names is there by then. 0,
 * or -1 without memory. */
int snapshot_read_threads(struct snapshot *s, const struct arena_header *h);
int snapshot_read_nodes(struct snapshot *s);
int snapshot_read_names(struct snapshot *s, const struct arena_header *h);
/* Reads the list that begins at that unit. */
int snapshot_read_activities(struct snapshot *s, uint32_t first);
int snapshot_take_back(struct snapshot *s);
/* The scopes that are open. */
int snapshot_read_open(struct snapshot *s);
/* Counts the samples that full buckets had no room for. A merged file says how many these were. */
int snapshot_count_full(struct snapshot *s);

/* While it is read, after an attempt at a record that failed: whether there is another one. */
int snapshot_try_again(struct snapshot *s, int tried);

/* A set of units of the arena, a bit each; NULL without memory. */
unsigned char *snapshot_units(struct snapshot *s);
/* Puts those of so many bytes from `unit` on into the set, which are in the arena. 0: one of them
 * is in it already, and nothing was put. */
int snapshot_units_take(unsigned char *units, uint32_t unit, uint32_t bytes);

#endif
