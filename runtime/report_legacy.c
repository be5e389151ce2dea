/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PaddlePaddle's Stat.h report, field for field: name 30 wide, numbers 10, left-aligned,
 * milliseconds, six digits. Differences, on purpose: sorted, never in e-notation, no glog prefix
 * unless asked, and losses are said.
 */
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "report.h"
#include "report_columns.h"

#define NAME_WIDTH 30

static void put_padded(struct text *t, size_t used, size_t width) {
    text_spaces(t, used < width ? width - used : 0);
}

static void put_number(const struct report *r, const char *key, const char *number) {
    text_add(r->out, " %s=%-10s", key, number);
}

/* repeat: only its width, so that later rows of one statistic stand below the first. */
static void put_prefix(const struct report *r, int repeat) {
    char prefix[96];
    size_t width = log_prefix(prefix, sizeof prefix);
    if (repeat) {
        text_spaces(r->out, width);
    } else {
        text_put(r->out, prefix, width);
    }
}

/* repeat: a later row of the statistic above, of another thread. */
static void put_row(const struct report *r, const struct stint_row *row, int repeat) {
    char n[TEXT_NUMBER];
    const struct snapshot *s = r->snapshot;
    put_prefix(r, repeat);
    text_put(r->out, "Stat=", 5);
    put_padded(r->out, text_name(r->out, row->name, row->name_length, 0), NAME_WIDTH);
    if (row->thread != SNAPSHOT_NONE && s->threads[row->thread].alive) {
        text_add(r->out, " TID=%-6u", s->threads[row->thread].tid);
    }
    text_legacy_ms(n, (double)row->total_ns);
    put_number(r, "total", n);
    text_legacy_ms(n, row->samples ? (double)row->total_ns / (double)row->samples : 0.0);
    put_number(r, "avg", n);
    text_legacy_ms(n, (double)row->max_ns);
    put_number(r, "max", n);
    text_legacy_ms(n, (double)row->min_ns);
    put_number(r, "min", n);
    snprintf(n, sizeof n, "%llu", (unsigned long long)row->calls);
    put_number(r, "count", n);
    text_put(r->out, "\n", 1);
}

/* Sorted, but the rows of one statistic together: the other threads' below the first one. Linear,
 * as there may be a million names. -1 without memory. */
static int put_rows(const struct report *r, const struct rows *rows, const uint32_t *order) {
    struct snapshot *s = r->snapshot;
    const struct report_options *o = r->options;
    uint32_t *head = scratch_array(&s->memory, (size_t)s->site_count + 1, sizeof *head);
    uint32_t *next = scratch_array(&s->memory, (size_t)rows->count + 1, sizeof *next);
    if (!head || !next) {
        return -1;
    }
    for (uint32_t i = rows->count; i-- > 0;) { /* both hold places in the order, + 1 */
        const struct stint_row *row = &rows->row[order[i]];
        if (row->set == o->set && row->calls &&
            report_options_want(o, row->name, row->name_length)) {
            next[i] = head[row->name_id];
            head[row->name_id] = i + 1;
        }
    }
    for (uint32_t i = 0, shown = 0; i < rows->count && (!o->top || shown < o->top); ++i) {
        uint32_t at = head[rows->row[order[i]].name_id];
        if (at != i + 1) {
            continue; /* stands below an earlier one, or is not shown */
        }
        for (; at; at = next[at - 1]) {
            put_row(r, &rows->row[order[at - 1]], at != i + 1);
        }
        ++shown;
    }
    return 0;
}

int report_legacy(const struct report *r, int line) {
    struct rows rows;
    const struct report_options *o = r->options;
    if (rows_flat(&rows, r->snapshot, o->threads)) {
        return -1;
    }
    uint32_t *order = report_sort(r->snapshot, &rows, o->sort);
    if (!order) {
        return -1;
    }
    put_prefix(r, 0);
    text_put(r->out, "======= StatSet: [", 18);
    const char *set = r->snapshot->sets[o->set];
    text_name(r->out, set, strlen(set), 0);
    text_put(r->out, "] status ======\n", 16);
    if (put_rows(r, &rows, order)) {
        return -1;
    }
    if (line) {
        put_prefix(r, 0);
        text_put(r->out, "--------------------------------------------------\n", 51);
        report_losses(r, "stint: ");
    }
    return 0;
}

int report_legacy_row(const struct report *r, const char *name) {
    struct rows rows;
    if (rows_flat(&rows, r->snapshot, r->options->threads)) {
        return -1;
    }
    int found = 0;
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *row = &rows.row[i];
        if (row->set == r->options->set && row->calls && !strcmp(row->name, name)) {
            put_row(r, row, found);
            found = 1;
        }
    }
    return found ? 0 : -1;
}
