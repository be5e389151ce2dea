/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that the program has mapped itself: ranges of addresses with the scope that mapped
 * them. A range may be unmapped in parts, and several by one call.
 *
 * A call that unmaps takes the ranges before the kernel does, as another thread may get their
 * addresses at once, and then drops them, or puts them back if it failed.
 *
 * Threading: any thread, between mem_enter and mem_leave, which keep a signal handler out that
 * interrupted the holder of the lock.
 */
#ifndef STINT_MAPPINGS_H
#define STINT_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

/* glibc's malloc maps blocks from this size on itself, by default. */
#define MAPPINGS_MIN ((size_t)128 << 10)

/* The part of a range that a call has removed. */
struct mapping_part {
    size_t length;
    uint32_t owner;
    int is_inherited;
};

/* 0, or -1: there is no room. */
int mappings_add(const void *address, size_t length, uint32_t owner);
/* Takes what is mapped of those addresses for a call. call: any address that no other call gives at
 * the same time. Returns how many bytes were taken. Without room for what is left of a range, more
 * of it is taken: then *lost is incremented. */
size_t mappings_take(const void *address, size_t length, const void *call, uint64_t *lost);
/* Puts back what the call has taken and the kernel has left; is_left: NULL = all of it. */
void mappings_put_back(const void *call, int (*is_left)(uintptr_t from, uintptr_t to));
/* Removes what the call has taken and not put back; `removed` is called for each range, without the
 * lock. */
void mappings_drop(const void *call, void (*removed)(const struct mapping_part *part));
/* In the child of a fork: the owners of all ranges so far belong to the parent. */
void mappings_inherit(void);

#endif
