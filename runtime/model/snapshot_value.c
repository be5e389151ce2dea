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
    uint32_t at = (uint32_t)hash_number(unit);
    uint32_t node = hash_numbers_next(&s->node_of, &at);
    while (node != HASH_MAP_NONE && s->nodes[node].unit != unit) {
        node = hash_numbers_next(&s->node_of, &at);
    }
    return node;
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
            histogram_bucket_add(out, (uint32_t)bucket, 1);
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

/* So many buckets are looked at together: most have no sample. */
#define PAIRS_AT_ONCE 8u
typedef uint64_t __attribute__((may_alias)) bucket_pair;
_Static_assert(STINT_IMPL_BUCKETS % (2 * PAIRS_AT_ONCE) == 0, "no rest");
_Static_assert(ARENA_BUCKETS_OF_4 % (2 * PAIRS_AT_ONCE) == 0, "no rest");

static inline __attribute__((always_inline)) uint64_t pair_load(const bucket_pair *pair) {
    return __atomic_load_n(pair, __ATOMIC_ACQUIRE);
}

/* Without a loop: it is most of what a row costs. */
static inline int has_counts(const bucket_pair *p) {
    return (pair_load(p) | pair_load(p + 1) | pair_load(p + 2) | pair_load(p + 3) |
            pair_load(p + 4) | pair_load(p + 5) | pair_load(p + 6) | pair_load(p + 7)) != 0;
}

/* Copies as many buckets, of which the first has that number, into empty ones. Returns the largest
 * count. */
static uint32_t copy_group(struct histogram *out, const uint32_t *bucket, uint32_t first) {
    uint32_t most = 0;
    uint64_t used = 0;
    for (uint32_t i = 0; i < 2 * PAIRS_AT_ONCE; ++i) {
        uint32_t count = __atomic_load_n(&bucket[first + i], __ATOMIC_ACQUIRE);
        if (count) {
            out->bucket[first + i] = count;
            used |= (uint64_t)1 << i;
            most = count > most ? count : most;
        }
    }
    out->used[first / 64] |= used << first % 64;
    return most;
}

/* Returns the largest count. */
static uint32_t copy_counts(struct histogram *out, const uint32_t *bucket, uint32_t buckets) {
    const bucket_pair *pair = (const bucket_pair *)(const void *)bucket;
    uint32_t most = 0;
    histogram_clear(out);
    for (uint32_t first = 0; first < buckets; first += 2 * PAIRS_AT_ONCE) {
        if (has_counts(&pair[first / 2])) {
            uint32_t count = copy_group(out, bucket, first);
            most = count > most ? count : most;
        }
    }
    return most;
}

static void read_counts(const struct snapshot *s, const struct snapshot_thread *t, uint32_t unit,
                        const struct stint_impl_histogram *h, struct histogram *out) {
    uint32_t buckets = s->is_format_4 ? ARENA_BUCKETS_OF_4 : STINT_IMPL_BUCKETS;
    uint32_t most = 0;
    for (int i = 0; i < SNAPSHOT_TRIES;
         ++i) { /* a sample that is being counted is in both or in neither */
        uint64_t before = pending_collect(t, unit, buckets, NULL);
        most = (uint32_t)u64_max(most, copy_counts(out, h->bucket, buckets));
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
