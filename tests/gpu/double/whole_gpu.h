/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole GPU for tests: the doubles of the driver, the runtime and CUPTI in one shared library,
 * libcuda.so.1, on the real clock. Programs in CUDA that nvcc has compiled are linked with it in
 * place of the CUDA runtime; stint finds the driver under its usual name, and CUPTI where
 * STINT_CUPTI_LIB says, which is the same file.
 *
 * Kernels and copies take as long as cudart_double.h says, on streams with their order, while the
 * program goes on. There is one device. cuInit, which the runtime's first call makes, loads what
 * CUDA_INJECTION64_PATH names and calls it before any other call works; at exit the driver goes; in
 * the child of a fork after cuInit it does not work.
 *
 * Faults are switched on by the environment, GPU_DOUBLE=WORD[=VALUE],...:
 *
 *     init=CODE       cuInit fails with that code
 *     hang=FUNCTION   that call of the program never returns, and the process ignores SIGTERM
 *     driver=VERSION  of the driver: 13000 is that of CUDA 13.0
 *     cupti=VERSION   of CUPTI: 130001 is that of CUDA 13.0
 *     v2-fails        cuptiSubscribe_v2 succeeds, and cuptiActivityEnable_v2 does not
 *     client=NAME     another tool of that name has subscribed to CUPTI
 *     lazy=N          the first N flushes that wait return no buffer (pytorch/kineto#95)
 *     register-drops  the records under way are lost when buffer callbacks are registered again
 *     graph-numbers   in later sessions the kernels of a graph have the number of its first launch
 *                     (pytorch/kineto#1165)
 *     times=WORD      each tenth kernel has a time of 0, 2^63, a start after its end, or a time
 *                     that is 10 minutes too late or too early: zero, high, swapped, late, early
 *
 * gpu_double_faults(text) switches them on later. Tests in CUDA see by these functions, which are
 * missing on a GPU, what the double did.
 */
#ifndef STINT_TESTS_WHOLE_GPU_H
#define STINT_TESTS_WHOLE_GPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef WHOLE_GPU
#define WHOLE_GPU __attribute__((weak))
#endif

WHOLE_GPU void gpu_double_faults(const char *text);
/* The nanoseconds that cuEventElapsedTime returned, added up; calls that succeeded. */
WHOLE_GPU uint64_t gpu_double_elapsed_ns(void);
/* Calls that waited for the device: for an event, a stream or a context. */
WHOLE_GPU uint64_t gpu_double_waits(void);
/* Captures that a call has spoilt. */
WHOLE_GPU uint64_t gpu_double_spoilt_captures(void);
/* Events that were recorded on default streams per thread, or the legacy one. */
WHOLE_GPU uint64_t gpu_double_default_records(int per_thread);
/* There are so many devices, up to 4. */
WHOLE_GPU void gpu_double_devices(int count);
/* on: nothing ends until it is off again; a wait would not return. */
WHOLE_GPU void gpu_double_freeze(int on);
/* Calls of functions of CUPTI, and whether a client has subscribed. */
WHOLE_GPU uint64_t gpu_double_cupti_calls(void);
WHOLE_GPU int gpu_double_subscribed(void);
/* Another client registers its own buffer callbacks, as cupti_double_take_over does. */
WHOLE_GPU void gpu_double_take_over(void);

#ifdef __cplusplus
}
#endif

#endif
