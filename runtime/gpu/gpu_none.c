/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end of a machine, or a build, without a GPU.
 */
#include <stddef.h>

#include "gpu.h"

static int none_get_context(void *stream, struct gpu_context *out) {
    (void)stream, (void)out;
    return GPU_NOT_INITIALIZED;
}

static int none_event_new(void **event) {
    (void)event;
    return GPU_NOT_INITIALIZED;
}

static int none_event_fail(void *event) {
    (void)event;
    return GPU_NOT_INITIALIZED;
}

static int none_event_record(void *event, void *stream) {
    (void)event, (void)stream;
    return GPU_NOT_INITIALIZED;
}

static int none_event_elapsed(void *from, void *to, uint64_t *ns) {
    (void)from, (void)to, (void)ns;
    return GPU_NOT_INITIALIZED;
}

const struct gpu_ops gpu_none = {
    .name = "none",
    .reason = "no GPU back end",
    .context = none_get_context,
    .event_new = none_event_new,
    .event_drop = none_event_fail,
    .event_record = none_event_record,
    .event_query = none_event_fail,
    .event_wait = none_event_fail,
    .event_elapsed = none_event_elapsed,
};
