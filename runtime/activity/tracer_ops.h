/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tracer: a back end that sees what GPUs and their APIs do and hands it over as activities
 * (activity.h). Calling code knows only this struct; the tracers of a build are listed in
 * session/connect.c.
 */
#ifndef STINT_TRACER_OPS_H
#define STINT_TRACER_OPS_H

#include <stdint.h>

#include "arena/gpu_words.h"

#define TRACER_REASON 240 /* bytes of a reason, NUL included */

/* The records that are taken over. A record that was forced out before its work was done has no
 * times and does not come again. */
enum tracer_flush {
    TRACER_COMPLETE, /* what is complete */
    TRACER_WAIT,     /* the same, after waiting for the work that runs */
    TRACER_FORCED    /* everything: for the end of the process */
};

struct tracer_sums {
    char version[24];     /* of the tracer, "13.0"; "" = it was never open */
    uint64_t records;     /* taken over */
    uint64_t ticks;       /* spent in the tracer's callbacks, on all threads */
    char complaints[200]; /* what is missing and which errors there were; "" if none */
};

/* No two of open, close and forget at once; none is called with a lock held. What happens where a
 * member is NULL is said at each. */
struct tracer_ops {
    /* For reports and messages. Never NULL. */
    const char *name;
    /* Its vendor's words, which its devices are recorded with. NULL: reports have neutral ones. */
    const struct gpu_words *words;
    /* Called when the library is loaded or the program asks for tracing: arranges that tracer_look
     * is called when the program initialises the GPU's library. 0, or -1: a library of the GPU has
     * loaded this one into a program that does not use it. NULL: scopes and steps find that out. */
    int (*prepare)(void);
    /* Whether the GPU's library is in use, so that open does not initialise it; also 1 if it cannot
     * be used at all. Any thread, no lock held. NULL: it always is. */
    int (*is_ready)(void);
    /* 0, or -1 with why not in `reason`, and nothing is on. at_launch: to be called once, on the
     * thread that has just made the first call that launches something; a tracer that never calls
     * it is not closed when the process ends. Never NULL. */
    int (*open)(char reason[TRACER_REASON], void (*at_launch)(void));
    /* Switches everything off, takes over what is complete (TRACER_FORCED: everything) and releases
     * the device. Never NULL. */
    void (*close)(int how);
    /* enum tracer_flush. Any thread. NULL: reports show what the tracer has handed over by
     * itself. */
    void (*flush)(int how);
    /* A step of the program ended, on this thread. NULL: nothing to do then. */
    void (*step)(void);
    /* In the child of a fork: whether the tracer's library was called. NULL: it was, if this tracer
     * was the last that was open. */
    int (*is_used)(void);
    /* In the child of a fork, if it was used: its state is the parent's, and it is not called
     * again. NULL: the tracer has no state to forget. */
    void (*forget)(void);
    /* For reports. NULL: they show its name alone. */
    void (*sums)(struct tracer_sums *out);
};

#endif
