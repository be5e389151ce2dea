/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"

enum schedule_phase schedule_phase_of(const stint_schedule *s, uint64_t step, uint64_t *first) {
    uint64_t warm = (uint64_t)s->closed + s->ready;
    uint64_t length = warm + s->record;
    *first = 0;
    if (step < s->skip_first || !s->record) {
        return SCHEDULE_OFF;
    }
    uint64_t round = (step - s->skip_first) / length;
    uint64_t place = (step - s->skip_first) % length;
    if (s->repeat && round >= s->repeat) {
        return SCHEDULE_OFF;
    }
    *first = step - place + warm;
    if (place < s->closed) {
        return SCHEDULE_OFF;
    }
    return place < warm ? SCHEDULE_READY : SCHEDULE_RECORD;
}
