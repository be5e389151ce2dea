/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tracer: a back end that sees what GPUs and their APIs do and hands it over as activities
 * (activity.h). Calling code knows only this struct; the tracers of a build are listed in
 * session/connect.c.
 */
#ifndef STINT_TRACER_OPS_H
#define STINT_TRACER_OPS_H

#include <stddef.h>
#include <stdint.h>

#define TRACER_REASON 240 /* bytes of a reason, NUL included */

struct tracer_sums {
    char version[24];     /* of the tracer, "13.0"; "" = it was never open */
    uint64_t records;     /* taken over */
    uint64_t ticks;       /* spent in the tracer's callbacks, on all threads */
    char complaints[200]; /* what is missing and which errors there were; "" if none */
};

/* No two of open, close and forget at once; none is called with a lock held. A member that is NULL
 * is not supported and not called; open and close must be there. */
struct tracer_ops {
    const char *name;
    /* 0, or -1 with why not in `reason`, and nothing is on. at_launch: to be called once, on the
     * thread that has just made the first call that launches something. */
    int (*open)(char reason[TRACER_REASON], void (*at_launch)(void));
    /* Switches everything off, takes over what is complete (force: also what is not) and lets go. */
    void (*close)(int force);
    /* Takes over what is complete (force: also what is not). Any thread. */
    void (*flush)(int force);
    /* For the child of a fork: whether the tracer's library was called (NULL: if it was open); and if
     * so, it is ignored from here on. */
    int (*is_used)(void);
    void (*forget)(void);
    void (*sums)(struct tracer_sums *out);
};

#endif
