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
    unsigned char *event; /* by event: is it in the page */
    struct export_labels labels;
    uint32_t *name_of; /* by label: its index in "names", + 1 */
    uint32_t *names;
    uint32_t name_count;
    uint64_t count[3]; /* by enum trace_kind */
    uint64_t shown[3];
};

static uint32_t duration_class(uint64_t ns) {
    if (ns < 8) {
        return (uint32_t)ns;
    }
    uint32_t octave = (uint32_t)(63 - __builtin_clzll(ns)) - 2;
    return octave * 8 + (uint32_t)(ns >> (octave - 1)) % 8;
}

/* The lowest class that, with all above it, holds no more than LONGEST. */
static uint32_t find_lowest_class(const struct trace *t) {
    uint64_t in[CLASSES] = {0}, sum = 0;
    uint32_t lowest = CLASSES;
    for (uint64_t i = 0; i < t->event_count; ++i) {
        if (t->events[i].kind == TRACE_SPAN) {
            in[duration_class(t->events[i].duration_ns)] += 1;
        }
    }
    while (lowest && sum + in[lowest - 1] <= LONGEST) {
        sum += in[--lowest];
    }
    return lowest;
}

static uint64_t find_trace_end(const struct trace *t) {
    uint64_t end = 0;
    for (uint64_t i = 0; i < t->event_count; ++i) {
        end = u64_max(end, t->events[i].start_ns);
    }
    return end + 1;
}

static void kept_choose_spans(struct kept *k, const struct trace *t) {
    uint32_t lowest = 0;
    if (k->count[TRACE_SPAN] > HTML_SPANS) {
        lowest = find_lowest_class(t);
    }
    uint64_t parts = PARTS / u64_max(t->lane_count, 1);
    uint64_t length = find_trace_end(t) / u64_max(parts, 1) + 1;
    for (uint32_t l = 0; l < t->lane_count; ++l) {
        const struct trace_lane *lane = &t->lanes[l];
        uint64_t part = UINT64_MAX, best = 0;
        for (uint64_t i = lane->first; i < lane->first + lane->count; ++i) {
            const struct trace_event *e = &t->events[i];
            if (e->kind != TRACE_SPAN) {
                continue;
            }
            if (duration_class(e->duration_ns) >= lowest) {
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
static void kept_choose_each(struct kept *k, const struct trace *t, uint32_t kind) {
    uint64_t step = k->count[kind] / HTML_MARKS + 1, at = 0;
    for (uint64_t i = 0; i < t->event_count; ++i) {
        if (t->events[i].kind == kind) {
            k->event[i] = at++ % step == 0;
        }
    }
}

static int kept_start(struct kept *k, const struct trace *t, struct snapshot *s) {
    if (export_labels_start(&k->labels, s)) {
        return -1;
    }
    k->event = scratch_array(&s->memory, (size_t)t->event_count + 1, 1);
    k->name_of = scratch_array(&s->memory, k->labels.count, sizeof *k->name_of);
    k->names = scratch_array(&s->memory, k->labels.count, sizeof *k->names);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint64_t i = 0; i < t->event_count; ++i) {
        k->count[t->events[i].kind % 3] += 1;
    }
    kept_choose_spans(k, t);
    kept_choose_each(k, t, TRACE_MARK);
    kept_choose_each(k, t, TRACE_VALUE);
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

static void html_put_lane(struct html *h, struct kept *k, const struct trace_lane *lane) {
    static const char *const keys[3] = {",\"spans\":[", "],\"marks\":[", "],\"values\":["};
    struct export_name name = export_field(lane->name, sizeof lane->name);
    sink_text(h->out, "{\"name\":");
    sink_json(h->out, name.bytes, name.length);
    sink_text(h->out, lane->thread == SNAPSHOT_NONE ? ",\"stream\":true" : ",\"stream\":false");
    sink_member_u64(h->out, "overwritten", lane->overwritten);
    if (lane->memory) {
        sink_member_u64(h->out, "memory", 1);
    }
    for (uint32_t kind = 0; kind < 3; ++kind) {
        uint64_t n = 0;
        sink_text(h->out, keys[kind]);
        for (uint64_t i = lane->first; i < lane->first + lane->count; ++i) {
            const struct trace_event *e = &h->run->trace.events[i];
            if (e->kind == kind && k->event[i]) {
                sink_put(h->out, ",", n != 0);
                ++n;
                lane_put_event(h, k, e);
            }
        }
        k->shown[kind] += n;
    }
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
    const struct trace *t = &h->run->trace;
    struct kept k = {.name_count = 0};
    if (kept_start(&k, t, &h->run->snapshot)) {
        return -1;
    }
    sink_text(h->out, ",\n\"lanes\":[");
    for (uint32_t i = 0; i < t->lane_count; ++i) {
        export_start_item(h->out, i);
        html_put_lane(h, &k, &t->lanes[i]);
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
