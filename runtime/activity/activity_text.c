/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernels and API functions: a hash map to their texts in the arena.
 *
 * Implementation notes
 * - A name is identified by 64 bits of keyed hash (base/hash.h) alone: of ten thousand kernels two
 *   have the same hash in one of 10^11 programs, and to compare names would mean to keep the
 * mangled ones, too. A text without room is requested again with each record.
 * - Texts are allocated in pieces of this file's own: arena_text_put needs the registry's
 * lock.
 */
#include "activity_private.h"

#include <stddef.h>
#include <string.h>

#include "arena/arena.h"
#include "base/hash_map.h"
#include "base/scratch.h"

#define MAX_NAMES 12288u

static struct scratch text_memory;
static struct activity_text *names;
static struct hash_map name_of; /* the low half of hashes to names */
static struct arena_piece name_texts;

int activity_text_open(void) {
    names = scratch_array(&text_memory, MAX_NAMES, sizeof *names);
    if (!names) {
        return -1;
    }
    return hash_map_start(&name_of, &text_memory, MAX_NAMES);
}

void activity_text_forget(void) {
    scratch_free(&text_memory);
    names = NULL;
    memset(&name_of, 0, sizeof name_of);
    name_texts = (struct arena_piece){0, 0};
}

/* Never 0, the hash of no name. */
static uint64_t activity_text_hash(const char *name) {
    uint64_t h = hash_bytes(name, strlen(name));
    return h ? h : 1;
}

static uint32_t activity_text_copy(const char *text) {
    size_t length = strnlen(text, ARENA_NAME_BYTES + 1);
    if (length > ARENA_NAME_BYTES) {
        length = ARENA_NAME_BYTES;
        arena_lose(STINT_STATUS_NAME_CUT, 1);
    }
    return arena_text_put_in(&name_texts, text, length);
}

static int activity_text_is_full(void) {
    return name_of.count >= MAX_NAMES;
}

static const struct activity_text lost = {.hash = 1};

const struct activity_text *activity_text_find(const char *name) {
    static const struct activity_text none;
    if (!name || !*name) {
        return &none;
    }
    uint64_t hash = activity_text_hash(name);
    struct hash_map_walk walk;
    uint32_t number = hash_map_first(&name_of, (uint32_t)hash, &walk);
    while (number != HASH_MAP_NONE && names[number].hash != hash) {
        number = hash_map_next(&name_of, &walk);
    }
    if (number != HASH_MAP_NONE) {
        return &names[number];
    }
    if (activity_text_is_full()) {
        return &lost;
    }
    return NULL;
}

const struct activity_text *activity_text_add(const char *name, const char *text) {
    uint64_t hash = activity_text_hash(name);
    if (activity_text_is_full()) {
        return &lost;
    }
    uint32_t unit = activity_text_copy(text);
    if (!unit) {
        return &lost;
    }
    struct activity_text *t = &names[name_of.count];
    hash_map_add(&name_of, (uint32_t)hash, name_of.count);
    t->hash = hash;
    t->text = unit;
    return t;
}
