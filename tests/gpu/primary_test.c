/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first GPU scope of a thread, on its default stream: the thread has no context yet. It is that
 * of the device which a loaded libcudart names, or of the only device, if that exists.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "../unit/recorded.h"
#include "cuda_double.h"
#include "gpu/gpu.h"

static int (*set_device)(int);
static int (*runtime_calls)(void);
static void (*fail_runtime)(int);

static void find_function(void *library, const char *name, void *pointer) {
    void *symbol = dlsym(library, name);
    CHECK(symbol != NULL);
    memcpy(pointer, &symbol, sizeof symbol);
}

static void load_runtime(void) {
    void *library = dlopen(CUDART_SHARED, RTLD_NOW | RTLD_LOCAL);
    if (!CHECK(library != NULL)) {
        exit(1);
    }
    find_function(library, "cudaSetDevice", &set_device);
    find_function(library, "cudart_shared_calls", &runtime_calls);
    find_function(library, "cudart_shared_fail", &fail_runtime);
}

/* CUDA was initialised by another thread. */
static void begin(void) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
    double_init_without_context();
}

static void scope(void *stream) {
    REGISTER_GPU_TIMER("scope", stream);
    fake_advance(1);
}

static uint64_t measured(void) {
    double_advance(1000000);
    stint_gpu_flush();
    return stat_of("scope").gpu_calls;
}

TEST(gpu_primary, first_scope_of_a_thread) {
    begin();
    load_runtime();
    double_primary_use(0);
    scope(NULL);
    scope(GPU_STREAM_LEGACY);
    scope(GPU_STREAM_PER_THREAD);
    CHECK(!double_context_current());
    CHECK_EQ_U64(measured(), 3);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(double_primary_references(0), 1);
    CHECK_EQ_U64(double_primaries_made(), 0);
    CHECK_EQ_U64(double_calls("cuCtxPushCurrent"), double_calls("cuCtxPopCurrent"));
}

static void first_call(void *context) {
    REGISTER_GPU_TIMER("scope", NULL);
    double_context_make_current(context); /* as the runtime does */
    CHECK(!double_launch(NULL, 5000));
}

TEST(gpu_primary, the_scope_contains_the_first_call) {
    begin();
    load_runtime();
    first_call(double_primary_use(0));
    CHECK_EQ_U64(measured(), 1);
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 5000);
}

TEST(gpu_primary, of_the_device_that_the_thread_chose) {
    begin();
    load_runtime();
    double_primary_use(0);
    double_primary_use(2);
    set_device(2);
    scope(NULL);
    CHECK_EQ_U64(measured(), 1);
    struct arena_device *d = arena_at(arena_header()->first_device);
    CHECK(d && d->number == 2);
}

TEST(gpu_primary, makes_none) {
    begin();
    load_runtime();
    double_primary_use(1);
    scope(NULL); /* of device 0 */
    CHECK_EQ_U64(measured(), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1);
    CHECK_EQ_U64(double_primaries_made(), 0);
    CHECK_EQ_U64(double_calls("cuDevicePrimaryCtxRetain"), 0);
}

TEST(gpu_primary, without_a_loaded_runtime) {
    begin();
    double_primary_use(0);
    scope(NULL);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1);
    CHECK_EQ_U64(double_calls("cuDevicePrimaryCtxGetState"), 0);
    load_runtime();
    scope(NULL); /* it is looked for once a second */
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 2);
    fake_advance(1000000000);
    scope(NULL);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 2);
    CHECK_EQ_U64(measured(), 1);
}

/* The case of the static runtime library, which cannot be found by a name. With several devices it
 * is not known which one a thread uses. */
TEST(gpu_primary, without_a_runtime_of_the_only_device) {
    begin();
    double_device_count(1);
    scope(NULL);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1); /* it has no context yet */
    double_primary_use(0);
    scope(NULL);
    scope(GPU_STREAM_PER_THREAD);
    CHECK_EQ_U64(measured(), 2);
    CHECK(!double_context_current());
    double_device_count(2);
    scope(NULL);
    CHECK(!double_fail("cuDeviceGetCount:*=3"));
    scope(NULL);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 3);
    CHECK_EQ_U64(double_primary_references(0), 1);
    CHECK_EQ_U64(double_primaries_made(), 0);
}

static void reset_before_retain(const char *function, NO_ARG) {
    if (!strcmp(function, "cuDevicePrimaryCtxRetain")) {
        double_primary_drop(0);
    }
}

/* Another thread resets the device at that moment: nothing is left of the context that this
 * makes. */
TEST(gpu_primary, reset_between_two_calls) {
    begin();
    load_runtime();
    double_primary_use(0);
    double_hook(reset_before_retain, NULL);
    scope(NULL);
    double_hook(NULL, NULL);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1);
    CHECK_EQ_U64(double_primary_references(0), 0);
    CHECK_EQ_U64(double_calls("cuEventRecord"), 0);
    CHECK(!double_context_current());
}

TEST(gpu_primary, not_before_cuda_is_initialised) {
    begin();
    double_reset();
    load_runtime();
    scope(NULL);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1);
    CHECK(runtime_calls() == 0);
}

TEST(gpu_primary, not_where_it_may_be_a_signal_handler) {
    sigset_t one;
    begin();
    load_runtime();
    double_primary_use(0);
    scope(NULL);
    int before = runtime_calls();
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    scope(NULL);
    CHECK(runtime_calls() == before);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1);
}

TEST(gpu_primary, each_function_fails) {
    static const char *const faults[] = {"cuDevicePrimaryCtxGetState:*=1",
                                         "cuDevicePrimaryCtxRetain:*=2",
                                         "cuDevicePrimaryCtxRelease:*=201", "cuCtxGetId:*=709"};
    begin();
    load_runtime();
    double_primary_use(0);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
        CHECK(!double_fail(faults[i]));
        scope(NULL);
    }
    double_fail(NULL);
    fail_runtime(35);
    scope(NULL);
    fail_runtime(0);
    scope(NULL);
    CHECK_EQ_U64(measured(), 1);
    CHECK_EQ_U64(stat_of("scope").calls, 6);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE) + lost(STINT_STATUS_GPU_FAILED) +
                     lost(STINT_STATUS_GPU_CONTEXT),
                 5);
    CHECK(!double_context_current());
}
