/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of GPU activities as cells: for each table the query of activity_table.h that gives
 * its rows, and one list of columns, each with the tables that have it and where its value is.
 * Called by export_gpu.c (csv, json); the prometheus export has its own families. A new column is
 * one line of the list; a value that is not a field of the row has a function that finds it.
 */
#include "export_tables.h"

#include <string.h>

#define IN(table) (1u << (table))
#define KERNELS IN(EXPORT_KERNELS)
#define MEMORY IN(EXPORT_MEMORY)
#define API IN(EXPORT_API)
#define GAPS IN(EXPORT_GAPS)
#define STEPS IN(EXPORT_STEPS)
#define ALL IN(EXPORT_ACTIVITIES)
#define EVERY (IN(EXPORT_TABLES) - 1)

const char *const export_table_names[EXPORT_TABLES] = {"kernels", "memory", "api",
                                                       "gaps",    "steps",  "activities"};

static const struct activity_ask asks[EXPORT_TABLES] = {
    [EXPORT_KERNELS] = {ACTIVITY_IN(ACTIVITY_KERNEL), 0, ACTIVITY_EVERY_SET},
    [EXPORT_MEMORY] = {ACTIVITY_IN_COPIES, ACTIVITY_BY_DETAIL, ACTIVITY_EVERY_SET},
    [EXPORT_API] = {ACTIVITY_IN_CALLS, 0, ACTIVITY_EVERY_SET},
    [EXPORT_GAPS] = {ACTIVITY_IN(ACTIVITY_GAP), ACTIVITY_BY_SCOPE, ACTIVITY_EVERY_SET},
    [EXPORT_STEPS] = {ACTIVITY_IN(ACTIVITY_STEP), 0, ACTIVITY_EVERY_SET},
    [EXPORT_ACTIVITIES] = {~(ACTIVITY_IN(ACTIVITY_TAKEN_BACK) | ACTIVITY_IN(ACTIVITY_LINE)),
                           ACTIVITY_BY_DETAIL | ACTIVITY_BY_STREAM | ACTIVITY_BY_SCOPE,
                           ACTIVITY_EVERY_SET},
};

int export_table_rows(struct activity_table *out, struct snapshot *s, enum export_table table) {
    return activity_table(out, s, &asks[table]);
}

/* ---- Values that have to be looked up. Each sets the cell and returns 0, or -1: no value. */

struct row_source {
    const struct snapshot *snapshot;
    const struct activity_row *row;
    const struct snapshot_activity *sum; /* of the row */
};

typedef int finder(struct export_cell *out, const struct row_source *from);

#define NO_VALUE (-1)

static int cell_set_text(struct export_cell *out, const char *text) {
    out->is_text = 1;
    out->text = export_text(text);
    return *text ? 0 : NO_VALUE;
}

static int cell_set_number(struct export_cell *out, u128 n) {
    out->number = n;
    return 0;
}

static int cell_find_kind(struct export_cell *out, const struct row_source *from) {
    return cell_set_text(out, activity_kind_text(from->sum->kind));
}

static int cell_find_name(struct export_cell *out, const struct row_source *from) {
    out->is_text = 1;
    out->text = export_name(out->room, activity_name(out->room, sizeof out->room, from->sum));
    return 0;
}

static int cell_find_device(struct export_cell *out, const struct row_source *from) {
    uint32_t device = from->sum->device;
    if (device >= from->snapshot->device_count) {
        return NO_VALUE;
    }
    return cell_set_number(out, from->snapshot->devices[device].number);
}

/* NULL: unknown. */
static const struct snapshot_node *row_node(const struct row_source *from) {
    const struct snapshot *s = from->snapshot;
    return from->sum->node < s->node_count ? &s->nodes[from->sum->node] : NULL;
}

/* NULL: unknown, or in no scope. */
static const struct snapshot_node *row_scope(const struct row_source *from) {
    const struct snapshot_node *n = row_node(from);
    return n && n->parent != SNAPSHOT_NONE ? n : NULL;
}

static int cell_find_scope(struct export_cell *out, const struct row_source *from) {
    const struct snapshot_node *n = row_scope(from);
    out->is_text = 1;
    if (!n) {
        return NO_VALUE;
    }
    out->text = export_site(from->snapshot, n->site);
    return 0;
}

static int cell_find_set(struct export_cell *out, const struct row_source *from) {
    const struct snapshot_node *n = row_scope(from);
    return cell_set_text(out, n ? export_set_name(from->snapshot, n->set, "") : "");
}

static int cell_find_tid(struct export_cell *out, const struct row_source *from) {
    const struct snapshot_node *n = row_node(from);
    if (!n) {
        return NO_VALUE;
    }
    return cell_set_number(out, from->snapshot->threads[n->thread].tid);
}

static int row_is_copy(const struct row_source *from) {
    return from->sum->kind == ACTIVITY_COPY;
}

static int cell_find_direction(struct export_cell *out, const struct row_source *from) {
    if (!row_is_copy(from)) {
        return cell_set_text(out, "");
    }
    return cell_set_text(out, activity_copy_text(ACTIVITY_COPY_DIRECTION(from->sum->detail)));
}

static int cell_find_from(struct export_cell *out, const struct row_source *from) {
    if (!row_is_copy(from)) {
        return cell_set_text(out, "");
    }
    return cell_set_text(out, activity_memory_text(ACTIVITY_COPY_FROM(from->sum->detail)));
}

static int cell_find_to(struct export_cell *out, const struct row_source *from) {
    uint32_t detail = from->sum->detail;
    switch (from->sum->kind) {
    case ACTIVITY_COPY:
        return cell_set_text(out, activity_memory_text(ACTIVITY_COPY_TO(detail)));
    case ACTIVITY_FILL:
    case ACTIVITY_ALLOC:
    case ACTIVITY_FREE:
        return cell_set_text(out, activity_memory_text(detail));
    default:
        return cell_set_text(out, "");
    }
}

static int cell_find_async(struct export_cell *out, const struct row_source *from) {
    if (!row_is_copy(from)) {
        return NO_VALUE;
    }
    return cell_set_number(out, ACTIVITY_COPY_ASYNC(from->sum->detail));
}

static int cell_find_batch(struct export_cell *out, const struct row_source *from) {
    if (!row_is_copy(from) || !(from->sum->detail & ACTIVITY_COPY_BATCH)) {
        return NO_VALUE;
    }
    return cell_set_number(out, 1);
}

static int cell_find_why(struct export_cell *out, const struct row_source *from) {
    if (from->sum->kind != ACTIVITY_GAP) {
        return cell_set_text(out, "");
    }
    return cell_set_text(out, activity_gap_text(from->sum->detail));
}

static int cell_find_what(struct export_cell *out, const struct row_source *from) {
    return cell_set_text(out, from->sum->detail == ACTIVITY_STEP_BUSY ? "busy" : "wall");
}

static int cell_find_occupancy(struct export_cell *out, const struct row_source *from) {
    if (!(from->row->has & ACTIVITY_HAS_OCCUPANCY)) {
        return NO_VALUE;
    }
    return cell_set_number(out, from->row->occupancy.permille * 1000ull);
}

static int cell_find_limiter(struct export_cell *out, const struct row_source *from) {
    if (!(from->row->has & ACTIVITY_HAS_OCCUPANCY)) {
        return cell_set_text(out, "");
    }
    return cell_set_text(out, from->row->occupancy.limiter);
}

/* ---- Columns. */

enum width { LOOKED_UP, IN_128, IN_64, IN_32, TEXT };

struct column {
    const char *key;
    unsigned tables;
    enum width width;
    int optional;   /* 0 means: not known */
    size_t field;   /* of struct activity_row */
    uint32_t needs; /* ACTIVITY_HAS_*, TIMED */
    finder *find;
};

#define TIMED 0x10000u /* the times of allocations are not measured */
#define FIND(name) LOOKED_UP, 0, 0, 0, cell_find_##name
#define SUM(name, optional, needs)                                                                 \
    IN_128, optional, offsetof(struct activity_row, sum.name), needs, NULL
#define OF(name) IN_32, 1, offsetof(struct activity_row, sum.of.name), 0, NULL
#define OWN(width, name, optional, needs)                                                          \
    width, optional, offsetof(struct activity_row, name), needs, NULL

static const struct column columns[] = {
    {"kind", ALL | MEMORY | API, FIND(kind)},
    {"name", ALL | KERNELS | MEMORY | API, FIND(name)},
    {"what", STEPS, FIND(what)},
    {"why", GAPS, FIND(why)},
    {"device", EVERY & ~API, FIND(device)},
    {"context", ALL, OF(context)},
    {"stream", ALL, OF(stream)},
    {"scope", ALL | GAPS, FIND(scope)},
    {"set", ALL | GAPS, FIND(set)},
    {"tid", ALL | GAPS, FIND(tid)},
    {"direction", ALL | MEMORY, FIND(direction)},
    {"from", ALL | MEMORY, FIND(from)},
    {"to", ALL | MEMORY, FIND(to)},
    {"async", ALL | MEMORY, FIND(async)},
    {"batch", ALL | MEMORY, FIND(batch)},
    {"lib", ALL | KERNELS, OWN(TEXT, lib, 1, 0)},
    {"precision", ALL | KERNELS, OWN(TEXT, precision, 1, 0)},
    {"calls", EVERY, SUM(count, 0, 0)},
    {"total_ns", EVERY, SUM(total, 0, TIMED)},
    {"share_ppm", EVERY & ~ALL & ~STEPS, OWN(IN_64, share_ppm, 0, TIMED)},
    {"avg_ns", EVERY, OWN(IN_64, avg, 0, TIMED)},
    {"min_ns", EVERY, SUM(min, 0, TIMED)},
    {"p50_ns", EVERY, OWN(IN_64, median, 0, TIMED | ACTIVITY_HAS_MEDIAN)},
    {"max_ns", EVERY, SUM(max, 0, TIMED)},
    {"stddev_ns", EVERY, OWN(IN_64, stddev, 0, TIMED)},
    {"bytes", ALL | MEMORY, SUM(bytes, 1, 0)},
    {"min_bytes", MEMORY, SUM(min_bytes, 0, ACTIVITY_HAS_SIZES)},
    {"p50_bytes", MEMORY, OWN(IN_64, median_bytes, 0, ACTIVITY_HAS_MEDIAN_BYTES)},
    {"max_bytes", ALL | MEMORY, SUM(max_bytes, 1, 0)},
    {"stddev_bytes", MEMORY, OWN(IN_64, stddev_bytes, 0, ACTIVITY_HAS_SIZES)},
    {"bytes_per_s", ALL | MEMORY, OWN(IN_64, bytes_per_s, 1, TIMED)},
    {"launch_avg_ns", ALL | KERNELS | MEMORY, OWN(IN_64, launch_avg, 0, ACTIVITY_HAS_LAUNCH)},
    {"delay_avg_ns", ALL | KERNELS | MEMORY, OWN(IN_64, delay_avg, 0, ACTIVITY_HAS_LAUNCH)},
    {"grid_x", KERNELS, OF(grid[0])},
    {"grid_y", KERNELS, OF(grid[1])},
    {"grid_z", KERNELS, OF(grid[2])},
    {"block_x", KERNELS, OF(block[0])},
    {"block_y", KERNELS, OF(block[1])},
    {"block_z", KERNELS, OF(block[2])},
    {"registers", KERNELS, OF(registers)},
    {"shared_static_bytes", KERNELS, OF(shared_static)},
    {"shared_dynamic_bytes", KERNELS, OF(shared_dynamic)},
    {"varies", KERNELS, OF(varies)},
    {"occupancy_ppm", KERNELS, FIND(occupancy)},
    {"limiter", KERNELS, FIND(limiter)},
};
#define COLUMNS (sizeof columns / sizeof *columns)

static const struct column *table_column(enum export_table table, uint32_t number) {
    for (size_t i = 0; i < COLUMNS; ++i) {
        if (columns[i].tables & IN(table) && !number--) {
            return &columns[i];
        }
    }
    return NULL;
}

const char *export_table_key(enum export_table table, uint32_t column) {
    const struct column *c = table_column(table, column);
    return c ? c->key : NULL;
}

static uint32_t row_properties(const struct activity_row *r) {
    uint32_t kind = r->sum.of.kind;
    int timed = kind != ACTIVITY_ALLOC && kind != ACTIVITY_FREE && kind != ACTIVITY_MEMORY;
    return r->has | (timed ? TIMED : 0);
}

int export_table_cell(struct export_cell *out, enum export_table table, uint32_t column,
                      const struct snapshot *s, const struct activity_row *row) {
    const struct column *c = table_column(table, column);
    out->is_text = 0;
    if (!c || c->needs & ~row_properties(row)) {
        return NO_VALUE;
    }
    const char *field = (const char *)row + c->field;
    out->key = c->key;
    switch (c->width) {
    case IN_128:
        out->number = *(const u128 *)(const void *)field;
        break;
    case IN_64:
        out->number = *(const uint64_t *)(const void *)field;
        break;
    case IN_32:
        out->number = *(const uint32_t *)(const void *)field;
        break;
    case TEXT:
        return cell_set_text(out, *(const char *const *)(const void *)field);
    default:
        return c->find(out, &(struct row_source){s, row, &row->sum.of});
    }
    if (!out->number && c->optional) {
        return NO_VALUE;
    }
    return 0;
}
