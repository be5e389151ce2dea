/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PaddlePaddle's Stat.h report, field for field: name 30 wide, numbers 10, left-aligned,
 * milliseconds, six digits. Differences, on purpose: sorted, never in e-notation, no glog prefix
 * unless asked, and losses are said.
 */
#include "report_legacy.h"

#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/name.h"
#include "base/number.h"
#include "base/text.h"
#include "model/columns.h"
#include "system/log.h"

#define NAME_WIDTH 30

static void put_padded(struct text *t, size_t used, size_t width) {
    text_spaces(t, saturating_subtract(width, used));
}

static void legacy_put_number(const struct report *r, const char *key, const char *number) {
    text_add(r->out, " %s=%-10s", key, number);
}

/* repeat: only its width, so that later rows of one statistic are aligned with the first. */
static void legacy_put_prefix(const struct report *r, int repeat) {
    char prefix[96];
    size_t width = log_prefix(prefix, sizeof prefix);
    if (repeat) {
        text_spaces(r->out, width);
    } else {
        text_put(r->out, prefix, width);
    }
}

/* repeat: a later row of the statistic above, of another thread. */
static void legacy_put_row(const struct report *r, const struct stint_row *row, int repeat) {
    char n[TEXT_NUMBER];
    const struct snapshot *s = r->snapshot;
    legacy_put_prefix(r, repeat);
    text_put(r->out, "Stat=", 5);
    put_padded(r->out, text_name(r->out, row->name, row->name_length, 0), NAME_WIDTH);
    if (row->thread != SNAPSHOT_NONE && s->threads[row->thread].alive) {
        text_add(r->out, " TID=%-6u", s->threads[row->thread].tid);
    }
    text_legacy_ms(n, (double)row->total_ns);
    legacy_put_number(r, "total", n);
    text_legacy_ms(n, row->samples ? (double)row->total_ns / (double)row->samples : 0.0);
    legacy_put_number(r, "avg", n);
    text_legacy_ms(n, (double)row->max_ns);
    legacy_put_number(r, "max", n);
    text_legacy_ms(n, (double)row->min_ns);
    legacy_put_number(r, "min", n);
    snprintf(n, sizeof n, "%s", number_whole(row->calls).text);
    legacy_put_number(r, "count", n);
    text_put(r->out, "\n", 1);
}

/* Rows in the order of the report; the rows of a set are together. */
struct legacy_listing {
    struct rows rows;
    uint32_t *order;
    uint32_t *first; /* by set: its first place in the order; it ends where the next begins */
    uint32_t *head;  /* by name: its first place in the set at hand, + 1 */
    uint32_t *next;  /* by place: the next one of that name, + 1 */
    uint32_t shown;  /* rows, of all sets */
};

/* Once for all sets: a file may have thousands of them. -1 without memory. */
static int list_rows(struct legacy_listing *l, const struct report *r) {
    struct snapshot *s = r->snapshot;
    if (rows_flat(&l->rows, s, r->options->threads)) {
        return -1;
    }
    rows_drop_groups(&l->rows);
    uint32_t count = l->rows.count;
    const struct stint_row *row = l->rows.row;
    const uint32_t *sorted = report_sort(s, &l->rows, r->options->sort);
    l->order = scratch_array(&s->memory, (size_t)count + 1, sizeof *l->order);
    l->first = scratch_array(&s->memory, (size_t)s->set_count + 2, sizeof *l->first);
    l->head = scratch_array(&s->memory, (size_t)s->site_count + 1, sizeof *l->head);
    l->next = scratch_array(&s->memory, (size_t)count + 1, sizeof *l->next);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < count; ++i) {
        ++l->first[row[i].set + 2];
    }
    for (uint32_t set = 0; set < s->set_count; ++set) {
        l->first[set + 2] += l->first[set + 1];
    }
    for (uint32_t i = 0; i < count; ++i) {
        l->order[l->first[row[sorted[i]].set + 1]++] = sorted[i];
    }
    return 0;
}

/* Sorted, but the rows of one statistic together: the other threads' below the first one. Linear,
 * as there may be a million names. */
static void legacy_put_rows(const struct report *r, struct legacy_listing *l, uint32_t set) {
    const struct report_options *o = r->options;
    uint32_t begin = l->first[set], end = l->first[set + 1];
    for (uint32_t i = end; i-- > begin;) {
        const struct stint_row *row = &l->rows.row[l->order[i]];
        if (row->calls && report_options_want(o, row->name, row->name_length)) {
            l->next[i] = l->head[row->name_id];
            l->head[row->name_id] = i + 1;
        }
    }
    uint32_t shown = 0;
    for (uint32_t i = begin; i < end && (!o->top || shown < o->top); ++i) {
        uint32_t at = l->head[l->rows.row[l->order[i]].name_id];
        if (at != i + 1) {
            continue; /* is printed below an earlier one, or not shown */
        }
        for (; at; at = l->next[at - 1]) {
            legacy_put_row(r, &l->rows.row[l->order[at - 1]], at != i + 1);
        }
        ++shown;
    }
    l->shown += shown;
    for (uint32_t i = begin; i < end; ++i) {
        l->head[l->rows.row[l->order[i]].name_id] = 0;
    }
}

static void put_set(const struct report *r, struct legacy_listing *l, uint32_t set) {
    const char *name = r->snapshot->sets[set];
    legacy_put_prefix(r, 0);
    text_put(r->out, "======= StatSet: [", 18);
    text_name(r->out, name, strlen(name), 0);
    text_put(r->out, "] status ======\n", 16);
    legacy_put_rows(r, l, set);
}

/* The default set always, every other one if there is something in it. -1 without memory. */
static int put_all_sets(const struct report *r, struct legacy_listing *l) {
    struct snapshot *s = r->snapshot;
    unsigned char *has_calls = scratch_array(&s->memory, s->set_count, 1);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->count + n->recursions) {
            has_calls[n->set] = 1;
        }
    }
    for (uint32_t set = 0; set < s->set_count; ++set) {
        if (!set || has_calls[set]) {
            put_set(r, l, set);
        }
    }
    return 0;
}

int report_legacy(const struct report *r) {
    struct legacy_listing l = {.shown = 0};
    if (list_rows(&l, r)) {
        return -1;
    }
    if (r->options->set != REPORT_ALL_SETS) {
        put_set(r, &l, r->options->set);
    } else if (put_all_sets(r, &l)) {
        return -1;
    }
    if (!l.shown && r->options->wanted) {
        text_add(r->out, "(" REPORT_NO_MATCH ")\n");
    }
    return 0;
}

void report_legacy_line(const struct report *r) {
    legacy_put_prefix(r, 0);
    text_put(r->out, "--------------------------------------------------\n", 51);
}

int report_legacy_row(const struct report *r, const char *name) {
    struct rows rows;
    if (rows_flat(&rows, r->snapshot, r->options->threads)) {
        return -1;
    }
    int found = 0;
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *row = &rows.row[i];
        if (row->set == r->options->set && row->calls &&
            name_is(row->name, row->name_length, name)) {
            legacy_put_row(r, row, found);
            found = 1;
        }
    }
    if (found) {
        return 0;
    }
    return -1;
}
