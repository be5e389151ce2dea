/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the sites, sets and devices that nodes name.
 */
#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "snapshot_parts.h"

/* An item of a table in chunks; NULL: it is not in the arena. */
static const void *find_in_chunks(const struct snapshot *s, const uint32_t *chunks, uint32_t each,
                                  uint32_t index, size_t bytes) {
    const char *chunk = snapshot_at(s, chunks[index / each], each * bytes);
    return chunk ? chunk + index % each * bytes : NULL;
}

void snapshot_read_site(const struct snapshot *s, const struct arena_header *h, uint32_t id,
                        struct snapshot_site *out) {
    const struct arena_site *in =
        find_in_chunks(s, h->site_chunk, ARENA_SITES_PER_CHUNK, id - 1, sizeof *in);
    uint32_t length = 0;
    if (in) {
        out->name = snapshot_text(s, in->name, &out->length);
    }
    if (!out->name) {
        out->name = "?";
        out->length = 1;
        return;
    }
    out->file = snapshot_text(s, in->file, &length);
    out->line = in->line;
    out->level = in->level;
    out->role = in->role;
    out->dynamic = in->dynamic;
    out->plain = in->plain;
}

static int read_sites(struct snapshot *s, const struct arena_header *h) {
    /* A header may name more of them than there are bytes for. */
    uint64_t most = u64_min(s->size / sizeof(struct arena_site), ARENA_SITES - 1);
    uint32_t count = (uint32_t)u64_min(SNAPSHOT_ACQUIRE(&h->site_count), most);
    s->sites = scratch_array(&s->memory, (size_t)count + 1, sizeof *s->sites);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t id = 1; id <= count; ++id) {
        snapshot_read_site(s, h, id, &s->sites[id]);
    }
    s->site_count = count;
    return 0;
}

static int read_sets(struct snapshot *s, const struct arena_header *h) {
    uint32_t count = (uint32_t)u64_min(SNAPSHOT_ACQUIRE(&h->set_count), ARENA_SETS), length = 0;
    s->set_count = (uint32_t)u64_max(count, 1); /* reports rely on the default set */
    s->sets = scratch_array(&s->memory, s->set_count, sizeof *s->sets);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t id = 0; id < s->set_count; ++id) {
        const struct arena_set *set = NULL;
        if (id < count) {
            set = find_in_chunks(s, h->set_chunk, ARENA_SETS_PER_CHUNK, id, sizeof *set);
        }
        const char *name = set ? snapshot_text(s, set->name, &length) : NULL;
        s->sets[id] = name ? name : "?";
    }
    return 0;
}

/* 0, or -1 without memory. */
static int read_device_words(struct snapshot *s, uint32_t text, struct gpu_words *out) {
    uint32_t length = 0;
    const char *joined = snapshot_text(s, text, &length);
    if (!joined) {
        return 0;
    }
    char *bytes = scratch_array(&s->memory, GPU_WORDS_BYTES, 1);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    gpu_words_read(joined, length, bytes, out);
    return 0;
}

static void read_device(struct snapshot_device *out, const struct arena_device *d) {
    memcpy(out->name, d->name, sizeof out->name - 1);
    out->number = STINT_IMPL_LOAD(&d->number);
    out->major = STINT_IMPL_LOAD(&d->major);
    out->minor = STINT_IMPL_LOAD(&d->minor);
    out->multiprocessors = STINT_IMPL_LOAD(&d->multiprocessors);
    out->threads_per_mp = STINT_IMPL_LOAD(&d->threads_per_mp);
    out->blocks_per_mp = STINT_IMPL_LOAD(&d->blocks_per_mp);
    out->registers_per_mp = STINT_IMPL_LOAD(&d->registers_per_mp);
    out->shared_per_mp = STINT_IMPL_LOAD(&d->shared_per_mp);
    out->reserved_shared = STINT_IMPL_LOAD(&d->reserved_shared);
    out->bytes_per_s = STINT_IMPL_LOAD(&d->bytes_per_s);
    out->flops_per_s = STINT_IMPL_LOAD(&d->flops_per_s);
}

int snapshot_read_devices(struct snapshot *s, const struct arena_header *h) {
    const struct arena_device *d;
    struct snapshot_list list =
        SNAPSHOT_LIST(s, SNAPSHOT_ACQUIRE(&h->first_device), struct arena_device, SNAPSHOT_DEVICES);
    if (!list.next) {
        return 0;
    }
    s->devices = scratch_array(&s->memory, SNAPSHOT_DEVICES, sizeof *s->devices);
    while (!scratch_failed(&s->memory) && (d = snapshot_list_next(&list))) {
        struct snapshot_device *out = &s->devices[s->device_count++];
        out->unit = list.unit;
        read_device(out, d);
        if (read_device_words(s, d->words, &out->words)) {
            return -1;
        }
    }
    return scratch_failed(&s->memory) ? -1 : 0;
}

int snapshot_read_names(struct snapshot *s, const struct arena_header *h) {
    if (read_sites(s, h) || read_sets(s, h) || snapshot_read_devices(s, h)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->extra_count; ++i) {
        s->extras[i].gpu.device = snapshot_device_of(s, s->extras[i].gpu.device);
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        struct snapshot_node *n = &s->nodes[i];
        if (n->site > s->site_count) {
            n->site = 0;
        }
        if (n->set >= s->set_count) {
            n->set = 0;
        }
    }
    return 0;
}
