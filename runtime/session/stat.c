/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading single statistics.
 */
#include <pthread.h>
#include <string.h>

#include "base/api.h"
#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/errno_keep.h"
#include "base/name.h"
#include "base/scratch.h"
#include "interval.h"
#include "read/baseline.h"
#include "read/rows.h"

static void stat_fill(const struct stint_row *r, stint_stat *out) {
    memset(out, 0, sizeof *out);
    out->calls = r->calls;
    out->samples = r->samples;
    out->total_ns = r->total_ns;
    out->self_ns = r->self_ns;
    out->min_ns = r->min_ns;
    out->max_ns = r->max_ns;
    out->first_ns = r->first_ns;
    out->p50_ns = r->p50_ns;
    out->p90_ns = r->p90_ns;
    out->p99_ns = r->p99_ns;
    out->gpu_calls = r->gpu_calls;
    out->gpu_total_ns = r->gpu_total_ns;
    out->gpu_min_ns = r->gpu_min_ns;
    out->gpu_max_ns = r->gpu_max_ns;
    out->gpu_p50_ns = r->gpu_p50_ns;
    out->gpu_p99_ns = r->gpu_p99_ns;
    out->device_calls = r->device_calls;
    out->device_total_ns = r->device_total_ns;
    out->bytes = r->bytes;
    out->flops = r->flops;
    out->threads = (uint32_t)r->threads;
    out->stddev_ns = r->stddev_ns;
    out->total_error_ns = r->total_error_ns;
    out->self_error_ns = r->self_error_ns;
    memcpy(out->info, r->info, strnlen(r->info, sizeof out->info - 1));
}

/* A program built with an older header has a smaller stint_stat, one built with a newer header a
 * larger one. */
static void stat_copy(void *out, size_t size, const stint_stat *stat) {
    size_t known = u64_min(size, sizeof *stat);
    memcpy(out, stat, known);
    memset((char *)out + known, 0, size - known);
}

int stint_set_stat_get(stint_set *set, const char *name, stint_stat *out, size_t size) {
    ERRNO_KEEP;
    int result = -1;
    uint32_t id = stint_impl_set_id(set);
    struct snapshot s;
    struct rows rows;
    if (name && out && !interval_open(&s, 0)) {
        if (!rows_flat(&rows, &s, 0)) {
            for (uint32_t i = 0; i < rows.count && result; ++i) {
                const struct stint_row *r = &rows.row[i];
                if (r->set == id && (r->calls || r->gpu_calls || r->device_calls) &&
                    name_is(r->name, r->name_length, name)) {
                    stint_stat stat;
                    stat_fill(r, &stat);
                    stat_copy(out, size, &stat);
                    result = 0;
                }
            }
        }
        interval_close(&s);
    }
    return result;
}

int stint_stat_get(const char *name, stint_stat *out, size_t size) {
    return stint_set_stat_get(NULL, name, out, size);
}

/* ---- Storage of the calling thread. Not thread-local data: that has to fit into the small reserve
 * of the dynamic loader if the library is loaded late or into another namespace. */

#define OWN_SIZE 512 /* bytes; more than a stint_stat, for programs built with a newer header */

static pthread_key_t own_key;
static int has_own_key;

static void own_free(void *own) {
    pages_put(own, OWN_SIZE);
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
    own = pages_get(OWN_SIZE);
    if (own && pthread_setspecific(own_key, own)) {
        own_free(own);
        own = NULL;
    }
    return own;
}

const stint_stat *stint_stat_here(const char *name, size_t size) {
    if (size > OWN_SIZE) {
        return NULL;
    }
    stint_stat *own = own_get();
    if (!own || stint_set_stat_get(NULL, name, own, size)) {
        return NULL;
    }
    return own;
}

void stint_reset(void) {
    ERRNO_KEEP;
    interval_reset(BASELINE_ALL_SETS);
}

void stint_set_reset(stint_set *set) {
    ERRNO_KEEP;
    interval_reset(stint_impl_set_id(set));
}

uint64_t stint_now_us(void) {
    ERRNO_KEEP;
    return clock_ns() / 1000;
}
