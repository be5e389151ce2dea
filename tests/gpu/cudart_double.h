/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA runtime API for tests: what gpu_cudart.c calls of it, over the driver double.
 *
 * As the real one it initialises at the first call, keeps each thread's last error until it is
 * fetched, and takes for a device's primary context the first that the double has of it, or makes
 * one. A count or a fault of the driver double is one here, too.
 */
#ifndef STINT_TESTS_CUDART_DOUBLE_H
#define STINT_TESTS_CUDART_DOUBLE_H

#include <cuda_runtime_api.h>

/* Lets every call return that code from now on, as without a usable driver (34, 35, 100). version:
 * the driver's own version. */
void cudart_double_broken(cudaError_t code, int version);

/* The thread's last error, as a failed call of the program would leave it. */
void cudart_double_set_error(cudaError_t code);

#endif
