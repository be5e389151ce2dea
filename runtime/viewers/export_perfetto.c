/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes: Perfetto's protobuf trace, written by hand: Trace{packet=1}, in it
 * TrackDescriptors and TrackEvents. The numbers are the field numbers of its .proto files.
 * - All packets are of one sequence, which begins by clearing its state, so that names can be
 *   interned: each stands in the file once, under its label + 1; "launch" behind them.
 * - Lengths stand before what they measure. Events are below 128 bytes, so theirs is one byte;
 *   where a name is inside it is two, padded if need be: a varint need not be the shortest.
 * - Tracks: 1 the process, 2… the lanes, and above, out of their way, the GPUs and the counters.
 * - An arrow begins at an event: the launch is one, an instant on the thread's track.
 */
#include "formats.h"

#include <stdio.h>
#include <string.h>

#include "arena/activity_kind.h"
#include "export/export_labels.h"
#include "export/export_nest.h"
#include "read/activity_name.h"

#define PROCESS_TRACK 1u
#define LANE_TRACKS 2u
#define GPU_TRACKS ((uint64_t)1 << 32)
#define COUNTER_TRACKS ((uint64_t)2 << 32)

#define FIELD_VARINT(number) ((uint64_t)(number) << 3)
#define FIELD_DOUBLE(number) ((uint64_t)(number) << 3 | 1)
#define FIELD_BYTES(number) ((uint64_t)(number) << 3 | 2)

/* Fields of a track_event, fixed64. */
#define FLOW 47u
#define FLOW_ENDS 48u

enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3, EVENT_COUNTER = 4 };

_Static_assert(3 * EXPORT_NAME_BYTES + 256 < SINK_PIECE, "a packet with a name fits one piece");

struct perfetto {
    struct sink *out;
    const struct run *run;
    uint64_t track; /* of the lane */
    uint64_t gpu;   /* track of the GPU described last; the streams of one follow each other */
    unsigned char *counters; /* by site: its track is described */
    struct nest nest;
    struct export_labels labels;
    const uint32_t *lanes; /* by thread: its lane + 1 */
    uint64_t arrows;
};

struct event {
    uint64_t ns;
    uint64_t track;
    uint64_t name;
    uint64_t category;
    enum event_type type;
    unsigned flow; /* 0, FLOW or FLOW_ENDS */
};

static inline char *put_varint(char *p, uint64_t n) {
    while (n >= 0x80) {
        *p++ = (char)(n | 0x80);
        n >>= 7;
    }
    *p++ = (char)n;
    return p;
}

static char *put_fixed(char *p, uint64_t bits) {
    for (int i = 0; i < 8; ++i) { /* little-endian, wherever we run */
        *p++ = (char)(bits >> 8 * i);
    }
    return p;
}

static char *put_number(char *p, unsigned field, uint64_t n) {
    return put_varint(put_varint(p, FIELD_VARINT(field)), n);
}

/* A message whose length is not known yet: two bytes for it, filled in by put_end. */
static char *put_begin(char *p, unsigned field) {
    return put_varint(p, FIELD_BYTES(field)) + 2;
}

static char *put_end(char *body, char *end) {
    size_t length = (size_t)(end - body);
    body[-2] = (char)(length | 0x80);
    body[-1] = (char)(length >> 7);
    return end;
}

static char *put_name(char *p, unsigned field, struct export_name name) {
    char *body = put_begin(p, field);
    return put_end(body, body + export_clean(body, name));
}

static void finish(struct perfetto *f, char *end) {
    f->out->length = (size_t)(end - f->out->data);
}

/* Clears the sequence's state (sequence_flags 1) before anything refers to it. */
static void put_start(struct perfetto *f) {
    char *packet = put_begin(sink_room(f->out, SINK_PIECE), 1);
    finish(f, put_end(packet, put_number(put_number(packet, 10, 1), 13, 1)));
}

/* interned_data 12: event_categories 1, event_names 2, each {iid 1, name 2}. */
static void put_interned(struct perfetto *f, unsigned list, uint64_t id, struct export_name name) {
    char *packet = put_begin(sink_room(f->out, SINK_PIECE), 1);
    char *p = put_number(put_number(packet, 10, 1), 13, 2);
    char *data = put_begin(p, 12);
    char *entry = put_begin(data, list);
    p = put_name(put_number(entry, 1, id), 2, name);
    put_end(entry, p);
    put_end(data, p);
    finish(f, put_end(packet, p));
}

/* Begins a track_descriptor 60 {uuid 1, name 2, process 3, thread 4, parent_uuid 5, counter 8}. */
struct descriptor {
    char *packet;
    char *body;
    char *p;
};

static struct descriptor describe(struct perfetto *f, uint64_t uuid, uint64_t parent) {
    struct descriptor d;
    d.packet = put_begin(sink_room(f->out, SINK_PIECE), 1);
    d.body = put_begin(put_number(d.packet, 10, 1), 60);
    d.p = put_number(d.body, 1, uuid);
    d.p = parent ? put_number(d.p, 5, parent) : d.p;
    return d;
}

static void described(struct perfetto *f, const struct descriptor *d) {
    put_end(d->body, d->p);
    finish(f, put_end(d->packet, d->p));
}

static void put_process(struct perfetto *f) {
    const char *program = f->run->program ? f->run->program : "";
    struct descriptor d = describe(f, PROCESS_TRACK, 0);
    char *process = put_begin(d.p, 3);
    d.p = put_number(process, 1, export_pid(f->run));
    d.p = put_end(process, put_name(d.p, 6, export_name(program, strlen(program))));
    described(f, &d);
}

static void put_named(struct perfetto *f, uint64_t uuid, uint64_t parent, struct export_name name) {
    struct descriptor d = describe(f, uuid, parent);
    d.p = put_name(d.p, 2, name);
    described(f, &d);
}

/* A thread's first lane is the thread, any other a track of the process; a stream is one of its
 * GPU. */
static void put_lane(struct perfetto *f, const struct trace_lane *lane, uint32_t tid) {
    struct export_name name = export_field(lane->name, sizeof lane->name);
    if (lane->thread == SNAPSHOT_NONE) {
        char gpu[16];
        snprintf(gpu, sizeof gpu, "GPU %u", lane->device);
        if (f->gpu != GPU_TRACKS + lane->device) {
            f->gpu = GPU_TRACKS + lane->device;
            put_named(f, f->gpu, PROCESS_TRACK, export_field(gpu, sizeof gpu));
        }
        put_named(f, f->track, f->gpu, name);
    } else if (tid >= EXPORT_TIDS) {
        put_named(f, f->track, PROCESS_TRACK, name);
    } else {
        struct descriptor d = describe(f, f->track, PROCESS_TRACK);
        char *thread = put_begin(d.p, 4);
        d.p = put_number(put_number(thread, 1, export_pid(f->run)), 2, tid);
        d.p = put_end(thread, put_name(d.p, 5, name));
        described(f, &d);
    }
}

/* A packet up to the track: timestamp 8, trusted_packet_sequence_id 10, sequence_flags 13 (2: needs
 * the state), track_event 11 {type 9, track_uuid 11}. The event's length byte is `event[-1]`. */
static inline char *event_begin(struct perfetto *f, uint64_t ns, enum event_type type,
                                uint64_t track, char **event) {
    char *p = sink_room(f->out, 128);
    *p++ = 0x0a;
    *p++ = 0; /* the packet's length */
    *p++ = 0x40;
    p = put_varint(p, ns);
    memcpy(p, "\x50\x01\x68\x02\x5a\x00\x48", 7);
    p += 7;
    *event = p - 1;
    *p++ = (char)type;
    *p++ = 0x58;
    return put_varint(p, track);
}

static inline void event_end(struct perfetto *f, char *event, char *end) {
    char *packet = f->out->data + f->out->length;
    event[-1] = (char)(end - event);
    packet[1] = (char)(end - packet - 2);
    finish(f, end);
}

static void put_end_event(struct perfetto *f, uint64_t ns) {
    char *event;
    char *p = event_begin(f, ns, EVENT_END, f->track, &event);
    event_end(f, event, p);
}

/* name_iid 10, category_iids 3; flow 0 = none. */
static void put_event(struct perfetto *f, const struct event *e) {
    char *event;
    char *p = event_begin(f, e->ns, e->type, e->track, &event);
    *p++ = 0x50;
    p = put_varint(p, e->name);
    *p++ = 0x18;
    p = put_varint(p, e->category);
    if (e->flow) {
        p = put_varint(p, FIELD_DOUBLE(e->flow));
        p = put_fixed(p, f->arrows);
    }
    event_end(f, event, p);
}

/* Sets first, then kinds of activities. */
static uint64_t category_of(const struct snapshot *s, const struct trace_event *e) {
    const struct snapshot_activity *a = export_activity(s, e);
    uint32_t set = e->node < s->node_count ? s->nodes[e->node].set : 0;
    return 1 + (a ? (uint64_t)s->set_count + a->kind : set < s->set_count ? set : 0);
}

/* With the launch it comes from, on that one's thread, if that is known. */
static void put_begin_event(struct perfetto *f, const struct trace_event *from,
                            enum event_type type) {
    const struct snapshot *s = &f->run->snapshot;
    struct event e = {.ns = from->start_ns, .type = type, .track = f->track};
    e.name = (uint64_t)export_label(&f->labels, from) + 1;
    e.category = category_of(s, from);
    uint32_t lane = export_activity(s, from) && from->launch_thread < s->thread_count
                        ? f->lanes[from->launch_thread]
                        : 0;
    if (lane) {
        struct event launch = {.ns = from->launch_ns, .type = EVENT_INSTANT, .flow = FLOW};
        launch.track = LANE_TRACKS + (uint64_t)lane - 1;
        launch.name = (uint64_t)f->labels.count + 1;
        launch.category = e.category;
        e.flow = FLOW_ENDS;
        ++f->arrows;
        put_event(f, &launch);
    }
    put_event(f, &e);
}

/* double_counter_value 44, on a track of the process, one a name. */
static void put_value(struct perfetto *f, const struct trace_event *e) {
    uint32_t site = e->site <= f->run->snapshot.site_count ? e->site : 0;
    uint64_t track = COUNTER_TRACKS + site, bits;
    char *event;
    if (!f->counters[site]) {
        struct descriptor d = describe(f, track, PROCESS_TRACK);
        d.p = put_name(d.p, 2, export_site(&f->run->snapshot, site));
        d.p = put_begin(d.p, 8);
        put_end(d.p, d.p);
        described(f, &d);
        f->counters[site] = 1;
    }
    char *p = event_begin(f, e->start_ns, EVENT_COUNTER, track, &event);
    p = put_varint(p, FIELD_DOUBLE(44));
    memcpy(&bits, &e->value, sizeof bits);
    p = put_fixed(p, bits);
    event_end(f, event, p);
}

static void put_events(struct perfetto *f, const struct trace_event *e, uint64_t count) {
    f->nest.height = 0;
    for (const struct trace_event *end = e + count; e < end; ++e) {
        while (nest_over(&f->nest, e)) {
            put_end_event(f, nest_pop(&f->nest)->end_ns);
        }
        if (e->kind == TRACE_VALUE) {
            put_value(f, e);
        } else if (e->kind == TRACE_MARK) {
            put_begin_event(f, e, EVENT_INSTANT);
        } else if (nest_push(&f->nest, e, 0)) {
            put_begin_event(f, e, EVENT_BEGIN);
        }
    }
    while (f->nest.height) {
        put_end_event(f, nest_pop(&f->nest)->end_ns);
    }
}

static struct export_name text_name(const char *text) {
    return export_name(text, strlen(text));
}

/* All that events refer to. */
static void put_all_interned(struct perfetto *f) {
    const struct snapshot *s = &f->run->snapshot;
    for (uint32_t i = 0; i < s->set_count; ++i) {
        put_interned(f, 1, (uint64_t)i + 1, text_name(s->sets[i]));
    }
    for (uint32_t i = 0; i < f->labels.count; ++i) {
        put_interned(f, 2, (uint64_t)i + 1, export_label_name(&f->labels, i));
    }
    if (s->activity_count) {
        for (uint32_t kind = 0; kind < ACTIVITY_KINDS; ++kind) {
            put_interned(f, 1, (uint64_t)s->set_count + kind + 1,
                         text_name(activity_kind_text(kind)));
        }
        put_interned(f, 2, (uint64_t)f->labels.count + 1, text_name("launch"));
    }
}

int export_perfetto(struct sink *out, struct run *r) {
    struct perfetto f = {.out = out, .run = r};
    struct snapshot *s = &r->snapshot;
    uint32_t *tids = run_trace(r) ? NULL : export_tids(r);
    f.counters = scratch_array(&s->memory, (size_t)s->site_count + 1, 1);
    f.lanes = tids ? export_thread_lanes(r) : NULL;
    if (!tids || !f.counters || !f.lanes || export_labels_start(&f.labels, s)) {
        return -1;
    }
    put_start(&f);
    put_process(&f);
    put_all_interned(&f);
    for (uint32_t i = 0; i < r->trace.lane_count; ++i) {
        const struct trace_lane *lane = &r->trace.lanes[i];
        f.track = LANE_TRACKS + (uint64_t)i;
        put_lane(&f, lane, tids[i]);
        put_events(&f, r->trace.events + lane->first, lane->count);
    }
    return 0;
}
