/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single values of a snapshot: a checked pointer to a unit, a ring, a text, the index of a node or
 * a device, the buckets of a histogram. The files that read the whole call these, never the
 * reverse.
 */
#include "snapshot.h"

#include <sched.h>

#include "arena/arena.h"
#include "base/name.h"

const void *snapshot_at(const struct snapshot *s, uint32_t unit, uint64_t bytes) {
    uint64_t at = (uint64_t)unit * STINT_IMPL_UNIT;
    if (unit && bytes <= s->size && at <= s->size - bytes) {
        return s->base + at;
    }
    return NULL;
}

const struct stint_impl_ring *snapshot_ring(const struct snapshot *s, uint32_t unit,
                                            uint64_t *events) {
    const struct stint_impl_ring *ring = snapshot_at(s, unit, sizeof *ring);
    if (!ring) {
        return NULL;
    }
    uint64_t mask = ring->mask;
    if (mask & (mask + 1) || mask > s->size / sizeof(struct stint_impl_event) ||
        !snapshot_at(s, unit, sizeof *ring + (mask + 1) * sizeof(struct stint_impl_event))) {
        return NULL;
    }
    *events = mask + 1;
    return ring;
}

const char *snapshot_text(const struct snapshot *s, uint32_t text, uint32_t *length) {
    uint64_t at = (uint64_t)text * 8;
    if (!text || at + sizeof(struct arena_text) >= s->size) { /* not even room for the NUL */
        return NULL;
    }
    const struct arena_text *t = (const struct arena_text *)(const void *)(s->base + at);
    uint32_t n = t->length;
    /* No recorder writes longer ones. In a file that no recorder wrote each site could name most of
     * the file. */
    if (n > NAME_BYTES || n > s->size - at - sizeof *t - 1 || t->bytes[n] != '\0') {
        return NULL;
    }
    *length = n;
    return t->bytes;
}

uint32_t snapshot_node_of(const struct snapshot *s, uint32_t unit) {
    return hash_map_get(&s->node_of, unit);
}

uint32_t snapshot_device_of(const struct snapshot *s, uint32_t unit) {
    for (uint32_t i = 0; unit && i < s->device_count; ++i) {
        if (s->devices[i].unit == unit) {
            return i;
        }
    }
    return SNAPSHOT_NONE;
}

int snapshot_try_again(struct snapshot *s, int tried) {
    if (tried >= SNAPSHOT_TRIES || !s->patience) {
        return 0;
    }
    --s->patience;
    if (tried > SNAPSHOT_TRIES / 2) {
        sched_yield();
    }
    return 1;
}

/* Adds the samples that wait in frames for that histogram to its buckets (NULL: only looks).
 * Returns a number that tells two sets of them apart. */
static uint64_t pending_collect(const struct snapshot_thread *t, uint32_t unit, uint32_t *out) {
    uint64_t first = (uint64_t)unit * STINT_IMPL_BUCKETS_A_UNIT, sum = 0;
    for (uint32_t f = 0; f < t->frames_used; ++f) {
        uint64_t bucket = STINT_IMPL_LOAD(&t->frames[f].pending) - first;
        if (bucket >= STINT_IMPL_BUCKETS) {
            continue;
        }
        sum += (bucket + 1) * (f + 1);
        if (out && out[bucket] < UINT32_MAX) {
            ++out[bucket];
        }
    }
    return sum;
}

int snapshot_read_buckets(const struct snapshot *s, uint32_t thread, uint32_t unit,
                          uint32_t out[STINT_IMPL_BUCKETS]) {
    static const struct snapshot_thread none;
    const struct stint_impl_histogram *h = snapshot_at(s, unit, sizeof *h);
    const struct snapshot_thread *t = &none;
    if (!h) {
        return -1;
    }
    if (thread < s->thread_count) {
        t = &s->threads[thread];
    }
    for (int i = 0; i < SNAPSHOT_TRIES;
         ++i) { /* a sample that is being counted is in both or in neither */
        uint64_t before = pending_collect(t, unit, NULL);
        for (uint32_t k = 0; k < STINT_IMPL_BUCKETS; ++k) {
            out[k] = __atomic_load_n(&h->bucket[k], __ATOMIC_ACQUIRE);
        }
        if (pending_collect(t, unit, out) == before) {
            break;
        }
    }
    return 0;
}
