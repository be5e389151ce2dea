/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the list of struct arena_lines, as untrusted input: every place is checked, and the tables
 * that are read have together at most as many lines as fit into the arena, which also ends a cycle.
 */
#include "line_rows.h"

#include <string.h>

#include "arena/activity_kind.h"
#include "arena/arena.h"
#include "base/api.h"
#include "base/arithmetic.h"
#include "base/hash.h"
#include "base/order.h"
#include "stint/lines.h"

void line_tables_start(struct line_tables *t, const struct snapshot *s) {
    const struct arena_header *h = (const void *)s->base;
    memset(t, 0, sizeof *t);
    t->list = SNAPSHOT_LIST(s, __atomic_load_n(&h->first_lines, __ATOMIC_ACQUIRE),
                            struct arena_lines, UINT32_MAX);
}

int line_tables_next(struct line_tables *t, struct line_table *out) {
    const struct snapshot *s = t->list.snapshot;
    const struct arena_lines *table = snapshot_list_next(&t->list);
    if (!table) {
        return 0;
    }
    uint64_t cells_at = arena_lines_cells_at(table->count);
    uint64_t cell_bytes = (uint64_t)table->count * sizeof *out->cells;
    if (t->lines + table->count > s->size / sizeof *out->cells ||
        !snapshot_at(s, t->list.unit, cells_at + cell_bytes)) {
        return 0;
    }
    ++t->tables;
    t->lines += table->count;
    out->name = snapshot_text(s, table->file, &out->length);
    out->content = NULL;
    out->content_length = 0;
    if (table->content) {
        out->content = snapshot_text(s, table->content, &out->content_length);
    }
    out->thread = table->thread;
    out->count = table->count;
    out->numbers = (const void *)(table + 1);
    out->cells = (const void *)((const char *)table + cells_at);
    return 1;
}

/* The file's index; HASH_MAP_NONE if there is none of that name. */
static uint32_t file_find(const struct line_rows *rows, const struct hash_map *names,
                          const char *name, uint32_t length) {
    struct hash_map_walk walk;
    uint32_t i = hash_map_first(names, (uint32_t)hash_bytes(name, length), &walk);
    while (i != HASH_MAP_NONE &&
           (rows->files[i].length != length || memcmp(rows->files[i].name, name, length) != 0)) {
        i = hash_map_next(names, &walk);
    }
    return i;
}

static int content_is(const struct line_file *file, const struct line_table *table) {
    if (file->content_length != table->content_length) {
        return 0;
    }
    return !table->content_length || !memcmp(file->content, table->content, table->content_length);
}

/* The same, and a new one if no other has that name; SNAPSHOT_NONE if the table has none. */
static uint32_t file_of(struct line_rows *out, struct hash_map *names,
                        const struct line_table *table) {
    const char *name = table->name;
    uint32_t length = table->length;
    if (!name) {
        return SNAPSHOT_NONE;
    }
    uint32_t i = file_find(out, names, name, length);
    if (i == HASH_MAP_NONE) {
        i = out->file_count++;
        out->files[i].name = name;
        out->files[i].length = length;
        out->files[i].content = table->content;
        out->files[i].content_length = table->content_length;
        hash_map_add(names, (uint32_t)hash_bytes(name, length), i);
    } else if (!content_is(&out->files[i], table)) {
        out->files[i].is_mixed = 1;
    }
    return i;
}

static void table_rows(struct line_rows *out, const struct snapshot *s, const struct line_table *t,
                       uint32_t file) {
    for (uint32_t i = 0; i < t->count; ++i) {
        struct line_row *r = &out->rows[out->row_count++];
        uint64_t self = STINT_IMPL_LOAD(&t->cells[i].self);
        r->file = file;
        r->line = t->numbers[i];
        r->hits = STINT_IMPL_LOAD(&t->cells[i].hits);
        r->self_ns = snapshot_ns(s, self);
        r->total_ns = snapshot_ns(s, saturating_add(self, STINT_IMPL_LOAD(&t->cells[i].nested)));
    }
}

/* By the name of the file, then by line. */
static int row_is_before(const void *what, uint32_t a, uint32_t b) {
    const struct line_rows *all = what;
    const struct line_row *x = &all->rows[a], *y = &all->rows[b];
    if (x->file != y->file) {
        int order = strcmp(all->files[x->file].name, all->files[y->file].name);
        if (order) {
            return order < 0;
        }
        return x->file < y->file;
    }
    return x->line < y->line;
}

/* Rows of one line, from several threads, become one. */
static int rows_merge(struct line_rows *all, struct scratch *memory) {
    uint32_t *order = order_by(memory, all->row_count, row_is_before, all);
    struct line_row *merged = scratch_array(memory, all->row_count, sizeof *merged);
    uint32_t count = 0;
    if (scratch_failed(memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < all->row_count; ++i) {
        const struct line_row *r = &all->rows[order[i]];
        struct line_row *last = count ? &merged[count - 1] : NULL;
        if (last && last->file == r->file && last->line == r->line) {
            last->hits = saturating_add(last->hits, r->hits);
            last->self_ns = saturating_add(last->self_ns, r->self_ns);
            last->total_ns = saturating_add(last->total_ns, r->total_ns);
            continue;
        }
        merged[count] = *r;
        if (!all->files[r->file].count++) {
            all->files[r->file].first = count;
        }
        ++count;
    }
    all->rows = merged;
    all->row_count = count;
    return 0;
}

/* The row of a line of the file; NULL if there is none, as only a bad file has it. */
static struct line_row *row_find(struct line_rows *rows, uint32_t file, uint32_t line) {
    uint32_t low = rows->files[file].first, end = low + rows->files[file].count, high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rows->rows[middle].line < line) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < end && rows->rows[low].line == line) {
        return &rows->rows[low];
    }
    return NULL;
}

/* Adds the work on GPUs that lines launched. It is in rows of activities, of each thread and
 * device. */
static void rows_add_gpu(struct line_rows *out, const struct snapshot *s,
                         const struct hash_map *names) {
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        struct line_row *r = NULL;
        uint32_t file = HASH_MAP_NONE;
        if (a->kind == ACTIVITY_LINE && a->count) {
            file = file_find(out, names, a->name, a->name_length);
        }
        if (file != HASH_MAP_NONE) {
            r = row_find(out, file, a->detail);
        }
        if (r) {
            r->gpu_calls = saturating_add(r->gpu_calls, a->count);
            r->gpu_ns = saturating_add(r->gpu_ns, a->total);
            out->has_gpu = 1;
        }
    }
}

int line_rows_read(struct line_rows *out, struct snapshot *s) {
    struct hash_map names;
    struct line_tables first, all;
    struct line_table table;
    line_tables_start(&first, s);
    all = first;
    while (line_tables_next(&all, &table)) {
    }
    const uint64_t tables = all.tables;
    memset(out, 0, sizeof *out);
    out->files = scratch_array(&s->memory, tables, sizeof *out->files);
    out->rows = scratch_array(&s->memory, all.lines, sizeof *out->rows);
    hash_map_start(&names, &s->memory, tables);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    all = first; /* not the newest one again: a running program may have made others since */
    while (line_tables_next(&all, &table)) {
        uint32_t file = file_of(out, &names, &table);
        if (file != SNAPSHOT_NONE) {
            table_rows(out, s, &table, file);
        }
    }
    if (rows_merge(out, &s->memory)) {
        return -1;
    }
    rows_add_gpu(out, s, &names);
    return 0;
}
