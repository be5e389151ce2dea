/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of the arena, for tests that spoil what is read. */
#ifndef STINT_TESTS_ARENA_COPY_H
#define STINT_TESTS_ARENA_COPY_H

#include "arena/arena.h"
#include "support.h"

static char *copy; /* on a heap of its own, so that a sanitizer sees the first byte past it */
static uint64_t used;
static struct clock_stamp now;

HARNESS_FN void copy_arena(void) {
    used = arena_header()->used;
    copy = (char *)aligned_alloc(STINT_IMPL_UNIT, used);
    memcpy(copy, arena.base, used);
    clock_stamp(&now);
}

HARNESS_FN struct arena_header *header(void) {
    return (struct arena_header *)(void *)copy;
}

HARNESS_FN void *at(uint32_t unit) {
    return copy + (size_t)unit * STINT_IMPL_UNIT;
}

#endif
