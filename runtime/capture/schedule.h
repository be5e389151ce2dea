/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which phase of a stint_schedule a step falls into.
 */
#ifndef STINT_SCHEDULE_H
#define STINT_SCHEDULE_H

#include "base/api.h"

enum schedule_phase { SCHEDULE_OFF, SCHEDULE_READY, SCHEDULE_RECORD };

/* The phase of a step; *first gets the first step of its round's record phase, 0 outside rounds. */
enum schedule_phase schedule_phase_of(const stint_schedule *s, uint64_t step, uint64_t *first);

#endif
