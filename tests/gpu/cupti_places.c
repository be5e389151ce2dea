/* SPDX-License-Identifier: Apache-2.0 */
/* The places of the stream in the parameters of CUDA's functions, from the toolkit's headers, which
 * cannot be included beside the library's own types (cupti_types.inc). */
#include "cupti_places.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <generated_cuda_meta.h>
#include <generated_cuda_runtime_api_meta.h>
#include <stddef.h>

#define DRIVER 1 /* as CUPTI numbers its domains */
#define RUNTIME 2

#define D(name)                                                                                    \
    { DRIVER, #name, offsetof(name##_params, hStream) }
#define R(name, version)                                                                           \
    { RUNTIME, #name, offsetof(name##_##version##_params, stream) }

const struct cupti_place cupti_places[] = {
    D(cuLaunchKernel),
    D(cuLaunchKernel_ptsz),
    D(cuLaunchCooperativeKernel),
    D(cuLaunchHostFunc),
    D(cuMemcpyAsync),
    D(cuMemcpyHtoDAsync_v2),
    D(cuMemcpyDtoHAsync_v2),
    D(cuMemcpyDtoDAsync_v2),
    D(cuMemsetD8Async),
    D(cuMemsetD16Async),
    D(cuMemsetD32Async),
    D(cuGraphLaunch),
    D(cuGraphUpload),
    D(cuStreamBeginCapture_v2),
    D(cuStreamBeginCaptureToGraph),
    D(cuStreamEndCapture),
    D(cuStreamDestroy_v2),
    R(cudaLaunchKernel, v7000),
    R(cudaLaunchKernel_ptsz, v7000),
    R(cudaLaunchCooperativeKernel, v9000),
    R(cudaMemcpyAsync, v3020),
    R(cudaMemsetAsync, v3020),
    R(cudaGraphLaunch, v10000),
    R(cudaGraphUpload, v10000),
    R(cudaStreamBeginCapture, v10000),
    R(cudaStreamBeginCaptureToGraph, v12030),
    R(cudaStreamEndCapture, v10000),
    R(cudaStreamDestroy, v5050),
};
const unsigned cupti_places_count = sizeof cupti_places / sizeof *cupti_places;
const unsigned cupti_places_config[2] = {offsetof(CUlaunchConfig, hStream),
                                         offsetof(cudaLaunchConfig_t, stream)};
_Static_assert(!offsetof(cuLaunchKernelEx_params, config), "the first parameter");
_Static_assert(!offsetof(cudaLaunchKernelExC_v11060_params, config), "the first parameter");
