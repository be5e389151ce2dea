/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU back ends of this folder, for session/connect.c: over the CUDA driver, over the CUDA
 * runtime API in a build with STINT_GPU_API=cudart, and over OpenCL.
 */
#ifndef STINT_GPU_BACKENDS_H
#define STINT_GPU_BACKENDS_H

#include "gpu.h"

extern const struct gpu_backend gpu_driver;
extern const struct gpu_backend gpu_cudart;
extern const struct gpu_backend gpu_opencl;

#endif
