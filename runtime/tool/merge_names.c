/* SPDX-License-Identifier: Apache-2.0 */
#include "merge_names.h"

#include <string.h>

#include "base/hash.h"
#include "base/log.h"

void merge_names_start(struct merge_names *n, struct merge_file *file) {
    memset(n, 0, sizeof *n);
    n->file = file;
}

void merge_names_end(struct merge_names *n) {
    scratch_free(&n->memory);
}

static int table_grow(struct merge_names *n, struct merge_table *t) {
    struct merge_table next = {.size = t->size ? t->size * 2 : 1024, .count = t->count};
    next.number = scratch_array(&n->memory, next.size, sizeof *next.number);
    next.hash = scratch_array(&n->memory, next.size, sizeof *next.hash);
    if (!next.number || !next.hash) {
        return -1;
    }
    for (uint32_t i = 0; i < t->size; ++i) {
        if (t->number[i]) {
            uint32_t at = t->hash[i] & (next.size - 1);
            while (next.number[at]) {
                at = (at + 1) & (next.size - 1);
            }
            next.number[at] = t->number[i];
            next.hash[at] = t->hash[i];
        }
    }
    *t = next;
    return 0;
}

/* The first place at or after `at` that is empty or has that hash. */
static uint32_t table_next(const struct merge_table *t, uint32_t hash, uint32_t at) {
    at &= t->size - 1;
    while (t->number[at] && t->hash[at] != hash) {
        at = (at + 1) & (t->size - 1);
    }
    return at;
}

static int table_room(struct merge_names *n, struct merge_table *t) {
    return t->count * 2 >= t->size ? table_grow(n, t) : 0;
}

static void table_put(struct merge_table *t, uint32_t at, uint32_t hash, uint32_t number) {
    t->number[at] = number;
    t->hash[at] = hash;
    ++t->count;
}

static int text_is(const struct merge_names *n, uint32_t text, const char *bytes, size_t length) {
    const struct arena_text *t = merge_file_text_at(n->file, text);
    return t->length == length && !memcmp(t->bytes, bytes, length);
}

uint32_t merge_names_text(struct merge_names *n, const char *bytes, size_t length) {
    struct merge_table *t = &n->texts;
    uint32_t hash = (uint32_t)hash_bytes(bytes, length);
    if (table_room(n, t)) {
        return 0;
    }
    uint32_t at = table_next(t, hash, hash);
    while (t->number[at] && !text_is(n, t->number[at], bytes, length)) {
        at = table_next(t, hash, at + 1);
    }
    if (!t->number[at]) {
        uint32_t text = merge_file_text(n->file, bytes, length);
        if (!text) {
            return 0;
        }
        table_put(t, at, hash, text);
    }
    return t->number[at];
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
    if (!site.name || (in && (!site.file || !site.function)) || table_room(n, &n->sites)) {
        return 0;
    }
    /* Equal texts have equal numbers, so equal sites have equal bytes. */
    uint32_t hash = (uint32_t)hash_bytes((const char *)&site, sizeof site);
    uint32_t at = table_next(&n->sites, hash, hash);
    while (n->sites.number[at] && memcmp(site_at(n, n->sites.number[at]), &site, sizeof site)) {
        at = table_next(&n->sites, hash, at + 1);
    }
    if (!n->sites.number[at]) {
        uint32_t number = site_new(n, &site);
        if (!number) {
            return 0;
        }
        table_put(&n->sites, at, hash, number);
    }
    return n->sites.number[at];
}

/* ---- Sets. */

static struct arena_set *set_at(const struct merge_names *n, uint32_t id) {
    uint32_t chunk = merge_file_header(n->file)->set_chunk[id / ARENA_SETS_PER_CHUNK];
    return (struct arena_set *)merge_file_at(n->file, chunk) + id % ARENA_SETS_PER_CHUNK;
}

uint32_t merge_names_set(struct merge_names *n, const char *name, int *failed) {
    struct arena_header *h = merge_file_header(n->file);
    uint32_t text = merge_names_text(n, name, strlen(name));
    uint32_t hash = text * 0x9e3779b1u;
    *failed = !text || table_room(n, &n->sets);
    if (*failed) {
        return 0;
    }
    uint32_t at = table_next(&n->sets, hash, hash);
    if (n->sets.number[at]) { /* a text's number gives its hash: no two are alike */
        return n->sets.number[at] - 1;
    }
    uint32_t id = h->set_count;
    uint32_t *chunk = id < ARENA_SETS ? &h->set_chunk[id / ARENA_SETS_PER_CHUNK] : NULL;
    if (chunk && !*chunk) {
        *chunk = merge_file_get(n->file, ARENA_SETS_PER_CHUNK * sizeof(struct arena_set));
    }
    *failed = !chunk || !*chunk;
    if (*failed) {
        if (!chunk) {
            log_line("merge: more than %u different sets", ARENA_SETS);
        }
        return 0;
    }
    set_at(n, id)->name = text;
    h->set_count = id + 1;
    table_put(&n->sets, at, hash, id + 1);
    return id;
}
