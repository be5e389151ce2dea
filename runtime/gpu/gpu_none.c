/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end of a machine, or a build, without a GPU.
 */
#include <stddef.h>

#include "gpu.h"

static int context(void *stream, struct gpu_context *out) {
    (void)stream, (void)out;
    return GPU_NOT_INITIALIZED;
}

static int event_new(void **event) {
    (void)event;
    return GPU_NOT_INITIALIZED;
}

static int event(void *event) {
    (void)event;
    return GPU_NOT_INITIALIZED;
}

static int event_record(void *event, void *stream) {
    (void)event, (void)stream;
    return GPU_NOT_INITIALIZED;
}

static int event_elapsed(void *from, void *to, uint64_t *ns) {
    (void)from, (void)to, (void)ns;
    return GPU_NOT_INITIALIZED;
}

const struct gpu_ops gpu_none = {
    .name = "none",
    .reason = "no GPU back end",
    .context = context,
    .event_new = event_new,
    .event_drop = event,
    .event_record = event_record,
    .event_query = event,
    .event_wait = event,
    .event_elapsed = event_elapsed,
};
