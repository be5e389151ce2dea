/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of PaddlePaddle's fluid profiler, in its layout, which scripts rely on. Its
 * "Total" is CPU and GPU time added up, which is not a duration; for that reason
 * report_fluid_once.c prints durations below it.
 */
#include "fluid_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/number.h"
#include "base/print.h"

#define LABEL 25 /* of the lines before the table */

const char *const fluid_ways[FLUID_WAYS] = {"CPU->GPU", "GPU->CPU", "(same_gpu):GPU->GPU",
                                            "GPU->GPU", "CPU->CPU", "unknown"};

/* ---- Lines. */

void fluid_section(struct text *out, const char *title) {
    text_add(out, "-------------------------%s-------------------------\n\n", title);
}

void fluid_cell(struct text *out, size_t *owed, size_t width, const char *format, ...) {
    char cell[80];
    va_list arguments;
    va_start(arguments, format);
    size_t length = print_list(cell, sizeof cell, format, arguments);
    va_end(arguments);
    text_spaces(out, *owed);
    text_put(out, cell, length);
    *owed = 1;
    if (length < width) {
        *owed = width - length;
    }
}

void fluid_line(struct text *out, const char *label, double ns, double whole) {
    size_t owed = 0;
    fluid_cell(out, &owed, LABEL, "%s", label);
    text_spaces(out, owed);
    owed = 0;
    text_put(out, "Total: ", 7);
    fluid_cell(out, &owed, FLUID_CELL, "%s", number_short(fluid_ms(ns), 6).text);
    text_spaces(out, owed);
    text_add(out, "Ratio: %s%%", number_short(whole > 0 ? 100 * ns / whole : 0, 6).text);
}

/* ---- The head. */

static const char *sorted_by(enum fluid_key key) {
    static const char *const names[] = {
        [FLUID_BY_FIRST_END] = "event first end time in ascending",
        [FLUID_BY_CALLS] = "number of calls in descending",
        [FLUID_BY_TOTAL] = "total time in descending",
        [FLUID_BY_MIN] = "minimum time in descending",
        [FLUID_BY_MAX] = "maximum time in descending",
        [FLUID_BY_AVE] = "average time in descending",
        [FLUID_BY_CPU] = "CPU time in descending",
        [FLUID_BY_GPU] = "GPU time in descending",
    };
    return names[key];
}

static void put_head(const struct report *r, int merged, enum fluid_key key) {
    const char *const places[] = {
        [FLUID_ALL] = "All", [FLUID_CPU] = "CPU", [FLUID_GPU] = fluid_platform(r->snapshot)};
    text_add(r->out, "------------------------->     Profiling Report     "
                     "<-------------------------\n\n");
    if (merged) {
        text_add(r->out, "Note! This Report merge all thread info into one.\n");
    }
    text_add(r->out,
             "Place: %s\n"
             "Time unit: ms\n"
             "Sorted by %s order in the same thread\n\n",
             places[r->options->fluid.state], sorted_by(key));
}

static void put_overhead(const struct report *r, const struct fluid_sheet *f) {
    fluid_section(r->out, "     Overhead Summary      ");
    text_add(r->out, "Total time: %s\n", number_short(fluid_ms(f->total), 6).text);
    fluid_line(r->out, "  Computation time", f->computation, f->total);
    text_put(r->out, "\n", 1);
    fluid_line(r->out, "  Framework overhead", f->total - f->computation, f->total);
    text_put(r->out, "\n", 1);
    if (!f->computes && f->total > 0) {
        text_add(r->out, "  (no scope says that it computes, see STINT_TIMER_ROLE: all of it "
                         "counts as framework)\n");
    }
    text_put(r->out, "\n", 1);
}

/* ---- Copies. */

struct copies {
    u128 calls;
    u128 bytes;
    double total;
};

static void copies_add_row(struct copies *to, const struct fluid_row *r) {
    to->calls += r->calls;
    to->bytes += r->bytes;
    to->total += r->total;
}

static void put_copies(const struct report *r, const char *label, const struct copies *c,
                       double whole) {
    size_t owed = 0;
    fluid_cell(r->out, &owed, LABEL, "%s", label);
    fluid_cell(r->out, &owed, FLUID_CELL + 7, "Calls: %s", number_whole(c->calls).text);
    fluid_cell(r->out, &owed, FLUID_CELL + 7, "Total: %s",
               number_short(fluid_ms(c->total), 6).text);
    fluid_cell(r->out, &owed, FLUID_CELL + 7, "Ratio: %s%%",
               number_short(whole > 0 ? 100 * c->total / whole : 0, 6).text);
    fluid_cell(r->out, &owed, FLUID_CELL, "Bytes: %s", number_whole(c->bytes).text);
    text_put(r->out, "\n", 1);
}

static void put_memcpy(const struct report *r, const struct fluid_sheet *f) {
    struct copies all = {0}, both[2] = {{0}}, each[2][FLUID_WAYS] = {{{0}}};
    for (uint32_t i = 0; i < f->count; ++i) {
        const struct fluid_row *row = &f->row[i];
        if (row->tree == SNAPSHOT_NONE) {
            copies_add_row(&all, row);
            copies_add_row(&both[row->async], row);
            copies_add_row(&each[row->async][row->way], row);
        }
    }
    fluid_section(r->out, "     GpuMemCpy Summary     ");
    put_copies(r, "GpuMemcpy", &all, f->total);
    for (int async = 1; async >= 0; --async) {
        if (both[async].calls) {
            put_copies(r, async ? "  GpuMemcpyAsync" : "  GpuMemcpySync", &both[async], f->total);
        }
        for (int way = 0; way < FLUID_WAYS; ++way) {
            char label[LABEL];
            snprintf(label, sizeof label, "    %s", fluid_ways[way]);
            if (each[async][way].calls) {
                put_copies(r, label, &each[async][way], f->total);
            }
        }
    }
    text_put(r->out, "\n", 1);
}

/* ---- The report. */

/* Threads with a row, numbered from the oldest; how many. */
static uint32_t number_threads(const struct fluid_sheet *f, uint32_t *ordinal) {
    const struct snapshot *s = f->snapshot;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        ordinal[i] = SNAPSHOT_NONE;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) { /* thread by thread */
        const struct snapshot_node *n = &s->nodes[i];
        uint32_t tree = f->row_of[i];
        if (n->count && tree != SNAPSHOT_NONE && f->scope[tree].shown &&
            ordinal[n->thread] == SNAPSHOT_NONE) {
            ordinal[n->thread] = count++;
        }
    }
    return count;
}

static enum fluid_key key_wanted(const struct report_options *o) {
    if (o->fluid.key) {
        return o->fluid.key;
    }
    return report_form_fluid_sort(o);
}

static int put_each_thread(struct fluid_page *p, struct fluid_instances *numbers) {
    struct fluid_sheet each;
    if (fluid_sheet(&each, p->r->snapshot, p->r->options, 1, numbers)) {
        return -1;
    }
    p->f = &each;
    put_head(p->r, 0, p->key);
    return fluid_table(p);
}

int report_fluid(const struct report *r) {
    struct snapshot *s = r->snapshot;
    struct fluid_instances numbers;
    struct fluid_sheet f;
    uint32_t *ordinal = scratch_array(&s->memory, (size_t)s->thread_count + 1, sizeof *ordinal);
    if (scratch_failed(&s->memory) || fluid_sheet(&f, s, r->options, 0, &numbers)) {
        return -1;
    }
    int merged = number_threads(&f, ordinal) > 1;
    struct fluid_page p = {.r = r, .f = &f, .key = key_wanted(r->options)};
    if (!merged && fluid_sheet(&f, s, r->options, 1, &numbers)) {
        return -1;
    }
    p.ordinal = merged ? NULL : ordinal;
    put_head(r, merged, p.key);
    put_overhead(r, &f);
    put_memcpy(r, &f);
    if (fluid_table(&p)) {
        return -1;
    }
    p.ordinal = ordinal;
    if (merged && put_each_thread(&p, &numbers)) {
        return -1;
    }
    return report_fluid_once(r, f.source);
}
