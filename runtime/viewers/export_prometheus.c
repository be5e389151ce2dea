/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the statistics in Prometheus' text format, in base units (seconds); called by the tool.
 * There are no timestamps: node_exporter skips a file that has any. Two series with the same labels
 * make the scrape fail, so each byte that is not UTF-8 is written as \xff, where other exports
 * write U+FFFD. The histograms are written by export_prometheus_histogram.c, the GPU activities by
 * export_prometheus_gpu.c.
 */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/terminal.h"
#include "base/utf8.h"
#include "export/export_columns.h"
#include "export_prometheus.h"
#include "formats.h"

#define SECONDS PROMETHEUS_SECONDS
#define NUMBER PROMETHEUS_NUMBER

struct family {
    const char *name;
    const char *type;
    const char *help;
    enum prometheus_unit unit;
    struct row_field field;
    uint32_t needs;
    int optional; /* no series where it is zero */
};

#include "prometheus_columns.inc" /* column_families: the columns of reports that are families */

/* Families that reports have no column for. */
static const struct family more_families[] = {
    {"stint_scope_open_seconds", "gauge", "How long a scope that is open has been so.", SECONDS,
     ROW_EXTRA_FIELD(open_ns), 0, 1},
    {"stint_scope_moved_bytes_total", "counter", "Bytes a scope declared to have moved.", NUMBER,
     ROW_EXTRA_FIELD(bytes), 0, 1},
    {"stint_scope_flops_total", "counter", "Floating-point operations a scope declared.", NUMBER,
     ROW_EXTRA_FIELD(flops), 0, 1},
};

struct summary {
    const char *name;
    const char *help;
    struct row_field sum;
    struct row_field count;
    uint32_t needs;
    uint32_t needs_quantiles;
    struct row_field percentiles; /* of PERCENTILE_COUNT */
};

static const struct summary summaries[] = {
    {"stint_scope_seconds", "Time in a scope, with what is nested in it.", ROW_FIELD(total_ns),
     ROW_FIELD(covered), ROW_SAMPLES, ROW_HISTOGRAM, ROW_FIELD(percentile_ns)},
    {"stint_scope_gpu_seconds", "Time of a scope on the GPU.", ROW_EXTRA_FIELD(gpu_total_ns),
     ROW_EXTRA_FIELD(gpu_calls), ROW_GPU, ROW_GPU_HISTOGRAM, ROW_EXTRA_FIELD(gpu_percentile_ns)},
};

static int label_is_special(char c) {
    return c == '"' || c == '\\' || c == '\n';
}

/* A part of a label's value, with the characters escaped that the format requires. */
static void prometheus_put_label_bytes(struct sink *out, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        if (bytes[i] == '\n') {
            sink_put(out, "\\n", 2);
            continue;
        }
        if (label_is_special(bytes[i])) {
            sink_put(out, "\\", 1);
        }
        sink_put(out, bytes + i, 1);
    }
}

void prometheus_label(struct sink *out, const char *key, struct export_name text) {
    int utf8 = out->terminal && terminal_is_utf8();
    sink_text(out, key);
    sink_put(out, "=\"", 2);
    for (size_t i = 0; i < text.length;) {
        char shown[TERMINAL_PIECE];
        size_t length, columns;
        uint32_t c = 0;
        size_t n = utf8_next(text.bytes + i, text.length - i, &c);
        if (n && (!out->terminal || label_is_special(text.bytes[i]))) {
            prometheus_put_label_bytes(out, text.bytes + i, n);
        } else {
            n = terminal_show(text.bytes + i, text.length - i, utf8, shown, &length, &columns);
            prometheus_put_label_bytes(out, shown, length);
        }
        i += n;
    }
    sink_put(out, "\"", 1);
}

void prometheus_head(struct sink *out, const char *name, const char *type, const char *help) {
    sink_text(out, "# HELP ");
    sink_text(out, name);
    sink_put(out, " ", 1);
    sink_text(out, help);
    sink_text(out, "\n# TYPE ");
    sink_text(out, name);
    sink_put(out, " ", 1);
    sink_text(out, type);
    sink_put(out, "\n", 1);
}

void prometheus_value(struct sink *out, uint64_t value, enum prometheus_unit unit) {
    sink_put(out, " ", 1);
    if (unit == SECONDS) {
        char rest[] = ".000000000";
        uint64_t ns = value % 1000000000;
        for (int i = 9; ns; ns /= 10) {
            rest[i--] = (char)('0' + ns % 10);
        }
        sink_u64(out, value / 1000000000);
        sink_put(out, rest, sizeof rest - 1);
    } else {
        sink_u64(out, value);
    }
    sink_put(out, "\n", 1);
}

void prometheus_scope(const struct prometheus *p, const struct stint_row *r, const char *name,
                      const char *suffix) {
    sink_text(p->out, name);
    sink_text(p->out, suffix);
    prometheus_label(p->out, "{name", export_row_name(r));
    prometheus_label(p->out, ",set", export_field(export_set(p->s, r), EXPORT_NAME_BYTES));
}

void prometheus_series(const struct prometheus *p, const struct stint_row *r, const char *name,
                       const char *suffix, uint64_t value, enum prometheus_unit unit) {
    prometheus_scope(p, r, name, suffix);
    sink_put(p->out, "}", 1);
    prometheus_value(p->out, value, unit);
}

static void prometheus_put_family(const struct prometheus *p, const struct family *f) {
    prometheus_head(p->out, f->name, f->type, f->help);
    for (uint32_t i = 0; i < p->rows->count; ++i) {
        const struct stint_row *r = &p->rows->row[p->order[i]];
        uint64_t value = row_number(r, f->field);
        int known = !(f->needs & ~r->has) && value != ROW_UNKNOWN;
        if (known && (value || !f->optional)) {
            prometheus_series(p, r, f->name, "", value, f->unit);
        }
    }
}

static void prometheus_put_quantiles(const struct prometheus *p, const struct summary *m,
                                     const struct stint_row *r) {
    static const uint16_t permilles[PERCENTILE_COUNT] = PERCENTILE_PERMILLES;
    const uint64_t *percentile = row_field(r, m->percentiles);
    for (uint32_t i = 0; i < PERCENTILE_COUNT; ++i) {
        char label[sizeof "0.999"];
        int length = snprintf(label, sizeof label, "0.%03u", permilles[i] % 1000u);
        while (label[length - 1] == '0') {
            --length;
        }
        label[length] = '\0';
        prometheus_scope(p, r, m->name, "");
        prometheus_label(p->out, ",quantile", export_field(label, sizeof label));
        sink_put(p->out, "}", 1);
        prometheus_value(p->out, percentile[i], SECONDS);
    }
}

static void prometheus_put_summary(const struct prometheus *p, const struct summary *m) {
    prometheus_head(p->out, m->name, "summary", m->help);
    for (uint32_t i = 0; i < p->rows->count; ++i) {
        const struct stint_row *r = &p->rows->row[p->order[i]];
        if (m->needs & ~r->has) {
            continue;
        }
        if (r->has & m->needs_quantiles) {
            prometheus_put_quantiles(p, m, r);
        }
        prometheus_series(p, r, m->name, "_sum", row_number(r, m->sum), SECONDS);
        prometheus_series(p, r, m->name, "_count", row_number(r, m->count), NUMBER);
    }
}

static void prometheus_put_info(struct sink *out, const struct run *r) {
    const char *const texts[][2] = {{"{program", r->program},
                                    {",host", r->host},
                                    {",cpu", r->cpu},
                                    {",clock", r->clock},
                                    {",state", export_state(r)}};
    prometheus_head(out, "stint_run_info", "gauge", "The run these numbers are of.");
    sink_text(out, "stint_run_info");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        prometheus_label(out, texts[i][0], export_text(texts[i][1]));
    }
    sink_text(out, ",pid=\"");
    sink_u64(out, r->pid);
    sink_text(out, "\"} 1\n");
}

static void prometheus_put_run(struct sink *out, const struct snapshot *s) {
    prometheus_head(out, "stint_run_seconds", "gauge", "Wall time of the run so far.");
    sink_text(out, "stint_run_seconds");
    prometheus_value(out, s->wall_ns, SECONDS);
    prometheus_head(out, "stint_steps_total", "counter", "Calls of stint_step.");
    sink_text(out, "stint_steps_total");
    prometheus_value(out, s->steps, NUMBER);
    prometheus_head(out, "stint_lost_total", "counter", "What was lost, skipped or abandoned.");
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        sink_text(out, "stint_lost_total");
        prometheus_label(out, "{what", export_field(status_text(i)->key, EXPORT_NAME_BYTES));
        sink_put(out, "}", 1);
        prometheus_value(out, s->lost[i], NUMBER);
    }
}

int export_prometheus(struct sink *out, struct run *r) {
    struct rows rows;
    struct prometheus p = {out, &r->snapshot, &rows, export_rows(&rows, &r->snapshot, 0)};
    if (!p.order) {
        return -1;
    }
    prometheus_put_info(out, r);
    prometheus_put_run(out, p.s);
    for (size_t i = 0; i < sizeof summaries / sizeof *summaries; ++i) {
        prometheus_put_summary(&p, &summaries[i]);
    }
    prometheus_histograms(&p);
    for (size_t i = 0; i < sizeof column_families / sizeof *column_families; ++i) {
        prometheus_put_family(&p, &column_families[i]);
    }
    for (size_t i = 0; i < sizeof more_families / sizeof *more_families; ++i) {
        prometheus_put_family(&p, &more_families[i]);
    }
    return prometheus_gpu(out, &r->snapshot);
}
