/* SPDX-License-Identifier: Apache-2.0 */
#include "activity_private.h"

#include "activity.h"
#include "gpu/event_sums.h"

static struct activity_gpu device_table[ACTIVITY_DEVICES];
static uint32_t device_count;
static const struct gpu_words *device_words; /* of the tracer in use; relaxed */

void activity_use_words(const struct gpu_words *words) {
    __atomic_store_n(&device_words, words, __ATOMIC_RELAXED);
}

struct activity_gpu *activity_device_find(uint32_t number) {
    for (uint32_t i = 0; i < device_count; ++i) {
        if (device_table[i].number == number) {
            return &device_table[i];
        }
    }
    return NULL;
}

const struct activity_gpu *activity_device_get(uint32_t number, const struct gpu_device *d) {
    static const struct gpu_device nothing;
    struct activity_gpu *g = activity_device_find(number);
    if (g && (g->described || !d)) {
        return g;
    }
    if (!g) {
        if (number == ACTIVITY_NO_DEVICE || device_count == ACTIVITY_DEVICES) {
            return NULL;
        }
        g = &device_table[device_count];
        *g = (struct activity_gpu){.number = number, .index = device_count++};
    }
    g->unit = event_sums_device((int)number, __atomic_load_n(&device_words, __ATOMIC_RELAXED),
                                d ? d : &nothing);
    g->described = d != NULL;
    return g;
}

const struct activity_gpu *activity_device_at(uint32_t index) {
    return &device_table[index];
}

void activity_device_forget(void) {
    device_count = 0;
}
