/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single values of a snapshot: a checked pointer to a unit, a text, the index of a node or
 * a device, the buckets of a histogram. The files that read the whole call these, never the
 * reverse.
 */
#include "snapshot_parts.h"

#include <sched.h>
#include <string.h>

#include "arena/arena.h"
#include "base/histogram.h"
#include "base/name.h"

const void *snapshot_at(const struct snapshot *s, uint32_t unit, uint64_t bytes) {
    uint64_t at = (uint64_t)unit * STINT_IMPL_UNIT;
    if (unit && bytes <= s->size && at <= s->size - bytes) {
        return s->base + at;
    }
    return NULL;
}

struct snapshot_list snapshot_list_of(const struct snapshot *s, uint32_t first, uint32_t bytes,
                                      uint32_t next_at, uint64_t most) {
    return (struct snapshot_list){.snapshot = s,
                                  .next = first,
                                  .bytes = bytes,
                                  .next_at = next_at,
                                  .left = u64_min(most, s->size / u64_max(bytes, STINT_IMPL_UNIT))};
}

const void *snapshot_list_next(struct snapshot_list *l) {
    const char *record = l->left ? snapshot_at(l->snapshot, l->next, l->bytes) : NULL;
    if (record) {
        --l->left;
        l->unit = l->next;
        l->next = *(const uint32_t *)(const void *)(record + l->next_at);
    }
    return record;
}

uint32_t snapshot_list_count(struct snapshot_list l) {
    uint32_t count = 0;
    while (snapshot_list_next(&l)) {
        ++count;
    }
    return count;
}

unsigned char *snapshot_units(struct snapshot *s) {
    return scratch_get(&s->memory, s->size / STINT_IMPL_UNIT / 8 + 1);
}

int snapshot_units_take(unsigned char *units, uint32_t unit, uint32_t bytes) {
    uint32_t end = unit + (bytes + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT, u = unit;
    while (u < end && !(units[u / 8] & 1u << u % 8)) {
        ++u;
    }
    if (u < end) {
        return 0;
    }
    for (u = unit; u < end; ++u) {
        units[u / 8] |= (unsigned char)(1u << u % 8);
    }
    return 1;
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

uint64_t snapshot_first_begin(const struct snapshot_node *n) {
    return n->first_at;
}

uint64_t snapshot_first_end(const struct snapshot *s, const struct snapshot_node *n) {
    return n->first_at + snapshot_node_ticks(s, n, n->first);
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

/* Adds the samples that wait in frames for that histogram to its `buckets` buckets (NULL: only
 * looks). Returns a number that tells two sets of them apart. */
static uint64_t pending_collect(const struct snapshot_thread *t, uint32_t unit, uint32_t buckets,
                                struct histogram *out) {
    uint64_t first = (uint64_t)unit * STINT_IMPL_BUCKETS_A_UNIT, sum = 0;
    for (uint32_t f = 0; f < t->frames_used; ++f) {
        uint64_t bucket = STINT_IMPL_LOAD(&t->frames[f].pending) - first;
        if (bucket >= buckets) {
            continue;
        }
        sum += (bucket + 1) * (f + 1);
        if (out) {
            ++out->bucket[bucket];
        }
    }
    return sum;
}

static int read_pairs(const struct snapshot *s, const struct arena_pairs *p,
                      struct histogram *out) {
    const uint8_t *pair = p->bytes <= sizeof p->pair ? p->pair : NULL;
    if (p->more) {
        pair = snapshot_at(s, p->more, p->bytes);
    }
    if (!pair || histogram_decode(out, pair, p->bytes)) {
        return -1;
    }
    out->open = (uint32_t)u64_min(p->open, STINT_IMPL_BUCKETS);
    out->full = p->full != 0;
    return 0;
}

static void read_counts(const struct snapshot *s, const struct snapshot_thread *t, uint32_t unit,
                        const struct stint_impl_histogram *h, struct histogram *out) {
    uint32_t buckets = s->is_format_4 ? ARENA_BUCKETS_OF_4 : STINT_IMPL_BUCKETS;
    uint32_t most = 0;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < SNAPSHOT_TRIES;
         ++i) { /* a sample that is being counted is in both or in neither */
        uint64_t before = pending_collect(t, unit, buckets, NULL);
        for (uint32_t k = 0; k < buckets; ++k) {
            uint32_t count = __atomic_load_n(&h->bucket[k], __ATOMIC_ACQUIRE);
            out->bucket[k] = count;
            if (count > most) {
                most = count;
            }
        }
        if (pending_collect(t, unit, buckets, out) == before) {
            break;
        }
    }
    out->full = most >= STINT_IMPL_BUCKET_FULL;
    if (!s->is_format_4) {
        out->open = (uint32_t)u64_min(STINT_IMPL_LOAD(&h->open), STINT_IMPL_BUCKETS);
    }
}

int snapshot_read_buckets(const struct snapshot *s, uint32_t thread, uint32_t unit,
                          struct histogram *out) {
    static const struct snapshot_thread none;
    const struct arena_pairs *pairs = snapshot_at(s, unit, sizeof *pairs);
    if (pairs && STINT_IMPL_LOAD(&pairs->mark) == ARENA_PAIRS) { /* or a bucket, being counted */
        return read_pairs(s, pairs, out);
    }
    uint64_t bytes = sizeof(struct stint_impl_histogram);
    if (s->is_format_4) {
        bytes = ARENA_BUCKETS_OF_4 * sizeof(uint32_t);
    }
    const struct stint_impl_histogram *h = snapshot_at(s, unit, bytes);
    if (!h) {
        return -1;
    }
    read_counts(s, thread < s->thread_count ? &s->threads[thread] : &none, unit, h, out);
    return 0;
}
