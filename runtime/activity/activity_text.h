/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernels and API functions: each once in the arena, as the text that is to be read, and
 * what a name says about its call. Under the activity lock; demangling allocates memory and is
 * done by the caller, without the lock.
 */
#ifndef STINT_ACTIVITY_TEXT_H
#define STINT_ACTIVITY_TEXT_H

#include <stdint.h>

/* Of an API function: the host is in it until the GPU is done, or until its bytes are copied. */
#define ACTIVITY_TEXT_WAITS 1u
#define ACTIVITY_TEXT_COPIES 2u

struct activity_text {
    uint64_t hash; /* of the name as it was given; 0 = there is none */
    uint32_t text; /* in the arena; 0 = none, or no memory for it */
    uint32_t flags;
};

/* 0, or -1 without memory. */
int activity_text_open(void);
void activity_text_forget(void);
/* NULL: it is new. All zero for NULL and "". The result stays. */
const struct activity_text *activity_text_find(const char *name);
/* A new name, and its text; longer ones than ARENA_NAME_BYTES are cut. */
const struct activity_text *activity_text_add(const char *name, const char *text);

#endif
