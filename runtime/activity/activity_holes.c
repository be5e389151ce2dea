/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists of holes. Late work is taken in batches: one pass over the list, in place,
 * from a copy at the end of its memory. Called by the sweep alone, whose buffer calls for a pass
 * after some thousand late items, or when a report is made.
 */
#include "activity_sweep.h"

#include <string.h>

#include "base/arithmetic.h"

void holes_open(struct holes *h, struct hole *list, uint32_t capacity) {
    memset(h, 0, sizeof *h);
    h->list = list;
    h->capacity = capacity;
}

/* ---- Room. */

static unsigned holes_get_size_class(const struct hole *hole) {
    uint64_t ns = hole->end - hole->start;
    return 64u - (unsigned)__builtin_clzll(ns | 1);
}

/* The class of sizes in which dropping ends, and how many of it are to go. */
static unsigned holes_find_class(const struct holes *h, uint32_t want, uint32_t *of_class) {
    uint32_t counts[65] = {0};
    unsigned class = 1;
    for (uint32_t i = 0; i < h->count; ++i) {
        ++counts[holes_get_size_class(&h->list[i])];
    }
    while (class < 64 && counts[class] < want) {
        want -= counts[class ++];
    }
    *of_class = want;
    return class;
}

/* Passes on that holes before this one were dropped. */
static void holes_mark_hiding(uint8_t *hides, struct hole *hole) {
    if (hides[hole->lane]) {
        hole->flags |= HOLE_HIDES;
        hides[hole->lane] = 0;
    }
}

static void holes_drop(struct holes *h, uint32_t want) {
    uint8_t hides[HOLE_LANES] = {0};
    uint32_t kept = 0, of_class;
    unsigned last_class = holes_find_class(h, want, &of_class);
    for (uint32_t i = 0; i < h->count; ++i) {
        struct hole hole = h->list[i];
        unsigned class = holes_get_size_class(&hole);
        int drop = class < last_class;
        if (class == last_class && of_class) {
            --of_class;
            drop = 1;
        }
        if (drop) {
            hides[hole.lane] = 1;
            continue;
        }
        holes_mark_hiding(hides, &hole);
        h->list[kept++] = hole;
    }
    h->count = kept;
    for (uint32_t i = 0; i < HOLE_LANES; ++i) {
        h->hides[i] |= hides[i];
    }
}

void holes_add(struct holes *h, const struct hole *hole) {
    if (hole->end <= hole->start) {
        return;
    }
    if (h->count == h->capacity) {
        holes_drop(h, h->capacity / 4 + 1);
    }
    struct hole *out = &h->list[h->count++];
    *out = *hole;
    holes_mark_hiding(h->hides, out);
}

/* ---- Late work. */

/* A pass over the list, for one lane. */
struct hole_pass {
    struct holes *holes; /* `count` of it are written */
    const struct hole_ops *ops;
    void *data;
    struct hole_fill *out;
    struct hole_span *spans;
    uint32_t count;
    uint32_t next;   /* spans before it began before `reach` */
    uint32_t looked; /* spans before it need not be asked about dropped holes any more */
    uint64_t reach;  /* end of all spans before `next` */
    uint64_t read;   /* end of the last hole that was read */
    uint64_t wrote;  /* and of the last that was written */
    int hides;       /* holes between that one and the next were dropped */
    int touched;     /* some time between these two was filled */
};

/* Holes between these times were dropped. */
static void holes_mark_cut(struct hole_pass *p, uint64_t from, uint64_t to) {
    while (p->looked < p->count && p->spans[p->looked].start < to) {
        if (p->spans[p->looked].end > from) {
            p->spans[p->looked].cut = 1;
        }
        ++p->looked;
    }
}

static void holes_note_stretch(struct hole_fill *out, uint64_t ns) {
    if (ns) {
        out->longest = u64_max(out->longest, ns);
    }
    if (ns && (!out->shortest || ns < out->shortest)) {
        out->shortest = ns;
    }
}

static void holes_write(struct hole_pass *p, struct hole part) {
    part.flags &= (uint8_t)~HOLE_HIDES;
    if (p->hides) {
        part.flags |= HOLE_HIDES;
    } else if (p->touched && p->wrote) {
        holes_note_stretch(p->out, part.start - p->wrote);
    }
    p->hides = 0;
    p->touched = 0;
    p->wrote = part.end;
    p->holes->list[p->holes->count++] = part;
}

static void holes_write_part(struct hole_pass *p, const struct hole *whole, uint64_t start,
                             uint64_t end, const struct hole_span *by) {
    struct hole part = *whole;
    part.start = start;
    part.end = end;
    if (start != whole->start) {
        part.flags |= HOLE_BEGINS;
    }
    if (by) {
        part.flags |= HOLE_ENDS;
    }
    p->ops->redo(p->data, &part, by);
    holes_write(p, part);
}

static void holes_cover(struct hole_pass *p, uint64_t start, uint64_t end) {
    struct hole_fill *out = p->out;
    if (!out->ns) {
        out->start = start;
    }
    out->end = end;
    out->ns += end - start;
    p->touched = 1;
    p->ops->filled(p->data, start, end);
}

/* Whether any of the spans covers some of it. Passes over those before it. */
static int holes_is_touched(struct hole_pass *p, const struct hole *hole) {
    while (p->next < p->count && p->spans[p->next].end <= hole->start) {
        p->reach = u64_max(p->reach, p->spans[p->next++].end);
    }
    return p->reach > hole->start || (p->next < p->count && p->spans[p->next].start < hole->end);
}

static void holes_split(struct hole_pass *p, const struct hole *hole) {
    uint64_t at = hole->start;
    uint32_t parts = 0;
    while (at < hole->end) {
        if (p->reach > at) {
            uint64_t to = u64_min(p->reach, hole->end);
            holes_cover(p, at, to);
            at = to;
            continue;
        }
        if (p->next == p->count || p->spans[p->next].start >= hole->end) {
            holes_write_part(p, hole, at, hole->end, NULL);
            ++parts;
            break;
        }
        struct hole_span *span = &p->spans[p->next++];
        if (span->start > at) {
            holes_write_part(p, hole, at, span->start, span);
            at = span->start;
            parts += span->end > span->start; /* else it is a moment that splits the hole */
        }
        p->reach = u64_max(p->reach, span->end);
    }
    p->out->stretches += (int64_t)parts - 1;
}

static void holes_pass_one(struct hole_pass *p, const struct hole *hole) {
    if (hole->flags & HOLE_HIDES) {
        holes_mark_cut(p, p->read, hole->start);
        p->hides = 1;
    }
    if (!holes_is_touched(p, hole)) {
        holes_write(p, *hole);
    } else {
        /* Nothing ran between two holes that meet (a break), and now something does. */
        if (p->read == hole->start && hole->start && p->reach > hole->start) {
            ++p->out->stretches;
        }
        p->ops->undo(p->data, hole);
        holes_split(p, hole);
    }
    p->read = hole->end;
}

void holes_fill(struct holes *h, uint32_t lane, struct hole_span *spans, uint32_t count,
                const struct hole_ops *ops, void *data, struct hole_fill *out) {
    struct hole_pass p = {
        .holes = h, .ops = ops, .data = data, .out = out, .spans = spans, .count = count};
    memset(out, 0, sizeof *out);
    uint32_t room = h->capacity - h->count;
    if (room < count) { /* each makes at most one more */
        holes_drop(h, count - room);
    }
    const struct hole *in = h->list + (h->capacity - h->count), *end = h->list + h->capacity;
    memmove(h->list + (h->capacity - h->count), h->list, h->count * sizeof *h->list);
    h->count = 0;
    for (; in < end; ++in) {
        struct hole hole = *in; /* its place may be written */
        if (hole.lane == lane) {
            holes_pass_one(&p, &hole);
        } else {
            h->list[h->count++] = hole;
        }
    }
    if (h->hides[lane]) {
        holes_mark_cut(&p, p.read, UINT64_MAX);
    }
    if (p.hides) { /* the hole that said so is filled */
        h->hides[lane] = 1;
    }
}
