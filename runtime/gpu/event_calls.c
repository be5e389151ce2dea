/* SPDX-License-Identifier: Apache-2.0 */
#include "event_pair.h"

#include <stddef.h>
#include <string.h>

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

static void visit_leave_context(struct event_visit *v) {
    gpu_leave(v->gpu, &v->context, v->entered);
    v->entered = 0;
    v->context.handle = NULL;
}

int event_visit_change(struct event_visit *v, const struct gpu_context *c) {
    visit_leave_context(v);
    int code = gpu_enter(v->gpu, c, &v->entered);
    if (!code) {
        v->context = *c;
    }
    return code;
}

/* A mode that cannot be exchanged is asked for again at the next pair. */
static void visit_relax_captures(struct event_visit *v) {
    if (!v->relaxed) {
        v->mode = GPU_MODE_RELAXED;
        v->relaxed = gpu_capture_mode(v->gpu, &v->mode) == GPU_OK;
    }
}

void event_visit_begin(struct event_visit *v, const struct gpu_ops *gpu) {
    memset(v, 0, sizeof *v);
    v->gpu = gpu;
}

void event_visit_end(struct event_visit *v) {
    if (v->relaxed) {
        gpu_capture_mode(v->gpu, &v->mode);
        v->relaxed = 0;
    }
    visit_leave_context(v);
}

int event_pair_record(struct event_visit *v, struct event_pair *p, void **which) {
    int code = event_visit_enter(v, &p->context);
    if (!code && !p->from) {
        code = pair_make_events(v->gpu, p);
    }
    if (!code) {
        code = v->gpu->event_record(*which, p->stream);
    }
    return code;
}

int event_pair_query(struct event_visit *v, const struct event_pair *p, int wait, uint64_t *ns) {
    int code = event_visit_enter(v, &p->context);
    if (code) {
        return code;
    }
    visit_relax_captures(v);
    if (wait) {
        code = v->gpu->event_wait(p->to);
    } else {
        code = v->gpu->event_query(p->to);
    }
    if (!code) {
        code = v->gpu->event_elapsed(p->from, p->to, ns);
    }
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
