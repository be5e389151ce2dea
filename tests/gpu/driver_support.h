/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the tests of the driver back end share. */
#ifndef STINT_TESTS_DRIVER_SUPPORT_H
#define STINT_TESTS_DRIVER_SUPPORT_H

#include "cuda_double.h"
#include "gpu/gpu_backends.h"
#include "harness_threads.h"
#include "system/config.h"

HARNESS_FN const struct gpu_ops *driver_open_as(const char *library) {
    config.driver_lib = library;
    return gpu_driver.open();
}

HARNESS_FN const struct gpu_ops *start(void) {
    double_reset();
    double_init();
    const struct gpu_ops *ops = driver_open_as(DOUBLE_LIBRARY);
    CHECK_STR_EQ(ops->reason, NULL);
    CHECK_STR_EQ(ops->name, "driver");
    double_calls_clear();
    return ops;
}

HARNESS_FN int on_a_thread(void *(*run)(void *), void *arg) {
    void *result = NULL;
    result = thread_run(run, arg);
    return (int)(uintptr_t)result;
}

#endif
