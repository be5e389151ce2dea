/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices by their number: their record in the arena and a small index. Under the activity lock.
 */
#ifndef STINT_ACTIVITY_DEVICE_H
#define STINT_ACTIVITY_DEVICE_H

#include "gpu/gpu.h"

#define ACTIVITY_DEVICES 64u /* more GPUs than one program sees */

struct activity_gpu {
    uint32_t number;
    uint32_t unit;  /* 0 = no memory for its record */
    uint32_t index; /* below ACTIVITY_DEVICES */
    int described;
};

/* NULL: not seen yet. */
const struct activity_gpu *activity_device_find(uint32_t number);
/* Made if need be; what d says, at the first call with it. NULL: too many, or no device at all. */
const struct activity_gpu *activity_device_get(uint32_t number, const struct gpu_device *d);
const struct activity_gpu *activity_device_at(uint32_t index);
void activity_device_forget(void);

#endif
