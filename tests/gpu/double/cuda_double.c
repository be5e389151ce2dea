/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the CUDA driver double, on virtual time. Their exports, with counting and faults
 * around them, are generated from gen/driver.ini. cuda_double.h describes the behaviour.
 */
#include <stdio.h>

#include "double_state.h"

#define DOUBLE_EXPORT __attribute__((visibility("default")))
#include "driver_double.inc"

static int unlock(int code) {
    pthread_mutex_unlock(&double_lock);
    return code;
}

/* The code of a call with that device; with the lock. */
static int double_check_device(int device) {
    int code = double_alive();
    if (!code && (device < 0 || device >= DOUBLE_DEVICES)) {
        code = 101;
    }
    return code;
}

static CUresult double_cuDriverGetVersion(int *a) {
    double_take();
    *a = double_state.version;
    return unlock(0);
}

static CUresult double_cuGetErrorName(CUresult a, const char **b) {
    *b = NULL;
    if (a == 0) {
        *b = "CUDA_SUCCESS";
    } else if (a == 987) {
        *b = "CUDA_ERROR_OF_THE_DOUBLE";
    }
    return *b ? 0 : 1;
}

static CUresult double_cuCtxGetCurrent(CUcontext *a) {
    double_take();
    const struct double_thread *t = double_self();
    int code = double_alive();
    if (!code) {
        *a = t->depth ? t->context[t->depth - 1] : NULL;
    }
    return unlock(code);
}

static CUresult double_cuCtxGetDevice(CUdevice *a) {
    struct double_context *c;
    uint32_t number;
    double_take();
    int code = double_current(&c, &number);
    if (!code) {
        *a = c->device;
    }
    return unlock(code);
}

static CUresult double_cuCtxGetId(CUcontext a, unsigned long long *b) {
    struct double_context *c = NULL;
    double_take();
    int code = double_alive();
    if (!code && !a) {
        uint32_t number;
        code = double_current(&c, &number);
    } else if (!code) {
        c = double_context_at(a, NULL);
        code = double_check_context(c, a);
    }
    if (!code) {
        *b = c->id;
    }
    return unlock(code);
}

static CUresult double_cuCtxPushCurrent(CUcontext a) {
    double_take();
    struct double_thread *t = double_self();
    int code = double_alive();
    if (!code) {
        code = double_check_context(double_context_at(a, NULL), a);
    }
    if (!code && t->depth == DOUBLE_DEPTH) {
        code = 2;
    }
    if (!code) {
        t->context[t->depth++] = a;
    }
    return unlock(code);
}

static CUresult double_cuCtxPopCurrent(CUcontext *a) {
    double_take();
    struct double_thread *t = double_self();
    int code = double_alive();
    if (!code && !t->depth) {
        code = 201;
    }
    if (!code) {
        --t->depth;
        if (a) {
            *a = t->context[t->depth];
        }
    }
    return unlock(code);
}

/* cuda.h: the three of a primary context. It exists from the first retain to the last release
 * ("automatically reset once the last reference to it is released"), or to a reset, which "does not
 * release it". */
static CUresult double_cuDevicePrimaryCtxGetState(CUdevice a, unsigned int *b, int *c) {
    double_take();
    int code = double_check_device(a);
    if (!code) {
        *b = 0;
        *c = double_state.active[a];
    }
    return unlock(code);
}

static CUresult double_cuDevicePrimaryCtxRetain(CUcontext *a, CUdevice b) {
    double_take();
    int code = double_check_device(b);
    if (!code && !double_state.active[b]) {
        ++double_state.primaries_made;
        double_primary_activate(b);
    }
    if (!code) {
        ++double_state.retained[b];
        *a = double_state.primary[b];
    }
    return unlock(code);
}

static CUresult double_cuDevicePrimaryCtxRelease(CUdevice a) {
    double_take();
    int code = double_check_device(a);
    if (!code && !double_state.retained[a]) {
        code = 201;
    }
    if (!code) {
        double_primary_release(a);
    }
    return unlock(code);
}

/* cuda.h at cuStreamGetCtx: the special handles mean the calling thread's current context. */
static CUresult double_cuStreamGetCtx(CUstream a, CUcontext *b) {
    struct double_stream *s;
    uint32_t number;
    double_take();
    int code = double_resolve(a, &s, &number);
    if (!code) {
        *b = double_handle(DOUBLE_CONTEXT, s->context);
    }
    return unlock(code);
}

static CUresult double_cuStreamIsCapturing(CUstream a, CUstreamCaptureStatus *b) {
    struct double_stream *s;
    uint32_t number;
    double_take();
    int code = double_resolve(a, &s, &number);
    if (!code && double_legacy(a) && double_blocked(s->context, 0)) {
        code = 906;
    }
    if (!code) {
        *b = s->capturing;
    }
    return unlock(code);
}

static CUresult double_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *a) {
    double_take();
    struct double_thread *t = double_self();
    int code = double_alive();
    if (!code && (*a < 0 || *a > 2)) {
        code = 1;
    }
    if (!code) {
        int old = t->mode;
        t->mode = *a;
        *a = old;
    }
    return unlock(code);
}

static CUresult double_cuEventCreate(CUevent *a, unsigned int b) {
    struct double_context *c;
    uint32_t context, number = 0;
    double_take();
    int code = double_current(&c, &context);
    if (!code && b) { /* with any flag it would be another kind of event */
        code = 1;
    }
    if (!code && !(number = double_add(&double_state.events))) {
        code = 2;
    }
    if (!code) {
        *a = double_handle(DOUBLE_EVENT, number);
        struct double_event *e =
            (struct double_event *)double_state.events.item + (double_state.events.count - 1);
        e->context = context;
        e->incarnation = c->incarnation;
        ++double_state.events_made;
        ++double_state.events_alive;
    }
    return unlock(code);
}

static CUresult double_cuEventDestroy(CUevent a) {
    double_take();
    int code = double_alive();
    struct double_event *e = code ? NULL : double_event_at(a, NULL);
    if (!code && !e) {
        code = 400;
    }
    if (!code) {
        e->dead = 1;
        --double_state.events_alive;
    }
    return unlock(code);
}

/* cuda.h at cuEventRecord: 400 for an event of another context. */
static CUresult double_cuEventRecord(CUevent a, CUstream b) {
    struct double_stream *s;
    uint32_t number;
    double_take();
    int code = double_resolve(b, &s, &number);
    struct double_event *e = code ? NULL : double_event_at(a, NULL);
    if (!code && (!e || e->context != s->context)) {
        code = 400;
    }
    if (!code && double_legacy(b) && double_blocked(s->context, 1)) {
        code = 906;
    }
    if (!code && s->capturing == 2) {
        code = 901;
    }
    if (!code) {
        e->recorded = 1;
        e->captured = s->capturing;
        e->moment = double_end_of(s);
        s->end = s->capturing ? s->end : e->moment + double_state.tick;
        if (double_world.event_recorded) {
            double_world.event_recorded(b);
        }
    }
    return unlock(code);
}

/* The common part of a query and a wait. */
static int ask(CUevent a, struct double_event **e) {
    int code = double_alive();
    *e = code ? NULL : double_event_at(a, NULL);
    if (!code && !*e) {
        code = 400;
    }
    if (!code && (*e)->captured) {
        code = 907;
    }
    if (!code) {
        code = double_unsafe();
    }
    return code;
}

static CUresult double_cuEventQuery(CUevent a) {
    struct double_event *e;
    double_take();
    int code = ask(a, &e);
    if (!code) {
        double_state.now += double_state.tick;
        code = e->recorded && e->moment > double_state.now ? 600 : 0;
    }
    return unlock(code);
}

static CUresult double_cuEventSynchronize(CUevent a) {
    struct double_event *e;
    double_take();
    int code = ask(a, &e);
    if (!code && e->recorded) {
        double_wait_until(e->moment);
    }
    return unlock(code);
}

/* cuda.h: cuStreamBeginCapture lets calls that may be unsafe fail, as event queries do. That a wait
 * for a context with a stream under capture fails (900) in every mode and invalidates the capture
 * is the strictest reading of cuThreadExchangeStreamCaptureMode ("the thread is still prohibited
 * from API calls which necessarily conflict with stream capture"). */
static CUresult double_cuCtxSynchronize(void) {
    struct double_context *c;
    uint32_t number;
    double_take();
    int code = double_current(&c, &number);
    code = code ? code : double_unsafe();
    code = code ? code : double_conflict(NULL, number);
    if (!code) {
        double_wait_until(double_end_of_context(number));
    }
    return unlock(code);
}

/* cuda.h at cuEventElapsedTime: 400 for an event that was not recorded, 600 if one of the two is
 * not complete. */
static CUresult double_cuEventElapsedTime(float *a, CUevent b, CUevent c) {
    double_take();
    int code = double_alive();
    const struct double_event *from = code ? NULL : double_event_at(b, NULL);
    const struct double_event *to = code ? NULL : double_event_at(c, NULL);
    if (!code && (!from || !to || from->context != to->context)) {
        code = 400;
    }
    if (!code && (from->captured || to->captured)) {
        code = 907;
    }
    if (!code && (!from->recorded || !to->recorded)) {
        code = 400;
    }
    if (!code && (from->moment > double_state.now || to->moment > double_state.now)) {
        code = 600;
    }
    if (!code) {
        *a = (float)(((double)to->moment - (double)from->moment) / 1e6);
        if (double_world.event_elapsed) {
            double_world.event_elapsed(*a);
        }
    }
    return unlock(code);
}

/* cudaProfiler.h at cuProfilerStart: in the current context, "no effect" where it is on. */
static CUresult profile(int on, uint64_t *changes) {
    struct double_context *c;
    uint32_t number;
    double_take();
    int code = double_current(&c, &number);
    if (!code && c->profiling != on) {
        c->profiling = on;
        ++*changes;
        double_state.profiler_context = double_handle(DOUBLE_CONTEXT, number);
    }
    return unlock(code);
}

static CUresult double_cuProfilerStart(void) {
    return profile(1, &double_state.profiler_starts);
}

static CUresult double_cuProfilerStop(void) {
    return profile(0, &double_state.profiler_stops);
}

static CUresult double_cuDeviceGetAttribute(int *a, CUdevice_attribute b, CUdevice c) {
    double_take();
    int code = double_check_device(c);
    if (!code && (b < 1 || b >= DOUBLE_ATTRIBUTES)) {
        code = 1;
    }
    if (!code) {
        *a = double_state.attribute[c][b];
    }
    return unlock(code);
}

static CUresult double_cuDeviceGetCount(int *a) {
    double_take();
    int code = double_alive();
    if (!code) {
        *a = double_state.devices;
    }
    return unlock(code);
}

static CUresult double_cuDeviceGetName(char *a, int b, CUdevice c) {
    double_take();
    int code = double_check_device(c);
    if (!code && b < 1) {
        code = 1;
    }
    if (!code) {
        snprintf(a, (size_t)b, "%s", double_state.name[c]);
    }
    return unlock(code);
}
