/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - A name is known by 64 bits of hash alone: of ten thousand kernels two are the same once in
 *   10^11 programs, and comparing would mean keeping what the compiler mangled, too. A text without
 *   room is asked for again with each record.
 * - Texts are cut from pieces of our own: arena_text_put's are under the registry's lock, which may
 *   not be waited for here (fork takes them in any order).
 */
#include "activity_text.h"

#include <stddef.h>
#include <string.h>

#include "arena/arena.h"
#include "base/scratch.h"

#define NAMES 16384u /* places; three quarters of them are used */
#define NAMES_BYTES ((size_t)NAMES * sizeof(struct activity_text))
#define PIECE_BYTES ((size_t)4096)

static struct activity_text *names;
static uint32_t name_count;
static size_t piece_next, piece_end; /* bytes from the arena's start */

int activity_text_open(void) {
    names = pages_get(NAMES_BYTES);
    return names ? 0 : -1;
}

void activity_text_forget(void) {
    pages_put(names, NAMES_BYTES);
    names = NULL;
    name_count = 0;
    piece_next = piece_end = 0;
}

/* Eight bytes at a time: names of kernels have hundreds, and there is one a record. */
static uint64_t hash_of(const char *name, size_t length) {
    uint64_t h = length, word;
    for (; length >= sizeof word; name += sizeof word, length -= sizeof word) {
        memcpy(&word, name, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, name, length);
    h = (h ^ word) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 31;
    return h ? h : 1;
}

static size_t piece_get(size_t want) {
    if (want > piece_end - piece_next) {
        size_t piece = want > PIECE_BYTES ? want : PIECE_BYTES;
        uint32_t unit = arena_get(piece, ARENA_RECORD);
        if (!unit && piece > want) {
            unit = arena_get(piece = want, ARENA_RECORD);
        }
        if (!unit) {
            return 0;
        }
        piece_next = (size_t)unit * STINT_IMPL_UNIT;
        piece_end = piece_next + piece;
    }
    size_t at = piece_next;
    piece_next += want;
    return at;
}

/* The text of so many bytes; 0 without memory. */
static uint32_t text_put(const char *bytes, size_t length) {
    size_t at = piece_get((sizeof(struct arena_text) + length + 1 + 7) / 8 * 8);
    if (at) {
        struct arena_text *t = (struct arena_text *)(void *)(arena.base + at);
        t->length = (uint32_t)length;
        memcpy(t->bytes, bytes, length);
    }
    return (uint32_t)(at / 8);
}

static uint32_t text_of(const char *text) {
    size_t length = strnlen(text, ARENA_NAME_BYTES + 1);
    if (length > ARENA_NAME_BYTES) {
        length = ARENA_NAME_BYTES;
        arena_lose(STINT_STATUS_NAME_CUT, 1);
    }
    return text_put(text, length);
}

static int starts(const char *name, const char *with) {
    return !strncmp(name, with, strlen(with));
}

static uint32_t flags_of(const char *name) {
    int copies = (starts(name, "cudaMemcpy") || starts(name, "cuMemcpy")) && !strstr(name, "Async");
    int waits = (starts(name, "cuda") || starts(name, "cu")) && strstr(name, "Synchronize");
    return (copies ? ACTIVITY_TEXT_COPIES : 0) | (waits ? ACTIVITY_TEXT_WAITS : 0);
}

/* Its place, or the empty one where it belongs: there always is one. */
static struct activity_text *place_of(uint64_t hash) {
    uint32_t at = (uint32_t)hash;
    while (names[at % NAMES].hash && names[at % NAMES].hash != hash) {
        ++at;
    }
    return &names[at % NAMES];
}

static int is_full(void) {
    return name_count >= NAMES / 4 * 3;
}

static const struct activity_text lost = {.hash = 1};

const struct activity_text *activity_text_find(const char *name) {
    static const struct activity_text none;
    if (!name || !*name) {
        return &none;
    }
    const struct activity_text *t = place_of(hash_of(name, strlen(name)));
    if (t->hash) {
        return t;
    }
    return is_full() ? &lost : NULL;
}

const struct activity_text *activity_text_add(const char *name, const char *text) {
    uint64_t hash = hash_of(name, strlen(name));
    struct activity_text *t = place_of(hash);
    uint32_t unit = is_full() ? 0 : text_of(text);
    if (!unit) {
        return &lost;
    }
    ++name_count;
    t->hash = hash;
    t->text = unit;
    t->flags = flags_of(name);
    return t;
}
