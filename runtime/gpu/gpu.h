/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GPU back end can do. There is always one: gpu_none.c when no other is usable, so that no
 * caller asks for its absence. session/connect.c says which are tried; no other file names one.
 *
 * All functions return a code. The library decides by those of enum gpu_code, into which a back end
 * translates its own; any other number is the back end's, which names and judges it.
 *
 * None initialises the GPU, makes a context or waits, except event_wait. Any thread; never under a
 * lock of this library: each call may end up in a tool, which may call back.
 */
#ifndef STINT_GPU_H
#define STINT_GPU_H

#include <stddef.h>
#include <stdint.h>

/* The numbers are CUDA's where it has one (cuda_codes.c, gpu_cudart.c: asserted there). */
enum gpu_code {
    GPU_OK = 0,
    GPU_INVALID_VALUE = 1,
    GPU_NOT_INITIALIZED = 3,
    GPU_DEINITIALIZED = 4,
    GPU_STUB = 34,
    GPU_INVALID_CONTEXT = 201,
    GPU_INVALID_HANDLE = 400,
    GPU_NOT_READY = 600,
    GPU_ILLEGAL_ADDRESS = 700,
    GPU_CONTEXT_IS_DESTROYED = 709,
    GPU_UNSUPPORTED = 801,
    GPU_CAPTURE_IMPLICIT = 906, /* asking would have touched a stream being captured */
    GPU_CAPTURED_EVENT = 907
};

/* Streams that are none of the program's own, as it names them; likewise. */
#define GPU_STREAM_LEGACY ((void *)(uintptr_t)1)
#define GPU_STREAM_PER_THREAD ((void *)(uintptr_t)2)

/* Where a stream's work runs. id tells contexts at the same address apart, 0 = unknown; device -1 =
 * unknown. */
struct gpu_context {
    void *handle;
    uint64_t id;
    int device;
};

/* As the device says; 0 = it does not. */
struct gpu_device {
    char name[64];
    uint32_t major; /* compute capability */
    uint32_t minor;
    uint32_t multiprocessors;
    uint32_t clock_khz; /* nominal */
    uint32_t memory_clock_khz;
    uint32_t memory_bus_bits;
    uint32_t l2_bytes;
    uint32_t fp64_ratio;     /* single-precision rate over double-precision rate */
    uint32_t threads_per_mp; /* what limits occupancy */
    uint32_t blocks_per_mp;
    uint32_t registers_per_mp;
    uint32_t shared_per_mp;   /* bytes */
    uint32_t reserved_shared; /* bytes of it a block */
};

/* A member that is NULL is not supported. context must be there, and either all or none of event_new,
 * _drop, _record, _query, _wait and _elapsed: without them scopes have no GPU times. For the others
 * see the functions below. */
struct gpu_ops {
    const char *name;
    const char *reason; /* why it can do nothing; NULL if it can */

    /* The context of a stream, or with NULL the calling thread's. */
    int (*context)(void *stream, struct gpu_context *out);
    /* Makes it current until leave(), for event_new. */
    int (*enter)(const struct gpu_context *c);
    void (*leave)(const struct gpu_context *c);

    int (*capturing)(void *stream, int *yes); /* into a graph */
    /* Exchanges the thread's mode: GPU_MODE_RELAXED is the one in which a query breaks no stream
     * capture. */
    int (*capture_mode)(int *mode);

    int (*event_new)(void **event); /* in the current context */
    int (*event_drop)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_wait)(void *event);
    /* GPU_INVALID_VALUE: a time that cannot be. */
    int (*event_elapsed)(void *from, void *to, uint64_t *ns);

    int (*capture_start)(void); /* an outside profiler, in the current context */
    int (*capture_stop)(void);
    int (*device)(int number, struct gpu_device *out);
    const char *(*code_name)(int code); /* NULL: not known */
    int (*is_fatal)(int code);          /* see gpu_is_fatal */
};
#define GPU_MODE_RELAXED 2

struct gpu_backend {
    const char *name;
    /* Looks for it, under that name of its library, NULL = the usual one. Never NULL: what cannot be
     * used has a reason; &gpu_none itself: it could not even be asked, and will be again. */
    const struct gpu_ops *(*open)(const char *library);
};

extern const struct gpu_ops gpu_none;

/* The back ends to try, in order; the list ends with NULL and stays valid. Once, from the library's
 * constructor. Without it there is none. */
void gpu_set_list(const struct gpu_backend *const *list);

/* The back end of this process; never NULL. The first call looks for it (115 us where there is no
 * driver) under the name that config.cuda_lib then has: read the environment first. Threads that
 * race to be the first may all look, and find the same. */
const struct gpu_ops *gpu_ops(void);
/* The same if it was asked for already, else NULL: a program without GPU scopes loads nothing
 * for a report. */
const struct gpu_ops *gpu_known(void);

/* A time in ms; 0, or GPU_INVALID_VALUE for one that cannot be. */
int gpu_time_ns(float ms, uint64_t *ns);

/* A code's name ("CUDA_ERROR_ILLEGAL_ADDRESS"), or "error"; of the back end in use. */
const char *gpu_code_name(int code);

/* Errors after which no call can be right any more, in this process: it ends, or the GPU is at
 * fault. Not those of one context or handle. Of the back end in use. */
int gpu_is_fatal(int code);

/* What a back end may lack. Without contexts every call is in the right one. */
static inline int gpu_enter(const struct gpu_ops *gpu, const struct gpu_context *c) {
    return gpu->enter ? gpu->enter(c) : GPU_OK;
}
static inline void gpu_leave(const struct gpu_ops *gpu, const struct gpu_context *c) {
    if (gpu->leave) {
        gpu->leave(c);
    }
}
static inline int gpu_capturing(const struct gpu_ops *gpu, void *stream, int *yes) {
    *yes = 0;
    return gpu->capturing ? gpu->capturing(stream, yes) : GPU_OK;
}
static inline int gpu_capture_mode(const struct gpu_ops *gpu, int *mode) {
    return gpu->capture_mode ? gpu->capture_mode(mode) : GPU_UNSUPPORTED;
}
static inline int gpu_device(const struct gpu_ops *gpu, int number, struct gpu_device *out) {
    return gpu->device ? gpu->device(number, out) : GPU_UNSUPPORTED;
}

#endif
