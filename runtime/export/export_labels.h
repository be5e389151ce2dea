/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What spans are called, as numbers: a site's is its own, those of activities follow, one for all
 * that are called the same.
 */
#ifndef STINT_EXPORT_LABELS_H
#define STINT_EXPORT_LABELS_H

#include "export_names.h"

struct export_labels {
    const struct snapshot *s;
    uint32_t *of_activity;    /* by its index */
    struct export_name *name; /* of labels behind the sites */
    uint32_t count;           /* of all labels: 0 … count - 1 */
};

/* In the snapshot's memory. 0, or -1 without. */
int export_labels_start(struct export_labels *out, struct snapshot *s);
struct export_name export_label_name(const struct export_labels *l, uint32_t label);

/* The event is a span of an activity. */
static inline const struct snapshot_activity *export_activity(const struct snapshot *s,
                                                              const struct trace_event *e) {
    return e->kind == TRACE_SPAN && e->activity < s->activity_count ? &s->activities[e->activity]
                                                                    : NULL;
}

static inline uint32_t export_label(const struct export_labels *l, const struct trace_event *e) {
    return export_activity(l->s, e)      ? l->of_activity[e->activity]
           : e->site <= l->s->site_count ? e->site
                                         : 0;
}

#endif
