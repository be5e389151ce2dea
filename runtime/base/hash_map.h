/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash map of the runtime and the tool: 32-bit keys to 32-bit numbers, mostly indexes into an
 * array of the caller's. It grows; nothing is removed. Its memory is the scratch memory it was
 * started with, and ends with it. Not thread-safe.
 *
 * A key that is exact, as a unit of an arena is:
 *
 *     hash_map_set(&map, unit, index);
 *     index = hash_map_get(&map, unit);             HASH_MAP_NONE without one
 *
 * A key that is the hash of something longer. It may be there more than once, and the caller
 * compares the item of each number:
 *
 *     struct hash_map_walk walk;
 *     uint32_t i = hash_map_first(&map, hash, &walk);
 *     while (i != HASH_MAP_NONE && !is_same(&items[i], wanted)) {
 *         i = hash_map_next(&map, &walk);
 *     }
 *     if (i == HASH_MAP_NONE) {
 *         hash_map_add(&map, hash, new_item(wanted));
 *     }
 *
 * The place of a key depends on the secret of base/hash.h: no file can choose keys that
 * collide. */
#ifndef STINT_HASH_MAP_H
#define STINT_HASH_MAP_H

#include <stdint.h>

#include "hash.h"
#include "scratch.h"

#define HASH_MAP_NONE UINT32_MAX

/* Zeroed: empty. */
struct hash_map_place {
    uint32_t key;
    uint32_t number; /* + 1 */
};

struct hash_map {
    struct hash_map_place *place; /* open addressing with linear probing, at most half full */
    uint32_t mask;                /* places - 1 */
    uint32_t count;
    struct scratch *memory;
};

/* Room for `count` keys, for which hash_map_set and hash_map_add then do not fail. 0, or -1 without
 * memory. */
int hash_map_start(struct hash_map *m, struct scratch *memory, uint64_t count);

/* Adds the number, also where the key is there already. Not HASH_MAP_NONE. 0, or -1 without
 * memory. */
int hash_map_add(struct hash_map *m, uint32_t key, uint32_t number);

/* Adds the number unless the key is there already: the first one counts. 0, or -1 without
 * memory. */
int hash_map_set(struct hash_map *m, uint32_t key, uint32_t number);

/* The key's number; a key that is new gets the next one, the count of keys so far. HASH_MAP_NONE
 * without memory. */
uint32_t hash_map_number(struct hash_map *m, uint32_t key);

/* Where a search is. */
struct hash_map_walk {
    uint32_t key;
    uint32_t at;
};

/* The numbers of a key one by one, HASH_MAP_NONE after the last. A walk ends with the next
 * hash_map_add. */
static inline uint32_t hash_map_next(const struct hash_map *m, struct hash_map_walk *walk) {
    for (;;) {
        const struct hash_map_place *place = &m->place[walk->at];
        walk->at = (walk->at + 1) & m->mask;
        if (!place->number) {
            return HASH_MAP_NONE;
        }
        if (place->key == walk->key) {
            return place->number - 1;
        }
    }
}

static inline uint32_t hash_map_first(const struct hash_map *m, uint32_t key,
                                      struct hash_map_walk *walk) {
    walk->key = key;
    walk->at = (uint32_t)hash_number(key) & m->mask;
    return hash_map_next(m, walk);
}

static inline uint32_t hash_map_get(const struct hash_map *m, uint32_t key) {
    struct hash_map_walk walk;
    return hash_map_first(m, key, &walk);
}

/* ---- Numbers alone, by a hash of items that the caller compares: half the memory of a hash_map.
 * It does not grow. */

struct hash_numbers {
    uint32_t *place; /* numbers + 1; NULL: empty */
    uint32_t mask;
};

/* Room for `count` numbers. 0, or -1 without memory. */
int hash_numbers_start(struct hash_numbers *m, struct scratch *memory, uint32_t count);
void hash_numbers_add(struct hash_numbers *m, uint32_t hash, uint32_t number);

/* The numbers of a hash one by one, and others in between, HASH_MAP_NONE after the last. at: the
 * hash at first. */
static inline uint32_t hash_numbers_next(const struct hash_numbers *m, uint32_t *at) {
    if (!m->place) {
        return HASH_MAP_NONE;
    }
    return m->place[(*at)++ & m->mask] - 1;
}

#endif
