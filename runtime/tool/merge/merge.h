/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several runs as one: a run file with the threads of all runs. Names, sets and devices of equal
 * content are stored once, and all times are converted to the clock of one of the runs.
 */
#ifndef STINT_TOOL_MERGE_H
#define STINT_TOOL_MERGE_H

#include "arena/arena.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "base/scratch.h"
#include "merge_align.h"
#include "merge_file.h"
#include "read/ranks.h"
#include "read/run.h"
#include "read/snapshot.h"

/* ---- merge_names.c: what merged runs have in common: texts, sites and sets, each once. */

struct merge_names {
    struct merge_file *file;
    struct scratch memory;
    struct hash_map texts; /* hashes of texts to units of 8 */
    struct hash_map sites; /* hashes of sites to their numbers */
    struct hash_map sets;  /* texts to numbers */
};

/* 0, or -1 without memory. */
int merge_names_start(struct merge_names *n, struct merge_file *file);
/* Each returns a number, or 0 after one line or without memory. The default set is number 0:
 * *failed is the result. */
uint32_t merge_names_text(struct merge_names *n, const char *bytes, size_t length);
uint32_t merge_names_site(struct merge_names *n, const struct snapshot *s, uint32_t id);
uint32_t merge_names_set(struct merge_names *n, const char *name, int *failed);
/* The text of a site's name. */
uint32_t merge_names_text_of(const struct merge_names *n, uint32_t site);
void merge_names_end(struct merge_names *n);

/* ---- merge_ranks.c: the processes of the merged file, and the share of each in each name. */

struct merge_rank_name {
    struct arena_rank_name of;
    uint32_t text; /* of its name; sites of one name are one row */
};

struct merge_ranks {
    struct scratch memory;
    struct arena_rank *rank;
    uint32_t count;
    uint32_t room;
    struct merge_rank_name *name;
    uint32_t name_count;
    uint32_t name_room;
    struct hash_map known;     /* hashes of text and set to names */
    uint32_t windows_left_out; /* ranks whose windows of steps are not kept */
};

int merge_ranks_start(struct merge_ranks *ranks);
void merge_ranks_end(struct merge_ranks *ranks);
uint32_t merge_ranks_killed(const struct merge_ranks *ranks);

/* ---- merge_sum.c: runs that are added up. */

struct merge_sum {
    struct scratch memory;
    uint32_t tree;                            /* of all runs; units, 0 = none yet */
    uint32_t traces;                          /* runs whose traces were left out */
    struct hash_map nodes, activities, lines; /* hashes to units */
    /* One histogram at a time: too large for the stack. */
    uint32_t buckets[STINT_IMPL_BUCKETS], taken[STINT_IMPL_BUCKETS];
    struct histogram counts, grid;
};

int merge_sum_start(struct merge_sum *sum);
void merge_sum_end(struct merge_sum *sum);
/* Adds counts of buckets that are `ns` nanoseconds wide to some on the grid of nanoseconds. */
void merge_sum_buckets(struct merge_sum *sum, uint32_t *to, const uint32_t *from, double ns);

/* ---- merge.c */

/* The parts that stay apart: --keep, in the order of gen/options.ini. */
enum merge_keep { MERGE_KEEP_NAMES, MERGE_KEEP_RANKS, MERGE_KEEP_THREADS };

/* The clock that the merged file counts in: that of the first run; of runs that are added up, its
 * nanoseconds. */
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
    int one_clock;                               /* ticks are copied unchanged */
    double rate;                                 /* else: merged ticks per tick of the run */
    double start_tick;                           /* and the merged tick of its start */
};

/* A property of the runs, as long as it is the same for all. */
struct merge_about {
    char text[ARENA_NAME_BYTES + 1];
    int differ;
};

struct merge {
    struct merge_file file;
    struct merge_names names;
    struct merge_ranks ranks;
    struct merge_sum sum;
    enum merge_keep keep;
    struct scratch memory;
    struct merge_clock clock;
    const struct merge_align *align;  /* NULL: one host, or threads are not kept */
    char clocks[ALIGN_TEXT];          /* said of an input that was merged itself */
    uint32_t expected;                /* runs to merge */
    uint32_t runs;                    /* merged so far */
    uint64_t cut;                     /* spans left out, whose node an event has no room to name */
    struct snapshot_measures outside; /* of threads that have no record */
    int boots_differ;                 /* of runs that are added up */
    struct clock_stamp start;         /* the earliest of all, in the merged clock */
    struct clock_stamp end;           /* the latest of all */
    uint64_t process_start_ns;
    uint64_t reference; /* sum */
    uint32_t references;
    struct merge_about program, command, host, cpu, compiler, clock_name, gpu;
};

/* `expected` runs into a file beside `path`, of at most `bytes` bytes, that counts in the clock of
 * `first`. 0, or -1 after one line. */
int merge_start(struct merge *m, const char *path, uint32_t expected, uint64_t bytes,
                const struct run *first, enum merge_keep keep);
/* 0, or -1 after one line. */
int merge_add(struct merge *m, const struct run *r);
/* Writes the file and renames it to its path. 0, or -1 after one line. */
int merge_finish(struct merge *m);
/* Releases everything; removes the file unless merge_finish succeeded. */
void merge_end(struct merge *m);

/* ---- Between merge.c and the other merge_*.c files. */

/* Each returns 0, or -1 without memory. merge_ranks_check prints what is wrong with the ranks
 * (merge_jobs.c). */
int merge_ranks_add(struct merge *m, const struct merge_map *map);
int merge_ranks_check(struct merge *m);
int merge_ranks_finish(struct merge *m);
/* A copy of the windows of steps that begin at a unit of the run; 0 = none. */
int merge_windows_add(struct merge *m, const struct merge_map *map, uint32_t from, uint32_t *out);
/* Likewise; of runs that are not copied by threads. */
int merge_sum_run(struct merge *m, struct merge_map *map);
/* Adds calls that were not timed to the struct arena_partial at a unit, which is made if it is
 * 0. */
int merge_untimed_add(struct merge *m, uint32_t *unit, uint64_t untimed);
int merge_sum_activities(struct merge *m, struct merge_map *map);
int merge_sum_lines(struct merge *m, const struct merge_map *map);
/* A number of a node, of which a time becomes one of the merged clock. map: NULL, it is of that
 * clock. */
uint64_t merge_measure(const struct merge_map *map, enum measure which, uint64_t value);
/* Nanoseconds from a merged tick to another; modulo 2^64 if this is earlier. */
uint64_t merge_ns_between(const struct merge *m, uint64_t from, uint64_t to);

/* Whether threads and lanes of the run get a rank (that of its job, else the run's position on the
 * command line) and a process. A run without a process is a merged one: its threads and lanes have
 * them. */
static inline int merge_is_marked(const struct merge *m, const struct merge_map *map) {
    return m->expected > 1 && map->from->pid;
}
/* A tick and a number of ticks of the run, in the merged clock. */
uint64_t merge_tick(const struct merge_map *map, uint64_t tick);
uint64_t merge_length(const struct merge_map *map, uint64_t ticks);
/* The same of a tick that is 0 if there is none. */
static inline uint64_t merge_tick_or_none(const struct merge_map *map, uint64_t tick) {
    return tick ? merge_tick(map, tick) : 0;
}
/* The samples that a node of the run keeps itself, in merged ticks. */
struct merge_kept {
    uint32_t count;
    int fit; /* a merged node can keep each of them */
    uint64_t ticks[STINT_IMPL_RAW];
};
void merge_kept_read(struct merge_kept *out, const struct merge_map *map,
                     const struct snapshot_node *n);
/* Keeps them in a merged node that has so many, or counts them in its histogram if it has one.
 * There is room for them. */
void merge_kept_store(struct merge *m, struct stint_impl_node *to, uint32_t have,
                      const struct merge_kept *more);
/* The merged unit of the node at a unit of the run; 0 = none. */
uint32_t merge_node(const struct merge_map *map, uint32_t unit);
/* The merged unit of the node and the device with that index in the snapshot; 0 = none. */
uint32_t merge_node_at(const struct merge_map *map, uint32_t index);
uint32_t merge_device_at(const struct merge_map *map, uint32_t index);
/* A copy of the histogram at a unit of the run, 0 = none, with its values times `rate`. -1 without
 * memory. */
int merge_histogram(struct merge *m, struct merge_map *map, uint32_t thread, uint32_t unit,
                    double rate, uint32_t *out);
/* Copies the activities of GPUs; their times count from the merged start once all runs were added.
 * -1 without memory. */
int merge_activities(struct merge *m, struct merge_map *map);
void merge_activities_finish(struct merge *m);
/* Stores the sums and the configuration of a row. */
void merge_activity_store(struct arena_activity *to, const struct snapshot_activity *a);
/* Copies the tables of source lines; readers add them up, as they do those of threads. -1 without
 * memory. */
int merge_lines(struct merge *m, const struct merge_map *map);
/* Copy the ring of a thread at a unit of the run, 0 = none, and the lanes of GPU streams. -1 after
 * one line. */
int merge_ring(struct merge *m, const struct merge_map *map, uint32_t unit, uint32_t *out);
int merge_lanes(struct merge *m, const struct merge_map *map);
/* The clocks, and the properties of the runs. */
void merge_map_clock(const struct merge *m, struct merge_map *map);
void merge_about_add(struct merge *m, const struct merge_map *map);
int merge_about_finish(struct merge *m);

#endif
