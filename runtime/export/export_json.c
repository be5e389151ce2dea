/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes: stint's own JSON, described by docs/stint.schema.json. Whole numbers only,
 * times in nanoseconds. What a row has nothing to say about is left out, not zero or null. A change
 * that breaks a reader changes EXPORT_JSON_SCHEMA.
 */
#include <string.h>

#include "base/status.h"
#include "export.h"
#include "export_columns.h"
#include "export_tables.h"

#define EXPORT_JSON_SCHEMA "stint.run/1"

static void put_key(struct sink *out, const char *key) {
    sink_put(out, ",\"", 2);
    sink_text(out, key);
    sink_put(out, "\":", 2);
}

static void put_number(struct sink *out, const char *key, uint64_t value) {
    put_key(out, key);
    sink_u64(out, value);
}

static void put_text(struct sink *out, const char *key, const char *text) {
    if (text && *text) {
        put_key(out, key);
        sink_json(out, text, strlen(text));
    }
}

static void put_run(struct sink *out, const struct snapshot *s, const struct run *r) {
    static const char *const states[] = {"live", "ended", "killed"};
    sink_text(out, "\"run\":{\"wall_ns\":");
    sink_u64(out, s->wall_ns);
    put_number(out, "steps", s->steps);
    put_number(out, "gpu_in_flight", s->gpu_in_flight);
    if (r) {
        put_text(out, "state", states[r->state <= RUN_KILLED ? r->state : RUN_KILLED]);
        put_text(out, "warning", r->warning);
        put_text(out, "program", r->program);
        put_text(out, "command", r->command);
        put_text(out, "host", r->host);
        put_text(out, "cpu", r->cpu);
        put_text(out, "compiler", r->compiler);
        put_text(out, "clock", r->clock);
        put_text(out, "gpu", r->gpu);
        put_number(out, "pid", r->pid);
        put_number(out, "parent_pid", r->parent_pid);
        put_number(out, "cpus", r->cpus);
        put_number(out, "start_real_ns", r->start_real_ns);
    }
    sink_put(out, "}", 1);
}

static void put_row(struct sink *out, const struct snapshot *s, const struct stint_row *r,
                    const struct export_columns *columns) {
    struct export_name name = export_row_name(r);
    sink_text(out, "{\"name\":");
    sink_json(out, name.bytes, name.length);
    put_key(out, "set");
    sink_json(out, export_set(s, r), strlen(export_set(s, r)));
    if (r->thread != SNAPSHOT_NONE) {
        put_number(out, "thread", r->thread);
    }
    export_columns_put(out, columns, r, 0, ",");
    if (r->has & ROW_GPU) {
        export_columns_put(out, columns, r, 1, ",\"gpu\":{");
        sink_put(out, "}", 1);
    }
}

/* Statistics, all threads together or one row each, largest total first. */
static int put_stats(struct sink *out, struct snapshot *s, const struct export_columns *columns,
                     const char *key, int each_thread) {
    struct rows rows;
    uint32_t *order = export_rows(&rows, s, each_thread);
    if (!order) {
        return -1;
    }
    sink_text(out, key);
    for (uint32_t i = 0; i < rows.count; ++i) {
        sink_text(out, i ? ",\n" : "\n");
        put_row(out, s, &rows.row[order[i]], columns);
        sink_put(out, "}", 1);
    }
    sink_put(out, "]", 1);
    return 0;
}

/* The call tree of all threads, parents before children. */
static int put_tree(struct sink *out, struct snapshot *s, const struct export_columns *columns) {
    struct rows rows;
    if (rows_tree(&rows, s)) {
        return -1;
    }
    sink_text(out, ",\n\"tree\":[");
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *r = &rows.row[i];
        sink_text(out, i ? ",\n" : "\n");
        put_row(out, s, r, columns);
        if (r->parent != SNAPSHOT_NONE) {
            put_number(out, "parent", r->parent);
        }
        if (r->kind == STINT_IMPL_INTERVAL_NODE) {
            put_key(out, "interval");
            sink_text(out, "true");
        }
        sink_put(out, "}", 1);
    }
    sink_put(out, "]", 1);
    return 0;
}

static void put_open(struct sink *out, const struct snapshot *s, const struct snapshot_thread *t) {
    put_key(out, "open");
    for (uint32_t i = 0; i < t->open_count; ++i) {
        struct export_name name = export_site(s, s->nodes[t->open[i].node].site);
        sink_text(out, i ? ",{\"name\":" : "[{\"name\":");
        sink_json(out, name.bytes, name.length);
        put_number(out, "for_ns", snapshot_ns(s, t->open[i].ticks));
        sink_put(out, "}", 1);
    }
    sink_put(out, "]", 1);
}

static void put_threads(struct sink *out, const struct snapshot *s) {
    sink_text(out, ",\n\"threads\":[");
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        const struct snapshot_thread *t = &s->threads[i];
        struct export_name name = export_field(t->name, sizeof t->name);
        sink_text(out, i ? ",\n{\"tid\":" : "\n{\"tid\":");
        sink_u64(out, t->tid);
        put_key(out, "name");
        sink_json(out, name.bytes, name.length);
        put_key(out, "alive");
        sink_text(out, t->alive ? "true" : "false");
        put_number(out, "uses", t->uses);
        if (t->open_count) {
            put_open(out, s, t);
        }
        sink_put(out, "}", 1);
    }
    sink_put(out, "]", 1);
}

static void put_lost(struct sink *out, const struct snapshot *s) {
    const char *before = "\n";
    sink_text(out, ",\n\"lost\":[");
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        if (s->lost[i]) {
            sink_text(out, before);
            sink_text(out, "{\"what\":");
            sink_json(out, status_text(i)->key, strlen(status_text(i)->key));
            put_number(out, "count", s->lost[i]);
            put_text(out, "text", status_text(i)->text);
            sink_put(out, "}", 1);
            before = ",\n";
        }
    }
    sink_put(out, "]", 1);
}

int export_json_snapshot(struct sink *out, struct snapshot *s, const struct run *maybe) {
    const struct export_columns *columns = export_columns(s);
    if (!columns) {
        return -1;
    }
    sink_text(out, "{\"schema\":\"" EXPORT_JSON_SCHEMA "\",\n");
    put_run(out, s, maybe);
    if (put_stats(out, s, columns, ",\n\"stats\":[", 0) ||
        put_stats(out, s, columns, ",\n\"thread_stats\":[", 1) || put_tree(out, s, columns)) {
        return -1;
    }
    put_threads(out, s);
    if (export_json_gpu(out, s)) {
        return -1;
    }
    put_lost(out, s);
    sink_text(out, "}\n");
    return 0;
}

int export_json(struct sink *out, struct run *r) {
    return export_json_snapshot(out, &r->snapshot, r);
}
