/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot with scopes that were recorded and activities that are made up. */
#ifndef STINT_TESTS_ACTIVITIES_H
#define STINT_TESTS_ACTIVITIES_H

#include "arena/activity_kind.h"
#include "interval/interval.h"
#include "model/columns.h"
#include "report/report.h"
#include "support.h"

#define ACTIVITIES 64

static struct snapshot snapshot;
static struct snapshot_device devices[SNAPSHOT_DEVICES];
static struct snapshot_activity activities[ACTIVITIES];

HARNESS_FN uint32_t node_named(const char *name) {
    for (uint32_t i = 0; i < snapshot.node_count; ++i) {
        const char *have = snapshot.sites[snapshot.nodes[i].site].name; /* a root has none */
        if (have && !strcmp(have, name)) {
            return i;
        }
    }
    return SNAPSHOT_NONE;
}

/* main > step > load and main > step > store, 1 ms each but load: 7; one GPU. */
HARNESS_FN void scopes_and_one_gpu(void) {
    {
        REGISTER_TIMER("main");
        fake_advance(1000000);
        REGISTER_TIMER("step");
        fake_advance(1000000);
        timed("load", 7000000);
        timed("store", 1000000);
    }
    CHECK(!snapshot_take(&snapshot));
    memset(activities, 0, sizeof activities);
    snapshot.activities = activities;
    snapshot.activity_count = 0;
    snapshot.device_count = 1;
    snapshot.devices = devices;
    snapshot.devices[0] = (struct snapshot_device){.number = 0,
                                                   .major = 9,
                                                   .multiprocessors = 132,
                                                   .threads_per_mp = 2048,
                                                   .blocks_per_mp = 32,
                                                   .registers_per_mp = 65536,
                                                   .shared_per_mp = 233472,
                                                   .reserved_shared = 1024,
                                                   .words = {{[GPU_WORD_PLATFORM] = "CUDA"}}};
    strcpy(snapshot.devices[0].name, "Test GPU");
}

/* Adds an activity with that many calls and that much time and bytes in all. */
HARNESS_FN struct snapshot_activity *did(uint32_t kind, uint32_t detail, const char *scope,
                                         uint64_t count, uint64_t total, uint64_t bytes) {
    struct snapshot_activity *a = &activities[snapshot.activity_count++];
    *a = (struct snapshot_activity){.kind = kind,
                                    .detail = detail,
                                    .count = count,
                                    .total = total,
                                    .min = count ? total / count : 0,
                                    .max = count ? total / count : 0,
                                    .bytes = bytes,
                                    .name = "",
                                    .node = scope ? node_named(scope) : SNAPSHOT_NONE,
                                    .device = 0};
    return a;
}

/* Returns the text of a part of the report. The caller frees nothing; the next call overwrites
 * it. */
HARNESS_FN const char *said(int (*part)(const struct report *)) {
    static char shown[20000];
    static const struct report_about nowhere;
    struct text out;
    struct report_options o = {
        .view = REPORT_GPU, .sort = report_column_find("total", 5), .set = REPORT_ALL_SETS};
    struct report r = {&snapshot, &o, &out, NULL, &nowhere};
    text_start(&out);
    CHECK(!part(&r) && !out.failed && out.length < sizeof shown);
    memcpy(shown, out.data ? out.data : "", out.length);
    shown[out.length] = '\0';
    text_free(&out);
    return shown;
}

#endif
