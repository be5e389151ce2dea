/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a trace: from the pieces in which a ring is read to what they mean. An untrusted
 * file may have any value in them. trace.c and trace_order.c call this.
 */
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "trace_rings.h"

#define MISSES_MOST 4u /* lone events of a piece before the piece is read */

/* ---- Pieces. */

/* Reads events from a place on, and the one before them. */
static void events_read(const struct trace_rings *r, const struct trace_source *from,
                        uint32_t place, uint32_t count, struct stint_impl_event *to) {
    uint32_t before = place ? 1 : 0;
    to[0] = (struct stint_impl_event){0, 0};
    snapshot_ring_read(r->s, &from->ring, from->ring.first + place - before, count + before,
                       to + 1 - before);
}

static const struct stint_impl_event *
piece_read(struct trace_rings *r, const struct trace_source *from, uint32_t first, uint32_t count) {
    r->newest ^= 1;
    struct trace_piece *p = &r->piece[r->newest];
    p->from = from;
    p->first = first;
    p->count = count;
    events_read(r, from, first, count, p->event);
    return p->event + 1;
}

const struct stint_impl_event *trace_ring_row(struct trace_rings *r,
                                              const struct trace_source *from, uint32_t first,
                                              uint32_t count) {
    if (from->copy) {
        return from->copy + 1 + first;
    }
    return piece_read(r, from, first, count);
}

/* In the order of starts, events follow those of the ring, but for the spans around many others. */
const struct stint_impl_event *trace_ring_miss(struct trace_rings *r,
                                               const struct trace_source *from, uint32_t place) {
    uint32_t piece = place / TRACE_PIECE, first = piece * TRACE_PIECE;
    if (piece != r->missed_piece) {
        r->missed_piece = piece;
        r->missed = 0;
    }
    if (++r->missed > MISSES_MOST) {
        uint32_t count = (uint32_t)u64_min(from->kept - first, TRACE_PIECE);
        r->missed = 0;
        return piece_read(r, from, first, count) + (place - first);
    }
    events_read(r, from, place, 1, r->lone);
    return &r->lone[1];
}

/* ---- What an event means. */

const struct trace_node *trace_node_read(struct trace_rings *r, const struct stint_impl_event *e) {
    struct trace_node *to = r->node + (trace_node_place(r, e) - r->node);
    uint32_t unit = (uint32_t)(e->what >> STINT_IMPL_SPAN_BITS);
    *to = (struct trace_node){.unit = unit, .node = snapshot_node_of(r->s, unit)};
    if (to->node != SNAPSHOT_NONE) {
        const struct snapshot_node *node = &r->s->nodes[to->node];
        to->site = node->site;
        to->set = node->set;
        to->is_interval = node->kind == STINT_IMPL_INTERVAL_NODE;
        to->is_scope = !to->is_interval;
    }
    return to;
}

/* The payload that belongs to the event, or NULL. */
static const uint64_t *payload_of(const struct stint_impl_event *e) {
    const struct stint_impl_event *before = e - 1;
    int is_payload = trace_event_kind(before) == STINT_IMPL_EVENT_PAYLOAD;
    if (is_payload && (before->at & TRACE_TICKS) == (e->at & TRACE_TICKS)) {
        return &before->what;
    }
    return NULL;
}

static int decode_span(struct trace_rings *r, const struct stint_impl_event *e,
                       struct trace_event *out) {
    const struct trace_node *node = trace_node_of(r, e);
    out->kind = TRACE_SPAN;
    out->node = node->node;
    out->site = node->site;
    out->set = node->set;
    return node->node == SNAPSHOT_NONE ? -1 : 0;
}

static int decode_activity(const struct trace_rings *r, const struct stint_impl_event *e,
                           struct trace_event *out) {
    out->kind = TRACE_SPAN;
    out->activity = hash_map_get(&r->activities, (uint32_t)(e->what >> STINT_IMPL_SPAN_BITS));
    return out->activity == SNAPSHOT_NONE ? -1 : 0;
}

/* Bytes that are allocated on a device from then on. */
static int decode_memory(const struct trace_rings *r, const struct stint_impl_event *e,
                         struct trace_event *out) {
    const uint64_t *payload = payload_of(e);
    if (trace_event_kind(e) != STINT_IMPL_EVENT_VALUE || !payload || e->what > UINT32_MAX) {
        return -1;
    }
    out->kind = TRACE_VALUE;
    memcpy(&out->value, payload, sizeof out->value);
    out->activity = hash_map_get(&r->activities, (uint32_t)e->what);
    return out->activity == SNAPSHOT_NONE || !isfinite(out->value) ? -1 : 0;
}

static int decode_point(const struct snapshot *s, const struct stint_impl_event *e,
                        struct trace_event *out) {
    out->kind = TRACE_MARK;
    if (trace_event_kind(e) == STINT_IMPL_EVENT_VALUE) {
        const uint64_t *payload = payload_of(e);
        out->kind = TRACE_VALUE;
        if (!payload) {
            return -1;
        }
        memcpy(&out->value, payload, sizeof out->value);
    }
    out->site = e->what <= s->site_count ? (uint32_t)e->what : 0;
    return out->site && isfinite(out->value) ? 0 : -1;
}

int trace_event_decode(struct trace_rings *r, const struct trace_source *from,
                       const struct stint_impl_event *e, struct trace_event *out) {
    int is_span = trace_event_kind(e) == STINT_IMPL_EVENT_SPAN;
    *out = (struct trace_event){
        .node = SNAPSHOT_NONE, .activity = SNAPSHOT_NONE, .launch_thread = SNAPSHOT_NONE};
    if (!e->at) {
        return -1;
    }
    if (from->lane.memory) {
        return decode_memory(r, e, out);
    }
    if (from->lane.activities) {
        return is_span ? decode_activity(r, e, out) : -1;
    }
    return is_span ? decode_span(r, e, out) : decode_point(r->s, e, out);
}

uint64_t trace_span_long(const struct stint_impl_event *e) {
    const uint64_t *payload = payload_of(e);
    return payload ? u64_max(*payload, STINT_IMPL_SPAN_LONG) : STINT_IMPL_SPAN_LONG;
}

/* A launch so long before that its time does not fit into the payload is unknown. */
static void activity_set_times(const struct trace_rings *r, const struct stint_impl_event *e,
                               struct trace_event *out) {
    uint64_t before = STINT_IMPL_SPAN_LONG;
    const uint64_t *payload = payload_of(e);
    if (payload) {
        before = *payload & STINT_IMPL_SPAN_LONG;
    }
    out->duration_ns = e->what & STINT_IMPL_SPAN_LONG;
    if (before != STINT_IMPL_SPAN_LONG && before <= (e->at & TRACE_TICKS)) {
        out->launch_thread =
            hash_map_get(&r->threads, (uint32_t)(*payload >> STINT_IMPL_SPAN_BITS));
        out->launch_ns = trace_ns_of(r, (e->at & TRACE_TICKS) - before);
    }
}

void trace_event_set_times(const struct trace_rings *r, const struct stint_impl_event *e,
                           struct trace_event *out) {
    out->start_ns = trace_ns_of(r, e->at & TRACE_TICKS);
    if (out->kind != TRACE_SPAN) {
        return;
    }
    if (out->activity != SNAPSHOT_NONE) {
        activity_set_times(r, e, out);
        return;
    }
    uint64_t length = trace_span_length(e);
    out->duration_ns = length;
    if (!r->s->nodes[out->node].in_ns) {
        uint64_t end = trace_ns_of(r, (e->at & TRACE_TICKS) + length);
        out->duration_ns = saturating_subtract(end, out->start_ns);
    }
}
