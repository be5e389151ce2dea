/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The building blocks of a run made by hand (hand_run.h): they fill the arrays of a struct
 * hand_run, and finally add up the sums that a reader of run files would have.
 */
#include "hand_run.h"
#include "arena/activity_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int run_trace(struct run *r) {
    r->trace.until_ns = UINT64_MAX; /* the rest is there already */
    return 0;
}

/* The events are in one array, lane after lane. */
void trace_walk_start(struct trace_walk *w, struct trace *t, uint32_t lane) {
    w->trace = t;
    w->lane = &t->lanes[lane];
    w->next = 0;
}

const struct trace_event *trace_walk_next(struct trace_walk *w) {
    const struct trace_event *e = (const struct trace_event *)(const void *)w->trace->rings;
    if (w->next == w->lane->count) {
        return NULL;
    }
    for (const struct trace_lane *lane = w->trace->lanes; lane < w->lane; ++lane) {
        e += lane->count;
    }
    return e + w->next++;
}

void hand_start(struct hand_run *h) {
    struct run *r = &h->run;
    memset(h, 0, sizeof *h);
    r->program = r->command = r->host = r->cpu = r->compiler = r->clock = r->gpu = r->job = "";
    r->snapshot.base = (const char *)h->histograms;
    r->snapshot.size = sizeof h->histograms;
    r->snapshot.ns_per_tick = 1;
    r->snapshot.wall_ns = 1000000000;
    r->snapshot.outside = &snapshot_no_measures;
    r->snapshot.threads = h->threads;
    r->snapshot.nodes = h->nodes;
    r->snapshot.extras = h->extras;
    r->snapshot.sites = h->sites;
    r->snapshot.sets = h->sets;
    r->snapshot.activities = h->activities;
    r->snapshot.devices = h->devices;
    r->trace.lanes = h->lanes;
    r->trace.rings = (struct trace_rings *)(void *)h->events;
    hand_set(h, "GlobalStatInfo");
}

uint32_t hand_site(struct hand_run *h, const char *name, size_t length) {
    struct snapshot_site *s = &h->sites[++h->run.snapshot.site_count];
    s->name = name;
    s->length = (uint32_t)length;
    return h->run.snapshot.site_count;
}

uint32_t hand_set(struct hand_run *h, const char *name) {
    h->sets[h->run.snapshot.set_count] = name;
    return h->run.snapshot.set_count++;
}

uint32_t hand_thread(struct hand_run *h, uint32_t tid, const char *name) {
    struct snapshot *s = &h->run.snapshot;
    struct snapshot_thread *t = &h->threads[s->thread_count];
    struct snapshot_node *root = &h->nodes[s->node_count];
    t->tid = tid;
    t->alive = 1;
    t->uses = 1;
    memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
    root->parent = root->sender = SNAPSHOT_NONE;
    root->extra = &snapshot_no_extra;
    root->measures = &snapshot_no_measures;
    root->thread = s->thread_count++;
    return s->node_count++;
}

static uint32_t histogram_of(struct hand_run *h, uint64_t value, uint64_t count) {
    uint32_t i = ++h->histogram_count;
    h->histograms[i].bucket[stint_impl_bucket(value)] = (uint32_t)count;
    return (uint32_t)(i * sizeof *h->histograms / STINT_IMPL_UNIT);
}

uint32_t hand_node(struct hand_run *h, uint32_t parent, uint32_t site, uint64_t count,
                   uint64_t total, int percentiles) {
    struct snapshot *s = &h->run.snapshot;
    struct snapshot_node *n = &h->nodes[s->node_count];
    n->parent = parent;
    n->sender = SNAPSHOT_NONE;
    n->extra = &snapshot_no_extra;
    n->measures = &snapshot_no_measures;
    n->thread = h->nodes[parent].thread;
    n->site = site;
    n->count = count;
    n->total = total;
    n->min = count ? total / count : UINT64_MAX;
    n->max = n->first = count ? total / count : 0;
    n->first_at = 1;
    h->nodes[parent].nested += h->nodes[parent].count ? total : 0;
    if (percentiles && count) {
        n->histogram = histogram_of(h, n->min, count);
    }
    return s->node_count++;
}

void hand_open(struct hand_run *h, uint32_t node, uint64_t ticks) {
    struct snapshot_node *n = &h->nodes[node];
    struct snapshot_thread *t = &h->threads[n->thread];
    t->open = t->open_count++ ? t->open : &h->open[h->open_count];
    h->open[h->open_count].node = node;
    h->open[h->open_count++].ticks = ticks;
    struct snapshot_extra *more = snapshot_extra_of(&h->run.snapshot, node);
    more->open = more->open_self = ticks;
    for (uint32_t i = node + 1; !n->count && i < h->run.snapshot.node_count; ++i) {
        more->open_self -= h->nodes[i].parent == node ? h->nodes[i].total : 0;
    }
    if (h->nodes[n->parent].extra->open) {
        snapshot_extra_of(&h->run.snapshot, n->parent)->open_self -= ticks;
    }
}

void hand_lane(struct hand_run *h, uint32_t root, const char *name) {
    struct trace *t = &h->run.trace;
    struct trace_lane *lane = &h->lanes[t->lane_count++];
    lane->thread = root == SNAPSHOT_NONE ? SNAPSHOT_NONE : h->nodes[root].thread;
    memcpy(lane->name, name, strnlen(name, sizeof lane->name - 1));
}

static struct trace_event *event(struct hand_run *h, enum trace_kind kind, uint32_t site,
                                 uint64_t at) {
    struct trace_event *e = &h->events[h->run.trace.event_count++];
    ++h->lanes[h->run.trace.lane_count - 1].count;
    e->kind = (uint16_t)kind;
    e->site = site;
    e->start_ns = at;
    e->node = e->activity = e->launch_thread = SNAPSHOT_NONE;
    return e;
}

void hand_span(struct hand_run *h, uint32_t node, uint64_t start, uint64_t duration,
               uint32_t depth) {
    struct trace_event *e = event(h, TRACE_SPAN, h->nodes[node].site, start);
    e->node = node;
    e->set = h->nodes[node].set;
    e->duration_ns = duration;
    e->depth = depth;
}

void hand_mark(struct hand_run *h, uint32_t site, uint64_t at) {
    event(h, TRACE_MARK, site, at);
}

void hand_value(struct hand_run *h, uint32_t site, uint64_t at, double value) {
    event(h, TRACE_VALUE, site, at)->value = value;
}

void hand_memory(struct hand_run *h, uint32_t activity, uint64_t at, double bytes) {
    struct trace_event *e = event(h, TRACE_VALUE, 0, at);
    h->lanes[h->run.trace.lane_count - 1].memory = 1;
    e->activity = activity;
    e->value = bytes;
}

uint32_t hand_device(struct hand_run *h, uint32_t number, const char *name) {
    struct snapshot *s = &h->run.snapshot;
    struct snapshot_device *d = &s->devices[s->device_count];
    d->number = number;
    memcpy(d->name, name, strnlen(name, sizeof d->name - 1));
    return s->device_count++;
}

uint32_t hand_activity(struct hand_run *h, uint32_t kind, uint32_t detail, const char *name,
                       uint32_t node, uint64_t count, uint64_t total, uint64_t bytes) {
    struct snapshot *s = &h->run.snapshot;
    struct snapshot_activity *a = &h->activities[s->activity_count];
    a->kind = kind;
    a->detail = detail;
    a->name = name;
    a->name_length = (uint32_t)strlen(name);
    a->node = node;
    a->count = count;
    a->total = total;
    a->min = a->max = total / count;
    a->squares = (double)total * (double)(total / count);
    a->bytes = bytes;
    a->min_bytes = a->max_bytes = bytes / count;
    a->byte_squares = (double)bytes * (double)(bytes / count);
    a->context = 1;
    a->stream = 7;
    a->histogram = total ? histogram_of(h, a->min, count) : 0;
    a->byte_histogram = activity_kind_has_sizes(kind) ? histogram_of(h, a->min_bytes, count) : 0;
    return s->activity_count++;
}

void hand_ran(struct hand_run *h, uint32_t activity, uint64_t start, uint64_t duration,
              uint32_t root, uint64_t launch) {
    struct trace_event *e = event(h, TRACE_SPAN, 0, start);
    h->lanes[h->run.trace.lane_count - 1].activities = 1;
    e->activity = activity;
    e->duration_ns = duration;
    e->launch_thread = root == SNAPSHOT_NONE ? SNAPSHOT_NONE : h->nodes[root].thread;
    e->launch_ns = launch;
}

struct run *hand_run(struct hand_run *h) {
    snapshot_sum_children(&h->run.snapshot);
    return &h->run;
}

void hand_end(struct hand_run *h) {
    scratch_free(&h->run.snapshot.memory);
}

char *hand_export(int (*exporter)(struct sink *, struct run *), struct run *r, size_t *length) {
    struct sink *sink = malloc(sizeof *sink);
    FILE *file = tmpfile();
    char *text = NULL;
    if (!sink || !file) {
        goto done;
    }
    sink_start(sink, fileno(file));
    if (exporter(sink, r) || sink_close(sink)) {
        goto done;
    }
    *length = (size_t)sink->written;
    text = calloc(*length + 1, 1);
    if (text && pread(fileno(file), text, *length, 0) != (ssize_t)*length) {
        free(text);
        text = NULL;
    }
done:
    if (file) {
        fclose(file);
    }
    free(sink);
    return text;
}
