/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_private.h"

#include <inttypes.h>
#include <stdio.h>

#include "capture.h"
#include "record/watch.h"

int capture_window_at(const stint_schedule *schedule, struct capture_rules *rules, uint64_t step,
                      struct capture_window *w) {
    if (schedule) {
        int records = schedule_phase_of(schedule, step, &w->first) == SCHEDULE_RECORD;
        w->last = w->first + schedule->record - 1;
        return records;
    }
    int found = 0;
    for (unsigned i = 0; i < rules->count;
         ++i) { /* all of them: one that waits must be called for each step */
        struct capture_rule *r = &rules->rule[i];
        uint64_t first;
        int slow = !*r->name && *r->scope && watch_take(i);
        if (!*r->name && capture_rule_at(r, step, slow, &first) && !found) {
            w->first = first;
            w->last = UINT64_MAX;
            if (r->record) {
                w->last = first + r->record - 1;
            }
            found = 1;
        }
    }
    return found;
}

void capture_window_label(const struct capture_window *w, char out[WINDOW_LABEL]) {
    if (w->last == UINT64_MAX) {
        snprintf(out, WINDOW_LABEL, "steps %" PRIu64 "-", w->first);
    } else {
        snprintf(out, WINDOW_LABEL, "steps %" PRIu64 "-%" PRIu64, w->first, w->last);
    }
}
