/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source lines of runs: one table for a file and thread of the merged file (several, where its
 * sums do not fit into one), or, where threads are kept, a copy of each table.
 */
#include <string.h>

#include "base/api.h"
#include "merge.h"
#include "model/line_rows.h"
#include "stint/lines.h"

struct lines_key {
    struct arena_lines of;
    const uint32_t *numbers;
    const struct merge_map *map;
    const struct stint_impl_line_cell *cells; /* to be added */
};

static struct stint_impl_line_cell *table_cells(struct merge *m, uint32_t unit, uint32_t count) {
    char *table = merge_file_at(&m->file, unit);
    return (void *)(table + arena_lines_cells_at(count));
}

/* The numbers of a cell to be added. */
static void read_cell(const struct lines_key *key, uint32_t i, uint64_t number[LINE_NUMBERS]) {
    numbers_load(&record_line, number, &key->cells[i]);
    merge_numbers(key->map, &record_line, number, 0);
}

static int table_has_room(struct merge *m, uint32_t unit, const struct lines_key *key) {
    const struct stint_impl_line_cell *to = table_cells(m, unit, key->of.count);
    uint64_t number[LINE_NUMBERS];
    uint32_t i = 0;
    for (; i < key->of.count; ++i) {
        read_cell(key, i, number);
        if (!merge_record_fits(&record_line, &to[i], number)) {
            break;
        }
    }
    return i == key->of.count;
}

static int is_table(struct merge *m, uint32_t unit, const void *wanted) {
    const struct lines_key *key = wanted;
    const struct arena_lines *have = merge_file_at(&m->file, unit);
    return have->thread == key->of.thread && have->file == key->of.file &&
           have->content == key->of.content && have->count == key->of.count &&
           !memcmp(have + 1, key->numbers, key->of.count * sizeof *key->numbers) &&
           table_has_room(m, unit, key);
}

static uint32_t make_table(struct merge *m, const void *wanted) {
    const struct lines_key *key = wanted;
    struct arena_header *h = merge_file_header(&m->file);
    uint64_t cells = (uint64_t)key->of.count * sizeof(struct stint_impl_line_cell);
    uint32_t unit = merge_file_get(&m->file, arena_lines_cells_at(key->of.count) + cells);
    if (unit) {
        struct arena_lines *to = merge_file_at(&m->file, unit);
        *to = key->of;
        memcpy(to + 1, key->numbers, key->of.count * sizeof *key->numbers);
        to->next = h->first_lines;
        h->first_lines = unit;
    }
    return unit;
}

static int add_table(struct merge *m, const struct merge_map *map, const struct line_table *from) {
    struct lines_key key = {
        .of.count = from->count, .numbers = from->numbers, .map = map, .cells = from->cells};
    uint32_t thread = hash_map_get(&map->thread, from->thread);
    if (thread != HASH_MAP_NONE) {
        key.of.thread = thread;
    }
    key.of.file = merge_names_text(m, from->name, from->length);
    if (from->content) {
        key.of.content = merge_names_text(m, from->content, from->content_length);
    }
    if (!key.of.file || (from->content && !key.of.content)) {
        return -1;
    }
    uint64_t h = hash_number((uint64_t)key.of.file << 32 | key.of.content);
    h = hash_add(h, (uint64_t)key.of.thread << 32 | key.of.count);
    uint32_t unit = merge_find_or_make(m, MERGE_LINES, h, is_table, make_table, &key);
    if (!unit) {
        return -1;
    }
    struct stint_impl_line_cell *to = table_cells(m, unit, from->count);
    for (uint32_t i = 0; i < from->count; ++i) {
        uint64_t number[LINE_NUMBERS];
        read_cell(&key, i, number);
        merge_record_add(&record_line, &to[i], number);
    }
    return 0;
}

int merge_lines(struct merge *m, const struct merge_map *map) {
    struct line_tables all;
    struct line_table table;
    line_tables_start(&all, &map->run->snapshot);
    while (line_tables_next(&all, &table)) {
        if (table.name && add_table(m, map, &table)) {
            return -1;
        }
    }
    return 0;
}
