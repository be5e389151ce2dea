/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for the tests in CUDA: a device or a skip, checked calls, recorded values. Each test is
 * linked twice: with the CUDA runtime, for a GPU (gpu_real.*, label gpu), and with the double of a
 * whole GPU (gpu_double.*), which says what it did, so that no clock decides there.
 */
#ifndef STINT_TESTS_GPU_REAL_H
#define STINT_TESTS_GPU_REAL_H

#include "harness.h"
#include "real_spin.h"
#include "whole_gpu.h"

#include <stint/stint.h>

#define MS UINT64_C(1000000)

/* Goes on after a failure, as CHECK does. */
#define CUDA(call) real_check((call), __FILE__, __LINE__, #call)

static inline bool real_check(cudaError_t code, const char *file, int line, const char *call) {
    char what[300];
    if (code != cudaSuccess) {
        snprintf(what, sizeof what, "%s: %s", call, cudaGetErrorString(code));
        harness_fail(file, line, what);
    }
    return code == cudaSuccess;
}

/* NULL if there is a device; makes no context. */
static inline const char *real_missing() {
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess) {
        (void)cudaGetLastError();
        return cudaGetErrorString(code);
    }
    return devices ? NULL : "no device";
}

/* The first line of a case: skips it without a device. A process that forks after CUDA has started
 * must not use it in the child, so the question is asked in the process of the case only. */
#define NEED_DEVICE()                                                                              \
    do {                                                                                           \
        const char *real_why = real_missing();                                                     \
        if (real_why) {                                                                            \
            SKIP(real_why);                                                                        \
        }                                                                                          \
    } while (0)

static inline void real_spin(cudaStream_t stream, uint64_t ns, unsigned long long *took) {
    real_spin_kernel<<<1, 1, 0, stream>>>(ns, took);
    CUDA(cudaGetLastError());
}

/* A stream that has run the kernel once: loading it at first use takes milliseconds and is nothing
 * that may happen while a stream is captured. */
static inline cudaStream_t real_stream(unsigned flags) {
    cudaStream_t stream = NULL;
    CUDA(cudaStreamCreateWithFlags(&stream, flags));
    real_spin(stream, 1000, NULL);
    CUDA(cudaStreamSynchronize(stream));
    return stream;
}

/* All zero for a name that nothing was recorded under. */
static inline stint_stat real_stat(const char *name) {
    stint_stat s;
    memset(&s, 0, sizeof s);
    (void)stint_stat_get(name, &s, sizeof s);
    return s;
}

static inline bool real_near(uint64_t value, uint64_t expected, uint64_t percent) {
    const uint64_t apart = value > expected ? value - expected : expected - value;
    return apart * 100 <= expected * percent;
}

static inline bool real_is_double() {
    return gpu_double_waits != NULL;
}

/* Whether the GPU time of all scopes is that, within so many percent; on the double, whether it is
 * what the events said. */
static inline bool real_time_is(uint64_t value, uint64_t expected, uint64_t percent) {
    if (real_is_double()) {
        return value == gpu_double_elapsed_ns();
    }
    return real_near(value, expected, percent);
}

/* Whether a time is at most that; on the double it is not looked at. */
static inline bool real_at_most(uint64_t value, uint64_t most) {
    return real_is_double() || value <= most;
}

static inline void real_print(void *view) {
    (void)stint_report((const char *)view);
}

/* The report as text. */
static inline char *real_report() {
    static char view[] = "table";
    return harness_capture(2, real_print, view);
}

/* Returns whether the report's footer has that line with that count. */
static inline bool real_footer(uint64_t count, const char *line) {
    char want[200];
    char *report = real_report();
    snprintf(want, sizeof want, "%llu %s", (unsigned long long)count, line);
    const bool found = report && strstr(report, want);
    if (!found) {
        dprintf(harness_fd, "no line \"%s\" in\n%s\n", want, report ? report : "(none)");
    }
    return found;
}

#define REAL_CAPTURED "GPU scopes with CPU time only: their stream was being captured into a graph"
#define REAL_DROPPED "GPU scopes with CPU time only: STINT_GPU_IN_FLIGHT others were pending"

#endif
