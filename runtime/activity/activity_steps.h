/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends of the program's steps on their way to the time line. Any thread puts one in and waits for
 * nobody: the activity lock may be held for as long as a buffer of records takes. Its holder takes
 * them out, in whatever order.
 */
#ifndef STINT_ACTIVITY_STEPS_H
#define STINT_ACTIVITY_STEPS_H

#include <stdint.h>

/* Whether there are so many that somebody should look. One that has no room is counted as late. */
int activity_steps_put(uint64_t at);
/* Under the activity lock. */
void activity_steps_take(void (*out)(uint64_t at));
void activity_steps_forget(void);

#endif
