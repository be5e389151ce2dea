/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading histograms: the recorder's log-linear buckets, summed over threads, and their form in
 * merged files.
 */
#ifndef STINT_HISTOGRAM_H
#define STINT_HISTOGRAM_H

#include <stdint.h>
#include <string.h>

#include "scratch.h"
#include "stint/detail/impl_layout.h"

struct histogram {
    uint64_t bucket[STINT_IMPL_BUCKETS];
    uint32_t open; /* as in struct stint_impl_histogram */
    int in_ns;     /* the values are nanoseconds, whatever the clock */
    int full;      /* a bucket had no room for all of its samples: no percentile is known */
    /* With `narrow`, which histogram_start sets: a bit for each bucket that may have samples. Most
     * have none, and most of the time would go into looking at them. */
    int narrow;
    uint64_t used[STINT_IMPL_BUCKETS / 64];
};
_Static_assert(STINT_IMPL_BUCKETS % 64 == 0, "whole words");

/* The bucket may have samples from now on. */
static inline void histogram_widen(struct histogram *h, uint32_t bucket) {
    h->used[bucket / 64] |= (uint64_t)1 << bucket % 64;
}

/* The buckets from 64 * word on that may have samples, a bit each. */
static inline uint64_t histogram_word(const struct histogram *h, uint32_t word) {
    return h->narrow ? h->used[word] : UINT64_MAX;
}
/* The next bucket that may have samples, or STINT_IMPL_BUCKETS. bucket: the one before, at first 0;
 * rest: those of its word that are to come. */
uint32_t histogram_next_word(const struct histogram *h, uint32_t bucket, uint64_t *rest);
static inline uint32_t histogram_next(const struct histogram *h, uint32_t bucket, uint64_t *rest) {
    if (!*rest) {
        return histogram_next_word(h, bucket, rest);
    }
    bucket = bucket / 64 * 64 + (uint32_t)__builtin_ctzll(*rest);
    *rest &= *rest - 1;
    return bucket;
}
/* The outer loop runs once. */
#define HISTOGRAM_EACH(h, i)                                                                       \
    for (uint64_t i##_rest = histogram_word(h, 0), i##_once = 1; i##_once; i##_once = 0)           \
        for (uint32_t i = 0; (i = histogram_next(h, i, &i##_rest)) < STINT_IMPL_BUCKETS;)

/* Makes memory a histogram without a sample; with memory of zeros `narrow` alone is set. */
static inline void histogram_start(struct histogram *h) {
    memset(h, 0, sizeof *h);
    h->narrow = 1;
}

/* So many histograms without a sample; NULL without memory. */
struct histogram *histograms_get(struct scratch *memory, uint32_t count);

/* Takes the samples out of a histogram. */
void histogram_clear(struct histogram *h);
/* With `narrow`: whether it is as histogram_start or histogram_clear left it. */
int histogram_is_empty(const struct histogram *h);

/* A bucket that has samples. */
struct histogram_bucket {
    uint32_t index;
    uint64_t count;
};

/* A histogram by those that have some, the lowest first. */
struct histogram_list {
    struct histogram_bucket *bucket;
    uint32_t used;
    uint32_t open;
    int in_ns;
    int full;
};

/* Counts one sample in a histogram of the arena at `base`; in units, 0 = none. Owner only. */
static inline void histogram_add(char *base, uint32_t histogram, uint64_t value) {
    if (!histogram) {
        return;
    }
    uint64_t place = (uint64_t)histogram * STINT_IMPL_BUCKETS_A_UNIT;
    uint32_t *bucket = (uint32_t *)(void *)base + place;
    if (value >= STINT_IMPL_LONG) {
        STINT_IMPL_STORE(&bucket[STINT_IMPL_BUCKETS], STINT_IMPL_BUCKETS); /* `open` */
        value = STINT_IMPL_LONG - 1;
    }
    stint_impl_bucket_add(&bucket[stint_impl_bucket(value)]);
}

/* Counts `samples` more in a bucket. One whose count would not fit is full. */
static inline void histogram_bucket_add(struct histogram *h, uint32_t bucket, uint64_t samples) {
    uint64_t sum = h->bucket[bucket] + samples;
    if (sum < samples) {
        sum = UINT64_MAX;
        h->full = 1;
    }
    h->bucket[bucket] = sum;
    histogram_widen(h, bucket);
}

/* The lowest value of a bucket; of STINT_IMPL_BUCKETS: one past the last. */
static inline uint64_t histogram_low(uint32_t bucket) {
    if (bucket < 32) {
        return bucket;
    }
    return (uint64_t)(16 + bucket % 16) << (bucket / 16 - 1);
}
double histogram_middle(uint32_t bucket);
uint64_t histogram_count(const struct histogram *h);
/* The value that `permille` of 1000 samples do not exceed: the middle of its bucket. 0 if empty.
 * Where the samples of the bucket may be longer it is the lowest value that the bucket has. */
uint64_t histogram_percentile(const struct histogram *h, uint64_t count, uint32_t permille);
/* The same of n, 1 or more, in rising order. */
void histogram_percentiles(uint64_t *out, const struct histogram *h, uint64_t count,
                           const uint16_t *permille, uint32_t n);
/* The place in the order of `count` samples, from 1, of the one that `permille` do not exceed. */
static inline uint64_t histogram_rank(uint64_t count, uint32_t permille) {
    return count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
}
/* The samples that may be longer than their bucket: the last ones in the order of percentiles. */
uint64_t histogram_beyond(const struct histogram *h);
void histogram_count_value(struct histogram *h, uint64_t value);
/* Adds the samples of a histogram with values of the same unit, and takes samples away that it has
 * had before. */
void histogram_sum(struct histogram *to, const struct histogram *more);
void histogram_take(struct histogram *from, const struct histogram *before);
/* The lower one of two values of `open`; 0: none. */
uint32_t histogram_open_lower(uint32_t a, uint32_t b);
/* The counts of buckets whose values count `unit` ns each, on the grid of nanoseconds: the same
 * bounds in every run, whatever its clock. A bucket goes as a whole to the place of its middle:
 * the middle of that place is within 6.4 % of each value. */
void histogram_to_ns(struct histogram *out, const struct histogram *from, double unit);
/* The same, added to counts on that grid. */
void histogram_add_in_ns(struct histogram *out, const struct histogram *from, double unit);
uint32_t histogram_used(const struct histogram *h);
/* As a list in the arena. 0, or -1 without memory. */
int histogram_pack(struct histogram_list *out, struct scratch *memory, const struct histogram *h);
/* The same into out->bucket, where there is room for all in use. */
void histogram_fill(struct histogram_list *out, const struct histogram *h);
void histogram_unpack(struct histogram *out, const struct histogram_list *from);
/* The buckets in use as bytes: of each how far its number is past that of the one before, from -1
 * on, and its count, both as LEB128. Decoding returns 0, or -1 if the bytes are no such pairs, each
 * of a higher bucket than the one before, to the last byte. */
#define HISTOGRAM_BYTES_MOST (12u * STINT_IMPL_BUCKETS)
uint32_t histogram_encode(uint8_t to[HISTOGRAM_BYTES_MOST], const struct histogram *h);
int histogram_decode(struct histogram *to, const uint8_t *from, uint32_t bytes);
/* Above all samples of a bucket, the longest of all being `max`. */
uint64_t histogram_end(const struct histogram *h, uint32_t bucket, uint64_t max);
/* Bounds of all samples, from the lowest and highest bucket in use; 0 if empty. */
uint64_t histogram_min(const struct histogram *h);
uint64_t histogram_max(const struct histogram *h);

#endif
