/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the fluid report: the call tree as its options show it, copies hung into it, GPU time
 * beside CPU time.
 *
 * A scope has a row if a call of it ended in the interval and its level, set and name are wanted;
 * what is inside one that has none goes to the nearest row around it. Handles and added samples may
 * overlap anything and have none.
 */
#ifndef STINT_FLUID_ROWS_H
#define STINT_FLUID_ROWS_H

#include "model/report_form.h"
#include "model/rows.h"
#include "model/snapshot.h"

/* ---- fluid_instances.c: the operators of one type, numbered in the order they were first seen:
 * conv0, conv1, … */

struct fluid_instance {
    uint32_t type; /* name ids of struct stint_row */
    uint32_t name;
    uint64_t begin; /* of its first call, in ticks */
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

/* ---- fluid_rows.c */

/* Where a copy goes. */
enum fluid_way {
    FLUID_TO_GPU,
    FLUID_TO_CPU,
    FLUID_SAME_GPU,
    FLUID_OTHER_GPU,
    FLUID_ON_CPU,
    FLUID_ANY_WAY,
    FLUID_WAYS
};

/* Where GPU times come from. */
enum fluid_source { FLUID_NO_GPU, FLUID_EVENTS, FLUID_TRACER };

/* Times in nanoseconds. */
struct fluid_row {
    uint32_t tree;   /* row of the tree, or SNAPSHOT_NONE: copies */
    uint32_t parent; /* or SNAPSHOT_NONE */
    uint32_t thread; /* index; SNAPSHOT_NONE: all, or of copies: not known */
    uint32_t next;   /* further copies in the same row, + 1 */
    uint8_t async;
    uint8_t way;
    u128 calls;
    double cpu;
    double gpu;
    double total; /* CPU and GPU time together, or the one that the state is of */
    double min;   /* as said in docs/migrate_paddle.md: of the GPU time the average */
    double max;
    double ave;
    double ratio; /* of the total of all outermost rows of the thread, or of all threads */
    uint64_t first_end;
    u128 bytes;
};

/* Facts about a row of the tree that the rows do not have. */
struct fluid_scope {
    uint64_t begin; /* of the first call: ticks, UINT64_MAX: never */
    uint64_t first_end;
    double gpu; /* nanoseconds, as below */
    double min;
    double max;
    uint32_t row;    /* its own or the nearest around it, + 1; 0 = none */
    uint32_t number; /* as an instance of an operator; SNAPSHOT_NONE: it is none */
    uint8_t shown;   /* row is its own */
    uint8_t role;    /* STINT_ROLE_*, as level */
    uint8_t level;
    uint8_t dynamic; /* its name was made at run time */
    uint8_t inner;   /* a part of an operator */
    uint8_t in_op;   /* an operator is around it */
    uint8_t compute_inside;
};

struct fluid_bounds_table;

struct fluid_sheet {
    struct snapshot *snapshot;
    const struct report_options *options;
    struct rows rows;
    uint32_t *row_of; /* of a node its row in the tree */
    struct fluid_bounds_table *bounds;
    struct fluid_scope *scope;
    struct fluid_row *row;
    uint32_t count;
    double *threads; /* total of each; the last: of all threads, or of none known */
    double total;
    double computation;
    enum fluid_source source;
    int computes; /* some scope says that it does */
};

/* In the snapshot's memory. 0, or -1 without. `numbers`: made of the merged sheet, used by the one
 * of each thread. */
int fluid_sheet(struct fluid_sheet *out, struct snapshot *s, const struct report_options *o,
                int each_thread, struct fluid_instances *numbers);

/* ---- fluid_bounds.c: the shortest and the longest call of a node in the interval. The two of its
 * whole life are known; if one of them is from before the interval, the histogram says more, which
 * the nodes of a site share. */

struct fluid_bounds {
    uint64_t min; /* ticks */
    uint64_t max;
};

/* A table that keeps the bounds that were found. It is in the snapshot's memory; NULL without. */
struct fluid_bounds_table *fluid_bounds_new(struct snapshot *s);
struct fluid_bounds fluid_bounds(struct fluid_bounds_table *t, const struct snapshot *s,
                                 const struct snapshot_node *n);

/* The platform of the snapshot's devices, for the names of places. */
static inline const char *fluid_platform(const struct snapshot *s) {
    return gpu_words_platform(s->device_count ? &s->devices[0].words : NULL);
}

#endif
