/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "acme.h"
#include "activity/activity.h"

static int is_tracing;
static uint32_t correlation;
static uint64_t handed_over;

uint32_t acme_trace_next(void) {
    ++correlation;
    if (is_tracing) {
        activity_launch(correlation);
    }
    return correlation;
}

void acme_trace_call(struct activity_record *call, struct activity_record *work) {
    if (!is_tracing) {
        return;
    }
    call->end = activity_clock();
    activity_begin();
    activity_add(call);
    if (work) {
        work->correlation = call->correlation;
        activity_add(work);
    }
    activity_end();
    handed_over += work ? 2 : 1;
}

static int acme_tracer_open(char reason[TRACER_REASON], void (*at_launch)(void)) {
    (void)at_launch; /* there is no driver that could be unloaded first */
    if (activity_open()) {
        snprintf(reason, TRACER_REASON, "no memory");
        return -1;
    }
    struct activity_record own = {.kind = ACTIVITY_OVERHEAD,
                                  .name = "overhead acme start",
                                  .device = ACTIVITY_NO_DEVICE,
                                  .start = activity_clock()};
    own.end = own.start + 10;
    activity_begin();
    activity_add(&own);
    activity_end();
    is_tracing = 1;
    return 0;
}

static void acme_tracer_flush(int how) {
    (void)how; /* records come complete */
    activity_settle();
}

static void acme_tracer_close(int how) {
    (void)how;
    is_tracing = 0;
    activity_pause();
}

static void acme_tracer_sum(struct tracer_sums *out) {
    memset(out, 0, sizeof *out);
    snprintf(out->version, sizeof out->version, "1.0");
    out->records = handed_over;
}

const struct tracer_ops acme_tracer = {
    .name = "acme",
    .words = &acme_words,
    .open = acme_tracer_open,
    .close = acme_tracer_close,
    .flush = acme_tracer_flush,
    .sums = acme_tracer_sum,
};
