/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading single statistics, and starting a new interval: called by the program. Each call takes a
 * snapshot of the interval, finds one row in it by set and name, and copies what was asked for;
 * nothing of the snapshot is kept. Lists of statistics are in stat_walk.c.
 */
#include <pthread.h>
#include <string.h>

#include "base/api.h"
#include "base/arithmetic.h"
#include "base/histogram.h"
#include "base/name.h"
#include "base/scratch.h"
#include "interval.h"
#include "model/baseline.h"
#include "stat_fill.h"
#include "system/clock.h"
#include "system/log.h"

/* A member of stint_stat that is a number of a row, or the largest one that it has room for. */
struct stat_member {
    size_t at;
    struct row_field field;
};

#include "stat_members.inc"

void stat_fill(const struct stint_row *r, stint_stat *out) {
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof stat_members / sizeof *stat_members; ++i) {
        const struct stat_member *m = &stat_members[i];
        *(uint64_t *)(void *)((char *)out + m->at) = u128_narrow(row_number(r, m->field));
    }
    out->threads = (uint32_t)r->threads;
    if (r->beyond) {
        out->stddev_ns = STINT_NS_UNKNOWN;
    }
    memcpy(out->info, r->info, strnlen(r->info, sizeof out->info - 1));
}

/* A program built with an older header has a smaller stint_stat, one built with a newer header a
 * larger one. */
static void stat_put(void *out, size_t size, const struct stint_row *r) {
    stint_stat stat;
    if (size == sizeof stat) {
        stat_fill(r, out);
        return;
    }
    size_t known = u64_min(size, sizeof stat);
    stat_fill(r, &stat);
    memcpy(out, &stat, known);
    memset((char *)out + known, 0, size - known);
}

/* One statistic of the interval, which is open until interval_close. */
struct stat_place {
    struct snapshot s;
    struct rows rows;
    uint32_t row;
};

/* STINT_OK, or why there is no such statistic; then nothing is open. */
static int stat_open(struct stat_place *p, uint32_t set, const char *name) {
    if (!name) {
        return STINT_ERROR_UNKNOWN;
    }
    int failed = interval_open_name(&p->s, set, name);
    if (failed) {
        return failed < 0 ? STINT_ERROR_NO_MEMORY : STINT_ERROR_UNKNOWN;
    }
    if (rows_flat(&p->rows, &p->s, 0)) {
        interval_close(&p->s);
        return STINT_ERROR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < p->rows.count; ++i) {
        const struct stint_row *r = &p->rows.row[i];
        if (r->set == set && row_is_called(r) && name_is(r->name, r->name_length, name)) {
            p->row = i;
            return STINT_OK;
        }
    }
    interval_close(&p->s);
    return STINT_ERROR_UNKNOWN;
}

int stint_set_stat_get(stint_set *set, const char *name, stint_stat *out, size_t size) {
    FUNCTION_KEEP;
    struct stat_place p;
    if (!out) {
        return STINT_ERROR_UNKNOWN;
    }
    int result = stat_open(&p, stint_impl_set_id(set), name);
    if (!result) {
        stat_put(out, size, &p.rows.row[p.row]);
        interval_close(&p.s);
    }
    return result;
}

uint64_t stint_stat_quantile(stint_set *set, const char *name, unsigned permille) {
    FUNCTION_KEEP;
    struct stat_place p;
    uint64_t ns = STINT_NS_UNKNOWN;
    if (!stat_open(&p, stint_impl_set_id(set), name)) {
        if (rows_quantile(&ns, &p.rows, p.row, permille)) {
            ns = STINT_NS_UNKNOWN;
        }
        interval_close(&p.s);
    }
    return ns;
}

/* The first whole nanosecond of a bucket, so that neighbours share their bound. */
static uint64_t bucket_low_ns(const struct snapshot *s, const struct histogram *h,
                              uint32_t bucket) {
    if (h->in_ns) {
        return histogram_low(bucket);
    }
    return snapshot_ns(s, histogram_low(bucket));
}

/* Returns how many buckets have a call, of which the first `room` are written. */
static int buckets_copy(const struct snapshot *s, const struct histogram *h, uint64_t max_ns,
                        stint_bucket *out, size_t room) {
    size_t used = 0;
    HISTOGRAM_EACH(h, i) {
        if (!h->bucket[i]) {
            continue;
        }
        if (used < room) {
            uint64_t end = bucket_low_ns(s, h, i + 1);
            if (h->open && i + 1 >= h->open) {
                end = u64_max(end, saturating_add(max_ns, 1));
            }
            out[used] = (stint_bucket){bucket_low_ns(s, h, i), end, h->bucket[i]};
        }
        ++used;
    }
    return (int)used;
}

int stint_stat_histogram(stint_set *set, const char *name, stint_bucket *buckets, size_t n) {
    FUNCTION_KEEP;
    struct stat_place p;
    if (!buckets && n) {
        return STINT_ERROR_UNKNOWN;
    }
    int result = stat_open(&p, stint_impl_set_id(set), name);
    if (result) {
        return result;
    }
    struct histogram *h = scratch_get(&p.s.memory, sizeof *h);
    if (!h) {
        result = STINT_ERROR_NO_MEMORY;
    } else if (!rows_histogram(h, &p.rows, p.row, 0)) {
        result = buckets_copy(&p.s, h, p.rows.row[p.row].max_ns, buckets, n);
    }
    interval_close(&p.s);
    return result;
}

int stint_stat_get(const char *name, stint_stat *out, size_t size) {
    return stint_set_stat_get(NULL, name, out, size);
}

/* ---- Storage of the calling thread. Not thread-local data: that has to fit into the small reserve
 * of the dynamic loader if the library is loaded late or into another namespace. */

static pthread_key_t own_key;
static int has_own_key;

static void own_free(void *own) {
    pages_put(own, STAT_ROOM);
}

__attribute__((constructor)) static void own_prepare(void) {
    has_own_key = !pthread_key_create(&own_key, own_free);
}

static stint_stat *own_get(void) {
    if (!has_own_key) {
        return NULL;
    }
    stint_stat *own = pthread_getspecific(own_key);
    if (own) {
        return own;
    }
    own = pages_get(STAT_ROOM);
    if (own && pthread_setspecific(own_key, own)) {
        own_free(own);
        own = NULL;
    }
    return own;
}

const stint_stat *stint_stat_here(const char *name, size_t size) {
    if (size > STAT_ROOM) {
        return NULL;
    }
    stint_stat *own = own_get();
    if (!own || stint_set_stat_get(NULL, name, own, size)) {
        return NULL;
    }
    return own;
}

void stint_reset(void) {
    FUNCTION_KEEP;
    interval_reset(BASELINE_ALL_SETS);
}

void stint_set_reset(stint_set *set) {
    FUNCTION_KEEP;
    interval_reset(stint_impl_set_id(set));
}

uint64_t stint_now_us(void) {
    FUNCTION_KEEP;
    return clock_ns() / 1000;
}
