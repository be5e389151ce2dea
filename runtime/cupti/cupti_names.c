/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of CUDA's functions, and a table of rules that says by name which calls are recorded, get a
 * callback, or are queries.
 */
#include "cupti_private.h"

#include <stdlib.h>
#include <string.h>

#include "driver_calls.inc"
#include "system/config.h"

#define DOMAINS 3      /* 0 is none */
#define NAMES_MAX 2048 /* CUDA 13.0: 806 and 522 */
#define HOLES 16       /* numbers without a name in a row: there are no more */
#define SUFFIX 4       /* digits of a version, at least: "cuMemAlloc_v2" is a name */

static struct {
    const char *name[NAMES_MAX];
    uint16_t use[NAMES_MAX];
    uint8_t waits[NAMES_MAX]; /* enum activity_waits */
    uint32_t end;
} domains[DOMAINS];

struct name_rule {
    const char *pattern; /* a * at its end matches any rest */
    unsigned use;        /* of the first rule that matches */
};

#define LAUNCH (CUPTI_USE_RECORD | CUPTI_USE_LAUNCH)
#define QUERY (CUPTI_USE_RECORD | CUPTI_USE_QUERY)
#define LAUNCH_ON(word) (LAUNCH | CUPTI_STREAM_AT(word))
#define LAUNCH_CONFIG (LAUNCH | CUPTI_STREAM_IN_CONFIG)
#define CAPTURE (CUPTI_USE_RECORD | CUPTI_USE_CAPTURE | CUPTI_STREAM_AT(0))
#define CAPTURE_END (CUPTI_USE_RECORD | CUPTI_USE_CAPTURE_END | CUPTI_STREAM_AT(0))
#define CONTEXT_END (CUPTI_USE_RECORD | CUPTI_USE_CONTEXT_END)
#define STREAM_END (CUPTI_USE_RECORD | CUPTI_USE_STREAM_END | CUPTI_STREAM_AT(0))

/* Calls that move data, run kernels, allocate memory or wait get a callback, so that their scope is
 * known. Frequent calls without an effect are not recorded: they would be the majority of all
 * records, and include stint's own calls. Nor are the internal functions that nvcc 13 makes
 * programs call: for
 * <<<>>> these are __cudaPushCallConfiguration, __cudaPopCallConfiguration and
 * __cudaLaunchKernel.
 *
 * A stream is named where most work is launched; where it is in the parameters is in
 * generated_cuda_meta.h and generated_cuda_runtime_api_meta.h of the toolkit. */
static const struct name_rule name_rules[] = {
    {"__cudaLaunch*", LAUNCH | CUPTI_USE_OUTER},
    {"__cuda*", 0},
    {"cudaLaunchKernelEx*", LAUNCH_CONFIG},
    {"cudaLaunchKernel*", LAUNCH_ON(6)},
    {"cudaLaunchCooperativeKernelMulti*", LAUNCH},
    {"cudaLaunchCooperativeKernel*", LAUNCH_ON(6)},
    {"cudaLaunch*", LAUNCH},
    {"cudaMemcpyAsync*", LAUNCH_ON(4)},
    {"cudaMemcpy*", LAUNCH},
    {"cudaMemsetAsync*", LAUNCH_ON(3)},
    {"cudaMemset*", LAUNCH},
    {"cudaMemPrefetch*", LAUNCH},
    {"cudaMemDiscard*", LAUNCH},
    {"cudaGraphLaunch*", LAUNCH_ON(1)},
    {"cudaGraphUpload*", LAUNCH_ON(1)},
    {"cudaMalloc*", LAUNCH},
    {"cudaFree*", LAUNCH},
    {"cudaHostAlloc", LAUNCH},
    {"cudaDeviceSynchronize", LAUNCH},
    {"cudaThreadSynchronize", LAUNCH},
    {"cudaStreamSynchronize*", LAUNCH},
    {"cudaEventSynchronize", LAUNCH},
    {"cudaStreamWaitEvent*", LAUNCH},
    {"cudaStreamBeginCapture*", CAPTURE},
    {"cudaStreamBeginRecapture*", CAPTURE},
    {"cudaStreamEndCapture*", CAPTURE_END},
    {"cudaStreamDestroy*", STREAM_END},
    {"cudaDeviceReset", CONTEXT_END},
    {"cudaThreadExit", CONTEXT_END},
    {"cudaExecutionCtxDestroy", CONTEXT_END},
    {"cudaEventQuery", QUERY},
    {"cudaStreamQuery*", QUERY},
    {"cudaGetDevice", 0},
    {"cudaSetDevice", 0},
    {"cudaGetLastError", 0},
    {"cudaPeekAtLastError", 0},
    {"cudaGetErrorString", 0},
    {"cudaGetErrorName", 0},
    {"cudaDeviceGetAttribute", 0},
    {"cudaStreamIsCapturing*", 0},
    {"cudaStreamGetCaptureInfo*", 0},
    {"cudaThreadExchangeStreamCaptureMode", 0},
    {"cuLaunchKernelEx*", LAUNCH_CONFIG},
    {"cuLaunchKernel*", LAUNCH_ON(5)},
    {"cuLaunchCooperativeKernelMulti*", LAUNCH},
    {"cuLaunchCooperativeKernel*", LAUNCH_ON(5)},
    {"cuLaunchHostFunc*", LAUNCH_ON(0)},
    {"cuLaunch*", LAUNCH},
    {"cuMemcpyAsync*", LAUNCH_ON(3)},
    {"cuMemcpyHtoDAsync_v2*", LAUNCH_ON(3)},
    {"cuMemcpyDtoHAsync_v2*", LAUNCH_ON(3)},
    {"cuMemcpyDtoDAsync_v2*", LAUNCH_ON(3)},
    {"cuMemcpy*", LAUNCH},
    {"cuMemsetD8Async*", LAUNCH_ON(3)},
    {"cuMemsetD16Async*", LAUNCH_ON(3)},
    {"cuMemsetD32Async*", LAUNCH_ON(3)},
    {"cuMemset*", LAUNCH},
    {"cuMemPrefetch*", LAUNCH},
    {"cuMemDiscard*", LAUNCH},
    {"cuMemBatchDecompress*", LAUNCH},
    {"cuGraphLaunch*", LAUNCH_ON(1)},
    {"cuGraphUpload*", LAUNCH_ON(1)},
    {"cuMemAlloc*", LAUNCH},
    {"cuMemHostAlloc*", LAUNCH},
    {"cuMemCreate", LAUNCH},
    {"cuMemRelease", LAUNCH},
    {"cuMemFree*", LAUNCH},
    {"cuArrayCreate*", LAUNCH},
    {"cuArrayDestroy", LAUNCH},
    {"cuArray3DCreate*", LAUNCH},
    {"cuMipmappedArray*", LAUNCH},
    {"cuCtxSynchronize*", LAUNCH},
    {"cuStreamSynchronize*", LAUNCH},
    {"cuEventSynchronize", LAUNCH},
    {"cuStreamWaitEvent*", LAUNCH},
    {"cuStreamBeginCapture*", CAPTURE},
    {"cuStreamBeginRecapture*", CAPTURE},
    {"cuStreamEndCapture*", CAPTURE_END},
    {"cuStreamDestroy*", STREAM_END},
    {"cuCtxDestroy*", CONTEXT_END},
    {"cuCtxDetach", CONTEXT_END},
    {"cuGreenCtxDestroy", CONTEXT_END},
    {"cuDevicePrimaryCtxRelease*", CONTEXT_END},
    {"cuDevicePrimaryCtxReset*", CONTEXT_END},
    {"cuStreamQuery*", QUERY},
    {"cuEventQuery", CUPTI_USE_QUERY},
    {"cuEventRecord*", 0},
    {"cuEventElapsedTime*", 0},
    {"cuEventCreate", 0},
    {"cuEventDestroy*", 0},
    {"cuCtxGet*", 0},
    {"cuCtxSetCurrent", 0},
    {"cuCtxPushCurrent*", 0},
    {"cuCtxPopCurrent*", 0},
    {"cuStreamGetCtx*", 0},
    {"cuStreamIsCapturing*", 0},
    {"cuStreamGetCaptureInfo*", 0},
    {"cuThreadExchangeStreamCaptureMode", 0},
    {"cuDriverGetVersion", 0},
    {"cuDeviceGet*", 0},
    {"cuGetError*", 0},
    {"cuGetProcAddress*", 0},
    {"cuGetExportTable", 0},
    {"*", CUPTI_USE_RECORD},
};

/* The functions of the runtime that the back end over it calls (gpu_cudart.c). */
static const char *const runtime_calls[] = {
    "cudaGetDevice",         "cudaSetDevice",
    "cudaStreamGetDevice*",  "cudaStreamIsCapturing*",
    "cudaEventCreate*",      "cudaThreadExchangeStreamCaptureMode",
    "cudaEventDestroy",      "cudaEventRecord*",
    "cudaEventQuery",        "cudaEventSynchronize",
    "cudaEventElapsedTime*", "cudaProfilerStart",
    "cudaProfilerStop",      "cudaGetDeviceProperties*",
    "cudaGetDeviceCount",    "cudaDeviceGetAttribute",
    "cudaGetLastError",      "cudaPeekAtLastError",
    "cudaGetErrorName",      "cudaDriverGetVersion",
};

static int names_match(const char *name, const char *pattern) {
    size_t n = strlen(pattern);
    if (pattern[n - 1] == '*') {
        return !strncmp(name, pattern, n - 1);
    }
    return !strcmp(name, pattern);
}

/* The last rule matches any name. */
static unsigned names_find_use(const char *name) {
    const struct name_rule *r = name_rules;
    while (!names_match(name, r->pattern)) {
        ++r;
    }
    return r->use;
}

static int names_are_of_driver(const char *name) {
    for (size_t i = 0; i < sizeof driver_calls / sizeof *driver_calls; ++i) {
        size_t n = strlen(driver_calls[i]);
        int suffix = !strncmp(name, driver_calls[i], n) && !strcmp(name + n, "_ptsz");
        if (suffix || !strcmp(name, driver_calls[i])) {
            return 1;
        }
    }
    return 0;
}

static int names_are_of_runtime(const char *name) {
    for (size_t i = 0; i < sizeof runtime_calls / sizeof *runtime_calls; ++i) {
        if (names_match(name, runtime_calls[i])) {
            return 1;
        }
    }
    return 0;
}

/* The rule's use, and with the callback by which this library's own calls are left out, if they
 * would be recorded. Without STINT_GPU=cupti,all calls of the runtime are not recorded: programs
 * make them often, and few use the back end over it. */
static unsigned names_find_all_uses(const char *name) {
    unsigned use = names_find_use(name);
    int all = config.gpu == CONFIG_GPU_TRACER_ALL;
    if (all) {
        use |= CUPTI_USE_RECORD;
    }
    if (use & CUPTI_USE_RECORD &&
        (names_are_of_driver(name) || (all && names_are_of_runtime(name)))) {
        use |= CUPTI_USE_OWN;
    }
    return use;
}

/* A copy without "Async" in its name returns after its bytes are copied. */
static uint32_t names_find_waits(const char *name) {
    int copies = names_match(name, "cudaMemcpy*") || names_match(name, "cuMemcpy*");
    if (copies && !strstr(name, "Async")) {
        return ACTIVITY_WAITS_FOR_COPY;
    }
    if (strstr(name, "Synchronize")) {
        return ACTIVITY_WAITS_FOR_WORK;
    }
    return ACTIVITY_WAITS_NOT;
}

/* The name itself, or a copy without the version; without memory, the name as it is. */
static const char *names_strip_version(const char *name) {
    const char *v = strrchr(name, '_');
    size_t digits = 0;
    if (v && v[1] == 'v') {
        digits = strspn(v + 2, "0123456789");
    }
    if (digits < SUFFIX || v[2 + digits]) {
        return name;
    }
    char *copy = strndup(name, (size_t)(v - name));
    return copy ? copy : name;
}

/* The name in CUDA's documentation: of __cudaLaunchKernel, cudaLaunchKernel. */
static const char *names_skip_prefix(const char *name) {
    if (!strncmp(name, "__cuda", 6)) {
        return name + 2;
    }
    return name;
}

static void names_read_domain(const struct cupti *c, int domain) {
    uint32_t holes = 0;
    for (uint32_t i = 1; i < NAMES_MAX && holes < HOLES; ++i) {
        const char *name = NULL;
        if (c->cuptiGetCallbackName(domain, i, &name) || !name) {
            ++holes;
            continue;
        }
        holes = 0;
        name = names_strip_version(name);
        domains[domain].name[i] = names_skip_prefix(name);
        domains[domain].use[i] = (uint16_t)names_find_all_uses(name);
        domains[domain].waits[i] = (uint8_t)names_find_waits(domains[domain].name[i]);
        domains[domain].end = i + 1;
    }
}

void cupti_read_names(const struct cupti *c) {
    memset(domains, 0, sizeof domains);
    names_read_domain(c, CUPTI_CB_DOMAIN_DRIVER_API);
    names_read_domain(c, CUPTI_CB_DOMAIN_RUNTIME_API);
}

uint32_t cupti_get_names_end(int domain) {
    return domains[domain].end;
}

static int names_is_known(int domain, uint32_t cbid) {
    return domain > 0 && domain < DOMAINS && cbid < domains[domain].end;
}

const char *cupti_get_name(int domain, uint32_t cbid) {
    if (!names_is_known(domain, cbid)) {
        return NULL;
    }
    return domains[domain].name[cbid];
}

unsigned cupti_get_use(int domain, uint32_t cbid) {
    if (!names_is_known(domain, cbid)) {
        return 0;
    }
    return domains[domain].use[cbid];
}

uint32_t cupti_get_waits(int domain, uint32_t cbid) {
    if (!names_is_known(domain, cbid)) {
        return ACTIVITY_WAITS_NOT;
    }
    return domains[domain].waits[cbid];
}
