/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets of times: their bounds, sums, differences and percentiles, and their conversion from
 * ticks to nanoseconds. Pure.
 */
#include "histogram.h"

#include <string.h>

#include "arithmetic.h"
#include "leb128.h"

__attribute__((noinline)) uint32_t histogram_next_word(const struct histogram *h, uint32_t bucket,
                                                       uint64_t *rest) {
    uint32_t word = bucket / 64;
    while (!*rest) {
        if (++word == STINT_IMPL_BUCKETS / 64) {
            return STINT_IMPL_BUCKETS;
        }
        *rest = histogram_word(h, word);
    }
    return histogram_next(h, word * 64, rest);
}

struct histogram *histograms_get(struct scratch *memory, uint32_t count) {
    struct histogram *h = scratch_array(memory, count, sizeof *h);
    for (uint32_t i = 0; h && i < count; ++i) {
        h[i].narrow = 1;
    }
    return h;
}

int histogram_is_empty(const struct histogram *h) {
    uint64_t rest = histogram_word(h, 0);
    return h->narrow && !(h->open | (unsigned)h->in_ns | (unsigned)h->full) &&
           histogram_next(h, 0, &rest) == STINT_IMPL_BUCKETS;
}

void histogram_clear(struct histogram *h) {
    if (!h->narrow) {
        histogram_start(h);
        return;
    }
    HISTOGRAM_EACH(h, i) {
        h->bucket[i] = 0;
    }
    memset(h->used, 0, sizeof h->used);
    h->open = 0;
    h->in_ns = h->full = 0;
}

/* The bucket of a value that may be longer than the last one's. */
static uint32_t histogram_find(double value) {
    if (value >= (double)histogram_low(STINT_IMPL_BUCKETS - 1)) {
        return STINT_IMPL_BUCKETS - 1;
    }
    return stint_impl_bucket((uint64_t)value);
}

double histogram_middle(uint32_t bucket) {
    return (double)(histogram_low(bucket) + histogram_low(bucket + 1) - 1) / 2;
}

uint32_t histogram_open_lower(uint32_t a, uint32_t b) {
    if (!a || (b && b < a)) {
        return b;
    }
    return a;
}

static int histogram_is_open(const struct histogram *h, uint32_t bucket) {
    return h->open && bucket + 1 >= h->open;
}

/* The number of a bucket on the grid of nanoseconds. An open one keeps its lower bound. */
static uint32_t histogram_place_in_ns(const struct histogram *from, uint32_t bucket, double unit) {
    if (histogram_is_open(from, bucket)) {
        return histogram_find((double)histogram_low(bucket) * unit);
    }
    return histogram_find(histogram_middle(bucket) * unit);
}

void histogram_to_ns(struct histogram *out, const struct histogram *from, double unit) {
    histogram_start(out);
    histogram_add_in_ns(out, from, from->in_ns ? 1 : unit);
}

void histogram_add_in_ns(struct histogram *out, const struct histogram *from, double unit) {
    out->in_ns = 1;
    out->full |= from->full;
    HISTOGRAM_EACH(from, i) {
        if (from->bucket[i]) {
            uint32_t to = histogram_place_in_ns(from, i, unit);
            histogram_bucket_add(out, to, from->bucket[i]);
            if (histogram_is_open(from, i) ||
                histogram_middle(i) * unit >= (double)STINT_IMPL_LONG) {
                out->open = histogram_open_lower(out->open, to + 1);
            }
        }
    }
}

uint32_t histogram_used(const struct histogram *h) {
    uint32_t used = 0;
    HISTOGRAM_EACH(h, i) {
        used += h->bucket[i] != 0;
    }
    return used;
}

void histogram_fill(struct histogram_list *out, const struct histogram *h) {
    out->open = h->open;
    out->in_ns = h->in_ns;
    out->full = h->full;
    struct histogram_bucket *next = out->bucket;
    HISTOGRAM_EACH(h, i) {
        if (h->bucket[i]) {
            *next++ = (struct histogram_bucket){i, h->bucket[i]};
        }
    }
    out->used = (uint32_t)(next - out->bucket);
}

int histogram_pack(struct histogram_list *out, struct scratch *memory, const struct histogram *h) {
    out->bucket = scratch_array(memory, histogram_used(h), sizeof *out->bucket);
    if (!out->bucket) {
        return -1;
    }
    histogram_fill(out, h);
    return 0;
}

void histogram_unpack(struct histogram *out, const struct histogram_list *from) {
    histogram_start(out);
    for (uint32_t i = 0; i < from->used; ++i) {
        out->bucket[from->bucket[i].index] = from->bucket[i].count;
        histogram_widen(out, from->bucket[i].index);
    }
    out->open = from->open;
    out->in_ns = from->in_ns;
    out->full = from->full;
}

/* ---- The bytes of merged files. */

/* Returns the bytes that the number has, at most `left`; 0: there is none, or it is above 64
 * bits. */
static uint32_t get_leb128(uint64_t *n, const uint8_t *from, uint32_t left) {
    *n = 0;
    for (uint32_t i = 0; i < left && i < 10; ++i) {
        uint64_t bits = from[i] & 0x7f;
        if (i == 9 && bits > 1) {
            return 0;
        }
        *n |= bits << 7 * i;
        if (bits == from[i]) {
            return i + 1;
        }
    }
    return 0;
}

uint32_t histogram_encode(uint8_t to[HISTOGRAM_BYTES_MOST], const struct histogram *h) {
    char *end = (char *)to;
    uint32_t next = 0;
    HISTOGRAM_EACH(h, i) {
        if (h->bucket[i]) {
            end = leb128_put(leb128_put(end, i + 1 - next), h->bucket[i]);
            next = i + 1;
        }
    }
    return (uint32_t)(end - (char *)to);
}

int histogram_decode(struct histogram *to, const uint8_t *from, uint32_t bytes) {
    uint64_t next = 0, step, count;
    histogram_start(to);
    for (uint32_t at = 0, used; at < bytes; at += used) {
        uint32_t first = get_leb128(&step, from + at, bytes - at);
        uint32_t second = get_leb128(&count, from + at + first, bytes - at - first);
        used = first + second;
        if (!first || !second || !step || !count || step > STINT_IMPL_BUCKETS - next) {
            return -1;
        }
        next += step;
        to->bucket[next - 1] = count;
        histogram_widen(to, (uint32_t)next - 1);
    }
    return 0;
}

/* ---- Sums. */

void histogram_count_value(struct histogram *h, uint64_t value) {
    if (value >= STINT_IMPL_LONG) {
        h->open = STINT_IMPL_BUCKETS;
        value = STINT_IMPL_LONG - 1;
    }
    histogram_bucket_add(h, stint_impl_bucket(value), 1);
}

void histogram_sum(struct histogram *to, const struct histogram *more) {
    HISTOGRAM_EACH(more, i) {
        if (more->bucket[i]) {
            histogram_bucket_add(to, i, more->bucket[i]);
        }
    }
    to->open = histogram_open_lower(to->open, more->open);
    to->full |= more->full;
}

void histogram_take(struct histogram *from, const struct histogram *before) {
    HISTOGRAM_EACH(from, i) {
        from->bucket[i] = saturating_subtract(from->bucket[i], before->bucket[i]);
    }
}

uint64_t histogram_count(const struct histogram *h) {
    uint64_t count = 0;
    HISTOGRAM_EACH(h, i) {
        count = saturating_add(count, h->bucket[i]);
    }
    return count;
}

uint64_t histogram_beyond(const struct histogram *h) {
    uint64_t count = 0;
    for (uint32_t i = h->open; i && i <= STINT_IMPL_BUCKETS; ++i) {
        count = saturating_add(count, h->bucket[i - 1]);
    }
    return count;
}

static uint64_t histogram_value(const struct histogram *h, uint32_t bucket) {
    if (histogram_is_open(h, bucket)) {
        return histogram_low(bucket);
    }
    return (histogram_low(bucket) + histogram_low(bucket + 1) - 1) / 2;
}

/* The ranks of percentiles rise: with each bucket some of them are reached. */
void histogram_percentiles(uint64_t *out, const struct histogram *h, uint64_t count,
                           const uint16_t *permille, uint32_t n) {
    uint64_t seen = 0, rank = histogram_rank(count, *permille);
    uint32_t k = 0;
    memset(out, 0, n * sizeof *out);
    HISTOGRAM_EACH(h, i) {
        seen = saturating_add(seen, h->bucket[i]);
        while (seen && seen >= rank) {
            out[k] = histogram_value(h, i);
            if (++k == n) {
                return;
            }
            rank = histogram_rank(count, permille[k]);
        }
    }
}

uint64_t histogram_percentile(const struct histogram *h, uint64_t count, uint32_t permille) {
    uint16_t one = (uint16_t)permille;
    uint64_t out;
    histogram_percentiles(&out, h, count, &one, 1);
    return out;
}

uint64_t histogram_end(const struct histogram *h, uint32_t bucket, uint64_t max) {
    if (histogram_is_open(h, bucket) && max >= histogram_low(bucket + 1)) {
        return saturating_add(max, 1);
    }
    return histogram_low(bucket + 1);
}

uint64_t histogram_min(const struct histogram *h) {
    HISTOGRAM_EACH(h, i) {
        if (h->bucket[i]) {
            return histogram_low(i);
        }
    }
    return 0;
}

uint64_t histogram_max(const struct histogram *h) {
    uint64_t max = 0;
    if (histogram_beyond(h)) {
        return UINT64_MAX;
    }
    HISTOGRAM_EACH(h, i) {
        if (h->bucket[i]) {
            max = histogram_low(i + 1) - 1;
        }
    }
    return max;
}
