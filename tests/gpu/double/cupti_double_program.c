/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a program that uses the CUPTI double's GPU: launches, copies, waits, allocations.
 * Each makes the callbacks and the records that real CUPTI makes of such a call.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cupti_double_state.h"

#define state double_cupti
#define DRIVER CUPTI_CB_DOMAIN_DRIVER_API
#define RUNTIME CUPTI_CB_DOMAIN_RUNTIME_API

/* ---- Time */

static void lock(void) {
    pthread_mutex_lock(&double_cupti_lock);
}

static void unlock(void) {
    pthread_mutex_unlock(&double_cupti_lock);
}

uint64_t double_base(void) {
    return state.now ? state.now() : state.own_clock;
}

/* CUPTI's time at that moment of the base clock. */
static uint64_t clock_at(uint64_t base) {
    int64_t drift = (int64_t)(base - state.drift_from) * state.drift_ppm / 1000000;
    return base + state.offset + (uint64_t)drift;
}

uint64_t double_clock(void) {
    return clock_at(double_base());
}

/* Lets time pass. advance belongs to the test and is called without the lock. */
static void pass(uint64_t ns) {
    lock();
    void (*advance)(uint64_t) = state.advance;
    state.own_clock += ns;
    unlock();
    if (advance && ns) {
        advance(ns);
    }
}

static void pass_until(uint64_t moment) {
    lock();
    uint64_t now = double_base();
    unlock();
    pass(moment > now ? moment - now : 0);
}

/* The caller holds the lock. */
static uint64_t *stream_end(uint32_t device, uint32_t stream) {
    for (int i = 0; i < DOUBLE_STREAMS; ++i) {
        if (!state.streams[i].used) {
            state.streams[i].used = 1;
            state.streams[i].device = device;
            state.streams[i].stream = stream;
        }
        if (state.streams[i].device == device && state.streams[i].stream == stream) {
            return &state.streams[i].end;
        }
    }
    abort();
}

static uint64_t device_end(uint32_t device) {
    uint64_t end = 0;
    for (int i = 0; i < DOUBLE_STREAMS && state.streams[i].used; ++i) {
        if (state.streams[i].device == device && state.streams[i].end > end) {
            end = state.streams[i].end;
        }
    }
    return end;
}

struct span {
    uint64_t start, end; /* as recorded */
    uint64_t ready;      /* of the base clock, as the ends of streams are */
};

/* Work for a stream, which takes it on in its turn; the caller holds the lock. */
static struct span work(uint32_t device, uint32_t stream, uint64_t late, uint64_t ns) {
    uint64_t *end = stream_end(device, stream);
    uint64_t earliest = double_base() + late;
    uint64_t start = *end > earliest ? *end : earliest;
    struct span s = {.start = clock_at(start), .end = clock_at(start + ns), .ready = start + ns};
    *end = s.ready;
    if (state.has_times) {
        state.has_times = 0;
        s.start = state.times[0];
        s.end = state.times[1];
    }
    return s;
}

void cupti_double_times(uint64_t start, uint64_t end) {
    LOCKED(&double_cupti_lock);
    state.has_times = 1;
    state.times[0] = start;
    state.times[1] = end;
}

/* ---- Calls */

/* A call of the runtime, and within it one of the driver; each may be missing. Of the parameters,
 * which generated_cuda_runtime_api_meta.h and generated_cuda_meta.h of CUDA 13.0 lay out, there are
 * only those that name the stream. */
struct call {
    struct double_call runtime, driver;
    uint32_t correlation;
};

static void call_back(uint32_t site, const struct double_call *c) {
    struct cupti_callback data = {.callbackSite = site,
                                  .functionParams = (uint64_t)(uintptr_t)c->words,
                                  .functionReturnValue = (uint64_t)(uintptr_t)&c->code,
                                  .correlationId = c->correlation};
    lock();
    data.context = (uint64_t)(uintptr_t)(c->context ? c->context : state.context);
    CUpti_CallbackFunc callback =
        state.subscribed && c->cbid && state.calls_back[c->domain][c->cbid] ? state.callback : NULL;
    void *user = state.user;
    unlock();
    if (callback) {
        callback(user, c->domain, c->cbid, &data);
    }
}

static struct call call_of(const char *runtime, const char *driver) {
    return (struct call){
        .runtime = {.domain = RUNTIME, .cbid = runtime ? double_api(RUNTIME, runtime) : 0},
        .driver = {.domain = DRIVER, .cbid = driver ? double_api(DRIVER, driver) : 0}};
}

void double_call_enter(struct double_call *c) {
    lock();
    c->correlation = c->correlation ? c->correlation : ++state.correlation;
    c->start = double_clock();
    unlock();
    call_back(CUPTI_API_ENTER, c);
}

static void call_enter(struct call *c) {
    lock();
    uint64_t ns = state.call_ns;
    unlock();
    double_call_enter(&c->runtime);
    c->correlation = c->driver.correlation = c->runtime.correlation;
    double_call_enter(&c->driver);
    pass(ns);
}

static struct call call_begin(const char *runtime, const char *driver) {
    struct call c = call_of(runtime, driver);
    call_enter(&c);
    return c;
}

/* cupti_activity.h of CUDA 13.0: pthread_self(), in 32 bits, by default; else SYS_gettid. */
static uint32_t thread_number(void) {
    if (state.thread_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) {
        return (uint32_t)syscall(SYS_gettid);
    }
    return (uint32_t)(uintptr_t)pthread_self();
}

void double_put_enabled(const void *record, size_t size, uint64_t ready) {
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    if (state.enabled[kind]) {
        double_put(record, size, ready);
    }
}

static void api_record(const struct double_call *c) {
    LOCKED(&double_cupti_lock);
    struct cupti_api r = {.kind = CUPTI_ACTIVITY_KIND_DRIVER,
                          .cbid = c->cbid,
                          .start = c->start,
                          .end = double_clock(),
                          .threadId = thread_number(),
                          .correlationId = c->correlation};
    if (c->domain == RUNTIME) {
        r.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    }
    if (c->cbid && !state.quiet[c->domain][c->cbid]) {
        double_put_enabled(&r, sizeof r, 0);
    }
}

void double_call_leave(struct double_call *c) {
    call_back(CUPTI_API_EXIT, c);
    api_record(c);
}

static uint32_t call_end(const struct call *c) {
    call_back(CUPTI_API_EXIT, &c->driver);
    call_back(CUPTI_API_EXIT, &c->runtime);
    api_record(&c->driver);
    api_record(&c->runtime);
    return c->correlation;
}

static void run_kernel(const struct cupti_double_kernel *k, uint32_t correlation) {
    struct span s = work(k->device, k->stream, k->late, k->ns);
    struct cupti_kernel r = {
        .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
        .registersPerThread = (uint16_t)k->registers,
        .start = s.start,
        .end = s.end,
        .deviceId = k->device,
        .contextId = k->context,
        .streamId = k->stream,
        .gridX = k->grid[0] ? k->grid[0] : 1,
        .gridY = k->grid[1] ? k->grid[1] : 1,
        .gridZ = k->grid[2] ? k->grid[2] : 1,
        .blockX = k->block[0] ? k->block[0] : 1,
        .blockY = k->block[1] ? k->block[1] : 1,
        .blockZ = k->block[2] ? k->block[2] : 1,
        .staticSharedMemory = k->shared_static,
        .dynamicSharedMemory = k->shared_dynamic,
        .correlationId = correlation,
        .name = k->name,
    };
    double_put_enabled(&r, sizeof r, s.ready);
}

static uint32_t launch_by(const char *runtime, const struct cupti_double_kernel *k) {
    struct call c = call_of(runtime, "cuLaunchKernel");
    c.runtime.words[6] = (uint64_t)(uintptr_t)k->handle;
    c.driver.words[5] = (uint64_t)(uintptr_t)k->handle;
    call_enter(&c);
    lock();
    run_kernel(k, c.correlation);
    unlock();
    return call_end(&c);
}

uint32_t cupti_double_launch(const struct cupti_double_kernel *k) {
    return launch_by("cudaLaunchKernel", k);
}

uint32_t cupti_double_launch_13(const struct cupti_double_kernel *k) {
    cupti_double_call("__cudaPushCallConfiguration");
    cupti_double_call("__cudaPopCallConfiguration");
    return launch_by("__cudaLaunchKernel", k);
}

uint32_t cupti_double_graph(const struct cupti_double_kernel *nodes, unsigned count) {
    struct call c = call_begin("cudaGraphLaunch", "cuGraphLaunch");
    lock();
    for (unsigned i = 0; i < count; ++i) {
        run_kernel(&nodes[i], c.correlation);
    }
    unlock();
    return call_end(&c);
}

static void run_copy(const struct cupti_double_copy *c, const struct span *s,
                     uint32_t correlation) {
    struct cupti_memcpy r = {
        .kind = CUPTI_ACTIVITY_KIND_MEMCPY,
        .copyKind = (uint8_t)c->direction,
        .srcKind = (uint8_t)c->from,
        .dstKind = (uint8_t)c->to,
        .flags = c->async != 0,
        .bytes = c->bytes,
        .start = s->start,
        .end = s->end,
        .deviceId = c->device,
        .contextId = c->context,
        .streamId = c->stream,
        .correlationId = correlation,
    };
    struct cupti_memcpy_peer p = {
        .kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
        .copyKind = r.copyKind,
        .srcKind = r.srcKind,
        .dstKind = r.dstKind,
        .flags = r.flags,
        .bytes = r.bytes,
        .start = r.start,
        .end = r.end,
        .deviceId = r.deviceId,
        .contextId = r.contextId,
        .streamId = r.streamId,
        .correlationId = correlation,
    };
    double_put_enabled(c->peer ? (void *)&p : (void *)&r, c->peer ? sizeof p : sizeof r, s->ready);
}

uint32_t cupti_double_copy(const struct cupti_double_copy *copy) {
    struct call c = call_begin(copy->peer    ? "cudaMemcpyPeerAsync"
                               : copy->async ? "cudaMemcpyAsync"
                                             : "cudaMemcpy",
                               NULL);
    lock();
    struct span s = work(copy->device, copy->stream, copy->late, copy->ns);
    run_copy(copy, &s, c.correlation);
    unlock();
    if (!copy->async && !copy->peer) {
        pass_until(s.ready);
    }
    return call_end(&c);
}

uint32_t cupti_double_fill(uint32_t device, uint32_t stream, uint64_t bytes, uint32_t memory,
                           uint64_t ns) {
    struct call c = call_begin("cudaMemsetAsync", "cuMemsetD8Async");
    lock();
    struct span s = work(device, stream, 0, ns);
    struct cupti_memset r = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                             .bytes = bytes,
                             .start = s.start,
                             .end = s.end,
                             .deviceId = device,
                             .streamId = stream,
                             .correlationId = c.correlation,
                             .memoryKind = (uint16_t)memory};
    double_put_enabled(&r, sizeof r, s.ready);
    unlock();
    return call_end(&c);
}

static uint32_t wait_call(const char *runtime, const char *driver, int type, uint64_t until,
                          uint32_t stream) {
    struct call c = call_begin(runtime, driver);
    pass_until(until);
    lock();
    struct cupti_synchronization r = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                      .type = (uint32_t)type,
                                      .start = c.runtime.start,
                                      .end = double_clock(),
                                      .correlationId = c.correlation,
                                      .streamId = type == CUPTI_DOUBLE_ALL ? UINT32_MAX : stream};
    double_put_enabled(&r, sizeof r, 0);
    unlock();
    return call_end(&c);
}

uint32_t cupti_double_wait(int type, uint32_t device, uint32_t stream) {
    lock();
    uint64_t until = type == CUPTI_DOUBLE_ALL ? device_end(device) : *stream_end(device, stream);
    unlock();
    if (type == CUPTI_DOUBLE_ALL) {
        return wait_call("cudaDeviceSynchronize", "cuCtxSynchronize", type, until, stream);
    }
    return type == CUPTI_DOUBLE_STREAM
               ? wait_call("cudaStreamSynchronize", "cuStreamSynchronize", type, until, stream)
               : wait_call("cudaEventSynchronize", NULL, type, until, stream);
}

uint32_t cupti_double_query(uint32_t device, uint32_t stream) {
    (void)device;
    return wait_call("cudaEventQuery", "cuEventQuery", CUPTI_DOUBLE_EVENT, 0, stream);
}

static uint32_t memory_call(const char *runtime, const char *driver, struct cupti_memory r) {
    struct call c = call_begin(runtime, driver);
    lock();
    r.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    r.correlationId = c.correlation;
    r.timestamp = double_clock();
    r.streamId = UINT32_MAX;
    double_put_enabled(&r, sizeof r, 0);
    unlock();
    return call_end(&c);
}

uint32_t cupti_double_alloc(uint32_t device, uint64_t address, uint64_t bytes, uint32_t memory) {
    return memory_call("cudaMalloc", "cuMemAlloc_v2",
                       (struct cupti_memory){.memoryOperationType = 1,
                                             .memoryKind = memory,
                                             .address = address,
                                             .bytes = bytes,
                                             .deviceId = device});
}

uint32_t cupti_double_free(uint32_t device, uint64_t address, uint64_t bytes, uint32_t memory) {
    return memory_call("cudaFree", "cuMemFree_v2",
                       (struct cupti_memory){.memoryOperationType = 2,
                                             .memoryKind = memory,
                                             .address = address,
                                             .bytes = bytes,
                                             .deviceId = device});
}

uint32_t cupti_double_call(const char *name) {
    return cupti_double_call_code(name, 0);
}

uint32_t cupti_double_call_code(const char *name, int code) {
    return cupti_double_call_on(name, NULL, code);
}

uint32_t cupti_double_call_on(const char *name, const void *stream, int code) {
    struct call c = call_of(name, name);
    c.runtime.words[0] = c.driver.words[0] = (uint64_t)(uintptr_t)stream;
    call_enter(&c);
    c.runtime.code = c.driver.code = code;
    return call_end(&c);
}

void cupti_double_overhead(uint32_t kind, uint64_t ns) {
    LOCKED(&double_cupti_lock);
    struct cupti_overhead r = {.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
                               .overheadKind = kind,
                               .start = double_clock(),
                               .end = double_clock() + ns};
    double_put_enabled(&r, sizeof r, 0);
}

void cupti_double_record(const void *record, size_t size) {
    LOCKED(&double_cupti_lock);
    double_put(record, size, 0);
}

/* ---- Delivery */

void cupti_double_context(void *context) {
    LOCKED(&double_cupti_lock);
    state.context = context;
}

void cupti_double_call_ns(uint64_t ns) {
    LOCKED(&double_cupti_lock);
    state.call_ns = ns;
}

void cupti_double_hold(int on) {
    LOCKED(&double_cupti_lock);
    state.hold = on;
    if (!on) {
        double_release();
    }
}

void cupti_double_deliver(void) {
    LOCKED(&double_cupti_lock);
    if (state.complete) {
        double_flush_thread();
    }
}
