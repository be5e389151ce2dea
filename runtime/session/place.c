/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <stddef.h>

#include "about.h"
#include "arena/arena.h"
#include "record/registry.h"
#include "system/launch.h"
#include "system/log.h"

/* The record of the place in a job, made if need be; NULL without room. */
static struct arena_job *place_get(void) {
    uint32_t unit = arena_header()->job;
    if (!unit) {
        unit = arena_get(sizeof(struct arena_job), ARENA_RECORD);
        STINT_IMPL_PUBLISH(&arena_header()->job, unit);
    }
    return unit ? arena_at(unit) : NULL;
}

/* The place in a parallel job; a process outside one has no record of it. */
void place_fill(void) {
    struct launch launch;
    launch_read(&launch);
    if (*launch.wrong) {
        log_warning("%s", launch.wrong);
    }
    if (launch.rank < 0) {
        return;
    }
    struct arena_job *job = place_get();
    if (job) {
        job->size = launch.size;
        job->local = (uint32_t)(launch.local + 1);
        if (*launch.job) {
            job->id = about_put_text(launch.job);
        }
    }
    arena_header()->about.rank = (uint32_t)(launch.rank + 1);
}

struct arena_job *place_record(void) {
    struct arena_job *job = NULL;
    if (registry_held()) {
        return NULL;
    }
    registry_lock();
    if (arena.base) {
        job = place_get();
    }
    registry_unlock();
    return job;
}

/* Keeps what a launcher said. */
void place_rank_seen(uint32_t rank, uint32_t size) {
    if (rank >= LAUNCH_RANK_MAX || registry_held()) {
        return;
    }
    registry_lock();
    if (arena.base) {
        uint32_t *known = &arena_header()->about.rank;
        struct arena_job *job = place_get();
        if (!*known) {
            __atomic_store_n(known, rank + 1, __ATOMIC_RELAXED);
        }
        if (job && !job->size && *known <= size) {
            __atomic_store_n(&job->size, size, __ATOMIC_RELAXED);
        }
    }
    registry_unlock();
}
