/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting and stopping the tools behind the driver. No lock may be held: they take their time.
 */
#ifndef STINT_CAPTURE_TOOL_H
#define STINT_CAPTURE_TOOL_H

#include "gpu/gpu.h"

enum tool_state {
    TOOL_OFF,
    TOOL_ON,
    TOOL_PENDING, /* no context yet */
    TOOL_VOID     /* cannot be; said so */
};

/* Starts, or says why not. context gets where. */
enum tool_state tool_start(struct gpu_context *context);
/* Stops in the context of the start. */
void tool_stop(const struct gpu_context *context);
/* The line of an outermost range or window; info NULL: none. */
void tool_announce(const char *name, const char *info);
/* For a capture that stayed pending to its end. */
void tool_missed(const char *name);

#endif
