/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of all threads for the HTML export; called by export_html.c. Of a large tree, paths
 * below a share of the time (0.01 % at first) are folded into one "(n more)" under the path that
 * contains them. Intervals overlap scopes: they are in the table only.
 */
#include <stdio.h>

#include "base/arithmetic.h"
#include "export/export_columns.h"
#include "export_html.h"

#define FOLD 10000u /* of the time */

struct tree {
    struct rows rows;
    u128 *time;       /* of a row: its time, open calls included; at count: the roots' sum */
    uint32_t *number; /* of a row in the page; SNAPSHOT_NONE: folded */
    uint32_t *into;   /* of a folded row: the row that it is folded into, or count */
    struct fold {
        u128 calls, time;
        uint64_t paths;
    } * folds; /* by row, at count: of the roots */
    uint32_t kept;
    uint32_t paths;
};

static int row_is_path(const struct rows *rows, uint32_t row) {
    return rows->row[row].kind == STINT_IMPL_SCOPE_NODE;
}

static uint32_t row_parent(const struct rows *rows, uint32_t row) {
    uint32_t parent = rows->row[row].parent;
    return parent < row ? parent : rows->count; /* the count: the root of all */
}

static int html_tree_start(struct tree *t, struct snapshot *s) {
    struct rows *rows = &t->rows;
    if (rows_tree(rows, s)) {
        return -1;
    }
    size_t count = (size_t)rows->count + 1;
    t->time = scratch_array(&s->memory, count, sizeof *t->time);
    t->number = scratch_array(&s->memory, count, sizeof *t->number);
    t->into = scratch_array(&s->memory, count, sizeof *t->into);
    t->folds = scratch_array(&s->memory, count, sizeof *t->folds);
    u128 *inside = scratch_array(&s->memory, count, sizeof *inside);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = rows->count; i-- > 0;) {
        u128 own = 0;
        if (row_is_path(rows, i)) {
            own = rows->row[i].total_ns + rows->row[i].extra->open_ns;
        }
        t->time[i] = u128_max(own, inside[i]);
        inside[row_parent(rows, i)] += t->time[i];
    }
    t->time[rows->count] = inside[rows->count];
    return 0;
}

/* Numbers the rows that are shown. */
static void tree_choose_rows(struct tree *t, u128 least) {
    const struct rows *rows = &t->rows;
    t->kept = t->paths = 0;
    for (uint32_t i = 0; i < rows->count; ++i) {
        uint32_t parent = row_parent(rows, i);
        int folded = parent != rows->count && t->number[parent] == SNAPSHOT_NONE;
        t->paths += row_is_path(rows, i) != 0;
        if (folded || t->time[i] < least || !row_is_path(rows, i)) {
            t->number[i] = SNAPSHOT_NONE;
            t->into[i] = folded ? t->into[parent] : parent;
        } else {
            t->number[i] = t->kept++;
        }
    }
}

/* A fold counts all of its paths, and the time and calls of the uppermost ones. */
static void tree_fold_rows(struct tree *t) {
    const struct rows *rows = &t->rows;
    for (uint32_t i = 0; i < rows->count; ++i) {
        if (t->number[i] == SNAPSHOT_NONE && row_is_path(rows, i)) {
            struct fold *to = &t->folds[t->into[i]];
            to->paths += 1;
            if (t->into[i] == row_parent(rows, i)) {
                to->calls += rows->row[i].calls;
                to->time += t->time[i];
            }
        }
    }
}

static void tree_put_parent(struct sink *out, const struct tree *t, uint32_t parent) {
    if (parent == t->rows.count) {
        sink_text(out, ",\"parent\":-1");
    } else {
        sink_member_u64(out, "parent", t->number[parent]);
    }
}

static void tree_put_row(struct html *h, const struct tree *t, uint32_t row) {
    const struct stint_row *r = &t->rows.row[row];
    struct export_name name = export_row_name(r);
    sink_text(h->out, "{\"name\":");
    sink_json(h->out, name.bytes, name.length);
    html_text(h->out, "set", export_set(&h->run->snapshot, r));
    tree_put_parent(h->out, t, row_parent(&t->rows, row));
    sink_member_u128(h->out, "calls", r->calls);
    sink_member_u128(h->out, "total_ns", r->total_ns);
    sink_member_u128(h->out, "self_ns", r->self_ns);
    sink_member_u64(h->out, "open_ns", r->extra->open_ns);
    sink_put(h->out, "}", 1);
}

static void tree_put_fold(struct html *h, const struct tree *t, uint32_t parent) {
    const struct fold *f = &t->folds[parent];
    sink_text(h->out, "{\"name\":\"(");
    sink_u64(h->out, f->paths);
    sink_text(h->out, " more)\",\"set\":\"\"");
    tree_put_parent(h->out, t, parent);
    sink_member_u64(h->out, "folded", f->paths);
    sink_member_u128(h->out, "calls", f->calls);
    sink_member_u128(h->out, "total_ns", f->time);
    sink_text(h->out, ",\"self_ns\":0,\"open_ns\":0}");
}

int html_tree(struct html *h) {
    struct tree t;
    if (html_tree_start(&t, &h->run->snapshot)) {
        return -1;
    }
    const struct rows *rows = &t.rows;
    u128 least = 0;
    if (rows->count > HTML_WHOLE_TREE) {
        least = t.time[rows->count] / FOLD;
    }
    tree_choose_rows(&t, least);
    while (t.kept > HTML_PATHS) {
        least = u128_max(least * 2, 1);
        tree_choose_rows(&t, least);
    }
    tree_fold_rows(&t);
    sink_text(h->out, ",\n\"tree\":[");
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows->count; ++i) {
        if (t.number[i] != SNAPSHOT_NONE) {
            export_start_item(h->out, n++);
            tree_put_row(h, &t, i);
        }
    }
    for (uint32_t i = 0; i <= rows->count; ++i) {
        if (t.folds[i].paths) {
            export_start_item(h->out, n++);
            tree_put_fold(h, &t, i);
        }
    }
    sink_put(h->out, "]", 1);
    if (t.kept < t.paths) {
        html_thinned(h, "Calls: the %u of %u paths with the most time. ", t.kept, t.paths);
    }
    return 0;
}
