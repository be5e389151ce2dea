/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels, copies and API calls, put into the arena by hand: what readers of it make of them needs
 * no tracer.
 */
#ifndef STINT_TESTS_GPU_ACTIVITIES_H
#define STINT_TESTS_GPU_ACTIVITIES_H

#include "arena/activity_kind.h"
#include "gpu_sums.h"

struct gpu_shape {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t registers, shared_static, shared_dynamic;
};

/* A row for the innermost open scope, on a device (units, 0 = none) and stream. name: NULL =
 * none. */
GPU_SUMS struct arena_activity *gpu_activity(uint32_t kind, uint32_t detail, const char *name,
                                             uint32_t device, uint32_t stream) {
    uint32_t unit = arena_get(sizeof(struct arena_activity), ARENA_RECORD);
    struct arena_activity *a = arena_at(unit);
    a->kind = kind;
    a->detail = detail;
    a->name = name ? arena_text_put(name, strlen(name)) : 0;
    a->node = stint_impl_thread_here ? stint_impl_thread_here->top->node : 0;
    a->device = device;
    a->context = device ? 1 : 0;
    a->stream = stream;
    a->min = UINT64_MAX;
    a->min_bytes = UINT64_MAX;
    if (config.percentiles) {
        int sizes = activity_kind_has_sizes(kind);
        a->histogram = arena_get(sizeof(struct stint_impl_histogram), ARENA_HISTOGRAM);
        a->samples = arena_get(sizes ? sizeof(struct arena_sizes) : sizeof(struct arena_samples),
                               ARENA_HISTOGRAM);
    }
    a->next = arena_header()->first_activity;
    __atomic_store_n(&arena_header()->first_activity, unit, __ATOMIC_RELEASE);
    return a;
}

/* Sums of squares of rows, exact: the library adds up doubles. */
__extension__ typedef unsigned __int128 gpu_activity_wide;
struct gpu_activity_exact {
    const struct arena_activity *row;
    gpu_activity_wide ns, bytes;
};

GPU_SUMS struct gpu_activity_exact *gpu_activity_exact_of(const struct arena_activity *a) {
    static struct gpu_activity_exact rows[4096];
    size_t i = 0;
    while (rows[i].row && rows[i].row != a && i < sizeof rows / sizeof *rows - 1) {
        ++i;
    }
    if (rows[i].row != a || !a->seq) { /* not known, or of an earlier arena */
        rows[i] = (struct gpu_activity_exact){.row = a};
    }
    return &rows[i];
}

/* The bits of a double. */
GPU_SUMS uint64_t gpu_activity_round(gpu_activity_wide exact) {
    double rounded = (double)exact;
    uint64_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

GPU_SUMS void gpu_activity_keep(struct arena_activity *a, uint64_t ns, uint64_t bytes) {
    uint64_t i = a->seq / 2;
    if (i < ARENA_SAMPLES) {
        ((struct arena_samples *)arena_at(a->samples))->ns[i] = ns;
    }
    if (activity_kind_has_sizes(a->kind)) {
        struct arena_sizes *sizes = arena_at(a->samples);
        sizes->bytes[i % ARENA_SAMPLES] = bytes;
        ++sizes->histogram.bucket[stint_impl_bucket(bytes)];
    }
}

/* Counts one more activity of `ns` and `bytes` in `a`; its sums are not rounded. */
GPU_SUMS void gpu_activity_took(struct arena_activity *a, uint64_t ns, uint64_t bytes) {
    struct gpu_activity_exact *exact = gpu_activity_exact_of(a);
    exact->ns += (gpu_activity_wide)ns * ns;
    exact->bytes += (gpu_activity_wide)bytes * bytes;
    a->squares = gpu_activity_round(exact->ns);
    a->byte_squares = gpu_activity_round(exact->bytes);
    if (a->samples) {
        gpu_activity_keep(a, ns, bytes);
    }
    a->seq += 2;
    a->total += ns;
    a->min = ns < a->min ? ns : a->min;
    a->max = ns > a->max ? ns : a->max;
    a->bytes += bytes;
    a->max_bytes = bytes > a->max_bytes ? bytes : a->max_bytes;
    a->min_bytes = bytes < a->min_bytes ? bytes : a->min_bytes;
    histogram_add(arena.base, a->histogram, ns);
}

/* Adds to `a` that `n` were launched, by calls of `call_ns` in all, and waited `delay_ns`. */
GPU_SUMS void gpu_activity_launched(struct arena_activity *a, uint64_t n, uint64_t call_ns,
                                    uint64_t delay_ns) {
    a->launches += n;
    a->launch_total += call_ns;
    a->delay_total += delay_ns;
}

GPU_SUMS void gpu_activity_shape(struct arena_activity *a, const struct gpu_shape *s) {
    memcpy(a->grid, s->grid, sizeof a->grid);
    memcpy(a->block, s->block, sizeof a->block);
    a->registers = s->registers;
    a->shared_static = s->shared_static;
    a->shared_dynamic = s->shared_dynamic;
}

/* A device with the limits of an H100, of compute capability 9.0. */
GPU_SUMS uint32_t gpu_activities_device(uint32_t number) {
    uint32_t unit = gpu_sums_device("NVIDIA H100", 3352320000000, 66908160000000);
    struct arena_device *d = arena_at(unit);
    d->number = number;
    d->major = 9;
    d->multiprocessors = 132;
    d->threads_per_mp = 2048;
    d->blocks_per_mp = 32;
    d->registers_per_mp = 65536;
    d->shared_per_mp = 233472;
    d->reserved_shared = 1024;
    return unit;
}

#endif
