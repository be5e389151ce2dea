/* SPDX-License-Identifier: Apache-2.0 */
#include "hash_map.h"

#include <string.h>

#define FIRST_PLACES 64
#define MAX_PLACES ((uint64_t)1 << 31)

int hash_map_start(struct hash_map *m, struct scratch *memory, uint64_t count) {
    uint64_t places = FIRST_PLACES;
    memset(m, 0, sizeof *m);
    while (places < MAX_PLACES && places / 2 < count) {
        places *= 2;
    }
    if (places / 2 < count) {
        return -1;
    }
    m->place = scratch_array(memory, places, sizeof *m->place);
    m->mask = (uint32_t)(places - 1);
    m->memory = memory;
    return m->place ? 0 : -1;
}

static void hash_map_put_free(struct hash_map *m, uint32_t key, uint32_t number) {
    uint32_t at = (uint32_t)hash_number(key) & m->mask;
    while (m->place[at].number) {
        at = (at + 1) & m->mask;
    }
    m->place[at].key = key;
    m->place[at].number = number + 1;
    ++m->count;
}

static int hash_map_grow(struct hash_map *m) {
    struct hash_map bigger;
    if (hash_map_start(&bigger, m->memory, (uint64_t)m->count * 2)) {
        return -1;
    }
    for (uint64_t at = 0; at <= m->mask; ++at) {
        if (m->place[at].number) {
            hash_map_put_free(&bigger, m->place[at].key, m->place[at].number - 1);
        }
    }
    *m = bigger;
    return 0;
}

int hash_map_add(struct hash_map *m, uint32_t key, uint32_t number) {
    if (m->count >= m->mask / 2 + 1 && hash_map_grow(m)) {
        return -1;
    }
    hash_map_put_free(m, key, number);
    return 0;
}

int hash_map_set(struct hash_map *m, uint32_t key, uint32_t number) {
    if (hash_map_get(m, key) != HASH_MAP_NONE) {
        return 0;
    }
    return hash_map_add(m, key, number);
}

uint32_t hash_map_number(struct hash_map *m, uint32_t key) {
    uint32_t number = hash_map_get(m, key);
    if (number != HASH_MAP_NONE) {
        return number;
    }
    number = m->count;
    if (hash_map_add(m, key, number)) {
        return HASH_MAP_NONE;
    }
    return number;
}

int hash_numbers_start(struct hash_numbers *m, struct scratch *memory, uint32_t count) {
    uint64_t places = FIRST_PLACES;
    while (places / 2 <= count) {
        places *= 2;
    }
    m->place = scratch_array(memory, places, sizeof *m->place);
    m->mask = (uint32_t)(places - 1);
    return m->place ? 0 : -1;
}

void hash_numbers_add(struct hash_numbers *m, uint32_t hash, uint32_t number) {
    while (m->place[hash & m->mask]) {
        ++hash;
    }
    m->place[hash & m->mask] = number + 1;
}
