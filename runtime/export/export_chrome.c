/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Chrome's trace events, the format that most viewers read: called by `stint export --to
 * chrome` and, at the end of a profile, by the session layer. It needs memory for the names and the
 * numbers of lanes; the events themselves are written one by one.
 * - Spans have no `args`: some viewers append them to the name or use them to distinguish frames.
 * - Times are microseconds since the start of the run: counted from 1970, their nanoseconds would
 * not fit into a double.
 * - A lane is a thread, because viewers nest overlapping spans of a thread. Within a lane a parent
 *   precedes a child that starts at the same time; otherwise it would be drawn inside the child.
 * - An arrow from a launch to the launched work is two events, `s` and `f`, with the same id. The
 *   second follows its span, which has the same time, and `bp` binds it to that span, not to the
 * next. Arrows from threads without a lane are left out.
 */
#include "export.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "export_labels.h"
#include "export_nest.h"
#include "model/activity_name.h"

#define CHROME_NAMES 256u      /* names that are kept as they are written */
#define CHROME_NAME_SHORT 64u  /* bytes that are copied at once */
#define CHROME_NAME_BYTES 128u /* longer ones are written anew each time */

/* `,"name":"..."` of a label. */
struct chrome_name {
    uint32_t label; /* + 1; 0 = none */
    uint32_t length;
    char text[CHROME_NAME_BYTES];
};

struct chrome {
    struct sink *out;
    const struct run *run;
    char ids[48]; /* `,"pid":1,"tid":2` of the lane */
    size_t ids_length;
    char span[80]; /* all of a span of the lane up to its start */
    size_t span_length;
    struct nest nest;
    struct export_labels labels;
    const struct trace_lane *lane;
    const uint32_t *tids;  /* by lane */
    const uint32_t *lanes; /* by thread: + 1 */
    uint64_t arrows;
    struct chrome_name names[CHROME_NAMES];
};

static void chrome_put_string(struct sink *out, const char *key, const char *text) {
    sink_text(out, key);
    text = text ? text : "";
    sink_json(out, text, strlen(text));
}

static void chrome_put_other(struct sink *out, const struct run *r) {
    uint64_t overwritten = 0;
    for (uint32_t i = 0; i < r->trace.lane_count; ++i) {
        overwritten += r->trace.lanes[i].overwritten;
    }
    chrome_put_string(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":", r->program);
    chrome_put_string(out, ",\"command\":", r->command);
    chrome_put_string(out, ",\"host\":", r->host);
    chrome_put_string(out, ",\"cpu\":", r->cpu);
    chrome_put_string(out, ",\"clock\":", r->clock);
    if (r->clocks && *r->clocks) {
        chrome_put_string(out, ",\"clocks\":", r->clocks);
    }
    chrome_put_string(out, ",\"warning\":", r->warning);
    sink_text(out, ",\"start_real_ns\":\"");
    sink_u64(out, r->start_real_ns);
    sink_text(out, "\",\"overwritten_events\":");
    sink_u64(out, overwritten);
    sink_text(out, "},\n\"traceEvents\":[\n");
}

/* Names and the order of lanes. The first event is not preceded by a comma. */
static void chrome_put_meta(struct chrome *c, const char *what, struct export_name name) {
    sink_text(c->out, "{\"ph\":\"M\"");
    sink_put(c->out, c->ids, c->ids_length);
    sink_text(c->out, ",\"name\":\"");
    sink_text(c->out, what);
    sink_text(c->out, "\",\"args\":{\"name\":");
    sink_json(c->out, name.bytes, name.length);
    sink_text(c->out, "}}");
}

static void chrome_start_lane(struct chrome *c, uint32_t tid) {
    int n = snprintf(c->ids, sizeof c->ids, ",\"pid\":%u,\"tid\":%u", export_pid(c->run), tid);
    c->ids_length = (size_t)n;
    n = snprintf(c->span, sizeof c->span, ",\n{\"ph\":\"X\"%s,\"ts\":", c->ids);
    c->span_length = (size_t)n;
}

static void chrome_put_lane_meta(struct chrome *c, const struct trace_lane *lane, uint32_t index) {
    sink_text(c->out, ",\n");
    chrome_put_meta(c, "thread_name", export_field(lane->name, sizeof lane->name));
    sink_text(c->out, ",\n{\"ph\":\"M\"");
    sink_put(c->out, c->ids, c->ids_length);
    sink_text(c->out, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":");
    sink_u64(c->out, index);
    sink_text(c->out, "}}");
}

static void chrome_put_head(struct chrome *c, const char *phase, uint64_t ns) {
    sink_text(c->out, phase);
    sink_put(c->out, c->ids, c->ids_length);
    sink_put(c->out, ",\"ts\":", 6);
    sink_us(c->out, ns);
}

static void chrome_put_any_name(struct chrome *c, uint32_t label) {
    struct export_name name = export_label_name(&c->labels, label);
    sink_put(c->out, ",\"name\":", 8);
    sink_json(c->out, name.bytes, name.length);
}

/* Writes the name to the sink, from where it is taken back, if it is short. */
static void chrome_read_name(struct chrome *c, struct chrome_name *to, uint32_t label) {
    struct sink *out = c->out;
    to->label = label + 1;
    to->length = 0;
    if (export_label_name(&c->labels, label).length < CHROME_NAME_BYTES) {
        char *text = sink_room(out, SINK_PIECE);
        size_t before = out->length;
        chrome_put_any_name(c, label);
        if (out->length - before <= CHROME_NAME_BYTES) {
            to->length = (uint32_t)(out->length - before);
            memcpy(to->text, text, to->length);
        }
        out->length = before;
    }
}

static inline void chrome_put_name(struct chrome *c, const struct trace_event *e) {
    uint32_t label = export_label(&c->labels, e);
    struct chrome_name *name = &c->names[label % CHROME_NAMES];
    if (name->label != label + 1) {
        chrome_read_name(c, name, label);
    }
    if (!name->length) {
        chrome_put_any_name(c, label);
        return;
    }
    char *p = sink_room(c->out, CHROME_NAME_BYTES);
    memcpy(p, name->text, CHROME_NAME_SHORT);
    if (name->length > CHROME_NAME_SHORT) {
        memcpy(p + CHROME_NAME_SHORT, name->text + CHROME_NAME_SHORT,
               CHROME_NAME_BYTES - CHROME_NAME_SHORT);
    }
    c->out->length += name->length;
}

/* Spans of the default set have no category: it would be a quarter of the file. */
static inline void chrome_put_category(struct chrome *c, const struct trace_event *e) {
    const struct snapshot *s = &c->run->snapshot;
    const struct snapshot_activity *a = export_activity(s, e);
    if (!a && !e->set) {
        return;
    }
    struct export_name name =
        export_text(a ? activity_kind_text(a->kind) : export_set_name(s, e->set, ""));
    sink_put(c->out, ",\"cat\":", 7);
    sink_json(c->out, name.bytes, name.length);
}

static void chrome_put_arrow_end(struct chrome *c, const char *phase, uint32_t tid, uint64_t ns) {
    sink_text(c->out, phase);
    sink_u64(c->out, export_pid(c->run));
    sink_text(c->out, ",\"tid\":");
    sink_u64(c->out, tid);
    sink_text(c->out, ",\"ts\":");
    sink_us(c->out, ns);
    sink_text(c->out, ",\"id\":");
    sink_u64(c->out, c->arrows);
    sink_text(c->out, ",\"cat\":\"launch\",\"name\":\"launch\"}");
}

/* After its span; `tid` is that of the span. */
static inline void chrome_put_arrow(struct chrome *c, const struct trace_event *e, uint32_t tid) {
    const struct snapshot *s = &c->run->snapshot;
    if (!export_activity(s, e)) {
        return;
    }
    uint32_t from = export_launch_lane(s, c->lanes, e);
    if (from) {
        ++c->arrows;
        chrome_put_arrow_end(c, ",\n{\"ph\":\"s\",\"pid\":", c->tids[from - 1], e->launch_ns);
        chrome_put_arrow_end(c, ",\n{\"ph\":\"f\",\"bp\":\"e\",\"pid\":", tid, e->start_ns);
    }
}

static inline void chrome_put_span(struct chrome *c, const struct trace_event *e) {
    const uint64_t *end_ns = nest_push(&c->nest, e);
    if (!end_ns) {
        return;
    }
    struct sink *out = c->out;
    char *from = sink_room(out, sizeof c->span + 2 * SINK_US_BYTES + 8), *p = from;
    memcpy(p, c->span, sizeof c->span);
    p = sink_us_at(p + c->span_length, e->start_ns);
    memcpy(p, ",\"dur\":", 7);
    p = sink_us_at(p + 7, *end_ns - e->start_ns);
    out->length += (size_t)(p - from);
    chrome_put_category(c, e);
    chrome_put_name(c, e);
    sink_put(c->out, "}", 1);
}

/* A counter belongs to the process: that of a device's memory has the name of its lane. */
static void chrome_put_counter(struct chrome *c, const struct trace_event *e) {
    chrome_put_head(c, ",\n{\"ph\":\"C\"", e->start_ns);
    if (c->lane->memory) {
        struct export_name name = export_field(c->lane->name, sizeof c->lane->name);
        sink_put(c->out, ",\"name\":", 8);
        sink_json(c->out, name.bytes, name.length);
    } else {
        chrome_put_name(c, e);
    }
    sink_text(c->out, ",\"args\":{\"value\":");
    sink_text(c->out, number_exact(e->value).text);
    sink_text(c->out, "}}");
}

static inline void chrome_put_event(struct chrome *c, const struct trace_event *e) {
    if (e->kind == TRACE_SPAN) {
        chrome_put_span(c, e);
    } else if (e->kind == TRACE_MARK) {
        chrome_put_head(c, ",\n{\"ph\":\"i\",\"s\":\"t\"", e->start_ns);
        chrome_put_name(c, e);
        sink_put(c->out, "}", 1);
    } else {
        chrome_put_counter(c, e);
    }
}

static void chrome_put_lane(struct chrome *c, struct trace *t, uint32_t index) {
    const struct trace_lane *lane = &t->lanes[index];
    const struct trace_event *e;
    struct trace_walk walk;
    c->lane = lane;
    chrome_start_lane(c, c->tids[index]);
    chrome_put_lane_meta(c, lane, index);
    nest_start(&c->nest);
    for (trace_walk_start(&walk, t, index); (e = trace_walk_next(&walk));) {
        uint32_t around = nest_around(&c->nest, e);
        while (c->nest.height > around) {
            nest_pop(&c->nest);
        }
        chrome_put_event(c, e);
        chrome_put_arrow(c, e, c->tids[index]);
    }
}

int export_chrome(struct sink *out, struct run *r) {
    struct chrome *c = scratch_get(&r->snapshot.memory, sizeof *c);
    if (!c) {
        return -1;
    }
    c->out = out;
    c->run = r;
    if (run_trace(r) || !(c->tids = export_tids(r)) || !(c->lanes = export_thread_lanes(r)) ||
        export_labels_start(&c->labels, &r->snapshot)) {
        return -1;
    }
    chrome_put_other(out, r);
    chrome_start_lane(c, export_pid(r));
    chrome_put_meta(c, "process_name", export_text(r->program));
    for (uint32_t i = 0; i < r->trace.lane_count; ++i) {
        chrome_put_lane(c, &r->trace, i);
    }
    sink_text(out, "\n]}\n");
    return 0;
}
