/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the threads, and from their frames the scopes that are open, for snapshot.c. Threads may be
 * recording meanwhile: a frame is read word by word, and one that changes is left out.
 */
#include "arena/arena.h"
#include "base/arithmetic.h"
#include "snapshot_parts.h"

enum { FRAMES_BYTES = STINT_IMPL_FRAMES * sizeof(struct stint_impl_frame) };

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

static void read_thread(struct snapshot *s, const struct arena_header *h,
                        const struct arena_thread *t, struct snapshot_thread *out) {
    out->tid = STINT_IMPL_LOAD(&t->tid);
    out->alive = SNAPSHOT_ACQUIRE(&t->alive);
    out->uses = STINT_IMPL_LOAD(&t->uses);
    out->root = t->root;
    out->ring = t->ring;
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

/* Oldest first. Each frame is a name in a report: where all threads shared some, a file of them
 * would print more than it is long. */
int snapshot_read_threads(struct snapshot *s, const struct arena_header *h) {
    const struct arena_thread *t;
    struct snapshot_list list =
        SNAPSHOT_LIST(s, SNAPSHOT_ACQUIRE(&h->first_thread), struct arena_thread, UINT32_MAX);
    s->thread_count = snapshot_list_count(list);
    s->threads = scratch_array(&s->memory, (size_t)s->thread_count + 1, sizeof *s->threads);
    unsigned char *taken = snapshot_units(s);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = s->thread_count; i-- > 0 && (t = snapshot_list_next(&list));) {
        struct snapshot_thread *out = &s->threads[i];
        out->unit = list.unit;
        out->frames = snapshot_at(s, t->frames, FRAMES_BYTES);
        if (out->frames && !snapshot_units_take(taken, t->frames, FRAMES_BYTES)) {
            out->frames = NULL;
        }
        read_thread(s, h, t, out);
    }
    return 0;
}

/* ---- Open scopes. */

/* Only the outermost call of a recursive scope is counted. */
static int is_open_further_out(const struct snapshot_open *open, uint32_t count, uint32_t node) {
    uint32_t i = 0;
    while (i < count && open[i].node != node) {
        ++i;
    }
    return i < count;
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
    out->node = snapshot_node_of(s, recursive ? recursive : node);
    out->untimed = (start & ARENA_UNTIMED_START) != 0;
    out->ticks = out->untimed ? 0 : t->until - start;
    return out->node != SNAPSHOT_NONE && (out->untimed || start <= t->until);
}

/* Outermost first. A scope that is opened after they were counted is not read. One that another
 * thread has ended is skipped: what was recorded in it was recorded in the one around it. */
static int read_open(struct snapshot *s, struct snapshot_thread *t) {
    uint32_t count = count_frames_open(t);
    t->open = scratch_array(&s->memory, (size_t)count + 1, sizeof *t->open);
    uint64_t *nested = scratch_array(&s->memory, (size_t)count + 1, sizeof *nested);
    if (scratch_failed(&s->memory)) {
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

int snapshot_read_open(struct snapshot *s) {
    int failed = 0;
    for (uint32_t i = 0; i < s->thread_count && !failed; ++i) {
        failed = read_open(s, &s->threads[i]);
    }
    return failed;
}
