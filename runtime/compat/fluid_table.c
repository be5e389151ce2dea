/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Event Summary of the fluid report: its rows in the order that the options request, with the
 * names and columns of PaddlePaddle's profiler, whose layout scripts rely on.
 */
#include <string.h>

#include "base/arithmetic.h"
#include "base/number.h"
#include "base/order.h"
#include "fluid_report.h"

#define NAME_MORE 8 /* columns after the longest name, */
#define NAME_GAP 2  /* and at least these after one that is indented deep */
#define INDENT 2
#define DEPTH                                                                                      \
    STINT_IMPL_DEPTH /* the tree of an untrusted file may be deeper; it is not indented further */
#define FLUID_NAME_BYTES 1000u /* likewise: no recorder keeps more */

/* ---- Names of rows. */

static size_t fluid_put_prefix(const struct fluid_page *p, uint32_t thread) {
    size_t from = p->r->out->length;
    if (p->ordinal && thread < p->f->snapshot->thread_count) {
        text_add(p->r->out, "thread%u::", p->ordinal[thread]);
    } else if (p->ordinal) {
        text_add(p->r->out, "thread?::");
    }
    return p->r->out->length - from;
}

static size_t put_component(const struct fluid_page *p, uint32_t tree) {
    const struct fluid_sheet *f = p->f;
    const struct stint_row *row = &f->rows.row[tree];
    struct text *out = p->r->out;
    if (f->scope[tree].number != SNAPSHOT_NONE) {
        size_t used = put_component(p, row->parent), from = out->length;
        text_add(out, "%u", f->scope[tree].number);
        return used + out->length - from;
    }
    uint32_t length = FLUID_NAME_BYTES;
    if (row->name_length < FLUID_NAME_BYTES) {
        length = row->name_length;
    }
    size_t used = text_name(out, row->name, length, 0);
    if (row->set && p->r->options->set == REPORT_ALL_SETS) {
        const char *set = f->snapshot->sets[row->set];
        text_put(out, " @", 2);
        used += 2 + text_name(out, set, strlen(set), 24);
    }
    return used;
}

static size_t put_scope(const struct fluid_page *p, const struct fluid_row *row) {
    const struct fluid_scope *scope = p->f->scope;
    uint32_t first = row->tree;
    if (scope[row->tree].inner) {
        first = p->f->rows.row[row->tree].parent;
    }
    int outermost = !scope[first].row;
    if (scope[first].shown) {
        outermost = p->f->row[scope[first].row - 1].parent == SNAPSHOT_NONE;
    }
    size_t used = 0;
    if (outermost) {
        used = fluid_put_prefix(p, row->thread);
    }
    used += put_component(p, first);
    if (first != row->tree) {
        text_put(p->r->out, "/", 1);
        used += 1 + put_component(p, row->tree);
    }
    return used;
}

/* The columns used. */
static size_t fluid_put_name(const struct fluid_page *p, const struct fluid_row *row) {
    if (row->tree != SNAPSHOT_NONE) {
        return put_scope(p, row);
    }
    size_t used = 0;
    if (row->parent == SNAPSHOT_NONE) {
        used = fluid_put_prefix(p, row->thread);
    }
    size_t from = p->r->out->length;
    text_add(p->r->out, "GpuMemcpy%s%s%s", row->async ? "Async" : "Sync",
             row->way == FLUID_SAME_GPU ? "" : ":", fluid_ways[row->way]);
    return used + p->r->out->length - from;
}

/* ---- The table. */

static void fluid_put_titles(const struct fluid_page *p) {
    struct text *out = p->r->out;
    size_t owed = 0;
    fluid_section(out, "       Event Summary       ");
    fluid_cell(out, &owed, p->name, "Event");
    fluid_cell(out, &owed, FLUID_CELL, "Calls");
    fluid_cell(out, &owed, FLUID_CELL, "Total");
    if (p->r->options->fluid.state == FLUID_ALL) {
        fluid_cell(out, &owed, FLUID_CELL_TWO, "CPU Time (Ratio)");
        fluid_cell(out, &owed, FLUID_CELL_TWO, "GPU Time (Ratio)");
    }
    fluid_cell(out, &owed, FLUID_CELL, "Min.");
    fluid_cell(out, &owed, FLUID_CELL, "Max.");
    fluid_cell(out, &owed, FLUID_CELL, "Ave.");
    fluid_cell(out, &owed, FLUID_CELL, "Ratio.");
    text_put(out, "\n", 1);
}

static void fluid_put_row(const struct fluid_page *p, const struct fluid_row *row, uint32_t depth) {
    struct text *out = p->r->out;
    text_spaces(out, (size_t)depth * INDENT);
    size_t owed = p->name - (size_t)depth * INDENT;
    owed -= fluid_put_name(p, row);
    fluid_cell(out, &owed, FLUID_CELL, "%s", number_whole(row->calls).text);
    fluid_cell(out, &owed, FLUID_CELL, "%s", number_short(fluid_ms(row->total), 6).text);
    if (p->r->options->fluid.state == FLUID_ALL) {
        double all = 1;
        if (row->total > 0) {
            all = row->total;
        }
        fluid_cell(out, &owed, FLUID_CELL_TWO, "%s (%s)", number_fixed(fluid_ms(row->cpu), 6).text,
                   number_fixed(row->cpu / all, 6).text);
        fluid_cell(out, &owed, FLUID_CELL_TWO, "%s (%s)", number_fixed(fluid_ms(row->gpu), 6).text,
                   number_fixed(row->gpu / all, 6).text);
    }
    fluid_cell(out, &owed, FLUID_CELL, "%s", number_short(fluid_ms(row->min), 6).text);
    fluid_cell(out, &owed, FLUID_CELL, "%s", number_short(fluid_ms(row->max), 6).text);
    fluid_cell(out, &owed, FLUID_CELL, "%s", number_short(fluid_ms(row->ave), 6).text);
    fluid_cell(out, &owed, FLUID_CELL, "%s", number_short(row->ratio, 6).text);
    text_put(out, "\n", 1);
}

static double fluid_row_key(const struct fluid_row *r, enum fluid_key key) {
    switch (key) {
    case FLUID_BY_CALLS:
        return (double)r->calls;
    case FLUID_BY_MIN:
        return r->min;
    case FLUID_BY_MAX:
        return r->max;
    case FLUID_BY_AVE:
        return r->ave;
    case FLUID_BY_CPU:
        return r->cpu;
    case FLUID_BY_GPU:
        return r->gpu;
    default:
        return r->total;
    }
}

/* The newest thread first, what is known of none last; among equals the largest total. */
static int fluid_row_before(const void *what, uint32_t one, uint32_t other) {
    const struct fluid_page *p = what;
    const struct fluid_row *a = &p->f->row[one], *b = &p->f->row[other];
    if (a->thread != b->thread) {
        return a->thread != SNAPSHOT_NONE && (b->thread == SNAPSHOT_NONE || a->thread > b->thread);
    }
    double left = fluid_row_key(a, p->key), right = fluid_row_key(b, p->key);
    if (p->key != FLUID_BY_FIRST_END) {
        if (left != right) {
            return left > right;
        }
        return a->total > b->total;
    }
    /* Copies are timed by another clock: they come after the scopes. */
    int copies = a->tree == SNAPSHOT_NONE, others = b->tree == SNAPSHOT_NONE;
    if (copies != others) {
        return others;
    }
    return a->first_end < b->first_end;
}

/* ---- The walk: as deep as the tree is, without a stack. */

struct fluid_links {
    uint32_t *child; /* + 1; of the outermost: [count] */
    uint32_t *next;
};

static int link_rows(const struct fluid_page *p, struct fluid_links *out) {
    const struct fluid_sheet *f = p->f;
    struct scratch *memory = &f->snapshot->memory;
    uint32_t *order = order_by(memory, f->count, fluid_row_before, p);
    out->child = scratch_array(memory, (size_t)f->count + 1, sizeof *out->child);
    out->next = scratch_array(memory, (size_t)f->count + 1, sizeof *out->next);
    if (scratch_failed(memory)) {
        return -1;
    }
    for (uint32_t i = f->count; i-- > 0;) {
        uint32_t row = order[i];
        uint32_t parent = f->count;
        if (f->row[row].parent != SNAPSHOT_NONE) {
            parent = f->row[row].parent;
        }
        out->next[row] = out->child[parent];
        out->child[parent] = row + 1;
    }
    return 0;
}

/* Row and depth, one after the other. */
static uint32_t *lay_out(const struct fluid_page *p) {
    const struct fluid_sheet *f = p->f;
    struct fluid_links links;
    uint32_t *lines = scratch_array(&f->snapshot->memory, (size_t)f->count + 1, 2 * sizeof *lines);
    if (link_rows(p, &links)) { /* also without memory for the lines */
        return NULL;
    }
    uint32_t count = 0, depth = 0;
    for (uint32_t at = links.child[f->count]; at;) {
        uint32_t row = at - 1;
        lines[2 * count] = row;
        lines[2 * count++ + 1] = depth < DEPTH ? depth : DEPTH;
        at = links.child[row];
        if (at) {
            ++depth;
            continue;
        }
        while (!links.next[row] && f->row[row].parent != SNAPSHOT_NONE) {
            row = f->row[row].parent;
            --depth;
        }
        at = links.next[row];
    }
    return lines;
}

static size_t names_measure(const struct fluid_page *p, const uint32_t *lines, uint32_t count) {
    size_t widest = 5 + NAME_MORE; /* "Event" */
    for (uint32_t i = 0; i < count; ++i) {
        size_t from = p->r->out->length, used = fluid_put_name(p, &p->f->row[lines[2 * i]]);
        size_t plain = used + NAME_MORE, indented = used + lines[2 * i + 1] * INDENT + NAME_GAP;
        p->r->out->length = from; /* measured by printing and taking back */
        widest = u64_max(plain, widest);
        widest = u64_max(indented, widest);
    }
    return widest;
}

int fluid_table(struct fluid_page *p) {
    uint32_t *lines = lay_out(p);
    uint32_t top = p->r->options->top;
    uint32_t count = p->f->count;
    if (top && top < p->f->count) {
        count = top;
    }
    if (!lines) {
        return -1;
    }
    p->name = names_measure(p, lines, count);
    fluid_put_titles(p);
    for (uint32_t i = 0; i < count; ++i) {
        fluid_put_row(p, &p->f->row[lines[2 * i]], lines[2 * i + 1]);
    }
    if (count < p->f->count) {
        text_add(p->r->out, "(%u more)\n", p->f->count - count);
    }
    text_put(p->r->out, "\n", 1);
    return 0;
}
