/* SPDX-License-Identifier: Apache-2.0 */
#include "export_tables.h"

/* Adds what the activity says about its device. */
static void device_add_activity(struct export_device *d, const struct snapshot_activity *a) {
    u128 *const busy[] = {[ACTIVITY_BUSY_ANY] = &d->busy_ns,
                          [ACTIVITY_BUSY_KERNEL] = &d->kernel_ns,
                          [ACTIVITY_BUSY_COPY] = &d->copy_ns,
                          [ACTIVITY_BUSY_OVERLAP] = &d->overlap_ns};
    if (a->kind == ACTIVITY_GAP) {
        d->idle_ns += a->total;
    } else if (a->kind == ACTIVITY_BUSY && a->detail <= ACTIVITY_BUSY_OVERLAP) {
        *busy[a->detail] += a->total;
    } else if (a->kind == ACTIVITY_MEMORY) {
        d->peaked = 1;
        d->allocated_bytes += a->bytes;
        d->peak_bytes += a->max_bytes;
    }
}

struct export_device *export_devices(struct snapshot *s) {
    size_t count = (size_t)s->device_count + 1;
    struct export_device *out = scratch_array(&s->memory, count, sizeof *out);
    for (uint32_t i = 0; out && i < s->device_count; ++i) {
        out[i].number = s->devices[i].number;
        out[i].name = s->devices[i].name;
    }
    for (uint32_t i = 0; out && i < s->activity_count; ++i) {
        if (s->activities[i].device < s->device_count) {
            device_add_activity(&out[s->activities[i].device], &s->activities[i]);
        }
    }
    return out;
}
