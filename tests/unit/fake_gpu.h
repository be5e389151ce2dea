/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU back end that only notes who starts and stops the tools, and where.
 */
#ifndef STINT_TESTS_FAKE_GPU_H
#define STINT_TESTS_FAKE_GPU_H

#include "gpu/gpu.h"
#include "harness.h"

static struct {
    const char *reason;
    int start_code, enter_code;
    int lacks_captures; /* and contexts to enter */
    void (*in_start)(void);
    unsigned starts, stops, contexts, enters, leaves; /* calls; any thread */
    unsigned wrong;                                   /* a start when started, and the like */
    int running;
    uint64_t started_in, stopped_in;
} fake_gpu;

/* The calling thread's context, 0 = none. */
static __thread uint64_t fake_context;
static __thread uint64_t fake_entered_from;

static inline unsigned fake_count(const unsigned *n) {
    return __atomic_load_n(n, __ATOMIC_RELAXED);
}

static inline void fake_add(unsigned *n) {
    __atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

static int fake_get_context(void *stream, struct gpu_context *out) {
    CHECK(!stream);
    fake_add(&fake_gpu.contexts);
    out->handle = (void *)(uintptr_t)fake_context;
    out->id = fake_context;
    out->device = 0;
    return fake_context ? GPU_OK : GPU_INVALID_CONTEXT;
}

static int fake_enter(const struct gpu_context *c) {
    fake_add(&fake_gpu.enters);
    if (!fake_gpu.enter_code) {
        fake_entered_from = fake_context;
        fake_context = c->id;
    }
    return fake_gpu.enter_code;
}

static void fake_leave(const struct gpu_context *c) {
    CHECK_EQ_U64(fake_context, c->id);
    fake_add(&fake_gpu.leaves);
    fake_context = fake_entered_from;
}

static int fake_start(void) {
    if (fake_gpu.in_start) {
        fake_gpu.in_start();
    }
    fake_add(&fake_gpu.starts);
    if (fake_gpu.start_code) {
        return fake_gpu.start_code;
    }
    if (__atomic_exchange_n(&fake_gpu.running, 1, __ATOMIC_SEQ_CST)) {
        fake_add(&fake_gpu.wrong);
    }
    fake_gpu.started_in = fake_context;
    return GPU_OK;
}

static int fake_stop(void) {
    fake_add(&fake_gpu.stops);
    if (!__atomic_exchange_n(&fake_gpu.running, 0, __ATOMIC_SEQ_CST)) {
        fake_add(&fake_gpu.wrong);
    }
    fake_gpu.stopped_in = fake_context;
    return GPU_OK;
}

static const char *fake_code_name(int code) {
    return code == GPU_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
}

static int fake_is_fatal(int code) {
    return code == GPU_ILLEGAL_ADDRESS;
}

static const struct gpu_words fake_words = {{[GPU_WORD_PLATFORM] = "CUDA"}};

/* It has no events. */
static const struct gpu_ops *fake_open(void) {
    static struct gpu_ops ops = {
        .name = "fake",
        .words = &fake_words,
        .context = fake_get_context,
        .enter = fake_enter,
        .leave = fake_leave,
        .capture_start = fake_start,
        .capture_stop = fake_stop,
        .code_name = fake_code_name,
        .is_fatal = fake_is_fatal,
    };
    ops.reason = fake_gpu.reason;
    if (fake_gpu.lacks_captures) {
        ops.enter = NULL;
        ops.leave = NULL;
        ops.capture_start = NULL;
        ops.capture_stop = NULL;
        ops.code_name = NULL;
        ops.is_fatal = NULL;
    }
    return &ops;
}

static const struct gpu_backend fake_backend = {.name = "fake", .open = fake_open};
static const struct gpu_backend *const fake_backends[] = {&fake_backend, NULL};

/* Runs after the constructor of session/connect.c. */
__attribute__((constructor)) static void use_fake_gpu(void) {
    gpu_set_list(fake_backends);
}

/* Starts and stops so far, and that none is under way. */
#define CHECK_CAPTURES(n)                                                                          \
    do {                                                                                           \
        CHECK_EQ_U64(fake_count(&fake_gpu.starts), n);                                             \
        CHECK_EQ_U64(fake_count(&fake_gpu.stops), n);                                              \
        CHECK_EQ_U64(fake_count(&fake_gpu.wrong), 0);                                              \
    } while (0)

#endif
