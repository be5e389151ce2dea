/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the rings of a snapshot, from memory or from the run file. A ring may be written while it
 * is read: an event counts if it is whole and its place was not taken again; what is not is as good
 * as overwritten. The writer takes a place, then makes its `at` 0, writes `what`, and `at` last.
 */
#include "base/arithmetic.h"
#include "snapshot_parts.h"

#define AGAIN 64u /* events that are read twice at a time */

int snapshot_ring_find(const struct snapshot *s, uint32_t unit, struct snapshot_ring *out) {
    const struct stint_impl_ring *ring = snapshot_at(s, unit, sizeof *ring);
    if (!ring) {
        return -1;
    }
    uint64_t mask = ring->mask;
    if (mask & (mask + 1) || mask > s->size / sizeof(struct stint_impl_event) ||
        !snapshot_at(s, unit, sizeof *ring + (mask + 1) * sizeof(struct stint_impl_event))) {
        return -1;
    }
    out->record = ring;
    out->places = mask + 1;
    out->head = SNAPSHOT_ACQUIRE(&ring->head);
    out->first = saturating_subtract(out->head, out->places);
    return 0;
}

/* Events in a row of the memory. */
static void ring_copy(const struct snapshot_ring *ring, uint64_t from, uint64_t count,
                      struct stint_impl_event *to) {
    const struct stint_impl_event *events =
        (const struct stint_impl_event *)(const void *)(ring->record + 1);
    for (uint64_t i = 0; i < count; ++i) {
        const struct stint_impl_event *e = events + ((from + i) & (ring->places - 1));
        to[i].at = SNAPSHOT_ACQUIRE(&e->at);
        to[i].what = SNAPSHOT_ACQUIRE(&e->what);
        int is_whole = SNAPSHOT_ACQUIRE(&e->at) == to[i].at;
        if (!is_whole || STINT_IMPL_LOAD(&ring->record->head) - (from + i) > ring->places) {
            to[i].at = 0;
        }
    }
}

/* Events in a row of the file. */
static void ring_pull_row(const struct snapshot *s, uint64_t at, uint64_t count,
                          struct stint_impl_event *to) {
    uint64_t bytes = count * sizeof *to;
    uint64_t got = s->pull(s->file, to, bytes, at);
    memset((char *)to + got, 0, bytes - got);
}

static void ring_pull(const struct snapshot *s, const struct snapshot_ring *ring, uint64_t from,
                      uint64_t count, struct stint_impl_event *to) {
    uint64_t at = (uint64_t)((const char *)(ring->record + 1) - s->base);
    uint64_t place = from % ring->places;
    uint64_t row = u64_min(count, ring->places - place);
    ring_pull_row(s, at + place * sizeof *to, row, to);
    if (row < count) {
        ring_pull_row(s, at, count - row, to + row);
    }
}

/* The bytes of an event may be read in any order: one that is the same twice was not being written.
 * The head is read after that: the kernel counts references to the pages of a file before and after
 * each copy, which orders the copies of one thread. */
static void ring_check(const struct snapshot *s, const struct snapshot_ring *ring, uint64_t from,
                       uint64_t count, struct stint_impl_event *to) {
    struct stint_impl_event again[AGAIN];
    for (uint64_t i = 0; i < count; i += AGAIN) {
        uint64_t some = u64_min(count - i, AGAIN);
        ring_pull(s, ring, from + i, some, again);
        for (uint64_t k = 0; k < some; ++k) {
            if (to[i + k].at != again[k].at || to[i + k].what != again[k].what) {
                to[i + k].at = 0;
            }
        }
    }
    uint64_t head = ring->head;
    uint64_t at = (uint64_t)((const char *)&ring->record->head - s->base);
    s->pull(s->file, &head, sizeof head, at);
    for (uint64_t i = 0; i < count && head - (from + i) > ring->places; ++i) {
        to[i].at = 0;
    }
}

void snapshot_ring_read(const struct snapshot *s, const struct snapshot_ring *ring, uint64_t from,
                        uint64_t count, struct stint_impl_event *to) {
    if (!s->pull) {
        ring_copy(ring, from, count, to);
        return;
    }
    ring_pull(s, ring, from, count, to);
    if (s->is_written) {
        ring_check(s, ring, from, count, to);
    }
}
