/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screens of GPU times of scopes: table, tree, threads, rates against the device's peaks. The
 * times are given by the program, so no GPU and no driver double is needed.
 */
#include "arena/arena.h"
#include "gpu_sums.h"
#include "screens.h"

#define GB ((uint64_t)1000000000)
#define TB (1000 * GB)

static uint32_t device;

/* Adds a GPU time, on a device with the rates of an H200: 3201 MHz x 6144 bit, 132 x 128 lanes at
 * 1980 MHz. It is called in a scope, so that there is an arena. */
static void took(uint64_t ns) {
    device = device ? device : gpu_sums_device("NVIDIA H200", 4916736000000, 66908160000000);
    gpu_took(device, ns);
}

/* A kernel: a launch on the CPU, and `ns` on the GPU. */
static void kernel(const char *name, uint64_t ns, uint64_t bytes, uint64_t flops) {
    REGISTER_TIMER_DYNAMIC(name);
    gpu_does(bytes, flops);
    took(ns);
    fake_advance(6 * US);
}

/* Three steps; step 0 is slower, and copies take longer from step to step. */
static void streams_from(uint64_t first) {
    for (uint64_t i = first; i < first + 3; ++i) {
        REGISTER_TIMER("step");
        took(9 * MS + (i ? 0 : 500 * US));
        {
            REGISTER_TIMER("load");
            gpu_does(64000000, 0); /* no GPU time: by the CPU's */
            fake_advance(4 * MS);
        }
        kernel("copy", 1 * MS + 20 * US * i, 3 * GB, 0);
        kernel("matmul", 2 * MS + 1 * US * i, GB / 10, 100 * TB / 1000);
        kernel("softmax", 5 * MS, 20 * GB, 10 * GB);
        kernel("prefetch", 50 * US, 0, 0);
        fake_advance(300 * US);
    }
    timed("log", 10 * US);
}

static void streams(void) {
    streams_from(0);
}

static void table(void) {
    use_gpu();
    streams();
    stint_report("table");
}

static void tree(void) {
    use_gpu();
    streams();
    stint_report("tree");
}

/* The second one on a GPU of its own, like the first's. */
static void each_thread(void) {
    use_gpu();
    streams();
    device = gpu_sums_device("NVIDIA H200", 4916736000000, 66908160000000);
    beside(streams);
    on_a_thread(streams);
    stint_report("table,threads,sort=gpu_total,top=5");
}

static void since_reset(void) {
    use_gpu();
    streams_from(3);
    stint_reset();
    streams_from(1);
    stint_report("table");
    stint_report("tree");
    stint_reset();
    timed("log", 10 * US);
    stint_report("table"); /* nothing of a GPU in this interval */
}

static void sorted(void) {
    use_gpu();
    streams();
    stint_report("table,sort=gpu_calls,top=2");
    stint_report("tree,sort=gpu_max,top=3");
    stint_report("table,sort=gpu_p99,top=1");
}

static void two_kinds(void) {
    use_gpu();
    timed("open", 0);
    device = gpu_sums_device("Orin (nvgpu)", 0, 0);
    kernel("matmul", 2 * MS, GB / 10, 100 * TB / 1000);
    device = gpu_sums_device("A\x1b[2J", 500 * GB, 0); /* its operations are unknown */
    kernel("copy", 2 * MS, GB / 10, 100 * TB / 1000);
    device = gpu_sums_device("B", 0, 9 * TB);
    kernel("scale", 2 * MS, GB / 10, TB / 1000);
    device = gpu_sums_device("never measured", 500 * GB, 0);
    stint_report("table,top=3");
}

static void cpu_rates(void) {
    {
        REGISTER_TIMER("memcpy");
        fake_advance(MS);
        for (int i = 0; i < 4; ++i) {
            gpu_does(2500000, 0);
        }
        {
            REGISTER_TIMER("dot"); /* its own operations only, over its time */
            gpu_does(0, 1234567);
            fake_advance(MS);
        }
        timed("plain", 7);
    }
    {
        REGISTER_TIMER("slow");
        gpu_does(1000, 1);
        fake_advance(1 * SEC);
    }
    stint_report("table");
    stint_report("tree");
}

static void sync_mode(void) {
    use_gpu();
    kernel("matmul", 2 * MS, 0, 0);
    stint_report("table");
}

static void in_flight(void) {
    use_gpu();
    kernel("matmul", 2 * MS, 0, 0);
    arena_header()->gpu_in_flight = 1;
    stint_report("table");
    arena_header()->gpu_in_flight = 1000;
    stint_report("tree");
}

static void losses(void) {
    for (int i = 0; i < 2; ++i) {
        for (uint32_t k = STINT_STATUS_GPU_DROPPED; k <= STINT_STATUS_NO_SCOPE; ++k) {
            arena_lose((enum stint_status)k, i ? 999 : 1);
        }
        stint_report("legacy");
    }
}

static void steps(void) {
    stint_timer step = {{0, 0}};
    timed("forward", 75 * MS);
    arena_header()->steps = 1; /* the first has no sample */
    for (uint64_t i = 0; i < 999; ++i) {
        TIMER_BEGIN(step, "stint_step"); /* as stint_step() does */
        timed("forward", 70 * MS);
        fake_advance(5 * MS + i * 10 * US);
        TIMER_END(step);
        ++arena_header()->steps;
    }
    stint_report("table");
    stint_reset();
    timed("forward", 70 * MS);
    arena_header()->steps += 990; /* not recorded: closed by a schedule */
    stint_report("table");
    TIMER_BEGIN(step, "stint_step");
    fake_advance(4 * MS);
    TIMER_END(step);
    ++arena_header()->steps;
    stint_report("tree");
}

const struct screen gpu_screens[] = {{"gpu_table", table},
                                     {"gpu_tree", tree},
                                     {"gpu_threads", each_thread},
                                     {"gpu_reset", since_reset},
                                     {"gpu_sort", sorted},
                                     {"gpu_percentiles_off", table},
                                     {"gpu_peak_unknown", two_kinds},
                                     {"gpu_peak_given", table},
                                     {"gpu_cpu_rates", cpu_rates},
                                     {"gpu_sync", sync_mode},
                                     {"gpu_in_flight", in_flight},
                                     {"gpu_losses", losses},
                                     {"gpu_steps", steps},
                                     {NULL, NULL}};
