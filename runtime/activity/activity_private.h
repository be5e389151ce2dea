/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the files of this folder share. A record takes this way: activity.c (lock,
 * names) → book (its row, scope and call) → rows (sums in the arena), line (the time line,
 * activity_sweep.h) and lane (the trace). Everything is under the activity lock unless said
 * otherwise; functions that open a table return 0, or -1 without memory.
 */
#ifndef STINT_ACTIVITY_PRIVATE_H
#define STINT_ACTIVITY_PRIVATE_H

#include <stdint.h>

#include "activity.h"
#include "arena/arena.h"
#include "base/arithmetic.h"
#include "gpu/gpu.h"

/* ---- The clock of activities: nanoseconds since the arena began, at the rate measured at its
 * start, and ticks. Only where there is an arena. */

/* Never 0, which means "unknown". In: of an arena that may no longer be the process's, in code that
 * a forking signal handler may have interrupted. */
static inline uint64_t activity_ns_in(const struct arena_header *h, uint64_t ticks) {
    uint64_t since = saturating_subtract(ticks, h->start.ticks);
    uint64_t rate = h->ticks_per_us;
    if (!rate) {
        return 1;
    }
    uint64_t ns = (uint64_t)((double)since * 256000.0 / (double)rate);
    return ns ? ns : 1;
}

static inline uint64_t activity_ns_of(uint64_t ticks) {
    return activity_ns_in(arena_header(), ticks);
}

static inline uint64_t activity_ticks_of(uint64_t ns) {
    return arena_header()->start.ticks + clock_ticks_of_ns(ns);
}

/* ---- Names of kernels and API functions, each once in the arena as the text for reports
 * (activity_text.c). Demangling allocates memory and is done by the caller, without the lock. */

struct activity_text {
    uint64_t hash; /* of the name as it was given; 0 = no name */
    uint32_t text; /* in the arena; 0 = none, or no memory for it */
};

int activity_text_open(void);
void activity_text_forget(void);
/* All zero for NULL and "". NULL: a new name, for activity_text_add. The result is permanent. */
const struct activity_text *activity_text_find(const char *name);
/* Adds a new name, and its text for reports; texts longer than ARENA_NAME_BYTES are cut. */
const struct activity_text *activity_text_add(const char *name, const char *text);

/* ---- Devices by their number: their record in the arena and an index (activity_device.c). */

#define ACTIVITY_DEVICES 64u /* more GPUs than one program has */

struct activity_gpu {
    uint32_t number;
    uint32_t unit;  /* 0 = no memory for its record */
    uint32_t index; /* below ACTIVITY_DEVICES */
    int described;
};

/* NULL: not seen yet. */
struct activity_gpu *activity_device_find(uint32_t number);
/* Made if need be; described by the first call with a `d`. NULL: too many, or not a device. */
const struct activity_gpu *activity_device_get(uint32_t number, const struct gpu_device *d);
const struct activity_gpu *activity_device_at(uint32_t index);
void activity_device_forget(void);

/* ---- Where API calls were made (activity_launch.c): written by the calling threads without the
 * lock (activity_launch, see activity.h). A call is known until 65 536 later ones were made. */

struct activity_origin {
    int known;
    uint32_t node;   /* units, 0 = no open scope */
    uint32_t thread; /* its record; units, 0 = a thread without one */
    uint64_t ticks;  /* when; 0 = unknown */
    uint64_t line;   /* lines_here() */
};

int activity_launch_open(void);
/* Tracing begins, maybe again. Calls before `ticks` do not belong to it. */
void activity_launch_begin(uint64_t ticks);
void activity_launch_forget(void);
/* Sets the current time for the next calls of activity_launch_find, as the upper bits of times are
 * not stored. */
void activity_launch_now(uint64_t ticks);
void activity_launch_find(uint32_t correlation, struct activity_origin *out);

/* ---- API calls by their records, joined with what they had a device do (activity_call.c): either
 * may come first. Whether a call of the driver was made within a call of the runtime is known only
 * when the runtime's record arrives, which is later: until then driver calls are held. */

struct activity_call {
    uint64_t start;
    uint64_t end;
    uint32_t thread;
    uint32_t of_runtime; /* not of the driver */
    uint32_t waits;      /* enum activity_waits */
};

/* A driver call that may yet turn out to be part of another one. */
struct activity_held {
    struct activity_call call;
    const struct activity_text *name;
    uint32_t correlation;
    uint32_t node;
};

int activity_call_open(void);
void activity_call_forget(void);
/* The record of a call; adds it to the rows that wait for it. */
void activity_call_put(uint32_t correlation, const struct activity_call *call);
/* 0, or -1: not known (yet, or any more). */
int activity_call_find(uint32_t correlation, struct activity_call *out);
/* A sample of a row that began at `start` was caused by that call; adds the call's time to the row
 * now, or when it is known. 0, or -1: the call was forgotten. */
int activity_call_join(uint32_t correlation, uint32_t row, uint64_t start);
/* Holds one. 1: `out` is another one that was held long enough, and not part of a runtime call. */
int activity_call_hold(const struct activity_held *h, struct activity_held *out);
uint64_t activity_call_count_held(void);
/* Looks at the oldest of them, `left` at most, which is reduced. 1 as long as there is another one
 * that is to be added; `out` is it. all: no more records will come; otherwise those stay held that
 * began after the newest runtime call of their thread, as they may be part of the next. */
int activity_call_release(struct activity_held *out, uint64_t *left, int all);

/* ---- The rows of the arena in which activities are added up, struct arena_activity
 * (activity_rows.c). */

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

struct sweep_sum;

int activity_rows_open(void);
void activity_rows_forget(void);
/* The row, in units, made if need be; 0 without memory, which is counted. */
uint32_t activity_rows_get(const struct activity_key *k);
/* Row 0: nothing is added. */
void activity_rows_add(uint32_t row, const struct activity_sample *s);
/* The API call of one of its samples took call_ns and ended delay_ns before the sample began. */
void activity_rows_launch(uint32_t row, uint64_t call_ns, uint64_t delay_ns);
/* Samples that the sweep added up. */
void activity_rows_sum(uint32_t row, const struct sweep_sum *sums);
/* Its samples took so much more in all. */
void activity_rows_raise(uint32_t row, uint64_t ns);
/* The level is so many bytes now; the maximum is kept, too. */
void activity_rows_level(uint32_t row, uint64_t bytes, uint64_t at);

/* ---- GPU time by source line (activity_source.c). */

void activity_source_forget(void);
/* A kernel, copy or fill. cell: of its launch, 0 = not of a source line; device: units. */
void activity_source_add(uint64_t cell, uint32_t device, const struct activity_sample *s);

/* ---- Memory that calls of the GPU's API allocated and freed (activity_memory.c): by which scope,
 * how much, and how much a device holds. Memory allocated before tracing began is unknown when it
 * is freed, and not counted. */

int activity_memory_open(void);
void activity_memory_forget(void);
/* gpu NULL: of no device. */
void activity_memory_give(const struct activity_record *r, const struct activity_gpu *gpu,
                          uint32_t node);
void activity_memory_take(const struct activity_record *r, uint32_t node);

/* ---- The time line of the devices (activity_line.c): what is swept (activity_sweep.h), and the
 * rows that result. */

int activity_line_open(void);
void activity_line_forget(void);
/* The latest record so far lies there, and its shift. The time line is on the tracer's clock; steps
 * are not records and are moved there. */
void activity_line_note_shift(uint64_t start, int64_t shift);
/* A kernel, copy or fill. lost: it was counted as late, and is not counted again. */
void activity_line_work(const struct activity_record *r, const struct activity_gpu *gpu,
                        const struct activity_origin *from, int lost);
/* A call that waits for the GPU, or that copies and waits. Thread 0: the one that made the call of
 * that number. */
void activity_line_wait(uint64_t start, uint64_t end, uint32_t thread, uint32_t correlation,
                        int copies);
/* A function of the host that a stream ran. */
void activity_line_function(uint64_t start, uint64_t end);
void activity_line_step(uint64_t at);
void activity_line_settle(void);
/* Settles; what comes next is after a break in tracing. */
void activity_line_break(void);

/* ---- The trace of a GPU's streams (activity_lane.c): one lane per device, context and stream,
 * with what ran there and where it was launched. */

/* A sample of that row. */
void activity_lane_add(const struct activity_record *r, uint32_t row,
                       const struct activity_gpu *gpu, const struct activity_origin *from);
/* The bytes that are allocated on a device from then on; row: of its memory. at: ns of the
 * recorder's clock. */
void activity_lane_set_memory(const struct activity_gpu *gpu, uint32_t row, uint64_t bytes,
                              uint64_t at);
void activity_lane_forget(void);

/* ---- Ends of the program's steps on their way to the time line (activity_steps.c). Any thread
 * adds one without the lock, which may be held for as long as a buffer of records takes. The holder
 * of the lock takes them out, in any order. */

/* Returns whether there are so many that the caller should try to take them out. One for which
 * there is no room is counted as late. */
int activity_steps_put(uint64_t at);
void activity_steps_take(void (*out)(uint64_t at));
void activity_steps_forget(void);

/* ---- Records (activity_book.c). */

/* Adds a record to its row, the time line and the trace. name: of r->name. now: activity_clock(),
 * of a moment ago. */
void activity_book(const struct activity_record *r, const struct activity_text *name, uint64_t now);
/* The driver calls that are still held. */
void activity_book_rest(int all);

#endif
