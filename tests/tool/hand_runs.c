/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of the golden files (hand_run.h lists them). Their names contain everything that is
 * special to one of the formats.
 */
#include <string.h>

#include "arena/activity_kind.h"
#include "hand_run.h"

#define MS 1000000u

const char *const hand_run_names[] = {"full", "tree", "empty", "zero", "gpu", NULL};

/* Each is something else to some format: quotes, lines, separators, formulas, markup, controls,
 * other scripts, and bytes that are no UTF-8 (too long a form, a surrogate, cut off). */
static const char *const hostile[] = {
    "quote\" back\\slash",
    "two\nlines\r\n\ttab",
    "semi;colon, comma",
    "=cmd|'/C calc'!A0",
    "</script><!--",
    "bell\a \x1b[31m\x7f",
    "\xf0\x9f\x98\x80 \xe4\xb8\xad\xe6\x96\x87 \xe2\x80\xa8",
    "bad \xff \xc0\xaf \xed\xa0\x80 \xe4\xb8",
};
#define HOSTILE (sizeof hostile / sizeof *hostile)

static uint32_t named(struct hand_run *h, const char *name) {
    return hand_site(h, name, strlen(name));
}

static void head(struct hand_run *h) {
    struct run *r = &h->run;
    r->program = "train";
    r->command = "./train --name \"a b\" \xff";
    r->host = "node7";
    r->cpu = "Example CPU";
    r->compiler = "gcc 12.2.0";
    r->clock = "tsc";
    r->gpu = "";
    r->pid = 4242;
    r->parent_pid = 4200;
    r->cpus = 8;
    r->start_real_ns = 1700000000000000000;
    r->state = RUN_KILLED;
    strcpy(r->warning, "cut off at 1048576 of 2097152 bytes");
    r->snapshot.steps = 3;
    r->snapshot.gpu_in_flight = 1;
    r->snapshot.lost[STINT_STATUS_TOO_DEEP] = 7;
    r->snapshot.lost[STINT_STATUS_STRAY_END] = 1;
}

struct nodes {
    uint32_t main, worker, step, load, forward, work, hung, handle, hostile[HOSTILE];
};

static void gpu_times(struct hand_run *h, uint32_t node) {
    static const struct measures measures = {.groups = 1u << MEASURE_GROUP_DECLARED |
                                                       1u << MEASURE_GROUP_GPU,
                                             .bytes = 1u << 30,
                                             .flops = 2000000000,
                                             .gpu_calls = 2,
                                             .gpu_total_ns = 12 * MS,
                                             .gpu_min_ns = 5 * MS,
                                             .gpu_max_ns = 7 * MS};
    h->nodes[node].measures = &measures;
    snapshot_extra_of(&h->run.snapshot, node)->gpu.device = 0;
    h->run.snapshot.device_count = 1;
    strcpy(h->run.snapshot.devices[0].name, "Example GPU");
    h->run.snapshot.devices[0].bytes_per_s = 3350000000000;
    h->run.snapshot.devices[0].flops_per_s = 67000000000000;
}

static struct nodes tree(struct hand_run *h) {
    struct nodes n;
    uint32_t step = named(h, "step"), load = named(h, "step.load"), fwd = named(h, "step.forward");
    uint32_t other = hand_set(h, "set \"two\"");
    h->sites[step].file = "src/train.c";
    h->sites[step].line = 12;
    n.main = hand_thread(h, 4242, "main");
    n.step = hand_node(h, n.main, step, 3, 90 * MS, 1);
    n.load = hand_node(h, n.step, load, 3, 30 * MS, 1);
    n.forward = hand_node(h, n.step, fwd, 3, 45 * MS, 0);
    strcpy(snapshot_extra_of(&h->run.snapshot, n.load)->info, "=batch,\"7\"");
    h->nodes[n.forward].recursions = 4;
    gpu_times(h, n.forward);
    for (size_t i = 0; i < HOSTILE; ++i) {
        n.hostile[i] = hand_node(h, n.main, named(h, hostile[i]), 1, (i + 1) * MS, 0);
        h->nodes[n.hostile[i]].set = (uint16_t)(i % 2 ? other : 0);
    }
    n.handle = hand_node(h, n.main, named(h, "request"), 2, 100 * MS, 0);
    h->nodes[n.handle].kind = STINT_IMPL_INTERVAL_NODE;
    n.worker = hand_thread(h, 4243, "io;\xff");
    n.work = hand_node(h, n.worker, named(h, "work"), 0, 0, 0);
    n.hung = hand_node(h, n.work, step, 2, 20 * MS, 0); /* the name of another thread's root */
    hand_open(h, n.work, 900 * MS);
    hand_open(h, n.hung, 400 * MS);
    return n;
}

static void main_lane(struct hand_run *h, const struct nodes *n, uint32_t counter) {
    hand_lane(h, n->main, "main");
    hand_mark(h, named(h, "epoch"), 0);
    hand_span(h, n->step, 0, 30 * MS, 0);
    hand_span(h, n->load, 0, 10 * MS, 1);          /* starts with its parent */
    hand_span(h, n->forward, 10 * MS, 20 * MS, 1); /* ends with it */
    hand_value(h, counter, 12 * MS, 0.25);
    hand_span(h, n->step, 30 * MS, 30 * MS, 0);
    hand_span(h, n->load, 30 * MS + 1, 0, 1); /* no time at all, side by side … */
    hand_span(h, n->load, 30 * MS + 1, 0, 1);
    hand_span(h, n->load, 30 * MS + 1, 0, 2); /* … and one in the other */
    hand_value(h, counter, 40 * MS, -1e300);
    hand_span(h, n->forward, 40 * MS, 20 * MS + 1, 1); /* rounding: a nanosecond over its parent */
    for (size_t i = 0; i < HOSTILE; ++i) {
        hand_span(h, n->hostile[i], 100 * MS + i * 10 * MS, 999, 0);
    }
}

static void full(struct hand_run *h) {
    head(h);
    struct nodes n = tree(h);
    uint32_t counter = named(h, "loss");
    main_lane(h, &n, counter);
    h->lanes[0].overwritten = 5;
    hand_lane(h, n.worker, "io;\xff");
    hand_span(h, n.hung, 123456789, 1, 0);
    hand_value(h, counter, 123456790, 3);
    hand_lane(h, n.main, "main: intervals"); /* beside the scopes of its thread */
    hand_span(h, n.handle, 5 * MS, 60 * MS, 0);
    hand_lane(h, SNAPSHOT_NONE, "stream 7");
    hand_span(h, n.forward, 11 * MS, 5 * MS, 0);
    hand_lane(h, SNAPSHOT_NONE, "stream 7 (2)"); /* what overlaps */
    hand_span(h, n.forward, 14 * MS, 7 * MS, 0);
}

static void zero(struct hand_run *h) {
    uint32_t root = hand_thread(h, 0, "");
    hand_node(h, root, named(h, "never"), 0, 0, 0);
    h->nodes[hand_node(h, root, named(h, "recursive"), 0, 0, 0)].recursions = 2;
    hand_node(h, root, named(h, "quick"), 5, 0, 0);
    hand_thread(h, 1, "idle");
    h->run.snapshot.wall_ns = 0;
}

/* Takes the GPU out of an activity and returns its number. */
static uint32_t of_host(struct hand_run *h, uint32_t activity) {
    h->activities[activity].device = SNAPSHOT_NONE;
    h->activities[activity].context = h->activities[activity].stream = 0;
    return activity;
}

static void gpu_calls(struct hand_run *h, uint32_t step, uint32_t load) {
    of_host(h, hand_activity(h, ACTIVITY_API, 0, "cudaMemcpyAsync", load, 8, 80000, 0));
    of_host(h, hand_activity(h, ACTIVITY_API, 0, "cudaMemcpyAsync", step, 2, 30000, 0));
    of_host(h, hand_activity(h, ACTIVITY_API, 0, "cudaLaunchKernel", step, 6, 36000, 0));
    of_host(h, hand_activity(h, ACTIVITY_DRIVER, 0, "cuCtxSynchronize", SNAPSHOT_NONE, 1, 900, 0));
    of_host(h, hand_activity(h, ACTIVITY_OVERHEAD, 1u << 16, "overhead buffer flush", SNAPSHOT_NONE,
                             3, 4500, 0));
    hand_activity(h, ACTIVITY_SYNC, ACTIVITY_SYNC_STREAM, "", step, 3, 21 * MS, 0);
    hand_activity(h, ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, "", load, 2, 0, 3u << 20);
    hand_activity(h, ACTIVITY_FREE, ACTIVITY_MEMORY_DEVICE, "", load, 1, 0, 1u << 20);
}

/* Returns the activity of the memory of GPU 0. */
static uint32_t gpu_devices(struct hand_run *h, uint32_t step) {
    hand_activity(h, ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, "", SNAPSHOT_NONE, 5, 50 * MS, 0);
    hand_activity(h, ACTIVITY_BUSY, ACTIVITY_BUSY_KERNEL, "", SNAPSHOT_NONE, 4, 40 * MS, 0);
    hand_activity(h, ACTIVITY_BUSY, ACTIVITY_BUSY_COPY, "", SNAPSHOT_NONE, 3, 14 * MS, 0);
    hand_activity(h, ACTIVITY_BUSY, ACTIVITY_BUSY_OVERLAP, "", SNAPSHOT_NONE, 2, 4 * MS, 0);
    hand_activity(h, ACTIVITY_GAP, ACTIVITY_GAP_HOST_LATE, "", step, 3, 9 * MS, 0);
    hand_activity(h, ACTIVITY_GAP, ACTIVITY_GAP_COPY, "", SNAPSHOT_NONE, 1, 2 * MS, 0);
    of_host(h,
            hand_activity(h, ACTIVITY_STEP, ACTIVITY_STEP_WALL, "", SNAPSHOT_NONE, 3, 90 * MS, 0));
    hand_activity(h, ACTIVITY_STEP, ACTIVITY_STEP_BUSY, "", SNAPSHOT_NONE, 3, 45 * MS, 0);
    uint32_t memory = hand_activity(h, ACTIVITY_MEMORY, 0, "", SNAPSHOT_NONE, 1, 0, 2u << 20);
    h->activities[memory].max_bytes = 3u << 20;
    return memory;
}

struct works {
    uint32_t gemm, hostile, load, back, fill;
};

static struct works gpu_works(struct hand_run *h, uint32_t forward, uint32_t load) {
    static const struct snapshot_activity grid = {.grid = {132, 2, 1}, .block = {256, 1, 1}};
    struct works w;
    w.gemm =
        hand_activity(h, ACTIVITY_KERNEL, 0, "sm90_gemm<float>(float*)", forward, 4, 30 * MS, 0);
    memcpy(h->activities[w.gemm].grid, grid.grid, sizeof grid.grid);
    memcpy(h->activities[w.gemm].block, grid.block, sizeof grid.block);
    h->activities[w.gemm].registers = 64;
    h->activities[w.gemm].shared_static = 4096;
    h->activities[w.gemm].launches = 3;
    h->activities[w.gemm].launch_total = 18000;
    h->activities[w.gemm].delay_total = 9000;
    w.hostile = hand_activity(h, ACTIVITY_KERNEL, 0, "=k \"q\", </script>\n\xff", SNAPSHOT_NONE, 2,
                              10 * MS, 0);
    h->activities[w.hostile].varies = 1;
    w.load = hand_activity(h, ACTIVITY_COPY,
                           ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_HTOD, ACTIVITY_MEMORY_PAGEABLE,
                                                ACTIVITY_MEMORY_DEVICE, 0),
                           "", load, 8, 8 * MS, 8u << 20);
    w.back = hand_activity(
        h, ACTIVITY_COPY,
        ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_DTOH, ACTIVITY_MEMORY_DEVICE, ACTIVITY_MEMORY_PINNED, 1),
        "", forward, 2, 4 * MS, 4u << 20);
    h->activities[w.back].stream = 13;
    w.fill = hand_activity(h, ACTIVITY_FILL, ACTIVITY_MEMORY_DEVICE, "", forward, 1, 2 * MS, 1000);
    h->activities[w.fill].device = hand_device(h, 1, "=GPU \"2\"");
    h->activities[w.fill].context = 2;
    return w;
}

static void gpu(struct hand_run *h) {
    head(h);
    struct snapshot_device *d = &h->run.snapshot.devices[hand_device(h, 0, "Example GPU")];
    d->major = 9;
    d->multiprocessors = 132;
    d->threads_per_mp = 2048;
    d->blocks_per_mp = 32;
    d->registers_per_mp = 65536;
    d->shared_per_mp = 233472;
    d->reserved_shared = 1024;
    uint32_t root = hand_thread(h, 4242, "main"), mute = hand_thread(h, 4243, "mute");
    uint32_t step = hand_node(h, root, named(h, "step"), 3, 90 * MS, 0);
    uint32_t load = hand_node(h, step, named(h, "step.load"), 3, 30 * MS, 0);
    uint32_t forward = hand_node(h, step, named(h, "step.forward"), 3, 45 * MS, 0);
    struct works w = gpu_works(h, forward, load);
    gpu_calls(h, step, load);
    uint32_t memory = gpu_devices(h, step);
    hand_lane(h, root, "main");
    hand_span(h, step, 10 * MS, 30 * MS, 0);
    hand_span(h, load, 10 * MS, 10 * MS, 1);
    hand_span(h, forward, 20 * MS, 20 * MS, 1);
    hand_lane(h, SNAPSHOT_NONE, "GPU 0 stream 7");
    hand_ran(h, w.load, 12 * MS, MS, root, 11 * MS);
    hand_ran(h, w.gemm, 22 * MS, 8 * MS, root, 21 * MS + 5);
    hand_ran(h, w.gemm, 30 * MS, 7 * MS, root, 21 * MS + 6000); /* back to back */
    hand_ran(h, w.hostile, 37 * MS, 5 * MS, mute, 1 * MS);      /* a thread without a lane */
    hand_lane(h, SNAPSHOT_NONE, "GPU 0 stream 13");
    hand_ran(h, w.back, 38 * MS, 2 * MS, SNAPSHOT_NONE, 0); /* by an unknown thread */
    hand_lane(h, SNAPSHOT_NONE, "GPU 0 memory");
    hand_memory(h, memory, 9 * MS, 3u << 20);
    hand_memory(h, memory, 33 * MS, 2u << 20);
}

struct run *hand_run_of(struct hand_run *h, const char *name) {
    hand_start(h);
    if (!strcmp(name, "full")) {
        full(h);
    } else if (!strcmp(name, "tree")) {
        head(h);
        tree(h);
    } else if (!strcmp(name, "zero")) {
        zero(h);
    } else if (!strcmp(name, "gpu")) {
        gpu(h);
    } else if (strcmp(name, "empty")) {
        return NULL;
    }
    return hand_run(h);
}
