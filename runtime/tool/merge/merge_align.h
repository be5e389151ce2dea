/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks of hosts whose traces are merged. Clocks of different boots have nothing in common but
 * the time of day, which may be seconds off. Calls of a scope that waits for all ranks, as a
 * barrier, say more: no rank leaves the n-th call before the last one has come to it.
 *
 * The runs are added once, before they are merged; then the clocks are solved. Untrusted input, as
 * the files are.
 */
#ifndef STINT_MERGE_ALIGN_H
#define STINT_MERGE_ALIGN_H

#include "arena/arena.h"
#include "base/hash_map.h"
#include "base/scratch.h"
#include "read/run.h"

#define ALIGN_TEXT 400

/* The runs of one boot with one kind of clock, whose ticks are comparable. */
struct align_host {
    char boot_id[40];
    uint32_t kind;
    struct clock_stamp start; /* of its first run, as the next */
    double ns_per_tick;
    double first_ns; /* when its traces begin and end, in nanoseconds of its clock after start */
    double last_ns;
    /* To the clock of the first host, beside the time of day: offset + rate * (time - middle). */
    int known;
    double offset_ns;
    double rate;
    double middle_ns;
    double error_ns; /* at most so much, from the first to the last */
};

struct align_calls;
struct align_name;
struct align_run;

struct merge_align {
    struct scratch memory;
    struct align_host *host;
    uint32_t host_count;
    uint32_t host_room;
    struct align_run *run;
    uint32_t run_count;
    uint32_t run_room;
    struct align_name *name;
    uint32_t name_count;
    uint32_t name_room;
    struct hash_map known;
    uint32_t traced;       /* runs with a trace */
    char text[ALIGN_TEXT]; /* how exact the clocks are; "": one clock, or no trace */
};

int merge_align_start(struct merge_align *a);
void merge_align_end(struct merge_align *a);
/* The first run is that of the clock that the others are aligned with. 0, or -1 without memory. */
int merge_align_add(struct merge_align *a, struct run *r);
int merge_align_solve(struct merge_align *a);
/* NULL: a boot of which no run was added. */
const struct align_host *merge_align_host(const struct merge_align *a,
                                          const struct arena_header *h);
/* Nanoseconds in the clock of the first host, after its start, of a tick of the host's; and how
 * many of them pass per tick. */
double merge_align_ns(const struct merge_align *a, const struct align_host *host, uint64_t tick);
double merge_align_rate(const struct align_host *host);

#endif
