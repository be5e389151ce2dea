/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the source lines of one run after the other.
 */
#include <string.h>

#include "base/api.h"
#include "merge.h"
#include "read/line_rows.h"
#include "stint/lines.h"

static void copy_cells(const struct merge_map *map, struct stint_impl_line_cell *to,
                       const struct line_table *from) {
    for (uint32_t i = 0; i < from->count; ++i) {
        const struct stint_impl_line_cell *c = &from->cells[i];
        to[i].hits = STINT_IMPL_LOAD(&c->hits);
        to[i].self = merge_length(map, STINT_IMPL_LOAD(&c->self));
        to[i].nested = merge_length(map, STINT_IMPL_LOAD(&c->nested));
    }
}

static int copy_table(struct merge *m, const struct merge_map *map, const struct line_table *from) {
    const uint64_t cells_at = arena_lines_cells_at(from->count);
    uint32_t file = merge_names_text(&m->names, from->name, from->length);
    uint32_t unit =
        merge_file_get(&m->file, cells_at + (uint64_t)from->count * sizeof *from->cells);
    uint32_t content = 0;
    if (from->content) {
        content = merge_names_text(&m->names, from->content, from->content_length);
    }
    if (!file || !unit || (from->content && !content)) {
        return -1;
    }
    struct arena_header *h = merge_file_header(&m->file);
    struct arena_lines *to = merge_file_at(&m->file, unit);
    uint32_t thread = hash_map_get(&map->thread, from->thread);
    to->thread = 0;
    if (thread != HASH_MAP_NONE) {
        to->thread = thread;
    }
    to->file = file;
    to->content = content;
    to->count = from->count;
    memcpy(to + 1, from->numbers, from->count * sizeof *from->numbers);
    copy_cells(map, (void *)((char *)to + cells_at), from);
    to->next = h->first_lines;
    h->first_lines = unit;
    return 0;
}

int merge_lines(struct merge *m, const struct merge_map *map) {
    struct line_tables all;
    struct line_table table;
    line_tables_start(&all, &map->run->snapshot);
    while (line_tables_next(&all, &table)) {
        if (table.name && copy_table(m, map, &table)) {
            return -1;
        }
    }
    return 0;
}
