/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of `stint top`: keeps the rows of the last reading, subtracts them from the next ones,
 * and prints the differences. A second list of the rows is sorted by name and path, so that one
 * pass over both finds the pairs.
 */
#include "top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/hash.h"
#include "base/name.h"
#include "base/number.h"
#include "model/columns.h"
#include "system/config.h"
#include "tool/common/run_view.h"

#define NAME_MIN_COLUMNS 14  /* a narrower name leaves out columns of numbers */
#define NAME_LEAST_COLUMNS 8 /* of the screen; the name column is no narrower */
#define NAME_MAX_COLUMNS 60
#define NAME_GOOD_COLUMNS 30 /* before that percentiles are left out */
#define INDENT 2             /* columns for each scope around a row of a tree */
#define ROWS_LEAST 3         /* before that lines above the table are left out */

#define SUFFIX_BYTES 32u /* " (open)" and " [TID]" */

/* " [TID]" of a row of one thread, and " (open)" of a scope without a sample. */
static size_t format_suffix(char out[SUFFIX_BYTES], const struct snapshot *s,
                            const struct stint_row *r) {
    size_t length = 0;
    out[0] = '\0';
    if (r->thread < s->thread_count) {
        length = (size_t)snprintf(out, SUFFIX_BYTES, " [%u]", s->threads[r->thread].tid);
    }
    if (r->extra->open_ns && !r->samples) {
        length += (size_t)snprintf(out + length, SUFFIX_BYTES - length, " (open)");
    }
    return length;
}

/* The name may contain a NUL. 0, or -1 without memory. */
static int row_set_name(struct top_row *out, const struct snapshot *s, const struct stint_row *r) {
    char suffix[SUFFIX_BYTES];
    const char *set = r->set ? s->sets[r->set] : "";
    size_t set_length = strlen(set), suffix_length = format_suffix(suffix, s, r);
    char *name = malloc(r->name_length + 2 + set_length + suffix_length + 1);
    if (!name) {
        return -1;
    }
    memcpy(name, r->name, r->name_length);
    out->length = r->name_length;
    if (r->set) {
        memcpy(name + out->length, " @", 2);
        memcpy(name + out->length + 2, set, set_length);
        out->length += 2 + set_length;
    }
    out->key_length = out->length;
    memcpy(name + out->length, suffix, suffix_length);
    out->length += suffix_length;
    name[out->length] = '\0';
    out->name = name;
    return 0;
}

static int compare_row_names(const struct top_row *a, const struct top_row *b) {
    int names = name_compare(a->name, a->key_length, b->name, b->key_length);
    if (names) {
        return names;
    }
    if (a->path != b->path) {
        return (a->path > b->path) - (a->path < b->path);
    }
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static int compare_by_name(const void *left, const void *right) {
    struct top_row *const *a = left, *const *b = right;
    return compare_row_names(*a, *b);
}

/* Both are sorted by name. Open scopes count with their time so far: otherwise a call of an hour
 * would add nothing for an hour, and then all of it. */
static void subtract_rows(const struct top_table *now, const struct top_table *then) {
    uint32_t k = 0;
    for (uint32_t i = 0; i < now->count; ++i) {
        static const struct top_row nothing;
        const struct top_row *was = &nothing;
        struct top_row *is = now->by_name[i];
        while (k < then->count && compare_row_names(then->by_name[k], is) < 0) {
            ++k;
        }
        if (k < then->count && !compare_row_names(then->by_name[k], is)) {
            was = then->by_name[k++];
        }
        is->more_calls = u128_subtract(is->calls, was->calls);
        is->more_ns = u128_subtract(is->total_ns + is->open_ns, was->total_ns + was->open_ns);
        is->more_self_ns =
            u128_subtract(is->self_ns + is->open_self_ns, was->self_ns + was->open_self_ns);
        is->more_mallocs = u128_subtract(is->mallocs, was->mallocs);
        is->more_malloc_bytes = u128_subtract(is->malloc_bytes, was->malloc_bytes);
    }
}

/* By row: 1 if it is wanted, or 2 if it is only around one that is. */
static void choose_rows(unsigned char *chosen, const struct rows *rows,
                        const struct top_rows *which) {
    for (uint32_t i = rows->count; i-- > 0;) { /* children before parents */
        const struct stint_row *r = &rows->row[i];
        if (!which->wanted || which->wanted(r->name, r->name_length)) {
            chosen[i] = 1;
        }
        if (which->tree && chosen[i] && r->parent < i && !chosen[r->parent]) {
            chosen[r->parent] = 2;
        }
    }
}

static struct top_row top_row_of(const struct stint_row *r) {
    return (struct top_row){.calls = r->calls,
                            .total_ns = r->total_ns,
                            .self_ns = r->self_ns,
                            .open_ns = r->extra->open_all_ns,
                            .open_self_ns = r->extra->open_self_ns,
                            .age_ns = r->extra->open_ns,
                            .thread = r->thread,
                            .parent = SNAPSHOT_NONE,
                            .has_memory = (r->has & ROW_MEMORY) != 0,
                            .mallocs = r->extra->measure[MEASURE_MALLOCS],
                            .malloc_bytes = r->extra->measure[MEASURE_MALLOC_BYTES],
                            .live_bytes = r->extra->memory_live};
}

/* The parent is in the table already. */
static void row_set_parent(struct top_row *out, const struct top_table *t, uint32_t parent) {
    if (parent >= t->count) {
        return;
    }
    const struct top_row *p = &t->row[parent];
    out->parent = parent;
    out->depth = p->depth + 1;
    out->path = hash_add(p->path, hash_bytes(p->name, p->key_length));
}

/* Copies those that are wanted. place: by row, its index in the table. */
static int copy_rows(struct top_table *t, struct snapshot *s, const struct rows *rows,
                     const struct top_rows *which, unsigned char *chosen, uint32_t *place) {
    choose_rows(chosen, rows, which);
    for (uint32_t i = 0; i < rows->count; ++i) {
        const struct stint_row *r = &rows->row[i];
        if (!chosen[i]) {
            continue;
        }
        struct top_row *out = &t->row[t->count];
        *out = top_row_of(r);
        out->source = i;
        t->has_memory |= out->has_memory;
        if (which->tree && r->parent < i) {
            row_set_parent(out, t, place[r->parent]);
        }
        if (row_set_name(out, s, r)) {
            return -1;
        }
        t->by_name[t->count] = out;
        place[i] = t->count++;
    }
    return 0;
}

static int rows_read(struct rows *rows, struct snapshot *s, const struct top_rows *which) {
    uint32_t *row_of;
    if (which->tree) {
        return rows_tree_of(rows, s, which->each_thread, &row_of);
    }
    return rows_flat(rows, s, which->each_thread);
}

/* A table without its head; freed if it fails. */
static int table_read(struct top_table *t, struct snapshot *s, const struct top_rows *which) {
    struct rows rows;
    memset(t, 0, sizeof *t);
    t->tree = which->tree;
    t->filtered = which->wanted != NULL;
    if (rows_read(&rows, s, which)) {
        return -1;
    }
    size_t count = (size_t)rows.count + 1;
    unsigned char *chosen = scratch_array(&s->memory, count, 1);
    uint32_t *place = scratch_array(&s->memory, count, sizeof *place);
    t->row = calloc(count, sizeof *t->row);
    t->by_name = calloc(count, sizeof(struct top_row *));
    if (!scratch_failed(&s->memory) && t->row && t->by_name &&
        !copy_rows(t, s, &rows, which, chosen, place)) {
        qsort(t->by_name, t->count, sizeof(struct top_row *), compare_by_name);
        return 0;
    }
    top_table_free(t);
    return -1;
}

static void table_describe(struct top_table *t, const struct run *r) {
    char wall[TEXT_NUMBER], state[128];
    struct text name;
    const struct snapshot *s = &r->snapshot;
    const char *bound = s->wall_at_least ? "at least " : "";
    text_time(wall, s->wall_ns, CONFIG_UNIT_AUTO);
    run_view_state(state, sizeof state, r);
    state[strcspn(state, ":")] = '\0';
    const char *program = text_or_unknown(r->program);
    text_start(&name);
    text_name(&name, program, strlen(program), 40);
    snprintf(t->head, sizeof t->head, "stint top: %.*s, %s, %s%s wall", (int)name.length,
             name.data ? name.data : "", state, bound, wall);
    text_free(&name);
    t->lost = 0;
    t->open = 0;
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        t->lost += s->lost[i];
    }
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        t->open += s->threads[i].open_count;
    }
}

int top_table_look(struct top_table *t, struct run *r, const struct top_rows *which) {
    struct top_table now;
    if (table_read(&now, &r->snapshot, which)) {
        return -1;
    }
    if (top_percentiles_read(&now, t, r, which->each_thread)) {
        top_table_free(&now);
        return -1;
    }
    subtract_rows(&now, t);
    now.wall_ns = r->snapshot.wall_ns;
    now.more_wall_ns = saturating_subtract(now.wall_ns, t->wall_ns);
    table_describe(&now, r);
    top_table_free(t);
    *t = now;
    return 0;
}

void top_table_free(struct top_table *t) {
    for (uint32_t i = 0; i < t->count; ++i) {
        free(t->row[i].name);
    }
    free(t->row);
    free(t->by_name);
    top_percentiles_free(t);
    memset(t, 0, sizeof *t);
}

/* ---- Printing. */

static const char *const sort_names[TOP_SORTS] = {"time", "self", "calls", "total"};

const char *top_sort_name(enum top_sort sort) {
    return sort_names[sort];
}

static u128 added_value(const struct top_row *r, enum top_sort sort) {
    switch (sort) {
    case TOP_BY_SELF:
        return r->more_self_ns;
    case TOP_BY_CALLS:
        return r->more_calls;
    case TOP_BY_TOTAL:
        return r->total_ns + r->open_ns;
    default:
        return r->more_ns;
    }
}

static int compare_added(const void *left, const void *right) {
    const struct top_order *first = left, *second = right;
    const struct top_row *a = first->row, *b = second->row;
    if (first->value != second->value) {
        return (first->value < second->value) - (first->value > second->value);
    }
    if (a->more_ns != b->more_ns) {
        return (a->more_ns < b->more_ns) - (a->more_ns > b->more_ns);
    }
    if (a->more_calls != b->more_calls) {
        return (a->more_calls < b->more_calls) - (a->more_calls > b->more_calls);
    }
    return compare_row_names(a, b);
}

/* Right-aligned in `width`, after two spaces. */
static void put_top_cell(struct text *t, const char *number, size_t width) {
    text_spaces(t, 2 + (size_t)saturating_subtract(width, text_columns(number)));
    text_add(t, "%s", number);
}

enum top_column {
    TOP_CALLS_PER_S,
    TOP_TIME_SHARE,
    TOP_SELF_SHARE,
    TOP_AVG,
    TOP_CALLS,
    TOP_TOTAL,
    TOP_P50,
    TOP_P99,
    TOP_RUN_P50,
    TOP_RUN_P99,
    TOP_LIVE,
    TOP_BYTES_PER_S,
    TOP_MALLOCS_PER_S,
    TOP_COLUMNS
};

enum top_need { TOP_ALWAYS, TOP_WITH_MEMORY, TOP_WITH_PERCENTILES }; /* the last go first */

/* In the order in which they are printed. */
static const struct {
    const char *title;
    size_t width;
    enum top_need need;
} top_columns[TOP_COLUMNS] = {{"calls/s", 10, TOP_ALWAYS},
                              {"% time", 7, TOP_ALWAYS},
                              {"% self", 7, TOP_ALWAYS},
                              {"avg", 9, TOP_ALWAYS},
                              {"calls", 10, TOP_ALWAYS},
                              {"total", 9, TOP_ALWAYS},
                              {"p50", 9, TOP_WITH_PERCENTILES},
                              {"p99", 9, TOP_WITH_PERCENTILES},
                              {"run p50", 9, TOP_WITH_PERCENTILES},
                              {"run p99", 9, TOP_WITH_PERCENTILES},
                              {"live", 9, TOP_WITH_MEMORY},
                              {"bytes/s", 9, TOP_WITH_MEMORY},
                              {"mallocs/s", 9, TOP_WITH_MEMORY}};

static int table_has(const struct top_table *t, enum top_need need) {
    switch (need) {
    case TOP_WITH_PERCENTILES:
        return t->has_percentiles;
    case TOP_WITH_MEMORY:
        return t->has_memory;
    default:
        return 1;
    }
}

/* Returns the column that the rows are sorted by. */
static enum top_column sorted_column(enum top_sort sort) {
    switch (sort) {
    case TOP_BY_SELF:
        return TOP_SELF_SHARE;
    case TOP_BY_CALLS:
        return TOP_CALLS_PER_S;
    case TOP_BY_TOTAL:
        return TOP_TOTAL;
    default:
        return TOP_TIME_SHARE;
    }
}

/* The columns at hand: the names and, in `shown`, a bit for each other column. */
struct top_widths {
    size_t name;
    unsigned shown;
};

/* Leaves out columns from the right until there is room for them and a name of `name` columns; the
 * one of the order stays. numbers: their width before. Returns the width after. */
static size_t leave_out_columns(struct top_widths *w, size_t numbers, size_t name,
                                enum top_need from, const struct top_table_form *form) {
    for (unsigned i = TOP_COLUMNS; i-- > 0 && numbers + name > form->width;) {
        int is_shown = w->shown >> i & 1 && top_columns[i].need >= from;
        if (is_shown && i != (unsigned)sorted_column(form->sort)) {
            w->shown &= ~(1u << i);
            numbers -= 2 + top_columns[i].width;
        }
    }
    return numbers;
}

/* Percentiles are left out first: a narrow terminal has the columns that tell more. */
static struct top_widths measure_top_columns(const struct top_table *t,
                                             const struct top_table_form *form) {
    struct top_widths w = {NAME_MAX_COLUMNS, 0};
    size_t numbers = 0;
    for (unsigned i = 0; i < TOP_COLUMNS; ++i) {
        if (table_has(t, top_columns[i].need)) {
            w.shown |= 1u << i;
            numbers += 2 + top_columns[i].width;
        }
    }
    if (!form->width) {
        return w;
    }
    numbers = leave_out_columns(&w, numbers, NAME_GOOD_COLUMNS, TOP_WITH_PERCENTILES, form);
    numbers = leave_out_columns(&w, numbers, NAME_MIN_COLUMNS, TOP_ALWAYS, form);
    w.name = (size_t)u64_clamp(saturating_subtract(form->width, numbers), NAME_LEAST_COLUMNS,
                               NAME_MAX_COLUMNS);
    return w;
}

static void format_top_percentile(const struct text *t, char out[TEXT_NUMBER],
                                  const struct top_row *r, enum top_percentile which) {
    if (r->percentile[which].known) {
        text_time_or_more(t, out, r->percentile[which].ns, r->percentile[which].or_more,
                          CONFIG_UNIT_AUTO);
    }
}

static void format_top_cell(const struct text *t, char out[TEXT_NUMBER], const struct top_row *r,
                            double per_s, enum top_column column) {
    snprintf(out, TEXT_NUMBER, "-");
    if (top_columns[column].need == TOP_WITH_MEMORY && !r->has_memory) {
        return;
    }
    switch (column) {
    case TOP_P50:
    case TOP_P99:
    case TOP_RUN_P50:
    case TOP_RUN_P99:
        format_top_percentile(t, out, r, (enum top_percentile)(column - TOP_P50));
        break;
    case TOP_CALLS_PER_S:
        snprintf(out, TEXT_NUMBER, "%s", number_short((double)r->more_calls * per_s, 4).text);
        break;
    case TOP_TIME_SHARE:
        snprintf(out, TEXT_NUMBER, "%s", number_fixed((double)r->more_ns / 1e7 * per_s, 1).text);
        break;
    case TOP_SELF_SHARE:
        snprintf(out, TEXT_NUMBER, "%s",
                 number_fixed((double)r->more_self_ns / 1e7 * per_s, 1).text);
        break;
    case TOP_AVG:
        if (r->more_calls) {
            text_time(out, r->more_ns / r->more_calls, CONFIG_UNIT_AUTO);
        }
        break;
    case TOP_CALLS:
        snprintf(out, TEXT_NUMBER, "%s", number_whole(r->calls).text);
        break;
    case TOP_TOTAL:
        /* A scope without a sample shows its age: its total is still 0. */
        text_time(out, r->total_ns ? r->total_ns : r->age_ns, CONFIG_UNIT_AUTO);
        break;
    case TOP_LIVE:
        text_bytes(out, r->live_bytes);
        break;
    case TOP_BYTES_PER_S:
        text_bytes(out, snapshot_sum_whole((double)r->more_malloc_bytes * per_s));
        break;
    default:
        snprintf(out, TEXT_NUMBER, "%s", number_short((double)r->more_mallocs * per_s, 4).text);
    }
}

static void put_top_row(struct text *t, const struct top_row *r, const struct top_table *table,
                        const struct top_widths *w) {
    char n[TEXT_NUMBER];
    double wall_s = (double)table->more_wall_ns / 1e9, per_s = 0;
    if (wall_s > 0) {
        per_s = 1 / wall_s;
    }
    size_t indent = (size_t)u64_min(INDENT * (uint64_t)r->depth, w->name / 2);
    text_spaces(t, indent);
    size_t used = indent + text_name(t, r->name, r->length, w->name - indent);
    text_spaces(t, (size_t)saturating_subtract(w->name, used));
    for (unsigned i = 0; i < TOP_COLUMNS; ++i) {
        if (w->shown >> i & 1) {
            format_top_cell(t, n, r, per_s, (enum top_column)i);
            put_top_cell(t, n, top_columns[i].width);
        }
    }
    text_put(t, "\n", 1);
}

/* The lines of a screen. */
struct top_lines {
    uint32_t rows;
    int head, interval, keys;
};

/* On a low screen the lines above the table give way to its rows, what is typed last. */
static struct top_lines choose_top_lines(const struct top_table_form *form) {
    struct top_lines l = {form->rows, 1, 1, *form->keys != '\0'};
    if (!form->height) {
        return l;
    }
    uint64_t left = saturating_subtract(form->height, 1 + ROWS_LEAST); /* 1: the titles */
    l.keys = l.keys && (left > 1 || (form->typing && left));
    left -= (uint64_t)l.keys;
    l.head = left > 0;
    left -= (uint64_t)l.head;
    l.interval = left > 0;
    uint32_t above = 1 + (uint32_t)(l.keys + l.head + l.interval);
    l.rows = (uint32_t)u64_min(form->rows, saturating_subtract(form->height, above));
    return l;
}

static void put_top_head(struct text *t, const struct top_table *table,
                         const struct top_lines *lines, const struct top_widths *w,
                         const struct top_table_form *form) {
    char more[TEXT_NUMBER];
    if (lines->head) {
        text_add(t, "%s\n", table->head);
    }
    if (lines->interval) {
        text_time(more, table->more_wall_ns, CONFIG_UNIT_AUTO);
        text_add(t, "the last %s of it, %u open scope%s, %llu lost\n", more, table->open,
                 text_plural(table->open), (unsigned long long)table->lost);
    }
    if (lines->keys) {
        text_add(t, "%s\n", form->keys);
    }
    if (form->colour) {
        text_add(t, "\x1b[1m");
    }
    text_add(t, "%-*s", (int)w->name, "name");
    for (unsigned i = 0; i < TOP_COLUMNS; ++i) {
        if (w->shown >> i & 1) {
            put_top_cell(t, top_columns[i].title, top_columns[i].width);
        }
    }
    if (form->colour) {
        text_add(t, "\x1b[0m");
    }
    text_put(t, "\n", 1);
}

int top_table_print(struct text *out, const struct top_table *t,
                    const struct top_table_form *form) {
    struct top_order *order = malloc(((size_t)t->count + 1) * sizeof *order);
    struct top_widths widths = measure_top_columns(t, form);
    struct top_lines lines = choose_top_lines(form);
    if (!order) {
        return -1;
    }
    for (uint32_t i = 0; i < t->count; ++i) {
        order[i] = (struct top_order){&t->row[i], added_value(&t->row[i], form->sort)};
    }
    qsort(order, t->count, sizeof *order, compare_added);
    int64_t rows = (int64_t)u64_min(t->count, lines.rows);
    if (t->tree) {
        rows = top_tree_arrange(order, t, lines.rows);
    }
    put_top_head(out, t, &lines, &widths, form);
    for (int64_t i = 0; i < rows; ++i) {
        put_top_row(out, order[i].row, t, &widths);
    }
    if (!t->count && t->filtered) {
        text_add(out, "(" REPORT_NO_MATCH ")\n");
    }
    free(order);
    return rows < 0 ? -1 : 0;
}
