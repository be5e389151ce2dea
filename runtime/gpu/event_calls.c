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
    if (v->entered) {
        gpu_leave(v->context.gpu, &v->context, 1);
    }
    v->entered = 0;
    v->context.handle = NULL;
}

static void visit_restore_mode(struct event_visit *v) {
    if (v->relaxed) {
        gpu_capture_mode(v->relaxed, &v->mode);
        v->relaxed = NULL;
    }
}

int event_visit_change(struct event_visit *v, const struct gpu_context *c) {
    if (v->relaxed != c->gpu) {
        visit_restore_mode(v);
    }
    visit_leave_context(v);
    int code = gpu_enter(c->gpu, c, &v->entered);
    if (!code) {
        v->context = *c;
    }
    return code;
}

/* A mode that cannot be exchanged is asked for again at the next pair. */
static void visit_relax_captures(struct event_visit *v) {
    if (!v->relaxed) {
        v->mode = GPU_MODE_RELAXED;
        if (gpu_capture_mode(v->context.gpu, &v->mode) == GPU_OK) {
            v->relaxed = v->context.gpu;
        }
    }
}

void event_visit_begin(struct event_visit *v) {
    memset(v, 0, sizeof *v);
}

void event_visit_end(struct event_visit *v) {
    visit_restore_mode(v);
    visit_leave_context(v);
}

int event_pair_record(struct event_visit *v, struct event_pair *p, void **which) {
    const struct gpu_ops *gpu = p->context.gpu;
    int code = event_visit_enter(v, &p->context);
    if (!code && !p->from) {
        code = pair_make_events(gpu, p);
    }
    if (!code) {
        code = gpu->event_record(*which, p->stream);
    }
    return code;
}

int event_pair_query(struct event_visit *v, const struct event_pair *p, int wait, uint64_t *ns) {
    const struct gpu_ops *gpu = p->context.gpu;
    int code = event_visit_enter(v, &p->context);
    if (code) {
        return code;
    }
    visit_relax_captures(v);
    if (wait) {
        code = gpu->event_wait(p->to);
    } else {
        code = gpu->event_query(p->to);
    }
    if (!code) {
        code = gpu->event_elapsed(p->from, p->to, ns);
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
