/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between rows.c, which groups nodes, and the files that do one step of it each: rows_sum.c adds a
 * node to a row, rows_spread.c reads percentiles, rows_finish.c makes the columns; rows_below.c and
 * row_measures.c do so for some of them.
 */
#ifndef STINT_ROWS_PRIVATE_H
#define STINT_ROWS_PRIVATE_H

#include "base/hash_map.h"
#include "base/histogram.h"
#include "rows.h"

/* While grouping: sums, the best of each kind, and the histograms of the row. */
struct times {
    SCOPE_SUMS_BY_NAME;
    uint32_t loose;
    int in_ns;           /* times and histograms are nanoseconds, else ticks */
    uint32_t histograms; /* first of its list, + 1 */
    uint32_t keepers;    /* likewise: nodes that keep samples themselves; their numbers + 1 */
};

struct group {
    struct times cpu; /* ticks; its lists also have what is in nanoseconds */
    u128 self;
    uint32_t last_thread;
    int has_intervals;
    uint32_t extra; /* + 1; the same number as that of the row's extra */
};

/* The sums of struct snapshot_cost. */
struct row_cost {
    u128 all;
    u128 own;
};

/* Sums that few rows have. */
struct group_extra {
    struct times gpu;   /* nanoseconds; its sums are measures of the row */
    struct times added; /* of samples that were added in nanoseconds, and */
    u128 added_self;    /* their own time */
    u128 open_all, open_self;
    u128 waiting; /* ticks, of the group's total */
    uint64_t open;
    uint64_t bytes_per_s, flops_per_s; /* peaks of the devices it ran on, 0 = unknown */
    uint32_t gpu_nodes;
};

struct histogram_link {
    uint32_t unit; /* of a histogram */
    uint32_t thread;
    int in_ns;
    uint32_t next; /* + 1 */
};

/* The samples of a row, where its nodes have kept all of them. */
#define EXACT_SAMPLES 4096u
struct exact {
    uint32_t count, room;
    uint64_t *sample; /* as they come, then sorted */
    uint64_t *sorted;
    uint32_t *order, *spare;
};

struct grouping {
    struct snapshot *s;
    int tree; /* of the call tree: intervals have rows of their own beside scopes of their name */
    int each_thread;
    int calls_alone; /* rows have no groups */
    struct rows *rows;
    struct group *groups;
    struct group_extra *extras;
    struct row_cost *costs; /* by row; NULL unless the snapshot is corrected */
    struct hash_map row_of; /* hash of (parent or set, name, thread) to rows */
    uint32_t last_row;      /* that row_get found */
    struct histogram_link *links;
    uint32_t link_count;
    uint32_t *keepers;     /* by node: the next one of its row's list, + 1 */
    struct exact *exact;   /* of the row at hand */
    struct histogram *sum; /* of the row at hand, and of its ticks alone */
    struct histogram *ticks;
    struct histogram *read;   /* one histogram */
    uint32_t *name_ids;       /* by site */
    uint64_t *waiting;        /* by node; NULL: no scope waits */
    struct device_work *work; /* by node; NULL: none was seen */
    struct hash_map seen;     /* histogram units: nodes of a site share the CPU's */
};

/* ---- rows_sum.c */

/* Sums of a row that have the node's already, through a scope of the same name and set around
 * it. */
#define ROW_NESTED OF_CALLS
#define ROW_NESTED_GPU OF_GPU

void row_add_node(struct grouping *g, uint32_t row, const struct snapshot_node *n, unsigned nested);

/* ---- rows_spread.c */

/* Numbers from the histograms of a row, in their unit. */
struct spread {
    uint64_t percentile[PERCENTILE_COUNT];
    uint64_t stddev;
    uint64_t beyond; /* as in struct stint_row */
};

/* The histogram of that unit is one of the row's. thread: of the CPU's, else SNAPSHOT_NONE. */
void link_histogram(struct grouping *g, struct times *to, uint32_t unit, uint32_t thread,
                    int in_ns);
/* Likewise all that the percentiles of a node's CPU times come from. */
void link_samples(struct grouping *g, struct times *to, const struct snapshot_node *n);
/* Sets `out`, and the bounds where they are loose. 0 without a sample in the histograms, and of the
 * tree, whose histograms are those of the site: all its paths'. */
int spread_read(const struct grouping *g, struct times *from, u128 samples, struct spread *out);
/* The time that `permille` of 1000 calls of a row with samples did not exceed, in the unit of
 * `from`; permille: 1 to 1000. */
uint64_t spread_quantile(const struct grouping *g, const struct times *from, uint32_t permille);
/* The sum of a row's histograms and of the samples that its nodes keep. */
void row_sum_histograms(const struct grouping *g, const struct times *from, struct histogram *sum);

/* ---- rows_finish.c */

/* Sums of all rows to columns. */
void rows_finish(struct grouping *g);
/* The times of a row: in nanoseconds if it has some that were added so, else in ticks. */
struct times rows_times(const struct grouping *g, const struct group *from);
/* Their sum in nanoseconds. */
static inline u128 times_sum_ns(const struct grouping *g, const struct times *t) {
    return t->in_ns ? t->total : snapshot_sum_ns(g->s, t->total);
}
/* A time of them in nanoseconds. */
static inline uint64_t times_ns(const struct grouping *g, const struct times *t, uint64_t time) {
    return t->in_ns ? time : snapshot_ns(g->s, time);
}

/* ---- rows_below.c */

/* The work on GPUs of a node's scopes and those nested in them, as a tracer saw it: kernels, copies
 * and fills. */
struct device_work {
    u128 count;
    u128 total; /* nanoseconds, added up: what ran side by side counts twice */
};

/* By node, in the snapshot's memory; NULL where nothing was seen. 0, or -1 without memory. */
int rows_device(struct device_work **out, struct snapshot *s);
static inline struct device_work rows_device_of(const struct device_work *work, uint32_t node) {
    return work ? work[node] : (struct device_work){0, 0};
}

/* The ticks that each node's calls waited, by node, in the snapshot's memory; NULL where no scope
 * waits: the self time of scopes with the role in them, so without the work that was done while
 * they waited. A part of a range that crosses may lie outside, so it is never more than the total.
 * Returns 0, or -1 without memory. */
int rows_waiting(uint64_t **out, struct snapshot *s);

/* ---- row_measures.c: columns made of several measures. */

/* From the measures of a row that has any. extra: the row's. */
void measured_fill(const struct snapshot *s, struct stint_row *r, struct stint_row_extra *extra);

/* Declared bytes and operations over time, and how near that comes to what the device can do. The
 * peaks are those of the device of the row's GPU time, 0 = unknown. extra: the row's. */
void rates_fill(struct stint_row *r, struct stint_row_extra *extra, uint64_t peak_bytes_per_s,
                uint64_t peak_flops_per_s);

#endif
