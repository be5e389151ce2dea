/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_private.h"

#include <pthread.h>
#include <stddef.h>

#include "system/log.h"

/* The context of the start is a primary one (gpu.h). Written by starts, one at a time. */
static int tool_started_in_primary;

static int tool_lacks_context(int code) {
    return code == GPU_NOT_INITIALIZED || code == GPU_INVALID_CONTEXT;
}

enum tool_state capture_tool_start(struct gpu_context *context) {
    const struct gpu_ops *gpu = gpu_ops();
    if (gpu->reason) {
        log_warning("nothing is captured: %s", gpu->reason);
        return TOOL_VOID;
    }
    if (!gpu->capture_start) {
        log_warning("nothing is captured: the back end %s starts no profiler", gpu->name);
        return TOOL_VOID;
    }
    int code = gpu->context(NULL, context);
    context->gpu = gpu;
    if (code == GPU_OK) {
        code = gpu->capture_start();
        tool_started_in_primary = gpu_context_is_primary(gpu, context);
    }
    if (tool_lacks_context(code)) {
        return TOOL_PENDING;
    }
    if (code != GPU_OK) {
        log_warning("nothing is captured: the driver returns %s", gpu_code_name(gpu, code));
        return TOOL_VOID;
    }
    return TOOL_ON;
}

/* Start and stop act on the current context, and the last range may end on another thread. If the
 * context of the start was destroyed or may have been, the profiler is stopped in the current
 * one. */
void capture_tool_stop(const struct gpu_context *context) {
    const struct gpu_ops *gpu = context->gpu;
    struct gpu_context here = {0};
    int same = gpu->context(NULL, &here) == GPU_OK && here.handle == context->handle &&
               here.id == context->id;
    int entered = 0;
    if (!same && gpu_context_exists(gpu, context, tool_started_in_primary) == GPU_EXISTS) {
        gpu_enter(gpu, context, &entered);
    }
    if (gpu->capture_stop) {
        gpu->capture_stop();
    }
    gpu_leave(gpu, context, entered);
}

void capture_tool_missed(const char *name) {
    const struct gpu_ops *gpu = gpu_known();
    if (gpu && gpu->uninitialized && gpu->uninitialized()) {
        log_warning("nothing was captured in [%.300s]: the %s driver has no device, or was not "
                    "initialised while it ran",
                    name, gpu_words_platform(gpu->words));
        return;
    }
    const char *platform = gpu_words_platform(gpu ? gpu->words : NULL);
    log_warning("nothing was captured in [%.300s]: no %s context existed while it ran; begin it "
                "after the first %s call, or use a STINT_GPU_TIMER or stint_step in it",
                name, platform, platform);
}

/* Its write is a cancellation point: a thread cancelled there would not reach its worker_run. */
void capture_tool_announce(const char *name, const char *info) {
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    if (info) {
        log_legacy("Enable GPU Profiler Stat: [%.300s] \"%.500s\"", name, info);
    } else {
        log_legacy("Enable GPU Profiler Stat: [%.300s]", name);
    }
    pthread_setcancelstate(state, NULL);
}
