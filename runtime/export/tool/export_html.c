/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run as one page for a browser. The page is report_html.inc, two halves of a template
 * with its scripts and styles; between them is one JSON object, in a script element of a type that
 * browsers do not run. sink_json escapes '<', so that no name can end the element. A member without
 * a value is omitted. The scripts in html/ read the object; its tree, its trace and its ranks are
 * written by export_html_tree.c, export_html_trace.c and export_html_ranks.c.
 */
#include "export_html.h"

#include <time.h>

#include "base/arithmetic.h"
#include "base/histogram.h"
#include "export/export_columns.h"
#include "formats.h"
#include "metrics.h"
#include "report_html.inc"
#include "system/launch.h"

static void html_put_run(const struct html *h) {
    struct sink *out = h->out;
    const struct run *r = h->run;
    const struct snapshot *s = &r->snapshot;
    time_t seconds = (time_t)(r->start_real_ns / 1000000000u);
    struct tm utc;
    char start[40] = "";
    if (seconds && gmtime_r(&seconds, &utc)) {
        strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    sink_text(out, ",\"run\":{\"wall_ns\":");
    sink_u64(out, s->wall_ns);
    if (s->wall_at_least) {
        sink_text(out, ",\"wall_at_least\":true");
    }
    html_text(out, "program", r->program);
    html_text(out, "command", r->command);
    html_text(out, "host", r->host);
    html_text(out, "cpu", r->cpu);
    html_text(out, "compiler", r->compiler);
    html_text(out, "clock", r->clock);
    html_text(out, "gpu", r->gpu);
    html_text(out, "start", start);
    html_text(out, "state", export_state(r));
    html_text(out, "warning", r->warning);
    sink_member_u64(out, "pid", r->pid);
    char place[LAUNCH_PLACE_BYTES];
    launch_place(place, r->rank, r->local, r->size, r->job);
    if (*place) {
        html_text(out, "place", place);
    }
    if (r->clocks && *r->clocks) {
        html_text(out, "clocks", r->clocks);
    }
    sink_member_u64(out, "threads", s->thread_count);
    sink_member_u64(out, "cpus", r->cpus);
    sink_member_u64(out, "steps", s->steps);
    if (h->interval) {
        sink_member_u64(out, "interval_ns", h->interval->time_ns - h->interval->start_ns);
    }
    sink_put(out, "}", 1);
}

static void html_put_bucket(struct sink *out, uint64_t item, uint64_t low, uint64_t high,
                            uint64_t count) {
    if (item) {
        sink_put(out, ",", 1);
    }
    sink_u64(out, low);
    sink_put(out, ",", 1);
    sink_u64(out, high);
    sink_put(out, ",", 1);
    sink_u64(out, count);
}

/* Triples low, high, count of the buckets in use. Below 32 ticks several buckets may begin in the
 * same nanosecond: they are written as one. */
static void html_put_histogram(struct sink *out, const struct snapshot *s,
                               const struct histogram *h, uint64_t max) {
    uint64_t low = 0, high = 0, count = 0, written = 0;
    sink_text(out, ",\"histogram\":");
    sink_put(out, "[", 1);
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        if (!h->bucket[i]) {
            continue;
        }
        uint64_t from = histogram_low(i), to = histogram_low(i + 1);
        if (!h->in_ns) {
            from = snapshot_ns(s, from);
            to = snapshot_ns(s, to);
        }
        if (h->open && i + 1 >= h->open) {
            to = u64_max(to, saturating_add(max, 1));
        }
        if (count && from >= high) {
            html_put_bucket(out, written++, low, high, count);
            count = 0;
        }
        if (!count) {
            low = from;
        }
        high = u64_max(to, low + 1);
        count += h->bucket[i];
    }
    if (count) {
        html_put_bucket(out, written, low, high, count);
    }
    sink_put(out, "]", 1);
}

/* Without the end of its object. */
static void html_put_row(struct html *h, const struct rows *rows, uint32_t row,
                         int with_histogram) {
    const struct snapshot *s = &h->run->snapshot;
    const struct stint_row *r = &rows->row[row];
    struct sink *out = h->out;
    struct export_name name = export_row_name(r);
    struct histogram histogram;
    sink_text(out, "{\"name\":");
    sink_json(out, name.bytes, name.length);
    html_text(out, "set", export_set(s, r));
    if (r->thread != SNAPSHOT_NONE) {
        sink_member_u64(out, "thread", r->thread);
    }
    if (r->kind == STINT_IMPL_INTERVAL_NODE) {
        sink_member_u64(out, "interval", 1);
    }
    if (r->extra->open_ns) {
        sink_member_u64(out, "open_ns", r->extra->open_ns);
        sink_member_u128(out, "open_all_ns", r->extra->open_all_ns);
    }
    export_columns_put(out, r, 0, ",");
    /* The page sorts by these two columns. */
    if (!(r->has & ROW_SAMPLES)) {
        sink_member_u128(out, "total_ns", r->total_ns);
    }
    if (!(r->has & ROW_SAMPLES) || !(r->has & ROW_SELF)) {
        sink_member_u128(out, "self_ns", r->self_ns);
    }
    if (r->has & ROW_GPU) {
        export_columns_put(out, r, 1, ",\"gpu\":{");
        if (with_histogram && r->has & ROW_GPU_HISTOGRAM &&
            !rows_histogram(&histogram, rows, row, 1)) {
            html_put_histogram(out, s, &histogram, row_sampled(r, 1).max_ns);
        }
        sink_put(out, "}", 1);
    }
    if (with_histogram && !rows_histogram(&histogram, rows, row, 0)) {
        html_put_histogram(out, s, &histogram, r->max_ns);
    }
}

/* The histograms of the interval by row; NULL without memory. */
static const struct metric_series **html_list_interval(const struct html *h, uint32_t rows) {
    const struct metric_series **out =
        scratch_array(&h->run->snapshot.memory, (size_t)rows + 1, sizeof *out);
    uint32_t count = h->interval ? h->interval->count : 0;
    for (uint32_t i = 0; out && i < count; ++i) {
        const struct metric_series *m = &h->interval->series[i];
        if (m->label.kind == METRIC_DURATION && m->row < rows) {
            out[m->row] = m;
        }
    }
    return out;
}

static void html_put_interval(const struct html *h, const struct metric_series *m) {
    sink_text(h->out, ",\"last\":{\"calls\":");
    sink_u128(h->out, m->count);
    sink_member_u64(h->out, "p50_ns", metric_percentile(h->interval, m, 500));
    sink_member_u64(h->out, "p90_ns", metric_percentile(h->interval, m, 900));
    sink_member_u64(h->out, "p99_ns", metric_percentile(h->interval, m, 990));
    sink_put(h->out, "}", 1);
}

/* The largest total first. */
static int html_put_stats(struct html *h) {
    struct snapshot *s = &h->run->snapshot;
    struct rows rows;
    uint32_t *order = export_rows(&rows, s, 0);
    if (!order) {
        return -1;
    }
    const struct metric_series **interval = html_list_interval(h, rows.count);
    if (!interval) {
        return -1;
    }
    sink_text(h->out, ",\n\"stats\":[");
    for (uint32_t i = 0; i < rows.count && i < HTML_ROWS; ++i) {
        export_start_item(h->out, i);
        html_put_row(h, &rows, order[i], i < HTML_HISTOGRAMS);
        if (interval[order[i]]) {
            html_put_interval(h, interval[order[i]]);
        }
        sink_put(h->out, "}", 1);
    }
    sink_put(h->out, "]", 1);
    if (rows.count > HTML_ROWS) {
        html_thinned(h, "Timers: the %u of %u with the most time. ", HTML_ROWS, rows.count);
    }
    if (rows.count > HTML_HISTOGRAMS) {
        html_thinned(h, "Distributions: of the first %u timers. ", HTML_HISTOGRAMS);
    }
    return 0;
}

static void html_put_thread_names(struct sink *out, const struct snapshot *s) {
    sink_text(out, ",\n\"threads\":[");
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        const struct snapshot_thread *t = &s->threads[i];
        struct export_name name = export_field(t->name, sizeof t->name);
        export_start_item(out, i);
        sink_text(out, "{\"tid\":");
        sink_u64(out, t->tid);
        sink_text(out, ",\"name\":");
        sink_json(out, name.bytes, name.length);
        sink_put(out, "}", 1);
    }
    sink_put(out, "]", 1);
}

/* The rows of each thread, if there are several, the largest total first. The page has histograms
 * of all threads together only. */
static int html_put_threads(struct html *h) {
    struct snapshot *s = &h->run->snapshot;
    struct rows rows = {.count = 0};
    uint32_t *order = NULL;
    html_put_thread_names(h->out, s);
    sink_text(h->out, ",\n\"per_thread\":[");
    if (s->thread_count > 1) {
        order = export_rows(&rows, s, 1);
        if (!order) {
            return -1;
        }
    }
    for (uint32_t i = 0; i < rows.count && i < HTML_ROWS; ++i) {
        export_start_item(h->out, i);
        html_put_row(h, &rows, order[i], 0);
        sink_put(h->out, "}", 1);
    }
    sink_put(h->out, "]", 1);
    if (rows.count > HTML_ROWS) {
        html_thinned(h, "Timers per thread: the %u of %u rows with the most time. ", HTML_ROWS,
                     rows.count);
    }
    return 0;
}

static void html_put_ledger(struct sink *out, const struct snapshot *s) {
    const char *before = "{\"count\":";
    u128 calls = 0;
    sink_text(out, ",\n\"losses\":[");
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        if (s->lost[i]) {
            sink_text(out, before);
            sink_u64(out, s->lost[i]);
            html_text(out, "text", status_text(i)->text);
            sink_put(out, "}", 1);
            before = ",{\"count\":";
        }
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        calls += snapshot_calls(&s->nodes[i]) + s->nodes[i].recursions;
    }
    sink_text(out, "],\"cost\":{\"calls\":");
    sink_u128(out, calls);
    sink_put(out, "}", 1);
}

int export_html(struct sink *out, struct run *r) {
    return export_html_interval(out, r, NULL);
}

int export_html_interval(struct sink *out, struct run *r, const struct metrics *interval) {
    struct html h = {.out = out, .run = r, .interval = interval};
    if (run_trace(r)) {
        return -1;
    }
    sink_put(out, html_before, sizeof html_before);
    sink_text(out, "{\"schema\":\"stint-html-1\"");
    html_put_run(&h);
    if (html_put_stats(&h) || html_put_threads(&h) || html_tree(&h) || html_trace(&h) ||
        html_ranks(&h)) {
        return -1;
    }
    html_put_ledger(out, &r->snapshot);
    if (h.thinned_length) {
        html_thinned(&h, "All of it is in the other exports.");
    }
    html_text(out, "thinned", h.thinned);
    sink_put(out, "}", 1);
    sink_put(out, html_after, sizeof html_after);
    return 0;
}
