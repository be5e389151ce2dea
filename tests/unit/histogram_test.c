/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The histogram: bucket bounds, percentiles, conversion to nanoseconds. Percentiles are compared
 * with those of the sorted samples of several distributions.
 */
#include "base/histogram.h"

#include <math.h>

#include "support.h"

#define SAMPLES 20000u

static uint64_t sample[SAMPLES];
static struct histogram h;

/* Whether two have the same samples, and know the same of them. */
static int is_same(const struct histogram *a, const struct histogram *b) {
    return !memcmp(a, b, offsetof(struct histogram, narrow));
}

TEST(histogram, every_bucket_holds_its_bounds) {
    for (uint32_t b = 0; b < STINT_IMPL_BUCKETS; ++b) {
        uint64_t low = histogram_low(b), next = histogram_low(b + 1);
        CHECK(low < next);
        CHECK_EQ_U64(stint_impl_bucket(low), b);
        CHECK_EQ_U64(stint_impl_bucket(next - 1), b);
        /* 1/16 of its octave: the middle is at most 1/32 = 3.125 % off. */
        CHECK((next - low) * 16 <= low || next - low == 1);
    }
    CHECK_EQ_U64(histogram_low(0), 0);
    CHECK_EQ_U64(histogram_low(31), 31);
    CHECK_EQ_U64(histogram_low(33), 34);
    CHECK_EQ_U64(histogram_low(STINT_IMPL_BUCKETS), (uint64_t)1 << 47); /* 39 hours of ns */
}

TEST(histogram, longer_than_the_last_bucket_stays_in_it) {
    CHECK_EQ_U64(stint_impl_bucket(STINT_IMPL_LONG - 1), STINT_IMPL_BUCKETS - 1);
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void fill(uint64_t (*next)(uint64_t)) {
    uint64_t state = 88172645463325252u;
    memset(&h, 0, sizeof h);
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        sample[i] = next(random_next(&state));
        ++h.bucket[stint_impl_bucket(sample[i])];
    }
    qsort(sample, SAMPLES, sizeof *sample, by_value);
}

/* Checks each percentile against the nearest-rank percentile of the sorted samples. */
static void compare(void) {
    CHECK_EQ_U64(histogram_count(&h), SAMPLES);
    for (uint32_t permille = 1; permille <= 1000; ++permille) {
        uint64_t exact = sample[(uint64_t)SAMPLES * permille / 1000 - 1];
        uint64_t got = histogram_percentile(&h, SAMPLES, permille);
        uint64_t off = got > exact ? got - exact : exact - got;
        CHECK((double)off <= 0.032 * (double)exact);
    }
    CHECK(histogram_min(&h) <= sample[0] && histogram_max(&h) >= sample[SAMPLES - 1]);
    CHECK(sample[0] - histogram_min(&h) <= sample[0] / 16);
    CHECK(histogram_max(&h) - sample[SAMPLES - 1] <= sample[SAMPLES - 1] / 15);
}

static uint64_t uniform(uint64_t r) {
    return r % 1000000;
}
static uint64_t constant(uint64_t r) {
    (void)r;
    return 123457;
}
static uint64_t two_humps(uint64_t r) {
    return r % 10 ? 80 + r / 16 % 40 : 5000000 + r / 16 % 1000000;
}
static uint64_t heavy_tail(uint64_t r) {
    return (uint64_t)1 << 40 >> (r % 38) | (r >> 40 & 7);
}
static uint64_t small(uint64_t r) {
    return r % 32;
}

TEST(histogram, percentiles_of_uniform) {
    fill(uniform);
    compare();
}
TEST(histogram, percentiles_of_a_constant) {
    fill(constant);
    compare();
}
TEST(histogram, percentiles_of_two_humps) {
    fill(two_humps);
    compare();
}
TEST(histogram, percentiles_of_a_heavy_tail) {
    fill(heavy_tail);
    compare();
}
TEST(histogram, below_32_everything_is_exact) {
    fill(small);
    for (uint32_t permille = 1; permille <= 1000; ++permille) {
        CHECK_EQ_U64(histogram_percentile(&h, SAMPLES, permille),
                     sample[(uint64_t)SAMPLES * permille / 1000 - 1]);
    }
}

TEST(histogram, few_samples) {
    memset(&h, 0, sizeof h);
    CHECK_EQ_U64(histogram_percentile(&h, 0, 500), 0);
    CHECK_EQ_U64(histogram_min(&h), 0);
    CHECK_EQ_U64(histogram_max(&h), 0);
    h.bucket[7] = 1;
    CHECK_EQ_U64(histogram_percentile(&h, 1, 500), 7);
    CHECK_EQ_U64(histogram_percentile(&h, 1, 990), 7);
    h.bucket[9] = 1;
    CHECK_EQ_U64(histogram_percentile(&h, 2, 500), 7);
    CHECK_EQ_U64(histogram_percentile(&h, 2, 501), 9);
}

TEST(histogram, full_buckets_do_not_overflow) {
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        h.bucket[i] = (uint64_t)UINT32_MAX << 20; /* a million threads of saturated ones */
    }
    uint64_t count = histogram_count(&h);
    CHECK_EQ_U64(stint_impl_bucket(histogram_percentile(&h, count, 500)), 351);
    CHECK_EQ_U64(stint_impl_bucket(histogram_percentile(&h, count, 990)), 696);
}

TEST(histogram, bounds_and_middles) {
    CHECK(histogram_middle(0) <= 0 && histogram_middle(31) == 31);
    for (uint32_t b = 0; b < STINT_IMPL_BUCKETS; ++b) {
        double low = (double)histogram_low(b), last = (double)(histogram_low(b + 1) - 1);
        CHECK(histogram_middle(b) == (low + last) / 2);
        memset(&h, 0, sizeof h);
        h.bucket[b] = 3;
        CHECK_EQ_U64(histogram_min(&h), histogram_low(b));
        CHECK_EQ_U64(histogram_max(&h), histogram_low(b + 1) - 1);
        CHECK_EQ_U64(histogram_count(&h), 3);
    }
    h.bucket[5] = 1;
    CHECK_EQ_U64(histogram_min(&h), 5);
    CHECK_EQ_U64(histogram_max(&h), histogram_low(STINT_IMPL_BUCKETS) - 1);
}

/* Returns whether a value is as near as two buckets allow, its own and that of nanoseconds; up to a
 * nanosecond is lost by rounding, too. */
static int is_within(double ns, double middle) {
    return fabs(ns - middle) <= 0.064 * ns + 1;
}

TEST(histogram, in_nanoseconds_is_near_each_value) {
    static const double units[] = {0.2381, 0.5, 1, 1.0001, 3.7, 41.6667, 1000};
    for (size_t u = 0; u < sizeof units / sizeof *units; ++u) {
        for (uint32_t b = 0; b < STINT_IMPL_BUCKETS; ++b) {
            struct histogram ns;
            uint32_t to = 0;
            memset(&h, 0, sizeof h);
            h.bucket[b] = 7;
            histogram_to_ns(&ns, &h, units[u]);
            CHECK_EQ_U64(histogram_count(&ns), 7);
            while (!ns.bucket[to]) {
                ++to;
            }
            if (to < STINT_IMPL_BUCKETS - 1) {
                CHECK(is_within((double)histogram_low(b) * units[u], histogram_middle(to)));
                CHECK(
                    is_within((double)(histogram_low(b + 1) - 1) * units[u], histogram_middle(to)));
            } else { /* longer than the grid: all of it is in the last bucket */
                CHECK(histogram_middle(b) * units[u] >= (double)histogram_low(to));
            }
        }
    }
}

TEST(histogram, in_nanoseconds_of_a_clock_of_them_is_the_same) {
    struct histogram ns;
    fill(heavy_tail);
    histogram_to_ns(&ns, &h, 1);
    CHECK(!memcmp(ns.bucket, h.bucket, sizeof h.bucket) && ns.in_ns && !ns.open);
}

TEST(histogram, in_nanoseconds_adds_what_falls_together) {
    struct histogram ns;
    memset(&h, 0, sizeof h);
    for (uint32_t b = 0; b < 32; ++b) {
        h.bucket[b] = b + 1;
    }
    histogram_to_ns(&ns, &h, 0.01); /* each is less than a nanosecond */
    CHECK_EQ_U64(ns.bucket[0], 32 * 33 / 2);
    CHECK_EQ_U64(histogram_count(&ns), ns.bucket[0]);
    histogram_to_ns(&ns, &h, 1e30); /* far beyond the grid, but for 0 */
    CHECK_EQ_U64(ns.bucket[0], 1);
    CHECK_EQ_U64(ns.bucket[STINT_IMPL_BUCKETS - 1], 32 * 33 / 2 - 1);
}

/* A time that is longer than the grid is open there, and stays above its lower bound. */
TEST(histogram, open_buckets_stay_open) {
    static const double units[] = {0.2381, 1, 41.6667};
    const uint64_t low = histogram_low(STINT_IMPL_BUCKETS - 1);
    for (size_t u = 0; u < sizeof units / sizeof *units; ++u) {
        struct histogram ns;
        memset(&h, 0, sizeof h);
        h.bucket[100] = 90;
        h.bucket[STINT_IMPL_BUCKETS - 1] = 10;
        h.open = STINT_IMPL_BUCKETS;
        CHECK_EQ_U64(histogram_beyond(&h), 10);
        CHECK_EQ_U64(histogram_percentile(&h, 100, 900), (uint64_t)histogram_middle(100));
        CHECK_EQ_U64(histogram_percentile(&h, 100, 901), low);
        CHECK_EQ_U64(histogram_max(&h), UINT64_MAX);
        CHECK_EQ_U64(histogram_end(&h, STINT_IMPL_BUCKETS - 1, UINT64_MAX / 2), UINT64_MAX / 2 + 1);
        histogram_to_ns(&ns, &h, units[u]);
        CHECK(ns.open && histogram_low(ns.open - 1) <= (uint64_t)((double)low * units[u] + 1));
        CHECK_EQ_U64(histogram_beyond(&ns), 10);
        CHECK_EQ_U64(histogram_count(&ns), 100);
        h.bucket[STINT_IMPL_BUCKETS - 1] = 0; /* they were before the interval */
        CHECK(!histogram_beyond(&h) && histogram_max(&h) == histogram_low(101) - 1);
    }
    CHECK(histogram_open_lower(0, 5) == 5 && histogram_open_lower(5, 0) == 5);
    CHECK(histogram_open_lower(7, 5) == 5 && histogram_open_lower(5, 7) == 5);
}

TEST(histogram, a_list_has_the_buckets_in_use) {
    static const struct histogram empty;
    static struct histogram all, back;
    struct scratch memory = {.failed = 0};
    struct histogram_list list;
    memset(&all, 0, sizeof all);
    all.bucket[0] = 3;
    all.bucket[STINT_IMPL_BUCKETS - 1] = UINT64_MAX;
    all.open = STINT_IMPL_BUCKETS;
    all.in_ns = 1;
    CHECK_EQ_U64(histogram_used(&all), 2);
    CHECK(!histogram_pack(&list, &memory, &all));
    CHECK_EQ_U64(list.used, 2);
    CHECK_EQ_U64(list.bucket[1].index, STINT_IMPL_BUCKETS - 1);
    histogram_unpack(&back, &list);
    CHECK(is_same(&back, &all));
    CHECK(!histogram_pack(&list, &memory, &empty) && !list.used);
    scratch_free(&memory);
}

/* Encodes and decodes one with a number in every `every`-th bucket, each so many bits long. */
static void check_bytes(uint32_t first, uint32_t every, unsigned bits, uint32_t expected) {
    static uint8_t bytes[HISTOGRAM_BYTES_MOST];
    static struct histogram in, back;
    memset(&in, 0, sizeof in);
    for (uint32_t i = first; i < STINT_IMPL_BUCKETS; i += every) {
        in.bucket[i] = UINT64_MAX >> (64 - bits);
    }
    uint32_t used = histogram_encode(bytes, &in);
    CHECK_EQ_U64(used, expected);
    CHECK(!histogram_decode(&back, bytes, used) && is_same(&in, &back));
    for (uint32_t less = 1; less < 8 && less < used; ++less) {
        int result = histogram_decode(&back, bytes, used - less);
        CHECK(result == -1 || memcmp(&in, &back, sizeof in));
    }
    CHECK(histogram_decode(&back, bytes, used + 1) == -1 || used == sizeof bytes);
}

TEST(histogram, bytes_of_the_buckets_in_use) {
    check_bytes(0, 1, 64, 11 * STINT_IMPL_BUCKETS);
    check_bytes(0, 1, 1, 2 * STINT_IMPL_BUCKETS);
    check_bytes(703, 1, 7, 3);
    check_bytes(703, 1, 8, 4);
    check_bytes(0, STINT_IMPL_BUCKETS, 63, 1 + 9);
    check_bytes(100, 200, 14, 4 * 4 - 1);
}

TEST(histogram, a_sum_that_does_not_fit_is_full) {
    static struct histogram a, b;
    memset(&a, 0, sizeof a);
    b = a;
    a.bucket[7] = UINT64_MAX - 1;
    b.bucket[7] = 1;
    histogram_sum(&a, &b);
    CHECK(a.bucket[7] == UINT64_MAX && !a.full);
    histogram_sum(&a, &b);
    CHECK(a.bucket[7] == UINT64_MAX && a.full);
    histogram_sum(&b, &a);
    CHECK(b.full);
    a.bucket[8] = 5;
    CHECK_EQ_U64(histogram_count(&a), UINT64_MAX);
    histogram_take(&a, &b);
    CHECK(!a.bucket[7] && a.bucket[8] == 5);
}

TEST(histogram, bucket_in_32_bits_is_the_same) {
    for (uint64_t ticks = 0; ticks < 1 << 16; ++ticks) {
        CHECK_EQ_U64(stint_impl_bucket_place(0, (uint32_t)ticks), stint_impl_bucket(ticks));
    }
    for (unsigned bit = 5; bit < 32; ++bit) {
        for (uint64_t part = 0; part < 64; ++part) {
            uint64_t ticks = ((uint64_t)1 << bit) + (part << bit >> 6);
            CHECK_EQ_U64(stint_impl_bucket_place(0, (uint32_t)ticks), stint_impl_bucket(ticks));
            CHECK_EQ_U64(stint_impl_bucket_place(0, (uint32_t)(ticks - 1)),
                         stint_impl_bucket(ticks - 1));
        }
    }
    CHECK_EQ_U64(stint_impl_bucket_place(0, UINT32_MAX), stint_impl_bucket(UINT32_MAX));
}

/* A histogram that knows which of its buckets have samples gives what one that does not know gives,
 * and is empty when it is cleared. */
TEST(histogram, narrow_ones_are_the_same) {
    static const uint16_t permille[4] = {1, 500, 900, 999};
    static struct histogram narrow, full, a, b;
    uint64_t seed = 1, x[4], y[4];
    histogram_start(&narrow);
    for (unsigned round = 0; round < 200; ++round) {
        unsigned samples = 1u << round % 9;
        uint32_t width = 1 + (uint32_t)(random_next(&seed) % STINT_IMPL_BUCKETS);
        memset(&full, 0, sizeof full);
        histogram_clear(&narrow);
        CHECK(!histogram_count(&narrow) && !histogram_used(&narrow) && !narrow.open);
        for (unsigned i = 0; i < samples; ++i) {
            uint32_t bucket = (uint32_t)(random_next(&seed) % width);
            histogram_bucket_add(&narrow, bucket, i + 1);
            histogram_bucket_add(&full, bucket, i + 1);
        }
        full.open = narrow.open = round % 5 ? 0 : width;
        uint64_t count = histogram_count(&full);
        CHECK(is_same(&narrow, &full) && histogram_count(&narrow) == count);
        histogram_percentiles(x, &narrow, count, permille, 4);
        histogram_percentiles(y, &full, count, permille, 4);
        for (unsigned k = 0; k < 4; ++k) {
            CHECK(x[k] == y[k] && x[k] == histogram_percentile(&full, count, permille[k]));
        }
        CHECK_EQ_U64(histogram_min(&narrow), histogram_min(&full));
        CHECK_EQ_U64(histogram_max(&narrow), histogram_max(&full));
        CHECK_EQ_U64(histogram_used(&narrow), histogram_used(&full));
        histogram_to_ns(&a, &narrow, 1.5);
        histogram_to_ns(&b, &full, 1.5);
        CHECK(is_same(&a, &b));
        histogram_sum(&a, &narrow);
        histogram_sum(&b, &full);
        histogram_take(&a, &full);
        histogram_take(&b, &narrow);
        CHECK(is_same(&a, &b));
    }
}
