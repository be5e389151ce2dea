/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU times and declared work, put into the arena by hand: what readers of it make of them needs no
 * GPU and no event.
 */
#ifndef STINT_TESTS_GPU_SUMS_H
#define STINT_TESTS_GPU_SUMS_H

#include <string.h>

#include "arena/arena.h"
#include "base/histogram.h"
#include "fake_clock.h"
#include "gpu/cuda_codes.h"
#include "stint/stint.h"
#include "system/config.h"

#define GPU_SUMS static inline __attribute__((unused))

/* The node of the innermost open scope of this thread. */
GPU_SUMS struct stint_impl_node *gpu_sums_node(void) {
    return arena_at(stint_impl_thread_here->top->node);
}

/* A device, in units; peaks 0 = unknown. */
GPU_SUMS uint32_t gpu_sums_device(const char *name, uint64_t bytes_per_s, uint64_t flops_per_s) {
    uint32_t unit = arena_get(sizeof(struct arena_device), ARENA_RECORD);
    struct arena_device *d = arena_at(unit);
    strncpy(d->name, name, sizeof d->name - 1);
    d->bytes_per_s = bytes_per_s;
    d->flops_per_s = flops_per_s;
    d->words = gpu_words_record(&cuda_words);
    d->next = arena_header()->first_device;
    __atomic_store_n(&arena_header()->first_device, unit, __ATOMIC_RELEASE);
    return unit;
}

/* Adds one sample of `ns` on `device` to a node. */
GPU_SUMS void gpu_sums_add(struct stint_impl_node *n, uint32_t device, uint64_t ns) {
    if (!n->gpu) {
        uint32_t unit = arena_get(sizeof(struct arena_gpu), ARENA_RECORD);
        struct arena_gpu *new = arena_at(unit);
        new->min = UINT64_MAX;
        new->histogram = config.percentiles
                             ? arena_get(sizeof(struct stint_impl_histogram), ARENA_HISTOGRAM)
                             : 0;
        STINT_IMPL_PUBLISH(&n->gpu, unit);
    }
    struct arena_gpu *g = arena_at(n->gpu);
    g->first = g->seq ? g->first : ns;
    g->seq += 2;
    g->total += ns;
    g->min = ns < g->min ? ns : g->min;
    g->max = ns > g->max ? ns : g->max;
    g->device = device;
    histogram_add(arena.base, g->histogram, ns);
}

/* The innermost open scope took `ns` on the GPU; does so much work. */
GPU_SUMS void gpu_took(uint32_t device, uint64_t ns) {
    gpu_sums_add(gpu_sums_node(), device, ns);
}

GPU_SUMS void gpu_does(uint64_t bytes, uint64_t flops) {
    struct stint_impl_node *n = gpu_sums_node();
    STINT_IMPL_STORE(&n->bytes, n->bytes + bytes);
    STINT_IMPL_STORE(&n->flops, n->flops + flops);
}

/* Two devices, and a scope on the newer one with another in it that names none. */
GPU_SUMS void gpu_sums_record(void) {
    REGISTER_TIMER("kernel");
    gpu_sums_device("first GPU", 1000000, 0);
    gpu_took(gpu_sums_device("second GPU", 3000000000, 7000000000000), 400);
    gpu_took(arena_header()->first_device, 500);
    gpu_does(1200, 2700000);
    fake_advance(2);
    {
        REGISTER_TIMER("copy");
        gpu_took(0, 90);
        gpu_does(64, 0);
    }
    arena_header()->gpu_in_flight = 3;
    arena_header()->steps = 11;
}

#endif
