/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of text cells: cells are added one by one, then printed in columns that are as wide as
 * their widest cell. On a terminal columns that do not fit are left out from the right and named
 * below.
 */
#include "report_grid.h"

#include <stdarg.h>
#include <string.h>

#include "base/number.h"
#include "base/print.h"
#include "base/scratch.h"
#include "model/snapshot.h"
#include "system/config.h"

#define GAP 2

static int more_room(struct report_grid *g) {
    uint32_t room = 256;
    if (g->room) {
        room = g->room * 2;
    }
    struct grid_cell *more = pages_grow(g->cells, g->room * sizeof *more, room * sizeof *more);
    if (!more) {
        return -1;
    }
    g->cells = more;
    g->room = room;
    return 0;
}

void grid_end_cell(struct report_grid *g, size_t from, size_t width) {
    if (g->count == g->room && more_room(g)) {
        g->failed = 1;
        return;
    }
    g->cells[g->count++] = (struct grid_cell){from, g->text.length - from, width};
}

void grid_start(struct report_grid *g, const char *const *titles, uint32_t left) {
    memset(g, 0, sizeof *g);
    text_start(&g->text);
    g->left = left;
    while (g->columns < GRID_COLUMNS && titles[g->columns]) {
        ++g->columns;
    }
    for (uint32_t i = 0; i < g->columns; ++i) {
        grid_add(g, "%s", titles[i]);
    }
}

void grid_fit(struct report_grid *g, const struct report_options *o, uint32_t keep) {
    g->width = o->width;
    g->colour = o->colour;
    g->keep = keep;
}

void grid_add(struct report_grid *g, const char *format, ...) {
    char cell[200];
    va_list arguments;
    va_start(arguments, format);
    size_t length = print_list(cell, sizeof cell, format, arguments);
    va_end(arguments);
    size_t from = g->text.length;
    text_put(&g->text, cell, length);
    grid_end_cell(g, from, text_columns(cell));
}

void grid_name(struct report_grid *g, const char *name, size_t length, size_t columns) {
    size_t from = g->text.length;
    size_t width = text_name(&g->text, name, length, columns);
    grid_end_cell(g, from, width);
}

void grid_dashes(struct report_grid *g, int cells) {
    for (int i = 0; i < cells; ++i) {
        grid_add(g, "-");
    }
}

void grid_count(struct report_grid *g, u128 n) {
    grid_add(g, "%s", number_whole(n).text);
}

void grid_time(struct report_grid *g, u128 ns) {
    grid_time_or_more(g, ns, 0);
}

void grid_time_or_more(struct report_grid *g, u128 ns, int or_more) {
    char number[TEXT_NUMBER];
    text_time_or_more(&g->text, number, ns, or_more, config.unit);
    grid_add(g, "%s", number);
}

void grid_bytes(struct report_grid *g, u128 bytes) {
    char number[TEXT_NUMBER];
    text_bytes(number, bytes);
    grid_add(g, "%s", number);
}

void grid_rate(struct report_grid *g, uint64_t per_s) {
    char number[TEXT_NUMBER];
    text_rate(number, per_s);
    grid_add(g, "%s", number);
}

void grid_share(struct report_grid *g, u128 part, u128 whole) {
    char number[TEXT_NUMBER];
    if (!whole) {
        grid_add(g, "-");
        return;
    }
    text_share(number, snapshot_whole((double)part * 1e6 / (double)whole));
    grid_add(g, "%s", number);
}

/* "-", "n/a" and every zero: dim on a terminal with colours. */
static int grid_says_nothing(const char *number, size_t length) {
    for (size_t i = 0; i < length; ++i) {
        if (number[i] >= '1' && number[i] <= '9') {
            return 0;
        }
    }
    return length > 0;
}

static void put_cell(const struct report_grid *g, struct text *out, uint32_t cell, int left) {
    const struct grid_cell *c = &g->cells[cell];
    const char *at = g->text.data + c->at;
    const char *look = "";
    if (!g->colour) {
        look = "";
    } else if (cell < g->columns) {
        look = "\x1b[1m";
    } else if (!left && grid_says_nothing(at, c->length)) {
        look = "\x1b[2m";
    }
    text_add(out, "%s", look);
    text_put(out, at, c->length);
    if (*look) {
        text_add(out, "\x1b[0m");
    }
}

/* widths: 0 of a column that is left out. No blanks at the end of a line. */
static void grid_put_row(const struct report_grid *g, struct text *out, uint32_t first,
                         const size_t *widths, size_t indent) {
    size_t owed = indent;
    for (uint32_t i = 0; i < g->columns && first + i < g->count; ++i) {
        int left = g->left >> i & 1;
        if (widths[i] && !g->cells[first + i].length) {
            owed += widths[i] + GAP;
        } else if (widths[i]) {
            size_t pad = widths[i] - g->cells[first + i].width;
            text_spaces(out, owed + (left ? 0 : pad));
            put_cell(g, out, first + i, left);
            owed = GAP + (left ? pad : 0);
        }
    }
    text_put(out, "\n", 1);
}

static uint32_t grid_drop_columns(const struct report_grid *g, size_t *widths, size_t indent) {
    size_t total = indent;
    uint32_t dropped = 0;
    for (uint32_t i = 0; i < g->columns; ++i) {
        total += widths[i];
        if (i) {
            total += GAP;
        }
    }
    for (uint32_t i = g->columns; g->width && i-- > 0 && total > g->width;) {
        if (!(g->keep >> i & 1)) {
            total -= widths[i] + GAP;
            widths[i] = 0;
            dropped |= 1u << i;
        }
    }
    return dropped;
}

static void grid_say_dropped(const struct report_grid *g, struct text *out, uint32_t dropped) {
    const char *before = "(no room for: ";
    for (uint32_t i = 0; i < g->columns; ++i) {
        if (dropped >> i & 1) {
            text_add(out, "%s", before);
            text_put(out, g->text.data + g->cells[i].at, g->cells[i].length);
            before = ", ";
        }
    }
    if (dropped) {
        text_put(out, ")\n", 2);
    }
}

int grid_print(struct report_grid *g, struct text *out, size_t indent) {
    size_t widths[GRID_COLUMNS] = {0};
    int failed = g->failed | g->text.failed;
    for (uint32_t i = 0; i < g->count && !failed; ++i) {
        size_t *width = &widths[i % g->columns];
        if (!(g->hidden >> i % g->columns & 1)) {
            *width = u64_max(g->cells[i].width, *width);
        }
    }
    uint32_t dropped = 0;
    if (!failed) {
        dropped = grid_drop_columns(g, widths, indent);
    }
    for (uint32_t first = 0; first < g->count && !failed; first += g->columns) {
        grid_put_row(g, out, first, widths, indent);
    }
    if (!failed) {
        grid_say_dropped(g, out, dropped);
    }
    grid_free(g);
    if (failed || out->failed) {
        return -1;
    }
    return 0;
}

void grid_free(struct report_grid *g) {
    text_free(&g->text);
    pages_put(g->cells, g->room * sizeof *g->cells);
    g->cells = NULL;
}
