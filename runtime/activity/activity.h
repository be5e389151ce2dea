/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU activities that a tracer reports (tracer_ops.h): attributed to scopes and added up in the
 * arena (struct arena_activity), with the busy and idle times of devices and the spans of the
 * trace.
 *
 * Threading: activity_launch from any thread, inside an API call, without a lock; the others take
 * the activity lock, which is not held during calls of other code. None from a signal handler.
 *
 * Memory: some 25 MiB, taken by activity_open, touched as it is needed, and the rows in the arena.
 *
 * Records may come in any order: an API call before or after what it launched, a driver call before
 * or after the runtime call it is part of (which alone is counted then). A record with an
 * impossible time (start 0, end before start, more than a millisecond ahead of now) is counted as
 * STINT_STATUS_ACTIVITY_BAD only, so that a row counts the calls whose times it contains. ALLOC and
 * FREE have no duration and are not checked.
 */
#ifndef STINT_ACTIVITY_H
#define STINT_ACTIVITY_H

#include <stdint.h>

#include "arena/activity_kind.h"
#include "gpu/gpu.h"

#define ACTIVITY_NO_DEVICE UINT32_MAX

/* Why the host cannot go on during an API call. */
enum activity_waits {
    ACTIVITY_WAITS_NOT,
    ACTIVITY_WAITS_FOR_WORK, /* returns after the GPU's work is done */
    ACTIVITY_WAITS_FOR_COPY  /* returns after its bytes are copied */
};

struct activity_record {
    uint32_t kind; /* enum activity_kind, up to ACTIVITY_OVERHEAD, and ACTIVITY_UNIFIED */
    uint32_t detail;
    uint32_t correlation; /* of the API call it comes from; 0 = none */
    uint32_t device;      /* number, or ACTIVITY_NO_DEVICE: nothing of a device */
    uint32_t context;
    uint32_t stream;
    uint64_t start; /* ns of the tracer's clock; ALLOC and FREE: both the moment */
    uint64_t end;
    int64_t shift; /* to be added to these for activity_clock() */
    uint64_t bytes;
    uint64_t address; /* of ALLOC and FREE */
    /* The name of a kernel (as the compiler mangled it), an API function, or overhead ("overhead"
     * and its kind), else NULL. */
    const char *name;
    uint32_t thread; /* of an API call: any number that tells threads apart */
    uint32_t waits;  /* of an API call: enum activity_waits */
    ACTIVITY_SHAPE;
    uint32_t in_graph; /* a kernel is a node of a graph */
    uint64_t copies;   /* a copy is a batch of so many, which share its time; 0 and 1: it is one */
};

/* The kind of a record of a function of the host that a stream or a graph runs. It explains idle
 * times and has no row. */
#define ACTIVITY_HOST_FUNCTION ((uint32_t)ACTIVITY_KINDS)

/* Nanoseconds since the arena began, by the recorder's clock. One clock read; any thread, no lock.
 * Never 0.
 *
 * The times of records are of a clock of the tracer, near to this one: durations, busy and idle
 * times are differences of its times and exact. It may run faster or slower, by some 100 ppm; the
 * shift of each record says where it lies on this clock. */
uint64_t activity_clock(void);

/* The words that devices are recorded with from now on (gpu_words.h): the words of the tracer that
 * is about to open. NULL: none. Before activity_open. */
void activity_use_words(const struct gpu_words *words);
/* Allocates memory unless that was done before, and tracing begins. 0, or -1 without memory or
 * inside the library. */
int activity_open(void);
/* This thread is inside an API call of that number: the work that it launches belongs to the
 * thread's innermost open scope. Some nanoseconds. Known until 65 536 later numbers were used. */
void activity_launch(uint32_t correlation);
/* Whether a call of that number was made before the latest activity_open; between begin and end. */
int activity_launch_is_old(uint32_t correlation);
/* Add records. Between begin and end only the calling thread adds. */
void activity_begin(void);
void activity_add(const struct activity_record *r);
void activity_end(void);
/* Whether device `number` was described, and the description, before or after its records; between
 * begin and end. */
int activity_knows_device(uint32_t number);
void activity_device(uint32_t number, const struct gpu_device *d);
/* A step of the program ended now. Costs next to nothing unless activity_open was called. */
void activity_step(void);
/* Sweeps all, so that a snapshot includes it. Older records that come later are sorted in by the
 * next. */
void activity_settle(void);
/* Settles, and ends tracing until the next activity_open: the time between is neither idle nor part
 * of a step. */
void activity_pause(void);

#endif
