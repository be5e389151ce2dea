/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot grouped for reading: the flat statistics (one row a name and set, or a name, set and
 * thread) and the call tree of all threads (one row a path). Times are nanoseconds from here on.
 */
#ifndef STINT_ROWS_H
#define STINT_ROWS_H

#include "snapshot.h"

struct stint_row {
    const char *name;
    const char *info; /* "" = none */
    uint64_t calls;
    uint64_t samples;
    uint64_t total_ns;
    uint64_t self_ns;
    uint64_t share_ppm; /* of the wall time */
    uint64_t avg_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t first_ns;
    uint64_t p50_ns;
    uint64_t p90_ns;
    uint64_t p99_ns;
    uint64_t threads;
    uint64_t open_ns; /* being inside right now, longest thread */
    uint32_t name_length;
    uint32_t name_id; /* equal for equal names */
    uint32_t set;
    uint32_t thread; /* index, or SNAPSHOT_NONE: all */
    uint32_t parent; /* tree: row index, or SNAPSHOT_NONE */
    uint32_t kind;
    uint32_t has_histogram;
};

struct rows {
    struct stint_row *row;
    uint32_t count;
};

/* Both live in the snapshot's memory. 0, or -1 without memory. */
int rows_flat(struct rows *out, struct snapshot *s, int each_thread);
int rows_tree(struct rows *out, struct snapshot *s);

#endif
