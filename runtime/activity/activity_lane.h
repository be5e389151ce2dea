/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a GPU's streams as a tracer saw it: one lane a device, context and stream, with what
 * ran there and where it was launched. Under the activity lock.
 */
#ifndef STINT_ACTIVITY_LANE_H
#define STINT_ACTIVITY_LANE_H

#include "activity_device.h"
#include "activity_launch.h"

struct activity_record;

/* A sample of that row. */
void activity_lane_add(const struct activity_record *r, uint32_t row,
                       const struct activity_gpu *gpu, const struct activity_origin *from);
void activity_lane_forget(void);

#endif
