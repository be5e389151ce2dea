/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the call tree as pprof's profile.proto, uncompressed, for `go tool pprof` and others. A
 * sample is a node of the tree: its stack, its calls, and the time in the scope itself, of open
 * scopes up to now. A site is one function and one location, both with its id. Each thread has its
 * own samples, with its number as a label; readers add them up. Work that another thread sent is in
 * the stack of its own thread, and intervals are left out, as in folded stacks.
 */
#include "export/export_names.h"
#include "formats.h"
#include "proto.h"

/* Deeper than recorders nest; of deeper stacks the innermost frames are written. */
#define PPROF_DEPTH (2u * STINT_IMPL_DEPTH)

/* Fields of Profile. */
enum { SAMPLE_TYPE = 1, SAMPLE = 2, LOCATION = 4, FUNCTION = 5, STRING = 6 };
enum { TIME_NANOS = 9, DURATION_NANOS = 10, DEFAULT_TYPE = 14 };

/* The first strings of the table; then come a name and a file for each site. */
enum { TEXT_NONE, TEXT_CALLS, TEXT_COUNT, TEXT_TIME, TEXT_NANOSECONDS, TEXT_THREAD, TEXTS };
static const char *const texts[TEXTS] = {"", "calls", "count", "time", "nanoseconds", "thread"};

_Static_assert(PPROF_DEPTH * 6 + 128 < SINK_PIECE, "a sample fits one piece");

static uint64_t text_of_name(uint32_t site) {
    return TEXTS + 2 * (uint64_t)(site - 1);
}

static uint64_t text_of_file(uint32_t site) {
    return text_of_name(site) + 1;
}

static void pprof_finish(struct sink *out, const char *end) {
    out->length = (size_t)(end - out->data);
}

/* ValueType {type 1, unit 2}. */
static void pprof_put_type(struct sink *out, uint64_t type, uint64_t unit) {
    char *body = proto_put_begin(sink_room(out, SINK_PIECE), SAMPLE_TYPE);
    char *p = proto_put_number(proto_put_number(body, 1, type), 2, unit);
    pprof_finish(out, proto_put_end(body, p));
}

/* Sample {location_id 1, innermost first; value 2; label 3 {key 1, num 3}}. */
static void pprof_put_sample(struct sink *out, const struct snapshot *s, uint32_t node,
                             uint64_t calls, uint64_t ns) {
    uint32_t thread = s->nodes[node].thread, depth = 0;
    char *body = proto_put_begin(sink_room(out, SINK_PIECE), SAMPLE);
    char *p = body;
    for (; s->nodes[node].parent != SNAPSHOT_NONE && depth < PPROF_DEPTH; ++depth) {
        p = proto_put_number(p, 1, s->nodes[node].site);
        node = s->nodes[node].parent;
    }
    p = proto_put_number(proto_put_number(p, 2, calls), 2, ns);
    if (thread < s->thread_count) {
        char *label = proto_put_begin(p, 3);
        p = proto_put_number(label, 1, TEXT_THREAD);
        p = proto_put_end(label, proto_put_number(p, 3, s->threads[thread].tid));
    }
    pprof_finish(out, proto_put_end(body, p));
}

/* A value of pprof has 63 bits and a sign. */
static uint64_t pprof_value(u128 n) {
    return (uint64_t)u128_min(n, INT64_MAX);
}

static void pprof_put_samples(struct sink *out, const struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        u128 self = snapshot_sum_ns(s, (u128)snapshot_own(n) + n->extra->open_self);
        u128 calls = snapshot_calls(n) + n->recursions;
        if (n->parent != SNAPSHOT_NONE && n->site && n->kind == STINT_IMPL_SCOPE_NODE &&
            calls + self) {
            pprof_put_sample(out, s, i, pprof_value(calls), pprof_value(self));
        }
    }
}

/* Function {id 1, name 2, system_name 3, filename 4, start_line 5}; Location {id 1, line 4
 * {function_id 1, line 2}}. */
static void pprof_put_site(struct sink *out, const struct snapshot *s, uint32_t site) {
    uint64_t line = s->sites[site].line;
    char *body = proto_put_begin(sink_room(out, SINK_PIECE), FUNCTION);
    char *p = proto_put_number(proto_put_number(body, 1, site), 2, text_of_name(site));
    p = proto_put_number(proto_put_number(p, 3, text_of_name(site)), 4, text_of_file(site));
    pprof_finish(out, proto_put_end(body, proto_put_number(p, 5, line)));
    body = proto_put_begin(sink_room(out, SINK_PIECE), LOCATION);
    char *entry = proto_put_begin(proto_put_number(body, 1, site), 4);
    p = proto_put_number(proto_put_number(entry, 1, site), 2, line);
    proto_put_end(entry, p);
    pprof_finish(out, proto_put_end(body, p));
}

static void pprof_put_string(struct sink *out, struct export_name text) {
    pprof_finish(out, proto_put_name(sink_room(out, SINK_PIECE), STRING, text));
}

static void pprof_put_strings(struct sink *out, const struct snapshot *s) {
    for (uint32_t i = 0; i < TEXTS; ++i) {
        pprof_put_string(out, export_text(texts[i]));
    }
    for (uint32_t site = 1; site <= s->site_count; ++site) {
        pprof_put_string(out, export_site(s, site));
        pprof_put_string(out, export_text(s->sites[site].file));
    }
}

int export_pprof(struct sink *out, struct run *r) {
    const struct snapshot *s = &r->snapshot;
    pprof_put_type(out, TEXT_CALLS, TEXT_COUNT);
    pprof_put_type(out, TEXT_TIME, TEXT_NANOSECONDS);
    pprof_put_samples(out, s);
    for (uint32_t site = 1; site <= s->site_count; ++site) {
        pprof_put_site(out, s, site);
    }
    pprof_put_strings(out, s);
    char *p = sink_room(out, SINK_PIECE);
    p = proto_put_number(p, TIME_NANOS, r->start_real_ns);
    p = proto_put_number(p, DURATION_NANOS, s->wall_ns);
    pprof_finish(out, proto_put_number(p, DEFAULT_TYPE, TEXT_TIME));
    return 0;
}
