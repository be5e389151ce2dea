/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts, sites, sets and devices of merged runs. Each is stored once: they are found by a hash
 * of their contents. merge.c calls these functions for every name of every run.
 */
#include <stddef.h>
#include <string.h>

#include "merge.h"
#include "system/log.h"

struct text_key {
    const char *bytes;
    size_t length;
};

static int is_text(struct merge *m, uint32_t text, const void *wanted) {
    const struct text_key *key = wanted;
    const struct arena_text *t = merge_file_text_at(&m->file, text);
    return t->length == key->length && !memcmp(t->bytes, key->bytes, key->length);
}

static uint32_t make_text(struct merge *m, const void *wanted) {
    const struct text_key *key = wanted;
    return merge_file_text(&m->file, key->bytes, key->length);
}

uint32_t merge_names_text(struct merge *m, const char *bytes, size_t length) {
    struct text_key key = {bytes, length};
    return merge_find_or_make(m, MERGE_TEXTS, hash_bytes(bytes, length), is_text, make_text, &key);
}

/* The record at a place of a table in chunks, which gets memory. NULL without. */
static void *table_at(struct merge *m, uint32_t *chunk, uint32_t each, size_t bytes,
                      uint32_t place) {
    char *records = merge_file_need(&m->file, &chunk[place / each], each * bytes);
    return records ? records + place % each * bytes : NULL;
}

/* ---- Sites. */

static struct arena_site *site_at(struct merge *m, uint32_t id) {
    return table_at(m, merge_file_header(&m->file)->site_chunk, ARENA_SITES_PER_CHUNK,
                    sizeof(struct arena_site), id - 1);
}

uint32_t merge_names_text_of(struct merge *m, uint32_t site) {
    return site_at(m, site)->name;
}

/* Equal texts have equal numbers, so equal sites have equal bytes. */
static int is_site(struct merge *m, uint32_t id, const void *wanted) {
    return !memcmp(site_at(m, id), wanted, sizeof(struct arena_site));
}

static uint32_t make_site(struct merge *m, const void *wanted) {
    struct arena_header *h = merge_file_header(&m->file);
    if (h->site_count >= ARENA_SITES - 1) {
        log_error("merge: more than %u different names", ARENA_SITES - 1);
        return 0;
    }
    struct arena_site *to = site_at(m, h->site_count + 1);
    if (!to) {
        return 0;
    }
    *to = *(const struct arena_site *)wanted;
    return ++h->site_count;
}

/* The text of a site's record, which the snapshot does not keep. */
static uint32_t copy_site_text(struct merge *m, const struct snapshot *s, uint32_t text) {
    uint32_t length = 0;
    const char *bytes = snapshot_text(s, text, &length);
    return merge_names_text(m, bytes ? bytes : "", length);
}

uint32_t merge_names_site(struct merge *m, const struct snapshot *s, uint32_t id) {
    const struct arena_header *h = (const struct arena_header *)(const void *)s->base;
    const struct arena_site *in = snapshot_at(s, h->site_chunk[(id - 1) / ARENA_SITES_PER_CHUNK],
                                              ARENA_SITES_PER_CHUNK * sizeof *in);
    struct arena_site site = {.name = merge_names_text(m, s->sites[id].name, s->sites[id].length)};
    if (in) {
        in += (id - 1) % ARENA_SITES_PER_CHUNK;
        site.file = copy_site_text(m, s, in->file);
        site.function = copy_site_text(m, s, in->function);
        site.line = in->line;
        site.level = in->level;
        site.role = in->role;
        site.dynamic = in->dynamic;
        site.plain = in->plain;
    }
    if (!site.name || (in && (!site.file || !site.function))) {
        return 0;
    }
    uint64_t hash = hash_bytes((const char *)&site, sizeof site);
    return merge_find_or_make(m, MERGE_SITES, hash, is_site, make_site, &site);
}

/* ---- Sets. */

static struct arena_set *set_at(struct merge *m, uint32_t id) {
    return table_at(m, merge_file_header(&m->file)->set_chunk, ARENA_SETS_PER_CHUNK,
                    sizeof(struct arena_set), id);
}

static int is_set(struct merge *m, uint32_t place, const void *wanted) {
    return set_at(m, place - 1)->name == *(const uint32_t *)wanted;
}

static uint32_t make_set(struct merge *m, const void *wanted) {
    struct arena_header *h = merge_file_header(&m->file);
    if (h->set_count >= ARENA_SETS) {
        log_error("merge: more than %u different sets", ARENA_SETS);
        return 0;
    }
    struct arena_set *to = set_at(m, h->set_count);
    if (!to) {
        return 0;
    }
    to->name = *(const uint32_t *)wanted;
    return ++h->set_count;
}

uint32_t merge_names_set(struct merge *m, const char *name) {
    uint32_t text = merge_names_text(m, name, strlen(name));
    return text ? merge_find_or_make(m, MERGE_SETS, text, is_set, make_set, &text) : 0;
}

/* ---- Devices. */

#define DEVICE_KEY offsetof(struct arena_device, number)

static int is_device(struct merge *m, uint32_t unit, const void *wanted) {
    const char *have = merge_file_at(&m->file, unit);
    return !memcmp(have + DEVICE_KEY, (const char *)wanted + DEVICE_KEY,
                   sizeof(struct arena_device) - DEVICE_KEY);
}

static uint32_t make_device(struct merge *m, const void *wanted) {
    struct arena_header *h = merge_file_header(&m->file);
    uint32_t unit = merge_file_put(&m->file, wanted, sizeof(struct arena_device));
    if (unit) {
        struct arena_device *to = merge_file_at(&m->file, unit);
        to->next = h->first_device;
        h->first_device = unit;
    }
    return unit;
}

uint32_t merge_names_device(struct merge *m, const struct snapshot *s, uint32_t unit) {
    const struct arena_device *from = snapshot_at(s, unit, sizeof *from);
    if (!from) {
        return 0;
    }
    struct arena_device device = *from;
    uint32_t length = 0;
    const char *words = snapshot_text(s, from->words, &length);
    device.words = words ? merge_names_text(m, words, length) : 0;
    uint64_t hash = hash_bytes((const char *)&device + DEVICE_KEY, sizeof device - DEVICE_KEY);
    return merge_find_or_make(m, MERGE_DEVICES, hash, is_device, make_device, &device);
}
