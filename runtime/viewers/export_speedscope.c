/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes speedscope's evented profiles, one per lane; called by the tool. speedscope rejects the
 * whole file if an `at` is smaller than the previous one, or if a close event is not that of the
 * innermost open frame.
 * - Frames are names, not sites: sites with the same name are one row of its table, as in reports.
 * - Without a trace the call tree of each thread is laid out sequentially: every total is correct,
 * the order of calls is not, and the name of the profile says so.
 */
#include "formats.h"

#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "export/export_labels.h"
#include "export/export_nest.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"
#define NOT_A_TIMELINE ": sums of the call tree, not a timeline"

struct speedscope {
    struct sink *out;
    struct run *run;
    struct export_labels labels;
    uint32_t *frame; /* by label */
    uint32_t *first; /* by node: children and siblings + 1, for the layout of the tree */
    uint32_t *next;
    uint64_t *width;
    uint64_t *start;
    uint32_t profiles;
    uint32_t events; /* of the profile */
    uint64_t from;   /* of all lanes: they share a time axis */
    uint64_t to;
    struct nest nest;
};

static void speedscope_put_frame(const struct speedscope *f, uint32_t label, uint32_t number) {
    const struct snapshot *s = &f->run->snapshot;
    struct sink *out = f->out;
    struct export_name name = export_label_name(&f->labels, label);
    const char *file = NULL;
    if (label && label <= s->site_count) {
        file = s->sites[label].file;
    }
    export_start_item(out, number);
    sink_text(out, "{\"name\":");
    sink_json(out, name.bytes, name.length);
    if (file && *file) {
        struct export_name path = export_field(file, EXPORT_NAME_BYTES);
        sink_text(out, ",\"file\":");
        sink_json(out, path.bytes, path.length);
        sink_text(out, ",\"line\":");
        sink_u64(out, s->sites[label].line);
    }
    sink_put(out, "}", 1);
}

/* Writes the frames and assigns them to the labels. 0, or -1 if there is not enough memory. */
static int speedscope_put_frames(struct speedscope *f) {
    struct snapshot *s = &f->run->snapshot;
    struct hash_map label_of; /* hashes of names to their first labels */
    uint32_t frames = 0;
    if (export_labels_start(&f->labels, s)) {
        return -1;
    }
    f->frame = scratch_array(&s->memory, f->labels.count, sizeof *f->frame);
    if (!f->frame || hash_map_start(&label_of, &s->memory, f->labels.count)) {
        return -1;
    }
    for (uint32_t label = 0; label < f->labels.count; ++label) {
        struct export_name name = export_label_name(&f->labels, label);
        uint32_t hash = export_name_hash(name);
        struct hash_map_walk walk;
        uint32_t first = hash_map_first(&label_of, hash, &walk);
        while (first != HASH_MAP_NONE &&
               !export_name_same(export_label_name(&f->labels, first), name)) {
            first = hash_map_next(&label_of, &walk);
        }
        if (first != HASH_MAP_NONE) {
            f->frame[label] = f->frame[first];
            continue;
        }
        hash_map_add(&label_of, hash, label);
        speedscope_put_frame(f, label, frames);
        f->frame[label] = frames++;
    }
    return 0;
}

static void speedscope_start_profile(struct speedscope *f, struct export_name name, uint32_t tid,
                                     const char *more) {
    char text[3 * EXPORT_NAME_BYTES + 96]; /* room for the thread's number and `more` */
    size_t n = export_clean(text, name);
    export_start_item(f->out, f->profiles++);
    sink_text(f->out, "{\"type\":\"evented\",\"name\":");
    if (tid) {
        const char *space = n ? " " : "";
        n += (size_t)snprintf(text + n, sizeof text - n, "%s(%u)", space, tid);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "%s", more);
    sink_json(f->out, text, n);
    sink_text(f->out, ",\"unit\":\"nanoseconds\",\"events\":[");
    f->events = 0;
}

static void speedscope_end_profile(struct speedscope *f, uint64_t from, uint64_t to) {
    sink_text(f->out, "],\"startValue\":");
    sink_u64(f->out, from);
    sink_text(f->out, ",\"endValue\":");
    sink_u64(f->out, to);
    sink_put(f->out, "}", 1);
}

static void speedscope_put_event(struct speedscope *f, char type, uint32_t label, uint64_t at) {
    uint32_t frame = f->frame[label < f->labels.count ? label : 0];
    export_start_item(f->out, f->events++);
    sink_text(f->out, "{\"type\":\"");
    sink_put(f->out, &type, 1);
    sink_put(f->out, "\",\"frame\":", 10);
    sink_u64(f->out, frame);
    sink_put(f->out, ",\"at\":", 6);
    sink_u64(f->out, at);
    sink_put(f->out, "}", 1);
}

static void speedscope_put_lane(struct speedscope *f, const struct trace_lane *lane) {
    const struct trace_event *e = f->run->trace.events + lane->first, *end = e + lane->count;
    while (e < end && e->kind != TRACE_SPAN) {
        ++e;
    }
    if (e == end) {
        return;
    }
    speedscope_start_profile(f, export_field(lane->name, sizeof lane->name), 0, "");
    f->nest.height = 0;
    for (; e < end; ++e) {
        while (nest_over(&f->nest, e)) {
            const struct nest_span *over = nest_pop(&f->nest);
            speedscope_put_event(f, 'C', over->label, over->end_ns);
        }
        uint32_t label = export_label(&f->labels, e);
        if (e->kind == TRACE_SPAN && nest_push(&f->nest, e, label)) {
            speedscope_put_event(f, 'O', label, e->start_ns);
        }
    }
    while (f->nest.height) {
        const struct nest_span *over = nest_pop(&f->nest);
        speedscope_put_event(f, 'C', over->label, over->end_ns);
    }
    speedscope_end_profile(f, f->from, f->to);
}

static void speedscope_measure(struct speedscope *f) {
    f->from = UINT64_MAX;
    for (uint64_t i = 0; i < f->run->trace.event_count; ++i) {
        const struct trace_event *e = &f->run->trace.events[i];
        if (e->kind == TRACE_SPAN) {
            f->from = u64_min(f->from, e->start_ns);
            f->to = u64_max(f->to, saturating_add(e->start_ns, e->duration_ns));
        }
    }
}

/* Makes lists of children, and the widths: the time of a scope with that of its open calls, or the
 * sum of its children's widths if rounding makes that larger. */
static int speedscope_lay_out(struct speedscope *f) {
    struct snapshot *s = &f->run->snapshot;
    size_t count = (size_t)s->node_count + 1;
    f->first = scratch_array(&s->memory, count, sizeof *f->first);
    f->next = scratch_array(&s->memory, count, sizeof *f->next);
    f->width = scratch_array(&s->memory, count, sizeof *f->width);
    f->start = scratch_array(&s->memory, count, sizeof *f->start);
    if (!f->first || !f->next || !f->width || !f->start) {
        return -1;
    }
    for (uint32_t i = s->node_count; i-- > 0;) { /* children before parents, the first one last */
        const struct snapshot_node *n = &s->nodes[i];
        uint64_t own = snapshot_ns(s, n->scaled + n->extra->open);
        f->width[i] = u64_max(f->width[i], own);
        if (n->parent != SNAPSHOT_NONE && n->kind == STINT_IMPL_SCOPE_NODE && f->width[i]) {
            f->width[n->parent] = saturating_add(f->width[n->parent], f->width[i]);
            f->next[i] = f->first[n->parent];
            f->first[n->parent] = i + 1;
        }
    }
    return 0;
}

/* Depth first without recursion: the tree of a damaged file may be deeper than the stack allows. */
static void speedscope_put_tree(struct speedscope *f, uint32_t root) {
    const struct snapshot *s = &f->run->snapshot;
    const struct snapshot_thread *t = &s->threads[s->nodes[root].thread];
    uint32_t node = f->first[root];
    uint64_t at = 0;
    if (!node) {
        return;
    }
    speedscope_start_profile(f, export_field(t->name, sizeof t->name), t->tid, NOT_A_TIMELINE);
    while (node) {
        f->start[node - 1] = at;
        speedscope_put_event(f, 'O', s->nodes[node - 1].site, at);
        if (f->first[node - 1]) {
            node = f->first[node - 1];
            continue;
        }
        uint32_t up = node - 1;
        node = 0;
        while (!node && up != root) {
            at = saturating_add(f->start[up], f->width[up]);
            speedscope_put_event(f, 'C', s->nodes[up].site, at);
            node = f->next[up];
            up = s->nodes[up].parent;
        }
    }
    speedscope_end_profile(f, 0, at);
}

static int speedscope_put_profiles(struct speedscope *f) {
    const struct snapshot *s = &f->run->snapshot;
    speedscope_measure(f);
    if (f->to) {
        for (uint32_t i = 0; i < f->run->trace.lane_count; ++i) {
            speedscope_put_lane(f, &f->run->trace.lanes[i]);
        }
    } else if (speedscope_lay_out(f)) {
        return -1;
    } else {
        for (uint32_t i = 0; i < s->node_count; ++i) {
            if (s->nodes[i].parent == SNAPSHOT_NONE) {
                speedscope_put_tree(f, i);
            }
        }
    }
    if (!f->profiles) { /* speedscope does not open a file without a profile */
        speedscope_start_profile(f, export_name("nothing recorded", 16), 0, "");
        speedscope_end_profile(f, 0, 0);
    }
    return 0;
}

int export_speedscope(struct sink *out, struct run *r) {
    struct speedscope f = {.out = out, .run = r};
    if (run_trace(r)) {
        return -1;
    }
    sink_text(out, "{\"$schema\":\"" SCHEMA "\",\"exporter\":\"stint\",\"name\":");
    const struct export_name program = export_text(r->program);
    sink_json(out, program.bytes, program.length);
    sink_text(out, ",\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
    if (speedscope_put_frames(&f)) {
        return -1;
    }
    sink_text(out, "]},\n\"profiles\":[");
    if (speedscope_put_profiles(&f)) {
        return -1;
    }
    sink_text(out, "]}\n");
    return 0;
}
