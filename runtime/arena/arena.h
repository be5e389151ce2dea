/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything recorded, in one relocatable block: names, sites, sets, threads, open scopes, nodes
 * and histograms, linked by offsets. The layout is the same whether the block is anonymous memory
 * or a file; ARENA_FORMAT is its version. References count units of 64 bytes from the start (texts:
 * units of 8), 0 = none.
 *
 * Threading: arena_get, arena_text, arena_lose and the readers are safe from any thread; open and
 * drop only under the registry's lock.
 */
#ifndef STINT_ARENA_H
#define STINT_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "activity_kind.h"
#include "base/name.h"
#include "base/status.h"
#include "stint/detail/impl_layout.h"
#include "system/clock.h"
#include "system/replace_file.h"

/* The version of a run file, and the oldest one that is read: all of 1.x. It is raised if a reader
 * of the previous version would misread a file; STINT_ABI is raised if compiled code would. */
#define ARENA_FORMAT 5u
#define ARENA_FORMAT_OLDEST 4u
#define ARENA_BUCKETS_OF_4 640u /* of a histogram in a file of format 4, which has no `open` */
static inline int arena_format_is_known(uint32_t format) {
    return format >= ARENA_FORMAT_OLDEST && format <= ARENA_FORMAT;
}

#define ARENA_MAGIC RUN_FILE_MAGIC
#define ARENA_SITES_PER_CHUNK 256u
#define ARENA_SITE_CHUNKS 4096u
#define ARENA_SITES (ARENA_SITES_PER_CHUNK * ARENA_SITE_CHUNKS) /* 2^20: four key bits stay free */
#define ARENA_SETS (1u << STINT_IMPL_SET_BITS)
#define ARENA_SETS_PER_CHUNK 256u
#define ARENA_NAME_BYTES NAME_BYTES
#define ARENA_LOSSES 42 /* places for the numbers of gen/status.ini: so many lines are whole */
/* The last place has the intervals begun less those ended, modulo 2^64: an interval may end on
 * another thread, so that only the sum of all threads is the number of open ones. */
#define ARENA_OPEN_INTERVALS (ARENA_LOSSES - 1)

/* Layout is format: a size that changes by accident would change every run file. */
/* An odd number: the first lines of many nodes lie in all sets of a cache. */
_Static_assert(sizeof(struct stint_impl_node) == 5 * STINT_IMPL_UNIT, "a node is five lines");
_Static_assert(offsetof(struct stint_impl_node, measures) == STINT_IMPL_UNIT,
               "a sample is one line");
_Static_assert(STINT_STATUS_COUNT <= ARENA_OPEN_INTERVALS, "every loss has a place");
_Static_assert(sizeof(struct stint_impl_frame) == 48, "part of the run file");
_Static_assert(sizeof(struct stint_impl_histogram) % STINT_IMPL_UNIT == 0, "whole lines");

/* The purpose of memory, which decides how much of the arena it may fill: histograms get three
 * quarters of what nodes and names get, and traces a part of their own. */
enum arena_class { ARENA_RECORD, ARENA_HISTOGRAM, ARENA_TRACE };

/* Older files may have nodes with calls that were not timed (STINT_SAMPLE). Such a node has this
 * bit in `kind`, and in `gpu` the unit of a struct arena_partial. The start of an open call that is
 * not timed has the bit ARENA_UNTIMED_START. */
#define ARENA_PARTIAL 0x4000u
#define ARENA_UNTIMED_START ((uint64_t)1 << 63)

struct arena_partial {
    uint64_t reserved;
    uint64_t untimed; /* calls that ended untimed */
    uint64_t unused[14];
};

struct arena_text {
    uint32_t length;
    char bytes[]; /* and a NUL */
};

struct arena_site {
    uint32_t name; /* texts */
    uint32_t file;
    uint32_t function;
    uint32_t line;
    uint8_t level;
    uint8_t role;
    uint8_t dynamic;
    uint8_t watched; /* the library's own: see record/watch.h */
    uint8_t plain;   /* as in struct stint_impl_site */
    uint8_t reserved[3];
};

struct arena_set {
    uint32_t name;
};

struct arena_thread {
    uint32_t next; /* the thread registered before this one */
    uint32_t tid;  /* of the last owner */
    uint32_t ordinal;
    uint32_t alive;
    uint32_t uses; /* threads that recorded here, one after the other */
    uint32_t root; /* node */
    uint32_t frames;
    uint32_t ring;        /* its trace, units; 0 = none */
    uint64_t start_ticks; /* of the last owner */
    uint64_t end_ticks; /* while it is alive: when it last ended an interval, a step or a report */
    char name[16];
    uint64_t lost[ARENA_LOSSES]; /* written by the owner, relaxed */
};

/* GPU times of a node's scopes, in nanoseconds. Written under the event pool's lock by whichever
 * thread finds the events done; seq as in a node. */
struct arena_gpu {
    uint64_t seq;
    uint64_t total;
    uint64_t min;
    uint64_t max;
    uint64_t first;
    uint32_t histogram; /* of nanoseconds; units, 0 = none */
    uint32_t device;    /* units, 0 = unknown: of the last sample */
    uint64_t reserved[2];
};

_Static_assert(sizeof(struct arena_gpu) == STINT_IMPL_UNIT, "a GPU sample is one line");

/* A GPU that scopes ran on. Peaks at nominal clocks, 0 = unknown. */
struct arena_device {
    uint32_t next; /* units */
    uint32_t number;
    char name[64];
    uint32_t major;
    uint32_t minor;
    uint64_t bytes_per_s;
    uint64_t flops_per_s; /* single precision, without tensor cores */
    /* Limits of occupancy; 0 = unknown. */
    uint32_t multiprocessors;
    uint32_t threads_per_mp;
    uint32_t blocks_per_mp;
    uint32_t registers_per_mp;
    uint32_t shared_per_mp;   /* bytes */
    uint32_t reserved_shared; /* bytes of it a block */
    uint32_t words;           /* text (gpu_words.h), 0 = none */
    uint32_t reserved;
};

/* Work of a GPU or calls of its API: of one kind, detail and name, on one device and stream, for
 * one scope. Nanoseconds. Written under the activity lock; seq as in a node. Rows that lack a time
 * or bytes have 0 there. */
struct arena_activity {
    uint64_t seq;
    uint64_t total;
    uint64_t min; /* UINT64_MAX before the first */
    uint64_t max;
    uint64_t bytes;
    uint64_t max_bytes; /* of one */
    uint64_t squares;   /* the bits of a double: the sum of the squared times */
    uint64_t first_at;  /* since the arena's start: the earliest start, the latest end */
    uint64_t last_at;
    uint64_t launches;     /* of those whose API call is known: */
    uint64_t launch_total; /* how long the call took */
    uint64_t delay_total;  /* from its end to the start on the device; 0 where that came before */
    uint32_t next;         /* units */
    uint32_t kind;         /* enum activity_kind */
    uint32_t detail;
    uint32_t name;   /* text, 0 = none */
    uint32_t node;   /* units, 0 = unknown */
    uint32_t device; /* units, 0 = none */
    uint32_t context;
    uint32_t stream;
    uint32_t histogram; /* of nanoseconds; units, 0 = none */
    uint32_t varies;    /* not all had the configuration below, which is the longest one's */
    ACTIVITY_SHAPE;
    uint32_t samples;   /* struct arena_samples, or arena_sizes of a kind that moves bytes; units,
                            * 0 = none */
    uint64_t min_bytes; /* of one; UINT64_MAX before the first */
    uint64_t byte_squares; /* the bits of a double: the sum of the squared bytes */
};

/* The first times of an activity, in the order in which they came. */
#define ARENA_SAMPLES 64u
struct arena_samples {
    uint64_t ns[ARENA_SAMPLES];
};
/* The same of copies, with their bytes. */
struct arena_sizes {
    struct arena_samples times;
    uint64_t bytes[ARENA_SAMPLES];
    struct stint_impl_histogram histogram; /* of bytes */
};

_Static_assert(sizeof(struct arena_activity) == 3 * STINT_IMPL_UNIT, "an activity is three lines");
_Static_assert(offsetof(struct arena_sizes, histogram) == 16 * STINT_IMPL_UNIT,
               "a histogram begins at a unit");

/* A GPU stream and the spans of its timers. */
struct arena_lane {
    uint32_t next; /* units */
    uint32_t ring;
    uint32_t device; /* units of its record, 0 = unknown */
    uint32_t number; /* of the lane, from 1 */
    uint64_t stream; /* its handle, or of activities its number; 0 = several streams that had no
                      * lane of their own */
    uint32_t kind;   /* enum arena_lane_kind */
    uint32_t context;
    uint32_t rank;   /* of a merged file: the run's place among those that were merged, */
    uint32_t pid;    /* and its process; 0: the file's own */
    uint32_t ranked; /* 1: `rank` is the rank in the job */
    uint32_t reserved[3];
};
/* ACTIVITIES: a span names, where a scope's names its node, the unit of its struct arena_activity;
 * the payload before it has in its upper 26 bits the unit of the launching thread's record (0 =
 * unknown) and in the lower 38 the ticks from the launch to the start, all ones: unknown.
 * MEMORY: of a device; values only, bytes allocated from then on, which name the unit of the
 * struct arena_activity of its memory. */
enum arena_lane_kind { ARENA_LANE_EVENTS, ARENA_LANE_ACTIVITIES, ARENA_LANE_MEMORY };

/* Where the run took place; texts. */
struct arena_about {
    uint32_t program;
    uint32_t command; /* with its arguments */
    uint32_t host;
    uint32_t cpu;
    uint32_t compiler; /* of the runtime */
    uint32_t clock;
    uint32_t gpu; /* the back end; 0 = not requested */
    uint32_t cpus;
    uint32_t reference_ps; /* see about.h; 0 = not measured */
    uint32_t rank;         /* of a parallel run, + 1; 0 = not known. Atomic: may come later */
};

/* The lines of a source file for one thread. The line numbers follow, 32 bits each, then, on a
 * multiple of 32 bytes from here, a struct stint_impl_line_cell for each. Written by the thread,
 * relaxed. */
struct arena_lines {
    uint32_t next;   /* units */
    uint32_t thread; /* units of its record */
    uint32_t file;   /* text */
    uint32_t count;
    uint32_t content; /* text: as in struct stint_impl_lines_file; 0 = not known */
    uint32_t reserved;
};

/* The cost of a call on that machine, as measured at the end: ticks times 1000, of a begin and an
 * end. */
struct arena_cost {
    uint64_t timed;
    uint64_t recursive; /* a call inside an open one of its scope */
    uint64_t dynamic;   /* in addition, with a name made at run time */
    uint64_t unused[2]; /* may be other than 0 in files of before, as the others of this name */
    uint64_t reading;   /* in addition, of STINT_RUSAGE and STINT_COUNTERS; 0: not set */
    /* For corrected times: what of a timed call with little work in it is in its own time, and what
     * is not but in the time of the scope around it. */
    uint64_t inner;
    uint64_t outer;
    uint64_t unused_inner[2];
    /* A timed call where readings follow each other so closely that most of the time between two is
     * their own, and what a call with almost nothing in it records. */
    uint64_t dense;
    uint64_t gap;
    uint32_t ranges;     /* 1: NVTX ranges come with every scope, and are not in it */
    uint32_t conditions; /* text: as machine_conditions, and " label=" with STINT_LABEL; 0 = none */
    uint64_t unused_share;
    /* A call where scopes by the hundred take turns, whose records are not in the nearest cache; 0:
     * not known. */
    uint64_t cold;
    uint64_t unused_cold;
};

/* The place of the run in a parallel job, and of a merged file the ranks that it is of. */
struct arena_job {
    uint32_t size;  /* ranks of the job; 0 = not known. Written once; relaxed */
    uint32_t local; /* rank on its host, + 1; 0 = not known */
    uint32_t id;    /* text; 0 = not known */
    /* The rest is 0 in a file that was not merged. */
    uint32_t ranks; /* a table of struct arena_rank; units */
    uint32_t rank_count;
    uint32_t names; /* a table of struct arena_rank_name; units */
    uint32_t name_count;
    /* Also of a process's own file: struct arena_windows, the newest; units, 0 = none. Release */
    uint32_t windows;
    uint32_t reserved[7];
    uint32_t clocks; /* text: how exact the clocks of its traces are; 0 = one clock, or no trace */
};

/* A process of a merged file. Its cells are numbered as the names; those after the last are 0. */
struct arena_rank {
    uint64_t start_real_ns;
    uint64_t end_real_ns;
    uint32_t rank;  /* + 1; 0 = no launcher gave one */
    uint32_t local; /* the same of its host */
    uint32_t size;
    uint32_t pid;
    uint32_t host; /* texts */
    uint32_t job;
    uint32_t killed; /* 1: its end is not known */
    uint32_t cells;  /* a table of struct arena_rank_cell; units */
    uint32_t cell_count;
    uint32_t windows;    /* struct arena_windows; units, 0 = none */
    uint32_t parent_pid; /* 0 = not known */
    uint32_t
        helpers; /* processes that it started, as data loaders, whose numbers are in its cells */
};

/* A row of the flat statistics, and the threads of all ranks that have it. */
struct arena_rank_name {
    uint32_t site;
    uint32_t set;
    uint64_t threads;
};

/* The share of one rank in a name. */
struct arena_rank_cell {
    uint64_t calls;
    uint64_t total_ns;
    uint64_t self_ns;
};

/* The time of a name in a window of steps. */
struct arena_window {
    uint64_t ticks;
    uint64_t calls;
};

/* The sums of a waiting scope per window of steps: window n is of the steps from n times width on,
 * where the first step is number 0. Written by the thread that has LOCK_STEP, relaxed.
 * by_calls: 0: steps of stint_step; 1: each call of the scope in this process is a step. */
struct arena_windows {
    uint32_t next; /* units */
    uint32_t site; /* one of those that have its name */
    uint32_t set;
    uint32_t seq;   /* odd while windows are added to each other */
    uint64_t width; /* steps, a power of two */
    uint64_t steps; /* the sums are of so many steps */
    uint32_t room;  /* windows */
    uint32_t lacks; /* nodes, or calls, of it that are not in the sums */
    uint32_t by_calls;
    uint32_t reserved[5];
    struct arena_window window[]; /* after the last, seq again in its ticks */
};

/* 15 names of 4 176 bytes, and 31 by calls of 2 128, are less than 128 kB. */
#define ARENA_WINDOWS 256u
#define ARENA_WINDOW_NAMES 15u
#define ARENA_CALL_WINDOWS 128u
#define ARENA_CALL_WINDOW_NAMES 31u
#define ARENA_WINDOW_RECORDS (ARENA_WINDOW_NAMES + ARENA_CALL_WINDOW_NAMES)

_Static_assert(sizeof(struct arena_windows) == STINT_IMPL_UNIT, "one line");
_Static_assert(131072 >=
                   ARENA_WINDOW_NAMES * (STINT_IMPL_UNIT + (ARENA_WINDOWS + 4) * 16) +
                       ARENA_CALL_WINDOW_NAMES * (STINT_IMPL_UNIT + (ARENA_CALL_WINDOWS + 4) * 16),
               "docs/scale.md");
_Static_assert(sizeof(struct arena_job) == STINT_IMPL_UNIT, "one line");
_Static_assert(sizeof(struct arena_rank) == STINT_IMPL_UNIT, "one line");
_Static_assert(sizeof(struct arena_rank_cell) == 24, "the memory of a merge: docs/scale.md");

struct arena_header {
    char magic[8];
    uint32_t abi;
    uint32_t header_bytes;
    uint64_t size;
    uint64_t used; /* bytes, atomic */
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t clock_kind;
    uint32_t first_thread; /* newest; release */
    uint32_t thread_count;
    uint32_t site_count;   /* ids 1 … site_count are valid; release */
    uint32_t set_count;    /* ids 0 … set_count - 1; release */
    uint32_t first_device; /* newest; release */
    uint32_t first_lane;   /* newest; release */
    uint32_t lane_count;
    uint32_t first_activity;   /* newest; release */
    uint32_t tracer_requested; /* 1: GPU activities were to be recorded; relaxed */
    uint64_t gpu_in_flight;    /* GPU scopes whose time is still to come; relaxed */
    uint64_t steps;            /* stint_step calls; relaxed */
    struct clock_stamp start;
    struct clock_stamp end;    /* all 0 until the program ends */
    uint64_t process_start_ns; /* monotonic */
    uint64_t ticks_per_us;     /* 24.8 fixed point, as measured at the start */
    struct arena_about about;
    uint32_t first_lines; /* newest; release */
    char boot_id[40];
    uint32_t outside; /* struct arena_measures of the group memory: of the threads that have no
                       * record; units, 0 = none. Release */
    uint32_t cost;    /* struct arena_cost; units, 0 = none: the program has not ended. Release */
    uint32_t job;     /* struct arena_job; units, 0 = none. Release */
    uint64_t lost[ARENA_LOSSES]; /* losses that belong to no thread; atomic adds */
    uint32_t set_chunk[ARENA_SETS / ARENA_SETS_PER_CHUNK];
    uint32_t site_chunk[ARENA_SITE_CHUNKS];
};

/* Bytes from the start of a struct arena_lines to the cells. */
static inline uint64_t arena_lines_cells_at(uint32_t count) {
    return (sizeof(struct arena_lines) + (uint64_t)count * sizeof(uint32_t) + 31) & ~(uint64_t)31;
}

/* A histogram of a merged file, in the place of a struct stint_impl_histogram: the counts of its
 * buckets have 64 bits, and those in use take two or three bytes each (histogram_encode). */
struct arena_pairs {
    uint32_t mark;  /* ARENA_PAIRS: no bucket of a recorder counts so far */
    uint32_t bytes; /* of the pairs */
    uint32_t more;  /* units: all pairs are there; 0: they are in `pair` */
    uint16_t open;  /* as in struct stint_impl_histogram */
    uint16_t full;  /* 1: a bucket had no room for all of its samples */
    uint8_t pair[48];
};
#define ARENA_PAIRS UINT32_MAX
_Static_assert(sizeof(struct arena_pairs) == STINT_IMPL_UNIT,
               "a histogram of few values is a line");

/* The process's arena; base is NULL before the first use and after a fork. */
struct arena {
    char *base;
    size_t size;
    uint64_t trace;      /* of it, for ARENA_TRACE alone */
    uint64_t trace_used; /* atomic */
    uint32_t traces;     /* pieces of it; atomic */
};
extern struct arena arena;

/* Maps `bytes`, in the run file of that name if there is one (NULL: none) and it can be had, else
 * in memory, and there a half, a quarter … down to 1 MiB if need be. 0, or -1 without memory. */
int arena_open(size_t bytes, const char *file, const struct clock_stamp *start);
/* So much of it, half of it at most, is for traces. Before any is made. */
void arena_give_trace(uint64_t bytes);
/* Bytes that the next trace may have: of what is left a quarter, a fifth, a sixth … So the first
 * ones are long, and a hundred find room. */
uint64_t arena_trace_share(void);
/* Gives the file its name, once it is laid out: other processes see it from then on. */
void arena_publish(void);
/* At the end of the program: sets the end in the header, and writes the file that was not
 * mapped. */
void arena_close(const struct clock_stamp *end);
/* Forgets it, in the child of a fork: all but so many bytes of it, the forking thread's open
 * scopes. */
void arena_drop(void *keep, size_t bytes);
/* In the child of a fork that interrupted code which reads and writes it: replaces it by a copy,
 * which that code then changes. */
void arena_part(void);
static inline struct arena_header *arena_header(void) {
    return (struct arena_header *)(void *)arena.base;
}
/* Zeroed memory in units, or 0 when the class's share is used up. */
uint32_t arena_get(size_t bytes, enum arena_class use);
static inline void *arena_at(uint32_t unit) {
    return arena.base + (size_t)unit * STINT_IMPL_UNIT;
}
/* The record of a number that was given out. In: of an arena that may no longer be the process's,
 * in code that a forking signal handler may have interrupted. */
static inline struct arena_site *arena_site_in(char *base, uint32_t id) {
    struct arena_header *h = (struct arena_header *)(void *)base;
    uint32_t chunk = h->site_chunk[(id - 1) / ARENA_SITES_PER_CHUNK];
    return (struct arena_site *)(void *)(base + (size_t)chunk * STINT_IMPL_UNIT) +
           (id - 1) % ARENA_SITES_PER_CHUNK;
}
static inline struct arena_site *arena_site_at(uint32_t id) {
    return arena_site_in(arena.base, id);
}
/* A copy of the text; 0 without memory. Under the registry's lock. */
uint32_t arena_text_put(const char *bytes, size_t length);
/* The page-size piece that texts are cut from, in bytes from the arena's start; all 0: none yet. */
struct arena_piece {
    size_t next, end;
};
/* The same without that lock, from a piece of the caller's own. */
uint32_t arena_text_put_in(struct arena_piece *piece, const char *bytes, size_t length);
static inline const struct arena_text *arena_text_in(const char *base, uint32_t text) {
    return (const struct arena_text *)(const void *)(base + (size_t)text * 8);
}
static inline const struct arena_text *arena_text_at(uint32_t text) {
    return arena_text_in(arena.base, text);
}
/* Counts a loss that belongs to no thread. Works without an arena too. */
void arena_lose(enum stint_status what, uint64_t n);

#endif
