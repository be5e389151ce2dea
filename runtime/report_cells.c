/* SPDX-License-Identifier: Apache-2.0 */
#include "report_cells.h"

#include <stdio.h>
#include <string.h>

#include "config.h"

#define NAME_COLUMNS 60 /* longer names are cut with a mark */
#define INDENT 2

static int numeric(const struct report_column *c) {
    return c->kind != REPORT_TEXT;
}

/* "-" where there is nothing to say: no sample, no histogram, no first call in this interval. */
static void cell(char out[TEXT_NUMBER], const struct stint_row *row,
                 const struct report_column *c) {
    uint64_t v = report_value(row, c);
    int percentile = c->key[0] == 'p';
    int absent = (c->kind != REPORT_COUNT && !row->samples) ||
                 (percentile && !row->has_histogram) || (!strcmp(c->key, "first") && !v);
    if (absent) {
        snprintf(out, TEXT_NUMBER, "-");
    } else if (c->kind == REPORT_COUNT) {
        snprintf(out, TEXT_NUMBER, "%llu", (unsigned long long)v);
    } else if (c->kind == REPORT_SHARE) {
        text_share(out, v);
    } else {
        text_time(out, v, config.unit);
    }
}

static const char *text_of(const struct stint_row *row, const struct report_column *c) {
    return *(const char *const *)(const void *)((const char *)row + c->field);
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

/* The name with indent, set, thread and state; returns the columns used. */
static size_t put_name(const struct report *r, const struct stint_row *row, uint32_t depth) {
    const struct snapshot *s = r->snapshot;
    size_t used = (size_t)depth * INDENT;
    text_spaces(r->out, used);
    used += text_name(r->out, row->name, row->name_length, NAME_COLUMNS);
    if (row->set && r->options->set == REPORT_ALL_SETS) {
        text_put(r->out, " @", 2);
        used += 2 + text_name(r->out, s->sets[row->set], strlen(s->sets[row->set]), 24);
    }
    if (row->thread != SNAPSHOT_NONE) {
        used += put_thread(r, &s->threads[row->thread]);
    }
    if (row->open_ns && !row->samples) {
        text_put(r->out, " (open)", 7);
        used += 7;
    }
    return used;
}

/* The widest cell of each column; the name's by printing and taking back. */
static void measure(const struct report *r, const struct rows *rows,
                    const struct report_line *lines, uint32_t count, size_t *width) {
    char number[TEXT_NUMBER];
    const struct report_column *c;
    for (uint32_t i = 0; (c = report_column(i)); ++i) {
        width[i] = strlen(c->title);
        for (uint32_t l = 0; l < count; ++l) {
            const struct stint_row *row = &rows->row[lines[l].row];
            size_t used = 0, from = r->out->length;
            if (numeric(c)) {
                cell(number, row, c);
                used = strlen(number);
            } else if (!i) {
                used = put_name(r, row, lines[l].depth);
                r->out->length = from;
            }
            width[i] = used > width[i] ? used : width[i];
        }
    }
}

static void put_titles(const struct report *r, unsigned view, const size_t *width) {
    const struct report_column *c;
    for (uint32_t i = 0; (c = report_column(i)); ++i) {
        if (!(c->views & view)) {
            continue;
        }
        if (i) {
            text_spaces(r->out, 2);
        }
        if (numeric(c)) {
            text_spaces(r->out, width[i] - strlen(c->title));
        }
        text_put(r->out, c->title, strlen(c->title));
        if (!i) {
            text_spaces(r->out, width[i] - strlen(c->title));
        }
    }
    text_put(r->out, "\n", 1);
}

static void put_line(const struct report *r, const struct stint_row *row, uint32_t depth,
                     unsigned view, const size_t *width) {
    char number[TEXT_NUMBER];
    const struct report_column *c;
    for (uint32_t i = 0; (c = report_column(i)); ++i) {
        if (!(c->views & view)) {
            continue;
        }
        if (!i) {
            size_t used = put_name(r, row, depth);
            text_spaces(r->out, width[i] - used);
        } else if (numeric(c)) {
            cell(number, row, c);
            text_spaces(r->out, 2 + width[i] - strlen(number));
            text_put(r->out, number, strlen(number));
        } else if (*text_of(row, c)) {
            text_spaces(r->out, 2);
            text_name(r->out, text_of(row, c), strlen(text_of(row, c)), 0);
        }
    }
    text_put(r->out, "\n", 1);
}

int report_cells(const struct report *r, const struct rows *rows, const struct report_line *lines,
                 uint32_t count, unsigned view) {
    uint32_t columns = 0;
    while (report_column(columns)) {
        ++columns;
    }
    size_t *width = scratch_array(&r->snapshot->memory, columns, sizeof *width);
    if (!width) {
        return -1;
    }
    measure(r, rows, lines, count, width);
    put_titles(r, view, width);
    for (uint32_t l = 0; l < count; ++l) {
        put_line(r, &rows->row[lines[l].row], lines[l].depth, view, width);
    }
    return 0;
}
