/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From units of an arena to numbers: which record of a snapshot a reference means.
 */
#ifndef STINT_UNIT_MAP_H
#define STINT_UNIT_MAP_H

#include <stdint.h>

#include "hash.h"
#include "scratch.h"

#define UNIT_MAP_NONE UINT32_MAX

struct unit_map {
    uint32_t *unit; /* open addressing, half full at most */
    uint32_t *number;
    uint32_t mask;
};

/* For up to `count` units. 0, or -1 without memory. */
static inline int unit_map_start(struct unit_map *m, struct scratch *memory, uint32_t count) {
    uint64_t size = 64;
    while (size < (uint64_t)count * 2) {
        size *= 2;
    }
    m->mask = (uint32_t)(size - 1);
    m->unit = scratch_array(memory, size, sizeof *m->unit);
    m->number = scratch_array(memory, size, sizeof *m->number);
    return m->unit && m->number ? 0 : -1;
}

/* Where it is, or has its place. */
static inline uint32_t unit_map_at(const struct unit_map *m, uint32_t unit) {
    uint32_t at = (uint32_t)hash_number(unit) & m->mask;
    while (m->unit[at] && m->unit[at] != unit) {
        at = (at + 1) & m->mask;
    }
    return at;
}

/* Of equal units the first counts; 0 is none. */
static inline void unit_map_put(struct unit_map *m, uint32_t unit, uint32_t number) {
    uint32_t at = unit_map_at(m, unit);
    if (unit && !m->unit[at]) {
        m->unit[at] = unit;
        m->number[at] = number;
    }
}

static inline uint32_t unit_map_of(const struct unit_map *m, uint32_t unit) {
    uint32_t at = unit_map_at(m, unit);
    return unit && m->unit[at] ? m->number[at] : UNIT_MAP_NONE;
}

#endif
