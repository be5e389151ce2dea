/* SPDX-License-Identifier: Apache-2.0 */
#include "set.h"

#include <string.h>

#include "arena/arena.h"
#include "base/errno_keep.h"
#include "base/name.h"
#include "base/scratch.h"
#include "registry.h"

struct set_object {
    struct stint_set set;
    uint32_t length;
    struct set_object *next; /* newest first */
    char name[];
};

static struct set_object *newest;
static uint32_t count = 1; /* the default set is number 0 */
static char *pool;
static size_t pool_left;

#define POOL_BYTES ((size_t)4096)

static int set_publish(uint32_t id, const char *name, size_t length) {
    struct arena_header *h = arena_header();
    uint32_t *chunk = &h->set_chunk[id / ARENA_SETS_PER_CHUNK];
    if (!*chunk) {
        *chunk = arena_get(ARENA_SETS_PER_CHUNK * sizeof(struct arena_set), ARENA_RECORD);
    }
    if (!*chunk) {
        return -1;
    }
    struct arena_set *s = (struct arena_set *)arena_at(*chunk) + id % ARENA_SETS_PER_CHUNK;
    s->name = arena_text_put(name, length);
    if (h->set_count <= id) {
        __atomic_store_n(&h->set_count, id + 1, __ATOMIC_RELEASE);
    }
    if (!s->name) {
        return -1;
    }
    return 0;
}

void set_publish_all(void) {
    set_publish(0, SET_DEFAULT_NAME, strlen(SET_DEFAULT_NAME));
    for (struct set_object *o = newest; o; o = o->next) {
        set_publish(o->set.id, o->name, o->length);
    }
}

static struct set_object *object_new(const char *name, size_t length) {
    size_t bytes = (sizeof(struct set_object) + length + 1 + 15) & ~(size_t)15;
    if (bytes > pool_left) {
        pool = pages_get(POOL_BYTES);
        pool_left = 0;
        if (pool) {
            pool_left = POOL_BYTES;
        }
    }
    if (bytes > pool_left) {
        return NULL;
    }
    struct set_object *o = (struct set_object *)(void *)(pool + POOL_BYTES - pool_left);
    pool_left -= bytes;
    memcpy(o->name, name, length);
    o->length = (uint32_t)length;
    return o;
}

static stint_set *find_or_make(const char *name, size_t length) {
    for (struct set_object *o = newest; o; o = o->next) {
        if (o->length == length && !memcmp(o->name, name, length)) {
            return &o->set;
        }
    }
    struct set_object *o = NULL;
    if (count < ARENA_SETS - 1) {
        o = object_new(name, length);
    }
    if (!o || !arena.base || set_publish(count, name, length)) {
        arena_lose(STINT_STATUS_NO_NAME, 1);
        return NULL;
    }
    o->set.id = count++;
    o->next = newest;
    newest = o;
    return &o->set;
}

stint_set *set_get(const char *name) {
    ERRNO_KEEP;
    static struct stint_set default_set;
    if (!name || !strcmp(name, SET_DEFAULT_NAME)) {
        return &default_set;
    }
    size_t length = name_cut(name, strlen(name));
    if (!length) {
        return &default_set;
    }
    registry_lock();
    stint_set *set = find_or_make(name, length);
    registry_unlock();
    return set;
}

uint32_t set_list(struct set_entry *out, uint32_t room) {
    registry_lock();
    uint32_t have = count;
    if (room) {
        out[0] = (struct set_entry){SET_DEFAULT_NAME, NULL};
    }
    for (struct set_object *o = newest; o; o = o->next) {
        if (o->set.id < room) {
            out[o->set.id] = (struct set_entry){o->name, &o->set};
        }
    }
    registry_unlock();
    return have;
}
