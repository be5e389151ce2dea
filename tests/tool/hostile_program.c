/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     hostile_program KIND FILE MEGABYTES
 *
 * Writes a run file that no recorder writes: as many records as fit, and what they refer to is
 * shared, so that what a reader makes of it could be the square of its size. KIND:
 *   flat     every scope has a name of its own of 998 bytes; the names overlap
 *   long     so, and they are as long as there are names
 *   chain    of 998 bytes again, and each scope is inside the one before it
 *   threads  as many threads as fit, with the same 256 open scopes
 *   tower    a thread with a trace of 2^20 spans, each inside the one that is recorded after it
 *   same     so, and all of them begin in the same nanosecond
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/arena.h"

/* A name begins every 8 bytes: its length, then bytes of this and the following ones. The upper
 * half of one of these lengths is the NUL that ends it. */
struct piece {
    uint32_t length;
    char number[4];
};
enum { NAME_LENGTH = 998 };

static char *base;
static uint32_t next_unit;

static uint32_t place(size_t bytes) {
    uint32_t unit = next_unit;
    next_unit += (uint32_t)((bytes + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT);
    return unit;
}

static void *at(uint32_t unit) {
    return base + (size_t)unit * STINT_IMPL_UNIT;
}

static void put_names(struct arena_header *h, uint32_t count, uint32_t length) {
    uint32_t pieces = count + length / 8 + 2;
    uint32_t texts = place(pieces * sizeof(struct piece));
    struct piece *piece = at(texts);
    for (uint32_t i = 0; i < pieces; ++i) {
        piece[i].length = length;
        for (uint32_t k = 0; k < 4; ++k) {
            piece[i].number[k] = (char)('a' + (i >> 4 * k & 15));
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t *chunk = &h->site_chunk[i / ARENA_SITES_PER_CHUNK];
        if (i % ARENA_SITES_PER_CHUNK == 0) {
            *chunk = place(ARENA_SITES_PER_CHUNK * sizeof(struct arena_site));
        }
        struct arena_site *s = (struct arena_site *)at(*chunk) + i % ARENA_SITES_PER_CHUNK;
        s->name = s->file = s->function = texts * (STINT_IMPL_UNIT / 8) + i;
        s->line = i;
    }
    h->site_count = count;
}

static uint32_t put_node(uint32_t site, uint64_t ticks) {
    uint32_t unit = place(sizeof(struct stint_impl_node));
    struct stint_impl_node *n = at(unit);
    n->seq = 2;
    n->total = n->min = n->max = n->first = ticks;
    n->first_at = n->max_at = 1000;
    n->site = site;
    return unit;
}

static uint32_t put_thread(struct arena_header *h, uint32_t frames) {
    uint32_t unit = place(sizeof(struct arena_thread));
    struct arena_thread *t = at(unit);
    t->next = h->first_thread;
    t->tid = ++h->thread_count;
    t->ordinal = t->tid;
    t->alive = t->uses = 1;
    t->frames = frames;
    t->root = place(sizeof(struct stint_impl_node));
    h->first_thread = unit;
    return t->root;
}

static void put_nodes(struct arena_header *h, int chain, uint32_t frames, uint32_t count) {
    struct stint_impl_frame *frame = at(frames);
    uint32_t parent = put_thread(h, frames);
    uint32_t *link = &((struct stint_impl_node *)at(parent))->child;
    for (uint32_t i = 1; i <= count; ++i) {
        uint32_t unit = put_node(i, 1000 + 10 * (count - i)); /* each longer than what is in it */
        struct stint_impl_node *n = at(unit);
        n->parent = parent;
        *link = unit;
        link = chain ? &n->child : &n->sibling;
        parent = chain ? unit : parent;
        if (i < STINT_IMPL_FRAMES) {
            frame[i].guard = 2 * i;
            frame[i].start = 1000;
            frame[i].node = unit;
        }
    }
}

enum { SPANS = 1 << 20 };

static void put_ring(const struct arena_header *h, int same) {
    struct arena_thread *t = at(h->first_thread);
    uint32_t node = ((struct stint_impl_node *)at(t->root))->child;
    t->ring = place(sizeof(struct stint_impl_ring) + SPANS * sizeof(struct stint_impl_event));
    struct stint_impl_ring *r = at(t->ring);
    r->mask = SPANS - 1;
    r->head = SPANS;
    for (uint32_t i = 0; i < SPANS; ++i) {
        uint64_t start = 1000 + (same ? 0 : SPANS - i);
        uint64_t ticks = same ? i * 2654435761u : 2 * i + 1;
        *stint_impl_ring_event(r, i) =
            (struct stint_impl_event){start, stint_impl_span(node, ticks)};
    }
}

int main(int argc, char **argv) {
    size_t size = argc == 4 ? strtoul(argv[3], NULL, 10) << 20 : 0;
    base = size ? calloc(1, size) : NULL;
    FILE *out = base ? fopen(argv[2], "wbe") : NULL;
    if (!out) {
        return 2;
    }
    int threads = !strcmp(argv[1], "threads"), chain = !strcmp(argv[1], "chain");
    struct arena_header *h = at(0);
    *h = (struct arena_header){.abi = ARENA_FORMAT,
                               .header_bytes = sizeof *h,
                               .size = size,
                               .used = size,
                               .pid = 1,
                               .set_count = 1,
                               .start = {1000, 1000, 1000},
                               .end = {1000000000, 1000000000, 1000000000},
                               .process_start_ns = 1000,
                               .ticks_per_us = 1000 << 8};
    memcpy(h->magic, ARENA_MAGIC, sizeof h->magic);
    place(sizeof *h);
    h->set_chunk[0] = place(ARENA_SETS_PER_CHUNK * sizeof(struct arena_set));
    uint32_t frames = place(STINT_IMPL_FRAMES * sizeof(struct stint_impl_frame));
    size_t of_a_name = sizeof(struct piece) + sizeof(struct arena_site);
    size_t left = size - (size_t)next_unit * STINT_IMPL_UNIT - 65536; /* the last chunk of sites */
    uint32_t count = (uint32_t)(left / (of_a_name + sizeof(struct stint_impl_node)));
    int same = !strcmp(argv[1], "same"), ring = same || !strcmp(argv[1], "tower");
    count = threads ? STINT_IMPL_DEPTH : count;
    count = ring ? 1 : count;
    if (!strcmp(argv[1], "long")) {
        count =
            (uint32_t)(left / (of_a_name + sizeof(struct piece) + sizeof(struct stint_impl_node)));
        put_names(h, count, 8 * count - 1); /* the highest byte of a length is the NUL */
    } else {
        put_names(h, count, NAME_LENGTH);
    }
    put_nodes(h, chain || threads, frames, count);
    while (threads && (size_t)(next_unit + 16) * STINT_IMPL_UNIT < size) {
        put_thread(h, frames);
    }
    if (ring) {
        put_ring(h, same);
    }
    size_t written = fwrite(base, 1, size, out);
    free(base);
    return fclose(out) || written != size;
}
