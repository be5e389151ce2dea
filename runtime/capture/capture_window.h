/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture windows by step: of a schedule, or of the rules that go by steps.
 */
#ifndef STINT_CAPTURE_WINDOW_H
#define STINT_CAPTURE_WINDOW_H

#include "base/api.h"
#include "capture_rules.h"

struct capture_window {
    uint64_t first;
    uint64_t last; /* UINT64_MAX = without end */
};

/* Whether a step is to be captured; schedule NULL: by the rules. Each step once, in order. */
int window_at(const stint_schedule *schedule, struct capture_rules *rules, uint64_t step,
              struct capture_window *w);
#define WINDOW_LABEL 64
void window_label(const struct capture_window *w, char out[WINDOW_LABEL]);

#endif
