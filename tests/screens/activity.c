/* SPDX-License-Identifier: Apache-2.0 */
#include "arena/arena.h"
#include "gpu_activities.h"
#include "screens.h"

#define COPY(direction, from, to, async)                                                           \
    ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_##direction, ACTIVITY_MEMORY_##from, ACTIVITY_MEMORY_##to,  \
                         async)
#define MB ((uint64_t)1000000)

static struct arena_activity *took(struct arena_activity *a, uint64_t ns, uint64_t bytes) {
    gpu_activity_took(a, ns, bytes);
    return a;
}

/* The activities that nvprof showed for a test of bilinear interpolation. */
static void interpolation(uint32_t device) {
    static const struct gpu_shape forward = {{3516, 1, 1}, {1024, 1, 1}, 30, 0, 0},
                                  backward = {{439, 8, 1}, {32, 16, 1}, 40, 16384, 8192};
    REGISTER_TIMER("test");
    struct arena_activity *a =
        gpu_activity(ACTIVITY_COPY, COPY(HTOD, PAGEABLE, DEVICE, 0), NULL, device, 7);
    took(a, 3456, 4);
    took(a, 3 * MS, 29 * MB);
    took(a, 6 * MS + 403500, 60 * MB);
    took(gpu_activity(ACTIVITY_COPY, COPY(HTOD, PINNED, DEVICE, 1), NULL, device, 13), 223500,
         5 * MB);
    a = gpu_activity(ACTIVITY_KERNEL, 0, "KeBilinearInterpBw", device, 7);
    gpu_activity_shape(a, &backward);
    took(a, 9 * MS + 95700, 0);
    gpu_activity_launched(a, 1, 120 * US, 4 * US);
    a = gpu_activity(ACTIVITY_KERNEL, 0, "KeBilinearInterpFw", device, 7);
    gpu_activity_shape(a, &forward);
    took(a, 8 * MS + 297700, 0);
    took(gpu_activity(ACTIVITY_COPY, COPY(DTOH, DEVICE, PAGEABLE, 0), NULL, device, 7),
         7 * MS + 866100, 14 * MB);
    took(gpu_activity(ACTIVITY_FILL, ACTIVITY_MEMORY_DEVICE, NULL, device, 7), 2 * US, 4096);
    took(took(gpu_activity(ACTIVITY_API, 0, "cudaStreamCreateWithFlags", 0, 0), 682 * MS, 0),
         12 * US, 0);
    took(gpu_activity(ACTIVITY_API, 0, "cudaFree", 0, 0), 550 * MS, 0);
    a = gpu_activity(ACTIVITY_API, 0, "cudaMemcpy", 0, 0);
    for (uint64_t i = 0; i < 7; ++i) {
        took(a, 23210 + i * MS, 0);
    }
    took(gpu_activity(ACTIVITY_DRIVER, 0, "cuDeviceGetAttribute", 0, 0), 124, 0);
    fake_advance(1400 * MS);
}

static void begin(void) {
    use_gpu();
    timed("first", 1 * US); /* so that there is an arena */
}

static void seed(void) {
    begin();
    interpolation(gpu_activities_device(0));
    stint_report("gpu");
    stint_report("table");
    stint_report("tree");
}

/* Libraries' kernels of one name with several configurations, in scopes of two names. */
static void kernel(const char *name, uint32_t device, uint32_t stream, uint64_t ns,
                   const struct gpu_shape *shape) {
    struct arena_activity *a = gpu_activity(ACTIVITY_KERNEL, 0, name, device, stream);
    gpu_activity_shape(a, shape);
    for (uint64_t i = 0; i < 100; ++i) {
        gpu_activity_took(a, ns + i * ns / 200, 0);
    }
    gpu_activity_launched(a, 100, 400 * US, 900 * US);
}

static void two_gpus_from(uint64_t ns) {
    static const struct gpu_shape tile = {{16, 8, 4}, {128, 1, 1}, 122, 0, 49152},
                                  small = {{16, 8, 1}, {128, 1, 1}, 122, 0, 49152},
                                  line = {{4096, 1, 1}, {512, 1, 1}, 16, 0, 0};
    for (uint32_t number = 0; number < 2; ++number) {
        uint32_t device = gpu_activities_device(number);
        REGISTER_TIMER("forward");
        kernel("trt_turing_h1688cudnn_128x128_ldg8_relu_exp_small_nhwc_tn_v1", device, 7,
               ns * (2 - number), &tile);
        {
            REGISTER_TIMER("head");
            kernel("trt_turing_h1688cudnn_128x128_ldg8_relu_exp_small_nhwc_tn_v1", device, 9,
                   ns / 2, &small);
            kernel("void scale<float, 4>(float*, \x1b[31mint)", device, 9, ns / 10, &line);
        }
        kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", device,
               11, ns / 20, &line);
        fake_advance(5 * MS);
    }
}

static void two_gpus(void) {
    begin();
    two_gpus_from(200 * US);
    stint_report("gpu");
    stint_report("gpu,threads,sort=calls,top=2");
}

static void since_reset(void) {
    begin();
    two_gpus_from(200 * US);
    stint_reset();
    stint_report("gpu"); /* nothing since then */
    two_gpus_from(10 * US);
    stint_report("gpu,top=3");
}

static void none(void) {
    begin();
    stint_report("gpu");
}

/* Unknown limits, lost names, no time at all. */
static void unknown(void) {
    static const struct gpu_shape shape = {{1, 1, 1}, {64, 1, 1}, 16, 0, 0};
    begin();
    uint32_t device = gpu_sums_device("Old GPU", 0, 0);
    struct arena_activity *a = gpu_activity(ACTIVITY_KERNEL, 0, NULL, device, 7);
    gpu_activity_shape(a, &shape);
    took(took(a, 10 * US, 0), 30 * US, 0);
    took(gpu_activity(ACTIVITY_KERNEL, 0, "scale", 0, 7), 0, 0);
    took(gpu_activity(ACTIVITY_COPY, COPY(PTOP, UNKNOWN, MANAGED, 1), NULL, device, 7), 0, 100);
    took(gpu_activity(ACTIVITY_COPY, 250, NULL, device, 7), 5 * US, 100);
    stint_report("gpu");
}

const struct screen activity_screens[] = {{"activity", seed},
                                          {"activity_unit_us", two_gpus},
                                          {"activity_threads", two_gpus},
                                          {"activity_reset", since_reset},
                                          {"activity_none", none},
                                          {"activity_unknown", unknown},
                                          {"activity_percentiles_off", seed},
                                          {NULL, NULL}};
