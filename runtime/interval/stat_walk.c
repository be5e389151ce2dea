/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of statistics for the program: stint_stat_each, stint_tree_each, stint_set_each.
 *
 * A walk first copies all its rows, names included, into memory of its own. The interval is closed
 * before the first callback, which may therefore call any function of the library: a reset in it
 * changes nothing about the rows that follow. No lock is held in a callback.
 */
#include <string.h>

#include "base/name.h"
#include "base/order.h"
#include "base/scratch.h"
#include "interval.h"
#include "record/set.h"
#include "stat_fill.h"
#include "system/log.h"

struct walk_row {
    const char *name;
    uint32_t set;
    uint32_t parent;
    uint32_t depth;
    stint_stat stat;
};

struct walk {
    struct scratch memory;
    struct walk_row *row;
    uint32_t count;
};

/* One row at a time, with zeros after the members that this library knows. */
union walk_stat {
    stint_stat stat;
    char room[STAT_ROOM];
};

_Static_assert(sizeof(stint_stat) <= STAT_ROOM, "stint_stat has room to grow");

static int is_name_first(const void *what, uint32_t a, uint32_t b) {
    const struct stint_row *x = &((const struct rows *)what)->row[a];
    const struct stint_row *y = &((const struct rows *)what)->row[b];
    int names = name_compare(x->name, x->name_length, y->name, y->name_length);
    if (names) {
        return names < 0;
    }
    return x->set < y->set;
}

/* Room for all rows. 0, or -1 without memory. */
static int walk_start(struct walk *w, const struct rows *rows) {
    w->row = scratch_array(&w->memory, (size_t)rows->count + 1, sizeof *w->row);
    return w->row ? 0 : -1;
}

static int walk_add(struct walk *w, const struct stint_row *r, uint32_t parent, uint32_t depth) {
    const char *name = scratch_text(&w->memory, r->name, r->name_length);
    if (!name) {
        return -1;
    }
    struct walk_row *to = &w->row[w->count++];
    *to = (struct walk_row){.name = name, .set = r->set, .parent = parent, .depth = depth};
    stat_fill(r, &to->stat);
    return 0;
}

static int walk_read_flat(struct walk *w, struct snapshot *s, uint32_t set) {
    struct rows rows;
    if (rows_flat(&rows, s, 0)) {
        return -1;
    }
    uint32_t *order = order_by(&s->memory, rows.count, is_name_first, &rows);
    if (!order || walk_start(w, &rows)) {
        return -1;
    }
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *r = &rows.row[order[i]];
        if (r->set == set && row_is_called(r) && walk_add(w, r, STINT_NO_PARENT, 0)) {
            return -1;
        }
    }
    return 0;
}

/* A row is in the walk if it or one below it has a call. Parents come before children. */
static uint8_t *find_called(struct snapshot *s, const struct rows *rows) {
    uint8_t *called = scratch_array(&s->memory, (size_t)rows->count + 1, sizeof *called);
    for (uint32_t i = rows->count; called && i-- > 0;) {
        const struct stint_row *r = &rows->row[i];
        called[i] |= (uint8_t)row_is_called(r);
        if (called[i] && r->parent != SNAPSHOT_NONE) {
            called[r->parent] = 1;
        }
    }
    return called;
}

static int walk_read_tree(struct walk *w, struct snapshot *s) {
    struct rows rows;
    struct rows_links links;
    if (rows_tree(&rows, s)) {
        return -1;
    }
    uint32_t *order = order_by(&s->memory, rows.count, is_name_first, &rows);
    uint8_t *called = find_called(s, &rows);
    uint32_t *index = scratch_array(&s->memory, (size_t)rows.count + 1, sizeof *index);
    if (!order || !called || !index || walk_start(w, &rows) ||
        rows_link_children(&links, s, &rows, order)) {
        return -1;
    }
    uint32_t depth = 0;
    for (uint32_t at = links.child[rows.count]; at;) {
        uint32_t row = at - 1;
        uint32_t parent = rows.row[row].parent;
        if (called[row]) {
            index[row] = w->count;
            parent = parent == SNAPSHOT_NONE ? STINT_NO_PARENT : index[parent];
            if (walk_add(w, &rows.row[row], parent, depth)) {
                return -1;
            }
        }
        at = rows_walk_next(&links, &rows, row, called[row], &depth);
    }
    return 0;
}

#define WALK_TREE UINT32_MAX /* in place of a set's number */

/* STINT_OK, or why there is nothing to walk. */
static int walk_read(struct walk *w, uint32_t set) {
    struct snapshot s;
    *w = (struct walk){.count = 0};
    if (interval_open(&s, 0)) {
        return STINT_ERROR_NO_MEMORY;
    }
    int failed = set == WALK_TREE ? walk_read_tree(w, &s) : walk_read_flat(w, &s, set);
    interval_close(&s);
    if (failed) {
        scratch_free(&w->memory);
        return STINT_ERROR_NO_MEMORY;
    }
    return STINT_OK;
}

int stint_stat_each(stint_set *set, stint_stat_fn fn, void *data) {
    FUNCTION_KEEP;
    struct walk w;
    if (!fn) {
        return STINT_ERROR_UNKNOWN;
    }
    int result = walk_read(&w, stint_impl_set_id(set));
    if (result) {
        return result;
    }
    union walk_stat shown;
    memset(&shown, 0, sizeof shown);
    for (uint32_t i = 0; i < w.count && !result; ++i) {
        shown.stat = w.row[i].stat;
        result = fn(data, w.row[i].name, &shown.stat);
    }
    scratch_free(&w.memory);
    return result;
}

/* All sets by number, in memory of the walk's; NULL without. */
static struct set_entry *walk_list_sets(struct scratch *memory, uint32_t *count) {
    struct set_entry *sets = NULL;
    uint32_t room = 0;
    *count = set_list(NULL, 0);
    while (*count > room) {
        room = *count;
        sets = scratch_array(memory, room, sizeof *sets);
        if (!sets) {
            return NULL;
        }
        *count = set_list(sets, room);
    }
    return sets;
}

union walk_tree_row {
    stint_tree_row row;
    char room[STAT_ROOM];
};

int stint_tree_each(stint_tree_fn fn, void *data) {
    FUNCTION_KEEP;
    struct walk w;
    if (!fn) {
        return STINT_ERROR_UNKNOWN;
    }
    int result = walk_read(&w, WALK_TREE);
    if (result) {
        return result;
    }
    uint32_t set_count;
    const struct set_entry *sets = walk_list_sets(&w.memory, &set_count);
    if (!sets) {
        scratch_free(&w.memory);
        return STINT_ERROR_NO_MEMORY;
    }
    union walk_stat stat;
    union walk_tree_row shown;
    memset(&stat, 0, sizeof stat);
    memset(&shown, 0, sizeof shown);
    for (uint32_t i = 0; i < w.count && !result; ++i) {
        const struct walk_row *r = &w.row[i];
        stat.stat = r->stat;
        shown.row.name = r->name;
        shown.row.stat = &stat.stat;
        shown.row.set = r->set < set_count ? sets[r->set].set : NULL;
        shown.row.index = i;
        shown.row.parent = r->parent;
        shown.row.depth = r->depth;
        result = fn(data, &shown.row);
    }
    scratch_free(&w.memory);
    return result;
}

static int is_set_first(const void *what, uint32_t a, uint32_t b) {
    const struct set_entry *sets = what;
    return strcmp(sets[a].name, sets[b].name) < 0;
}

int stint_set_each(stint_set_fn fn, void *data) {
    FUNCTION_KEEP;
    struct scratch memory = {.failed = 0};
    uint32_t count;
    if (!fn) {
        return STINT_ERROR_UNKNOWN;
    }
    const struct set_entry *sets = walk_list_sets(&memory, &count);
    uint32_t *order = sets ? order_by(&memory, count, is_set_first, sets) : NULL;
    int result = order ? STINT_OK : STINT_ERROR_NO_MEMORY;
    for (uint32_t i = 0; i < count && !result; ++i) {
        const struct set_entry *e = &sets[order[i]];
        result = fn(data, e->name, e->set);
    }
    scratch_free(&memory);
    return result;
}
