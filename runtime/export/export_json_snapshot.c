/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes stint's own JSON, which docs/stint.schema.json describes: of a run file for the tool, of
 * the current interval for stint_export. All numbers are integers, times are in nanoseconds. A
 * member without a value is omitted, it is not 0 or null. A change that breaks a reader changes
 * EXPORT_JSON_SCHEMA.
 */
#include <string.h>

#include "base/status.h"
#include "export_columns.h"
#include "export_histogram.h"
#include "export_tables.h"
#include "model/line_rows.h"

#define EXPORT_JSON_SCHEMA "stint.run/1"

static void json_put_text(struct sink *out, const char *key, const char *text) {
    if (text && *text) {
        sink_member(out, key);
        sink_json(out, text, strlen(text));
    }
}

static void json_put_run(struct sink *out, const struct snapshot *s, const struct run *r) {
    sink_text(out, "\"run\":{\"wall_ns\":");
    sink_u64(out, s->wall_ns);
    if (s->wall_at_least) {
        sink_text(out, ",\"wall_at_least\":true");
    }
    sink_member_u64(out, "steps", s->steps);
    sink_member_u64(out, "gpu_in_flight", s->gpu_in_flight);
    if (r) {
        json_put_text(out, "state", export_state(r));
        json_put_text(out, "warning", r->warning);
        json_put_text(out, "program", r->program);
        json_put_text(out, "command", r->command);
        json_put_text(out, "host", r->host);
        json_put_text(out, "cpu", r->cpu);
        json_put_text(out, "compiler", r->compiler);
        json_put_text(out, "clock", r->clock);
        json_put_text(out, "gpu", r->gpu);
        sink_member_u64(out, "pid", r->pid);
        if (r->rank) {
            sink_member_u64(out, "rank", r->rank - 1);
        }
        if (r->local) {
            sink_member_u64(out, "local_rank", r->local - 1);
        }
        if (r->size) {
            sink_member_u64(out, "world_size", r->size);
        }
        if (*r->job) {
            json_put_text(out, "job", r->job);
        }
        sink_member_u64(out, "parent_pid", r->parent_pid);
        sink_member_u64(out, "cpus", r->cpus);
        sink_member_u64(out, "start_real_ns", r->start_real_ns);
    }
    sink_put(out, "}", 1);
}

/* buckets: of the table that the row is in, or NULL. */
static void json_put_row(struct sink *out, const struct snapshot *s, const struct stint_row *r,
                         struct export_histograms *buckets) {
    struct export_name name = export_row_name(r);
    sink_text(out, "{\"name\":");
    sink_json(out, name.bytes, name.length);
    sink_member(out, "set");
    sink_json(out, export_set(s, r), strlen(export_set(s, r)));
    if (r->thread != SNAPSHOT_NONE) {
        sink_member_u64(out, "thread", r->thread);
    }
    export_columns_put(out, r, 0, ",");
    uint32_t row = 0;
    if (buckets) {
        row = (uint32_t)(r - buckets->rows->row);
        export_histogram_put(out, buckets, row, 0, ",\"histogram\":");
    }
    if (r->has & ROW_GPU) {
        export_columns_put(out, r, 1, ",\"gpu\":{");
        if (buckets) {
            export_histogram_put(out, buckets, row, 1, ",\"histogram\":");
        }
        sink_put(out, "}", 1);
    }
}

/* Writes which process a row is from: rows of several runs are in one table of a database. */
static void json_put_process(struct sink *out, const struct run *maybe) {
    if (!maybe) {
        return;
    }
    json_put_text(out, "host", maybe->host);
    if (maybe->pid) {
        sink_member_u64(out, "pid", maybe->pid);
    }
    if (maybe->rank) {
        sink_member_u64(out, "rank", maybe->rank - 1);
    }
}

/* Statistics, all threads together or one row per thread, the largest total first. */
static int json_put_stats(struct sink *out, struct snapshot *s, const struct run *maybe,
                          const char *key, int each_thread) {
    struct rows rows;
    struct export_histograms buckets;
    struct scratch_mark before = scratch_mark(&s->memory); /* a table at a time */
    uint32_t *order = export_rows(&rows, s, each_thread);
    if (!order || export_histograms_start(&buckets, s, &rows)) {
        return -1;
    }
    sink_text(out, key);
    for (uint32_t i = 0; i < rows.count; ++i) {
        export_start_item(out, i);
        json_put_row(out, s, &rows.row[order[i]], &buckets);
        json_put_process(out, maybe);
        sink_put(out, "}", 1);
    }
    sink_put(out, "]", 1);
    scratch_release(&s->memory, before);
    return 0;
}

/* The call tree of all threads, parents before children. */
static int json_put_tree(struct sink *out, struct snapshot *s) {
    struct rows rows;
    struct scratch_mark before = scratch_mark(&s->memory);
    if (rows_tree(&rows, s)) {
        return -1;
    }
    sink_text(out, ",\n\"tree\":[");
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *r = &rows.row[i];
        export_start_item(out, i);
        json_put_row(out, s, r, NULL);
        if (r->parent != SNAPSHOT_NONE) {
            sink_member_u64(out, "parent", r->parent);
        }
        if (r->kind == STINT_IMPL_INTERVAL_NODE) {
            sink_member(out, "interval");
            sink_text(out, "true");
        }
        sink_put(out, "}", 1);
    }
    sink_put(out, "]", 1);
    scratch_release(&s->memory, before);
    return 0;
}

static void json_put_open(struct sink *out, const struct snapshot *s,
                          const struct snapshot_thread *t) {
    sink_member(out, "open");
    for (uint32_t i = 0; i < t->open_count; ++i) {
        struct export_name name = export_site(s, s->nodes[t->open[i].node].site);
        sink_text(out, i ? ",{\"name\":" : "[{\"name\":");
        sink_json(out, name.bytes, name.length);
        if (t->open[i].untimed) {
            sink_member(out, "untimed");
            sink_text(out, "true");
        } else {
            sink_member_u64(out, "for_ns", snapshot_ns(s, t->open[i].ticks));
        }
        sink_put(out, "}", 1);
    }
    sink_put(out, "]", 1);
}

static void json_put_threads(struct sink *out, const struct snapshot *s) {
    sink_text(out, ",\n\"threads\":[");
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        const struct snapshot_thread *t = &s->threads[i];
        struct export_name name = export_field(t->name, sizeof t->name);
        export_start_item(out, i);
        sink_text(out, "{\"tid\":");
        sink_u64(out, t->tid);
        sink_member(out, "name");
        sink_json(out, name.bytes, name.length);
        sink_member(out, "alive");
        sink_text(out, t->alive ? "true" : "false");
        sink_member_u64(out, "uses", t->uses);
        if (t->open_count) {
            json_put_open(out, s, t);
        }
        sink_put(out, "}", 1);
    }
    sink_put(out, "]", 1);
}

/* Only of a run that was instrumented by lines. */
static int json_put_lines(struct sink *out, struct snapshot *s) {
    struct line_rows rows;
    if (line_rows_read(&rows, s)) {
        return -1;
    }
    if (!rows.row_count) {
        return 0;
    }
    sink_text(out, ",\n\"lines\":[");
    for (uint32_t i = 0; i < rows.row_count; ++i) {
        const struct line_row *r = &rows.rows[i];
        const struct line_file *file = &rows.files[r->file];
        struct export_name name = export_name(file->name, file->length);
        export_start_item(out, i);
        sink_text(out, "{\"file\":");
        sink_json(out, name.bytes, name.length);
        sink_member_u64(out, "line", r->line);
        sink_member_u128(out, "hits", r->hits);
        sink_member_u128(out, "self_ns", r->self_ns);
        sink_member_u128(out, "total_ns", r->total_ns);
        if (rows.has_gpu) {
            sink_member_u128(out, "gpu_calls", r->gpu_calls);
            sink_member_u128(out, "gpu_ns", r->gpu_ns);
        }
        sink_put(out, "}", 1);
    }
    sink_put(out, "]", 1);
    return 0;
}

/* Only where memory was counted. */
static void json_put_outside(struct sink *out, const struct snapshot *s) {
    struct measure_sums sum;
    snapshot_outside(s, &sum);
    if (!(sum.groups & 1u << MEASURE_GROUP_MEMORY)) {
        return;
    }
    sink_text(out, ",\n\"outside_scopes\":{\"mallocs\":");
    sink_u128(out, sum.measure[MEASURE_MALLOCS]);
    sink_member_u128(out, "allocated_bytes", sum.measure[MEASURE_MALLOC_BYTES]);
    sink_member_u128(out, "frees", sum.measure[MEASURE_FREES]);
    sink_member_u128(out, "freed_bytes", sum.measure[MEASURE_FREED_BYTES]);
    sink_member_u128(out, "memory_live_bytes", snapshot_memory_live(sum.measure));
    sink_put(out, "}", 1);
}

static void json_put_lost(struct sink *out, const struct snapshot *s) {
    const char *before = "\n";
    sink_text(out, ",\n\"lost\":[");
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        if (s->lost[i]) {
            sink_text(out, before);
            sink_text(out, "{\"what\":");
            sink_json(out, status_text(i)->key, strlen(status_text(i)->key));
            sink_member_u64(out, "count", s->lost[i]);
            json_put_text(out, "text", status_text(i)->text);
            sink_put(out, "}", 1);
            before = ",\n";
        }
    }
    sink_put(out, "]", 1);
}

int export_json_snapshot(struct sink *out, struct snapshot *s, const struct run *maybe,
                         export_json_ranks_function *put_ranks) {
    sink_text(out, "{\"schema\":\"" EXPORT_JSON_SCHEMA "\",\n");
    json_put_run(out, s, maybe);
    if (json_put_stats(out, s, maybe, ",\n\"stats\":[", 0) ||
        json_put_stats(out, s, maybe, ",\n\"thread_stats\":[", 1) || json_put_tree(out, s)) {
        return -1;
    }
    json_put_threads(out, s);
    if (json_put_lines(out, s) || export_json_gpu(out, s) ||
        (put_ranks && put_ranks(out, s, UINT32_MAX))) {
        return -1;
    }
    json_put_outside(out, s);
    json_put_lost(out, s);
    sink_text(out, "}\n");
    return 0;
}
