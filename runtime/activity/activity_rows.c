/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of GPU activities in the arena. The holder of the activity lock is their only writer;
 * readers of the run file check the sequence word (docs/format.md).
 */
#include "activity_private.h"

#include <stddef.h>
#include <string.h>

#include "activity_sweep.h"
#include "arena/arena.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "base/scratch.h"
#include "system/config.h"

/* 9 MiB of rows, more than 64 MiB with histograms and samples. */
#define MAX_ROWS 49152u

static struct scratch memory;
static struct hash_map row_map; /* hashes of keys to rows, in units */

_Static_assert(offsetof(struct arena_activity, stream) - offsetof(struct arena_activity, kind) ==
                       offsetof(struct activity_key, stream) &&
                   offsetof(struct arena_activity, node) - offsetof(struct arena_activity, kind) ==
                       offsetof(struct activity_key, node),
               "a key is compared as a whole");

int activity_rows_open(void) {
    return hash_map_start(&row_map, &memory, MAX_ROWS);
}

void activity_rows_forget(void) {
    scratch_free(&memory);
    memset(&row_map, 0, sizeof row_map);
}

static int activity_row_is(uint32_t row, const struct activity_key *k) {
    const struct arena_activity *a = arena_at(row);
    return !memcmp(&a->kind, k, sizeof *k);
}

static int activity_row_has_time(uint32_t kind) {
    return kind != ACTIVITY_ALLOC && kind != ACTIVITY_FREE && kind != ACTIVITY_MEMORY;
}

static int activity_row_has_median(uint32_t kind) {
    return activity_row_has_time(kind) && kind != ACTIVITY_BUSY && kind != ACTIVITY_LINE;
}

/* Gets the histogram and the samples that medians come from. Without memory for the samples they
 * come from the histogram alone. */
static void activity_row_make_samples(struct arena_activity *a) {
    size_t bytes = sizeof(struct arena_samples);
    a->histogram = arena_get(sizeof(struct stint_impl_histogram), ARENA_HISTOGRAM);
    if (!a->histogram) {
        arena_lose(STINT_STATUS_NO_HISTOGRAM, 1);
        return;
    }
    if (activity_kind_has_sizes(a->kind)) {
        bytes = sizeof(struct arena_sizes);
    }
    a->samples = arena_get(bytes, ARENA_HISTOGRAM);
}

static void activity_row_publish(const struct activity_key *k, uint32_t row) {
    struct arena_activity *a = arena_at(row);
    struct arena_header *h = arena_header();
    memcpy(&a->kind, k, sizeof *k);
    if (activity_row_has_time(k->kind)) {
        a->min = UINT64_MAX;
    }
    a->min_bytes = UINT64_MAX;
    if (config.percentiles && activity_row_has_median(k->kind)) {
        activity_row_make_samples(a);
    }
    a->next = h->first_activity;
    __atomic_store_n(&h->first_activity, row, __ATOMIC_RELEASE);
}

uint32_t activity_rows_get(const struct activity_key *k) {
    uint32_t hash = (uint32_t)hash_bytes((const char *)k, sizeof *k);
    struct hash_map_walk walk;
    uint32_t row = hash_map_first(&row_map, hash, &walk);
    while (row != HASH_MAP_NONE && !activity_row_is(row, k)) {
        row = hash_map_next(&row_map, &walk);
    }
    if (row != HASH_MAP_NONE) {
        return row;
    }
    row = 0;
    if (row_map.count < MAX_ROWS) {
        row = arena_get(sizeof(struct arena_activity), ARENA_RECORD);
    }
    if (!row) {
        arena_lose(STINT_STATUS_ACTIVITY_FULL, 1);
        return 0;
    }
    activity_row_publish(k, row);
    hash_map_add(&row_map, hash, row);
    return row;
}

/* ---- The row's members. There is one writer, which reads them by plain loads. */

#define PUT(field, value) STINT_IMPL_PUBLISH(&a->field, value)

/* Before the row's maximum is changed. */
static void activity_row_add_shape(struct arena_activity *a, const struct activity_sample *s,
                                   int first) {
    int other = memcmp(a->shape, s->shape->shape, sizeof a->shape) != 0;
    if (other && !first) {
        PUT(varies, 1);
    }
    for (size_t i = 0; other && (first || s->ns > a->max) && i < sizeof a->shape / sizeof *a->shape;
         ++i) {
        PUT(shape[i], s->shape->shape[i]);
    }
}

/* squares and the returned sum: the bits of a double. */
static uint64_t activity_row_add_square(uint64_t squares, uint64_t value) {
    double sum;
    memcpy(&sum, &squares, sizeof sum);
    sum += (double)value * (double)value;
    memcpy(&squares, &sum, sizeof squares);
    return squares;
}

static void activity_row_add_bounds(struct arena_activity *a, uint64_t min, uint64_t max) {
    if (min < a->min) {
        PUT(min, min);
    }
    if (max > a->max) {
        PUT(max, max);
    }
}

static void activity_row_add_when(struct arena_activity *a, uint64_t from, uint64_t to, int first) {
    if (first || from < a->first_at) {
        PUT(first_at, from);
    }
    if (first || to > a->last_at) {
        PUT(last_at, to);
    }
}

static void activity_row_add_bytes(struct arena_activity *a, uint64_t bytes) {
    PUT(bytes, a->bytes + bytes);
    if (bytes > a->max_bytes) {
        PUT(max_bytes, bytes);
    }
    if (bytes < a->min_bytes) {
        PUT(min_bytes, bytes);
    }
    PUT(byte_squares, activity_row_add_square(a->byte_squares, bytes));
}

/* count: of the samples before. */
static void activity_row_keep(const struct arena_activity *a, uint64_t count, uint64_t ns,
                              uint64_t bytes) {
    struct arena_sizes *sizes = NULL;
    if (!a->samples) {
        return;
    }
    struct arena_samples *samples = arena_at(a->samples);
    if (activity_kind_has_sizes(a->kind)) {
        sizes = arena_at(a->samples);
        uint32_t histogram = a->samples + offsetof(struct arena_sizes, histogram) / STINT_IMPL_UNIT;
        histogram_add(arena.base, histogram, bytes);
    }
    if (count < ARENA_SAMPLES) {
        STINT_IMPL_STORE(&samples->ns[count], ns);
    }
    if (sizes && count < ARENA_SAMPLES) {
        STINT_IMPL_STORE(&sizes->bytes[count], bytes);
    }
}

void activity_rows_add(uint32_t row, const struct activity_sample *s) {
    if (!row) {
        return;
    }
    struct arena_activity *a = arena_at(row);
    uint64_t seq = STINT_IMPL_LOAD(&a->seq);
    STINT_IMPL_STORE(&a->seq, seq + 1);
    if (s->shape) {
        activity_row_add_shape(a, s, !seq);
    }
    PUT(total, a->total + s->ns);
    activity_row_add_bounds(a, s->ns, s->ns);
    PUT(squares, activity_row_add_square(a->squares, s->ns));
    activity_row_add_when(a, s->start, s->start + s->ns, !seq);
    if (s->bytes || activity_kind_has_sizes(a->kind)) {
        activity_row_add_bytes(a, s->bytes);
    }
    activity_row_keep(a, seq / 2, s->ns, s->bytes);
    histogram_add(arena.base, a->histogram, s->ns);
    PUT(seq, seq + 2);
}

/* The count does not change, nor does the sequence word: a reader may see the call in one sum and
 * not yet in the other. */
void activity_rows_launch(uint32_t row, uint64_t call_ns, uint64_t delay_ns) {
    struct arena_activity *a = arena_at(row);
    PUT(launch_total, a->launch_total + call_ns);
    PUT(delay_total, a->delay_total + delay_ns);
    PUT(launches, a->launches + 1);
}

void activity_rows_sum(uint32_t row, const struct sweep_sum *sums) {
    struct arena_activity *a = arena_at(row);
    uint64_t seq = STINT_IMPL_LOAD(&a->seq);
    STINT_IMPL_STORE(&a->seq, seq + 1);
    PUT(total, a->total + sums->total);
    activity_row_add_bounds(a, sums->min, sums->max);
    activity_row_add_when(a, sums->start, sums->end, !seq);
    PUT(seq, seq + 2 * sums->count);
}

void activity_rows_raise(uint32_t row, uint64_t ns) {
    struct arena_activity *a = arena_at(row);
    struct activity_sample s = {.start = a->last_at, .ns = ns};
    if (a->seq) {
        PUT(total, a->total + ns);
    } else {
        activity_rows_add(row, &s);
    }
}

void activity_rows_level(uint32_t row, uint64_t bytes, uint64_t at) {
    struct arena_activity *a = arena_at(row);
    uint64_t seq = STINT_IMPL_LOAD(&a->seq);
    STINT_IMPL_STORE(&a->seq, seq + 1);
    PUT(bytes, bytes);
    if (bytes > a->max_bytes) {
        PUT(max_bytes, bytes);
    }
    activity_row_add_when(a, at, at, !seq);
    PUT(seq, seq + 2);
}
