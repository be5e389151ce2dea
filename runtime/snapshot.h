/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture of an arena at one moment: every node of every thread, read without stopping anybody
 * and checked as if it came from a stranger's file (bounds, cycles, counts). Immutable once taken;
 * reports see nothing else.
 */
#ifndef STINT_SNAPSHOT_H
#define STINT_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "scratch.h"
#include "status.h"
#include "stint/impl_layout.h"

#define SNAPSHOT_NONE UINT32_MAX

struct snapshot_node {
    uint64_t count;
    uint64_t total; /* ticks, as all times here */
    uint64_t min;
    uint64_t max;
    uint64_t first;
    uint64_t recursions;
    uint64_t open; /* ticks since it was opened, if it is open */
    uint64_t first_at;
    uint64_t max_at;
    uint64_t children; /* total and open time of its nested scopes */
    uint32_t unit;
    uint32_t site;
    uint32_t set;
    uint32_t kind;
    uint32_t parent; /* index, SNAPSHOT_NONE for a root; always before the node itself */
    uint32_t thread;
    uint32_t histogram;
    uint32_t loose; /* SNAPSHOT_LOOSE_*: not exact, take the histogram's bound */
    char info[STINT_IMPL_INFO];
};
#define SNAPSHOT_LOOSE_MIN 1u
#define SNAPSHOT_LOOSE_MAX 2u

struct snapshot_open {
    uint32_t node;
    uint64_t ticks; /* since it was opened */
};

struct snapshot_thread {
    uint32_t tid;
    uint32_t alive;
    uint32_t uses;
    uint32_t root;
    uint32_t open_count;
    char name[16];
    struct snapshot_open *open; /* outermost first */
    const struct stint_impl_frame *frames;
};

struct snapshot_site {
    const char *name;
    uint32_t length;
    uint32_t line;
    const char *file;
    uint8_t level;
    uint8_t role;
};

struct baseline;

struct snapshot {
    struct scratch memory;
    const char *base; /* what was read */
    uint64_t size;
    struct clock_stamp now;
    double ns_per_tick;
    uint64_t wall_ns; /* since the run or the interval began */
    struct snapshot_thread *threads;
    uint32_t thread_count;
    struct snapshot_node *nodes;
    uint32_t node_count;
    struct snapshot_site *sites; /* by id; 0 is unused */
    uint32_t site_count;
    const char **sets; /* names by id */
    uint32_t set_count;
    uint64_t lost[STINT_STATUS_COUNT];
    const struct baseline *since;
    uint32_t *index; /* unit -> node, open addressing */
    uint32_t index_mask;
};

/* Reads an arena of `size` bytes in use, in full. 0, or -1 with nothing to free: no memory, or not
 * an arena. Safe while threads record. */
int snapshot_read(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                  const struct clock_stamp *now);
/* The process's own. -1 also when nothing was ever recorded. */
int snapshot_take(struct snapshot *s);
/* Again, after a change of totals: every node's nested time. */
void snapshot_sum_children(struct snapshot *s);
void snapshot_free(struct snapshot *s);

/* The index of the node at that place of the arena, or SNAPSHOT_NONE. */
uint32_t snapshot_node_of(const struct snapshot *s, uint32_t unit);
/* A checked pointer to `bytes` bytes at a unit, or NULL. */
const void *snapshot_at(const struct snapshot *s, uint32_t unit, uint64_t bytes);
static inline uint64_t snapshot_ns(const struct snapshot *s, uint64_t ticks) {
    return (uint64_t)((double)ticks * s->ns_per_tick);
}

#endif
