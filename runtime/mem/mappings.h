/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that the program has mapped itself: ranges of addresses with the scope that mapped
 * them. A range may be unmapped in parts, and several by one call.
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

/* What a call has removed of a range. */
struct mapping_part {
    size_t length;
    uint32_t owner;
    int is_inherited;
};

/* 0, or -1: there is no room. */
int mappings_add(const void *address, size_t length, uint32_t owner);
/* Removes those addresses; `removed` is called for each range that had some, without the lock.
 * Returns how many bytes of ranges there were. */
size_t mappings_remove(const void *address, size_t length,
                       void (*removed)(const struct mapping_part *part));
/* In the child of a fork: the owners of all ranges so far are those of the parent. */
void mappings_inherit(void);

#endif
