/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tracer whose device does what a script says: each flush hands over the next lines, as kernels
 * that the open scope launched.
 */
#ifndef STINT_TESTS_SCRIPT_TRACER_H
#define STINT_TESTS_SCRIPT_TRACER_H

#include "activity/tracer_ops.h"

struct script_line {
    const char *kernel; /* NULL: the end */
    uint64_t ns;
};

struct script {
    const char *refusal; /* it cannot be opened, because; NULL: it can */
    const struct script_line *next;
    int is_open;
    unsigned opens, closes, flushes, forgets;
    uint64_t records;
};
extern struct script script;

extern const struct tracer_ops script_tracer;

/* The next line begins now, from the calling thread's scope; it is handed over by a flush. */
void script_launch(void);

#endif
