/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fuzz target for a run file in memory: it reads a snapshot, a trace and statistics, and writes
 * a report of them. Whatever the bytes are, all references must be inside the file, all events in
 * order and all means between their bounds.
 */
#include <float.h>
#include <string.h>

#include "base/histogram.h"
#include "fuzz_image.h"
#include "model/activity_table.h"
#include "model/columns.h"
#include "model/rows.h"
#include "model/trace.h"
#include "ranks/rank_tables.h"
#include "report/report.h"
#include "runfile/run_parts.h"

static void check_snapshot(const struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        FUZZ_NEED(n->parent == SNAPSHOT_NONE || n->parent < i);
        FUZZ_NEED(n->site <= s->site_count && n->set < s->set_count);
        FUZZ_NEED(n->thread < s->thread_count);
        FUZZ_NEED(n->extra->gpu.device == SNAPSHOT_NONE || n->extra->gpu.device < s->device_count);
        FUZZ_NEED(memchr(n->extra->info, '\0', sizeof n->extra->info));
    }
    for (uint32_t i = 1; i <= s->site_count; ++i) {
        FUZZ_NEED(s->sites[i].name && s->sites[i].name[s->sites[i].length] == '\0');
    }
    for (uint32_t t = 0; t < s->thread_count; ++t) {
        for (uint32_t i = 0; i < s->threads[t].open_count; ++i) {
            FUZZ_NEED(s->threads[t].open[i].node < s->node_count);
        }
    }
}

static void check_activities(const struct snapshot *s) {
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        FUZZ_NEED(a->kind && a->kind < ACTIVITY_KINDS);
        FUZZ_NEED(a->node == SNAPSHOT_NONE || a->node < s->node_count);
        FUZZ_NEED(a->device == SNAPSHOT_NONE || a->device < s->device_count);
        FUZZ_NEED(a->min <= a->max && a->first_at <= a->last_at);
        FUZZ_NEED(a->squares >= 0 && a->squares <= DBL_MAX);
        FUZZ_NEED(a->name && a->name[a->name_length] == '\0');
    }
}

static void check_event(const struct snapshot *s, const struct trace_event *e) {
    FUZZ_NEED(e->site <= s->site_count);
    if (e->kind == TRACE_SPAN && e->activity != SNAPSHOT_NONE) {
        FUZZ_NEED(e->activity < s->activity_count && e->node == SNAPSHOT_NONE && !e->depth);
    } else {
        FUZZ_NEED(e->activity == SNAPSHOT_NONE && e->launch_thread == SNAPSHOT_NONE);
        FUZZ_NEED(e->kind != TRACE_SPAN || e->node < s->node_count);
        FUZZ_NEED(e->kind == TRACE_SPAN || e->node == SNAPSHOT_NONE);
    }
    FUZZ_NEED(e->launch_thread == SNAPSHOT_NONE || e->launch_thread < s->thread_count);
    FUZZ_NEED(e->start_ns + e->duration_ns >= e->start_ns);
}

/* Checks that the events are in order, as many as their lanes say, and nested as deep as they say.
 */
static void check_lane(const struct snapshot *s, struct trace *t, uint32_t lane) {
    const struct trace_event *e;
    struct trace_walk walk;
    uint64_t count = 0, start_ns = 0;
    uint32_t deepest = 0;
    for (trace_walk_start(&walk, t, lane); (e = trace_walk_next(&walk)); ++count) {
        check_event(s, e);
        FUZZ_NEED(start_ns <= e->start_ns && e->depth <= deepest);
        start_ns = e->start_ns;
        deepest = e->kind == TRACE_SPAN && e->depth == deepest ? deepest + 1 : deepest;
    }
    FUZZ_NEED(count == t->lanes[lane].count);
}

static void check_trace(const struct snapshot *s, struct trace *t) {
    uint64_t count = 0;
    for (uint32_t l = 0; l < t->lane_count; ++l) {
        const struct trace_lane *lane = &t->lanes[l];
        FUZZ_NEED(lane->thread == SNAPSHOT_NONE || lane->thread < s->thread_count);
        FUZZ_NEED(memchr(lane->name, '\0', sizeof lane->name));
        check_lane(s, t, l);
        count += lane->count;
    }
    FUZZ_NEED(count == t->event_count);
}

static void check_row(const struct stint_row *r) {
    if (r->has & ROW_SAMPLES) {
        FUZZ_NEED(r->min_ns <= r->avg_ns && r->avg_ns <= r->max_ns);
    }
    if (r->has & ROW_GPU) {
        FUZZ_NEED(r->extra->gpu_min_ns <= r->extra->gpu_avg_ns &&
                  r->extra->gpu_avg_ns <= r->extra->gpu_max_ns);
    }
    FUZZ_NEED(r->name && r->info && r->extra->bound && r->name[r->name_length] == '\0');
}

static void check_rows(struct snapshot *s, int each_thread) {
    struct rows rows;
    struct histogram h;
    if (!rows_flat(&rows, s, each_thread)) {
        for (uint32_t i = 0; i < rows.count; ++i) {
            check_row(&rows.row[i]);
            if (i < 4) { /* 10 KiB each */
                rows_histogram(&h, &rows, i, (int)(i & 1));
            }
        }
    }
    if (!rows_tree(&rows, s)) {
        for (uint32_t i = 0; i < rows.count; ++i) {
            check_row(&rows.row[i]);
            FUZZ_NEED(rows.row[i].parent == SNAPSHOT_NONE || rows.row[i].parent < i);
        }
    }
}

static void check_table(struct snapshot *s, unsigned by) {
    struct activity_ask ask = {UINT32_MAX, by, ACTIVITY_EVERY_SET};
    struct activity_table t;
    if (activity_table(&t, s, &ask)) {
        return;
    }
    for (uint32_t i = 0; i < t.count; ++i) {
        const struct activity_row *r = t.row[i];
        FUZZ_NEED(!i || t.row[i - 1]->sum.total >= r->sum.total);
        FUZZ_NEED(r->sum.count && r->sum.min <= r->avg && r->avg <= r->sum.max);
        FUZZ_NEED(r->stddev <= r->sum.max - r->sum.min);
        FUZZ_NEED(r->lib && r->precision);
        FUZZ_NEED(!(r->has & ACTIVITY_HAS_OCCUPANCY) || r->occupancy.permille <= 1000);
    }
}

static void render(struct snapshot *s, const uint8_t *option) {
    static const char *const sorts[] = {"total", "self", "calls",     "min",       "max",    "avg",
                                        "p99",   "name", "gpu_total", "gpu_calls", "gpu_p99"};
    const char *sort = sorts[option[1] % (sizeof sorts / sizeof *sorts)];
    struct text out;
    struct report_options o = {.view = (enum report_view)(option[0] % REPORT_VIEWS),
                               .sort = report_column_find(sort, strlen(sort)),
                               .top = option[2] % 16,
                               .threads = option[0] & 4 ? 1 : 0,
                               .corrected = option[1] & 1,
                               .set = option[0] & 8 ? 0 : REPORT_ALL_SETS,
                               .width = option[3],
                               .no_line = option[0] & 64 ? 0 : 1,
                               .colour = option[0] & 16 ? 1 : 0,
                               .fluid = {.state = (enum fluid_state)(option[1] / 16 % 3),
                                         .detail = (enum fluid_detail)(option[3] % 4),
                                         .key = (enum fluid_key)(option[2] / 16 % 9)}};
    struct report_about about = {
        .program = "fuzz", .cpus = 2, .killed = option[0] >> 7, .ranks = report_rank_tables};
    struct report_cost cost = {.timed = option[2],
                               .dynamic = option[0],
                               .dense = option[3],
                               .gap = option[2],
                               .inner = option[1],
                               .outer = option[3]};
    struct report report = {s, &o, &out, option[2] & 16 ? &cost : NULL, &about};
    o.sort = o.sort == UINT32_MAX ? report_column_find("total", 5) : o.sort;
    text_start(&out);
    out.utf8 = option[0] & 32 ? 1 : 0;
    report_render(&report);
    text_free(&out);
}

/* One part an input: three times as many inputs. */
static void use(struct snapshot *s, const uint8_t *option) {
    struct trace t;
    switch (option[4] % 3) {
    case 0:
        run_latest(s, (const struct arena_header *)(const void *)s->base);
        if (!trace_read(&t, s)) {
            check_trace(s, &t);
        }
        break;
    case 1:
        check_rows(s, option[0] & 4 ? 1 : 0);
        check_table(s, option[1]);
        break;
    default:
        render(s, option);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_image image;
    struct snapshot s;
    if (fuzz_image_read(&image, data, size) ||
        snapshot_read(&s, image.base, image.size, image.now.monotonic_ns / 2, &image.now)) {
        return 0;
    }
    check_snapshot(&s);
    check_activities(&s);
    use(&s, image.option);
    snapshot_free(&s);
    return 0;
}
