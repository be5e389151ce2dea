/* SPDX-License-Identifier: Apache-2.0 */
#include "merge_names.h"

#include <string.h>

#include "base/log.h"

int merge_names_start(struct merge_names *n, struct merge_file *file) {
    memset(n, 0, sizeof *n);
    n->file = file;
    return hash_map_start(&n->texts, &n->memory, 0) || hash_map_start(&n->sites, &n->memory, 0) ||
                   hash_map_start(&n->sets, &n->memory, 0)
               ? -1
               : 0;
}

void merge_names_end(struct merge_names *n) {
    scratch_free(&n->memory);
}

static int text_is(const struct merge_names *n, uint32_t text, const char *bytes, size_t length) {
    const struct arena_text *t = merge_file_text_at(n->file, text);
    return t->length == length && !memcmp(t->bytes, bytes, length);
}

uint32_t merge_names_text(struct merge_names *n, const char *bytes, size_t length) {
    uint32_t hash = (uint32_t)hash_bytes(bytes, length);
    struct hash_map_walk walk;
    uint32_t text = hash_map_first(&n->texts, hash, &walk);
    while (text != HASH_MAP_NONE && !text_is(n, text, bytes, length)) {
        text = hash_map_next(&n->texts, &walk);
    }
    if (text != HASH_MAP_NONE) {
        return text;
    }
    text = merge_file_text(n->file, bytes, length);
    return text && !hash_map_add(&n->texts, hash, text) ? text : 0;
}

/* ---- Sites. */

static struct arena_site *site_at(const struct merge_names *n, uint32_t id) {
    uint32_t chunk = merge_file_header(n->file)->site_chunk[(id - 1) / ARENA_SITES_PER_CHUNK];
    return (struct arena_site *)merge_file_at(n->file, chunk) + (id - 1) % ARENA_SITES_PER_CHUNK;
}

static uint32_t site_new(struct merge_names *n, const struct arena_site *site) {
    struct arena_header *h = merge_file_header(n->file);
    uint32_t *chunk = &h->site_chunk[h->site_count / ARENA_SITES_PER_CHUNK];
    if (h->site_count >= ARENA_SITES - 1) {
        log_line("merge: more than %u different names", ARENA_SITES - 1);
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
static uint32_t copy_text(struct merge_names *n, const struct snapshot *s, uint32_t text) {
    uint32_t length = 0;
    const char *bytes = snapshot_text(s, text, &length);
    return merge_names_text(n, bytes ? bytes : "", bytes ? length : 0);
}

uint32_t merge_names_site(struct merge_names *n, const struct snapshot *s, uint32_t id) {
    const struct arena_header *h = (const struct arena_header *)(const void *)s->base;
    const struct arena_site *in = snapshot_at(s, h->site_chunk[(id - 1) / ARENA_SITES_PER_CHUNK],
                                              ARENA_SITES_PER_CHUNK * sizeof *in);
    struct arena_site site = {.name = merge_names_text(n, s->sites[id].name, s->sites[id].length)};
    if (in) {
        in += (id - 1) % ARENA_SITES_PER_CHUNK;
        site.file = copy_text(n, s, in->file);
        site.function = copy_text(n, s, in->function);
        site.line = in->line;
        site.level = in->level;
        site.role = in->role;
        site.dynamic = in->dynamic;
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
    return number && !hash_map_add(&n->sites, hash, number) ? number : 0;
}

/* ---- Sets. */

static struct arena_set *set_at(const struct merge_names *n, uint32_t id) {
    uint32_t chunk = merge_file_header(n->file)->set_chunk[id / ARENA_SETS_PER_CHUNK];
    return (struct arena_set *)merge_file_at(n->file, chunk) + id % ARENA_SETS_PER_CHUNK;
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
    uint32_t id = h->set_count;
    uint32_t *chunk = id < ARENA_SETS ? &h->set_chunk[id / ARENA_SETS_PER_CHUNK] : NULL;
    if (chunk && !*chunk) {
        *chunk = merge_file_get(n->file, ARENA_SETS_PER_CHUNK * sizeof(struct arena_set));
    }
    *failed = !chunk || !*chunk || hash_map_set(&n->sets, text, id);
    if (*failed) {
        if (!chunk) {
            log_line("merge: more than %u different sets", ARENA_SETS);
        }
        return 0;
    }
    set_at(n, id)->name = text;
    h->set_count = id + 1;
    return id;
}
