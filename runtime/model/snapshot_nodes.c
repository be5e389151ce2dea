/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - Nodes are found breadth first from each thread's root, so that parents come before children; no
 *   more of them are read than fit into the arena, which also ends a cycle.
 * - A node is read under its sequence word and read again if it changed meanwhile. A writer that
 *   was killed or preempted in the middle leaves the word odd: after some tries the values are
 *   taken as they are, which is one sample off at most; of all nodes together there are so many
 *   tries and no more. In a copy, a file's, nothing changes: one try.
 */
#include "arena/arena.h"
#include "base/arithmetic.h"
#include "snapshot_parts.h"

/* One attempt at a record with a sequence word, as copy_node. */
static int copy_gpu(struct snapshot_gpu *out, struct measures *numbers, const struct arena_gpu *g) {
    uint64_t seq = SNAPSHOT_ACQUIRE(&g->seq);
    measures_load(numbers, MEASURE_GROUP_GPU, g, MEASURES_OF_GPU);
    out->device = SNAPSHOT_ACQUIRE(&g->device);
    return seq & 1 || STINT_IMPL_LOAD(&g->seq) != seq;
}

static void read_gpu(struct snapshot *s, struct snapshot_gpu *out, struct measures *numbers,
                     uint32_t unit) {
    const struct arena_gpu *g = snapshot_at(s, unit, sizeof *g);
    for (int i = 0; g && copy_gpu(out, numbers, g) && snapshot_try_again(s, i); ++i) {
    }
    if (g) {
        out->histogram = g->histogram;
    }
}

/* Returns the unit in the field with two uses: of GPU times (flag 0), or of a struct arena_partial.
 * 0: the field has the other one. */
static uint32_t sums_unit(const struct stint_impl_node *n, uint32_t flag) {
    return (SNAPSHOT_ACQUIRE(&n->kind) & ARENA_PARTIAL) == flag ? SNAPSHOT_ACQUIRE(&n->gpu) : 0;
}

static uint64_t read_untimed(const struct snapshot *s, uint32_t unit) {
    const struct arena_partial *from = snapshot_at(s, unit, sizeof *from);
    return from ? SNAPSHOT_ACQUIRE(&from->untimed) : 0;
}

const struct snapshot_extra snapshot_no_extra = {.gpu = {.device = SNAPSHOT_NONE}};

struct snapshot_extra *snapshot_extra_of(struct snapshot *s, uint32_t node) {
    struct snapshot_node *n = &s->nodes[node];
    if (n->extra == &snapshot_no_extra) {
        s->extras[s->extra_count] = snapshot_no_extra;
        n->extra = &s->extras[s->extra_count++];
    }
    return (struct snapshot_extra *)(uintptr_t)n->extra;
}

/* One attempt; 0 when the sequence word was even and the same at both ends. Of `more` only what it
 * reads is set. */
static int copy_node(const struct snapshot *s, struct snapshot_node *out,
                     struct snapshot_extra *more, const struct stint_impl_node *n) {
    uint64_t seq = SNAPSHOT_ACQUIRE(&n->seq);
    numbers_load(&record_scope, out->number, n);
    more->untimed = read_untimed(s, sums_unit(n, ARENA_PARTIAL));
    for (size_t i = 0; i < STINT_IMPL_INFO; ++i) {
        more->info[i] = SNAPSHOT_ACQUIRE(&n->info[i]);
        if (!more->info[i]) {
            break;
        }
    }
    more->info[STINT_IMPL_INFO - 1] = '\0';
    return seq & 1 || STINT_IMPL_LOAD(&n->seq) != seq;
}

/* Its unit, 0 = none; link_senders makes it an index. */
static uint32_t read_sender(const struct snapshot *s, uint32_t unit, uint32_t kind) {
    const struct stint_impl_sent *sent = NULL;
    if (kind & STINT_IMPL_SENT && (kind & STINT_IMPL_KIND) == STINT_IMPL_SCOPE_NODE) {
        uint32_t units = sizeof(struct stint_impl_node) / STINT_IMPL_UNIT;
        sent = snapshot_at(s, unit + units, sizeof *sent);
    }
    return sent ? sent->sender : 0;
}

/* Whether a node has anything to keep there; of what snapshot_read reads. */
static int has_extra(const struct snapshot_extra *more) {
    return more->untimed || more->info[0] != '\0' || more->gpu.histogram || more->gpu.device;
}

/* The numbers that only some nodes have. */
static const struct measures *read_numbers(struct snapshot *s, struct snapshot_gpu *gpu,
                                           const struct stint_impl_node *n) {
    uint64_t declared = STINT_IMPL_LOAD(&n->bytes) | STINT_IMPL_LOAD(&n->flops);
    if (!declared && !STINT_IMPL_LOAD(&n->gpu) && !STINT_IMPL_LOAD(&n->measures)) {
        return &snapshot_no_measures;
    }
    struct measures own = snapshot_no_measures;
    if (declared) {
        measures_load(&own, MEASURE_GROUP_DECLARED, n, MEASURES_OF_DECLARED);
    }
    read_gpu(s, gpu, &own, sums_unit(n, 0));
    return snapshot_read_measures(s, SNAPSHOT_ACQUIRE(&n->measures), &own);
}

void snapshot_read_node(struct snapshot *s, uint32_t index, const struct stint_impl_node *n) {
    struct snapshot_node *out = &s->nodes[index];
    struct snapshot_extra more = {0};
    for (int i = 0; copy_node(s, out, &more, n) && snapshot_try_again(s, i); ++i) {
    }
    out->site = n->site;
    out->set = n->set;
    uint32_t kind = STINT_IMPL_LOAD(&n->kind);
    out->in_ns = (kind & STINT_IMPL_KIND) == STINT_IMPL_NS_NODE;
    out->kind = (uint8_t)(kind & STINT_IMPL_KIND);
    if (out->in_ns) {
        out->kind = STINT_IMPL_INTERVAL_NODE;
    }
    out->sender = read_sender(s, out->unit, kind);
    out->histogram = STINT_IMPL_LOAD(&n->histogram);
    out->measures = read_numbers(s, &more.gpu, n);
    out->extra = &snapshot_no_extra;
    if (has_extra(&more)) {
        *snapshot_extra_of(s, index) = more;
    }
}

/* The nodes on their way into the snapshot. */
struct listing {
    struct snapshot *s;
    uint64_t most;
    unsigned char *seen; /* a list that is a circle has its nodes once */
    uint32_t thread;
};

static int snapshot_add_node(struct listing *l, uint32_t unit, uint32_t parent) {
    struct snapshot *s = l->s;
    const struct stint_impl_node *n = snapshot_at(s, unit, sizeof *n);
    if (!n || s->node_count >= l->most || !snapshot_units_take(l->seen, unit, 1)) {
        return -1;
    }
    struct snapshot_node *out = &s->nodes[s->node_count++];
    out->unit = unit;
    out->parent = parent;
    out->thread = l->thread;
    snapshot_read_node(s, s->node_count - 1, n);
    return 0;
}

enum { ABOVE_UNKNOWN, ABOVE_ON_PATH, ABOVE_KNOWN };

/* Marks the nodes from this one up, of which each is seen once. -1: they are a circle. */
static int mark_above(const struct snapshot *s, unsigned char *mark, uint32_t from) {
    uint32_t node = from;
    while (node != SNAPSHOT_NONE && mark[node] == ABOVE_UNKNOWN) {
        mark[node] = ABOVE_ON_PATH;
        node = snapshot_above(s, node);
    }
    if (node != SNAPSHOT_NONE && mark[node] == ABOVE_ON_PATH) {
        return -1;
    }
    node = from;
    while (node != SNAPSHOT_NONE && mark[node] == ABOVE_ON_PATH) {
        mark[node] = ABOVE_KNOWN;
        node = snapshot_above(s, node);
    }
    return 0;
}

/* No recorder writes a circle: of a file with one no sender is believed. */
static void check_senders(struct snapshot *s, unsigned char *mark) {
    int is_circle = 0;
    for (uint32_t i = 0; i < s->node_count && !is_circle; ++i) {
        is_circle = mark_above(s, mark, i) != 0;
    }
    for (uint32_t i = 0; i < s->node_count && is_circle; ++i) {
        s->nodes[i].sender = SNAPSHOT_NONE;
    }
}

/* Units to indexes. A sender is not a root, and it is in the snapshot: a thread may have made it
 * after the nodes of its recorder were read. */
static int link_senders(struct snapshot *s) {
    struct scratch_mark before = scratch_mark(&s->memory);
    unsigned char *mark = scratch_get(&s->memory, (size_t)s->node_count + 1);
    uint32_t senders = 0;
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        struct snapshot_node *n = &s->nodes[i];
        uint32_t sender = SNAPSHOT_NONE;
        if (n->sender && n->parent != SNAPSHOT_NONE) {
            sender = snapshot_node_of(s, n->sender);
        }
        if (sender != SNAPSHOT_NONE && s->nodes[sender].parent == SNAPSHOT_NONE) {
            sender = SNAPSHOT_NONE;
        }
        senders += sender != SNAPSHOT_NONE;
        n->sender = sender;
    }
    if (senders) {
        check_senders(s, mark);
    }
    scratch_release(&s->memory, before);
    return 0;
}

int snapshot_read_nodes(struct snapshot *s) {
    struct listing l = {.s = s, .most = s->size / sizeof(struct stint_impl_node) + 1};
    l.seen = snapshot_units(s);
    s->nodes = scratch_array(&s->memory, (size_t)l.most, sizeof *s->nodes);
    s->extras = scratch_array(&s->memory, (size_t)l.most, sizeof *s->extras);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (; l.thread < s->thread_count; ++l.thread) {
        uint32_t next = s->node_count;
        snapshot_add_node(&l, s->threads[l.thread].root, SNAPSHOT_NONE);
        for (; next < s->node_count; ++next) {
            const struct stint_impl_node *n = snapshot_at(s, s->nodes[next].unit, sizeof *n);
            uint32_t unit = SNAPSHOT_ACQUIRE(&n->child);
            while (unit && !snapshot_add_node(&l, unit, next)) {
                n = snapshot_at(s, unit, sizeof *n);
                unit = n->sibling;
            }
        }
    }
    if (hash_numbers_start(&s->node_of, &s->memory, s->node_count)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        hash_numbers_add(&s->node_of, (uint32_t)hash_number(s->nodes[i].unit), i);
    }
    return link_senders(s);
}
