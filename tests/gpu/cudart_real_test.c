/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime-API back end over the real cudart, on a machine without a driver, or with the
 * toolkit's stub for one.
 */
#include <dlfcn.h>

#include "../unit/recorded.h"
#include "gpu/gpu.h"

/* The reason that the back end must give; NULL if there is a driver. */
static const char *expected(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*version)(int *);
    int v = 0;
    if (!library) {
        return "no CUDA driver: no libcuda.so.1";
    }
    void *symbol = dlsym(library, "cuDriverGetVersion");
    memcpy(&version, &symbol, sizeof version);
    return version && version(&v) == GPU_STUB ? "libcuda.so.1 is the toolkit's stub, not a driver"
                                              : NULL;
}

static void print_table(NO_ARG) {
    stint_report("table");
}

TEST(gpu_cudart_real, without_a_driver) {
    const char *reason = expected();
    if (!reason) {
        SKIP("there is a CUDA driver");
    }
    errno = 77;
    CHECK_STR_EQ(gpu_ops()->reason, reason);
    CHECK_EQ_U64((uint64_t)errno, 77);
    for (int i = 0; i < 1000; ++i) {
        REGISTER_GPU_TIMER("scope", NULL);
        fake_advance(10);
    }
    CHECK_EQ_U64(stat_of("scope").calls, 1000);
    CHECK_EQ_U64(stat_of("scope").total_ns, 10000);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 0);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1000);
    CHECK(!stint_gpu_flush());
    CHECK_CONTAINS(harness_capture(2, print_table, NULL), reason);
}
