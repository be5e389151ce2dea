/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of CUDA's that the double knows.
 */
#include <string.h>

#include "cupti_double_state.h"

#define DRIVER CUPTI_CB_DOMAIN_DRIVER_API
#define RUNTIME CUPTI_CB_DOMAIN_RUNTIME_API

/* CUPTI's names of the functions, with the version that introduced each; the index is the double's
 * own number. The names of CUDA 13 that begin with "__" are those that cuptiGetCallbackName of
 * libcupti 13.0 returns for the runtime API's numbers 494, 501 to 506 and 508. */
static const char *const driver_apis[] = {
    "INVALID",
    "cuLaunchKernel",
    "cuMemcpyHtoD_v2",
    "cuMemcpyDtoH_v2",
    "cuGraphLaunch",
    "cuMemsetD8Async",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuEventQuery",
    "cuEventRecord",
    "cuCtxGetCurrent",
    "cuStreamSynchronize",
    "cuEventElapsedTime_v2",
    "cuModuleLoad",
    "cuCtxSynchronize",
    "cuCtxPushCurrent_v2",
    "cuStreamIsCapturing_ptsz",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuCtxDestroy_v2",
    "cuDevicePrimaryCtxReset_v2",
    "cuStreamDestroy_v2",
    "cuCtxGetId",
    "cuCtxGetDevice",
    "cuCtxPopCurrent_v2",
    "cuStreamGetCtx",
    "cuThreadExchangeStreamCaptureMode",
    "cuEventCreate",
    "cuEventSynchronize",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxGetState",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuLaunchHostFunc",
    "cuMemcpyBatchAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemHostAlloc",
    "cuMemAllocManaged",
    "cuEventDestroy_v2",
    "cuProfilerStart",
    "cuProfilerStop",
};
static const char *const runtime_apis[] = {
    "INVALID",
    "cudaLaunchKernel_v7000",
    "cudaMemcpy_v3020",
    "cudaMemcpyAsync_ptsz_v7000",
    "cudaMemcpyAsync_v3020",
    "cudaMemsetAsync_v3020",
    "cudaGraphLaunch_v10000",
    "cudaMalloc_v3020",
    "cudaFree_v3020",
    "cudaGetDevice_v3020",
    "cudaGetLastError_v3020",
    "cudaDeviceSynchronize_v3020",
    "cudaStreamSynchronize_v3020",
    "cudaEventSynchronize_v3020",
    "cudaEventQuery_v3020",
    "cudaStreamCreate_v3020",
    "cudaSetDevice_v3020",
    "cudaLaunchKernel_ptsz_v7000",
    "cudaLaunchKernelExC_v11060",
    "cudaMemcpyPeerAsync_v4000",
    "__cudaRegisterFatBinary_v13000",
    "__cudaInitModule_v13000",
    "__cudaPushCallConfiguration_v13000",
    "__cudaPopCallConfiguration_v13000",
    "__cudaGetKernel_v13000",
    "__cudaLaunchKernel_v13000",
    "__cudaLaunchKernel_ptsz_v13000",
    "__cudaGetProcAddress_v13000",
    "cudaStreamBeginCapture_v10000",
    "cudaStreamEndCapture_v10000",
    "cudaStreamDestroy_v5050",
    "cudaDeviceReset_v3020",
    "cudaThreadExit_v3020",
    "cudaStreamCreateWithFlags_v5000",
    "cudaStreamSynchronize_ptsz_v7000",
    "cudaStreamIsCapturing_v10000",
    "cudaGraphInstantiateWithFlags_v11040",
    "cudaGraphDestroy_v10000",
    "cudaGraphExecDestroy_v10000",
    "cudaLaunchHostFunc_v10000",
    "cudaMallocHost_v3020",
    "cudaHostAlloc_v3020",
    "cudaFreeHost_v3020",
    "cudaMallocManaged_v6000",
    "cudaMemcpyBatchAsync_v13000",
    "cudaEventCreateWithFlags_v3020",
    "cudaEventDestroy_v3020",
    "cudaEventRecord_v3020",
    "cudaEventElapsedTime_v3020",
    "cudaProfilerStart_v4000",
    "cudaProfilerStop_v4000",
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *double_api_name(int domain, uint32_t cbid) {
    if (domain == DRIVER && cbid < COUNT(driver_apis)) {
        return driver_apis[cbid];
    }
    return domain == RUNTIME && cbid < COUNT(runtime_apis) ? runtime_apis[cbid] : NULL;
}

/* "_v" and at least four digits. */
static size_t plain_length(const char *name) {
    const char *v = strrchr(name, '_');
    size_t digits = v && v[1] == 'v' ? strspn(v + 2, "0123456789") : 0;
    return digits >= 4 && !v[2 + digits] ? (size_t)(v - name) : strlen(name);
}

uint32_t double_api(int domain, const char *name) {
    for (uint32_t i = 1; double_api_name(domain, i); ++i) {
        const char *have = double_api_name(domain, i);
        if (strlen(name) == plain_length(have) && !memcmp(have, name, plain_length(have))) {
            return i;
        }
    }
    return 0;
}
