/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs over time: how long each was busy with what, why it was idle and which scope is
 * responsible, and the share of a step. Unions of intervals: nothing is counted twice.
 */
#include <stdio.h>
#include <string.h>

#include "arena/activity_kind.h"
#include "base/arithmetic.h"
#include "base/number.h"
#include "model/activity_name.h"
#include "model/activity_table.h"
#include "report.h"
#include "report_grid.h"

/* Adds up the activities of that kind. Returns whether there are any. */
static int device_sum_activities(struct activity_sum *out, const struct snapshot *s, uint32_t kind,
                                 uint32_t detail, uint32_t device) {
    static const struct snapshot_activity none;
    activity_sum_start(out, &none);
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (a->kind == kind && a->detail == detail && a->device == device && a->count) {
            activity_sum_add(out, a);
        }
    }
    return out->count != 0;
}

static int device_sum_busy(struct activity_sum *out, const struct snapshot *s, uint32_t detail,
                           uint32_t device) {
    return device_sum_activities(out, s, ACTIVITY_BUSY, detail, device);
}

/* From the first work to the end of the last; of an interval at most its own time. */
static u128 device_span(const struct snapshot *s, const struct activity_sum *any) {
    u128 span = u128_subtract(any->last_at, any->first_at);
    if (s->since && span > s->wall_ns) {
        span = s->wall_ns;
    }
    return u128_max(span, any->total);
}

static void grid_put_device(struct report_grid *g, const struct snapshot *s, uint32_t device) {
    char name[100], number[20];
    const struct snapshot_device *d = NULL;
    if (device < s->device_count) {
        d = &s->devices[device];
    }
    if (d) {
        snprintf(number, sizeof number, "GPU %u", d->number);
        int named = *d->name && strcmp(d->name, number) != 0; /* else its number is its name */
        snprintf(name, sizeof name, "%s%s%s", number, named ? " " : "", named ? d->name : "");
    } else {
        snprintf(name, sizeof name, "?");
    }
    grid_name(g, name, strlen(name), 40);
}

static int put_busy(const struct report *r) {
    static const char *const titles[] = {"device", "seen",    "busy", "% busy", "kernels",
                                         "copies", "overlap", "idle", NULL};
    const struct snapshot *s = r->snapshot;
    struct report_grid g;
    text_add(r->out, "Devices, each from its first work to its last\n");
    grid_start(&g, titles, 1);
    for (uint32_t d = s->device_count; d-- > 0;) { /* oldest first */
        static const uint32_t parts[] = {ACTIVITY_BUSY_KERNEL, ACTIVITY_BUSY_COPY,
                                         ACTIVITY_BUSY_OVERLAP};
        struct activity_sum any, part;
        if (!device_sum_busy(&any, s, ACTIVITY_BUSY_ANY, d)) {
            continue;
        }
        u128 span = device_span(s, &any);
        grid_put_device(&g, s, d);
        grid_time(&g, span);
        grid_time(&g, any.total);
        grid_share(&g, any.total, span);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
            device_sum_busy(&part, s, parts[i], d);
            grid_time(&g, part.total);
        }
        grid_time(&g, span - any.total);
    }
    int failed = grid_print(&g, r->out, 0);
    text_put(r->out, "\n", 1);
    return failed;
}

static const struct snapshot_activity *gap_find_longest(const struct snapshot *s,
                                                        const uint8_t *taken) {
    const struct snapshot_activity *best = NULL;
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (a->kind == ACTIVITY_GAP && a->count && !taken[i] && (!best || a->total > best->total)) {
            best = a;
        }
    }
    return best;
}

#define GAP_ROWS 20u

static int put_gaps(const struct report *r) {
    static const char *const titles[] = {
        "% idle", "idle", "gaps", "longest", "device", "why", "scope that launched next", NULL};
    struct snapshot *s = r->snapshot;
    uint8_t *taken = scratch_array(&s->memory, (size_t)s->activity_count + 1, sizeof *taken);
    uint32_t limit = r->options->top ? r->options->top : GAP_ROWS, shown = 0, more = 0;
    const struct snapshot_activity *a;
    u128 idle = 0;
    struct report_grid g;
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        int gap = s->activities[i].kind == ACTIVITY_GAP && s->activities[i].count;
        if (gap) {
            idle += s->activities[i].total;
        }
        more += gap != 0;
    }
    if (!more) {
        return 0;
    }
    text_add(r->out, "Idle time of the devices, and whom to ask\n");
    grid_start(&g, titles, 7u << 4);
    for (; shown < limit && (a = gap_find_longest(s, taken)); ++shown) {
        taken[a - s->activities] = 1;
        grid_share(&g, a->total, idle);
        grid_time(&g, a->total);
        grid_count(&g, a->count);
        grid_time(&g, a->max);
        if (a->device < s->device_count) {
            grid_add(&g, "GPU %u", s->devices[a->device].number);
        } else {
            grid_add(&g, "?");
        }
        grid_add(&g, "%s", activity_gap_text(a->detail));
        report_path(&g, s, a->node);
    }
    int failed = grid_print(&g, r->out, 0);
    if (more > shown) {
        text_add(r->out, "(%u more)\n", more - shown);
    }
    text_put(r->out, "\n", 1);
    return failed;
}

static void put_step_row(struct report_grid *g, const char *name, const struct activity_sum *a,
                         u128 wall) {
    grid_add(g, "%s", name);
    grid_time(g, a->total / a->count);
    grid_share(g, a->total / a->count, wall);
    grid_time(g, a->min);
    grid_time(g, a->max);
}

/* The rest of a step, on average; it has no minimum and maximum of its own. */
static void put_idle_row(struct report_grid *g, const char *name, const struct activity_sum *a,
                         u128 wall) {
    u128 busy = a->total / a->count, idle = u128_subtract(wall, busy);
    grid_add(g, "%s", name);
    grid_time(g, idle);
    grid_share(g, idle, wall);
    grid_add(g, "-");
    grid_add(g, "-");
}

static int devices_put_steps(const struct report *r) {
    static const char *const titles[] = {"of a step", "on average", "%", "least", "most", NULL};
    const struct snapshot *s = r->snapshot;
    struct activity_sum wall, busy;
    struct report_grid g;
    if (!device_sum_activities(&wall, s, ACTIVITY_STEP, ACTIVITY_STEP_WALL, SNAPSHOT_NONE)) {
        return 0;
    }
    text_add(r->out, "Steps: %s\n", number_whole(wall.count).text);
    grid_start(&g, titles, 1);
    u128 average = wall.total / wall.count;
    put_step_row(&g, "wall", &wall, average);
    for (uint32_t d = s->device_count; d-- > 0;) {
        char name[40];
        if (device_sum_activities(&busy, s, ACTIVITY_STEP, ACTIVITY_STEP_BUSY, d)) {
            snprintf(name, sizeof name, "GPU %u busy", s->devices[d].number);
            put_step_row(&g, name, &busy, average);
            snprintf(name, sizeof name, "GPU %u idle", s->devices[d].number);
            put_idle_row(&g, name, &busy, average);
        }
    }
    int failed = grid_print(&g, r->out, 0);
    text_put(r->out, "\n", 1);
    return failed;
}

int report_devices(const struct report *r) {
    const struct snapshot *s = r->snapshot;
    struct activity_sum any;
    for (uint32_t d = 0; d < s->device_count; ++d) {
        if (device_sum_busy(&any, s, ACTIVITY_BUSY_ANY, d)) {
            if (put_busy(r) || put_gaps(r) || devices_put_steps(r)) {
                return -1;
            }
            return 0;
        }
    }
    return 0;
}
