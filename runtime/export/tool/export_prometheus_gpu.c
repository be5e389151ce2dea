/* SPDX-License-Identifier: Apache-2.0 */
#include "export_prometheus.h"

#include <stdio.h>

#include "export/export_tables.h"

struct device_family {
    const char *name;
    const char *type;
    const char *help;
    enum exposition_unit unit;
    size_t field; /* of struct export_device */
    int memory;   /* only if allocations were traced */
};

#define DEVICE(name) offsetof(struct export_device, name)
static const struct device_family device_families[] = {
    {"stint_device_busy_seconds_total", "counter", "Time in which anything ran on a GPU.",
     EXPOSITION_SECONDS, DEVICE(busy_ns), 0},
    {"stint_device_kernel_seconds_total", "counter", "Time in which a kernel ran on a GPU.",
     EXPOSITION_SECONDS, DEVICE(kernel_ns), 0},
    {"stint_device_copy_seconds_total", "counter", "Time in which a copy or fill ran on a GPU.",
     EXPOSITION_SECONDS, DEVICE(copy_ns), 0},
    {"stint_device_overlap_seconds_total", "counter", "Time in which both ran on a GPU.",
     EXPOSITION_SECONDS, DEVICE(overlap_ns), 0},
    {"stint_device_idle_seconds_total", "counter", "Time in which nothing ran, between work.",
     EXPOSITION_SECONDS, DEVICE(idle_ns), 0},
    {"stint_device_allocated_bytes", "gauge", "Memory of a GPU that is allocated.",
     EXPOSITION_NUMBER, DEVICE(allocated_bytes), 1},
    {"stint_device_allocated_peak_bytes", "gauge", "The most that was allocated at once.",
     EXPOSITION_NUMBER, DEVICE(peak_bytes), 1},
};

struct row_family {
    const char *name;
    const char *help;
    enum exposition_unit unit;
    size_t field; /* of the sum in struct activity_row */
};

#define SUM(name) offsetof(struct activity_row, sum.name)
static const struct {
    unsigned kinds;
    struct row_family family[3]; /* up to one without a name */
} groups[] = {
    {ACTIVITY_IN(ACTIVITY_KERNEL),
     {{"stint_kernel_runs_total", "Runs of a kernel.", EXPOSITION_NUMBER, SUM(count)},
      {"stint_kernel_seconds_total", "Time of a kernel on the GPU.", EXPOSITION_SECONDS,
       SUM(total)}}},
    {ACTIVITY_IN_COPIES,
     {{"stint_copy_runs_total", "Copies and fills.", EXPOSITION_NUMBER, SUM(count)},
      {"stint_copy_seconds_total", "Time of copies and fills.", EXPOSITION_SECONDS, SUM(total)},
      {"stint_copy_moved_bytes_total", "Bytes of copies and fills.", EXPOSITION_NUMBER,
       SUM(bytes)}}},
    {ACTIVITY_IN_CALLS,
     {{"stint_api_calls_total", "Calls of the GPU's API.", EXPOSITION_NUMBER, SUM(count)},
      {"stint_api_seconds_total", "Time of the host in the GPU's API.", EXPOSITION_SECONDS,
       SUM(total)}}},
};

static u128 record_sum(const void *record, size_t field) {
    return *(const u128 *)(const void *)((const char *)record + field);
}

#define DEVICE_TEXT 32

/* The number of the device; in a file merged from several machines, devices with the same number
 * get a second number. */
static struct export_name device_label(char text[DEVICE_TEXT], const struct snapshot *s,
                                       uint32_t device) {
    unsigned before = 0;
    for (uint32_t i = 0; i < device; ++i) {
        before += s->devices[i].number == s->devices[device].number;
    }
    uint32_t number = s->devices[device].number;
    if (before) {
        snprintf(text, DEVICE_TEXT, "%u.%u", number, before);
    } else {
        snprintf(text, DEVICE_TEXT, "%u", number);
    }
    return export_text(text);
}

static void prometheus_put_device_family(struct exposition *x, const struct snapshot *s,
                                         const struct export_device *devices,
                                         const struct device_family *f) {
    exposition_family(x, f->name, f->type, f->help);
    for (uint32_t i = 0; i < s->device_count; ++i) {
        char number[DEVICE_TEXT];
        if (f->memory && !devices[i].peaked) {
            continue;
        }
        struct exposition_labels l = x->process;
        exposition_label_add(&l, "device", device_label(number, s, i));
        exposition_label_add(&l, "gpu", export_field(devices[i].name, sizeof s->devices[i].name));
        exposition_number(x, &l, record_sum(&devices[i], f->field), f->unit);
    }
}

static void prometheus_put_activity(struct exposition *x, const struct snapshot *s,
                                    const struct row_family *f, const struct activity_row *r) {
    char text[ACTIVITY_NAME_BYTES], number[DEVICE_TEXT];
    size_t n = activity_name(text, sizeof text, &r->sum.of);
    struct exposition_labels l = x->process;
    exposition_label_add(&l, "name", export_name(text, n));
    exposition_label_add(&l, "kind", export_text(activity_kind_text(r->sum.of.kind)));
    if (r->sum.of.device < s->device_count) {
        exposition_label_add(&l, "device", device_label(number, s, r->sum.of.device));
    }
    exposition_number(x, &l, record_sum(r, f->field), f->unit);
}

/* All invalid directions have the same name: the series would be written twice. */
static int row_is_damaged(const struct activity_row *r) {
    return r->sum.of.kind == ACTIVITY_COPY && r->sum.of.detail >= ACTIVITY_COPIES;
}

int prometheus_gpu(struct exposition *x, struct snapshot *s) {
    if (!s->activity_count) {
        return 0;
    }
    const struct export_device *devices = export_devices(s);
    if (!devices) {
        return -1;
    }
    for (size_t i = 0; i < sizeof device_families / sizeof *device_families; ++i) {
        prometheus_put_device_family(x, s, devices, &device_families[i]);
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; ++i) {
        const struct activity_ask ask = {groups[i].kinds, 0, ACTIVITY_EVERY_SET};
        struct activity_table rows;
        if (activity_table(&rows, s, &ask)) {
            return -1;
        }
        for (size_t k = 0; k < 3 && groups[i].family[k].name; ++k) {
            const struct row_family *f = &groups[i].family[k];
            exposition_family(x, f->name, "counter", f->help);
            for (uint32_t row = 0; row < rows.count; ++row) {
                if (!row_is_damaged(rows.row[row])) {
                    prometheus_put_activity(x, s, f, rows.row[row]);
                }
            }
        }
    }
    return 0;
}
