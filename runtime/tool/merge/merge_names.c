/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts, sites and sets of merged runs. Each is stored once: they are found by a hash of their
 * contents. merge.c calls these functions for every name of every run.
 */
#include "merge.h"

#include <string.h>

#include "base/log.h"

int merge_names_start(struct merge_names *n, struct merge_file *file) {
    memset(n, 0, sizeof *n);
    n->file = file;
    if (hash_map_start(&n->texts, &n->memory, 0) || hash_map_start(&n->sites, &n->memory, 0)) {
        return -1;
    }
    return hash_map_start(&n->sets, &n->memory, 0);
}

void merge_names_end(struct merge_names *n) {
    scratch_free(&n->memory);
}

static int is_text(const struct merge_names *n, uint32_t text, const char *bytes, size_t length) {
    const struct arena_text *t = merge_file_text_at(n->file, text);
    return t->length == length && !memcmp(t->bytes, bytes, length);
}

uint32_t merge_names_text(struct merge_names *n, const char *bytes, size_t length) {
    uint32_t hash = (uint32_t)hash_bytes(bytes, length);
    struct hash_map_walk walk;
    uint32_t text = hash_map_first(&n->texts, hash, &walk);
    while (text != HASH_MAP_NONE && !is_text(n, text, bytes, length)) {
        text = hash_map_next(&n->texts, &walk);
    }
    if (text != HASH_MAP_NONE) {
        return text;
    }
    text = merge_file_text(n->file, bytes, length);
    if (!text || hash_map_add(&n->texts, hash, text)) {
        return 0;
    }
    return text;
}

/* ---- Sites. */

static struct arena_site *site_at(const struct merge_names *n, uint32_t id) {
    uint32_t chunk = merge_file_header(n->file)->site_chunk[(id - 1) / ARENA_SITES_PER_CHUNK];
    return (struct arena_site *)merge_file_at(n->file, chunk) + (id - 1) % ARENA_SITES_PER_CHUNK;
}

uint32_t merge_names_text_of(const struct merge_names *n, uint32_t site) {
    return site_at(n, site)->name;
}

static uint32_t site_new(struct merge_names *n, const struct arena_site *site) {
    struct arena_header *h = merge_file_header(n->file);
    uint32_t *chunk = &h->site_chunk[h->site_count / ARENA_SITES_PER_CHUNK];
    if (h->site_count >= ARENA_SITES - 1) {
        log_error("merge: more than %u different names", ARENA_SITES - 1);
        return 0;
    }
    if (!*chunk) {
        *chunk = merge_file_get(n->file, ARENA_SITES_PER_CHUNK * sizeof *site);
        if (!*chunk) {
            return 0;
        }
    }
    *site_at(n, ++h->site_count) = *site;
    return h->site_count;
}

/* The text of a site's record, which the snapshot does not keep. */
static uint32_t copy_site_text(struct merge_names *n, const struct snapshot *s, uint32_t text) {
    uint32_t length = 0;
    const char *bytes = snapshot_text(s, text, &length);
    if (!bytes) {
        return merge_names_text(n, "", 0);
    }
    return merge_names_text(n, bytes, length);
}

uint32_t merge_names_site(struct merge_names *n, const struct snapshot *s, uint32_t id) {
    const struct arena_header *h = (const struct arena_header *)(const void *)s->base;
    const struct arena_site *in = snapshot_at(s, h->site_chunk[(id - 1) / ARENA_SITES_PER_CHUNK],
                                              ARENA_SITES_PER_CHUNK * sizeof *in);
    struct arena_site site = {.name = merge_names_text(n, s->sites[id].name, s->sites[id].length)};
    if (in) {
        in += (id - 1) % ARENA_SITES_PER_CHUNK;
        site.file = copy_site_text(n, s, in->file);
        site.function = copy_site_text(n, s, in->function);
        site.line = in->line;
        site.level = in->level;
        site.role = in->role;
        site.dynamic = in->dynamic;
        site.plain = in->plain;
    }
    if (!site.name || (in && (!site.file || !site.function))) {
        return 0;
    }
    /* Equal texts have equal numbers, so equal sites have equal bytes. */
    uint32_t hash = (uint32_t)hash_bytes((const char *)&site, sizeof site);
    struct hash_map_walk walk;
    uint32_t number = hash_map_first(&n->sites, hash, &walk);
    while (number != HASH_MAP_NONE && memcmp(site_at(n, number), &site, sizeof site)) {
        number = hash_map_next(&n->sites, &walk);
    }
    if (number != HASH_MAP_NONE) {
        return number;
    }
    number = site_new(n, &site);
    if (!number || hash_map_add(&n->sites, hash, number)) {
        return 0;
    }
    return number;
}

/* ---- Sets. */

static struct arena_set *set_at(const struct merge_names *n, uint32_t id) {
    uint32_t chunk = merge_file_header(n->file)->set_chunk[id / ARENA_SETS_PER_CHUNK];
    return (struct arena_set *)merge_file_at(n->file, chunk) + id % ARENA_SETS_PER_CHUNK;
}

/* Adds a set of that name after the others. */
static int set_add(struct merge_names *n, uint32_t name) {
    struct arena_header *h = merge_file_header(n->file);
    if (h->set_count >= ARENA_SETS) {
        log_error("merge: more than %u different sets", ARENA_SETS);
        return -1;
    }
    uint32_t *chunk = &h->set_chunk[h->set_count / ARENA_SETS_PER_CHUNK];
    if (!*chunk) {
        *chunk = merge_file_get(n->file, ARENA_SETS_PER_CHUNK * sizeof(struct arena_set));
    }
    if (!*chunk) {
        return -1;
    }
    set_at(n, h->set_count++)->name = name;
    return 0;
}

uint32_t merge_names_set(struct merge_names *n, const char *name, int *failed) {
    struct arena_header *h = merge_file_header(n->file);
    uint32_t text = merge_names_text(n, name, strlen(name));
    *failed = !text;
    if (*failed) {
        return 0;
    }
    uint32_t known = hash_map_get(&n->sets, text);
    if (known != HASH_MAP_NONE) {
        return known;
    }
    *failed = set_add(n, text) || hash_map_set(&n->sets, text, h->set_count - 1);
    return *failed ? 0 : h->set_count - 1;
}
