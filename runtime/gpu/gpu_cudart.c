/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end over the CUDA runtime API, instead of gpu_driver.c (STINT_GPU_API=cudart).
 *
 * Implementation notes
 * - Any call may initialise CUDA, and most make a context on the current device. The first one is
 * made by the first GPU scope or capture range.
 * - cudart keeps a thread's last error for the program, and an error cannot be put back. An error
 * of a call of this file is therefore cleared, and one of the program's own is kept: while there is
 * one, no event is queried, as "not ready" is an error, too, and times stay pending. Only a call
 * that should have succeeded replaces it.
 * - A context is a device, as cudart uses its primary context. The contexts before and after a
 *   cudaDeviceReset cannot be distinguished: events of the first are used, which is undefined
 *   (cuda_runtime_api.h at cudaDeviceReset). The back end over the driver does not use them. */
#include "gpu_backends.h"

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_keep.h"
#include "cuda_codes.h"

/* Enters of a thread: a tool that a call ends up in may have ranges of its own. */
#define NESTED 4

struct attribute {
    enum cudaDeviceAttr number;
    size_t offset;
};

static const struct attribute attributes[] = {
    {cudaDevAttrClockRate, offsetof(struct gpu_device, clock_khz)},
    {cudaDevAttrMultiProcessorCount, offsetof(struct gpu_device, multiprocessors)},
    {cudaDevAttrMemoryClockRate, offsetof(struct gpu_device, memory_clock_khz)},
    {cudaDevAttrGlobalMemoryBusWidth, offsetof(struct gpu_device, memory_bus_bits)},
    {cudaDevAttrL2CacheSize, offsetof(struct gpu_device, l2_bytes)},
    {cudaDevAttrComputeCapabilityMajor, offsetof(struct gpu_device, major)},
    {cudaDevAttrComputeCapabilityMinor, offsetof(struct gpu_device, minor)},
    {cudaDevAttrSingleToDoublePrecisionPerfRatio, offsetof(struct gpu_device, fp64_ratio)},
    {cudaDevAttrMaxThreadsPerMultiProcessor, offsetof(struct gpu_device, threads_per_mp)},
    {cudaDevAttrMaxBlocksPerMultiprocessor, offsetof(struct gpu_device, blocks_per_mp)},
    {cudaDevAttrMaxRegistersPerMultiprocessor, offsetof(struct gpu_device, registers_per_mp)},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, offsetof(struct gpu_device, shared_per_mp)},
    {cudaDevAttrReservedSharedMemoryPerBlock, offsetof(struct gpu_device, reserved_shared)},
};

/* ---- Errors */

/* As in cuda_codes.c for the driver's. */
_Static_assert((int)cudaSuccess == (int)GPU_OK, "");
_Static_assert((int)cudaErrorInvalidValue == (int)GPU_INVALID_VALUE, "");
_Static_assert((int)cudaErrorInitializationError == (int)GPU_NOT_INITIALIZED, "");
_Static_assert((int)cudaErrorCudartUnloading == (int)GPU_DEINITIALIZED, "");
_Static_assert((int)cudaErrorStubLibrary == (int)GPU_STUB, "");
_Static_assert((int)cudaErrorDeviceUninitialized == (int)GPU_INVALID_CONTEXT, "");
_Static_assert((int)cudaErrorInvalidResourceHandle == (int)GPU_INVALID_HANDLE, "");
_Static_assert((int)cudaErrorNotReady == (int)GPU_NOT_READY, "");
_Static_assert((int)cudaErrorIllegalAddress == (int)GPU_ILLEGAL_ADDRESS, "");
_Static_assert((int)cudaErrorContextIsDestroyed == (int)GPU_CONTEXT_IS_DESTROYED, "");
_Static_assert((int)cudaErrorNotSupported == (int)GPU_UNSUPPORTED, "");
_Static_assert((int)cudaErrorStreamCaptureImplicit == (int)GPU_CAPTURE_IMPLICIT, "");
_Static_assert((int)cudaErrorCapturedEvent == (int)GPU_CAPTURED_EVENT, "");
_Static_assert((int)cudaStreamCaptureModeRelaxed == GPU_MODE_RELAXED, "");

static const char *cudart_get_code_name(int code) {
    const char *known = cuda_code_name(code);
    if (known) {
        return known;
    }
    const char *name = cudaGetErrorName((cudaError_t)code);
    return name && !strncmp(name, "cuda", 4) ? name : NULL; /* else: "unrecognized error code" */
}

/* After each call: returns its code. own: what cudaPeekAtLastError() returned before it. */
static int cudart_finish_call(cudaError_t own, cudaError_t code) {
    if (code && !own) {
        cudaGetLastError();
    }
    return (int)code;
}

/* ---- Contexts */

static __thread struct {
    int depth;
    int back[NESTED]; /* the device to return to, -1 = that one is current */
} entered __attribute__((tls_model("initial-exec")));

static int cudart_enter_context(const struct gpu_context *c) {
    int wanted = (int)(uintptr_t)c->handle - 1;
    int now = -1;
    cudaError_t own = cudaPeekAtLastError();
    if (entered.depth == NESTED) {
        return GPU_UNSUPPORTED;
    }
    cudaError_t code = cudaGetDevice(&now);
    if (!code && now != wanted) {
        code = cudaSetDevice(wanted);
    }
    if (!code) {
        entered.back[entered.depth++] = now == wanted ? -1 : now;
    }
    return cudart_finish_call(own, code);
}

static void cudart_leave_context(const struct gpu_context *c) {
    int back = entered.back[--entered.depth];
    (void)c;
    if (back >= 0) {
        cudaError_t own = cudaPeekAtLastError();
        cudart_finish_call(own, cudaSetDevice(back));
    }
}

/* Before CUDA 12.8 the thread's device: a scope on another device's stream fails. */
static cudaError_t cudart_get_device_of(void *stream, int *device) {
#if CUDART_VERSION >= 12080
    if (!gpu_stream_is_default(stream)) {
        return cudaStreamGetDevice(stream, device);
    }
#else
    (void)stream;
#endif
    return cudaGetDevice(device);
}

static int cudart_get_context(void *stream, struct gpu_context *out) {
    int device = -1;
    cudaError_t own = cudaPeekAtLastError();
    int code = cudart_finish_call(own, cudart_get_device_of(stream, &device));
    memset(out, 0, sizeof *out);
    out->device = -1;
    if (!code) {
        out->device = device;
        out->handle = (void *)(uintptr_t)(device + 1);
    }
    return code;
}

/* ---- Streams and events */

static int cudart_get_capturing(void *stream, int *yes) {
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaError_t own = cudaPeekAtLastError();
    int code = cudart_finish_call(own, cudaStreamIsCapturing(stream, &status));
    if (code == GPU_CAPTURE_IMPLICIT) {
        *yes = 1;
        return GPU_OK;
    }
    *yes = !code && status != cudaStreamCaptureStatusNone;
    return code;
}

static int cudart_exchange_capture_mode(int *mode) {
    enum cudaStreamCaptureMode exchanged = (enum cudaStreamCaptureMode) * mode;
    cudaError_t own = cudaPeekAtLastError();
    int code = cudart_finish_call(own, cudaThreadExchangeStreamCaptureMode(&exchanged));
    *mode = (int)exchanged;
    return code;
}

static int cudart_event_new(void **event) {
    cudaEvent_t made = NULL;
    cudaError_t own = cudaPeekAtLastError();
    int code = cudart_finish_call(
        own, cudaEventCreateWithFlags(&made, cudaEventDefault)); /* with timing */
    if (!code) {
        *event = made;
    }
    return code;
}

static int cudart_event_drop(void *event) {
    cudaError_t own = cudaPeekAtLastError();
    return cudart_finish_call(own, cudaEventDestroy(event));
}

static int cudart_event_record(void *event, void *stream) {
    cudaError_t own = cudaPeekAtLastError();
    return cudart_finish_call(own, cudaEventRecord(event, stream));
}

static int cudart_event_query(void *event) {
    cudaError_t own = cudaPeekAtLastError();
    if (own) {
        return GPU_NOT_READY;
    }
    return cudart_finish_call(own, cudaEventQuery(event));
}

static int cudart_event_wait(void *event) {
    cudaError_t own = cudaPeekAtLastError();
    return cudart_finish_call(own, cudaEventSynchronize(event));
}

static int cudart_event_elapsed(void *from, void *to, uint64_t *ns) {
    float ms = NAN;
    cudaError_t own = cudaPeekAtLastError();
    int code = cudart_finish_call(own, cudaEventElapsedTime(&ms, from, to));
    *ns = 0;
    if (code) {
        return code;
    }
    return gpu_time_ns(ms, ns);
}

/* ---- Tools and devices */

static int cudart_capture_start(void) {
    cudaError_t own = cudaPeekAtLastError();
    return cudart_finish_call(own, cudaProfilerStart());
}

static int cudart_capture_stop(void) {
    cudaError_t own = cudaPeekAtLastError();
    return cudart_finish_call(own, cudaProfilerStop());
}

static int cudart_describe_device(int number, struct gpu_device *out) {
    struct cudaDeviceProp properties; /* its name has 256 bytes */
    cudaError_t own = cudaPeekAtLastError();
    int code = cudart_finish_call(own, cudaGetDeviceProperties(&properties, number));
    memset(out, 0, sizeof *out);
    if (!code) {
        memcpy(out->name, properties.name, sizeof out->name - 1);
    }
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i) {
        int value = 0;
        int failed =
            cudart_finish_call(own, cudaDeviceGetAttribute(&value, attributes[i].number, number));
        if (!failed && value > 0) {
            uint32_t known = (uint32_t)value;
            memcpy((char *)out + attributes[i].offset, &known, sizeof known);
            code = GPU_OK;
        }
    }
    return code;
}

static const struct gpu_ops usable_cudart = {
    .name = "cudart",
    .words = &cuda_words,
    .context = cudart_get_context,
    .enter = cudart_enter_context,
    .leave = cudart_leave_context,
    .capturing = cudart_get_capturing,
    .capture_mode = cudart_exchange_capture_mode,
    .event_new = cudart_event_new,
    .event_drop = cudart_event_drop,
    .event_record = cudart_event_record,
    .event_query = cudart_event_query,
    .event_wait = cudart_event_wait,
    .event_elapsed = cudart_event_elapsed,
    .capture_start = cudart_capture_start,
    .capture_stop = cudart_capture_stop,
    .device = cudart_describe_device,
    .code_name = cudart_get_code_name,
    .is_fatal = cuda_code_is_fatal,
};

/* ---- Looking */

/* Threads that open the back end at once write one each; one of them is used. */
#define LOOKERS 8
static struct useless {
    struct gpu_ops ops;
    char reason[100];
} useless[LOOKERS];
static unsigned lookers;

static void cudart_say_why(cudaError_t code, char *reason, size_t size) {
    int version = 0;
    if (code == cudaErrorStubLibrary) {
        snprintf(reason, size, "libcuda.so.1 is the toolkit's stub, not a driver");
    } else if (code == cudaErrorNoDevice) {
        snprintf(reason, size, "no CUDA device");
    } else if (code != cudaErrorInsufficientDriver) {
        snprintf(reason, size, "the CUDA runtime returns %.60s", cudaGetErrorName(code));
    } else if (cudaDriverGetVersion(&version) || version == 0) {
        snprintf(reason, size, "no CUDA driver: no libcuda.so.1");
    } else {
        snprintf(reason, size, "the CUDA driver supports CUDA %d.%d, too old for cudart %d.%d",
                 version / 1000, version % 1000 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 1000 / 10);
    }
}

static const struct gpu_ops *cudart_open(void) {
    ERRNO_KEEP;
    int count = 0;
    cudaError_t own = cudaPeekAtLastError();
    cudaError_t code = cudaGetDeviceCount(&count);
    const struct gpu_ops *ops = &usable_cudart;
    if (cudart_finish_call(own, code)) {
        unsigned i = __atomic_fetch_add(&lookers, 1, __ATOMIC_RELAXED);
        ops = &gpu_none;
        if (i < LOOKERS) {
            cudart_say_why(code, useless[i].reason, sizeof useless[i].reason);
            useless[i].ops = gpu_none;
            useless[i].ops.reason = useless[i].reason;
            useless[i].ops.words = &cuda_words;
            ops = &useless[i].ops;
        }
    }
    return ops;
}

/* The library itself is linked; contexts need the driver's. */
const struct gpu_backend gpu_cudart = {
    .name = "cudart", .library = cuda_get_library_part, .open = cudart_open};
