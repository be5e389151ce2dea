/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA runtime API for tests, over the driver double. Its rules are in cudart_double.h: when it
 * initialises, which error it keeps per thread, which context is a device's primary one.
 */
#include "cudart_double.h"

#include <cuda_profiler_api.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "double_state.h"

/* The driver double's exports. */
int cuCtxGetCurrent(void **context);
int cuCtxGetDevice(int *device);
int cuStreamGetCtx(void *stream, void **context);
int cuStreamIsCapturing(void *stream, int *status);
int cuThreadExchangeStreamCaptureMode(int *mode);
int cuEventCreate(void **event, unsigned flags);
int cuEventDestroy_v2(void *event);
int cuEventRecord(void *event, void *stream);
int cuEventQuery(void *event);
int cuEventSynchronize(void *event);
int cuEventElapsedTime_v2(float *ms, void *from, void *to);
int cuProfilerStart(void);
int cuProfilerStop(void);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetName(char *name, int size, int device);

static cudaError_t broken_code;
static int broken_version;
static __thread cudaError_t last;
static __thread int chosen; /* the device, while no context is current */

void cudart_double_broken(cudaError_t code, int version) {
    broken_code = code;
    broken_version = version;
}

void cudart_double_set_error(cudaError_t code) {
    last = code;
}

static cudaError_t answer(int code) {
    last = code ? (cudaError_t)code : last;
    return (cudaError_t)code;
}

/* ---- Contexts */

static int start(void) {
    pthread_mutex_lock(&double_lock);
    int unborn = double_state.life == DOUBLE_UNBORN;
    pthread_mutex_unlock(&double_lock);
    if (!broken_code && unborn) {
        double_init_without_context();
    }
    return (int)broken_code;
}

static void *primary(int device) {
    void *found = NULL;
    pthread_mutex_lock(&double_lock);
    for (uint32_t i = 1; i <= double_state.contexts.count && !found; ++i) {
        uint32_t number = double_state.contexts.first + i;
        const struct double_context *c = double_context_number(number);
        found = c->device == device && !c->dead ? double_handle(DOUBLE_CONTEXT, number) : NULL;
    }
    pthread_mutex_unlock(&double_lock);
    return found ? found : double_context_new(device);
}

/* Most calls need a context, and make it. */
static int need_context(void) {
    void *current = NULL;
    int code = start();
    code = code ? code : cuCtxGetCurrent(&current);
    if (!code && !current) {
        double_context_make_current(primary(chosen));
    }
    return code;
}

cudaError_t cudaGetDevice(int *device) {
    void *current = NULL;
    int code = start();
    code = code ? code : cuCtxGetCurrent(&current);
    *device = chosen;
    return answer(code || !current ? code : cuCtxGetDevice(device));
}

cudaError_t cudaGetDeviceCount(int *count) {
    errno = 1; /* as whatever looks for a library may */
    *count = DOUBLE_DEVICES;
    return answer(start());
}

cudaError_t cudaSetDevice(int device) {
    int code = start();
    code = code ? code : device < 0 || device >= DOUBLE_DEVICES ? 101 : 0;
    if (!code) {
        chosen = device;
        double_context_make_current(primary(device));
    }
    return answer(code);
}

#if CUDART_VERSION >= 12080
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    void *context = NULL;
    int code = need_context();
    code = code ? code : cuStreamGetCtx(stream, &context);
    if (!code) {
        pthread_mutex_lock(&double_lock);
        *device = double_context_at(context, NULL)->device;
        pthread_mutex_unlock(&double_lock);
    }
    return answer(code);
}
#endif

/* ---- Streams and events */

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    int now = 0, code = need_context();
    code = code ? code : cuStreamIsCapturing(stream, &now);
    *status = (enum cudaStreamCaptureStatus)now;
    return answer(code);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    int exchanged = (int)*mode, code = start();
    code = code ? code : cuThreadExchangeStreamCaptureMode(&exchanged);
    *mode = (enum cudaStreamCaptureMode)exchanged;
    return answer(code);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    void *made = NULL;
    int code = need_context();
    code = code ? code : cuEventCreate(&made, flags);
    *event = made;
    return answer(code);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    int code = need_context();
    return answer(code ? code : cuEventDestroy_v2(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    int code = need_context();
    return answer(code ? code : cuEventRecord(event, stream));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    int code = need_context();
    return answer(code ? code : cuEventQuery(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    int code = need_context();
    return answer(code ? code : cuEventSynchronize(event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
    int code = need_context();
    return answer(code ? code : cuEventElapsedTime_v2(ms, from, to));
}

/* ---- Tools and devices */

cudaError_t cudaProfilerStart(void) {
    int code = need_context();
    return answer(code ? code : cuProfilerStart());
}

cudaError_t cudaProfilerStop(void) {
    int code = need_context();
    return answer(code ? code : cuProfilerStop());
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    int code = start();
    return answer(code ? code : cuDeviceGetAttribute(value, (int)attribute, device));
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    int code = start();
    memset(properties, 0, sizeof *properties);
    return answer(code ? code
                       : cuDeviceGetName(properties->name, (int)sizeof properties->name, device));
}

/* ---- Errors */

cudaError_t cudaDriverGetVersion(int *version) {
    start();
    *version = broken_code ? broken_version : CUDART_VERSION;
    return answer(broken_code == cudaErrorStubLibrary ? (int)broken_code : 0);
}

cudaError_t cudaPeekAtLastError(void) {
    return last;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t was = last;
    last = cudaSuccess;
    return was;
}

const char *cudaGetErrorName(cudaError_t code) {
    return code == cudaErrorInvalidConfiguration ? "cudaErrorInvalidConfiguration"
                                                 : "unrecognized error code";
}
