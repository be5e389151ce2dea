/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes: speedscope's evented profiles, one a lane. It refuses the whole file when
 * an `at` is below the one before it or a close is not of the innermost open frame.
 * - Frames are names, not sites: two lines of one name are one row in its table, as in ours.
 * - Without a trace each thread's call tree is laid out back to back: every total is right, the
 *   order is not what happened, and the profile's name says so.
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

static void put_frame(const struct speedscope *f, uint32_t label, int comma) {
    const struct snapshot *s = &f->run->snapshot;
    struct sink *out = f->out;
    struct export_name name = export_label_name(&f->labels, label);
    const char *file = label && label <= s->site_count ? s->sites[label].file : NULL;
    sink_text(out, comma ? ",\n{\"name\":" : "\n{\"name\":");
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

/* Writes the frames and numbers the labels by them. 0, or -1 without memory. */
static int put_frames(struct speedscope *f) {
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
        put_frame(f, label, frames > 0);
        f->frame[label] = frames++;
    }
    return 0;
}

static void start_profile(struct speedscope *f, struct export_name name, uint32_t tid,
                          const char *more) {
    char text[3 * EXPORT_NAME_BYTES + 96]; /* room for what stands behind the name */
    size_t n = export_clean(text, name);
    sink_text(f->out, f->profiles++ ? ",\n" : "\n");
    sink_text(f->out, "{\"type\":\"evented\",\"name\":");
    int tail = tid ? snprintf(text + n, 96, "%s(%u)%s", n ? " " : "", tid, more)
                   : snprintf(text + n, 96, "%s", more);
    sink_json(f->out, text, n + (size_t)tail);
    sink_text(f->out, ",\"unit\":\"nanoseconds\",\"events\":[");
    f->events = 0;
}

static void end_profile(struct speedscope *f, uint64_t from, uint64_t to) {
    sink_text(f->out, "],\"startValue\":");
    sink_u64(f->out, from);
    sink_text(f->out, ",\"endValue\":");
    sink_u64(f->out, to);
    sink_put(f->out, "}", 1);
}

static void put_event(struct speedscope *f, char type, uint32_t label, uint64_t at) {
    uint32_t frame = f->frame[label < f->labels.count ? label : 0];
    sink_text(f->out, f->events++ ? ",\n{\"type\":\"" : "\n{\"type\":\"");
    sink_put(f->out, &type, 1);
    sink_put(f->out, "\",\"frame\":", 10);
    sink_u64(f->out, frame);
    sink_put(f->out, ",\"at\":", 6);
    sink_u64(f->out, at);
    sink_put(f->out, "}", 1);
}

static void put_lane(struct speedscope *f, const struct trace_lane *lane) {
    const struct trace_event *e = f->run->trace.events + lane->first, *end = e + lane->count;
    while (e < end && e->kind != TRACE_SPAN) {
        ++e;
    }
    if (e == end) {
        return;
    }
    start_profile(f, export_field(lane->name, sizeof lane->name), 0, "");
    f->nest.height = 0;
    for (; e < end; ++e) {
        while (nest_over(&f->nest, e)) {
            const struct nest_span *over = nest_pop(&f->nest);
            put_event(f, 'C', over->label, over->end_ns);
        }
        uint32_t label = export_label(&f->labels, e);
        if (e->kind == TRACE_SPAN && nest_push(&f->nest, e, label)) {
            put_event(f, 'O', label, e->start_ns);
        }
    }
    while (f->nest.height) {
        const struct nest_span *over = nest_pop(&f->nest);
        put_event(f, 'C', over->label, over->end_ns);
    }
    end_profile(f, f->from, f->to);
}

static void measure(struct speedscope *f) {
    f->from = UINT64_MAX;
    for (uint64_t i = 0; i < f->run->trace.event_count; ++i) {
        const struct trace_event *e = &f->run->trace.events[i];
        if (e->kind == TRACE_SPAN) {
            f->from = u64_min(f->from, e->start_ns);
            f->to = u64_max(f->to, saturating_add(e->start_ns, e->duration_ns));
        }
    }
}

/* Lists of children, and the widths: a scope's time, the time it has been open for, or that of its
 * children where rounding makes it more. */
static int lay_out(struct speedscope *f) {
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
        uint64_t own = snapshot_ns(s, n->total + n->open);
        f->width[i] = own > f->width[i] ? own : f->width[i];
        if (n->parent != SNAPSHOT_NONE && n->kind == STINT_IMPL_SCOPE_NODE && f->width[i]) {
            f->width[n->parent] = saturating_add(f->width[n->parent], f->width[i]);
            f->next[i] = f->first[n->parent];
            f->first[n->parent] = i + 1;
        }
    }
    return 0;
}

/* Depth first, by the links: a damaged file's tree may be deeper than any stack. */
static void put_tree(struct speedscope *f, uint32_t root) {
    const struct snapshot *s = &f->run->snapshot;
    const struct snapshot_thread *t = &s->threads[s->nodes[root].thread];
    uint32_t node = f->first[root];
    uint64_t at = 0;
    if (!node) {
        return;
    }
    start_profile(f, export_field(t->name, sizeof t->name), t->tid, NOT_A_TIMELINE);
    while (node) {
        f->start[node - 1] = at;
        put_event(f, 'O', s->nodes[node - 1].site, at);
        if (f->first[node - 1]) {
            node = f->first[node - 1];
            continue;
        }
        uint32_t up = node - 1;
        node = 0;
        while (!node && up != root) {
            at = saturating_add(f->start[up], f->width[up]);
            put_event(f, 'C', s->nodes[up].site, at);
            node = f->next[up];
            up = s->nodes[up].parent;
        }
    }
    end_profile(f, 0, at);
}

static int put_profiles(struct speedscope *f) {
    const struct snapshot *s = &f->run->snapshot;
    measure(f);
    if (f->to) {
        for (uint32_t i = 0; i < f->run->trace.lane_count; ++i) {
            put_lane(f, &f->run->trace.lanes[i]);
        }
    } else if (lay_out(f)) {
        return -1;
    } else {
        for (uint32_t i = 0; i < s->node_count; ++i) {
            if (s->nodes[i].parent == SNAPSHOT_NONE) {
                put_tree(f, i);
            }
        }
    }
    if (!f->profiles) { /* it shows nothing at all of a file without one */
        start_profile(f, export_name("nothing recorded", 16), 0, "");
        end_profile(f, 0, 0);
    }
    return 0;
}

int export_speedscope(struct sink *out, struct run *r) {
    struct speedscope f = {.out = out, .run = r};
    const char *program = r->program ? r->program : "";
    if (run_trace(r)) {
        return -1;
    }
    sink_text(out, "{\"$schema\":\"" SCHEMA "\",\"exporter\":\"stint\",\"name\":");
    sink_json(out, program, strlen(program));
    sink_text(out, ",\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
    if (put_frames(&f)) {
        return -1;
    }
    sink_text(out, "]},\n\"profiles\":[");
    if (put_profiles(&f)) {
        return -1;
    }
    sink_text(out, "]}\n");
    return 0;
}
