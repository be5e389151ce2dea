/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace, lane by lane. Of a large one the longest spans are kept, and in each short part of a
 * lane the longest of the rest, so that what was busy with short ones does not look idle.
 */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "export/export_labels.h"
#include "export_html.h"

#define LONGEST (HTML_SPANS / 4 * 3)
#define PARTS (HTML_SPANS / 4) /* of all lanes together */
#define CLASSES 512u           /* of durations: 8 an octave */

struct kept {
    unsigned char *event; /* by event: is it in the page */
    struct export_labels labels;
    uint32_t *name_of; /* by label: its index in "names", + 1 */
    uint32_t *names;
    uint32_t name_count;
    uint64_t count[3]; /* by enum trace_kind */
    uint64_t shown[3];
};

static uint32_t class_of(uint64_t ns) {
    uint32_t octave = ns < 8 ? 0 : (uint32_t)(63 - __builtin_clzll(ns)) - 2;
    return octave * 8 + (uint32_t)(ns >> (octave ? octave - 1 : 0)) % 8;
}

/* The lowest class that, with all above it, holds no more than LONGEST. */
static uint32_t lowest_class(const struct trace *t) {
    uint64_t in[CLASSES] = {0}, sum = 0;
    uint32_t lowest = CLASSES;
    for (uint64_t i = 0; i < t->event_count; ++i) {
        if (t->events[i].kind == TRACE_SPAN) {
            in[class_of(t->events[i].duration_ns)] += 1;
        }
    }
    while (lowest && sum + in[lowest - 1] <= LONGEST) {
        sum += in[--lowest];
    }
    return lowest;
}

static uint64_t end_of(const struct trace *t) {
    uint64_t end = 0;
    for (uint64_t i = 0; i < t->event_count; ++i) {
        end = t->events[i].start_ns > end ? t->events[i].start_ns : end;
    }
    return end + 1;
}

static void keep_spans(struct kept *k, const struct trace *t) {
    uint32_t lowest = k->count[TRACE_SPAN] > HTML_SPANS ? lowest_class(t) : 0;
    uint64_t parts = PARTS / (t->lane_count ? t->lane_count : 1);
    uint64_t length = end_of(t) / (parts ? parts : 1) + 1;
    for (uint32_t l = 0; l < t->lane_count; ++l) {
        const struct trace_lane *lane = &t->lanes[l];
        uint64_t part = UINT64_MAX, best = 0;
        for (uint64_t i = lane->first; i < lane->first + lane->count; ++i) {
            const struct trace_event *e = &t->events[i];
            if (e->kind != TRACE_SPAN) {
                continue;
            }
            if (class_of(e->duration_ns) >= lowest) {
                k->event[i] = 1;
            } else if (e->start_ns / length != part) {
                part = e->start_ns / length;
                best = i;
                k->event[i] = 1;
            } else if (e->duration_ns > t->events[best].duration_ns) {
                k->event[best] = 0;
                best = i;
                k->event[i] = 1;
            }
        }
    }
}

/* Marks, or values: every n-th. */
static void keep_each(struct kept *k, const struct trace *t, uint32_t kind) {
    uint64_t step = k->count[kind] / HTML_MARKS + 1, at = 0;
    for (uint64_t i = 0; i < t->event_count; ++i) {
        if (t->events[i].kind == kind) {
            k->event[i] = at++ % step == 0;
        }
    }
}

static int keep(struct kept *k, const struct trace *t, struct snapshot *s) {
    if (export_labels_start(&k->labels, s)) {
        return -1;
    }
    k->event = scratch_array(&s->memory, (size_t)t->event_count + 1, 1);
    k->name_of = scratch_array(&s->memory, k->labels.count, sizeof *k->name_of);
    k->names = scratch_array(&s->memory, k->labels.count, sizeof *k->names);
    if (!k->event || !k->name_of || !k->names) {
        return -1;
    }
    for (uint64_t i = 0; i < t->event_count; ++i) {
        k->count[t->events[i].kind % 3] += 1;
    }
    keep_spans(k, t);
    keep_each(k, t, TRACE_MARK);
    keep_each(k, t, TRACE_VALUE);
    return 0;
}

static uint32_t name_index(struct kept *k, const struct trace_event *e) {
    uint32_t label = export_label(&k->labels, e);
    if (!k->name_of[label]) {
        k->names[k->name_count++] = label;
        k->name_of[label] = k->name_count;
    }
    return k->name_of[label] - 1;
}

static void put_next(struct sink *out, uint64_t n) {
    sink_put(out, ",", 1);
    sink_u64(out, n);
}

/* Nine digits are more than a chart shows. */
static void put_value(struct sink *out, double value) {
    sink_put(out, ",", 1);
    sink_text(out, number_short(isfinite(value) ? value : 0.0, 9).text);
}

static void put_event(struct html *h, struct kept *k, const struct trace_event *e) {
    sink_u64(h->out, e->start_ns);
    if (e->kind == TRACE_SPAN) {
        put_next(h->out, e->duration_ns);
    }
    put_next(h->out, name_index(k, e));
    if (e->kind == TRACE_SPAN) {
        put_next(h->out, e->depth);
    } else if (e->kind == TRACE_VALUE) {
        put_value(h->out, e->value);
    }
}

static void put_lane(struct html *h, struct kept *k, const struct trace_lane *lane) {
    static const char *const keys[3] = {",\"spans\":[", "],\"marks\":[", "],\"values\":["};
    struct export_name name = export_field(lane->name, sizeof lane->name);
    sink_text(h->out, "{\"name\":");
    sink_json(h->out, name.bytes, name.length);
    sink_text(h->out, lane->thread == SNAPSHOT_NONE ? ",\"stream\":true" : ",\"stream\":false");
    html_number(h->out, "overwritten", lane->overwritten);
    for (uint32_t kind = 0; kind < 3; ++kind) {
        uint64_t n = 0;
        sink_text(h->out, keys[kind]);
        for (uint64_t i = lane->first; i < lane->first + lane->count; ++i) {
            const struct trace_event *e = &h->run->trace.events[i];
            if (e->kind == kind && k->event[i]) {
                sink_text(h->out, n++ ? "," : "");
                put_event(h, k, e);
            }
        }
        k->shown[kind] += n;
    }
    sink_text(h->out, "]}");
}

static void put_names(struct html *h, const struct kept *k) {
    sink_text(h->out, ",\n\"names\":[");
    for (uint32_t i = 0; i < k->name_count; ++i) {
        struct export_name name = export_label_name(&k->labels, k->names[i]);
        sink_text(h->out, i ? "," : "");
        sink_json(h->out, name.bytes, name.length);
    }
    sink_put(h->out, "]", 1);
}

int html_trace(struct html *h) {
    static const char *const what[3] = {"spans, the longest of each moment", "marks", "values"};
    const struct trace *t = &h->run->trace;
    struct kept k = {.name_count = 0};
    if (keep(&k, t, &h->run->snapshot)) {
        return -1;
    }
    sink_text(h->out, ",\n\"lanes\":[");
    for (uint32_t i = 0; i < t->lane_count; ++i) {
        sink_text(h->out, i ? ",\n" : "\n");
        put_lane(h, &k, &t->lanes[i]);
    }
    sink_put(h->out, "]", 1);
    put_names(h, &k);
    for (int i = 0; i < 3; ++i) {
        if (k.shown[i] < k.count[i]) {
            html_thinned(h, "Timeline: %llu of %llu %s. ", (unsigned long long)k.shown[i],
                         (unsigned long long)k.count[i], what[i]);
        }
    }
    return 0;
}
