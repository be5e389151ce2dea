/* SPDX-License-Identifier: Apache-2.0 */
#include "name_index.h"

#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/hash.h"
#include "base/name.h"
#include "record/node_list.h"

#define FIRST_SITES 256u

struct name_nodes {
    uint32_t newest; /* the words of node_list.h lead from it to the others; 0 = none */
    uint32_t count;
};

/* A name has the number of the first site that has it. */
static struct {
    struct scratch memory;
    struct hash_map names;    /* hashes to names */
    uint32_t *name_of;        /* by site */
    struct name_nodes *nodes; /* by name */
    uint32_t *unit;           /* the nodes of the name that was asked for */
    uint32_t room, unit_room;
    uint32_t sites; /* that are known */
    int failed;     /* nodes are missing for good */
} name_index;

static const struct arena_text *site_text_of(uint32_t site) {
    return arena_text_at(arena_site_at(site)->name);
}

static uint32_t name_find(const char *bytes, size_t length, uint32_t hash) {
    struct hash_map_walk walk;
    uint32_t name = hash_map_first(&name_index.names, hash, &walk);
    while (name != HASH_MAP_NONE) {
        const struct arena_text *t = site_text_of(name);
        if (t->length == length && !memcmp(t->bytes, bytes, length)) {
            break;
        }
        name = hash_map_next(&name_index.names, &walk);
    }
    return name;
}

/* Room for so many sites, and site 0. */
static int name_index_grow(uint32_t sites) {
    if (sites < name_index.room) {
        return 0;
    }
    uint32_t room = (uint32_t)u64_max((uint64_t)sites * 2, FIRST_SITES);
    uint32_t *name_of = scratch_array(&name_index.memory, room, sizeof *name_of);
    struct name_nodes *nodes = scratch_array(&name_index.memory, room, sizeof *nodes);
    if (!name_index.room) {
        hash_map_start(&name_index.names, &name_index.memory, 0);
    }
    if (scratch_failed(&name_index.memory)) {
        return -1;
    }
    if (name_index.room) {
        memcpy(name_of, name_index.name_of, name_index.room * sizeof *name_of);
        memcpy(nodes, name_index.nodes, name_index.room * sizeof *nodes);
    }
    name_index.name_of = name_of;
    name_index.nodes = nodes;
    name_index.room = room;
    return 0;
}

static int name_index_add_sites(uint32_t sites) {
    if (name_index_grow(sites)) {
        return -1;
    }
    while (name_index.sites < sites) {
        uint32_t site = name_index.sites + 1;
        const struct arena_text *t = site_text_of(site);
        uint32_t hash = (uint32_t)hash_bytes(t->bytes, t->length);
        uint32_t name = name_find(t->bytes, t->length, hash);
        if (name == HASH_MAP_NONE) {
            name = site;
            if (hash_map_add(&name_index.names, hash, name)) {
                return -1;
            }
        }
        name_index.name_of[site] = name;
        name_index.sites = site;
    }
    return 0;
}

/* The sites of the nodes that were taken are there by then. */
static int name_index_update(void) {
    uint32_t unit;
    int failed = node_list_take(&unit);
    failed |= name_index_add_sites(__atomic_load_n(&arena_header()->site_count, __ATOMIC_ACQUIRE));
    while (unit && !failed) {
        const struct stint_impl_node *n = arena_at(unit);
        struct name_nodes *nodes = &name_index.nodes[name_index.name_of[n->site]];
        uint32_t *word = node_list_word(unit), next = *word;
        *word = nodes->newest;
        nodes->newest = unit;
        ++nodes->count;
        unit = next;
    }
    return failed;
}

static int name_index_list(struct snapshot_choice *out, const struct name_nodes *nodes) {
    if (nodes->count > name_index.unit_room) {
        name_index.unit_room = 2 * nodes->count;
        name_index.unit =
            scratch_array(&name_index.memory, name_index.unit_room, sizeof *name_index.unit);
    }
    if (scratch_failed(&name_index.memory)) {
        return -1;
    }
    for (uint32_t unit = nodes->newest; unit; unit = *node_list_word(unit)) {
        name_index.unit[out->count++] = unit;
    }
    out->unit = name_index.unit;
    out->name_of = name_index.name_of;
    return 0;
}

int name_index_find(struct snapshot_choice *out, const char *name) {
    size_t length = name_cut(name, strlen(name));
    name_index.failed = name_index.failed || name_index_update();
    if (name_index.failed) {
        return -1;
    }
    uint32_t number = name_find(name, length, (uint32_t)hash_bytes(name, length));
    if (number != HASH_MAP_NONE) {
        out->name = number;
        name_index.failed = name_index_list(out, &name_index.nodes[number]);
    }
    return name_index.failed ? -1 : 0;
}

void name_index_forget(void) {
    scratch_free(&name_index.memory);
    memset(&name_index, 0, sizeof name_index);
}
