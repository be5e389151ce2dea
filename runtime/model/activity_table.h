/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The activities of a snapshot grouped for reading: one row a kernel, a kind of copy or an API
 * function, whatever scope it was for. What the views print and the tool exports.
 */
#ifndef STINT_ACTIVITY_TABLE_H
#define STINT_ACTIVITY_TABLE_H

#include "arena/activity_kind.h"
#include "occupancy.h"
#include "snapshot.h"
#include <stddef.h>

#define ACTIVITY_IN(kind) (1u << (kind))
#define ACTIVITY_IN_COPIES (ACTIVITY_IN(ACTIVITY_COPY) | ACTIVITY_IN(ACTIVITY_FILL))
#define ACTIVITY_IN_WORK (ACTIVITY_IN(ACTIVITY_KERNEL) | ACTIVITY_IN_COPIES)
#define ACTIVITY_IN_CALLS (ACTIVITY_IN(ACTIVITY_API) | ACTIVITY_IN(ACTIVITY_DRIVER))

/* Rows are told apart by kind, name and device, and by these on request: */
#define ACTIVITY_BY_STREAM 1u
#define ACTIVITY_BY_DETAIL 2u /* copies by memory and asynchrony, not by direction alone */
#define ACTIVITY_BY_SCOPE 4u  /* node */

#define ACTIVITY_EVERY_SET UINT32_MAX

struct activity_ask {
    unsigned kinds; /* ACTIVITY_IN */
    unsigned by;    /* ACTIVITY_BY_* */
    uint32_t set;   /* of their scopes' sets, ACTIVITY_EVERY_SET: all */
};

/* The sum of any number of activities. */
struct activity_sum {
    ACTIVITY_SUMS_BY_NAME;
    struct snapshot_activity of; /* without numbers: name, place and configuration */
};

struct activity_row {
    /* In `of`, what the row's activities are not apart by is 0, NONE for node, the configuration
     * the longest one's. Of a copy without BY_DETAIL, detail is the direction. */
    struct activity_sum sum;
    uint64_t share_ppm; /* of the time of all rows */
    uint64_t avg;       /* nanoseconds */
    uint64_t median;    /* of up to 64 samples exact, else within 3.2 % */
    uint64_t stddev;    /* of a sample; 0 of one alone */
    uint64_t median_bytes;
    uint64_t stddev_bytes;
    uint64_t bytes_per_s;
    uint64_t launch_avg;   /* of the API call, of those whose call is known */
    uint64_t delay_avg;    /* from its end to the start */
    const char *lib;       /* of a kernel, else "" */
    const char *precision; /* "" = the name does not say */
    struct occupancy occupancy;
    uint32_t has; /* ACTIVITY_HAS_* */
};
#define ACTIVITY_HAS_MEDIAN 1u
#define ACTIVITY_HAS_OCCUPANCY 2u
#define ACTIVITY_HAS_LAUNCH 4u
#define ACTIVITY_HAS_SIZES 8u
#define ACTIVITY_HAS_MEDIAN_BYTES 16u
#define ACTIVITY_MEDIAN_BEYOND 32u /* the median is a lower bound (struct stint_row.beyond) */

struct activity_table {
    struct activity_row **row; /* sorted */
    uint32_t count;
    u128 total;                /* nanoseconds, of all rows */
    struct activity_row *rows; /* as they came */
    uint32_t *order, *spare;   /* for the sort */
};

/* Sets the sum of no activity. */
void activity_sum_start(struct activity_sum *sum, const struct snapshot_activity *of);
void activity_sum_add(struct activity_sum *to, const struct snapshot_activity *a);

/* Rows with at least one activity, the longest first. In the snapshot's memory. 0, or -1
 * without. */
int activity_table(struct activity_table *out, struct snapshot *s, const struct activity_ask *ask);

/* Another order: largest first, equal ones by name. */
enum activity_sort {
    ACTIVITY_SORT_TOTAL,
    ACTIVITY_SORT_CALLS,
    ACTIVITY_SORT_AVG,
    ACTIVITY_SORT_MIN,
    ACTIVITY_SORT_MAX,
    ACTIVITY_SORT_BYTES
};
void activity_table_sort(struct activity_table *t, enum activity_sort by);

/* ---- kernel_names.c: what the name of a kernel says of it, by the table gen/kernel_names.ini. */

/* The library that the kernel is from: a section of gen/kernel_names.ini; "user" if no pattern
 * matches. */
const char *kernel_lib(const char *name, size_t length);
/* The precision it calculates in: "fp16", "int8" …; "" if the name does not say. */
const char *kernel_precision(const char *name, size_t length);

#endif
