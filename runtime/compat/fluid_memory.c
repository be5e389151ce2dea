/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by scope, in the layout of the fluid profiler's memory report: who allocated and who
 * freed, and the peak of each device. The GPU's memory is from activities, the host's (CPUPlace)
 * from what libstint-mem.so counted.
 */
#include <stdio.h>
#include <string.h>

#include "arena/activity_kind.h"
#include "base/arithmetic.h"
#include "base/number.h"
#include "base/order.h"
#include "fluid_report.h"
#include "fluid_rows.h"
#include "model/rows.h"

#define NAME 55 /* columns */
#define CELL 18
#define PART 200 /* columns of a scope's name */
#define DEPTH 64 /* scopes of a path that are named; what is around them is "..." */

/* The use of memory by one scope, in all its threads, in one place. */
struct memory_use {
    uint32_t row; /* of the tree; SNAPSHOT_NONE: of no scope that is known */
    uint32_t device;
    uint32_t memory;
    u128 calls[2]; /* allocated, freed */
    u128 bytes[2];
};

struct memory_uses {
    struct memory_use *use;
    uint32_t count;
    struct rows rows;
};

/* ---- Sums. */

static int memory_uses_equal(const struct memory_use *a, const struct memory_use *b) {
    return a->row == b->row && a->device == b->device && a->memory == b->memory;
}

static int by_scope(const void *what, uint32_t one, uint32_t other) {
    const struct memory_use *a = (const struct memory_use *)what + one;
    const struct memory_use *b = (const struct memory_use *)what + other;
    if (a->row != b->row) {
        return a->row < b->row;
    }
    if (a->device != b->device) {
        return a->device < b->device;
    }
    return a->memory < b->memory;
}

/* The most allocated first, then the most freed. */
static int by_bytes(const void *what, uint32_t one, uint32_t other) {
    const struct memory_use *a = (const struct memory_use *)what + one;
    const struct memory_use *b = (const struct memory_use *)what + other;
    if (a->bytes[0] != b->bytes[0]) {
        return a->bytes[0] > b->bytes[0];
    }
    return a->bytes[1] > b->bytes[1];
}

static uint32_t kind_of(uint32_t detail) {
    switch (detail) {
    case ACTIVITY_MEMORY_PAGEABLE:
    case ACTIVITY_MEMORY_PINNED:
    case ACTIVITY_MEMORY_MANAGED:
        return detail;
    case ACTIVITY_MEMORY_MANAGED_STATIC:
        return ACTIVITY_MEMORY_MANAGED;
    default:
        return ACTIVITY_MEMORY_DEVICE;
    }
}

static int is_use(const struct snapshot_activity *a) {
    return (a->kind == ACTIVITY_ALLOC || a->kind == ACTIVITY_FREE) && a->count;
}

static struct memory_use use_of(const struct snapshot *s, const struct snapshot_activity *a,
                                const uint32_t *row_of) {
    int freed = a->kind == ACTIVITY_FREE;
    struct memory_use use = {
        .row = a->node < s->node_count ? row_of[a->node] : SNAPSHOT_NONE,
        .device = a->device,
        .memory = kind_of(a->detail),
    };
    use.calls[freed] = a->count;
    use.bytes[freed] = a->bytes;
    return use;
}

/* The bytes on the host that the scope allocated and freed. */
static struct memory_use host_use_of(const struct measures *from, uint32_t row) {
    struct memory_use use = {
        .row = row,
        .device = SNAPSHOT_NONE,
        .memory = ACTIVITY_MEMORY_PAGEABLE,
        .calls = {from->measure[MEASURE_MALLOCS], from->measure[MEASURE_FREES]},
        .bytes = {from->measure[MEASURE_MALLOC_BYTES], from->measure[MEASURE_FREED_BYTES]},
    };
    return use;
}

static int is_host_use(const struct measures *m) {
    return (m->measure[MEASURE_MALLOCS] | m->measure[MEASURE_FREES]) != 0;
}

static void add_use(struct memory_uses *m, const struct memory_use *use) {
    struct memory_use *to = NULL;
    if (m->count) {
        to = &m->use[m->count - 1];
    }
    if (!to || !memory_uses_equal(to, use)) {
        m->use[m->count++] = *use;
        return;
    }
    for (int i = 0; i < 2; ++i) {
        to->calls[i] += use->calls[i];
        to->bytes[i] += use->bytes[i];
    }
}

static int read_uses(struct memory_uses *out, struct snapshot *s) {
    uint32_t *row_of, count = 0;
    size_t most = (size_t)s->activity_count + s->node_count + 1;
    struct memory_use *all = scratch_array(&s->memory, most, 2 * sizeof *all);
    memset(out, 0, sizeof *out);
    if (scratch_failed(&s->memory) || rows_tree_of(&out->rows, s, 0, &row_of)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        if (is_use(&s->activities[i])) {
            all[count++] = use_of(s, &s->activities[i], row_of);
        }
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (is_host_use(s->nodes[i].measures)) {
            all[count++] = host_use_of(s->nodes[i].measures, row_of[i]);
        }
    }
    if (is_host_use(s->outside)) {
        all[count++] = host_use_of(s->outside, SNAPSHOT_NONE);
    }
    uint32_t *order = order_by(&s->memory, count, by_scope, all);
    out->use = all + most;
    for (uint32_t i = 0; order && i < count; ++i) {
        add_use(out, &all[order[i]]);
    }
    if (order) {
        return 0;
    }
    return -1;
}

/* ---- Lines. */

static double bytes_to_mib(u128 bytes) {
    return (double)bytes / 1048576;
}

static void put_left(struct text *out, size_t used, size_t width) {
    text_spaces(out, used < width ? width - used : 1);
}

static size_t memory_put_place(const struct report *r, uint32_t device, uint32_t memory) {
    static const char *const places[] = {[ACTIVITY_MEMORY_PINNED] = "PinnedPlace",
                                         [ACTIVITY_MEMORY_DEVICE] = "Place",
                                         [ACTIVITY_MEMORY_MANAGED] = "ManagedPlace"};
    const struct snapshot *s = r->snapshot;
    size_t from = r->out->length;
    if (memory == ACTIVITY_MEMORY_PAGEABLE) {
        text_add(r->out, "CPUPlace");
    } else {
        text_add(r->out, "%s%s", fluid_platform(s), places[memory]);
    }
    if (memory == ACTIVITY_MEMORY_PAGEABLE || memory == ACTIVITY_MEMORY_PINNED) {
        return r->out->length - from;
    }
    if (device < s->device_count) {
        text_add(r->out, "(%u)", s->devices[device].number);
    } else {
        text_add(r->out, "(?)");
    }
    return r->out->length - from;
}

/* "step/load": the columns used. */
static size_t put_path(const struct report *r, const struct rows *rows, uint32_t row) {
    uint32_t path[DEPTH], depth = 0;
    size_t used = 0;
    if (row == SNAPSHOT_NONE) {
        return text_name(r->out, "Unknown", 7, 0);
    }
    for (; row != SNAPSHOT_NONE && depth < DEPTH; row = rows->row[row].parent) {
        path[depth++] = row;
    }
    if (row != SNAPSHOT_NONE) {
        used += text_name(r->out, ".../", 4, 0);
    }
    while (depth--) {
        const struct stint_row *one = &rows->row[path[depth]];
        used += text_name(r->out, one->name, one->name_length, PART);
        if (depth) {
            used += text_name(r->out, "/", 1, 0);
        }
    }
    return used;
}

static void put_cells(struct text *out, size_t used, const char *const cells[4]) {
    put_left(out, used, NAME);
    for (int i = 0; i < 4; ++i) {
        text_add(out, "%s", cells[i]);
        if (i < 3) { /* no blanks at the end of a line */
            put_left(out, strlen(cells[i]), CELL);
        }
    }
    text_put(out, "\n", 1);
}

static void put_use(const struct report *r, const struct memory_uses *m,
                    const struct memory_use *use) {
    char text[4][TEXT_NUMBER];
    const char *const cells[4] = {text[0], text[1], text[2], text[3]};
    for (int i = 0; i < 2; ++i) {
        snprintf(text[2 * i], TEXT_NUMBER, "%s", number_whole(use->calls[i]).text);
        snprintf(text[2 * i + 1], TEXT_NUMBER, "%s",
                 number_short(bytes_to_mib(use->bytes[i]), 6).text);
    }
    size_t used = memory_put_place(r, use->device, use->memory);
    text_put(r->out, ":", 1);
    used += 1 + put_path(r, &m->rows, use->row);
    put_cells(r->out, used, cells);
}

static void memory_put_peak(const struct report *r, const struct snapshot_activity *a) {
    text_add(r->out, "peak of ");
    memory_put_place(r, a->device, kind_of(a->detail));
    text_add(r->out, ": %s MB, at the end %s MB\n",
             number_short(bytes_to_mib(a->max_bytes), 6).text,
             number_short(bytes_to_mib(a->bytes), 6).text);
}

/* Whether there is anything for the report; else it is not printed. */
static int memory_is_known(const struct snapshot *s) {
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (is_use(a) || (a->kind == ACTIVITY_MEMORY && a->max_bytes)) {
            return 1;
        }
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (is_host_use(s->nodes[i].measures)) {
            return 1;
        }
    }
    return is_host_use(s->outside);
}

int fluid_memory(const struct report *r) {
    static const char *const titles[4] = {"Alloc Calls", "Size(MB)", "Free Calls", "Size(MB)"};
    struct snapshot *s = r->snapshot;
    struct memory_uses m;
    uint32_t *order, i;
    if (!memory_is_known(s)) {
        return 0;
    }
    if (read_uses(&m, s) || !(order = order_by(&s->memory, m.count, by_bytes, m.use))) {
        return -1;
    }
    text_add(r->out, "\n------------------------->    Memory Profiling Report     "
                     "<-------------------------\n\n");
    text_put(r->out, "Event", 5);
    put_cells(r->out, 5, titles);
    for (i = 0; i < m.count; ++i) {
        put_use(r, &m, &m.use[order[i]]);
    }
    for (i = 0; i < s->activity_count; ++i) {
        if (s->activities[i].kind == ACTIVITY_MEMORY && s->activities[i].max_bytes) {
            memory_put_peak(r, &s->activities[i]);
        }
    }
    return 0;
}
