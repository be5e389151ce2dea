/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end over the CUDA runtime API, instead of gpu_driver.c (STINT_GPU_API=cudart).
 *
 * Implementation notes
 * - Any call may initialise CUDA, and most make a context on the current device: cudart has no other
 *   way to answer. The first is made by the first GPU scope or capture range.
 * - cudart keeps a thread's last error for the program, and none can be put back. One of ours is
 *   taken out again; the program's own stays: while it is there nothing is asked of events, whose
 *   usual answer is an error, and times wait. Only a call that should have succeeded replaces it.
 * - A context is a device, whose primary one cudart uses. Nothing tells the contexts before and
 *   after a cudaDeviceReset apart: events of the first fail once each, and are counted.
 */
#include "gpu_cudart.h"

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_keep.h"
#include "cuda_codes.h"

#define NESTED 4 /* enters of a thread: a tool behind a call may have ranges of its own */

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

/* ---- Errors ------------------------------------------------------------------------------------*/

/* cuda_codes.c says the same of the driver's. */
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

static const char *code_name(int code) {
    const char *known = cuda_code_name(code);
    if (known) {
        return known;
    }
    const char *name = cudaGetErrorName((cudaError_t)code);
    return name && !strncmp(name, "cuda", 4) ? name : NULL; /* else: "unrecognized error code" */
}

/* After each call: its code; own: what cudaPeekAtLastError() said before it. */
static int ended(cudaError_t own, cudaError_t code) {
    if (code && !own) {
        cudaGetLastError();
    }
    return (int)code;
}

/* ---- Contexts ----------------------------------------------------------------------------------*/

static __thread struct {
    int depth;
    int back[NESTED]; /* the device to return to, -1 = that one is current */
} entered __attribute__((tls_model("initial-exec")));

static int enter(const struct gpu_context *c) {
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
    return ended(own, code);
}

static void leave(const struct gpu_context *c) {
    int back = entered.back[--entered.depth];
    (void)c;
    if (back >= 0) {
        cudaError_t own = cudaPeekAtLastError();
        ended(own, cudaSetDevice(back));
    }
}

static int is_default(const void *stream) {
    return !stream || stream == GPU_STREAM_LEGACY || stream == GPU_STREAM_PER_THREAD;
}

/* Before CUDA 12.8 that of the thread: a scope on another device's stream is a failed one. */
static cudaError_t device_of(void *stream, int *device) {
#if CUDART_VERSION >= 12080
    if (!is_default(stream)) {
        return cudaStreamGetDevice(stream, device);
    }
#else
    (void)stream;
#endif
    return cudaGetDevice(device);
}

static int context(void *stream, struct gpu_context *out) {
    int device = -1;
    cudaError_t own = cudaPeekAtLastError();
    int code = ended(own, device_of(stream, &device));
    memset(out, 0, sizeof *out);
    out->device = code ? -1 : device;
    out->handle = code ? NULL : (void *)(uintptr_t)(device + 1);
    return code;
}

/* ---- Streams and events ------------------------------------------------------------------------*/

static int capturing(void *stream, int *yes) {
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaError_t own = cudaPeekAtLastError();
    int code = ended(own, cudaStreamIsCapturing(stream, &status));
    if (code == GPU_CAPTURE_IMPLICIT) {
        *yes = 1;
        return GPU_OK;
    }
    *yes = !code && status != cudaStreamCaptureStatusNone;
    return code;
}

static int capture_mode(int *mode) {
    enum cudaStreamCaptureMode exchanged = (enum cudaStreamCaptureMode) * mode;
    cudaError_t own = cudaPeekAtLastError();
    int code = ended(own, cudaThreadExchangeStreamCaptureMode(&exchanged));
    *mode = (int)exchanged;
    return code;
}

static int event_new(void **event) {
    cudaEvent_t made = NULL;
    cudaError_t own = cudaPeekAtLastError();
    int code = ended(own, cudaEventCreateWithFlags(&made, cudaEventDefault)); /* with timing */
    if (!code) {
        *event = made;
    }
    return code;
}

static int event_drop(void *event) {
    cudaError_t own = cudaPeekAtLastError();
    return ended(own, cudaEventDestroy(event));
}

static int event_record(void *event, void *stream) {
    cudaError_t own = cudaPeekAtLastError();
    return ended(own, cudaEventRecord(event, stream));
}

static int event_query(void *event) {
    cudaError_t own = cudaPeekAtLastError();
    return own ? GPU_NOT_READY : ended(own, cudaEventQuery(event));
}

static int event_wait(void *event) {
    cudaError_t own = cudaPeekAtLastError();
    return ended(own, cudaEventSynchronize(event));
}

static int event_elapsed(void *from, void *to, uint64_t *ns) {
    float ms = NAN;
    cudaError_t own = cudaPeekAtLastError();
    int code = ended(own, cudaEventElapsedTime(&ms, from, to));
    *ns = 0;
    return code ? code : gpu_time_ns(ms, ns);
}

/* ---- Tools and devices -------------------------------------------------------------------------*/

static int capture_start(void) {
    cudaError_t own = cudaPeekAtLastError();
    return ended(own, cudaProfilerStart());
}

static int capture_stop(void) {
    cudaError_t own = cudaPeekAtLastError();
    return ended(own, cudaProfilerStop());
}

static int device(int number, struct gpu_device *out) {
    struct cudaDeviceProp properties; /* its name has 256 bytes */
    cudaError_t own = cudaPeekAtLastError();
    int code = ended(own, cudaGetDeviceProperties(&properties, number));
    memset(out, 0, sizeof *out);
    if (!code) {
        memcpy(out->name, properties.name, sizeof out->name - 1);
    }
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i) {
        int value = 0;
        int failed = ended(own, cudaDeviceGetAttribute(&value, attributes[i].number, number));
        if (!failed && value > 0) {
            uint32_t known = (uint32_t)value;
            memcpy((char *)out + attributes[i].offset, &known, sizeof known);
            code = GPU_OK;
        }
    }
    return code;
}

static const struct gpu_ops usable = {
    .name = "cudart",
    .context = context,
    .enter = enter,
    .leave = leave,
    .capturing = capturing,
    .capture_mode = capture_mode,
    .event_new = event_new,
    .event_drop = event_drop,
    .event_record = event_record,
    .event_query = event_query,
    .event_wait = event_wait,
    .event_elapsed = event_elapsed,
    .capture_start = capture_start,
    .capture_stop = capture_stop,
    .device = device,
    .code_name = code_name,
    .is_fatal = cuda_code_is_fatal,
};

/* ---- Looking -----------------------------------------------------------------------------------*/

/* Threads that look at once each write their own; one of them is taken. */
#define LOOKERS 8
static struct useless {
    struct gpu_ops ops;
    char reason[100];
} useless[LOOKERS];
static unsigned lookers;

static void say_why(cudaError_t code, char *reason, size_t size) {
    int version = 0;
    if (code == cudaErrorStubLibrary) {
        snprintf(reason, size, "libcuda.so.1 is the toolkit's stub, not a driver");
    } else if (code == cudaErrorNoDevice) {
        snprintf(reason, size, "no CUDA device");
    } else if (code != cudaErrorInsufficientDriver) {
        snprintf(reason, size, "the CUDA runtime answers %.60s", cudaGetErrorName(code));
    } else if (cudaDriverGetVersion(&version) || version == 0) {
        snprintf(reason, size, "no CUDA driver: no libcuda.so.1");
    } else {
        snprintf(reason, size, "the CUDA driver knows CUDA %d.%d, too old for cudart %d.%d",
                 version / 1000, version % 1000 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 1000 / 10);
    }
}

static const struct gpu_ops *open_cudart(const char *library) {
    ERRNO_KEEP;
    int count = 0;
    cudaError_t own = cudaPeekAtLastError();
    cudaError_t code = cudaGetDeviceCount(&count);
    const struct gpu_ops *ops = &usable;
    (void)library; /* it is linked */
    if (ended(own, code)) {
        unsigned i = __atomic_fetch_add(&lookers, 1, __ATOMIC_RELAXED);
        ops = &gpu_none;
        if (i < LOOKERS) {
            say_why(code, useless[i].reason, sizeof useless[i].reason);
            useless[i].ops = gpu_none;
            useless[i].ops.reason = useless[i].reason;
            ops = &useless[i].ops;
        }
    }
    return ops;
}

const struct gpu_backend gpu_cudart = {
    .name = "cudart", .library = "/libcuda.so", .open = open_cudart};
