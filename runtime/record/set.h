/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of statistics. Number 0 is the default one. A set's object is never moved or freed, and
 * survives a fork; only its record in the arena is written anew.
 */
#ifndef STINT_SET_H
#define STINT_SET_H

#include "base/api.h"

#define SET_DEFAULT_NAME "GlobalStatInfo"

/* Under the registry's lock: writes the records of all sets into a new arena. */
void set_publish_all(void);

/* stint_set_get: the set of that name, made at first use; NULL when there is no room. */
stint_set *set_get(const char *name);

struct set_entry {
    const char *name; /* never freed */
    stint_set *set;   /* NULL: the default set */
};
/* Writes up to `room` sets, each to the element of its number; returns how many there are. */
uint32_t set_list(struct set_entry *out, uint32_t room);

#endif
