/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells of the views table and tree. Column widths are measured in a first pass over all rows;
 * on a terminal columns that do not fit are left out from the right and named below, but never the
 * name and the column that the rows are sorted by. Beside that column a terminal has a bar.
 */
#include "report_cells.h"

#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/number.h"
#include "system/config.h"

#define NAME_COLUMNS 60 /* longer names are cut with a mark, */
#define NAME_LEAST 16   /* on a terminal at a third of its width */
#define INDENT 2
#define BAR_COLUMNS 8
#define BAR_TERMINAL 60 /* columns of a terminal; a narrower one has no bar */

static int column_is_number(const struct report_column *c) {
    return c->kind != REPORT_TEXT;
}

static int has_all(const struct stint_row *row, const struct report_column *c) {
    return !(c->needs & ~row->has);
}

/* The sign before a number that is a bound; "~": a share whose parts are both incomplete. */
static const char *cell_bound(uint64_t bounds) {
    switch (bounds & (ROW_AT_MOST | ROW_PARTIAL)) {
    case ROW_AT_MOST:
        return "<=";
    case ROW_PARTIAL:
        return ">=";
    case 0:
        return "";
    default:
        return "~";
    }
}

static void cell_mark(char out[TEXT_NUMBER], const char *mark) {
    size_t marks = strlen(mark);
    size_t length = strnlen(out, TEXT_NUMBER - 1 - marks);
    memmove(out + marks, out, length);
    memcpy(out, mark, marks);
    out[length + marks] = '\0';
}

/* "-" where there is nothing to say: no sample, no histogram, no first call in this interval. */
static void cell_format(const struct report *r, char out[TEXT_NUMBER], const struct stint_row *row,
                        const struct report_column *c) {
    u128 v = report_value(row, c);
    int is_unknown = row_is_unknown(row, c->field);
    if (!has_all(row, c)) {
        snprintf(out, TEXT_NUMBER, "-");
    } else if (c->kind == REPORT_COUNT) {
        snprintf(out, TEXT_NUMBER, "%s", number_whole(v).text);
    } else if (is_unknown) {
        snprintf(out, TEXT_NUMBER, "n/a");
    } else if (c->kind == REPORT_SHARE) {
        text_share(out, u128_narrow(v));
    } else if (c->kind == REPORT_RATE) {
        text_rate(out, u128_narrow(v));
    } else if (c->kind == REPORT_RATIO) {
        snprintf(out, TEXT_NUMBER, "%s", number_fixed((double)v / 1e6, 2).text);
    } else if (c->kind == REPORT_SIZE) {
        text_bytes(out, v);
    } else {
        text_time_or_more(r->out, out, v, row_is_beyond(row, c->field), config.unit);
    }
    if (!has_all(row, c)) {
        return;
    }
    if (row->has & c->mark) {
        cell_mark(out, "~");
    }
    if (!is_unknown) {
        cell_mark(out, cell_bound(row->has & c->bound));
    }
}

/* Returns the columns used. For a column of text other than the name. */
static size_t cell_put_text(const struct report *r, const struct stint_row *row,
                            const struct report_column *c) {
    const char *text = "-";
    if (has_all(row, c)) {
        text = report_text(row, c);
    }
    return text_name(r->out, text, strlen(text), 0);
}

/* A recorder serves one thread after the other: its row says how many more than the last. */
static size_t put_thread(const struct report *r, const struct snapshot_thread *t) {
    size_t from = r->out->length;
    if (t->uses < 2) {
        text_add(r->out, t->alive ? " [%u]" : " [%u, ended]", t->tid);
    } else if (t->alive) {
        text_add(r->out, " [%u and %u ended]", t->tid, t->uses - 1);
    } else {
        text_add(r->out, " [%u ended]", t->uses);
    }
    return r->out->length - from;
}

static size_t cell_name_columns(const struct report_options *o) {
    size_t part = o->width / 3;
    if (!o->width) {
        return NAME_COLUMNS;
    }
    return u64_clamp(part, NAME_LEAST, NAME_COLUMNS);
}

/* Up to the width of a name; a deeper row is indented as far and begins with its depth. A recursion
 * over names made at run time, or a hostile file, would else fill lines with blanks. */
static size_t put_indent(const struct report *r, uint32_t depth) {
    size_t most = cell_name_columns(r->options) / INDENT * INDENT, wanted = (size_t)depth * INDENT;
    size_t from = r->out->length;
    text_spaces(r->out, u64_min(wanted, most));
    if (wanted > most) {
        text_add(r->out, "[%u] ", depth);
    }
    return r->out->length - from;
}

/* The name with indent, set, thread and state; returns the columns used. */
static size_t cell_put_name(const struct report *r, const struct stint_row *row, uint32_t depth) {
    const struct snapshot *s = r->snapshot;
    size_t used = put_indent(r, depth);
    used += text_name(r->out, row->name, row->name_length, cell_name_columns(r->options));
    if (row->set && r->options->set == REPORT_ALL_SETS) {
        text_put(r->out, " @", 2);
        used += 2 + text_name(r->out, s->sets[row->set], strlen(s->sets[row->set]), 24);
    }
    if (row->thread != SNAPSHOT_NONE) {
        used += put_thread(r, &s->threads[row->thread]);
    }
    if (row->extra->open_ns && !row->samples) {
        text_put(r->out, " (open)", 7);
        used += 7;
    }
    if (row->has & ROW_ON_CPU && row->extra->mostly_waits) {
        size_t from = r->out->length;
        text_add(r->out, " (waits, %llu %% CPU)",
                 (unsigned long long)row->extra->on_cpu_ppm / 10000);
        used += r->out->length - from;
    }
    return used;
}

/* Width of a cell. */
static size_t cell_measure(const struct report *r, const struct stint_row *row, uint32_t depth,
                           uint32_t column) {
    char number[TEXT_NUMBER];
    const struct report_column *c = report_column(column);
    size_t used, from = r->out->length;
    if (column_is_number(c)) {
        cell_format(r, number, row, c);
        return text_columns(number);
    }
    if (column) { /* by printing and taking back */
        used = cell_put_text(r, row, c);
    } else {
        used = cell_put_name(r, row, depth);
    }
    r->out->length = from;
    return used;
}

/* "-", "n/a" and every zero: dim on a terminal with colours. */
static int cell_says_nothing(const char *number) {
    return !strpbrk(number, "123456789");
}

/* The columns of the table at hand. */
struct cells {
    uint32_t columns;
    size_t *width;    /* 0: not shown */
    uint8_t *dropped; /* for lack of room */
    int bar;          /* to the right of the column that the rows are sorted by */
    u128 largest;     /* value of that column */
};

/* The value that the rows are sorted by; 0 of a row that has none. */
static u128 cell_sort_value(const struct report *r, const struct stint_row *row) {
    const struct report_column *c = report_column(r->options->sort);
    return row_knows(row, c->field, c->needs) ? report_value(row, c) : 0;
}

/* Cells of a line and titles: two spaces between them, and none at its
 * end. owed: spaces that the next cell puts in front of it. */
static void cell_put_number(const struct report *r, const char *number, int bold, size_t width,
                            size_t *owed) {
    const char *look = "";
    if (r->options->colour && bold) {
        look = "\x1b[1m";
    }
    if (r->options->colour && cell_says_nothing(number)) {
        look = "\x1b[2m";
    }
    text_spaces(r->out, *owed + width - text_columns(number));
    text_add(r->out, "%s%s", look, number);
    if (*look) {
        text_add(r->out, "\x1b[0m");
    }
    *owed = 2;
}

/* A tenth of the largest and more are bold. */
static int cell_is_large(const struct cells *cells, u128 value) {
    return value && value >= cells->largest / 10;
}

/* Half columns are drawn, too, where the locale has the characters. */
static void cell_put_bar(const struct report *r, const struct cells *cells, u128 value,
                         size_t *owed) {
    double part = 0;
    if (cells->largest) {
        part = (double)value / (double)cells->largest;
    }
    unsigned halves = (unsigned)(part * 2 * BAR_COLUMNS + 0.5);
    unsigned used = 0;
    if (halves > !r->out->utf8) {
        text_spaces(r->out, *owed);
        *owed = 0;
    }
    for (; used < halves / 2; ++used) {
        text_add(r->out, "%s", r->out->utf8 ? "\u2588" : "#");
    }
    if (halves % 2 && r->out->utf8) {
        text_add(r->out, "\u258c");
        ++used;
    }
    *owed += 2 + BAR_COLUMNS - used;
}

static void cells_put_titles(const struct report *r, const struct cells *cells) {
    const size_t *width = cells->width;
    const struct report_column *c;
    size_t owed = 0;
    if (r->options->colour) {
        text_add(r->out, "\x1b[1m");
    }
    for (uint32_t i = 0; (c = report_column(i)); ++i) {
        if (width[i] && column_is_number(c)) {
            text_spaces(r->out, owed + width[i] - strlen(c->title));
            text_put(r->out, c->title, strlen(c->title));
            owed = 2;
        } else if (width[i]) {
            text_spaces(r->out, owed);
            text_put(r->out, c->title, strlen(c->title));
            owed = 2 + width[i] - strlen(c->title);
        }
        if (cells->bar && i == r->options->sort) {
            owed += 2 + BAR_COLUMNS;
        }
    }
    if (r->options->colour) {
        text_add(r->out, "\x1b[0m");
    }
    text_put(r->out, "\n", 1);
}

static void put_line(const struct report *r, const struct stint_row *row, uint32_t depth,
                     const struct cells *cells) {
    char number[TEXT_NUMBER];
    const struct report_column *c;
    const size_t *width = cells->width;
    u128 value = cell_sort_value(r, row);
    size_t owed = 0;
    for (uint32_t i = 0; (c = report_column(i)); ++i) {
        if (width[i] && column_is_number(c)) {
            int sorted = i == r->options->sort;
            cell_format(r, number, row, c);
            cell_put_number(r, number, sorted && cell_is_large(cells, value), width[i], &owed);
            if (sorted && cells->bar) {
                cell_put_bar(r, cells, value, &owed);
            }
        } else if (width[i] && i && !*report_text(row, c) && has_all(row, c)) {
            owed += 2 + width[i];
        } else if (width[i]) {
            text_spaces(r->out, owed);
            owed = 2 + width[i];
            if (i) {
                owed -= cell_put_text(r, row, c);
            } else {
                owed -= cell_put_name(r, row, depth);
            }
        }
    }
    text_end_line(r->out);
}

/* Leaves out columns from the right until they have room. total: the width before. Returns the
 * width after. */
static size_t cells_drop_from_right(const struct report *r, struct cells *cells, size_t total,
                                    int spare_only) {
    size_t *width = cells->width;
    for (uint32_t i = cells->columns; i-- > 1 && total > r->options->width;) {
        if (width[i] && i != r->options->sort && report_column(i)->spare >= spare_only) {
            total -= width[i] + 2;
            width[i] = 0;
            cells->dropped[i] = 1;
        }
    }
    return total;
}

static void cells_drop_columns(const struct report *r, struct cells *cells) {
    size_t *width = cells->width;
    size_t total = 0;
    if (cells->bar) {
        total = 2 + BAR_COLUMNS;
    }
    for (uint32_t i = 0; i < cells->columns; ++i) {
        total += width[i];
        if (width[i] && i) {
            total += 2;
        }
    }
    if (r->options->width) {
        total = cells_drop_from_right(r, cells, total, 1);
        cells_drop_from_right(r, cells, total, 0);
    }
}

static void cells_say_dropped(const struct report *r, const struct cells *cells) {
    const char *before = "(no room for: ";
    for (uint32_t i = 0; i < cells->columns; ++i) {
        if (cells->dropped[i]) {
            text_add(r->out, "%s%s", before, report_column(i)->title);
            before = ", ";
        }
    }
    if (*before == ',') {
        text_put(r->out, ")\n", 2);
    }
}

/* The CPU time of long scopes is read without being asked for: it has a column only if the rows are
 * sorted by it, or other numbers of STINT_RUSAGE are there. */
static int has_all_shown(const struct report *r, const struct stint_row *row,
                         const struct report_column *c) {
    int is_asked = report_column(r->options->sort)->needs & ROW_CPU || row->has & ROW_USAGE;
    return has_all(row, c) && (!(c->needs & ROW_CPU) || is_asked);
}

/* A column that is hidden unless a row has what it needs has the width 0 up to the first such row:
 * cells without are "-", and no title is narrower. */
static void cells_measure_row(const struct report *r, const struct stint_row *row, uint32_t depth,
                              unsigned view, struct cells *cells) {
    for (uint32_t i = 0; i < cells->columns; ++i) {
        const struct report_column *c = report_column(i);
        if (!(c->views & view) || (!cells->width[i] && !has_all_shown(r, row, c))) {
            continue;
        }
        size_t least = u64_max(cells->width[i], strlen(c->title));
        cells->width[i] = u64_max(least, cell_measure(r, row, depth, i));
    }
    cells->largest = u128_max(cells->largest, cell_sort_value(r, row));
}

/* 0, or -1 without memory. */
static int cells_measure(const struct report *r, const struct rows *rows,
                         const struct report_line *lines, uint32_t count, unsigned view,
                         struct cells *cells) {
    const struct report_options *o = r->options;
    memset(cells, 0, sizeof *cells);
    while (report_column(cells->columns)) {
        ++cells->columns;
    }
    cells->width = scratch_array(&r->snapshot->memory, cells->columns, sizeof *cells->width);
    cells->dropped = scratch_array(&r->snapshot->memory, cells->columns, sizeof *cells->dropped);
    if (scratch_failed(&r->snapshot->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < cells->columns; ++i) {
        const struct report_column *c = report_column(i);
        if (c->views & view && !c->hide) {
            cells->width[i] = strlen(c->title);
        }
    }
    for (uint32_t l = 0; l < count; ++l) {
        cells_measure_row(r, &rows->row[lines[l].row], lines[l].depth, view, cells);
    }
    cells->bar = o->bar && cells->width[o->sort] && cells->largest;
    if (o->width && o->width < BAR_TERMINAL) {
        cells->bar = 0;
    }
    cells_drop_columns(r, cells);
    return 0;
}

/* The order of rows without CPU time is not by it. */
static void cells_say_no_cpu_time(const struct report *r, const struct rows *rows,
                                  const struct report_line *lines, uint32_t count) {
    if (!count || !(report_column(r->options->sort)->needs & ROW_CPU)) {
        return;
    }
    for (uint32_t l = 0; l < count; ++l) {
        if (rows->row[lines[l].row].has & ROW_CPU) {
            return;
        }
    }
    text_add(r->out, "(no CPU time: scopes are short, or STINT_WAITS was off or without effect)\n");
}

int report_cells(const struct report *r, const struct rows *rows, const struct report_line *lines,
                 uint32_t count, unsigned view) {
    struct cells cells;
    if (cells_measure(r, rows, lines, count, view, &cells)) {
        return -1;
    }
    cells_put_titles(r, &cells);
    for (uint32_t l = 0; l < count; ++l) {
        put_line(r, &rows->row[lines[l].row], lines[l].depth, &cells);
    }
    cells_say_dropped(r, &cells);
    cells_say_no_cpu_time(r, rows, lines, count);
    return 0;
}
