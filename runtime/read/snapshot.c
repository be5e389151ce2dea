/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - Nodes are found breadth first from each thread's root, so that parents come before children; no
 *   more of them are read than fit into the arena, which also ends a cycle.
 * - A node is read under its sequence word and read again if it changed meanwhile. A writer that
 *   was killed or preempted in the middle leaves the word odd: after some tries the values are
 * taken as they are, which is one sample off at most; of all nodes together there are so many tries
 * and no more. In a copy, a file's, nothing changes: one try.
 */
#include "snapshot.h"

#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"

#define PATIENCE                                                                                   \
    (1000u * SNAPSHOT_TRIES) /* a thread or GPU lane has one odd node; a second of waiting */

#define ACQUIRE(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

static int read_sites(struct snapshot *s, const struct arena_header *h) {
    /* A header may name more of them than there are bytes for. */
    uint64_t most = s->size / sizeof(struct arena_site);
    uint32_t count = ACQUIRE(&h->site_count), length = 0;
    if (most >= ARENA_SITES) {
        most = ARENA_SITES - 1;
    }
    if (count >= most) {
        count = (uint32_t)most;
    }
    s->sites = scratch_array(&s->memory, (size_t)count + 1, sizeof *s->sites);
    if (!s->sites) {
        return -1;
    }
    for (uint32_t id = 1; id <= count; ++id) {
        const struct arena_site *chunk =
            snapshot_at(s, h->site_chunk[(id - 1) / ARENA_SITES_PER_CHUNK],
                        ARENA_SITES_PER_CHUNK * sizeof *chunk);
        struct snapshot_site *out = &s->sites[id];
        const struct arena_site *in = NULL;
        if (chunk) {
            in = &chunk[(id - 1) % ARENA_SITES_PER_CHUNK];
        }
        out->name = NULL;
        if (in) {
            out->name = snapshot_text(s, in->name, &out->length);
        }
        if (!out->name) {
            out->name = "?";
            out->length = 1;
            continue;
        }
        out->file = snapshot_text(s, in->file, &length);
        out->line = in->line;
        out->level = in->level;
        out->role = in->role;
        out->dynamic = in->dynamic;
        out->plain = in->plain;
    }
    s->site_count = count;
    return 0;
}

static int read_sets(struct snapshot *s, const struct arena_header *h) {
    uint32_t count = ACQUIRE(&h->set_count), length = 0;
    if (count >= ARENA_SETS) {
        count = ARENA_SETS;
    }
    s->sets = scratch_array(&s->memory, (size_t)count + 1, sizeof *s->sets);
    if (!s->sets) {
        return -1;
    }
    for (uint32_t id = 0; id < count; ++id) {
        const struct arena_set *chunk = snapshot_at(s, h->set_chunk[id / ARENA_SETS_PER_CHUNK],
                                                    ARENA_SETS_PER_CHUNK * sizeof *chunk);
        const char *name = NULL;
        if (chunk) {
            name = snapshot_text(s, chunk[id % ARENA_SETS_PER_CHUNK].name, &length);
        }
        s->sets[id] = name ? name : "?";
    }
    if (!count) {
        s->sets[0] = "?"; /* reports rely on the default set */
    }
    s->set_count = count;
    if (!count) {
        s->set_count = 1;
    }
    return 0;
}

enum { FRAMES_BYTES = STINT_IMPL_FRAMES * sizeof(struct stint_impl_frame) };

/* Whether no other thread has a part of these frames; marks them, a bit a unit. Each frame is a
 * name in a report: shared by all threads, a file of them would print more than it is long. */
static int take_frames(unsigned char *taken, uint32_t unit) {
    uint32_t units = (FRAMES_BYTES + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT;
    for (uint32_t u = unit; u < unit + units; ++u) {
        if (taken[u / 8] & 1u << u % 8) {
            return 0;
        }
    }
    for (uint32_t u = unit; u < unit + units; ++u) {
        taken[u / 8] |= (unsigned char)(1u << u % 8);
    }
    return 1;
}

static uint32_t count_frames_used(const struct stint_impl_frame *frames) {
    uint32_t used = 0;
    for (uint32_t f = 0; frames && f < STINT_IMPL_FRAMES; ++f) {
        if (STINT_IMPL_LOAD(&frames[f].guard) || STINT_IMPL_LOAD(&frames[f].start) ||
            STINT_IMPL_LOAD(&frames[f].pending)) {
            used = f + 1;
        }
    }
    return used;
}

/* A frame keeps its start when its scope has ended. */
static uint64_t find_last_begin(const struct snapshot_thread *t) {
    uint64_t last = 0;
    for (uint32_t f = 1; f < t->frames_used; ++f) {
        uint64_t start = STINT_IMPL_LOAD(&t->frames[f].start);
        if (!(start & ARENA_UNTIMED_START)) {
            last = u64_max(last, start);
        }
    }
    return last;
}

/* The processes of a merged run, which has none itself, ended at different times. */
static uint64_t find_thread_end(const struct snapshot *s, const struct arena_header *h,
                                const struct arena_thread *t) {
    if (h->pid || !t->end_ticks) {
        return s->now.ticks;
    }
    return u64_min(t->end_ticks, s->now.ticks);
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
    unsigned char *taken = scratch_get(&s->memory, s->size / STINT_IMPL_UNIT / 8 + 1);
    if (!s->threads || !taken) {
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
        out->unit = unit;
        out->tid = STINT_IMPL_LOAD(&t->tid);
        out->alive = ACQUIRE(&t->alive);
        out->uses = STINT_IMPL_LOAD(&t->uses);
        out->root = t->root;
        out->ring = t->ring;
        out->frames = snapshot_at(s, t->frames, FRAMES_BYTES);
        if (out->frames && !take_frames(taken, t->frames)) {
            out->frames = NULL;
        }
        out->frames_used = count_frames_used(out->frames);
        out->last_begin = find_last_begin(out);
        out->until = find_thread_end(s, h, t);
        for (size_t c = 0; c + 1 < sizeof out->name; ++c) {
            out->name[c] = STINT_IMPL_LOAD(&t->name[c]);
        }
        for (uint32_t k = 0; k < STINT_STATUS_COUNT; ++k) {
            s->lost[k] += STINT_IMPL_LOAD(&t->lost[k]);
        }
        s->open_intervals += STINT_IMPL_LOAD(&t->lost[ARENA_OPEN_INTERVALS]);
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
    if (!bytes) {
        return -1;
    }
    gpu_words_read(joined, length, bytes, out);
    return 0;
}

/* A list of them that is a circle is cut at SNAPSHOT_DEVICES. */
static int read_devices(struct snapshot *s, const struct arena_header *h) {
    uint32_t unit = ACQUIRE(&h->first_device);
    const struct arena_device *d;
    if (!unit) {
        return 0;
    }
    s->devices = scratch_array(&s->memory, SNAPSHOT_DEVICES, sizeof *s->devices);
    if (!s->devices) {
        return -1;
    }
    for (; s->device_count < SNAPSHOT_DEVICES && (d = snapshot_at(s, unit, sizeof *d));
         unit = d->next) {
        struct snapshot_device *out = &s->devices[s->device_count++];
        out->unit = unit;
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
        if (read_device_words(s, d->words, &out->words)) {
            return -1;
        }
    }
    return 0;
}

/* One attempt at a record with a sequence word, as copy_node. */
static int copy_gpu(struct snapshot_gpu *out, struct measures *numbers, const struct arena_gpu *g) {
    uint64_t seq = ACQUIRE(&g->seq);
    measures_load(numbers, MEASURE_GROUP_GPU, g, MEASURES_OF_GPU);
    out->device = ACQUIRE(&g->device);
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
    if ((ACQUIRE(&n->kind) & ARENA_PARTIAL) != flag) {
        return 0;
    }
    return ACQUIRE(&n->gpu);
}

static uint64_t read_untimed(const struct snapshot *s, uint32_t unit) {
    const struct arena_partial *from = snapshot_at(s, unit, sizeof *from);
    if (!from) {
        return 0;
    }
    return ACQUIRE(&from->untimed);
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
    uint64_t seq = ACQUIRE(&n->seq);
    numbers_load(&record_scope, out->number, n);
    more->untimed = read_untimed(s, sums_unit(n, ARENA_PARTIAL));
    for (size_t i = 0; i < STINT_IMPL_INFO; ++i) {
        more->info[i] = ACQUIRE(&n->info[i]);
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
    if (!sent) {
        return 0;
    }
    return sent->sender;
}

/* Whether a node has anything to keep there; of what snapshot_read reads. */
static int has_extra(const struct snapshot_extra *more) {
    return more->untimed || more->info[0] != '\0' || more->gpu.histogram || more->gpu.device;
}

/* The numbers that only some nodes have. */
static const struct measures *read_numbers(struct snapshot *s, struct snapshot_gpu *gpu,
                                           const struct stint_impl_node *n) {
    struct measures own = snapshot_no_measures;
    if (STINT_IMPL_LOAD(&n->bytes) | STINT_IMPL_LOAD(&n->flops)) {
        measures_load(&own, MEASURE_GROUP_DECLARED, n, MEASURES_OF_DECLARED);
    }
    read_gpu(s, gpu, &own, sums_unit(n, 0));
    return snapshot_read_measures(s, ACQUIRE(&n->measures), &own);
}

static void read_node(struct snapshot *s, uint32_t index, const struct stint_impl_node *n) {
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
    unsigned char *seen; /* a bit a unit: a list that is a circle has its nodes once */
    uint32_t thread;
};

static int snapshot_add_node(struct listing *l, uint32_t unit, uint32_t parent) {
    struct snapshot *s = l->s;
    const struct stint_impl_node *n = snapshot_at(s, unit, sizeof *n);
    if (!n || s->node_count >= l->most || l->seen[unit / 8] & 1u << unit % 8) {
        return -1;
    }
    l->seen[unit / 8] |= (unsigned char)(1u << unit % 8);
    struct snapshot_node *out = &s->nodes[s->node_count++];
    out->unit = unit;
    out->parent = parent;
    out->thread = l->thread;
    read_node(s, s->node_count - 1, n);
    return 0;
}

static int read_nodes(struct snapshot *s) {
    struct listing l = {.s = s, .most = s->size / sizeof(struct stint_impl_node) + 1};
    l.seen = scratch_get(&s->memory, s->size / STINT_IMPL_UNIT / 8 + 1);
    s->nodes = scratch_array(&s->memory, (size_t)l.most, sizeof *s->nodes);
    s->extras = scratch_array(&s->memory, (size_t)l.most, sizeof *s->extras);
    if (!s->nodes || !s->extras || !l.seen) {
        return -1;
    }
    for (; l.thread < s->thread_count; ++l.thread) {
        uint32_t next = s->node_count;
        snapshot_add_node(&l, s->threads[l.thread].root, SNAPSHOT_NONE);
        for (; next < s->node_count; ++next) {
            const struct stint_impl_node *n = snapshot_at(s, s->nodes[next].unit, sizeof *n);
            uint32_t unit = ACQUIRE(&n->child);
            while (unit && !snapshot_add_node(&l, unit, next)) {
                n = snapshot_at(s, unit, sizeof *n);
                unit = n->sibling;
            }
        }
    }
    return 0;
}

/* Sites, sets and devices are read after the nodes that name them: whatever a node names is there
 * by then. */
static int read_names(struct snapshot *s, const struct arena_header *h) {
    if (read_sites(s, h) || read_sets(s, h) || read_devices(s, h)) {
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

static int index_nodes(struct snapshot *s) {
    if (hash_map_start(&s->node_of, &s->memory, s->node_count)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        hash_map_set(&s->node_of, s->nodes[i].unit, i);
    }
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
    unsigned char *mark = scratch_get(&s->memory, (size_t)s->node_count + 1);
    if (!mark) {
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
        n->sender = sender;
    }
    check_senders(s, mark);
    return 0;
}

/* Only the outermost call of a recursive scope is counted. */
static int is_open_further_out(const struct snapshot_open *open, uint32_t count, uint32_t node) {
    for (uint32_t i = 0; i < count; ++i) {
        if (open[i].node == node) {
            return 1;
        }
    }
    return 0;
}

/* Own time of the scopes that are open, innermost first; nested: the time of the calls recorded
 * directly inside each. That of all calls of a recursive scope is added up. While threads record,
 * the frames are younger than the snapshot's clock: then there may be more inside than there is
 * time. */
static void sum_open(struct snapshot *s, const struct snapshot_thread *t, uint64_t *nested) {
    for (uint32_t i = t->open_count; i-- > 0;) {
        uint64_t ticks = t->open[i].ticks;
        struct snapshot_extra *more = snapshot_extra_of(s, t->open[i].node);
        more->open_self += saturating_subtract(ticks, nested[i]);
        if (i) {
            nested[i - 1] += ticks;
        }
    }
}

/* How many frames are open at this moment. */
static uint32_t count_frames_open(const struct snapshot_thread *t) {
    uint32_t f = 1;
    while (t->alive && t->frames && f < STINT_IMPL_FRAMES && STINT_IMPL_LOAD(&t->frames[f].guard)) {
        ++f;
    }
    return f - 1;
}

/* Reads the scope of a frame. Returns 0 if it is being opened right now. */
static int read_frame(const struct snapshot *s, const struct snapshot_thread *t,
                      const struct stint_impl_frame *f, struct snapshot_open *out) {
    uint64_t start = STINT_IMPL_LOAD(&f->start);
    uint32_t recursive = STINT_IMPL_LOAD(&f->recursive), node = STINT_IMPL_LOAD(&f->node);
    if (recursive) {
        node = recursive;
    }
    out->node = snapshot_node_of(s, node);
    out->untimed = (start & ARENA_UNTIMED_START) != 0;
    out->ticks = 0;
    if (!out->untimed) {
        out->ticks = t->until - start;
    }
    return out->node != SNAPSHOT_NONE && (out->untimed || start <= t->until);
}

/* The scopes that are open, outermost first. A scope that is opened after they were counted is not
 * read. One that another thread has ended is skipped: what was recorded in it was recorded in the
 * one around it. */
static int read_open(struct snapshot *s, struct snapshot_thread *t) {
    uint32_t count = count_frames_open(t);
    t->open = scratch_array(&s->memory, (size_t)count + 1, sizeof *t->open);
    uint64_t *nested = scratch_array(&s->memory, (size_t)count + 1, sizeof *nested);
    if (!t->open || !nested) {
        return -1;
    }
    for (uint32_t i = 1; i <= count; ++i) {
        const struct stint_impl_frame *f = &t->frames[i];
        uint64_t guard = STINT_IMPL_LOAD(&f->guard);
        struct snapshot_open *open = &t->open[t->open_count];
        if (!guard) {
            break;
        }
        if (guard == STINT_IMPL_MOVED && t->open_count) {
            nested[t->open_count - 1] += STINT_IMPL_LOAD(&f->nested);
        }
        if (guard == STINT_IMPL_MOVED || !read_frame(s, t, f, open)) {
            continue;
        }
        nested[t->open_count] = STINT_IMPL_LOAD(&f->nested);
        if (!is_open_further_out(t->open, t->open_count, open->node)) {
            snapshot_extra_of(s, open->node)->open = open->ticks;
        }
        ++t->open_count;
    }
    sum_open(s, t, nested);
    return 0;
}

void snapshot_sum_children(struct snapshot *s) {
    own_times(s);
    for (uint32_t i = 0; i < s->node_count; ++i) {
        s->nodes[i].children = 0;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent != SNAPSHOT_NONE && n->kind == STINT_IMPL_SCOPE_NODE) {
            s->nodes[n->parent].children += n->total + n->extra->open;
        }
    }
}

static int read_all(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                    const struct clock_stamp *now) {
    const struct arena_header *h = (const struct arena_header *)(const void *)base;
    s->base = base;
    s->size = size;
    s->now = *now;
    if (size < sizeof *h || memcmp(h->magic, ARENA_MAGIC, sizeof h->magic) ||
        !arena_format_is_known(h->abi)) {
        return -1;
    }
    s->start_ns = start_ns;
    s->is_format_4 = h->abi == 4;
    s->ns_per_tick = stamp_ns_per_tick(&h->start, now, h->ticks_per_us);
    if (h->ticks_per_us) {
        s->steady_ns_per_tick = 256000.0 / (double)h->ticks_per_us;
    }
    s->wall_ns = saturating_subtract(now->monotonic_ns, start_ns);
    for (uint32_t k = 0; k < STINT_STATUS_COUNT; ++k) {
        s->lost[k] = STINT_IMPL_LOAD(&h->lost[k]);
    }
    s->open_intervals = STINT_IMPL_LOAD(&h->lost[ARENA_OPEN_INTERVALS]);
    s->gpu_in_flight = STINT_IMPL_LOAD(&h->gpu_in_flight);
    s->steps = STINT_IMPL_LOAD(&h->steps);
    s->tracer_requested = STINT_IMPL_LOAD(&h->tracer_requested) != 0;
    s->outside = snapshot_read_measures(s, ACQUIRE(&h->outside), &snapshot_no_measures);
    uint32_t activity = ACQUIRE(&h->first_activity);
    int failed = read_threads(s, h) || read_nodes(s) || read_names(s, h) || index_nodes(s) ||
                 link_senders(s) || snapshot_read_activities(s, activity);
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

int snapshot_read(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                  const struct clock_stamp *now) {
    memset(s, 0, sizeof *s);
    return read_all(s, base, size, start_ns, now);
}

int snapshot_read_live(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                       const struct clock_stamp *now) {
    memset(s, 0, sizeof *s);
    s->patience = PATIENCE;
    return read_all(s, base, size, start_ns, now);
}

void snapshot_free(struct snapshot *s) {
    scratch_free(&s->memory);
}
