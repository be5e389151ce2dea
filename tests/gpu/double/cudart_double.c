/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's contexts, streams, events, devices and errors; cudart_double.h has the rules.
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
int cuCtxSynchronize(void);
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
    double_take();
    int unborn = double_state.life == DOUBLE_UNBORN;
    pthread_mutex_unlock(&double_lock);
    if (!broken_code && unborn) {
        return double_world.start ? double_world.start() : (double_init_without_context(), 0);
    }
    return (int)broken_code;
}

static void *primary(int device) {
    void *found = NULL;
    double_take();
    for (uint32_t i = 1; i <= double_state.contexts.count && !found; ++i) {
        uint32_t number = double_state.contexts.first + i;
        const struct double_context *c = double_context_number(number);
        found = c->device == device && !c->dead ? double_handle(DOUBLE_CONTEXT, number) : NULL;
    }
    pthread_mutex_unlock(&double_lock);
    return found ? found : double_primary_use(device);
}

/* Most calls need a context, and make it, also where the current one was reset. */
static int need_context(void) {
    struct double_context *c = NULL;
    uint32_t number;
    int code = start();
    if (code) {
        return code;
    }
    double_take();
    code = double_current(&c, &number);
    int device = c ? c->device : chosen;
    pthread_mutex_unlock(&double_lock);
    if (code == 201) {
        double_context_make_current(primary(device));
    } else if (code == 709) {
        double_primary_use(device);
    }
    return code == 201 || code == 709 ? 0 : code;
}

int cudart_double_begin(const char *name, cudaStream_t stream, int word) {
    if (double_world.enter) {
        double_world.enter(DOUBLE_RUNTIME, name, stream, word);
    }
    return need_context();
}

cudaError_t cudart_double_end(int code) {
    if (double_world.leave) {
        double_world.leave(code);
    }
    return answer(code);
}

static int begin(const char *name) {
    return cudart_double_begin(name, NULL, -1);
}

static int begin_on(const char *name, cudaStream_t stream) {
    return cudart_double_begin(name, stream, 0);
}

#define end_call cudart_double_end

cudaError_t cudaGetDevice(int *device) {
    void *current = NULL;
    int code = start();
    code = code ? code : cuCtxGetCurrent(&current);
    *device = chosen;
    return answer(code || !current ? code : cuCtxGetDevice(device));
}

cudaError_t cudaGetDeviceCount(int *count) {
    errno = 1; /* as whatever looks for a library may */
    *count = double_state.devices;
    return answer(start());
}

cudaError_t cudaSetDevice(int device) {
    int code = start();
    if (!code && (device < 0 || device >= double_state.devices)) {
        code = 101;
    }
    if (!code) {
        chosen = device;
        double_context_make_current(primary(device));
    }
    return answer(code);
}

cudaError_t cudaDeviceReset(void) {
    int code = begin("cudaDeviceReset");
    if (!code) {
        double_primary_reset(chosen);
    }
    return end_call(code);
}

cudaError_t cudaDeviceSynchronize(void) {
    int code = begin("cudaDeviceSynchronize");
    return end_call(code ? code : cuCtxSynchronize());
}

#if CUDART_VERSION >= 12080
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    void *context = NULL;
    int code = need_context();
    code = code ? code : cuStreamGetCtx(stream, &context);
    if (!code) {
        double_take();
        *device = double_context_at(context, NULL)->device;
        pthread_mutex_unlock(&double_lock);
    }
    return answer(code);
}
#endif

/* ---- Streams and events */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    int code = begin("cudaStreamCreateWithFlags");
    if (!code) {
        *stream = flags & cudaStreamNonBlocking ? double_stream_new_nonblocking(NULL)
                                                : double_stream_new(NULL);
    }
    return end_call(code);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    int code = begin_on("cudaStreamDestroy", stream);
    if (!code) {
        double_stream_destroy(stream);
    }
    return end_call(code);
}

static cudaError_t stream_wait(const char *name, cudaStream_t stream) {
    struct double_stream *s = NULL;
    uint32_t number;
    int code = begin_on(name, stream);
    double_take();
    code = code ? code : double_resolve(stream, &s, &number);
    code = code ? code : double_conflict(s, s->context);
    if (!code) {
        double_wait_until(double_end_of(s));
    }
    pthread_mutex_unlock(&double_lock);
    return end_call(code);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return stream_wait("cudaStreamSynchronize", stream);
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
    return stream_wait("cudaStreamSynchronize_ptsz", stream ? stream : cudaStreamPerThread);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    int now = 0, code = begin_on("cudaStreamIsCapturing", stream);
    code = code ? code : cuStreamIsCapturing(stream, &now);
    *status = (enum cudaStreamCaptureStatus)now;
    return end_call(code);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    int exchanged = (int)*mode, code = start();
    code = code ? code : cuThreadExchangeStreamCaptureMode(&exchanged);
    *mode = (enum cudaStreamCaptureMode)exchanged;
    return answer(code);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    void *made = NULL;
    int code = begin("cudaEventCreateWithFlags");
    code = code ? code : cuEventCreate(&made, flags);
    *event = made;
    return end_call(code);
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    int code = begin("cudaEventDestroy");
    return end_call(code ? code : cuEventDestroy_v2(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    int code = cudart_double_begin("cudaEventRecord", stream, 1);
    return end_call(code ? code : cuEventRecord(event, stream));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    int code = begin("cudaEventQuery");
    return end_call(code ? code : cuEventQuery(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    int code = begin("cudaEventSynchronize");
    return end_call(code ? code : cuEventSynchronize(event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
    int code = begin("cudaEventElapsedTime");
    return end_call(code ? code : cuEventElapsedTime_v2(ms, from, to));
}

/* ---- Tools and devices */

cudaError_t cudaProfilerStart(void) {
    int code = begin("cudaProfilerStart");
    return end_call(code ? code : cuProfilerStart());
}

cudaError_t cudaProfilerStop(void) {
    int code = begin("cudaProfilerStop");
    return end_call(code ? code : cuProfilerStop());
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

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return answer(0);
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

const char *cudaGetErrorString(cudaError_t code) {
    static __thread char words[40];
    snprintf(words, sizeof words, code ? "error %d of the double" : "no error", (int)code);
    return words;
}
