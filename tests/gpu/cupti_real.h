/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The installed libcupti on a machine without a GPU. That of CUDA 13.5 answers no call, not even
 * that for its version, unless a libcuda.so.1 can be loaded. A driver package has one, which needs
 * no device.
 */
#if defined CUPTI_REAL && !defined STINT_TESTS_CUPTI_REAL_H
#define STINT_TESTS_CUPTI_REAL_H

#include <dlfcn.h>
#include <glob.h>

#include "harness.h"

/* Loads the driver's library. 0, or -1: there is none. */
static inline int cupti_real_load_driver(void) {
    int result = -1;
    glob_t found;
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)) {
        return 0;
    }
    if (!glob(NVIDIA_LIBRARIES "/driver-550/usr/lib/*/nvidia/*/libcuda.so.1", 0, NULL, &found)) {
        result = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL) ? 0 : -1;
        globfree(&found);
    }
    return result;
}

#define NEED_REAL_DRIVER()                                                                         \
    do {                                                                                           \
        if (cupti_real_load_driver()) {                                                            \
            SKIP("no libcuda.so.1; tests/gpu/libraries/fetch.sh fetches one");                     \
        }                                                                                          \
    } while (0)

#endif
