/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the fluid report below its table: wall, CPU and GPU times in which each instant
 * counts once, where the rows of the table count nested scopes and parallel threads several times.
 * docs/migrate_paddle.md defines them.
 */
#include <stdio.h>
#include <string.h>

#include "arena/activity_kind.h"
#include "base/arithmetic.h"
#include "base/name.h"
#include "base/number.h"
#include "fluid_report.h"

#define STEP "stint_step" /* the name stint_step() records under: in the footer */

struct device_time {
    double any;
    double kernels;
    double copies;
    double both;
    int seen;
};

struct waits {
    double sync;
    double copies;
};

/* ---- Sums. */

/* In outermost scopes, those that are open included; a thread's recorder cannot have been in scopes
 * for longer than there was time. The nodes of a thread follow its root. */
static double cpu_time(const struct snapshot *s, uint32_t *threads) {
    double sum = 0;
    uint64_t inside = 0;
    *threads = 0;
    for (uint32_t i = 0; i <= s->node_count; ++i) {
        const struct snapshot_node *n = i < s->node_count ? &s->nodes[i] : NULL;
        if (!n || n->parent == SNAPSHOT_NONE) {
            sum += (double)u64_min(snapshot_ns(s, inside), s->wall_ns);
            *threads += inside != 0;
            inside = 0;
        } else if (s->nodes[n->parent].parent == SNAPSHOT_NONE &&
                   n->kind == STINT_IMPL_SCOPE_NODE) {
            inside += n->total + n->extra->open;
        }
    }
    return sum;
}

static void add_busy(struct device_time *to, const struct snapshot_activity *a) {
    double ns = (double)a->total;
    to->seen = 1;
    switch (a->detail) {
    case ACTIVITY_BUSY_ANY:
        to->any += ns;
        break;
    case ACTIVITY_BUSY_KERNEL:
        to->kernels += ns;
        break;
    case ACTIVITY_BUSY_COPY:
        to->copies += ns;
        break;
    case ACTIVITY_BUSY_OVERLAP:
        to->both += ns;
        break;
    default:
        break;
    }
}

/* A stream that waits for an event keeps no thread. */
static void add_wait(struct waits *to, const struct snapshot_activity *a) {
    if (a->kind == ACTIVITY_SYNC && a->detail != ACTIVITY_SYNC_STREAM_WAIT) {
        to->sync += (double)a->total;
    } else if (a->kind == ACTIVITY_COPY && !ACTIVITY_COPY_ASYNC(a->detail)) {
        to->copies += (double)a->launch_total;
    }
}

/* ---- Lines. */

static void once_put_line(const struct report *r, const char *label, double ns) {
    fluid_line(r->out, label, ns, (double)r->snapshot->wall_ns);
    text_put(r->out, "\n", 1);
}

static void once_put_device(const struct report *r, uint32_t index, const struct device_time *d) {
    const struct snapshot *s = r->snapshot;
    const struct snapshot_device *device = NULL;
    if (index < s->device_count) {
        device = &s->devices[index];
    }
    char label[40] = "GPU busy";
    if (device) {
        snprintf(label, sizeof label, "GPU %u busy", device->number);
    }
    fluid_line(r->out, label, d->any, (double)s->wall_ns);
    if (device) {
        text_put(r->out, "  ", 2);
        text_name(r->out, device->name, strlen(device->name), 0);
    }
    text_put(r->out, "\n", 1);
    once_put_line(r, "  kernels", d->kernels);
    once_put_line(r, "  copies and fills", d->copies);
    once_put_line(r, "  overlap of both", d->both);
}

static void put_source(const struct report *r, enum fluid_source source) {
    const char *gpu = "";
    if (r->about->gpu) {
        gpu = r->about->gpu;
    }
    if (r->options->fluid.state == FLUID_CPU && source == FLUID_NO_GPU) {
        return;
    }
    if (source == FLUID_TRACER) {
        text_add(r->out, "GPU times: kernels, copies and fills of a scope and all in it\n");
        return;
    }
    if (source == FLUID_EVENTS) {
        text_add(r->out, "GPU times: of STINT_GPU_TIMER, by events");
    } else {
        text_add(r->out, "GPU times: none, nothing was seen");
    }
    if (*gpu) {
        text_put(r->out, "; GPU ", 6);
        text_name(r->out, gpu, strlen(gpu), 0);
    }
    text_put(r->out, "\n", 1);
}

/* Prints what the table leaves out because it may overlap anything. */
static void put_beside(const struct report *r) {
    const struct snapshot *s = r->snapshot;
    u128 count = 0;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        const struct snapshot_site *site = &s->sites[n->site];
        int is_step = site->name && name_is(site->name, site->length, STEP);
        if (n->kind == STINT_IMPL_INTERVAL_NODE && !is_step) {
            count += n->count;
        }
    }
    if (count) {
        text_add(r->out,
                 "not in it: %s interval%s of handles and added samples, which may overlap "
                 "anything\n",
                 number_whole(count).text, text_plural(count));
    }
}

int report_fluid_once(const struct report *r, enum fluid_source source) {
    struct snapshot *s = r->snapshot;
    struct device_time *devices = scratch_array(&s->memory, SNAPSHOT_DEVICES + 1, sizeof *devices);
    struct waits waits = {0, 0};
    uint32_t threads;
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (a->kind == ACTIVITY_BUSY && a->count) {
            add_busy(&devices[a->device < s->device_count ? a->device : SNAPSHOT_DEVICES], a);
        }
        add_wait(&waits, a);
    }
    fluid_section(r->out, "     Time Counted Once     ");
    once_put_line(r, "Wall time", (double)s->wall_ns);
    double cpu = cpu_time(s, &threads);
    fluid_line(r->out, "CPU time in scopes", cpu, (double)s->wall_ns);
    text_add(r->out, "  of %u thread%s\n", threads, text_plural(threads));
    for (uint32_t i = SNAPSHOT_DEVICES + 1; i-- > 0;) { /* the oldest first */
        if (devices[i].seen) {
            once_put_device(r, i, &devices[i]);
        }
    }
    if (source == FLUID_TRACER) {
        once_put_line(r, "CPU waits for the GPU", waits.sync + waits.copies);
        once_put_line(r, "  synchronisation", waits.sync);
        once_put_line(r, "  copies that keep it", waits.copies);
    }
    put_source(r, source);
    put_beside(r);
    if (r->about->state) {
        text_add(r->out, "%s\n", r->about->state);
    }
    return 0;
}
