/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of the HTML export, lane by lane; called by export_html.c, after run_trace. Of a large
 * trace the longest spans are kept, and of the others the longest in each short part of a lane, so
 * that a time of many short spans does not look idle. Of marks and values every n-th is kept. A
 * name is in the page once; events refer to it by its index.
 */
#include <math.h>
#include <stdio.h>

#include "base/arithmetic.h"
#include "base/number.h"
#include "export/export_labels.h"
#include "export_html.h"

#define LONGEST (HTML_SPANS / 4 * 3)
#define PARTS (HTML_SPANS / 4) /* of all lanes together */
#define CLASSES 512u           /* of durations: 8 an octave */

struct kept {
    struct trace *trace;
    unsigned char *event;   /* by event: is it in the page */
    uint64_t (*in_lane)[3]; /* by lane: its events by enum trace_kind */
    struct export_labels labels;
    uint32_t *name_of; /* by label: its index in "names", + 1 */
    uint32_t *names;
    uint32_t name_count;
    uint64_t count[3]; /* by enum trace_kind */
    uint64_t shown[3];
    uint64_t in_class[CLASSES]; /* spans */
    uint64_t end;               /* after the start of the last event */
};

static uint32_t duration_class(uint64_t ns) {
    if (ns < 8) {
        return (uint32_t)ns;
    }
    uint32_t octave = (uint32_t)(63 - __builtin_clzll(ns)) - 2;
    return octave * 8 + (uint32_t)(ns >> (octave - 1)) % 8;
}

/* The lowest class that, with all above it, holds no more than LONGEST. */
static uint32_t find_lowest_class(const struct kept *k) {
    uint64_t sum = 0;
    uint32_t lowest = CLASSES;
    while (lowest && sum + k->in_class[lowest - 1] <= LONGEST) {
        sum += k->in_class[--lowest];
    }
    return lowest;
}

static void kept_count(struct kept *k) {
    const struct trace_event *e;
    struct trace_walk walk;
    for (uint32_t l = 0; l < k->trace->lane_count; ++l) {
        for (trace_walk_start(&walk, k->trace, l); (e = trace_walk_next(&walk));) {
            ++k->count[e->kind];
            ++k->in_lane[l][e->kind];
            k->end = u64_max(k->end, e->start_ns);
            if (e->kind == TRACE_SPAN) {
                ++k->in_class[duration_class(e->duration_ns)];
            }
        }
    }
    ++k->end;
}

/* The longest span so far in a part of a lane. */
struct best_span {
    uint64_t part;
    uint64_t number; /* of the event */
    uint64_t duration_ns;
};

static void best_span_choose(struct best_span *best, unsigned char *kept, uint64_t part,
                             uint64_t number, const struct trace_event *e) {
    if (part == best->part) {
        if (e->duration_ns <= best->duration_ns) {
            return;
        }
        kept[best->number] = 0;
    }
    kept[number] = 1;
    *best = (struct best_span){part, number, e->duration_ns};
}

/* Chooses every n-th of the marks, and of the values. */
static void kept_choose(struct kept *k) {
    const struct trace_event *e;
    struct trace_walk walk;
    uint32_t lowest = 0;
    if (k->count[TRACE_SPAN] > HTML_SPANS) {
        lowest = find_lowest_class(k);
    }
    uint64_t parts = PARTS / u64_max(k->trace->lane_count, 1);
    uint64_t length = k->end / u64_max(parts, 1) + 1;
    uint64_t at[3] = {0}, number = 0;
    for (uint32_t l = 0; l < k->trace->lane_count; ++l) {
        struct best_span best = {.part = UINT64_MAX};
        for (trace_walk_start(&walk, k->trace, l); (e = trace_walk_next(&walk)); ++number) {
            if (e->kind != TRACE_SPAN) {
                uint64_t step = k->count[e->kind] / HTML_MARKS + 1;
                k->event[number] = at[e->kind]++ % step == 0;
            } else if (duration_class(e->duration_ns) >= lowest) {
                k->event[number] = 1;
            } else {
                best_span_choose(&best, k->event, e->start_ns / length, number, e);
            }
        }
    }
}

static int kept_start(struct kept *k, struct trace *t, struct snapshot *s) {
    k->trace = t;
    if (export_labels_start(&k->labels, s)) {
        return -1;
    }
    k->event = scratch_array(&s->memory, (size_t)t->event_count + 1, 1);
    k->in_lane = scratch_array(&s->memory, (size_t)t->lane_count + 1, sizeof *k->in_lane);
    k->name_of = scratch_array(&s->memory, k->labels.count, sizeof *k->name_of);
    k->names = scratch_array(&s->memory, k->labels.count, sizeof *k->names);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    kept_count(k);
    kept_choose(k);
    return 0;
}

static uint32_t kept_name_index(struct kept *k, const struct trace_event *e) {
    uint32_t label = export_label(&k->labels, e);
    if (!k->name_of[label]) {
        k->names[k->name_count++] = label;
        k->name_of[label] = k->name_count;
    }
    return k->name_of[label] - 1;
}

static void lane_put_next(struct sink *out, uint64_t n) {
    sink_put(out, ",", 1);
    sink_u64(out, n);
}

/* Nine digits are more than a chart shows. */
static void lane_put_value(struct sink *out, double value) {
    sink_put(out, ",", 1);
    sink_text(out, number_short(isfinite(value) ? value : 0.0, 9).text);
}

static void lane_put_event(struct html *h, struct kept *k, const struct trace_event *e) {
    sink_u64(h->out, e->start_ns);
    if (e->kind == TRACE_SPAN) {
        lane_put_next(h->out, e->duration_ns);
    }
    lane_put_next(h->out, kept_name_index(k, e));
    if (e->kind == TRACE_SPAN) {
        lane_put_next(h->out, e->depth);
    } else if (e->kind == TRACE_VALUE) {
        lane_put_value(h->out, e->value);
    }
}

/* The kept events of a kind, from the lane's first event on, which has that number. */
static void html_put_kind(struct html *h, struct kept *k, uint32_t lane, uint32_t kind,
                          uint64_t number) {
    const struct trace_event *e;
    struct trace_walk walk;
    uint64_t n = 0;
    if (!k->in_lane[lane][kind]) {
        return;
    }
    for (trace_walk_start(&walk, k->trace, lane); (e = trace_walk_next(&walk)); ++number) {
        if (e->kind == kind && k->event[number]) {
            sink_put(h->out, ",", n != 0);
            ++n;
            lane_put_event(h, k, e);
        }
    }
    k->shown[kind] += n;
}

static void html_put_lane(struct html *h, struct kept *k, uint32_t index, uint64_t *number) {
    static const char *const keys[3] = {",\"spans\":[", "],\"marks\":[", "],\"values\":["};
    const struct trace_lane *lane = &k->trace->lanes[index];
    struct export_name name = export_field(lane->name, sizeof lane->name);
    sink_text(h->out, "{\"name\":");
    sink_json(h->out, name.bytes, name.length);
    sink_text(h->out, lane->thread == SNAPSHOT_NONE ? ",\"stream\":true" : ",\"stream\":false");
    sink_member_u64(h->out, "overwritten", lane->overwritten);
    if (lane->memory) {
        sink_member_u64(h->out, "memory", 1);
    }
    uint64_t events = 0;
    for (uint32_t kind = 0; kind < 3; ++kind) {
        sink_text(h->out, keys[kind]);
        html_put_kind(h, k, index, kind, *number);
        events += k->in_lane[index][kind];
    }
    *number += events;
    sink_text(h->out, "]}");
}

static void html_put_names(struct html *h, const struct kept *k) {
    sink_text(h->out, ",\n\"names\":[");
    for (uint32_t i = 0; i < k->name_count; ++i) {
        struct export_name name = export_label_name(&k->labels, k->names[i]);
        sink_put(h->out, ",", i != 0);
        sink_json(h->out, name.bytes, name.length);
    }
    sink_put(h->out, "]", 1);
}

int html_trace(struct html *h) {
    static const char *const what[3] = {"spans, the longest of each moment", "marks", "values"};
    struct trace *t = &h->run->trace;
    struct kept k = {.name_count = 0};
    uint64_t number = 0;
    if (kept_start(&k, t, &h->run->snapshot)) {
        return -1;
    }
    sink_text(h->out, ",\n\"lanes\":[");
    for (uint32_t i = 0; i < t->lane_count; ++i) {
        export_start_item(h->out, i);
        html_put_lane(h, &k, i, &number);
    }
    sink_put(h->out, "]", 1);
    html_put_names(h, &k);
    for (int i = 0; i < 3; ++i) {
        if (k.shown[i] < k.count[i]) {
            html_thinned(h, "Timeline: %llu of %llu %s. ", (unsigned long long)k.shown[i],
                         (unsigned long long)k.count[i], what[i]);
        }
    }
    return 0;
}
