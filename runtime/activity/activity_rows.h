/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the arena that activities are added up in (struct arena_activity). Under the activity
 * lock.
 */
#ifndef STINT_ACTIVITY_ROWS_H
#define STINT_ACTIVITY_ROWS_H

#include "activity.h"

/* In the order of struct arena_activity. */
struct activity_key {
    uint32_t kind;
    uint32_t detail;
    uint32_t name; /* text */
    uint32_t node; /* units, as the next */
    uint32_t device;
    uint32_t context;
    uint32_t stream;
};

struct activity_sample {
    uint64_t start;
    uint64_t ns;
    uint64_t bytes;
    const struct activity_record *shape; /* of a kernel, else NULL */
};

/* Samples that were added up elsewhere. */
struct activity_sums {
    uint64_t count;
    uint64_t total;
    uint64_t min;
    uint64_t max;
    uint64_t first_at;
    uint64_t last_at;
};

/* 0, or -1 without memory. */
int activity_rows_open(void);
void activity_rows_forget(void);
/* The row, in units, made if need be; 0 without memory, which is counted. */
uint32_t activity_rows_get(const struct activity_key *k);
void activity_rows_add(uint32_t row, const struct activity_sample *s);
/* The API call of one of its samples took call_ns and ended delay_ns before the start. */
void activity_rows_launch(uint32_t row, uint64_t call_ns, uint64_t delay_ns);
void activity_rows_sum(uint32_t row, const struct activity_sums *sums);
/* So many bytes now: the most is kept, too. */
void activity_rows_level(uint32_t row, uint64_t bytes, uint64_t at);

#endif
