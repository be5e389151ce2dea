/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API calls as their records tell of them, joined with what they had a device do: either may come
 * first. Of a call of the driver it is not known at first whether it was made inside a call of the
 * runtime, whose record comes later: it is held meanwhile. Under the activity lock.
 */
#ifndef STINT_ACTIVITY_CALL_H
#define STINT_ACTIVITY_CALL_H

#include <stdint.h>

struct activity_text;

struct activity_call {
    uint64_t start;
    uint64_t end;
    uint32_t thread;
    uint32_t of_runtime; /* not of the driver */
};

/* A driver call that may yet turn out to be part of another one. */
struct activity_held {
    struct activity_call call;
    const struct activity_text *name;
    uint32_t correlation;
    uint32_t node;
};

/* 0, or -1 without memory. */
int activity_call_open(void);
void activity_call_forget(void);
/* The record of a call; adds it to the rows that wait for it. */
void activity_call_put(uint32_t correlation, const struct activity_call *call);
/* 0, or -1: not known (yet, or any more). */
int activity_call_find(uint32_t correlation, struct activity_call *out);
/* A sample of a row that began at `start` is that call's doing; counted now or when it is known. */
void activity_call_join(uint32_t correlation, uint32_t row, uint64_t start);

/* Holds one. 1: `out` is one that was held long enough, for no other call is known to have made it.
 * */
int activity_call_hold(const struct activity_held *h, struct activity_held *out);
/* 1 as long as there is another one held; `out` is it. */
int activity_call_release(struct activity_held *out);

#endif
