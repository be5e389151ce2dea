/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that make, replace and destroy contexts of their own, on a device each, with GPU scopes
 * open or in flight, while others flush, look at statistics and write the trace. The double aborts
 * at any use of a destroyed context. Each scope is measured or counted as lost, and what is
 * measured is of the scope's own device. Some records fail as in a context that is gone.
 */
#include <pthread.h>

#include "../unit/traced.h"
#include "cuda_double.h"
#include "gpu/gpu.h"

enum { THREADS = 4, ROUNDS = 10000, WORK_NS = 100, IN_FLIGHT = 100 };

static uint64_t scopes[THREADS]; /* by device */
static uint64_t inner_scopes;    /* any thread */
static uint64_t shared_scopes;   /* any thread */
static void *shared;             /* a context of all threads */
static int running = THREADS;

struct own {
    int device;
    uint64_t seed;
    void *context;
    void *stream;
};

static uint64_t random_next(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void renew_context(struct own *o) {
    o->context = double_context_new(o->device);
    double_context_make_current(o->context);
    o->stream = double_stream_new(NULL);
}

static void destroy_context(struct own *o) {
    double_context_destroy(o->context);
    renew_context(o);
}

static void replace_context(struct own *o) {
    double_context_replace(o->context);
    double_context_make_current(o->context);
    o->stream = double_stream_new(NULL);
}

static void *choose_stream(struct own *o) {
    void *const streams[] = {o->stream, NULL, GPU_STREAM_LEGACY, GPU_STREAM_PER_THREAD};
    return streams[random_next(&o->seed) % 4];
}

/* Launches, and now and then opens another scope, or loses the context of the one around. */
static void work(struct own *o, void *stream) {
    double_launch(stream, WORK_NS);
    if (random_next(&o->seed) % 4 == 0) {
        void *other = choose_stream(o);
        REGISTER_GPU_TIMER("inner", other);
        double_launch(other, WORK_NS);
        __atomic_add_fetch(&inner_scopes, 1, __ATOMIC_RELAXED);
    }
    if (random_next(&o->seed) % 40 == 0) {
        destroy_context(o);
    }
}

#define SCOPE_ON(device)                                                                           \
    static void scope_on_##device(struct own *o, void *stream) {                                   \
        REGISTER_GPU_TIMER("device " #device, stream);                                             \
        work(o, stream);                                                                           \
    }
SCOPE_ON(0)
SCOPE_ON(1)
SCOPE_ON(2)
SCOPE_ON(3)

static void (*const scope_on[THREADS])(struct own *, void *) = {scope_on_0, scope_on_1, scope_on_2,
                                                                scope_on_3};

static void scope_in_shared(struct own *o) {
    double_context_make_current(shared);
    {
        REGISTER_GPU_TIMER("shared", NULL);
        double_launch(NULL, WORK_NS);
    }
    __atomic_add_fetch(&shared_scopes, 1, __ATOMIC_RELAXED);
    double_context_make_current(o->context);
}

static void act(struct own *o) {
    switch (random_next(&o->seed) % 64) {
    case 0:
    case 1:
        destroy_context(o);
        break;
    case 2:
        replace_context(o);
        break;
    case 3:
    case 4:
    case 5:
        CHECK(!double_fail("cuEventRecord:1=201"));
        scope_in_shared(o);
        break;
    case 6:
    case 7:
    case 8:
    case 9:
        scope_in_shared(o);
        break;
    case 10:
    case 11:
    case 12:
    case 13:
        stint_gpu_flush();
        break;
    case 14:
    case 15:
        double_advance(10000);
        break;
    default:
        scope_on[o->device](o, choose_stream(o));
        ++scopes[o->device];
    }
}

static void *run_thread(void *own) {
    struct own *o = own;
    renew_context(o);
    for (int i = 0; i < ROUNDS; ++i) {
        act(o);
    }
    double_fail(NULL);
    double_advance(1000000);
    stint_gpu_flush(); /* while its context is current */
    double_context_destroy(o->context);
    __atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void look_on(void) {
    while (__atomic_load_n(&running, __ATOMIC_RELAXED)) {
        stat_of("inner");
        stint_gpu_flush();
        traced_now();
    }
}

static uint32_t check_nodes(const struct snapshot *s) {
    uint32_t checked = 0;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct measures *gpu = s->nodes[i].measures;
        uint32_t device = s->nodes[i].extra->gpu.device;
        const char *name = s->sites[s->nodes[i].site].name;
        if (gpu->gpu_calls && device != SNAPSHOT_NONE && strncmp(name, "device ", 7) == 0) {
            CHECK_EQ_U64(s->devices[device].number, (uint64_t)(name[7] - '0'));
            CHECK(gpu->gpu_min_ns >= WORK_NS);
            ++checked;
        }
    }
    return checked;
}

TEST(context_churn, each_scope_is_measured_on_its_device_or_lost) {
    pthread_t thread[THREADS];
    struct own own[THREADS];
    uint64_t calls = 0, measured = 0;
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    setenv("STINT_TRACE", "1M", 1);
    setenv("STINT_GPU_IN_FLIGHT", "100", 1);
    double_reset();
    double_init_without_context();
    shared = double_primary_use(0);
    for (int i = 0; i < THREADS; ++i) {
        own[i] = (struct own){.device = i, .seed = (uint64_t)i + 1};
        CHECK(!pthread_create(&thread[i], NULL, run_thread, &own[i]));
    }
    look_on();
    for (int i = 0; i < THREADS; ++i) {
        char name[] = "device 0";
        pthread_join(thread[i], NULL);
        name[7] = (char)('0' + i);
        CHECK_EQ_U64(calls_of(name), scopes[i]);
        calls += scopes[i];
        measured += stat_of(name).gpu_calls;
    }
    CHECK_EQ_U64(calls_of("inner"), inner_scopes);
    CHECK_EQ_U64(calls_of("shared"), shared_scopes);
    calls += inner_scopes + shared_scopes;
    measured += stat_of("inner").gpu_calls + stat_of("shared").gpu_calls;
    /* Those in flight are of contexts that are gone: they are lost when the program ends. */
    uint64_t in_flight = arena_header()->gpu_in_flight;
    CHECK_EQ_U64(measured + lost_in_all() + in_flight, calls);
    CHECK(in_flight <= IN_FLIGHT);
    const struct traced *t = traced_now();
    traced_check(t);
    CHECK_EQ_U64(check_nodes(&t->s), THREADS);
}
