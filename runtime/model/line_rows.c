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
#include "base/hash_map.h"
#include "base/name.h"
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

/* The rows so far, and what leads to them. */
struct line_reading {
    struct line_rows *out;
    struct hash_map files; /* by name */
    struct hash_map lines; /* by file and line */
};

/* The file's index; HASH_MAP_NONE if there is none of that name. */
static uint32_t file_find(const struct line_reading *l, const char *name, uint32_t length) {
    struct hash_map_walk walk;
    uint32_t i = hash_map_first(&l->files, (uint32_t)hash_bytes(name, length), &walk);
    while (i != HASH_MAP_NONE &&
           name_compare(l->out->files[i].name, l->out->files[i].length, name, length) != 0) {
        i = hash_map_next(&l->files, &walk);
    }
    return i;
}

/* The same, and a new one if no other has that name; HASH_MAP_NONE if the table has none. */
static uint32_t file_of(struct line_reading *l, const struct line_table *t) {
    uint32_t i = t->name ? file_find(l, t->name, t->length) : HASH_MAP_NONE;
    struct line_file *files = l->out->files;
    if (t->name && i == HASH_MAP_NONE) {
        i = l->out->file_count++;
        files[i] = (struct line_file){.name = t->name,
                                      .length = t->length,
                                      .content = t->content,
                                      .content_length = t->content_length};
        hash_map_add(&l->files, (uint32_t)hash_bytes(t->name, t->length), i);
    } else if (t->name && (files[i].content_length != t->content_length ||
                           (t->content_length &&
                            memcmp(files[i].content, t->content, t->content_length) != 0))) {
        files[i].is_mixed = 1;
    }
    return i;
}

static uint32_t row_hash_of(uint32_t file, uint32_t line) {
    return (uint32_t)hash_number((uint64_t)file << 32 | line);
}

/* NULL: there is none yet. */
static struct line_row *row_find(const struct line_reading *l, uint32_t file, uint32_t line) {
    struct hash_map_walk walk;
    struct line_row *rows = l->out->rows;
    uint32_t i = hash_map_first(&l->lines, row_hash_of(file, line), &walk);
    while (i != HASH_MAP_NONE && (rows[i].file != file || rows[i].line != line)) {
        i = hash_map_next(&l->lines, &walk);
    }
    return i == HASH_MAP_NONE ? NULL : &rows[i];
}

/* Rows of one line, from several threads, are one. */
static void table_rows(struct line_reading *l, const struct snapshot *s,
                       const struct line_table *t) {
    uint32_t file = file_of(l, t);
    for (uint32_t i = 0; file != HASH_MAP_NONE && i < t->count; ++i) {
        struct line_row *r = row_find(l, file, t->numbers[i]);
        uint64_t self = STINT_IMPL_LOAD(&t->cells[i].self);
        u128 total = (u128)self + STINT_IMPL_LOAD(&t->cells[i].nested);
        if (!r) {
            hash_map_add(&l->lines, row_hash_of(file, t->numbers[i]), l->out->row_count);
            r = &l->out->rows[l->out->row_count++];
            r->file = file;
            r->line = t->numbers[i];
        }
        r->hits += STINT_IMPL_LOAD(&t->cells[i].hits);
        r->self_ns += snapshot_sum_ns(s, self);
        r->total_ns += snapshot_sum_ns(s, total);
    }
}

/* Adds the work on GPUs that lines launched. It is in rows of activities, of each thread and
 * device. Only a bad file has some of a line without a row. */
static void rows_add_gpu(const struct line_reading *l, const struct snapshot *s) {
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (a->kind != ACTIVITY_LINE || !a->count) {
            continue;
        }
        struct line_row *r = row_find(l, file_find(l, a->name, a->name_length), a->detail);
        if (r) {
            r->gpu_calls += a->count;
            r->gpu_ns += a->total;
            l->out->has_gpu = 1;
        }
    }
}

/* By the name of the file, then by line. */
static int row_is_before(const void *what, uint32_t a, uint32_t b) {
    const struct line_rows *all = what;
    const struct line_row *x = &all->rows[a], *y = &all->rows[b];
    if (x->file != y->file) {
        int order = strcmp(all->files[x->file].name, all->files[y->file].name);
        return order ? order < 0 : x->file < y->file;
    }
    return x->line < y->line;
}

static int rows_sort(struct line_rows *all, struct scratch *memory) {
    uint32_t *order = order_by(memory, all->row_count, row_is_before, all);
    struct line_row *sorted = scratch_array(memory, all->row_count, sizeof *sorted);
    if (scratch_failed(memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < all->row_count; ++i) {
        sorted[i] = all->rows[order[i]];
        struct line_file *file = &all->files[sorted[i].file];
        if (!file->count++) {
            file->first = i;
        }
    }
    all->rows = sorted;
    return 0;
}

int line_rows_read(struct line_rows *out, struct snapshot *s) {
    struct line_reading l = {.out = out};
    struct line_tables first, all;
    struct line_table table;
    line_tables_start(&first, s);
    all = first;
    while (line_tables_next(&all, &table)) {
    }
    memset(out, 0, sizeof *out);
    out->files = scratch_array(&s->memory, all.tables, sizeof *out->files);
    out->rows = scratch_array(&s->memory, all.lines, sizeof *out->rows);
    hash_map_start(&l.files, &s->memory, all.tables);
    hash_map_start(&l.lines, &s->memory, all.lines);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    all = first; /* not the newest one again: a running program may have made others since */
    while (line_tables_next(&all, &table)) {
        table_rows(&l, s, &table);
    }
    rows_add_gpu(&l, s);
    return rows_sort(out, &s->memory);
}
