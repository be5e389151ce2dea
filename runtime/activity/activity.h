/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tracer saw a GPU do, put where reports find it: attributed to scopes, added up in the
 * arena (struct arena_activity), its time line swept for busy and idle time, its spans in the
 * trace. Knows no tracer (tracer_ops.h).
 *
 * Threading: activity_launch from any thread, inside an API call, without a lock; the others take
 * the activity lock, which is held over no call out. None from a signal handler.
 *
 * Memory: some 14 MiB, taken by activity_open, touched as it is needed, and the rows in the arena.
 *
 * Records may come in any order: an API call before or after what it launched, a driver call before
 * or after the runtime call it is part of (and then no row's). One whose time cannot be (start 0,
 * end before start, more than an hour ahead of now) is counted as STINT_STATUS_ACTIVITY_BAD and
 * nowhere else: a row's calls are those it has a time of. That does not hold for ALLOC and FREE,
 * which have none.
 */
#ifndef STINT_ACTIVITY_H
#define STINT_ACTIVITY_H

#include <stdint.h>

#include "arena/activity_kind.h"
#include "gpu/gpu.h"

#define ACTIVITY_NO_DEVICE UINT32_MAX

struct activity_record {
    uint32_t kind; /* enum activity_kind, up to ACTIVITY_OVERHEAD */
    uint32_t detail;
    uint32_t correlation; /* of the API call it comes from; 0 = none */
    uint32_t device;      /* number, or ACTIVITY_NO_DEVICE: nothing of a device */
    uint32_t context;
    uint32_t stream;
    uint64_t start; /* activity_clock(); ALLOC and FREE: both the moment */
    uint64_t end;
    uint64_t bytes;
    uint64_t address; /* of ALLOC and FREE */
    const char *name; /* of a kernel (as the compiler mangled it) or API function, else NULL */
    uint32_t thread;  /* of an API call: any number that tells threads apart */
    uint32_t grid[3]; /* of a kernel */
    uint32_t block[3];
    uint32_t registers;     /* a thread */
    uint32_t shared_static; /* bytes a block */
    uint32_t shared_dynamic;
};

/* Nanoseconds since the arena began, off the recorder's own clock; what a tracer is to stamp its
 * records with. One clock read; any thread, no lock. Never 0. */
uint64_t activity_clock(void);

/* Memory for it, and tracing begins. 0, or -1 without memory or inside the library; again after
 * activity_forget, and as often as you like. */
int activity_open(void);
/* This thread is inside an API call of that number: what comes of it belongs to the thread's
 * innermost open scope. Some nanoseconds. Known until 65 536 later numbers were given out. */
void activity_launch(uint32_t correlation);
/* A number of records in one go. Between begin and end only the calling thread adds. */
void activity_begin(void);
void activity_add(const struct activity_record *r);
void activity_end(void);
/* Whether somebody said what device `number` can do, and saying it, before or after its records;
 * between begin and end. */
int activity_knows_device(uint32_t number);
void activity_device(uint32_t number, const struct gpu_device *d);
/* A step of the program ended now. Next to nothing unless activity_open was called. */
void activity_step(void);
/* Nothing older than what was added is to come: sweeps it all, so that a snapshot has it. */
void activity_settle(void);
/* Settles; and tracing ends until the next activity_open: the time between is neither idle nor part
 * of a step. */
void activity_pause(void);
/* In the child of a fork: nothing was ever open. */
void activity_forget(void);

#endif
