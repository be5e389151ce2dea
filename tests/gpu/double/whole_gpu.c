/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one GPU of the doubles: the real clock for all, CUPTI's callbacks around the calls of the
 * driver and the runtime, its records of what runs, and the switches of whole_gpu.h.
 */
#define WHOLE_GPU __attribute__((visibility("default")))
#include "whole_gpu.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cupti_double_state.h"
#include "double_state.h"

#define LATE_NS 2000 /* from a launch to the start of its work */
#define CALLS 8      /* within each other */
#define GRAPHS 4096  /* whose first launch is remembered */
#define WRONG_NS 600000000000u

static struct {
    char hang[64];
    char times[16];
    char client[64];
    int init;
    int graph_numbers;
} faults;

static struct {
    uint64_t elapsed_ns;
    uint64_t waits;
    uint64_t records[2]; /* events on the legacy stream, on streams per thread */
} seen;

/* ---- The clock */

static uint64_t frozen_at; /* 0: it goes on; atomic */

static uint64_t clock_read(void) {
    struct timespec now;
    uint64_t frozen = __atomic_load_n(&frozen_at, __ATOMIC_ACQUIRE);
    clock_gettime(CLOCK_REALTIME, &now);
    return frozen ? frozen : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CUPTI reads it while nothing ends, too. */
static uint64_t clock_read_always(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void gpu_double_freeze(int on) {
    __atomic_store_n(&frozen_at, on ? clock_read_always() : 0, __ATOMIC_RELEASE);
}

/* ---- Calls and their callbacks */

static __thread struct double_call calls[CALLS];
static __thread int depth;

static void hang_if_asked(const char *name) {
    if (*faults.hang && !strcmp(name, faults.hang)) {
        signal(SIGTERM, SIG_IGN);
        for (;;) {
            pause();
        }
    }
}

/* CUPTI's number of a function by the name in the driver's table, or with its suffix. */
static uint32_t number_of(int domain, const char *name) {
    char longer[80];
    uint32_t number = double_api(domain, name);
    if (!number && domain == DOUBLE_DRIVER) {
        snprintf(longer, sizeof longer, "%s_v2", name);
        number = double_api(domain, longer);
    }
    return number;
}

static void call_begun(int domain, const char *name, void *stream, int word) {
    hang_if_asked(name);
    if (depth == CALLS) {
        double_abort("calls within calls");
    }
    struct double_call *c = &calls[depth];
    memset(c, 0, sizeof *c);
    c->domain = domain;
    c->cbid = number_of(domain, name);
    c->correlation = depth ? calls[depth - 1].correlation : 0;
    c->context = double_context_current();
    if (word >= 0) {
        c->words[word] = (uint64_t)(uintptr_t)stream;
    }
    ++depth;
    double_call_enter(c);
}

static void synchronization_put(const struct double_call *c, const char *name) {
    struct cupti_synchronization r = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                      .type = CUPTI_DOUBLE_EVENT,
                                      .start = c->start,
                                      .contextId = 1,
                                      .correlationId = c->correlation};
    if (strstr(name, "Stream")) {
        r.type = CUPTI_DOUBLE_STREAM;
    } else if (strstr(name, "Device")) {
        r.type = CUPTI_DOUBLE_ALL;
        r.streamId = UINT32_MAX;
    }
    pthread_mutex_lock(&double_cupti_lock);
    r.end = double_clock();
    double_put_enabled(&r, sizeof r, 0);
    pthread_mutex_unlock(&double_cupti_lock);
}

static void call_ended(int code) {
    struct double_call *c = &calls[depth - 1];
    const char *name = c->cbid ? double_api_name(c->domain, c->cbid) : "";
    c->code = code;
    if (strstr(name, "Synchronize")) {
        __atomic_fetch_add(&seen.waits, depth == 1, __ATOMIC_RELAXED);
        if (c->domain == DOUBLE_RUNTIME && !code) {
            synchronization_put(c, name);
        }
    }
    double_call_leave(c);
    --depth;
}

uint64_t gpu_double_waits(void) {
    return __atomic_load_n(&seen.waits, __ATOMIC_RELAXED);
}

/* ---- What ran */

static void time_spoil(uint64_t *start, uint64_t *end) {
    static unsigned count;
    uint64_t before = *start;
    if (!*faults.times || __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) % 10) {
        return;
    }
    switch (*faults.times) {
    case 'z':
        *start = *end = 0;
        break;
    case 'h':
        *start = *end = (uint64_t)1 << 63;
        break;
    case 's':
        *start = *end;
        *end = before;
        break;
    case 'l':
        *start += WRONG_NS;
        *end += WRONG_NS;
        break;
    default:
        *start -= WRONG_NS;
        *end -= WRONG_NS;
        break;
    }
}

/* The number of the call that the kernels of a graph are reported with. */
static uint32_t graph_correlation(uint32_t graph, uint32_t correlation) {
    static uint32_t first[GRAPHS];
    if (!faults.graph_numbers || !graph) {
        return correlation;
    }
    if (!first[graph % GRAPHS]) {
        first[graph % GRAPHS] = correlation;
    }
    return double_cupti.sessions > 1 ? first[graph % GRAPHS] : correlation;
}

static void kernel_put(const struct double_work *w, const struct double_span *s,
                       uint32_t correlation) {
    struct cupti_kernel r = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                             .registersPerThread = 16,
                             .start = s->start,
                             .end = s->end,
                             .deviceId = (uint32_t)s->device,
                             .contextId = s->context,
                             .streamId = s->stream,
                             .gridX = w->grid[0],
                             .gridY = w->grid[1],
                             .gridZ = w->grid[2],
                             .blockX = w->block[0],
                             .blockY = w->block[1],
                             .blockZ = w->block[2],
                             .correlationId = graph_correlation(w->graph, correlation),
                             .graphNodeId = w->graph,
                             .name = w->name};
    time_spoil(&r.start, &r.end);
    double_put_enabled(&r, sizeof r, s->end);
}

/* cudaMemcpyKind as CUPTI numbers it, and the memory on both sides. */
static void copy_put(const struct double_work *w, const struct double_span *s,
                     uint32_t correlation) {
    static const uint8_t kinds[] = {9, 1, 2, 8, 0}, from[] = {1, 2, 3, 3, 0},
                         to[] = {1, 3, 2, 3, 0};
    struct {
        struct cupti_memcpy r;
        char gap[88 - sizeof(struct cupti_memcpy)];
        uint64_t copies; /* CUpti_ActivityMemcpy6.copyCount */
    } c = {.r = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                 .copyKind = kinds[w->direction],
                 .srcKind = from[w->direction],
                 .dstKind = to[w->direction],
                 .flags = w->async != 0,
                 .bytes = w->bytes,
                 .start = s->start,
                 .end = s->end,
                 .deviceId = (uint32_t)s->device,
                 .contextId = s->context,
                 .streamId = s->stream,
                 .correlationId = correlation},
           .copies = w->copies ? w->copies : 1};
    double_put_enabled(&c, sizeof c, s->end);
}

/* cupti_activity.h at CUPTI_ACTIVITY_KIND_HOST_LAUNCH and CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE. */
static void host_function_put(const struct double_work *w, const struct double_span *s,
                              uint32_t correlation) {
    struct cupti_host_launch launch = {.kind = CUPTI_ACTIVITY_KIND_HOST_LAUNCH,
                                       .streamId = s->stream,
                                       .contextId = s->context,
                                       .correlationId = correlation,
                                       .start = s->start,
                                       .end = s->end};
    struct cupti_graph_host_node node = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE,
                                         .streamId = s->stream,
                                         .contextId = s->context,
                                         .correlationId = correlation,
                                         .start = s->start,
                                         .end = s->end};
    if (w->graph) {
        double_put_enabled(&node, sizeof node, s->end);
    } else {
        double_put_enabled(&launch, sizeof launch, s->end);
    }
}

static void work_queued(const struct double_work *w, const struct double_span *s) {
    uint32_t correlation = depth ? calls[depth - 1].correlation : 0;
    pthread_mutex_lock(&double_cupti_lock);
    switch (w->kind) {
    case DOUBLE_KERNEL:
        kernel_put(w, s, correlation);
        break;
    case DOUBLE_COPY:
        copy_put(w, s, correlation);
        break;
    default:
        host_function_put(w, s, correlation);
        break;
    }
    pthread_mutex_unlock(&double_cupti_lock);
}

static void memory_changed(void *at, uint64_t bytes, int kind) {
    struct cupti_memory r = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                             .memoryOperationType = bytes ? 1 : 2,
                             .memoryKind = (uint32_t)kind,
                             .correlationId = calls[depth - 1].correlation,
                             .address = (uint64_t)(uintptr_t)at,
                             .bytes = bytes,
                             .contextId = 1,
                             .streamId = UINT32_MAX};
    pthread_mutex_lock(&double_cupti_lock);
    r.timestamp = double_clock();
    double_put_enabled(&r, sizeof r, 0);
    pthread_mutex_unlock(&double_cupti_lock);
}

/* ---- Events: asked for by the tests */

static void event_recorded(void *stream) {
    if ((uintptr_t)stream <= 2) {
        __atomic_fetch_add(&seen.records[(uintptr_t)stream == 2], 1, __ATOMIC_RELAXED);
    }
}

static void event_elapsed(float ms) {
    __atomic_fetch_add(&seen.elapsed_ns, (uint64_t)((double)ms * 1e6 + 0.5), __ATOMIC_RELAXED);
}

uint64_t gpu_double_elapsed_ns(void) {
    return __atomic_load_n(&seen.elapsed_ns, __ATOMIC_RELAXED);
}

uint64_t gpu_double_default_records(int per_thread) {
    return __atomic_load_n(&seen.records[per_thread != 0], __ATOMIC_RELAXED);
}

uint64_t gpu_double_spoilt_captures(void) {
    double_take();
    uint64_t count = double_state.spoilt;
    pthread_mutex_unlock(&double_lock);
    return count;
}

void gpu_double_devices(int count) {
    double_device_count(count);
}

uint64_t gpu_double_cupti_calls(void) {
    return cupti_double_calls_all();
}

int gpu_double_subscribed(void) {
    return cupti_double_subscribed();
}

void gpu_double_take_over(void) {
    cupti_double_take_over();
}

/* ---- The driver's life */

static void driver_goes(void) {
    double_shutdown();
}

/* cuInit: loads the injection library, in which no call of the driver works yet. */
static int driver_init(void) {
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    static int is_done, code;
    const char *injection = getenv("CUDA_INJECTION64_PATH");
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    pthread_mutex_lock(&once);
    if (!is_done) {
        is_done = 1;
        code = visible && !strcmp(visible, "-1") ? 100 : faults.init;
        void *library = injection && !code ? dlopen(injection, RTLD_NOW) : NULL;
        int (*initialize)(void) = NULL;
        void *symbol = library ? dlsym(library, "InitializeInjection") : NULL;
        memcpy(&initialize, &symbol, sizeof symbol);
        if (initialize) {
            initialize();
        }
        if (!code) {
            double_world.process = getpid();
            double_init_without_context();
            atexit(driver_goes);
        }
    }
    pthread_mutex_unlock(&once);
    return code;
}

/* A green context is a context like others here, and its streams are streams. */
WHOLE_GPU int cuDeviceGetDevResource(int device, void *resource, int type) {
    (void)device, (void)resource, (void)type;
    return 0;
}

WHOLE_GPU int cuDevResourceGenerateDesc(void **description, void *resources, unsigned count) {
    (void)count;
    *description = resources;
    return 0;
}

WHOLE_GPU int cuGreenCtxCreate(void **context, void *description, int device, unsigned flags) {
    (void)description, (void)flags;
    *context = double_context_new(device);
    return 0;
}

WHOLE_GPU int cuGreenCtxStreamCreate(void **stream, void *context, unsigned flags, int priority) {
    (void)flags, (void)priority;
    *stream = double_stream_new_nonblocking(context);
    return 0;
}

WHOLE_GPU int cuInit(unsigned flags) {
    return flags ? 1 : driver_init();
}

/* No lock is held by another thread in the child of a fork. */
static void locks_take(void) {
    pthread_mutex_lock(&double_lock);
    pthread_mutex_lock(&double_cupti_lock);
}

static void locks_drop(void) {
    pthread_mutex_unlock(&double_cupti_lock);
    pthread_mutex_unlock(&double_lock);
}

/* ---- The switches */

static void fault_set(const char *word, const char *value) {
    int number = atoi(value);
    if (!strcmp(word, "init")) {
        faults.init = number;
    } else if (!strcmp(word, "hang")) {
        snprintf(faults.hang, sizeof faults.hang, "%s", value);
    } else if (!strcmp(word, "driver")) {
        double_driver_version(number);
    } else if (!strcmp(word, "cupti")) {
        cupti_double_version((uint32_t)number);
    } else if (!strcmp(word, "v2-fails")) {
        double_cupti.scoped_kinds_fail = 1;
    } else if (!strcmp(word, "client")) {
        snprintf(faults.client, sizeof faults.client, "%s", value);
        double_cupti.holder = faults.client;
    } else if (!strcmp(word, "lazy")) {
        double_cupti.lazy_flushes = number;
    } else if (!strcmp(word, "register-drops")) {
        double_cupti.register_drops = 1;
    } else if (!strcmp(word, "graph-numbers")) {
        faults.graph_numbers = 1;
    } else if (!strcmp(word, "times")) {
        snprintf(faults.times, sizeof faults.times, "%s", value);
    } else {
        fprintf(stderr, "whole_gpu: GPU_DOUBLE: unknown word '%s'\n", word);
        abort();
    }
}

static void faults_read(const char *text) {
    char *copy = strdup(text), *rest = copy, *word;
    while ((word = strsep(&rest, ",")) != NULL) {
        char *value = strchr(word, '=');
        if (value) {
            *value++ = '\0';
        }
        fault_set(word, value ? value : "");
    }
    free(copy);
}

void gpu_double_faults(const char *text) {
    faults_read(text);
}

/* After the constructors of the doubles, which have a priority. */
__attribute__((constructor)) static void whole_gpu_begin(void) {
    const char *text = getenv("GPU_DOUBLE");
    double_reset();
    double_device_count(1);
    cupti_double_reset(NULL, clock_read_always);
    double_cupti.offset = 0;
    double_cupti.eager = 1;
    if (text && *text) {
        faults_read(text);
    }
    double_world = (struct double_world){.clock = clock_read,
                                         .late = LATE_NS,
                                         .enter = call_begun,
                                         .leave = call_ended,
                                         .start = driver_init,
                                         .work = work_queued,
                                         .memory = memory_changed,
                                         .event_recorded = event_recorded,
                                         .event_elapsed = event_elapsed};
    pthread_atfork(locks_take, locks_drop, locks_drop);
}
