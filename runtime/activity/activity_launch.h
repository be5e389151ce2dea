/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where API calls came from: written by the calling threads (activity_launch, see activity.h), read
 * under the activity lock. A call is known until 65 536 later ones were made.
 */
#ifndef STINT_ACTIVITY_LAUNCH_H
#define STINT_ACTIVITY_LAUNCH_H

#include <stdint.h>

struct activity_origin {
    int known;
    uint32_t node;   /* units, 0 = no open scope */
    uint32_t thread; /* its record; units, 0 = a thread without one */
    uint64_t ticks;  /* when; 0 = unknown */
};

/* 0, or -1 without memory. */
int activity_launch_open(void);
void activity_launch_forget(void);
/* Once for some calls of the next, as moments are kept without their upper bits. */
void activity_launch_now(uint64_t ticks);
void activity_launch_find(uint32_t correlation, struct activity_origin *out);

#endif
