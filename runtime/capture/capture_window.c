/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_window.h"

#include <inttypes.h>
#include <stdio.h>

#include "record/watch.h"
#include "schedule.h"

int window_at(const stint_schedule *schedule, struct capture_rules *rules, uint64_t step,
              struct capture_window *w) {
    if (schedule) {
        int records = schedule_phase_of(schedule, step, &w->first) == SCHEDULE_RECORD;
        w->last = w->first + schedule->record - 1;
        return records;
    }
    int found = 0;
    for (unsigned i = 0; i < rules->count; ++i) { /* all: one that waits must see each step */
        struct capture_rule *r = &rules->rule[i];
        uint64_t first;
        int slow = !*r->name && *r->scope && watch_take(i);
        if (!*r->name && capture_rule_at(r, step, slow, &first) && !found) {
            w->first = first;
            w->last = r->record ? first + r->record - 1 : UINT64_MAX;
            found = 1;
        }
    }
    return found;
}

void window_label(const struct capture_window *w, char out[WINDOW_LABEL]) {
    if (w->last == UINT64_MAX) {
        snprintf(out, WINDOW_LABEL, "steps %" PRIu64 "-", w->first);
    } else {
        snprintf(out, WINDOW_LABEL, "steps %" PRIu64 "-%" PRIu64, w->first, w->last);
    }
}
