/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The double of libOpenCL.so.1: queues, markers and events under one lock. opencl_double.h
 * describes its behaviour and names the reference pages of OpenCL that it follows.
 */
#include "opencl_double.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../double/locked.h"
#include "gpu/opencl_abi.h"

#define EXPORT __attribute__((visibility("default")))
#define CLOCK_OF_DEVICE 77000000000u /* ns; no clock of the host */

enum double_call {
#define DOUBLE_NUMBER(name) NUMBER_##name,
    OPENCL_DOUBLE_CALLS(DOUBLE_NUMBER) DOUBLE_CALLS
};
#define DOUBLE_NAME(name) #name,
static const char *const double_names[] = {OPENCL_DOUBLE_CALLS(DOUBLE_NAME)};

struct cl_double_queue {
    uint32_t alive; /* ALIVE, or the handle is none */
    unsigned count;
    unsigned device;
    int profiling;
    int held;
    int broken;
    uint64_t enqueued; /* the device's time at which all that was enqueued is done */
    uint64_t commands;
    uint64_t flushed; /* commands that the device knows */
};

struct cl_double_event {
    uint32_t alive;
    struct cl_double_queue *queue;
    uint64_t number; /* of its command */
    uint64_t end;
    int broken;
};

#define ALIVE 0x0c1a11feu

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned calls[DOUBLE_CALLS];
static int failures[DOUBLE_CALLS];
static unsigned queues_alive, events_alive;
static char devices[2];

static void double_abort(const char *what) {
    fprintf(stderr, "opencl double: %s\n", what);
    abort();
}

/* Counts a call; its failure, or 0. With the lock. */
static int double_enter(enum double_call call) {
    pthread_mutex_lock(&lock);
    ++calls[call];
    return failures[call];
}

static int double_leave(int code) {
    pthread_mutex_unlock(&lock);
    return code;
}

static struct cl_double_queue *double_get_queue(void *handle) {
    struct cl_double_queue *q = handle;
    if (!q || q->alive != ALIVE) {
        double_abort("a queue that is none, or was deleted");
    }
    return q;
}

static struct cl_double_event *double_get_event(void *handle) {
    struct cl_double_event *e = handle;
    if (!e || e->alive != ALIVE) {
        double_abort("an event that is none, or was released");
    }
    return e;
}

/* An event keeps no queue here: not every implementation's does. */
static void double_delete_queue(struct cl_double_queue *q) {
    if (--q->count == 0) {
        q->alive = 0;
        --queues_alive;
    }
}

static int double_is_complete(const struct cl_double_event *e) {
    return !e->queue->held && e->number <= e->queue->flushed;
}

static int double_give(const void *value, size_t has, size_t size, void *out) {
    if (size < has) {
        return -30;
    }
    memcpy(out, value, has);
    return 0;
}

EXPORT int clGetCommandQueueInfo(void *queue, uint32_t name, size_t size, void *out, size_t *used) {
    (void)used;
    int code = double_enter(NUMBER_clGetCommandQueueInfo);
    const struct cl_double_queue *q = double_get_queue(queue);
    uint64_t properties = q->profiling ? OPENCL_QUEUE_PROFILING_ENABLE : 0;
    void *device = &devices[q->device];
    if (!code && name == OPENCL_QUEUE_PROPERTIES) {
        code = double_give(&properties, sizeof properties, size, out);
    } else if (!code) {
        code = name == OPENCL_QUEUE_DEVICE ? double_give(&device, sizeof device, size, out) : -30;
    }
    return double_leave(code);
}

EXPORT int clGetDeviceInfo(void *device, uint32_t name, size_t size, void *out, size_t *used) {
    (void)used;
    int code = double_enter(NUMBER_clGetDeviceInfo);
    const uint32_t units = 12;
    char text[] = "Double 0";
    text[sizeof text - 2] = (char)('0' + ((char *)device - devices));
    if (!code && name == OPENCL_DEVICE_NAME) {
        code = double_give(text, sizeof text, size, out);
    } else if (!code) {
        code = name == OPENCL_DEVICE_MAX_COMPUTE_UNITS
                   ? double_give(&units, sizeof units, size, out)
                   : -30;
    }
    return double_leave(code);
}

EXPORT int clGetEventInfo(void *event, uint32_t name, size_t size, void *out, size_t *used) {
    (void)name, (void)used;
    int code = double_enter(NUMBER_clGetEventInfo);
    const struct cl_double_event *e = double_get_event(event);
    int status = 1;
    if (double_is_complete(e)) {
        status = e->broken ? e->broken : OPENCL_COMPLETE;
    }
    if (!code) {
        code = double_give(&status, sizeof status, size, out);
    }
    return double_leave(code);
}

EXPORT int clGetEventProfilingInfo(void *event, uint32_t name, size_t size, void *out,
                                   size_t *used) {
    (void)name, (void)used;
    int code = double_enter(NUMBER_clGetEventProfilingInfo);
    const struct cl_double_event *e = double_get_event(event);
    if (!code && (!e->queue->profiling || !double_is_complete(e))) {
        code = OPENCL_PROFILING_INFO_NOT_AVAILABLE;
    }
    if (!code) {
        code = double_give(&e->end, sizeof e->end, size, out);
    }
    return double_leave(code);
}

EXPORT int clEnqueueMarkerWithWaitList(void *queue, uint32_t count, void *const *events,
                                       void **event) {
    (void)count, (void)events;
    int code = double_enter(NUMBER_clEnqueueMarkerWithWaitList);
    struct cl_double_queue *q = double_get_queue(queue);
    struct cl_double_event *e = NULL;
    if (!code) {
        e = calloc(1, sizeof *e);
        code = e ? 0 : OPENCL_OUT_OF_HOST_MEMORY;
    }
    if (e) {
        *e = (struct cl_double_event){ALIVE, q, ++q->commands, q->enqueued, q->broken};
        ++events_alive;
        *event = e;
    }
    return double_leave(code);
}

EXPORT int clWaitForEvents(uint32_t count, void *const *events) {
    int code = double_enter(NUMBER_clWaitForEvents);
    for (uint32_t i = 0; i < count && !code; ++i) {
        const struct cl_double_event *e = double_get_event(events[i]);
        e->queue->held = 0; /* it is done some time */
        e->queue->flushed = e->queue->commands;
        code = e->broken ? -14 : 0;
    }
    return double_leave(code);
}

EXPORT int clReleaseEvent(void *event) {
    int code = double_enter(NUMBER_clReleaseEvent);
    struct cl_double_event *e = double_get_event(event);
    e->alive = 0;
    --events_alive;
    free(e);
    return double_leave(code);
}

EXPORT int clRetainCommandQueue(void *queue) {
    int code = double_enter(NUMBER_clRetainCommandQueue);
    struct cl_double_queue *q = double_get_queue(queue);
    q->count += !code;
    return double_leave(code);
}

EXPORT int clReleaseCommandQueue(void *queue) {
    int code = double_enter(NUMBER_clReleaseCommandQueue);
    double_delete_queue(double_get_queue(queue));
    return double_leave(code);
}

EXPORT int clFlush(void *queue) {
    int code = double_enter(NUMBER_clFlush);
    struct cl_double_queue *q = double_get_queue(queue);
    if (!code) {
        q->flushed = q->commands;
    }
    return double_leave(code);
}

/* ---- The test's side. */

/* Queues stay in memory until the end, so that the use of a deleted one is seen. */
static struct cl_double_queue made[1024];
static unsigned made_count;

EXPORT void *cl_double_queue(unsigned device, int profiling) {
    LOCKED(&lock);
    if (made_count == sizeof made / sizeof *made) {
        double_abort("too many queues");
    }
    struct cl_double_queue *q = &made[made_count++];
    *q = (struct cl_double_queue){.alive = ALIVE,
                                  .count = 1,
                                  .device = device,
                                  .profiling = profiling,
                                  .enqueued = CLOCK_OF_DEVICE + made_count};
    ++queues_alive;
    return q;
}

EXPORT void cl_double_work(void *queue, uint64_t ns) {
    LOCKED(&lock);
    struct cl_double_queue *q = double_get_queue(queue);
    q->enqueued += ns;
    ++q->commands;
}

EXPORT void cl_double_hold(void *queue, int held) {
    LOCKED(&lock);
    double_get_queue(queue)->held = held;
}

EXPORT void cl_double_break(void *queue, int code) {
    LOCKED(&lock);
    double_get_queue(queue)->broken = code;
}

static enum double_call double_find_call(const char *function) {
    unsigned i = 0;
    while (i < DOUBLE_CALLS && strcmp(double_names[i], function) != 0) {
        ++i;
    }
    if (i == DOUBLE_CALLS) {
        double_abort("no such function");
    }
    return (enum double_call)i;
}

EXPORT void cl_double_fail(const char *function, int code) {
    LOCKED(&lock);
    failures[double_find_call(function)] = code;
}

EXPORT unsigned cl_double_calls(const char *function) {
    LOCKED(&lock);
    return calls[double_find_call(function)];
}

EXPORT unsigned cl_double_queues(void) {
    LOCKED(&lock);
    return queues_alive;
}

EXPORT unsigned cl_double_events(void) {
    LOCKED(&lock);
    return events_alive;
}
