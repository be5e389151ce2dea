/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture of an arena at one moment: every node of every thread, read without stopping a thread
 * and checked as untrusted input (bounds, cycles, counts). Immutable once taken;
 * reports see nothing else.
 */
#ifndef STINT_SNAPSHOT_H
#define STINT_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "arena/activity_kind.h"
#include "arena/gpu_words.h"
#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/scratch.h"
#include "base/stamp.h"
#include "base/status.h"
#include "records.h"
#include "stint/detail/impl_layout.h"

#define SNAPSHOT_NONE HASH_MAP_NONE
#define SNAPSHOT_HISTOGRAMS 3u
#define SNAPSHOT_DEVICES 64u /* more GPUs than one program sees; also ends a cycle */

/* GPU times of the scopes of a node, beside its measures. */
struct snapshot_gpu {
    uint32_t histogram; /* of nanoseconds */
    uint32_t device;    /* of the last one: index, SNAPSHOT_NONE: unknown */
    uint32_t loose;
};

/* Values that few nodes have. A run may have a million nodes, so a node without has no memory for
 * it. */
struct snapshot_extra {
    uint64_t open;      /* ticks since it was opened, if it is open */
    uint64_t open_self; /* of these, without the scopes inside that were recorded or are open */
    struct snapshot_gpu gpu;
    uint64_t untimed;  /* calls that were not timed, in a file of before */
    int holds_untimed; /* there are such calls right inside; by snapshot_sum_children */
    /* When the interval began: its samples, those that it kept itself, and of these those in the
     * histogram. */
    uint64_t before;
    uint32_t raw_before;
    uint32_t raw_counted;
    char info[STINT_IMPL_INFO];
};

struct snapshot_node {
    SCOPE_BY_NAME;                      /* ticks, as all times here but the GPU's */
    const struct snapshot_extra *extra; /* &snapshot_no_extra: none */
    const struct measures *measures;    /* &snapshot_no_measures: none */
    uint64_t splits;                    /* timed calls of its nested scopes */
    uint32_t unit;
    uint32_t site;
    uint16_t set;
    uint8_t kind;       /* INTERVAL also of nodes whose times are in nanoseconds: */
    unsigned in_ns : 1; /* total, nested, min, max, first and its histogram are so */
    unsigned loose : 7; /* SNAPSHOT_LOOSE_*: not exact, take the histogram's bound */
    uint32_t parent;    /* index, SNAPSHOT_NONE for a root; always before the node itself */
    uint32_t sender;    /* the scope that sent its work: index, before or after; or SNAPSHOT_NONE */
    uint32_t thread;
    uint32_t histogram;
};
_Static_assert(sizeof(struct snapshot_node) <= 128, "the memory of a report: docs/scale.md");

/* stint's own cost in a node's `total` and snapshot_own, at most as much. */
struct snapshot_cost {
    uint64_t all;
    uint64_t own;
};
#define SNAPSHOT_LOOSE_MIN 1u
#define SNAPSHOT_LOOSE_MAX 2u
#define SNAPSHOT_LOOSE_MIN_BYTES 4u
#define SNAPSHOT_LOOSE_MAX_BYTES 8u

struct snapshot_open {
    uint32_t node;
    uint64_t ticks; /* since it was opened; of a call that is not timed, in a file of before, 0 */
    int untimed;
};

struct snapshot_thread {
    uint32_t unit; /* of its record */
    uint32_t tid;
    uint32_t alive;
    uint32_t uses;
    uint32_t root;
    uint32_t ring; /* its trace; units, 0 = none */
    uint32_t open_count;
    char name[16];
    struct snapshot_open *open; /* outermost first */
    const struct stint_impl_frame *frames;
    uint32_t frames_used; /* those from there on were never open */
    uint64_t last_begin;  /* ticks of its latest timed scope, maybe ended; 0: there is none */
    uint64_t until;       /* ticks: the snapshot's, in a merged run the end of its process */
};

struct snapshot_site {
    const char *name;
    uint32_t length;
    uint32_t line;
    const char *file;
    uint8_t level;
    uint8_t role;
    uint8_t dynamic; /* its name was made at run time */
    uint8_t plain;   /* its code was compiled without optimisation */
};

struct snapshot_device {
    uint32_t unit;
    uint32_t number;
    char name[64];
    uint32_t major;
    uint32_t minor;
    uint64_t bytes_per_s; /* at best, 0 = unknown */
    uint64_t flops_per_s;
    uint32_t multiprocessors; /* 0 = unknown, as the others */
    uint32_t threads_per_mp;
    uint32_t blocks_per_mp;
    uint32_t registers_per_mp;
    uint32_t shared_per_mp;
    uint32_t reserved_shared;
    struct gpu_words words; /* none: unknown */
};

/* struct arena_activity, checked. */
struct snapshot_activity {
    ACTIVITY_BY_NAME;
    uint64_t before; /* of an interval: samples that came before it */
    /* Samples that were taken back: they are not in the count, total and squares above. */
    uint64_t taken_count;
    uint64_t taken_total;
    double taken_squares;
    const char *name; /* "" = none */
    uint32_t name_length;
    uint32_t unit;
    uint32_t kind; /* below ACTIVITY_KINDS */
    uint32_t detail;
    uint32_t node;   /* index, SNAPSHOT_NONE: unknown */
    uint32_t device; /* index, SNAPSHOT_NONE */
    uint32_t context;
    uint32_t stream;
    uint32_t histogram;
    uint32_t samples;         /* units, 0 = none */
    uint32_t byte_histogram;  /* likewise */
    uint32_t taken_histogram; /* of the samples that were taken back; likewise */
    uint32_t loose;           /* SNAPSHOT_LOOSE_* */
    uint32_t varies;
    ACTIVITY_SHAPE;
};

struct arena_activity;
struct baseline;
struct histogram;

struct snapshot {
    struct scratch memory;
    const char *base; /* what was read */
    uint64_t size;
    /* Reads from the file into memory and returns the bytes that were there: the events of rings
     * are read so. NULL: they are at `base`, too. */
    uint64_t (*pull)(int file, void *to, uint64_t bytes, uint64_t at);
    struct clock_stamp now;
    double ns_per_tick;
    /* As the writer measured it at its start, to 0.1 %: the same in every reading of a run, so that
     * counts per bucket of nanoseconds never fall. 0: as ns_per_tick. */
    double steady_ns_per_tick;
    uint64_t start_ns; /* monotonic, when the run began */
    uint64_t wall_ns;  /* since the run or the interval began */
    int wall_at_least; /* its end is not known: this is up to the last recorded action */
    int corrected;     /* rows are without the nodes' cost */
    int is_format_4;   /* its histograms are shorter, and its times are rounded down */
    int is_written;    /* its writer runs: `pull` may find events that are being replaced */
    struct snapshot_thread *threads;
    uint32_t thread_count;
    struct snapshot_node *nodes;
    uint32_t node_count;
    struct snapshot_extra *extras; /* room for one of each node; the nodes lead to them */
    uint32_t extra_count;
    struct snapshot_cost *costs; /* by node; NULL: not known */
    u128 cost_most;              /* ticks: `own` of all nodes, if calls cost the most */
    struct snapshot_site *sites; /* by id; 0 is unused */
    uint32_t site_count;
    const char **sets; /* names by id */
    uint32_t set_count;
    struct snapshot_device *devices;
    uint32_t device_count;
    struct snapshot_activity *activities; /* oldest first */
    uint32_t activity_count;
    int tracer_requested;   /* activities were to be recorded, with or without success */
    uint64_t gpu_in_flight; /* GPU scopes whose time is still to come */
    uint64_t steps;
    const struct measures *outside; /* of threads that have no record */
    uint64_t lost[STINT_STATUS_COUNT];
    uint64_t open_intervals;
    const struct baseline *since;
    struct histogram *histograms; /* those that rows may use; NULL: there are none */
    int one_row;                  /* all nodes are of one row of rows_flat */
    struct hash_numbers node_of;  /* by their units */
    uint32_t patience; /* tries that are left for nodes that change while they are read */
    int file;          /* for `pull` */
};

/* Reads a copy of an arena of `size` bytes in use, in full. 0, or -1 with nothing to free: no
 * memory, or not an arena. */
int snapshot_read(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                  const struct clock_stamp *now);
/* The same while threads record in it: what changes meanwhile is read again. */
int snapshot_read_live(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                       const struct clock_stamp *now);
/* The nodes of a name of the process's own arena. */
struct snapshot_choice {
    const uint32_t *unit; /* all nodes of the name, in any set */
    uint32_t count;
    uint32_t set; /* the one that is read */
    uint32_t name;
    const uint32_t *name_of;      /* by site: equal for equal names, 0 for site 0 */
    int join;                     /* several nodes may be read into one: no baseline follows */
    struct scratch *memory;       /* for the snapshot, which takes it */
    struct histogram *histograms; /* likewise, for its rows: SNAPSHOT_HISTOGRAMS, `narrow` */
};
/* The same of these nodes alone, for a row of rows_flat; without activities of GPUs. */
int snapshot_read_chosen(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                         const struct clock_stamp *now, const struct snapshot_choice *choice);
/* Again, after a change of counts: what is computed from them. */
void snapshot_sum_children(struct snapshot *s);
void snapshot_free(struct snapshot *s);

extern const struct snapshot_extra snapshot_no_extra;
extern const struct measures snapshot_no_measures;
/* The node's, to be written to: from the first such call on it has one. */
struct snapshot_extra *snapshot_extra_of(struct snapshot *s, uint32_t node);

/* The index of the node at that place of the arena, or SNAPSHOT_NONE. */
uint32_t snapshot_node_of(const struct snapshot *s, uint32_t unit);
/* The scope above a node in the tree of all threads, where work is below its sender: the sender,
 * else the parent. SNAPSHOT_NONE for a root. It leads to a root in at most node_count steps. */
static inline uint32_t snapshot_above(const struct snapshot *s, uint32_t node) {
    const struct snapshot_node *n = &s->nodes[node];
    return n->sender != SNAPSHOT_NONE ? n->sender : n->parent;
}
uint32_t snapshot_device_of(const struct snapshot *s, uint32_t unit);
/* The histogram of scopes of that thread, those samples included that its frames keep uncounted
 * (stint_impl_frame.pending); SNAPSHOT_NONE: of something else, with none. out: zeroed, or one that
 * was in use. 0, or -1 if there is no histogram there. */
int snapshot_read_buckets(const struct snapshot *s, uint32_t thread, uint32_t unit,
                          struct histogram *out);
/* Reads the list that begins at the unit, and adds the measures of other places that are `known`
 * already. In the snapshot's memory; &snapshot_no_measures: none, or there is no memory. */
const struct measures *snapshot_read_measures(struct snapshot *s, uint32_t unit,
                                              const struct measures *known);
/* The measures of all threads while they had no open scope. */
void snapshot_outside(const struct snapshot *s, struct measure_sums *out);
/* The node's timed calls, and those that were not timed. */
static inline u128 snapshot_calls(const struct snapshot_node *n) {
    return (u128)n->count + n->extra->untimed;
}
/* The calls' time without nested scopes, in the node's unit. */
uint64_t snapshot_own(const struct snapshot_node *n);
/* When its first call began, and when that ended: ticks, 0: not known. */
uint64_t snapshot_first_begin(const struct snapshot_node *n);
uint64_t snapshot_first_end(const struct snapshot *s, const struct snapshot_node *n);
/* The node's calls that are counted without a time: left ones, and those inside an open one. */
uint64_t snapshot_left(const struct snapshot_node *n);
uint64_t snapshot_recursive(const struct snapshot_node *n);
/* The bytes in use of a place, from its measures. */
u128 snapshot_memory_live(const u128 measure[MEASURE_COUNT]);
/* A checked pointer to `bytes` bytes at a unit, or NULL. */
const void *snapshot_at(const struct snapshot *s, uint32_t unit, uint64_t bytes);
/* A list of records, newest first, each of which has the unit of the next one. It ends where the
 * next one is not in the arena, and after `most` or as many as there is room for: a circle ends. */
struct snapshot_list {
    const struct snapshot *snapshot;
    uint32_t unit; /* of the record that was read last */
    uint32_t next;
    uint32_t bytes;
    uint32_t next_at;
    uint64_t left;
};
struct snapshot_list snapshot_list_of(const struct snapshot *s, uint32_t first, uint32_t bytes,
                                      uint32_t next_at, uint64_t most);
#define SNAPSHOT_LIST(snapshot, first, type, most)                                                 \
    snapshot_list_of(snapshot, first, sizeof(type), offsetof(type, next), most)
/* NULL after the last one. */
const void *snapshot_list_next(struct snapshot_list *l);
/* How many are to come. */
uint32_t snapshot_list_count(struct snapshot_list l);
/* A text of the arena with its NUL, or NULL. */
const char *snapshot_text(const struct snapshot *s, uint32_t text, uint32_t *length);
/* A number of nonsense must not be undefined behaviour too. */
static inline uint64_t snapshot_whole(double v) {
    if (v < 0) {
        return 0;
    }
    return v < 1.8e19 ? (uint64_t)v : UINT64_MAX - 1;
}
/* The same of a sum. The limit is above all sums of a file, and far from the end of 128 bits. */
static inline u128 snapshot_sum_whole(double v) {
    if (v < 1.8e19) {
        return snapshot_whole(v);
    }
    return (u128)double_min(v, 1e30);
}
/* Nanoseconds to the nearest one. Files of format 4 keep the numbers that they had. */
static inline uint64_t snapshot_ns(const struct snapshot *s, uint64_t ticks) {
    return snapshot_whole((double)ticks * s->ns_per_tick + (s->is_format_4 ? 0 : 0.5));
}
/* The same of a sum: what has room in 64 bits is as in snapshot_ns, a larger one is multiplied
 * exactly. */
u128 snapshot_sum_ns(const struct snapshot *s, u128 ticks);
/* A time of a node, in nanoseconds and in ticks. */
static inline uint64_t snapshot_node_ns(const struct snapshot *s, const struct snapshot_node *n,
                                        uint64_t time) {
    return n->in_ns ? time : snapshot_ns(s, time);
}
static inline uint64_t snapshot_node_ticks(const struct snapshot *s, const struct snapshot_node *n,
                                           uint64_t time) {
    return n->in_ns ? snapshot_whole((double)time / s->ns_per_tick + 0.5) : time;
}
/* steady_ns_per_tick if it is known. */
static inline double snapshot_steady_tick(const struct snapshot *s) {
    if (s->steady_ns_per_tick > 0) {
        return s->steady_ns_per_tick;
    }
    return s->ns_per_tick;
}

/* ---- snapshot_ring.c: the events of a thread or a stream. */

struct snapshot_ring {
    const struct stint_impl_ring *record;
    uint64_t places; /* a power of two; all of them are in the arena */
    uint64_t first;  /* the number of the oldest event that is kept */
    uint64_t head;   /* the number after that of the newest one */
};
/* Finds the ring at a unit. 0, or -1: there is none. */
int snapshot_ring_find(const struct snapshot *s, uint32_t unit, struct snapshot_ring *out);
/* Reads `count` events from the number `from` on. `at` is 0 in those that are not whole, were
 * overwritten, or are not in the file any more. */
void snapshot_ring_read(const struct snapshot *s, const struct snapshot_ring *ring, uint64_t from,
                        uint64_t count, struct stint_impl_event *to);

/* ---- snapshot_activity.c */

/* The sums and the configuration of a row, as they are stored: one attempt, 0 if it was not being
 * written. */
int snapshot_activity_load(struct snapshot_activity *out, const struct arena_activity *a);
/* The begin of its first one, in nanoseconds since the arena's start. */
uint64_t snapshot_activity_begin(const struct snapshot_activity *a);
/* From the begin of its first one to the end of its last one, in nanoseconds. */
uint64_t snapshot_activity_span(const struct snapshot_activity *a);
/* Leaves of that what is after a moment. */
void snapshot_activity_cut(struct snapshot_activity *a, uint64_t from);

#endif
