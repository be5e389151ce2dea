/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of spans, as numbers (labels): the label of a site is its number; the labels of activities
 * follow, one for all activities with the same name.
 */
#ifndef STINT_EXPORT_LABELS_H
#define STINT_EXPORT_LABELS_H

#include "export_names.h"

struct export_labels {
    const struct snapshot *s;
    uint32_t *of_activity;    /* by its index */
    struct export_name *name; /* of the labels after those of sites */
    uint32_t site_count;
    uint32_t count; /* of all labels: 0 … count - 1 */
};

/* In the snapshot's memory. 0, or -1 if there is not enough memory. */
int export_labels_start(struct export_labels *out, struct snapshot *s);
struct export_name export_label_name(const struct export_labels *l, uint32_t label);

/* The activity that the event is a span of, or NULL. */
static inline const struct snapshot_activity *export_activity(const struct snapshot *s,
                                                              const struct trace_event *e) {
    if (e->activity >= s->activity_count || e->kind != TRACE_SPAN) {
        return NULL;
    }
    return &s->activities[e->activity];
}

/* The label of an event other than an activity. */
static inline uint32_t export_site_label(const struct export_labels *l,
                                         const struct trace_event *e) {
    return e->site <= l->site_count ? e->site : 0;
}

static inline uint32_t export_label(const struct export_labels *l, const struct trace_event *e) {
    if (e->activity < l->s->activity_count) {
        return l->of_activity[e->activity];
    }
    return export_site_label(l, e);
}

#endif
