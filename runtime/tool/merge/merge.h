/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several runs as one: a run file with the threads of all runs. Names, sets and devices of equal
 * content are stored once, and all times are converted to the clock of one of the runs.
 */
#ifndef STINT_TOOL_MERGE_H
#define STINT_TOOL_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "arena/arena.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "base/replace_file.h"
#include "base/scratch.h"
#include "read/ranks.h"
#include "read/run.h"
#include "read/snapshot.h"
#include "tool/common/run_inputs.h"

/* ---- merge_file.c: a run file under construction. It is made in memory, written to a temporary
 * file when it is complete, and renamed: a mapping of the file would end in SIGBUS if the disk
 * becomes full. */

struct merge_file {
    struct replace_file file;
    char *base;
    uint64_t size; /* of the memory, which is used from its start */
    uint64_t used;
    uint64_t committed;           /* the part that has memory */
    uint64_t text_next, text_end; /* the piece that texts are taken from */
    int failed;                   /* one line was printed */
};

/* With addresses for `bytes` bytes, or for as many as there are, which get memory as they are used.
 * 0, or -1 after one line. */
int merge_file_open(struct merge_file *f, const char *path, uint64_t bytes);
/* Zeroed memory in units; 0 after one line. */
uint32_t merge_file_get(struct merge_file *f, uint64_t bytes);
uint32_t merge_file_text(struct merge_file *f, const char *bytes, size_t length);
static inline void *merge_file_at(const struct merge_file *f, uint32_t unit) {
    return f->base + (uint64_t)unit * STINT_IMPL_UNIT;
}
static inline struct arena_header *merge_file_header(const struct merge_file *f) {
    return (struct arena_header *)(void *)f->base;
}
static inline const struct arena_text *merge_file_text_at(const struct merge_file *f,
                                                          uint32_t text) {
    return (const struct arena_text *)(const void *)(f->base + (uint64_t)text * 8);
}
/* Writes the used memory and renames the file. 0, or -1 after one line. */
int merge_file_publish(struct merge_file *f);
/* Releases it, published or not. */
void merge_file_close(struct merge_file *f);

/* ---- merge_align.c: the clocks of hosts whose traces are merged. Clocks of different boots
 * have nothing in common but the time of day, which may be seconds off. Calls of a scope that
 * waits for all ranks, as a barrier, say more: no rank leaves the n-th call before the last one
 * has come to it. The runs are added once, before they are merged; then the clocks are solved.
 * Untrusted input, as the files are. */

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
    struct hash_map known; /* hashes of text and set to names */
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
    struct stint_impl_histogram read, taken;
    struct histogram counts, grid;
};

int merge_sum_start(struct merge_sum *sum);
void merge_sum_end(struct merge_sum *sum);
/* Adds a histogram whose values are `ns` nanoseconds each to one on the grid of nanoseconds. */
void merge_sum_buckets(struct merge_sum *sum, struct stint_impl_histogram *to,
                       const struct stint_impl_histogram *from, double ns);

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
    const struct merge_align *align; /* NULL: one host, or threads are not kept */
    char clocks[ALIGN_TEXT];         /* said of an input that was merged itself */
    uint32_t expected;               /* runs to merge */
    uint32_t runs;                   /* merged so far */
    uint64_t cut;                    /* spans left out, whose node an event has no room to name */
    struct measures outside;         /* of threads that have no record */
    int boots_differ;                /* of runs that are added up */
    struct clock_stamp start;        /* the earliest of all, in the merged clock */
    struct clock_stamp end;          /* the latest of all */
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
/* Makes the helpers of a rank (merge_helpers.c) parts of it. */
int merge_ranks_fold(struct merge *m);
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
/* A time of a node of the run, in the unit of the merged node. */
static inline uint64_t merge_time(const struct merge_map *map, const struct snapshot_node *n,
                                  uint64_t time) {
    return n->in_ns ? time : merge_length(map, time);
}
/* The kind of a node in a file. */
static inline uint16_t merge_kind(const struct snapshot_node *n) {
    return n->in_ns ? STINT_IMPL_NS_NODE : n->kind;
}
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
/* As snapshot_read_buckets. In a file of format 4 the last bucket has all longer samples, which
 * the merged file says: it is open. */
int merge_read_buckets(const struct merge_map *map, uint32_t thread, uint32_t unit,
                       struct stint_impl_histogram *out);
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

/* ---- align_lines.c: the straight lines through all of a number of vertical intervals: what two
 * clocks that run at constant rates can differ by, if each interval holds their difference at
 * one moment. */

/* At a time in seconds, a difference in nanoseconds: between low and high, and probably near
 * `likely`. */
struct align_point {
    double at;
    double low;
    double high;
    double likely;
    double enter; /* the difference if the ranks had come together: not used here */
};

struct align_line {
    double offset; /* at 0 */
    double rate;   /* nanoseconds per second */
};

/* The clocks run so much apart, and not quite at constant rates; a clock's rate is measured as
 * exactly as this at worst. */
#define ALIGN_RATE_MOST 2e6       /* nanoseconds per second */
#define ALIGN_WIGGLE_NS 1000.0    /* so much from a line, */
#define ALIGN_WIGGLE_PER_S 1000.0 /* and this per second between the first and the last point */

/* The line nearest to the likely differences, and how far another one that passes through all
 * intervals is from it at most, between the times `from` and `to`. 0, or -1: there is none. */
int align_fit(struct align_line *out, double *error, const struct align_point *point,
              uint32_t count, double from, double to);

/* ---- merge_helpers.c: processes that a rank started, as data loaders. */

struct merge_process {
    uint64_t start_ns; /* CLOCK_REALTIME */
    uint64_t place;    /* equal for one host and job */
    uint32_t rank;     /* + 1; 0 = not known */
    uint32_t pid;
    uint32_t parent_pid;
};

struct merge_process merge_process_of(const struct arena_rank *r);
/* For each process the one that it is a helper of: the first one of the parents that are of the
 * same rank and place, or itself. In `memory`; NULL without. */
uint32_t *merge_helpers_find(struct scratch *memory, const struct merge_process *p, uint32_t count);

/* ---- merge_jobs.c: the starts of ranks, told apart by their times. */

#define MERGE_STARTS_NAMED 8u

/* The ranks that were started together. */
struct merge_start {
    uint64_t at_ns;
    uint32_t ranks;
};

struct merge_starts {
    struct merge_start start[MERGE_STARTS_NAMED]; /* the first ones */
    uint32_t count;                               /* of all */
    uint64_t last_ns;                             /* when the last one began */
    int are_apart; /* each is farther from the one before than its ranks are from each other */
};

/* The starts of the processes that have a rank. 0, or -1 without memory. */
int merge_starts_find(struct scratch *memory, struct merge_starts *out,
                      const struct merge_process *p, uint32_t count);

/* ---- merge_inputs.c: the sizes and clocks of the files of a merge, from their headers. */

/* Whether not all runs are of one boot with one kind of clock. */
int merge_inputs_several_clocks(const struct run_inputs *in);
/* The bytes that hold the contents of all. */
uint64_t merge_inputs_bytes(const struct run_inputs *in);
/* The bytes that their merge may need besides: histograms of nodes that kept their samples, and the
 * numbers of each run for each name of all runs. At least as many as it needs, unless a run was
 * merged itself and its ranks lack many names of the others. */
uint64_t merge_inputs_growth(const struct run_inputs *in);
/* Finds which inputs are of helpers, and removes those of ranks that are of earlier starts than the
 * last one if only that is wanted. 0, or -1 after one line. */
int merge_inputs_know(struct run_inputs *in, int last_start);

#endif
