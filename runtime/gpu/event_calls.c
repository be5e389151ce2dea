/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event pool's calls of the back end, in the context that each needs. A context that may have
 * been destroyed is only entered, and its events are only used, if the back end knows that it
 * exists. Called by event_pool.c without its lock.
 */
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

/* A stream exists until its scope ends, and with it its context. */
static int visit_check_stream(const struct event_pair *p) {
    const struct gpu_stream stream = {.gpu = p->context.gpu, .handle = p->stream};
    struct gpu_context c = {0};
    int code = gpu_get_context(&stream, &c);
    if (!code && !gpu_context_is_same(&c, &p->context)) {
        code = GPU_CONTEXT_IS_DESTROYED;
    }
    return code;
}

static int visit_check_context(const struct event_pair *p) {
    int primary = __atomic_load_n(&p->home->is_primary, __ATOMIC_RELAXED);
    switch (gpu_context_exists(p->context.gpu, &p->context, primary)) {
    case GPU_EXISTS:
        return GPU_OK;
    case GPU_IS_GONE:
        return GPU_CONTEXT_IS_DESTROYED;
    default:
        return GPU_CONTEXT_UNKNOWN;
    }
}

static int visit_enter_other(struct event_visit *v, const struct gpu_context *c,
                             const struct event_pair *doubtful, enum event_moment moment) {
    int code = GPU_OK;
    if (doubtful && moment == EVENT_AT_STOP && !gpu_stream_is_default(doubtful->stream)) {
        code = visit_check_stream(doubtful);
    } else if (doubtful) {
        code = visit_check_context(doubtful);
    }
    if (!code) {
        code = gpu_enter_other(c->gpu, c, &v->entered);
    }
    return code;
}

int event_visit_change(struct event_visit *v, const struct gpu_context *c,
                       const struct event_pair *doubtful, enum event_moment moment) {
    int code = GPU_OK;
    if (v->relaxed != c->gpu) {
        visit_restore_mode(v);
    }
    visit_leave_context(v);
    if (!gpu_is_current(c->gpu, c)) {
        code = visit_enter_other(v, c, doubtful, moment);
    }
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

void event_visit_end(struct event_visit *v) {
    visit_restore_mode(v);
    visit_leave_context(v);
}

void event_pair_clear(const struct event_pair *p) {
    const struct gpu_ops *gpu = p->context.gpu;
    if (gpu->event_clear && p->from) {
        gpu->event_clear(p->from);
        gpu->event_clear(p->to);
    }
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
    if (code) {
        event_pair_clear(p);
    }
    return code;
}

int event_pair_query(struct event_visit *v, const struct event_pair *p, int wait, uint64_t *ns) {
    const struct gpu_ops *gpu = p->context.gpu;
    int code = event_visit_return(v, p, EVENT_LATER);
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
    if (code && code != GPU_NOT_READY) {
        event_pair_clear(p);
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
    case GPU_CONTEXT_IS_DESTROYED:
    case GPU_CONTEXT_UNKNOWN:
        return STINT_STATUS_GPU_CONTEXT;
    default:
        return STINT_STATUS_GPU_FAILED;
    }
}
