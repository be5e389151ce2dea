/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the statistics as CSV: RFC 4180 in UTF-8. Spreadsheets interpret a cell that begins with
 * = + - @, a tab or a carriage return as a formula, even if it is quoted: an apostrophe is put
 * before it, and before apostrophes that such a character follows.
 */
#include <string.h>

#include "base/text.h"
#include "export.h"
#include "export_columns.h"
#include "export_histogram.h"
#include "model/run.h"

static void csv_put_quoted(struct sink *out, const char *clean, size_t n) {
    size_t first = 0;
    sink_put(out, "\"", 1);
    while (first < n && clean[first] == '\'') {
        ++first;
    }
    if (first < n && memchr("=+-@\t\r", clean[first], 6)) {
        sink_put(out, "'", 1);
    }
    for (size_t i = 0; i < n; ++i) {
        if (clean[i] == '"') {
            sink_put(out, "\"", 1);
        }
        sink_put(out, &clean[i], 1);
    }
    sink_put(out, "\"", 1);
}

void export_csv_cell(struct sink *out, struct export_name text) {
    _Static_assert(EXPORT_CLEAN_BYTES <= sizeof out->apart, "a cleaned name fits");
    if (out->terminal) { /* as reports print it */
        struct text shown;
        text_start(&shown);
        text_name(&shown, text.bytes, text.length, 0);
        csv_put_quoted(out, shown.data, shown.length);
        text_free(&shown);
        return;
    }
    csv_put_quoted(out, out->apart, export_clean(out->apart, text));
}

static void csv_put_text(struct sink *out, const char *text) {
    export_csv_cell(out, export_field(text, EXPORT_NAME_BYTES));
}

static void csv_put_thread(struct sink *out, const struct snapshot *s, uint32_t thread) {
    if (thread >= s->thread_count) {
        sink_put(out, ",,", 2);
        return;
    }
    sink_put(out, ",", 1);
    sink_u64(out, s->threads[thread].tid);
    sink_put(out, ",", 1);
    export_csv_cell(out, export_field(s->threads[thread].name, sizeof s->threads[thread].name));
}

/* Writes which process a row is from: rows of several runs are in one table of a database. */
static void csv_put_process(struct sink *out, const struct run *maybe) {
    sink_put(out, ",", 1);
    if (maybe) {
        csv_put_text(out, maybe->host);
    }
    sink_put(out, ",", 1);
    if (maybe && maybe->pid) {
        sink_u64(out, maybe->pid);
    }
    sink_put(out, ",", 1);
    if (maybe && maybe->rank) {
        sink_u64(out, maybe->rank - 1);
    }
}

static void csv_put_histogram(struct sink *out, struct export_histograms *h, uint32_t row,
                              int gpu) {
    uint64_t from = out->written + out->length;
    export_histogram_put(out, h, row, gpu, ",\"");
    if (out->written + out->length == from) {
        sink_put(out, ",", 1);
    } else {
        sink_put(out, "\"", 1);
    }
}

static void csv_put_row(struct sink *out, const struct snapshot *s, const struct stint_row *r) {
    const struct report_column *c;
    export_csv_cell(out, export_row_name(r));
    sink_put(out, ",", 1);
    csv_put_text(out, export_set(s, r));
    csv_put_thread(out, s, r->thread);
    for (uint32_t i = EXPORT_FIRST_COLUMN; (c = report_column(i)); ++i) {
        sink_put(out, ",", 1);
        if (export_column_has(c, r) && c->kind == REPORT_TEXT) {
            csv_put_text(out, report_text(r, c));
        } else if (export_column_has(c, r)) {
            sink_u128(out, report_value(r, c));
        }
    }
}

int export_csv_snapshot(struct sink *out, struct snapshot *s, const struct run *maybe,
                        int each_thread) {
    const struct report_column *c;
    struct rows rows;
    struct export_histograms buckets;
    uint32_t *order = export_rows(&rows, s, each_thread);
    if (!order || export_histograms_start(&buckets, s, &rows)) {
        return -1;
    }
    sink_text(out, "name,set,tid,thread");
    for (uint32_t i = EXPORT_FIRST_COLUMN; (c = report_column(i)); ++i) {
        sink_put(out, ",", 1);
        sink_text(out, c->export_key);
    }
    sink_text(out, ",host,pid,rank,histogram,gpu_histogram\r\n");
    for (uint32_t i = 0; i < rows.count; ++i) {
        csv_put_row(out, s, &rows.row[order[i]]);
        csv_put_process(out, maybe);
        csv_put_histogram(out, &buckets, order[i], 0);
        csv_put_histogram(out, &buckets, order[i], 1);
        sink_put(out, "\r\n", 2);
    }
    return 0;
}

int export_csv(struct sink *out, struct run *r) {
    return export_csv_snapshot(out, &r->snapshot, r, 0);
}
