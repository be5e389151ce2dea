/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <stdio.h>

void trace_name_thread(struct trace_lane *out, const struct snapshot_thread *t) {
    if (t->uses > 1) {
        snprintf(out->name, sizeof out->name, "%.15s [%u and %u before]", t->name, t->tid,
                 t->uses - 1);
    } else {
        snprintf(out->name, sizeof out->name, "%.15s [%u]", t->name, t->tid);
    }
}

/* By the number that the tracer and other tools on it give the stream. */
static void name_activities(struct trace_lane *out, const struct arena_lane *l, const char *whose) {
    char context[24] = "";
    if (l->context > 1) { /* the program's first is 1; another one may number its streams anew */
        snprintf(context, sizeof context, " context %u", l->context);
    }
    if (l->stream) {
        snprintf(out->name, sizeof out->name, "%sGPU %u%s stream %llu", whose, out->device, context,
                 (unsigned long long)l->stream);
    } else {
        snprintf(out->name, sizeof out->name, "%sGPU %u other streams", whose, out->device);
    }
}

/* Where there are activities a stream has two lanes, of other numbers: this one says what it is. */
static void name_timers(struct trace_lane *out, const struct arena_lane *l, const char *whose,
                        int both) {
    const char *which = "stream";
    if (l->stream == 1) {
        which = "default stream";
    } else if (l->stream == 2) {
        which = "per-thread default stream";
    } else if (!l->stream) {
        which = "other streams";
    }
    snprintf(out->name, sizeof out->name, "%sGPU %u %s %u%s", whose, out->device, which, l->number,
             both ? ": timers" : "");
}

void trace_name_stream(struct trace_lane *out, const struct arena_lane *l,
                       const struct snapshot *s) {
    const struct arena_device *d = snapshot_at(s, l->device, sizeof *d);
    char whose[24] = ""; /* as merge names threads */
    if (l->pid && l->ranked) {
        snprintf(whose, sizeof whose, "r%u ", l->rank);
    } else if (l->pid) {
        snprintf(whose, sizeof whose, "%u/%u ", l->rank, l->pid);
    }
    out->thread = SNAPSHOT_NONE;
    out->device = 0;
    if (d) {
        out->device = d->number;
    }
    out->activities = l->kind == ARENA_LANE_ACTIVITIES;
    out->memory = l->kind == ARENA_LANE_MEMORY;
    if (out->memory) {
        snprintf(out->name, sizeof out->name, "%sGPU %u memory", whose, out->device);
    } else if (out->activities) {
        name_activities(out, l, whose);
    } else {
        name_timers(out, l, whose, s->activity_count != 0);
    }
}
