/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Perfetto's protobuf trace without a protobuf library: Trace{packet=1}, which contains
 * TrackDescriptors and TrackEvents. The numbers are the field numbers of Perfetto's .proto files.
 * Called by the tool; each packet fits into one piece of the sink, where its length is filled in.
 * - All packets belong to one sequence, which begins by clearing its state, so that names can be
 *   interned: each name is in the file once, under its label + 1; "launch" follows the last one.
 * - The length of a message precedes it. Events are shorter than 128 bytes, so their length is one
 *   byte; the length of a message with a name has two bytes, with padding (protobuf does not
 * require the shortest varint).
 * - Tracks: 1 is the process, 2… are the lanes; the GPUs and the counters have higher numbers.
 * - An arrow begins at an event: the launch is an instant event on the track of its thread.
 */
#include "formats.h"

#include <stdio.h>
#include <string.h>

#include "arena/activity_kind.h"
#include "export/export_labels.h"
#include "export/export_nest.h"
#include "model/activity_name.h"
#include "proto.h"

#define PROCESS_TRACK 1u
#define LANE_TRACKS 2u
#define GPU_TRACKS ((uint64_t)1 << 32)
#define COUNTER_TRACKS ((uint64_t)2 << 32)

/* Fields of a track_event, fixed64. */
#define FLOW 47u
#define FLOW_ENDS 48u

enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3, EVENT_COUNTER = 4 };

_Static_assert(EXPORT_CLEAN_BYTES + 256 < SINK_PIECE, "a packet with a name fits one piece");

/* Events of a track have these bytes after their timestamp: FORM_TYPE is that of their type,
 * FORM_EVENT is where the event begins. */
struct packet_form {
    char text[16];
    size_t length;
};
#define FORM_EVENT 6
#define FORM_TYPE 7
#define FORM_TRACK 9
#define PACKET_ROOM 128u
#define STAMP_LOW_BITS 21 /* of a timestamp, in three bytes */

struct perfetto {
    struct sink *out;
    const struct run *run;
    uint64_t track;          /* of the lane */
    struct packet_form form; /* of its events */
    uint64_t stamp_high;     /* the last timestamp without its low bits, */
    size_t stamp_bytes;      /* its bytes, */
    char stamp[24];          /* and the form after them */
    uint64_t gpu; /* track of the GPU described last; the streams of a GPU are adjacent */
    unsigned char *counters; /* by site, then by lane of memory: its track is described */
    const struct trace_lane *lane;
    struct nest nest;
    struct export_labels labels;
    const uint32_t *lanes; /* by thread: its lane + 1 */
    uint64_t arrows;
};

struct event {
    uint64_t ns;
    const struct packet_form *form;
    uint64_t name;
    uint64_t category;
    enum event_type type;
    unsigned flow; /* 0, FLOW or FLOW_ENDS */
};

static void packet_finish(struct perfetto *f, char *end) {
    f->out->length = (size_t)(end - f->out->data);
}

/* Clears the sequence's state (sequence_flags 1) before anything refers to it. */
static void perfetto_put_start(struct perfetto *f) {
    char *packet = proto_put_begin(sink_room(f->out, SINK_PIECE), 1);
    packet_finish(f,
                  proto_put_end(packet, proto_put_number(proto_put_number(packet, 10, 1), 13, 1)));
}

/* interned_data 12: event_categories 1, event_names 2, each {iid 1, name 2}. */
static void perfetto_put_interned(struct perfetto *f, unsigned list, uint64_t id,
                                  struct export_name name) {
    char *packet = proto_put_begin(sink_room(f->out, SINK_PIECE), 1);
    char *p = proto_put_number(proto_put_number(packet, 10, 1), 13, 2);
    char *data = proto_put_begin(p, 12);
    char *entry = proto_put_begin(data, list);
    p = proto_put_name(proto_put_number(entry, 1, id), 2, name);
    proto_put_end(entry, p);
    proto_put_end(data, p);
    packet_finish(f, proto_put_end(packet, p));
}

/* Begins a track_descriptor 60 {uuid 1, name 2, process 3, thread 4, parent_uuid 5, counter 8}. */
struct descriptor {
    char *packet;
    char *body;
    char *p;
};

static struct descriptor descriptor_begin(struct perfetto *f, uint64_t uuid, uint64_t parent) {
    struct descriptor d;
    d.packet = proto_put_begin(sink_room(f->out, SINK_PIECE), 1);
    d.body = proto_put_begin(proto_put_number(d.packet, 10, 1), 60);
    d.p = proto_put_number(d.body, 1, uuid);
    if (parent) {
        d.p = proto_put_number(d.p, 5, parent);
    }
    return d;
}

static void descriptor_end(struct perfetto *f, const struct descriptor *d) {
    proto_put_end(d->body, d->p);
    packet_finish(f, proto_put_end(d->packet, d->p));
}

/* The name of the process says how exact the clocks of a merged trace are. */
static void perfetto_put_process(struct perfetto *f) {
    struct descriptor d = descriptor_begin(f, PROCESS_TRACK, 0);
    char *process = proto_put_begin(d.p, 3);
    char name[EXPORT_NAME_BYTES];
    snprintf(name, sizeof name, "%s", f->run->program);
    if (f->run->clocks && *f->run->clocks) {
        snprintf(name, sizeof name, "%s, clocks of %s", f->run->program, f->run->clocks);
    }
    d.p = proto_put_number(process, 1, export_pid(f->run));
    d.p = proto_put_end(process, proto_put_name(d.p, 6, export_text(name)));
    descriptor_end(f, &d);
}

static void perfetto_put_named(struct perfetto *f, uint64_t uuid, uint64_t parent,
                               struct export_name name) {
    struct descriptor d = descriptor_begin(f, uuid, parent);
    d.p = proto_put_name(d.p, 2, name);
    descriptor_end(f, &d);
}

/* A thread's first lane is the thread, any other a track of the process; a stream is one of its
 * GPU. */
static void perfetto_put_lane(struct perfetto *f, const struct trace_lane *lane, uint32_t tid) {
    struct export_name name = export_field(lane->name, sizeof lane->name);
    if (lane->thread == SNAPSHOT_NONE) {
        char gpu[16];
        snprintf(gpu, sizeof gpu, "GPU %u", lane->device);
        if (f->gpu != GPU_TRACKS + lane->device) {
            f->gpu = GPU_TRACKS + lane->device;
            perfetto_put_named(f, f->gpu, PROCESS_TRACK, export_field(gpu, sizeof gpu));
        }
        perfetto_put_named(f, f->track, f->gpu, name);
    } else if (tid >= EXPORT_TIDS) {
        perfetto_put_named(f, f->track, PROCESS_TRACK, name);
    } else {
        struct descriptor d = descriptor_begin(f, f->track, PROCESS_TRACK);
        char *thread = proto_put_begin(d.p, 4);
        d.p = proto_put_number(proto_put_number(thread, 1, export_pid(f->run)), 2, tid);
        d.p = proto_put_end(thread, proto_put_name(d.p, 5, name));
        descriptor_end(f, &d);
    }
}

/* The bytes of an end after its timestamp: trusted_packet_sequence_id 10, sequence_flags 13 (2:
 * needs the state), track_event 11 {type 9, track_uuid 11}. Other events have another type, and
 * more. */
static struct packet_form packet_form_of(uint64_t track) {
    struct packet_form form = {.text = "\x50\x01\x68\x02\x5a\x00\x48\x00\x58"};
    form.length = (size_t)(leb128_put(form.text + FORM_TRACK, track) - form.text);
    form.text[FORM_EVENT - 1] = (char)(form.length - FORM_EVENT);
    form.text[FORM_TYPE] = EVENT_END;
    return form;
}

/* A packet up to the track: timestamp 8, then the form, whose start it returns. */
static char *packet_begin(char *packet, uint64_t ns, const struct packet_form *form) {
    packet[0] = 0x0a; /* and the packet's length */
    packet[2] = 0x40;
    char *p = leb128_put(packet + 3, ns);
    memcpy(p, form->text, sizeof form->text);
    return p;
}

/* Timestamps that are so much alike have the same bytes from the fourth on. -1: it has only three.
 */
static int stamp_prepare(struct perfetto *f, uint64_t high) {
    if (!high) {
        return -1;
    }
    f->stamp_high = high;
    f->stamp_bytes = (size_t)(leb128_put(f->stamp, high) - f->stamp);
    memcpy(f->stamp + f->stamp_bytes, f->form.text, sizeof f->form.text);
    return 0;
}

/* The same of an event of the lane. */
static inline char *packet_begin_event(struct perfetto *f, char *packet, uint64_t ns) {
    uint64_t high = ns >> STAMP_LOW_BITS;
    if (high != f->stamp_high && stamp_prepare(f, high)) {
        return packet_begin(packet, ns, &f->form);
    }
    char *form = packet + 6 + f->stamp_bytes;
    packet[0] = 0x0a;
    packet[2] = 0x40;
    packet[3] = (char)(ns | 0x80);
    packet[4] = (char)(ns >> 7 | 0x80);
    packet[5] = (char)(ns >> 14 | 0x80);
    memcpy(packet + 6, f->stamp, sizeof f->stamp);
    return form;
}

static inline void packet_end(struct sink *out, char *packet, char *end) {
    size_t length = (size_t)(end - packet);
    out->length += length;
    packet[1] = (char)(length - 2);
}

/* The event is in the packet from the form on. */
static inline void packet_end_event(struct perfetto *f, char *packet, char *form,
                                    enum event_type type, char *end) {
    form[FORM_TYPE] = (char)type;
    form[FORM_EVENT - 1] = (char)(end - form - FORM_EVENT);
    packet_end(f->out, packet, end);
}

static inline void perfetto_put_end_event(struct perfetto *f, uint64_t ns) {
    struct sink *out = f->out;
    size_t length = f->form.length;
    char *packet = sink_room(out, PACKET_ROOM);
    packet_end(out, packet, packet_begin_event(f, packet, ns) + length);
}

/* name_iid 10, category_iids 3. */
static inline char *event_put_names(char *p, uint64_t name, uint64_t category) {
    *p++ = 0x50;
    p = leb128_put(p, name);
    *p++ = 0x18;
    return leb128_put(p, category);
}

/* flow 0 = none. */
static void perfetto_put_event(struct perfetto *f, const struct event *e) {
    char *packet = sink_room(f->out, PACKET_ROOM);
    char *form = packet_begin(packet, e->ns, e->form);
    char *p = event_put_names(form + e->form->length, e->name, e->category);
    if (e->flow) {
        p = leb128_put(p, FIELD_DOUBLE(e->flow));
        p = proto_put_fixed(p, f->arrows);
    }
    packet_end_event(f, packet, form, e->type, p);
}

/* Writes an activity, and the launch it comes from on that one's thread, if that is known.
 * Categories are numbered by sets, then by kinds. */
static void perfetto_put_activity(struct perfetto *f, const struct trace_event *from,
                                  const struct snapshot_activity *a) {
    const struct snapshot *s = &f->run->snapshot;
    struct event e = {.ns = from->start_ns, .type = EVENT_BEGIN, .form = &f->form};
    uint32_t lane = export_launch_lane(s, f->lanes, from);
    e.name = (uint64_t)export_label(&f->labels, from) + 1;
    e.category = 1 + (uint64_t)s->set_count + a->kind;
    if (lane) {
        struct packet_form form = packet_form_of(LANE_TRACKS + (uint64_t)lane - 1);
        struct event launch = {.ns = from->launch_ns, .type = EVENT_INSTANT, .flow = FLOW};
        launch.form = &form;
        launch.name = (uint64_t)f->labels.count + 1;
        launch.category = e.category;
        e.flow = FLOW_ENDS;
        ++f->arrows;
        perfetto_put_event(f, &launch);
    }
    perfetto_put_event(f, &e);
}

static inline void perfetto_put_begin_event(struct perfetto *f, const struct trace_event *from,
                                            enum event_type type) {
    const struct snapshot *s = &f->run->snapshot;
    const struct snapshot_activity *a = export_activity(s, from);
    if (a) {
        perfetto_put_activity(f, from, a);
        return;
    }
    char *packet = sink_room(f->out, PACKET_ROOM);
    char *form = packet_begin_event(f, packet, from->start_ns);
    char *p =
        event_put_names(form + f->form.length, (uint64_t)export_site_label(&f->labels, from) + 1,
                        1 + (uint64_t)(from->set < s->set_count ? from->set : 0));
    packet_end_event(f, packet, form, type, p);
}

/* The number of a value's counter: of its site, or of its lane of memory. */
static size_t perfetto_get_counter(const struct perfetto *f, const struct trace_event *e) {
    uint32_t sites = f->run->snapshot.site_count;
    if (f->lane->memory) {
        return (size_t)sites + 1 + (size_t)(f->lane - f->run->trace.lanes);
    }
    return e->site <= sites ? e->site : 0;
}

/* double_counter_value 44, on a track of the process, one a name. */
static void perfetto_put_value(struct perfetto *f, const struct trace_event *e) {
    size_t counter = perfetto_get_counter(f, e);
    uint64_t track = COUNTER_TRACKS + counter, bits;
    if (!f->counters[counter]) {
        struct descriptor d = descriptor_begin(f, track, PROCESS_TRACK);
        struct export_name name = export_site(&f->run->snapshot, (uint32_t)counter);
        if (f->lane->memory) {
            name = export_field(f->lane->name, sizeof f->lane->name);
        }
        d.p = proto_put_name(d.p, 2, name);
        d.p = proto_put_begin(d.p, 8);
        proto_put_end(d.p, d.p);
        descriptor_end(f, &d);
        f->counters[counter] = 1;
    }
    struct packet_form form = packet_form_of(track);
    char *packet = sink_room(f->out, PACKET_ROOM);
    char *at = packet_begin(packet, e->start_ns, &form);
    char *p = leb128_put(at + form.length, FIELD_DOUBLE(44));
    memcpy(&bits, &e->value, sizeof bits);
    p = proto_put_fixed(p, bits);
    packet_end_event(f, packet, at, EVENT_COUNTER, p);
}

static void perfetto_put_events(struct perfetto *f, struct trace *t, uint32_t lane) {
    const struct trace_event *e;
    struct trace_walk walk;
    nest_start(&f->nest);
    for (trace_walk_start(&walk, t, lane); (e = trace_walk_next(&walk));) {
        uint32_t around = nest_around(&f->nest, e);
        while (f->nest.height > around) {
            perfetto_put_end_event(f, nest_pop(&f->nest));
        }
        if (e->kind == TRACE_VALUE) {
            perfetto_put_value(f, e);
        } else if (e->kind == TRACE_MARK || nest_push(&f->nest, e)) {
            perfetto_put_begin_event(f, e, e->kind == TRACE_MARK ? EVENT_INSTANT : EVENT_BEGIN);
        }
    }
    while (f->nest.height) {
        perfetto_put_end_event(f, nest_pop(&f->nest));
    }
}

/* All that events refer to. */
static void perfetto_put_all_interned(struct perfetto *f) {
    const struct snapshot *s = &f->run->snapshot;
    for (uint32_t i = 0; i < s->set_count; ++i) {
        perfetto_put_interned(f, 1, (uint64_t)i + 1, export_text(s->sets[i]));
    }
    for (uint32_t i = 0; i < f->labels.count; ++i) {
        perfetto_put_interned(f, 2, (uint64_t)i + 1, export_label_name(&f->labels, i));
    }
    if (s->activity_count) {
        for (uint32_t kind = 0; kind < ACTIVITY_KINDS; ++kind) {
            perfetto_put_interned(f, 1, (uint64_t)s->set_count + kind + 1,
                                  export_text(activity_kind_text(kind)));
        }
        perfetto_put_interned(f, 2, (uint64_t)f->labels.count + 1, export_text("launch"));
    }
}

int export_perfetto(struct sink *out, struct run *r) {
    struct perfetto f = {.out = out, .run = r};
    struct snapshot *s = &r->snapshot;
    if (run_trace(r)) {
        return -1;
    }
    uint32_t *tids = export_tids(r);
    f.counters = scratch_array(&s->memory, (size_t)s->site_count + 1 + r->trace.lane_count, 1);
    f.lanes = export_thread_lanes(r);
    if (scratch_failed(&s->memory) || export_labels_start(&f.labels, s)) {
        return -1;
    }
    perfetto_put_start(&f);
    perfetto_put_process(&f);
    perfetto_put_all_interned(&f);
    for (uint32_t i = 0; i < r->trace.lane_count; ++i) {
        const struct trace_lane *lane = &r->trace.lanes[i];
        f.track = LANE_TRACKS + (uint64_t)i;
        f.form = packet_form_of(f.track);
        f.stamp_high = UINT64_MAX;
        f.lane = lane;
        perfetto_put_lane(&f, lane, tids[i]);
        perfetto_put_events(&f, &r->trace, i);
    }
    return 0;
}
