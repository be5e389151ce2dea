/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - Nodes are found breadth first from each thread's root, so that parents come before children; no
 *   more of them are read than fit into the arena, which also ends a cycle.
 * - A node is read under its sequence word and read again if it changed meanwhile. A writer that
 * was killed or preempted in the middle leaves the word odd: after some tries the values are taken
 * as they are, which is one sample off at most.
 */
#include "snapshot.h"

#include <sched.h>
#include <string.h>

#include "arena.h"
#include "process.h"

#define TRIES 200

#define ACQUIRE(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

const void *snapshot_at(const struct snapshot *s, uint32_t unit, uint64_t bytes) {
    uint64_t at = (uint64_t)unit * STINT_IMPL_UNIT;
    return unit && bytes <= s->size && at <= s->size - bytes ? s->base + at : NULL;
}

static const char *text_at(const struct snapshot *s, uint32_t text, uint32_t *length) {
    uint64_t at = (uint64_t)text * 8;
    if (!text || at + sizeof(struct arena_text) >= s->size) { /* not even room for the NUL */
        return NULL;
    }
    const struct arena_text *t = (const struct arena_text *)(const void *)(s->base + at);
    uint32_t n = t->length;
    if (n > s->size - at - sizeof *t - 1 || t->bytes[n] != '\0') {
        return NULL;
    }
    *length = n;
    return t->bytes;
}

static int read_sites(struct snapshot *s, const struct arena_header *h) {
    uint32_t count = ACQUIRE(&h->site_count), length = 0;
    count = count < ARENA_SITES ? count : ARENA_SITES - 1;
    s->sites = scratch_array(&s->memory, (size_t)count + 1, sizeof *s->sites);
    if (!s->sites) {
        return -1;
    }
    for (uint32_t id = 1; id <= count; ++id) {
        const struct arena_site *chunk =
            snapshot_at(s, h->site_chunk[(id - 1) / ARENA_SITES_PER_CHUNK],
                        ARENA_SITES_PER_CHUNK * sizeof *chunk);
        struct snapshot_site *out = &s->sites[id];
        const struct arena_site *in = chunk ? &chunk[(id - 1) % ARENA_SITES_PER_CHUNK] : NULL;
        out->name = in ? text_at(s, in->name, &out->length) : NULL;
        if (!out->name) {
            out->name = "?";
            out->length = 1;
            continue;
        }
        out->file = text_at(s, in->file, &length);
        out->line = in->line;
        out->level = in->level;
        out->role = in->role;
    }
    s->site_count = count;
    return 0;
}

static int read_sets(struct snapshot *s, const struct arena_header *h) {
    uint32_t count = ACQUIRE(&h->set_count), length = 0;
    count = count < ARENA_SETS ? count : ARENA_SETS;
    s->sets = scratch_array(&s->memory, (size_t)count + 1, sizeof *s->sets);
    if (!s->sets) {
        return -1;
    }
    for (uint32_t id = 0; id < count; ++id) {
        const struct arena_set *chunk = snapshot_at(s, h->set_chunk[id / ARENA_SETS_PER_CHUNK],
                                                    ARENA_SETS_PER_CHUNK * sizeof *chunk);
        const char *name =
            chunk ? text_at(s, chunk[id % ARENA_SETS_PER_CHUNK].name, &length) : NULL;
        s->sets[id] = name ? name : "?";
    }
    s->sets[0] = count ? s->sets[0] : "?"; /* reports rely on the default set */
    s->set_count = count ? count : 1;
    return 0;
}

static int read_threads(struct snapshot *s, const struct arena_header *h) {
    uint64_t most = s->size / sizeof(struct arena_thread);
    uint32_t newest = ACQUIRE(&h->first_thread), unit = newest;
    const struct arena_thread *t;
    uint32_t count = 0;
    for (; (t = snapshot_at(s, unit, sizeof *t)) && count < most; unit = t->next) {
        ++count;
    }
    s->threads = scratch_array(&s->memory, (size_t)count + 1, sizeof *s->threads);
    if (!s->threads) {
        return -1;
    }
    unit = newest;
    s->thread_count = count;
    for (uint32_t i = count; i-- > 0; unit = t->next) { /* oldest first */
        t = snapshot_at(s, unit, sizeof *t);
        if (!t) {
            return -1;
        }
        struct snapshot_thread *out = &s->threads[i];
        out->tid = STINT_IMPL_LOAD(&t->tid);
        out->alive = ACQUIRE(&t->alive);
        out->uses = STINT_IMPL_LOAD(&t->uses);
        out->root = t->root;
        out->frames = snapshot_at(s, t->frames, STINT_IMPL_FRAMES * sizeof *out->frames);
        for (size_t c = 0; c + 1 < sizeof out->name; ++c) {
            out->name[c] = STINT_IMPL_LOAD(&t->name[c]);
        }
        for (uint32_t k = 0; k < STINT_STATUS_COUNT; ++k) {
            s->lost[k] += STINT_IMPL_LOAD(&t->lost[k]);
        }
    }
    return 0;
}

/* One attempt; 0 when the sequence word was even and the same at both ends. */
static int copy_node(struct snapshot_node *out, const struct stint_impl_node *n) {
    uint64_t seq = ACQUIRE(&n->seq);
    out->count = (seq + 1) / 2;
    out->total = ACQUIRE(&n->total);
    out->min = ACQUIRE(&n->min);
    out->max = ACQUIRE(&n->max);
    out->first = ACQUIRE(&n->first);
    out->first_at = ACQUIRE(&n->first_at);
    out->max_at = ACQUIRE(&n->max_at);
    for (size_t i = 0; i < STINT_IMPL_INFO; ++i) {
        out->info[i] = ACQUIRE(&n->info[i]);
    }
    out->info[STINT_IMPL_INFO - 1] = '\0';
    return seq & 1 || STINT_IMPL_LOAD(&n->seq) != seq;
}

static void read_node(struct snapshot_node *out, const struct stint_impl_node *n) {
    for (int i = 0; copy_node(out, n) && i < TRIES; ++i) {
        if (i > TRIES / 2) {
            sched_yield();
        }
    }
    out->recursions = STINT_IMPL_LOAD(&n->recursions);
    out->site = n->site;
    out->set = n->set;
    out->kind = n->kind;
    out->histogram = STINT_IMPL_LOAD(&n->histogram);
}

static int add_node(struct snapshot *s, uint32_t unit, uint32_t parent, uint32_t thread,
                    uint64_t most) {
    const struct stint_impl_node *n = snapshot_at(s, unit, sizeof *n);
    if (!n || s->node_count >= most) {
        return -1;
    }
    struct snapshot_node *out = &s->nodes[s->node_count++];
    out->unit = unit;
    out->parent = parent;
    out->thread = thread;
    read_node(out, n);
    return 0;
}

static int read_nodes(struct snapshot *s) {
    uint64_t most = s->size / sizeof(struct stint_impl_node) + 1;
    s->nodes = scratch_array(&s->memory, (size_t)most, sizeof *s->nodes);
    if (!s->nodes) {
        return -1;
    }
    for (uint32_t t = 0; t < s->thread_count; ++t) {
        uint32_t next = s->node_count;
        add_node(s, s->threads[t].root, SNAPSHOT_NONE, t, most);
        for (; next < s->node_count; ++next) {
            const struct stint_impl_node *n = snapshot_at(s, s->nodes[next].unit, sizeof *n);
            uint32_t unit = ACQUIRE(&n->child);
            while (unit && !add_node(s, unit, next, t, most)) {
                n = snapshot_at(s, unit, sizeof *n);
                unit = n->sibling;
            }
        }
    }
    return 0;
}

/* Sites and sets are read after the nodes that name them: whatever a node names is there by then.
 */
static int read_names(struct snapshot *s, const struct arena_header *h) {
    if (read_sites(s, h) || read_sets(s, h)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        struct snapshot_node *n = &s->nodes[i];
        n->site = n->site <= s->site_count ? n->site : 0;
        n->set = n->set < s->set_count ? n->set : 0;
    }
    return 0;
}

static int index_nodes(struct snapshot *s) {
    uint32_t size = 64;
    while (size < s->node_count * 2) {
        size *= 2;
    }
    s->index = scratch_array(&s->memory, size, sizeof *s->index);
    if (!s->index) {
        return -1;
    }
    s->index_mask = size - 1;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        uint32_t at = s->nodes[i].unit * 0x9e3779b1u & s->index_mask;
        while (s->index[at]) {
            at = (at + 1) & s->index_mask;
        }
        s->index[at] = i + 1;
    }
    return 0;
}

uint32_t snapshot_node_of(const struct snapshot *s, uint32_t unit) {
    uint32_t at = unit * 0x9e3779b1u & s->index_mask;
    for (; s->index[at]; at = (at + 1) & s->index_mask) {
        if (s->nodes[s->index[at] - 1].unit == unit) {
            return s->index[at] - 1;
        }
    }
    return SNAPSHOT_NONE;
}

static int read_open(struct snapshot *s, struct snapshot_thread *t) {
    struct snapshot_open open[STINT_IMPL_DEPTH];
    for (uint32_t f = 1; t->alive && t->frames && f < STINT_IMPL_FRAMES; ++f) {
        if (!STINT_IMPL_LOAD(&t->frames[f].guard)) {
            break;
        }
        uint64_t start = STINT_IMPL_LOAD(&t->frames[f].start);
        uint32_t recursive = STINT_IMPL_LOAD(&t->frames[f].recursive);
        uint32_t node =
            snapshot_node_of(s, recursive ? recursive : STINT_IMPL_LOAD(&t->frames[f].node));
        if (node == SNAPSHOT_NONE || start > s->now.ticks) {
            continue; /* being opened right now */
        }
        open[t->open_count].node = node;
        open[t->open_count++].ticks = s->now.ticks - start;
        if (!s->nodes[node].open) { /* of a recursive scope the outermost */
            s->nodes[node].open = s->now.ticks - start;
        }
    }
    t->open = scratch_array(&s->memory, (size_t)t->open_count + 1, sizeof *t->open);
    if (!t->open) {
        return -1;
    }
    memcpy(t->open, open, t->open_count * sizeof *open);
    return 0;
}

void snapshot_sum_children(struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        s->nodes[i].children = 0;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent != SNAPSHOT_NONE && n->kind == STINT_IMPL_SCOPE_NODE) {
            s->nodes[n->parent].children += n->total + n->open;
        }
    }
}

int snapshot_read(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                  const struct clock_stamp *now) {
    const struct arena_header *h = (const struct arena_header *)(const void *)base;
    memset(s, 0, sizeof *s);
    s->base = base;
    s->size = size;
    s->now = *now;
    if (size < sizeof *h || memcmp(h->magic, ARENA_MAGIC, sizeof h->magic) || h->abi != STINT_ABI) {
        return -1;
    }
    s->ns_per_tick = clock_ns_per_tick(&h->start, now);
    s->wall_ns = now->monotonic_ns > start_ns ? now->monotonic_ns - start_ns : 0;
    for (uint32_t k = 0; k < STINT_STATUS_COUNT; ++k) {
        s->lost[k] = STINT_IMPL_LOAD(&h->lost[k]);
    }
    int failed = read_threads(s, h) || read_nodes(s) || read_names(s, h) || index_nodes(s);
    for (uint32_t t = 0; !failed && t < s->thread_count; ++t) {
        failed = read_open(s, &s->threads[t]);
    }
    if (failed) {
        scratch_free(&s->memory);
        return -1;
    }
    snapshot_sum_children(s);
    return 0;
}

int snapshot_take(struct snapshot *s) {
    struct clock_stamp now;
    if (!arena.base) {
        return -1;
    }
    clock_stamp(&now);
    /* Not just what is in use now: a record made meanwhile stands before its elders in the lists,
     * and out of bounds it would hide them. The rest of the arena is mapped and zero. */
    uint64_t size = 2 * ACQUIRE(&arena_header()->used) + ((uint64_t)8 << 20);
    return snapshot_read(s, arena.base, size < arena.size ? size : arena.size, process_start_ns(),
                         &now);
}

void snapshot_free(struct snapshot *s) {
    scratch_free(&s->memory);
}
