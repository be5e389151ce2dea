/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU time by source line: what a line of an instrumented function launched (stint/lines.h) is
 * added to a row of that line. A launch is known by its cell; the table that has it says which file
 * and line.
 */
#include "activity_private.h"

#include <string.h>

#include "arena/activity_kind.h"
#include "arena/arena.h"
#include "base/api.h"
#include "stint/lines.h"

#define SOURCE_LINES 1024u /* cells, each at itself modulo; a program has few lines that launch */

struct source_line {
    uint64_t cell; /* 0 = none */
    uint32_t file; /* text */
    uint32_t line;
};

static struct source_line source_lines[SOURCE_LINES];

void activity_source_forget(void) {
    memset(source_lines, 0, sizeof source_lines);
}

/* Whether the cell is in that table. */
static int source_read_table(const struct arena_lines *table, struct source_line *out) {
    uint64_t first =
        (uint64_t)((const char *)table - arena.base) + arena_lines_cells_at(table->count);
    uint64_t index = out->cell - first / sizeof(struct stint_impl_line_cell);
    if (index >= table->count) { /* also where the cell is before it */
        return 0;
    }
    out->file = table->file;
    out->line = ((const uint32_t *)(table + 1))[index];
    return 1;
}

/* The table of a new one was published before its first launch. */
static const struct source_line *source_find_line(uint64_t cell) {
    struct source_line *l = &source_lines[cell % SOURCE_LINES];
    if (l->cell == cell) {
        return l;
    }
    struct source_line found = {.cell = cell};
    uint32_t unit = __atomic_load_n(&arena_header()->first_lines, __ATOMIC_ACQUIRE);
    while (unit) {
        const struct arena_lines *table = arena_at(unit);
        if (source_read_table(table, &found)) {
            *l = found;
            return l;
        }
        unit = table->next;
    }
    return NULL;
}

void activity_source_add(uint64_t cell, uint32_t device, const struct activity_sample *s) {
    const struct source_line *l = NULL;
    if (cell) {
        l = source_find_line(cell);
    }
    if (l) {
        struct activity_key k = {
            .kind = ACTIVITY_LINE, .detail = l->line, .name = l->file, .device = device};
        struct activity_sample time = {.start = s->start, .ns = s->ns};
        activity_rows_add(activity_rows_get(&k), &time);
    }
}
