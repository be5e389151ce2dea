/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end over OpenCL, which is loaded at run time: neither a header nor a library of OpenCL's
 * is needed to build. A stream is a cl_command_queue with CL_QUEUE_PROFILING_ENABLE. An event of
 * this library is a marker command: its time is the one at which the marker was complete, which is
 * after all commands that were enqueued before it (Khronos' page of clEnqueueMarkerWithWaitList).
 *
 * Implementation notes
 * - The functions, types and constants are from the OpenCL 1.2 API; opencl_header_test.c compares
 *   them with CL/cl.h.
 * - A queue is retained from the record of an event until its time was read, so a program may
 *   release it in a scope or after it. OpenCL has no call that tells whether a handle is valid.
 * - Commands may be held back until clFlush or a blocking call (page of clFlush), so an event is
 *   flushed before it is first polled; a poll of an event that was not would never succeed.
 * - Places are by device: its contexts share events of this library, which hold no resource of a
 *   context between two records.
 * - The times are differences on the device's own clock. Nothing reads it as a point in time.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_keep.h"
#include "base/scratch.h"
#include "gpu_backends.h"
#include "opencl_abi.h"
#include "system/log.h"

#define OPENCL_LIBRARY "libOpenCL.so.1"
#define OPENCL_DEVICES 16u  /* with a number; others have none, and no name */
#define EVENTS_A_SLAB 1365u /* 32 KiB */
#define OPENCL_TRIES 10000  /* to wait for a copy of some 300 bytes, with no call out */

struct opencl_functions {
    opencl_get_info queue_info; /* clGetCommandQueueInfo */
    opencl_get_info device_info;
    opencl_get_info event_info;
    opencl_get_info event_profiling;
    opencl_enqueue_marker marker;
    opencl_wait_for wait;
    opencl_call_one event_release;
    opencl_call_one queue_retain;
    opencl_call_one queue_release;
    opencl_call_one flush;
};

static const struct {
    const char *name;
    size_t offset;
} opencl_symbols[] = {
    {"clGetCommandQueueInfo", offsetof(struct opencl_functions, queue_info)},
    {"clGetDeviceInfo", offsetof(struct opencl_functions, device_info)},
    {"clGetEventInfo", offsetof(struct opencl_functions, event_info)},
    {"clGetEventProfilingInfo", offsetof(struct opencl_functions, event_profiling)},
    {"clEnqueueMarkerWithWaitList", offsetof(struct opencl_functions, marker)},
    {"clWaitForEvents", offsetof(struct opencl_functions, wait)},
    {"clReleaseEvent", offsetof(struct opencl_functions, event_release)},
    {"clRetainCommandQueue", offsetof(struct opencl_functions, queue_retain)},
    {"clReleaseCommandQueue", offsetof(struct opencl_functions, queue_release)},
    {"clFlush", offsetof(struct opencl_functions, flush)},
};

/* Written once, by the first thread that has loaded the library, before any thread has the ops. */
static struct opencl_functions opencl;

/* ---- Codes. */

#define OPENCL_CODE 2000 /* codes without a counterpart: OPENCL_CODE - the number of OpenCL */

static const struct {
    int number;
    const char *name;
} opencl_codes[] = {
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {OPENCL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    {OPENCL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-30, "CL_INVALID_VALUE"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
};

static int opencl_get_code(int number) {
    return number == 0 ? GPU_OK : OPENCL_CODE - number;
}

static const char *opencl_name_number(int number) {
    for (size_t i = 0; i < sizeof opencl_codes / sizeof *opencl_codes; ++i) {
        if (opencl_codes[i].number == number) {
            return opencl_codes[i].name;
        }
    }
    return NULL;
}

static const char *opencl_name_code(int code) {
    return opencl_name_number(OPENCL_CODE - code);
}

/* Each reason is said once in a process; the footer of a report has the counts. */
enum opencl_fault { FAULT_NO_QUEUE, FAULT_NO_PROFILING, FAULT_ERROR, OPENCL_FAULTS };

static int opencl_is_new(enum opencl_fault fault) {
    static int said[OPENCL_FAULTS]; /* relaxed */
    return !__atomic_load_n(&said[fault], __ATOMIC_RELAXED) &&
           !__atomic_exchange_n(&said[fault], 1, __ATOMIC_RELAXED);
}

/* The code of a call; the first error of the process is named. */
static int opencl_check(const char *call, int number) {
    if (number && opencl_is_new(FAULT_ERROR)) {
        const char *name = opencl_name_number(number);
        log_warning("OpenCL: %s returned %s (%d): such scopes have CPU time only", call,
                    name ? name : "an error", number);
    }
    return opencl_get_code(number);
}

/* ---- Devices: a number for each, in the order in which their queues are first timed. */

static void *opencl_devices[OPENCL_DEVICES]; /* NULL: free; set once; relaxed */

static int opencl_get_device_number(void *device) {
    for (unsigned i = 0; i < OPENCL_DEVICES; ++i) {
        void *have = __atomic_load_n(&opencl_devices[i], __ATOMIC_RELAXED);
        if (!have && __atomic_compare_exchange_n(&opencl_devices[i], &have, device, 0,
                                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            return (int)i;
        }
        if (have == device) {
            return (int)i;
        }
    }
    return -1;
}

static int opencl_describe_device(int number, struct gpu_device *out) {
    char name[256] = ""; /* longer ones have none: OpenCL then writes nothing */
    uint32_t units = 0;
    memset(out, 0, sizeof *out);
    if (number < 0 || (unsigned)number >= OPENCL_DEVICES) {
        return GPU_INVALID_VALUE;
    }
    void *device = __atomic_load_n(&opencl_devices[number], __ATOMIC_RELAXED);
    if (!device) {
        return GPU_INVALID_VALUE;
    }
    if (!opencl.device_info(device, OPENCL_DEVICE_NAME, sizeof name - 1, name, NULL)) {
        snprintf(out->name, sizeof out->name, "%.63s", name);
    }
    if (!opencl.device_info(device, OPENCL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL)) {
        out->multiprocessors = units;
    }
    return GPU_OK;
}

/* ---- Queues. */

static int opencl_get_context(void *stream, struct gpu_context *out) {
    uint64_t properties = 0;
    void *device = NULL;
    memset(out, 0, sizeof *out);
    out->device = -1;
    if (!stream) {
        if (opencl_is_new(FAULT_NO_QUEUE)) {
            log_warning(
                "OpenCL: a scope's queue is NULL, as without a device: such scopes have CPU "
                "time only");
        }
        return GPU_INVALID_CONTEXT;
    }
    int number =
        opencl.queue_info(stream, OPENCL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (!number) {
        number = opencl.queue_info(stream, OPENCL_QUEUE_DEVICE, sizeof device, &device, NULL);
    }
    if (number) {
        return opencl_check("clGetCommandQueueInfo", number);
    }
    if (!(properties & OPENCL_QUEUE_PROFILING_ENABLE)) {
        if (opencl_is_new(FAULT_NO_PROFILING)) {
            log_warning("OpenCL: a scope's queue was made without CL_QUEUE_PROFILING_ENABLE: such "
                        "scopes have CPU time only");
        }
        return GPU_UNSUPPORTED;
    }
    out->handle = device;
    out->device = opencl_get_device_number(device);
    return GPU_OK;
}

/* ---- Events. Each belongs to the thread that has its pair. */

struct opencl_event {
    void *marker; /* cl_event; NULL: not recorded, or its time was read */
    void *queue;  /* retained as long as there is a marker */
    int flushed;
};

struct opencl_slab {
    uint32_t used; /* may be more than there are; relaxed */
    struct opencl_event event[EVENTS_A_SLAB];
};

static struct opencl_slab *opencl_slab; /* the newest; acquire, release */

static int opencl_event_new(void **event) {
    for (;;) {
        struct opencl_slab *s = __atomic_load_n(&opencl_slab, __ATOMIC_ACQUIRE);
        uint32_t at = EVENTS_A_SLAB;
        if (s && __atomic_load_n(&s->used, __ATOMIC_RELAXED) < EVENTS_A_SLAB) {
            at = __atomic_fetch_add(&s->used, 1, __ATOMIC_RELAXED);
        }
        if (at < EVENTS_A_SLAB) {
            *event = &s->event[at];
            return GPU_OK;
        }
        struct opencl_slab *more = pages_get(sizeof *more);
        if (!more) {
            return opencl_get_code(OPENCL_OUT_OF_HOST_MEMORY);
        }
        if (!__atomic_compare_exchange_n(&opencl_slab, &s, more, 0, __ATOMIC_RELEASE,
                                         __ATOMIC_RELAXED)) {
            pages_put(more, sizeof *more); /* another thread was first */
        }
    }
}

static void opencl_event_clear(void *event) {
    struct opencl_event *e = event;
    if (e->marker) {
        opencl.event_release(e->marker);
        opencl.queue_release(e->queue);
        e->marker = NULL;
    }
}

/* Its place remains used: events are only dropped when memory is short. */
static int opencl_event_drop(void *event) {
    opencl_event_clear(event);
    return GPU_OK;
}

static int opencl_event_record(void *event, void *stream) {
    struct opencl_event *e = event;
    int number = opencl.queue_retain(stream);
    if (number) {
        return opencl_check("clRetainCommandQueue", number);
    }
    number = opencl.marker(stream, 0, NULL, &e->marker);
    if (number) {
        e->marker = NULL;
        opencl.queue_release(stream);
        return opencl_check("clEnqueueMarkerWithWaitList", number);
    }
    e->queue = stream;
    e->flushed = 0;
    return GPU_OK;
}

static int opencl_event_query(void *event) {
    struct opencl_event *e = event;
    int status = 0;
    if (!e->flushed) {
        e->flushed = 1;
        int number = opencl.flush(e->queue);
        if (number) {
            return opencl_check("clFlush", number);
        }
    }
    int number = opencl.event_info(e->marker, OPENCL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                   &status, NULL);
    if (number) {
        return opencl_check("clGetEventInfo", number);
    }
    if (status < 0) {
        return opencl_check("the work before a marker", status);
    }
    return status == OPENCL_COMPLETE ? GPU_OK : GPU_NOT_READY;
}

static int opencl_event_wait(void *event) {
    struct opencl_event *e = event;
    return opencl_check("clWaitForEvents", opencl.wait(1, &e->marker));
}

static int opencl_get_end(const struct opencl_event *e, uint64_t *ns) {
    return opencl.event_profiling(e->marker, OPENCL_PROFILING_COMMAND_END, sizeof *ns, ns, NULL);
}

/* A time is read once: what the events hold is released then. */
static int opencl_event_elapsed(void *from, void *to, uint64_t *ns) {
    uint64_t begin = 0, end = 0;
    int number = opencl_get_end(to, &end);
    if (!number) {
        number = opencl_get_end(from, &begin);
    }
    opencl_event_clear(from);
    opencl_event_clear(to);
    if (number) {
        return opencl_check("clGetEventProfilingInfo", number);
    }
    *ns = end - begin;
    return end >= begin ? GPU_OK : GPU_INVALID_VALUE;
}

/* ---- The library. */

static const struct gpu_words opencl_words = {{[GPU_WORD_PLATFORM] = "OpenCL",
                                               [GPU_WORD_PINNED] = "CL_MEM_ALLOC_HOST_PTR",
                                               [GPU_WORD_PREFETCH] = "clEnqueueMigrateMemObjects",
                                               [GPU_WORD_COPY_ASYNC] = "clEnqueueCopyBuffer"}};

static const struct gpu_ops usable_opencl = {
    .name = "opencl",
    .words = &opencl_words,
    .context = opencl_get_context,
    .event_new = opencl_event_new,
    .event_drop = opencl_event_drop,
    .event_clear = opencl_event_clear,
    .event_record = opencl_event_record,
    .event_query = opencl_event_query,
    .event_wait = opencl_event_wait,
    .event_elapsed = opencl_event_elapsed,
    .device = opencl_describe_device,
    .code_name = opencl_name_code,
};

/* Loads the functions. Returns a text about what is missing, or NULL. */
static const char *opencl_load(struct opencl_functions *out) {
    void *library = dlopen(OPENCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return OPENCL_LIBRARY " not found";
    }
    for (size_t i = 0; i < sizeof opencl_symbols / sizeof *opencl_symbols; ++i) {
        void *symbol = dlsym(library, opencl_symbols[i].name);
        if (!symbol) {
            return OPENCL_LIBRARY " lacks a function of OpenCL 1.2";
        }
        memcpy((char *)out + opencl_symbols[i].offset, &symbol, sizeof symbol);
    }
    return NULL;
}

/* The library is loaded by each thread that asks at once, as another thread may wait for the
 * dynamic linker in a constructor that asks, too; the first one's result is kept. */
static const struct gpu_ops *opencl_open(void) {
    ERRNO_KEEP;
    enum { LIBRARY_NEW, LIBRARY_WRITING, LIBRARY_KNOWN };
    static int state; /* acquire, release */
    static struct gpu_ops refused;
    struct opencl_functions found = {0};
    const char *reason = opencl_load(&found);
    int now = LIBRARY_NEW;
    if (__atomic_compare_exchange_n(&state, &now, LIBRARY_WRITING, 0, __ATOMIC_ACQUIRE,
                                    __ATOMIC_ACQUIRE)) {
        opencl = found;
        refused = gpu_none;
        refused.name = "opencl";
        refused.words = &opencl_words;
        refused.reason = reason;
        __atomic_store_n(&state, LIBRARY_KNOWN, __ATOMIC_RELEASE);
        now = LIBRARY_KNOWN;
    }
    for (int i = 0; now != LIBRARY_KNOWN && i < OPENCL_TRIES; ++i) {
        sched_yield();
        now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    }
    if (now != LIBRARY_KNOWN) {
        return &gpu_none; /* in the child of a fork at that moment */
    }
    return refused.reason ? &refused : &usable_opencl;
}

const struct gpu_backend gpu_opencl = {.name = "opencl", .of_queues = 1, .open = opencl_open};
