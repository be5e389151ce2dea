/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot grouped for reading: the flat statistics (one row a name and set, or a name, set and
 * thread) and the call tree of all threads (one row a path). Times are nanoseconds from here
 * on. */
#ifndef STINT_ROWS_H
#define STINT_ROWS_H

#include "snapshot.h"

/* The values that a row has. */
#define ROW_SAMPLES 1u
#define ROW_HISTOGRAM 2u
#define ROW_FIRST 4u
#define ROW_GPU_HISTOGRAM 16u /* ROW_GPU is that of the group of measures */
#define ROW_BYTES 32u         /* declared, and a time to divide them by */
#define ROW_FLOPS 64u
#define ROW_BOUND 128u /* both, and their peaks */
#define ROW_DEVICE 256u
#define ROW_SELF 512u
#define ROW_COUNTED 1024u /* by counters of the processor or of the kernel */
#define ROW_MULTIPLEXED 2048u
#define ROW_PARTIAL 4096u      /* calls were not timed, in a file of before: a lower bound */
#define ROW_SELF_PARTIAL 8192u /* the same of it or of scopes right inside: no bound of self */
#define ROW_STDDEV 16384u      /* all samples are in buckets that have an end */
#define ROW_CORRECTED 32768u   /* total, self, share and average are without stint's own cost */
#define ROW_WAITING 65536u     /* a part of it is waiting for others */
#define ROW_ON_CPU 131072u     /* the CPU time of most of its time is known */
#define ROW_AT_MOST 8u         /* the share, as the wall time is a lower bound */
#define ROW_MEASURES 18 /* from this bit on one for each group of gen/records.ini: ROW_<GROUP> */
#include "measure_flags.inc"

#include "row_percentiles.inc" /* PERCENTILE_*, of the columns that are percentiles */

#define ROW_UNKNOWN UINT64_MAX /* a share of a peak that is not known */

/* Values that few rows have: GPU times, measures, declared amounts, open scopes, waiting. A run may
 * have a million rows, so a row without has no memory for it. */
struct stint_row_extra {
    MEASURE_SUMS_BY_NAME; /* of the groups that `has` names */
    uint32_t groups;
    u128 waiting_ns;   /* self time of scopes with the role waiting, itself or nested */
    u128 untimed;      /* with ROW_PARTIAL: of the calls, those that were not timed */
    u128 open_all_ns;  /* being inside right now, all threads together, */
    u128 open_self_ns; /* and without the scopes inside */
    u128 device_calls; /* kernels, copies and fills from it and what is nested in it */
    u128 device_total_ns;
    u128 cpu_calls;     /* whose CPU time was read, and that time: */
    u128 cpu_ns;        /* of the groups usage and cpu together */
    u128 counted_calls; /* of the group with the most */
    u128 memory_live;   /* bytes */
    uint64_t open_ns;   /* being inside right now, longest thread */
    uint64_t gpu_avg_ns;
    uint64_t gpu_percentile_ns[PERCENTILE_COUNT];
    uint64_t gpu_beyond;    /* as struct stint_row.beyond */
    uint64_t cpu_share_ppm; /* of total_ns and gpu_total_ns together */
    uint64_t gpu_share_ppm;
    uint64_t bytes_per_s; /* by GPU time if there is some, else by CPU time */
    uint64_t flops_per_s;
    uint64_t peak_bytes_ppm; /* of what the device does at best, or ROW_UNKNOWN */
    uint64_t peak_flops_ppm;
    const char *bound; /* the peak it is nearer to: "memory", "compute" */
    uint64_t queue_avg_ns;
    uint64_t on_cpu_ppm; /* of the wall time of the same calls */
    int mostly_waits;    /* in them, and not for a processor only */
    uint64_t ipc_ppm;    /* instructions a cycle */
    uint64_t branch_miss_ppm;
    uint64_t l1_miss_ppm;
    uint64_t llc_miss_ppm;
    uint64_t dtlb_miss_ppm;
    uint64_t multiplexed_ppm; /* of the time, in which a group did not count; the largest */
};
extern const struct stint_row_extra stint_row_no_extra;

struct stint_row {
    const char *name;
    const char *info;                    /* "" = none */
    const struct stint_row_extra *extra; /* &stint_row_no_extra: none */
    u128 calls;
    u128 samples; /* timed */
    u128 total_ns;
    u128 self_ns;
    uint64_t share_ppm; /* of the wall time; ROW_UNKNOWN of intervals that overlap */
    uint64_t avg_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t first_ns;
    uint64_t percentile_ns[PERCENTILE_COUNT]; /* with ROW_HISTOGRAM */
    uint64_t stddev_ns;                       /* with ROW_STDDEV */
    uint64_t
        beyond; /* samples that no bucket tells apart, the longest of all: percentiles that fall
                      * on them are lower bounds */
    uint64_t threads;
    uint32_t name_length;
    uint32_t name_id;  /* equal for equal names */
    uint32_t set : 27; /* an arena of 4 GiB holds no more */
    uint32_t kind : 5;
    uint32_t thread; /* index, or SNAPSHOT_NONE: all */
    uint32_t parent; /* tree: row index, or SNAPSHOT_NONE */
    uint64_t has;    /* ROW_* */
};

/* Where a member of a row is. */
struct row_field {
    size_t at;
    int in_extra; /* of struct stint_row_extra */
    int is_sum;   /* of 128 bits, else of 64 or a text */
};
#define ROW_MEMBER(row, member, in_extra)                                                          \
    { offsetof(row, member), in_extra, sizeof(((row *)0)->member) == sizeof(u128) }
#define ROW_FIELD(member) ROW_MEMBER(struct stint_row, member, 0)
#define ROW_EXTRA_FIELD(member) ROW_MEMBER(struct stint_row_extra, member, 1)
static inline const void *row_field(const struct stint_row *r, struct row_field field) {
    const char *from = (const char *)r;
    if (field.in_extra) {
        from = (const char *)r->extra;
    }
    return from + field.at;
}
static inline u128 row_number(const struct stint_row *r, struct row_field field) {
    if (field.is_sum) {
        return *(const u128 *)row_field(r, field);
    }
    return *(const uint64_t *)row_field(r, field);
}
/* The samples of a row, on the CPU or on the GPU. */
struct row_sampled {
    u128 count;
    u128 total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t beyond;
};
struct row_sampled row_sampled(const struct stint_row *r, int gpu);
/* Whether the row has a call of any kind. */
int row_is_called(const struct stint_row *r);
/* A sum is always known. */
static inline int row_is_unknown(const struct stint_row *r, struct row_field field) {
    return !field.is_sum && row_number(r, field) == ROW_UNKNOWN;
}
/* Whether the row has what `needs` names, and the number is known. */
static inline int row_knows(const struct stint_row *r, struct row_field field, uint64_t needs) {
    return !(needs & ~r->has) && !row_is_unknown(r, field);
}
/* Whether a number of the row is a percentile that is a lower bound. */
int row_is_beyond(const struct stint_row *r, struct row_field field);
static inline const char *row_text(const struct stint_row *r, struct row_field field) {
    return *(const char *const *)row_field(r, field);
}

struct grouping;
struct histogram;

struct rows {
    struct stint_row *row;
    uint32_t count;
    struct stint_row_extra *extra; /* room for one of each row; the rows lead to them */
    uint32_t extra_count;
    const struct grouping *grouping; /* of rows_flat, for rows_histogram */
};

/* Both live in the snapshot's memory. In the tree work is below the scope that sent it. 0, or -1
 * without memory. */
int rows_flat(struct rows *out, struct snapshot *s, int each_thread);
int rows_tree(struct rows *out, struct snapshot *s);
/* The tree with each scope below the one that it ran in, or that of each thread; and of each node
 * its row, in the snapshot's memory: SNAPSHOT_NONE for a root. Parents come before their
 * children, and the rows of a thread are adjacent. */
int rows_tree_of(struct rows *out, struct snapshot *s, int each_thread, uint32_t **row_of);

/* Rows of rows_flat that have their names and calls alone, in half of the memory. */
int rows_calls(struct rows *out, struct snapshot *s);
/* Gives back half of the memory of rows. The next three functions then know nothing of them, and of
 * those of a tree they never do. */
void rows_drop_groups(struct rows *rows);
/* How long the calls of a row of rows_flat took: in ticks, or with in_ns in nanoseconds. 0, or -1
 * if nothing is known of them. */
int rows_histogram(struct histogram *out, const struct rows *rows, uint32_t row, int gpu);
/* The time on the CPU that `permille` of 1000 calls of a row of rows_flat did not exceed, in
 * nanoseconds: 500 gives p50_ns, 0 min_ns, 1000 max_ns. 0, or -1: it is not known. */
int rows_quantile(uint64_t *ns, const struct rows *rows, uint32_t row, uint32_t permille);

/* Children of each row in a given order: first child and next sibling, by row number + 1. */
struct rows_links {
    uint32_t *child; /* of the row number rows->count: the roots */
    uint32_t *next;
};
/* In the snapshot's memory. order: all rows of a tree. 0, or -1 without memory. */
int rows_link_children(struct rows_links *out, struct snapshot *s, const struct rows *rows,
                       const uint32_t *order);
/* The row (+ 1) that a walk in depth-first order visits after `row`, and its depth; 0 at the end.
 * into: whether the children of the row are visited. */
uint32_t rows_walk_next(const struct rows_links *links, const struct rows *rows, uint32_t row,
                        int into, uint32_t *depth);
/* The sum of the same calls in nanoseconds. */
u128 rows_timed_ns(const struct rows *rows, uint32_t row, int gpu);

#endif
