/* SPDX-License-Identifier: Apache-2.0 */
#include "event_sums.h"

#include <stdio.h>
#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/histogram.h"
#include "gpu.h"
#include "system/config.h"

uint32_t event_sums_new(void) {
    uint32_t unit = arena_get(sizeof(struct arena_gpu), ARENA_RECORD);
    if (unit) {
        struct arena_gpu *g = arena_at(unit);
        g->min = UINT64_MAX;
        if (config.percentiles) {
            g->histogram = arena_get(sizeof(struct stint_impl_histogram), ARENA_HISTOGRAM);
            if (!g->histogram) {
                arena_lose(STINT_STATUS_NO_HISTOGRAM, 1);
            }
        }
    }
    return unit;
}

void event_sums_add(uint32_t sums, uint32_t device, uint64_t ns) {
    struct arena_gpu *g = arena_at(sums);
    uint64_t seq = STINT_IMPL_LOAD(&g->seq);
    STINT_IMPL_STORE(&g->seq, seq + 1);
    STINT_IMPL_PUBLISH(&g->total, g->total + ns);
    if (ns < g->min) {
        STINT_IMPL_PUBLISH(&g->min, ns);
    }
    if (ns > g->max) {
        STINT_IMPL_PUBLISH(&g->max, ns);
    }
    if (seq == 0) {
        STINT_IMPL_PUBLISH(&g->first, ns);
    }
    STINT_IMPL_PUBLISH(&g->device, device);
    histogram_add(arena.base, g->histogram, ns);
    STINT_IMPL_PUBLISH(&g->seq, seq + 2);
}

/* In the list from `unit` on, up to `end`. */
static uint32_t sums_find_device(uint32_t unit, uint32_t end, int number,
                                 const struct gpu_words *words) {
    while (unit != end) {
        const struct arena_device *d = arena_at(unit);
        if (d->number == (uint32_t)number && gpu_words_match(d->words, words)) {
            return unit;
        }
        unit = d->next;
    }
    return 0;
}

static void sums_name_device(struct arena_device *out, int number, const char *known) {
    char name[sizeof out->name] = "";
    if (known[0]) {
        memcpy(name, known, sizeof name - 1);
    } else {
        snprintf(name, sizeof name, "GPU %d", number);
    }
    for (size_t i = 0; i < sizeof name; ++i) {
        STINT_IMPL_STORE(&out->name[i], name[i]);
    }
}

/* Readers may see the record already, if a tracer made it: see sums_device_is_bare. */
static void sums_describe_device(struct arena_device *out, int number, const struct gpu_device *d) {
    uint64_t bytes_per_s = 0, flops_per_s = 0;
    gpu_peak(d, &bytes_per_s, &flops_per_s);
    STINT_IMPL_STORE(&out->bytes_per_s, bytes_per_s);
    STINT_IMPL_STORE(&out->flops_per_s, flops_per_s);
    STINT_IMPL_STORE(&out->multiprocessors, d->multiprocessors);
    STINT_IMPL_STORE(&out->threads_per_mp, d->threads_per_mp);
    STINT_IMPL_STORE(&out->blocks_per_mp, d->blocks_per_mp);
    STINT_IMPL_STORE(&out->registers_per_mp, d->registers_per_mp);
    STINT_IMPL_STORE(&out->shared_per_mp, d->shared_per_mp);
    STINT_IMPL_STORE(&out->reserved_shared, d->reserved_shared);
    sums_name_device(out, number, d->name);
    STINT_IMPL_STORE(&out->minor, d->minor);
    STINT_IMPL_STORE(&out->major, d->major);
}

/* A tracer's records may name a device before it was described. */
static int sums_device_is_bare(const struct arena_device *have, const struct gpu_device *d) {
    return d->major && !STINT_IMPL_LOAD(&have->major);
}

/* Two threads may add a device at once: the second searches what the first has added. */
uint32_t event_sums_device(int number, const struct gpu_words *words, const struct gpu_device *d) {
    if (!arena.base) {
        return 0;
    }
    uint32_t *list = &arena_header()->first_device;
    uint32_t head = __atomic_load_n(list, __ATOMIC_ACQUIRE), seen = 0, unit = 0;
    for (;;) {
        uint32_t found = sums_find_device(head, seen, number, words);
        if (found) {
            if (sums_device_is_bare(arena_at(found), d)) {
                sums_describe_device(arena_at(found), number, d);
            }
            return found;
        }
        if (!unit) {
            unit = arena_get(sizeof(struct arena_device), ARENA_RECORD);
        }
        if (!unit) {
            return 0;
        }
        struct arena_device *out = arena_at(unit);
        if (!out->name[0]) {
            out->number = (uint32_t)number;
            out->words = gpu_words_record(words);
            sums_describe_device(out, number, d);
        }
        out->next = seen = head;
        if (__atomic_compare_exchange_n(list, &head, unit, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            return unit;
        }
    }
}
