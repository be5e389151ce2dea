/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several runs as one: a run file that holds the threads of all, with names, sets and devices that
 * are equal in content kept once, and all clocks turned into one of theirs.
 */
#ifndef STINT_TOOL_MERGE_H
#define STINT_TOOL_MERGE_H

#include "base/hash_map.h"
#include "merge_file.h"
#include "merge_names.h"
#include "read/run.h"

/* The clock that the merged file counts in: that of the run that began first. */
struct merge_clock {
    struct clock_stamp start;
    double ns_per_tick;
    uint64_t ticks_per_us;
    uint32_t kind;
    char boot_id[40];
};

/* From one run to the merged one. */
struct merge_map {
    const struct run *run;
    const struct arena_header *from;
    uint32_t *site;                              /* by id, to ids */
    uint32_t *set;                               /* by id */
    uint32_t *device;                            /* by index, to units */
    uint32_t *node;                              /* by index, to units */
    struct hash_map thread, activity, histogram; /* from units to units */
    int one_clock;                               /* ticks stay as they are */
    double rate;                                 /* else: merged ticks of one of its ticks */
    double start_tick;                           /* and the merged tick of its start */
};

/* What all runs say of themselves: kept while they agree. */
struct merge_about {
    char text[ARENA_NAME_BYTES + 1];
    int differ;
};

struct merge {
    struct merge_file file;
    struct merge_names names;
    struct scratch memory;
    struct merge_clock clock;
    uint32_t expected; /* runs that come in all */
    uint32_t runs;
    uint32_t killed; /* of them */
    uint64_t cut;    /* spans whose nodes lie beyond what an event can name */
    struct clock_stamp start,
        end; /* the first and the last of all, as the merged clock tells them */
    uint64_t process_start_ns;
    uint64_t reference; /* sum */
    uint32_t references;
    struct merge_about program, command, host, cpu, compiler, clock_name, gpu;
};

/* `expected` runs into a file beside `path`, of at most `bytes` bytes, that counts in the clock of
 * `first`. 0, or -1 after one line. */
int merge_start(struct merge *m, const char *path, uint32_t expected, uint64_t bytes,
                const struct run *first);
/* 0, or -1 after one line. */
int merge_add(struct merge *m, const struct run *r);
/* Puts the file in its place. 0, or -1 after one line. */
int merge_finish(struct merge *m);
/* After any of them: nothing of the file is left unless it was finished. */
void merge_end(struct merge *m);

/* ---- Between merge.c, merge_about.c, merge_activity.c and merge_trace.c. */

/* Its threads and lanes are to say whose they are: rank (the run's place on the command line) and
 * process. One that has none was merged before, and they do. */
static inline int merge_marks(const struct merge *m, const struct merge_map *map) {
    return m->expected > 1 && map->from->pid;
}
/* A tick and a number of ticks of the run, as the merged clock counts. */
uint64_t merge_tick(const struct merge_map *map, uint64_t tick);
uint64_t merge_length(const struct merge_map *map, uint64_t ticks);
/* The merged place of the node at a unit of the run; 0 = there is none. */
uint32_t merge_node(const struct merge_map *map, uint32_t unit);
/* A copy of the histogram at a unit of the run, 0 = none, with its values times `rate`. -1 without
 * memory. */
int merge_histogram(struct merge *m, struct merge_map *map, uint32_t unit, double rate,
                    uint32_t *out);
/* Copies of what GPUs were seen doing; once all runs are in, their moments count from the merged
 * start. -1 without memory. */
int merge_activities(struct merge *m, struct merge_map *map);
void merge_activities_finish(struct merge *m);
/* Copies of the ring of a thread at a unit of the run, 0 = none, and of the lanes of GPU streams. -1
 * after one line. */
int merge_ring(struct merge *m, const struct merge_map *map, uint32_t unit, uint32_t *out);
int merge_lanes(struct merge *m, const struct merge_map *map);
/* Clocks, and what the runs say of themselves. */
void merge_map_clock(const struct merge *m, struct merge_map *map);
void merge_about_add(struct merge *m, const struct merge_map *map);
int merge_about_finish(struct merge *m);

#endif
