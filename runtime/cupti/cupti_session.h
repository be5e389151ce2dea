/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with CUPTI: from Subscribe to Unsubscribe, and what it calls back meanwhile and, with
 * late buffers, after. open and close not from two threads at once; no lock may be held.
 */
#ifndef STINT_CUPTI_SESSION_H
#define STINT_CUPTI_SESSION_H

#include "cupti_load.h"

/* 0, or -1 with why not, and nothing is on. at_launch: called once, on the thread that has just
 * made the first call that launches something. */
int cupti_session_open(char reason[CUPTI_REASON], void (*at_launch)(void));
/* Switches all kinds off, takes over what is complete (force: what is not, too) and lets go. */
void cupti_session_close(int force);
void cupti_session_flush(int force);
/* For the child of a fork: whether CUPTI was called; and if so, nothing that it calls is heard. */
int cupti_session_is_used(void);
void cupti_session_forget(void);

struct cupti_session_sums {
    char toolkit[24]; /* "13.0"; "" = it was never open */
    uint64_t records; /* taken over */
    uint64_t ticks;   /* in callbacks, on all threads */
    uint32_t missing; /* kinds that are off, a bit each, and CUPTI_NO_SCOPES */
    int error;        /* of the last flush */
};
#define CUPTI_NO_SCOPES (1u << CUPTI_KINDS) /* whose scope a launch was in is not known */
void cupti_session_sums(struct cupti_session_sums *out);
/* Kinds that are missing, and errors, as words to put behind others; "" if none. */
void cupti_session_complaints(const struct cupti_session_sums *s, char *out, size_t size);

#endif
