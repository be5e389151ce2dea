/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of a GPU back end. There is always one: gpu_none.c when no other is usable, so that
 * no caller has to check. session/connect.c says which a build has; no other file names one. All
 * that can be used are open at once, and a stream carries the one that it belongs to. A handle does
 * not tell whether it is a stream or a command queue: the scope that has it does, by its macro.
 *
 * All functions return a code. The library handles the codes of enum gpu_code, and a back end
 * translates its own into them; any other number is the back end's own, for code_name and is_fatal.
 *
 * None initialises the GPU, makes a context or waits, except event_wait and wait. Any thread; never
 * with a lock of this library held: each call may end up in a tool, which may call back.
 */
#ifndef STINT_GPU_H
#define STINT_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "arena/gpu_words.h"

/* The numbers of the first back end; others translate. */
enum gpu_code {
    GPU_CONTEXT_UNKNOWN = -1, /* of this library: whether the context exists is not known */
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
    GPU_CAPTURE_IMPLICIT = 906, /* the query would have affected a capturing stream */
    GPU_CAPTURED_EVENT = 907
};

/* The default streams as programs name them. */
#define GPU_STREAM_LEGACY ((void *)(uintptr_t)1)
#define GPU_STREAM_PER_THREAD ((void *)(uintptr_t)2)
static inline int gpu_stream_is_default(const void *stream) {
    return !stream || stream == GPU_STREAM_LEGACY || stream == GPU_STREAM_PER_THREAD;
}

/* Whether a context exists, as far as that can be found out without using it. */
enum gpu_existence { GPU_EXISTS, GPU_IS_GONE, GPU_MAY_BE_GONE };

struct gpu_ops;

/* Where a stream's work runs. id: distinguishes contexts at the same address, 0 = unknown; device:
 * -1 = unknown. gpu: its back end, as set by gpu_get_context; back ends leave it. */
struct gpu_context {
    const struct gpu_ops *gpu;
    void *handle;
    uint64_t id;
    int device;
};

static inline int gpu_context_is_same(const struct gpu_context *a, const struct gpu_context *b) {
    return a->handle == b->handle && a->id == b->id && a->gpu == b->gpu;
}

/* A stream of a program, with the back end that it is a stream of. */
struct gpu_stream {
    const struct gpu_ops *gpu;
    void *handle;
};

/* Properties of a device; 0 = unknown. */
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
    uint32_t threads_per_mp; /* this and the next: limits of occupancy */
    uint32_t blocks_per_mp;
    uint32_t registers_per_mp;
    uint32_t shared_per_mp;   /* bytes */
    uint32_t reserved_shared; /* bytes of it a block */
};

/* Each comment says what the member does, and what happens where it is NULL ("not supported").
 * Calling code goes through the gpu_ functions at the end of this file where such a case has to be
 * handled. All members return a code unless said otherwise. */
struct gpu_ops {
    /* For reports and messages. Never NULL. */
    const char *name;
    /* Why the back end can do nothing, for reports and messages; NULL: it is usable. */
    const char *reason;
    /* Its vendor's words, for reports and messages. NULL: unknown. */
    const struct gpu_words *words;

    /* Whether a stream, or with NULL the calling thread, is one of this back end. NULL: not known;
     * such a back end gets the streams that no other one owns. */
    int (*owns)(void *stream);
    /* The context of a stream, or with NULL the calling thread's. Never NULL. */
    int (*context)(void *stream, struct gpu_context *out);
    /* Whether the platform is not initialised, as it also remains where the driver has no device;
     * asks only if the last context() found it so. NULL: not known. */
    int (*uninitialized)(void);
    /* Where context() of a default stream returns GPU_INVALID_CONTEXT, as in a thread before its
     * first call: the context that this call would make current, if it exists. Not in a signal
     * handler. NULL: not known. */
    int (*primary)(void *stream, struct gpu_context *out);
    /* Makes a context current until leave(), for event_new. Both NULL: every call is in the right
     * context. */
    int (*enter)(const struct gpu_context *c);
    void (*leave)(const struct gpu_context *c);
    /* Whether the context is current, by one call instead of the two of enter and leave. NULL: not
     * known. */
    int (*is_current)(const struct gpu_context *c);
    /* Whether a context that is not current exists: to use one that was destroyed, or its events,
     * may crash. primary: what is_primary returned for it. NULL: a context exists for good. */
    enum gpu_existence (*exists)(const struct gpu_context *c, int primary);
    /* Whether the context, which exists, is the one that all parts of a process share on its
     * device. NULL: there are no such contexts. */
    int (*is_primary)(const struct gpu_context *c);

    /* Waits until the current context's work is done. NULL: there is no waiting for contexts. */
    int (*wait)(void);

    /* Whether the stream is being captured into a graph. NULL: it never is. */
    int (*capturing)(void *stream, int *yes);
    /* Exchanges the thread's mode: GPU_MODE_RELAXED is the one in which a query breaks no stream
     * capture. NULL: there are no modes; queries are made as they are. */
    int (*capture_mode)(int *mode);

    /* Either all six are there, or all are NULL: scopes then have no GPU times, as without a
     * GPU. */
    int (*event_new)(void **event); /* in the current context */
    int (*event_drop)(void *event);
    /* Releases what an event holds, from its record until its time was read. The event may be
     * recorded again, also after an error. NULL: events hold nothing, and after an error they are
     * not used again. */
    void (*event_clear)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_wait)(void *event);
    /* GPU_INVALID_VALUE: the time is not plausible. */
    int (*event_elapsed)(void *from, void *to, uint64_t *ns);

    /* The platform's version that the driver supports, as the driver numbers it. NULL: unknown. */
    int (*version)(int *out);

    /* Start and stop an outside profiler, in the current context. start NULL: capture ranges
     * capture nothing and say so in a line. stop NULL: the profiler goes on. */
    int (*capture_start)(void);
    int (*capture_stop)(void);
    /* Describes a device. */
    int (*device)(int number, struct gpu_device *out);
    /* The name of a code, which may be NULL: unknown. NULL: all are unknown ("error"). */
    const char *(*code_name)(int code);
    /* See gpu_is_fatal; returns yes or no. NULL: no code is. */
    int (*is_fatal)(int code);
};
#define GPU_MODE_RELAXED 2

struct gpu_backend {
    /* Never NULL. */
    const char *name;
    /* Returns a part of the path of the library without which no context can exist, as mappings
     * show it. NULL: there is no such library, and the back end is looked for even by a thread that
     * may be in a signal handler (gpu_may_seek). */
    const char *(*library)(void);
    /* Its streams are command queues, and a scope says that it has one: the back end is opened by
     * the first such scope, and gets no other stream. 0: its streams are all others. */
    int of_queues;
    /* Opens it. Never NULL, and never returns NULL: a back end that cannot be used has a reason;
     * &gpu_none itself: it could not be tried now, and will be again. */
    const struct gpu_ops *(*open)(void);
    /* After open() gave a reason: whether the program has loaded the library since; loads nothing
     * and changes nothing that open() returned. Usable ops, or NULL. A NULL member: what open()
     * returned remains. */
    const struct gpu_ops *(*look)(void);
};
#define GPU_BACKENDS_MAX 4u /* of a list; more are not tried */

extern const struct gpu_ops gpu_none;

/* The back ends of this build, in order; the list ends with NULL and stays valid. Once, from the
 * library's constructor. Without it there is none. */
void gpu_set_list(const struct gpu_backend *const *list);
/* That list; NULL before. */
const struct gpu_backend *const *gpu_list(void);

/* Whether the calling thread may call gpu_ops() for the first time (gpu_seek.c). 0: it may be in a
 * signal handler, and the library of no back end is loaded, so that there is nothing to measure. */
int gpu_may_seek(void);

/* The first usable back end of this process that is not of queues; never NULL. The first call opens
 * all of those (115 us where there is no driver) with the settings that config then has: read the
 * environment first. Threads that race to be the first may all look, and find the same. */
const struct gpu_ops *gpu_ops(void);
/* Opens all, as gpu_ops; the usable one with those words, else &gpu_none, which has a reason, or
 * the one that has the words and cannot be used. */
const struct gpu_ops *gpu_ops_of(const struct gpu_words *words);
/* Opens all, as gpu_ops; the stream with its back end: the one that owns it, else the first usable
 * one that cannot tell, else the first. */
struct gpu_stream gpu_stream_of(void *handle);
/* The command queue with its back end, the first usable one of queues, which the first call opens.
 * Any thread, but not in a signal handler. */
struct gpu_stream gpu_stream_of_queue(void *handle);
/* Where gpu_ops() had found a back end unusable: looks again for those whose library the program
 * has loaded since, without loading it. At most once a second; now: ticks, of any recent moment.
 * Whether a back end can be used now. */
int gpu_look_again(uint64_t now);
extern uint64_t gpu_next_look; /* not before; ticks, UINT64_MAX: never; any thread, relaxed */
/* The same as gpu_ops() if that was called before, else NULL: for a report of a program without GPU
 * scopes nothing is loaded. */
const struct gpu_ops *gpu_known(void);
/* The same for queues; NULL before gpu_stream_of_queue. */
const struct gpu_ops *gpu_known_of_queues(void);
/* The known usable back ends in order, with the ones for queues; NULL after the last. */
const struct gpu_ops *gpu_known_at(unsigned index);

/* Converts a time; GPU_OK, or GPU_INVALID_VALUE for one that is not plausible. */
int gpu_time_ns(float ms, uint64_t *ns);

/* The name that a back end gives to a code, or "error". */
const char *gpu_code_name(const struct gpu_ops *gpu, int code);

/* Whether no later call of that back end can succeed after this error: the process ends, or the GPU
 * has failed. Not errors of one context or handle. */
int gpu_is_fatal(const struct gpu_ops *gpu, int code);

/* The stream's context, or where the thread has none yet, the one that its first call would make
 * current (primary). */
int gpu_get_context(const struct gpu_stream *stream, struct gpu_context *out);

/* The calls of members that may be NULL. */
/* Whether calls are made in the context already. */
static inline int gpu_is_current(const struct gpu_ops *gpu, const struct gpu_context *c) {
    return !gpu->enter || (gpu->is_current && gpu->is_current(c));
}
/* The context is not current. entered: for gpu_leave; 0 after an error. */
static inline int gpu_enter_other(const struct gpu_ops *gpu, const struct gpu_context *c,
                                  int *entered) {
    int code = gpu->enter(c);
    *entered = code == GPU_OK;
    return code;
}
/* entered: as above; 0 where the context was current already, too. */
static inline int gpu_enter(const struct gpu_ops *gpu, const struct gpu_context *c, int *entered) {
    *entered = 0;
    if (gpu_is_current(gpu, c)) {
        return GPU_OK;
    }
    return gpu_enter_other(gpu, c, entered);
}
static inline enum gpu_existence gpu_context_exists(const struct gpu_ops *gpu,
                                                    const struct gpu_context *c, int primary) {
    if (!gpu->exists) {
        return GPU_EXISTS;
    }
    return gpu->exists(c, primary);
}
static inline int gpu_context_is_primary(const struct gpu_ops *gpu, const struct gpu_context *c) {
    return gpu->is_primary && gpu->is_primary(c);
}
static inline void gpu_leave(const struct gpu_ops *gpu, const struct gpu_context *c, int entered) {
    if (entered && gpu->leave) {
        gpu->leave(c);
    }
}
static inline int gpu_capturing(const struct gpu_ops *gpu, void *stream, int *yes) {
    *yes = 0;
    if (!gpu->capturing) {
        return GPU_OK;
    }
    return gpu->capturing(stream, yes);
}
static inline int gpu_capture_mode(const struct gpu_ops *gpu, int *mode) {
    if (!gpu->capture_mode) {
        return GPU_UNSUPPORTED;
    }
    return gpu->capture_mode(mode);
}
static inline int gpu_device(const struct gpu_ops *gpu, int number, struct gpu_device *out) {
    if (!gpu->device) {
        return GPU_UNSUPPORTED;
    }
    return gpu->device(number, out);
}

/* Peak rates at nominal clocks: bytes per second to and from its memory and single-precision
 * operations per second, without tensor cores; 0 = unknown. STINT_GPU_PEAK has precedence over the
 * device's properties. */
void gpu_peak(const struct gpu_device *d, uint64_t *bytes_per_s, uint64_t *flops_per_s);

#endif
