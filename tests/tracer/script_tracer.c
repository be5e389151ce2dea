/* SPDX-License-Identifier: Apache-2.0 */
#include "script_tracer.h"

#include <stdio.h>
#include <string.h>

#include "activity/activity.h"

#define LAUNCHES 16

struct script script;

static struct activity_record launched[LAUNCHES];
static uint32_t launches, correlation;

void script_launch(void) {
    if (!script.is_open || !script.next->kernel || launches == LAUNCHES) {
        return;
    }
    uint64_t start = activity_clock();
    launched[launches++] = (struct activity_record){.kind = ACTIVITY_KERNEL,
                                                    .correlation = ++correlation,
                                                    .context = 1,
                                                    .stream = 7,
                                                    .start = start,
                                                    .end = start + script.next->ns,
                                                    .name = script.next->kernel,
                                                    .grid = {1, 1, 1},
                                                    .block = {32, 1, 1}};
    activity_launch(correlation);
    ++script.next;
}

static void flush_script(int force) {
    (void)force; /* all is complete at once */
    ++script.flushes;
    activity_begin();
    for (uint32_t i = 0; i < launches; ++i) {
        activity_add(&launched[i]);
        ++script.records;
    }
    launches = 0;
    activity_end();
}

static int open_script(char reason[TRACER_REASON], void (*at_launch)(void)) {
    (void)at_launch; /* there is no driver that could be unloaded first */
    ++script.opens;
    if (script.refusal) {
        snprintf(reason, TRACER_REASON, "%s", script.refusal);
        return -1;
    }
    if (activity_open()) {
        snprintf(reason, TRACER_REASON, "no memory");
        return -1;
    }
    script.is_open = 1;
    return 0;
}

static void close_script(int force) {
    ++script.closes;
    flush_script(force);
    script.is_open = 0;
    activity_pause();
}

static int is_script_used(void) {
    return script.opens > 0;
}

static void forget_script(void) {
    ++script.forgets;
    script.is_open = 0;
    launches = 0;
}

static void read_sums(struct tracer_sums *out) {
    memset(out, 0, sizeof *out);
    snprintf(out->version, sizeof out->version, "1.0");
    snprintf(out->complaints, sizeof out->complaints, ", the script is short");
    out->records = script.records;
}

const struct tracer_ops script_tracer = {
    .name = "script",
    .open = open_script,
    .close = close_script,
    .flush = flush_script,
    .is_used = is_script_used,
    .forget = forget_script,
    .sums = read_sums,
};
