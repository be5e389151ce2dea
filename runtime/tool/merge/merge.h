/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several runs as one: a run file with the sums or the threads of all runs. Names, sets and devices
 * of equal content are stored once, and all times are converted to one clock.
 */
#ifndef STINT_TOOL_MERGE_H
#define STINT_TOOL_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "arena/arena.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "base/scratch.h"
#include "model/ranks.h"
#include "model/run.h"
#include "model/snapshot.h"
#include "system/replace_file.h"
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
/* The memory at a unit, which is made if the unit is 0. NULL after one line. */
void *merge_file_need(struct merge_file *f, uint32_t *unit, uint64_t bytes);
/* A copy of these bytes, and of a text; 0 after one line. */
uint32_t merge_file_put(struct merge_file *f, const void *from, uint64_t bytes);
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

struct align_host;
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
/* Where the clock of a run is in that of the first host: nanoseconds after its start when the run
 * began, and how many pass per tick. 0, or -1: no run of that boot was added. */
int merge_align_clock(const struct merge_align *a, const struct arena_header *h, double *ns,
                      double *rate);

/* ---- merge.c */

/* The kinds of parts of the merged file that are found by a hash of their contents. */
enum merge_known {
    MERGE_TEXTS, /* numbers: units of 8 */
    MERGE_SITES,
    MERGE_SETS,       /* places, from 1 */
    MERGE_DEVICES,    /* units */
    MERGE_RANK_NAMES, /* places, from 1 */
    MERGE_ROWS,       /* from here on units of what threads have */
    MERGE_NODES = MERGE_ROWS,
    MERGE_ACTIVITIES,
    MERGE_LINES,
    MERGE_KNOWN
};

/* The processes of the merged file, and the share of each in each name. */
struct merge_ranks {
    struct arena_rank *rank;
    uint32_t count;
    uint32_t room;
    struct arena_rank_name *name;
    uint32_t name_count;
    uint32_t name_room;
};

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

/* Properties of the runs, each as long as it is the same for all. */
enum merge_property {
    MERGE_PROGRAM,
    MERGE_COMMAND,
    MERGE_HOST,
    MERGE_CPU,
    MERGE_COMPILER,
    MERGE_CLOCK,
    MERGE_GPU,
    MERGE_ABOUTS
};

struct merge_about {
    char text[ARENA_NAME_BYTES + 1];
    int differ;
};

/* The pairs of a histogram under construction, and the unit of its head in the merged file. */
struct merge_buckets {
    uint8_t *pairs;
    uint32_t room; /* bytes */
    uint32_t unit;
};

struct merge {
    struct merge_file file;
    enum merge_keep keep;
    struct scratch memory;  /* of the run that is being added */
    struct scratch lasting; /* of the maps of what is known, and the ranks */
    struct hash_map known[MERGE_KNOWN];
    struct merge_ranks ranks;
    uint32_t tree;   /* of all runs; units, 0 = none yet */
    uint32_t traces; /* runs whose traces were left out */
    struct merge_clock clock;
    const struct merge_align *align; /* NULL: one host, or threads are not kept */
    char clocks[ALIGN_TEXT];         /* said of an input that was merged itself */
    uint32_t expected;               /* runs to merge */
    uint32_t runs;                   /* merged so far */
    uint64_t cut;                    /* spans left out, whose node an event has no room to name */
    struct measure_sums outside;     /* of threads that have no record */
    int boots_differ;                /* of runs that are added up */
    struct clock_stamp start;        /* the earliest of all, in the merged clock */
    struct clock_stamp end;          /* the latest of all */
    uint64_t process_start_ns;
    uint64_t reference; /* sum */
    uint32_t references;
    struct merge_about about[MERGE_ABOUTS];
    struct merge_buckets *buckets;
    uint32_t bucket_count;
    uint32_t bucket_room;
    /* One histogram at a time: too large for the stack. */
    struct histogram read, taken, sum;
    uint8_t pairs[HISTOGRAM_BYTES_MOST];
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

/* ---- Between merge.c and the other merge_*.c files. Those that return an int return 0, or -1
 * without memory, and those that return a unit 0; then merge.c prints one line. */

/* ---- merge_known.c */

int merge_known_start(struct merge *m);
/* Whether it is what is wanted, and has room for what is to be added to it. */
typedef int merge_is_wanted(struct merge *m, uint32_t number, const void *wanted);
typedef uint32_t merge_make(struct merge *m, const void *wanted);
/* The number of what is wanted; it is made if it is not known. Where threads are kept, rows never
 * are. 0 without memory. */
uint32_t merge_find_or_make(struct merge *m, enum merge_known which, uint64_t hash,
                            merge_is_wanted *is_wanted, merge_make *make, const void *wanted);

/* Whether threads and lanes of the run get a rank (that of its job, else the run's position on the
 * command line) and a process. A run without a process is a merged one: its threads and lanes have
 * them. */
static inline int merge_is_marked(const struct merge *m, const struct merge_map *map) {
    return m->expected > 1 && map->from->pid;
}

/* ---- merge_map.c: from a run to the merged file. */

void merge_map_clock(const struct merge *m, struct merge_map *map);
int merge_is_one_boot(const struct merge *m, const struct arena_header *from);
/* A tick and a number of ticks of the run, in the merged clock. */
uint64_t merge_tick(const struct merge_map *map, uint64_t tick);
uint64_t merge_length(const struct merge_map *map, uint64_t ticks);
/* The same of a tick that is 0 if there is none. */
static inline uint64_t merge_tick_or_none(const struct merge_map *map, uint64_t tick) {
    return tick ? merge_tick(map, tick) : 0;
}
/* Nanoseconds from a merged tick to another; modulo 2^64 if this is earlier. */
uint64_t merge_ns_between(const struct merge *m, uint64_t from, uint64_t to);
/* Converts the numbers of a record of the run; in_ns: its lengths stay as they are. */
void merge_numbers(const struct merge_map *map, const struct record *r, uint64_t *number,
                   int in_ns);
/* Makes a record of the merged file one of nothing, and adds numbers to it. What has no room in 64
 * bits is the largest number: a record that is found by a key is not added to if its numbers do not
 * fit, and another one of the same key is made. Readers add up the two. */
void merge_record_clear(const struct record *r, void *to);
int merge_record_fits(const struct record *r, const void *to, const uint64_t *number);
void merge_record_add(const struct record *r, void *to, const uint64_t *number);
/* The merged unit of the node at a unit of the run; 0 = none. */
uint32_t merge_node(const struct merge_map *map, uint32_t unit);
/* The merged unit of the node and the device with that index in the snapshot; 0 = none. */
uint32_t merge_node_at(const struct merge_map *map, uint32_t index);
uint32_t merge_device_at(const struct merge_map *map, uint32_t index);

/* ---- merge_names.c: each returns a number of enum merge_known, or 0. */

uint32_t merge_names_text(struct merge *m, const char *bytes, size_t length);
uint32_t merge_names_site(struct merge *m, const struct snapshot *s, uint32_t id);
uint32_t merge_names_set(struct merge *m, const char *name);
uint32_t merge_names_device(struct merge *m, const struct snapshot *s, uint32_t unit);
/* The text of a site's name. */
uint32_t merge_names_text_of(struct merge *m, uint32_t site);

/* ---- Parts of a run. */

int merge_threads(struct merge *m, struct merge_map *map);
int merge_open_scopes(struct merge *m, const struct merge_map *map);
int merge_nodes(struct merge *m, struct merge_map *map);
/* Adds the numbers that only some nodes have, but those of a GPU. */
int merge_measures_add(struct merge *m, struct stint_impl_node *to, const struct measures *more);
/* The info of the longest call, and extremes that are equal: before the numbers are added. */
void merge_extremes_add(struct stint_impl_node *to, uint64_t number[SCOPE_NUMBERS],
                        const char *info);
int merge_activities(struct merge *m, struct merge_map *map);
/* Their times count from the merged start once all runs were added. */
void merge_activities_finish(struct merge *m);
int merge_lines(struct merge *m, const struct merge_map *map);
/* Copy the ring of a thread at a unit of the run, 0 = none, and the lanes of GPU streams. */
int merge_ring(struct merge *m, const struct merge_map *map, uint32_t unit, uint32_t *out);
int merge_lanes(struct merge *m, const struct merge_map *map);
void merge_about_add(struct merge *m, const struct merge_map *map);
int merge_about_finish(struct merge *m);

/* ---- merge_buckets.c */

/* Samples of a run. */
struct merge_samples {
    uint32_t thread;    /* as in snapshot_read_buckets */
    uint32_t histogram; /* units, 0 = none */
    uint32_t taken;     /* the histogram of those that were taken back; likewise */
    double rate;        /* of the merged clock, for each value */
};
/* Adds them to the histogram at a merged unit, which is made if it is 0. Several records of a file
 * made by hand may share one: the first one has it. */
int merge_histogram_add(struct merge *m, struct merge_map *map, uint32_t *to,
                        const struct merge_samples *from);
/* Writes all histograms as pairs. */
int merge_buckets_finish(struct merge *m);
/* Adds the samples that a node of the run keeps itself, before its calls are added. */
int merge_kept_add(struct merge *m, const struct merge_map *map, struct stint_impl_node *to,
                   const struct snapshot_node *n);

/* ---- The ranks: merge_ranks.c, merge_helpers.c, merge_jobs.c, merge_windows.c. */

int merge_ranks_add(struct merge *m, const struct merge_map *map);
/* Prints what is wrong with the ranks. */
int merge_ranks_check(struct merge *m);
/* Makes the helpers of a rank parts of it. */
int merge_ranks_fold(struct merge *m);
int merge_ranks_finish(struct merge *m);
uint32_t merge_ranks_killed(const struct merge_ranks *ranks);
void merge_cell_add(struct arena_rank_cell *to, const struct arena_rank_cell *more);
/* A copy of the windows of steps that begin at a unit of the run; 0 = none. */
int merge_windows_add(struct merge *m, const struct merge_map *map, uint32_t from, uint32_t *out);

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
