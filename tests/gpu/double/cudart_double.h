/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA runtime API for tests, over the driver double: what gpu_cudart.c and the project's
 * programs in CUDA call of it. cudart_double.c has contexts, streams, events, devices and errors,
 * cudart_work.c what runs on the device: launches as nvcc compiles them, copies, memory, graphs.
 *
 * As the real one it initialises at the first call, keeps each thread's last error until it is
 * fetched, and takes for a device's primary context the first that the double has of it, or makes
 * one. A count or a fault of the driver double is one here, too.
 *
 * A kernel does nothing. It takes a microsecond, or, if "spin" is in its name, as many nanoseconds
 * as its first parameter says, which it writes where the second one points to; one with "trap" in
 * its name faults. The memory of the device is the host's.
 */
#ifndef STINT_TESTS_CUDART_DOUBLE_H
#define STINT_TESTS_CUDART_DOUBLE_H

#include <cuda_runtime_api.h>

/* Lets every call return that code from now on, as without a usable driver (34, 35, 100). version:
 * the driver's own version. */
void cudart_double_broken(cudaError_t code, int version);

/* The thread's last error, as a failed call of the program would leave it. */
void cudart_double_set_error(cudaError_t code);

/* For the double's own files: a call of the program begins, on that stream, which is its parameter
 * of that number (-1: it has none), and ends. The first returns the code to return instead of
 * making the call, or 0 with a current context. */
int cudart_double_begin(const char *name, cudaStream_t stream, int word);
cudaError_t cudart_double_end(int code);

#endif
