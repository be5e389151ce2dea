/* SPDX-License-Identifier: Apache-2.0 */
#include "event_pair.h"

#include <stddef.h>

static int pair_make_events(const struct gpu_ops *gpu, struct event_pair *p) {
    int mode = GPU_MODE_RELAXED;
    int relaxed = gpu_capture_mode(gpu, &mode) == GPU_OK;
    int code = gpu->event_new(&p->from);
    if (!code) {
        code = gpu->event_new(&p->to);
    }
    if (code && p->from) {
        gpu->event_drop(p->from);
        p->from = NULL;
    }
    if (relaxed) {
        gpu_capture_mode(gpu, &mode);
    }
    return code;
}

int event_pair_record(const struct gpu_ops *gpu, struct event_pair *p, void **which) {
    int code = gpu_enter(gpu, &p->home->context);
    if (code) {
        return code;
    }
    if (!p->from) {
        code = pair_make_events(gpu, p);
    }
    if (!code) {
        code = gpu->event_record(*which, p->stream);
    }
    gpu_leave(gpu, &p->home->context);
    return code;
}

int event_pair_query(const struct gpu_ops *gpu, const struct event_pair *p, int wait,
                     uint64_t *ns) {
    int mode = GPU_MODE_RELAXED;
    int code = gpu_enter(gpu, &p->home->context);
    if (code) {
        return code;
    }
    int relaxed = gpu_capture_mode(gpu, &mode) == GPU_OK;
    if (wait) {
        code = gpu->event_wait(p->to);
    } else {
        code = gpu->event_query(p->to);
    }
    if (!code) {
        code = gpu->event_elapsed(p->from, p->to, ns);
    }
    if (relaxed) {
        gpu_capture_mode(gpu, &mode);
    }
    gpu_leave(gpu, &p->home->context);
    return code;
}

enum stint_status event_status_of_code(int code) {
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
