/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screens of the profiler and its report. The tracer is a stand-in that is always available and
 * that receives the activities which the programs of the screens hand in.
 */
#include "activity/activity.h"
#include "arena/arena.h"
#include "capture/tracer.h"
#include "gpu_sums.h"
#include "screens.h"

#define COPY(direction, from, to, async)                                                           \
    ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_##direction, ACTIVITY_MEMORY_##from, ACTIVITY_MEMORY_##to,  \
                         async)
#define TO_GPU COPY(HTOD, PAGEABLE, DEVICE, 0)
#define TO_CPU COPY(DTOH, DEVICE, PAGEABLE, 0)
#define TO_CPU_ASYNC COPY(DTOH, DEVICE, PINNED, 1)
#define SAME_GPU COPY(DTOD, DEVICE, DEVICE, 1)

/* The tracer of the screens, which replaces the real one (linked with --wrap). */
static int no_tracer = 1;

int __wrap_tracer_start_when_ready(void);
int __wrap_tracer_start_when_ready(void) {
    activity_use_words(&cuda_words);
    return no_tracer ? -1 : activity_open();
}

void __wrap_tracer_stop(void);
void __wrap_tracer_stop(void) {
    activity_settle();
}

void __wrap_tracer_flush(int force);
void __wrap_tracer_flush(int force) {
    (void)force;
}

void __wrap_tracer_describe(char *out, size_t size);
void __wrap_tracer_describe(char *out, size_t size) {
    snprintf(out, size, "%s", "");
}

/* ---- What a GPU does. */

static uint32_t calls;

static void hand_in(const struct activity_record *r) {
    activity_begin();
    activity_add(r);
    activity_end();
}

/* A call of the API, of `api` ns; what it puts on the GPU begins `delay` ns after its end, or, if
 * it waits, ends with it. */
static void launch(struct activity_record r, uint64_t api, uint64_t delay, uint64_t run) {
    struct activity_record call = {.kind = ACTIVITY_API,
                                   .name = r.name ? "cudaLaunchKernel" : "cudaMemcpy",
                                   .correlation = ++calls,
                                   .device = ACTIVITY_NO_DEVICE,
                                   .thread = 1,
                                   .start = activity_clock()};
    int waits = r.kind == ACTIVITY_COPY && !ACTIVITY_COPY_ASYNC(r.detail);
    activity_launch(calls);
    fake_advance(api);
    call.end = activity_clock();
    r.correlation = calls;
    r.context = 1;
    r.stream = 7;
    r.start = waits ? call.end - run : call.end + delay;
    r.end = r.start + run;
    hand_in(&call);
    hand_in(&r);
}

static void kernel(const char *name, uint64_t api, uint64_t run) {
    launch((struct activity_record){.kind = ACTIVITY_KERNEL, .name = name, .grid = {1, 1, 1}}, api,
           2 * US, run);
}

static void copy(uint32_t detail, uint64_t api, uint64_t run, uint64_t bytes) {
    launch((struct activity_record){.kind = ACTIVITY_COPY, .detail = detail, .bytes = bytes}, api,
           1 * US, run);
}

static void memory(uint32_t kind, uint32_t detail, uint64_t address, uint64_t bytes) {
    struct activity_record r = {.kind = kind,
                                .detail = detail,
                                .correlation = ++calls,
                                .bytes = bytes,
                                .address = address,
                                .start = activity_clock()};
    activity_launch(calls);
    r.end = r.start;
    hand_in(&r);
}

static void wait_for(uint64_t ns) {
    struct activity_record r = {.kind = ACTIVITY_SYNC,
                                .detail = ACTIVITY_SYNC_STREAM,
                                .thread = 1,
                                .correlation = ++calls,
                                .start = activity_clock()};
    fake_advance(ns);
    r.end = activity_clock();
    hand_in(&r);
}

/* ---- Programs. */

static void begin(const char *state, const char *option) {
    no_tracer = 0;
    use_gpu();
    timed("before", 3 * MS); /* of no profile */
    stint_profiler_start(state, option);
}

/* An operator as a framework runs it: shape, data, computation. */
static void op(const char *type, const char *instance, uint64_t compute, uint64_t on_gpu) {
    if (!strcmp(type, "slice")) {
        REGISTER_TIMER_OP("slice", instance);
        {
            REGISTER_TIMER_DETAIL("infer_shape", STINT_LEVEL_OP_DETAIL);
            fake_advance(5 * US);
        }
        {
            REGISTER_TIMER_ROLE("prepare_data", STINT_ROLE_FRAMEWORK);
            fake_advance(20 * US);
            copy(TO_GPU, 30 * US + 731, 2 * US, 4096);
        }
        REGISTER_TIMER_ROLE("compute", STINT_ROLE_COMPUTE);
        fake_advance(compute);
        kernel("slice_kernel", 8 * US, on_gpu);
        return;
    }
    REGISTER_TIMER_OP("fill_constant", instance);
    {
        REGISTER_TIMER_DETAIL("infer_shape", STINT_LEVEL_OP_DETAIL);
        fake_advance(2 * US + 567);
    }
    {
        REGISTER_TIMER_ROLE("compute", STINT_ROLE_COMPUTE);
        fake_advance(compute);
        kernel("fill_kernel", 6 * US, on_gpu);
    }
    fake_advance(1 * US);
}

static void fetch(void) {
    REGISTER_TIMER("fetch");
    fake_advance(9 * US);
    copy(TO_CPU, 24 * US, 11 * US, 1 << 20);
}

static void train(void) {
    for (uint64_t i = 0; i < 6; ++i) {
        op("fill_constant", i % 2 ? "b" : "a", i ? 70 * US + i * US : 3688610, 1429);
        op("slice", "x", 20 * US + i * 300, 3 * US + i * 11);
        {
            REGISTER_TIMER("conditional_block");
            op("fill_constant", "c", 40 * US, 1400);
            REGISTER_TIMER("assign");
            fake_advance(15 * US);
            copy(SAME_GPU, 18 * US + 909, 1371, 65536);
        }
        fetch();
        wait_for(40 * US);
        fake_advance(12 * US);
    }
}

static void profile(const char *state, const char *option, const char *key) {
    begin(state, option);
    train();
    stint_profiler_stop(key, NULL);
}

static void fluid(void) {
    profile("All", NULL, "total");
}

static void op_detail(void) {
    profile("All", "OpDetail", "calls");
}

static void all_op_detail(void) {
    profile(NULL, "AllOpDetail", NULL);
}

static void cpu(void) {
    profile("CPU", "OpDetail", "max");
}

static void gpu(void) {
    profile("GPU", "Default", "gpu");
}

/* Two threads, copies of none, and a second profile that must not see the first. */
static void worker(void) {
    for (int i = 0; i < 3; ++i) {
        op("slice", "x", 900 * US, 70 * US);
    }
}

static void stray(void) {
    struct activity_record r = {.kind = ACTIVITY_COPY,
                                .detail = TO_CPU_ASYNC,
                                .context = 1,
                                .stream = 8,
                                .bytes = 512,
                                .start = activity_clock()};
    fake_advance(4 * US);
    r.end = activity_clock();
    hand_in(&r);
}

static void threads(void) {
    begin("All", NULL);
    train();
    on_a_thread(worker);
    stint_profiler_reset();
    train();
    beside(worker);
    stray();
    stint_profiler_stop("ave", NULL);
    stint_profiler_start("CPU", NULL);
    fetch();
    stint_profiler_stop("min", NULL);
}

/* A profile without a tracer: GPU scopes time themselves. */
static void events(void) {
    use_gpu();
    timed("before", 3 * MS);
    uint32_t device = gpu_sums_device("NVIDIA H200", 0, 0);
    stint_profiler_start("All", NULL);
    for (uint64_t i = 0; i < 4; ++i) {
        REGISTER_TIMER("step");
        {
            REGISTER_TIMER_ROLE("forward", STINT_ROLE_COMPUTE);
            gpu_took(device, 2 * MS + i * 1000);
            fake_advance(100 * US);
        }
        {
            REGISTER_TIMER_ROLE("backward", STINT_ROLE_COMPUTE);
            gpu_took(device, 4 * MS);
            fake_advance(200 * US + i * 1000);
        }
        timed("log", 10 * US);
    }
    stint_profiler_stop("cpu", NULL);
    stint_report("fluid,sort=gpu_total");
}

/* Nothing of a GPU, no role, open scopes, recursion, sets, handles, samples, depth, names. */
static void again(int depth) {
    REGISTER_TIMER("again");
    fake_advance(1 * US);
    if (depth) {
        again(depth - 1);
    }
}

static void deep(int depth) {
    static const char *const names[] = {
        "a", "bb", "ccc", "dddd", "eeeee", "ffffff", "a name that is longer than all the others"};
    REGISTER_TIMER_DYNAMIC(names[depth]);
    fake_advance(1);
    if (depth < 6) {
        deep(depth + 1);
    }
}

static void plain(void) {
    REGISTER_TIMER("main");
    stint_timer h = {{0, 0}};
    begin("CPU", NULL);
    TIMER_BEGIN(h, "request");
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("step");
        fake_advance(1234567);
        timed("load\n", 10 * US);
        timed("work % / %s", 1);
    }
    again(3);
    deep(0);
    {
        REGISTER_TIMER("reply", -1, stint_set_get("network"));
        fake_advance(2 * SEC);
    }
    {
        REGISTER_TIMER_ROLE("inner", STINT_ROLE_COMPUTE); /* the last one: open */
        TIMER_END(h);
        stint_sample_add("elsewhere", 5 * MS);
        stint_profiler_stop("total", NULL);
    }
    stint_report("fluid,top=3,sort=min");
}

static void nothing(void) {
    stint_profiler_start("All", NULL);
    stint_profiler_stop(NULL, NULL);
}

static void allocations(void) {
    begin("All", NULL);
    {
        REGISTER_TIMER("conv2d");
        for (uint64_t i = 0; i < 8; ++i) {
            REGISTER_TIMER("compute");
            memory(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, 0x1000 + i, 3211264);
            if (i > 1) {
                memory(ACTIVITY_FREE, ACTIVITY_MEMORY_DEVICE, 0x1000 + i, 3211264);
            }
        }
        memory(ACTIVITY_ALLOC, ACTIVITY_MEMORY_PINNED, 0x9000, 12000);
    }
    memory(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, 0x2000, 1048828);
    memory(ACTIVITY_FREE, ACTIVITY_MEMORY_DEVICE, 0x1000, 3211264);
    memory(ACTIVITY_ALLOC, ACTIVITY_MEMORY_MANAGED, 0x3000, 64);
    stint_profiler_stop(NULL, NULL);
}

const struct screen fluid_screens[] = {{"fluid", fluid},
                                       {"fluid_op_detail", op_detail},
                                       {"fluid_all_op_detail", all_op_detail},
                                       {"fluid_cpu", cpu},
                                       {"fluid_gpu", gpu},
                                       {"fluid_threads", threads},
                                       {"fluid_events", events},
                                       {"fluid_plain", plain},
                                       {"fluid_nothing", nothing},
                                       {"fluid_memory", allocations},
                                       {NULL, NULL}};
