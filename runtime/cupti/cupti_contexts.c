/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_private.h"

#include "gpu/gpu.h"
#include "system/log.h"

#define CONTEXTS 64u /* that are waited for; most programs have one per GPU */

/* Any thread, relaxed. */
static uint64_t context_handles[CONTEXTS]; /* handles; 0 = free */
static int has_said;

void cupti_contexts_note(uint64_t context) {
    for (unsigned i = 0; context && i < CONTEXTS; ++i) {
        uint64_t have = __atomic_load_n(&context_handles[i], __ATOMIC_RELAXED);
        if (!have) {
            __atomic_compare_exchange_n(&context_handles[i], &have, context, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
            have = __atomic_load_n(&context_handles[i], __ATOMIC_RELAXED);
        }
        if (have == context) {
            return;
        }
    }
}

void cupti_contexts_forget(void) {
    for (unsigned i = 0; i < CONTEXTS; ++i) {
        __atomic_store_n(&context_handles[i], 0, __ATOMIC_RELAXED);
    }
}

/* To wait for a context during a capture fails, and may end the capture: where it is in doubt, it
 * counts as one. The legacy stream answers for all blocking streams of the context. */
static int contexts_are_captured(const struct gpu_ops *gpu) {
    int yes = 0;
    int code = gpu_capturing(gpu, GPU_STREAM_LEGACY, &yes);
    return code || yes || cupti_streams_are_captured(gpu);
}

static void contexts_say_captured(void) {
    if (!__atomic_exchange_n(&has_said, 1, __ATOMIC_RELAXED)) {
        log_warning(
            "GPU work that still runs is not waited for: a stream is or may be being captured");
    }
}

/* The context is current. waited: as for cupti_contexts_wait. */
static int contexts_wait_for_current(const struct gpu_ops *gpu, int *waited) {
    int mode = GPU_MODE_RELAXED;
    if (contexts_are_captured(gpu)) {
        contexts_say_captured();
        *waited = 0;
        return GPU_OK;
    }
    int exchanged = gpu_capture_mode(gpu, &mode) == GPU_OK;
    int code = gpu->wait();
    if (exchanged) {
        gpu_capture_mode(gpu, &mode);
    }
    return code;
}

static int contexts_wait_for(const struct gpu_ops *gpu, uint64_t context, int *waited) {
    struct gpu_context c = {.gpu = gpu, .handle = (void *)(uintptr_t)context, .device = -1};
    int entered;
    int code = gpu_enter(gpu, &c, &entered);
    if (!code) {
        cupti_streams_wait_begins();
        code = contexts_wait_for_current(gpu, waited);
        cupti_streams_wait_ended();
        gpu_leave(gpu, &c, entered);
    }
    return code;
}

int cupti_contexts_wait(int *waited) {
    const struct gpu_ops *gpu = cupti_gpu();
    int first = GPU_OK, all = 1;
    unsigned count = 0;
    for (unsigned i = 0; gpu->wait && i < CONTEXTS; ++i) {
        uint64_t context = __atomic_load_n(&context_handles[i], __ATOMIC_RELAXED);
        int code = GPU_OK;
        if (context) {
            ++count;
            code = contexts_wait_for(gpu, context, &all);
        }
        if (code) {
            all = 0;
        }
        if (!first && code != GPU_UNSUPPORTED) {
            first = code;
        }
    }
    *waited = all && count && count < CONTEXTS; /* there may be others than these */
    return first;
}
