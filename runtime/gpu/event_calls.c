/* SPDX-License-Identifier: Apache-2.0 */
#include "event_calls.h"

#include <stddef.h>

static int make_events(const struct gpu_ops *gpu, struct event_pair *p) {
    int mode = GPU_MODE_RELAXED;
    int relaxed = gpu_capture_mode(gpu, &mode) == GPU_OK;
    int code = gpu->event_new(&p->from);
    code = code ? code : gpu->event_new(&p->to);
    if (code && p->from) {
        gpu->event_drop(p->from);
        p->from = NULL;
    }
    if (relaxed) {
        gpu_capture_mode(gpu, &mode);
    }
    return code;
}

int event_record(const struct gpu_ops *gpu, struct event_pair *p, void **which) {
    int code = gpu_enter(gpu, &p->home->context);
    if (!code) {
        code = p->from ? GPU_OK : make_events(gpu, p);
        code = code ? code : gpu->event_record(*which, p->stream);
        gpu_leave(gpu, &p->home->context);
    }
    return code;
}

int event_ask(const struct gpu_ops *gpu, const struct event_pair *p, int wait, uint64_t *ns) {
    int mode = GPU_MODE_RELAXED;
    int code = gpu_enter(gpu, &p->home->context);
    if (code) {
        return code;
    }
    int relaxed = gpu_capture_mode(gpu, &mode) == GPU_OK;
    code = wait ? gpu->event_wait(p->to) : gpu->event_query(p->to);
    code = code ? code : gpu->event_elapsed(p->from, p->to, ns);
    if (relaxed) {
        gpu_capture_mode(gpu, &mode);
    }
    gpu_leave(gpu, &p->home->context);
    return code;
}

enum stint_status event_loss(int code) {
    switch (code) {
    case GPU_NOT_INITIALIZED:
    case GPU_DEINITIALIZED:
    case GPU_INVALID_CONTEXT:
        return STINT_STATUS_GPU_NO_DEVICE;
    case GPU_CAPTURE_IMPLICIT:
        return STINT_STATUS_GPU_CAPTURED;
    default:
        return STINT_STATUS_GPU_FAILED;
    }
}
