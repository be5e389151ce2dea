/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads run files for diff.c: for each name and set a sample of each run. cmd_diff.c calls
 * diff_read once per file. One run is in memory at a time; a few hundred bytes per statistic are
 * kept of it, because most of the 704 buckets of a histogram are empty.
 */
#include <math.h>
#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/histogram.h"
#include "base/status.h"
#include "diff.h"
#include "model/activity_name.h"
#include "model/activity_table.h"
#include "model/rows.h"
#include "runfile/run_open.h"
#include "system/filter.h"
#include "system/log.h"
#include "tool/common/command.h"

int diff_start(struct diff *d, uint32_t a_runs, uint32_t b_runs) {
    memset(d, 0, sizeof *d);
    d->runs[0] = a_runs;
    d->runs[1] = b_runs;
    for (int side = 0; side < 2; ++side) {
        d->run[side] = scratch_array(&d->memory, d->runs[side], sizeof *d->run[side]);
    }
    return hash_map_start(&d->item_of, &d->memory, 0) || scratch_failed(&d->memory) ? -1 : 0;
}

void diff_end(struct diff *d) {
    scratch_free(&d->memory);
}

static uint32_t hash_item(const char *name, size_t length, const char *set) {
    return (uint32_t)hash_add(hash_bytes(name, length), hash_bytes(set, strlen(set)));
}

static struct diff_item *item_new(struct diff *d, const char *name, size_t length,
                                  const char *set) {
    struct diff_item *item = &d->item[d->items];
    item->name = scratch_text(&d->memory, name, length);
    item->set = scratch_text(&d->memory, set, strlen(set));
    item->length = length;
    for (int side = 0; side < 2; ++side) {
        item->run[side] = scratch_array(&d->memory, d->runs[side], sizeof *item->run[side]);
    }
    if (scratch_failed(&d->memory)) {
        return NULL;
    }
    ++d->items;
    return item;
}

static int item_is(const struct diff_item *item, const char *name, size_t length, const char *set) {
    return item->length == length && !memcmp(item->name, name, length) && !strcmp(item->set, set);
}

struct diff_item *diff_item(struct diff *d, const char *name, size_t length, const char *set) {
    uint32_t hash = hash_item(name, length, set);
    d->item = scratch_array_grow(&d->memory, d->item, d->items, &d->room, sizeof *d->item);
    if (scratch_failed(&d->memory)) {
        return NULL;
    }
    struct hash_map_walk walk;
    uint32_t known = hash_map_first(&d->item_of, hash, &walk);
    while (known != HASH_MAP_NONE && !item_is(&d->item[known], name, length, set)) {
        known = hash_map_next(&d->item_of, &walk);
    }
    if (known != HASH_MAP_NONE) {
        return &d->item[known];
    }
    struct diff_item *item = item_new(d, name, length, set);
    if (!item || hash_map_add(&d->item_of, hash, d->items - 1)) {
        return NULL;
    }
    return item;
}

/* ---- One run. */

struct reading {
    struct diff *d;
    struct snapshot *s;
    struct rows rows;
    struct hash_map seen; /* activities' histograms added already: a damaged file may share them */
};

static int reading_start(struct reading *r, struct diff *d, struct snapshot *s) {
    memset(r, 0, sizeof *r);
    r->d = d;
    r->s = s;
    if (rows_flat(&r->rows, s, 0)) {
        return -1;
    }
    return hash_map_start(&r->seen, &s->memory, s->activity_count);
}

static int sum_histogram(struct reading *r, struct histogram **to, uint32_t unit) {
    struct histogram h = {.narrow = 1};
    if (hash_map_get(&r->seen, unit) != HASH_MAP_NONE ||
        snapshot_read_buckets(r->s, SNAPSHOT_NONE, unit, &h)) {
        return 0;
    }
    if (hash_map_add(&r->seen, unit, 0)) {
        return -1;
    }
    if (!*to) {
        *to = scratch_get(&r->s->memory, sizeof **to);
    }
    if (scratch_failed(&r->s->memory)) {
        return -1;
    }
    histogram_sum(*to, &h);
    return 0;
}

static int keep_buckets(struct diff *d, struct diff_histogram *out, const struct histogram *h,
                        double unit) {
    struct histogram_list list;
    if (histogram_pack(&list, &d->memory, h)) {
        return -1;
    }
    *out = (struct diff_histogram){list.bucket, list.used, unit};
    return 0;
}

static int keep_histogram_of_row(struct reading *r, struct diff_histogram *out, uint32_t row,
                                 int gpu, double unit) {
    struct histogram h;
    if (rows_histogram(&h, &r->rows, row, gpu) || histogram_beyond(&h)) {
        memset(&h, 0, sizeof h); /* without percentiles, or they are lower bounds */
    }
    return keep_buckets(r->d, out, &h, h.in_ns ? 1 : unit);
}

static int keep_times_of_row(struct reading *r, struct diff_sample *to, uint32_t index) {
    const struct stint_row *row = &r->rows.row[index];
    to->self = (double)row->self_ns;
    to->cpu.count = (double)row->samples;
    to->cpu.total = (double)row->total_ns;
    to->cpu.max = (double)row->max_ns;
    return keep_histogram_of_row(r, &to->cpu.histogram, index, 0, r->s->ns_per_tick);
}

static int keep_scope_row(struct reading *r, int side, uint32_t number, uint32_t index) {
    const struct stint_row *row = &r->rows.row[index];
    const char *set = row->set ? r->s->sets[row->set] : "";
    if (!filter_allows(row->name, row->name_length)) {
        return 0;
    }
    struct diff_item *item = diff_item(r->d, row->name, row->name_length, set);
    if (!item) {
        return -1;
    }
    struct diff_sample *to = &item->run[side][number];
    struct row_sampled gpu = row_sampled(row, 1);
    to->there = row->calls || row->samples || gpu.count;
    to->calls = (double)row->calls;
    for (uint32_t i = 0; i < DIFF_NUMBERS; ++i) {
        to->number[i] = (double)row_number(row, diff_numbers[i].field);
    }
    to->gpu.count = (double)gpu.count;
    to->gpu.total = (double)gpu.total_ns;
    to->gpu.max = (double)gpu.max_ns;
    if (row->has & ROW_PARTIAL) {
        item->partial = 1; /* which calls were timed was the same in all runs: no judgement */
    } else if (keep_times_of_row(r, to, index)) {
        return -1;
    }
    return keep_histogram_of_row(r, &to->gpu.histogram, index, 1, 1);
}

/* ---- Work of GPUs and calls of their API, by name: all scopes, devices and streams together. */

static int is_compared(uint32_t kind) {
    return ACTIVITY_IN(kind) & (ACTIVITY_IN_WORK | ACTIVITY_IN_CALLS);
}

/* 0; 1 if the activity is left out; -1 without memory. */
static int find_activity_item(struct diff *d, const struct snapshot_activity *a, uint32_t *index) {
    char name[8 + ACTIVITY_NAME_BYTES];
    if (!is_compared(a->kind)) {
        return 1;
    }
    int gpu = (ACTIVITY_IN(a->kind) & ACTIVITY_IN_WORK) != 0;
    memcpy(name, gpu ? "[gpu] " : "[api] ", 6);
    size_t n = 6 + activity_name(name + 6, ACTIVITY_NAME_BYTES, a);
    if (!filter_allows(name, n)) {
        return 1;
    }
    struct diff_item *item = diff_item(d, name, n, "");
    if (!item) {
        return -1;
    }
    item->gpu = gpu;
    *index = (uint32_t)(item - d->item);
    return 0;
}

static void sample_add_activity(struct diff_sample *to, const struct snapshot_activity *a) {
    to->there |= a->count != 0;
    to->calls += (double)a->count;
    to->number[DIFF_BYTES - DIFF_FIRST_NUMBER] += (double)a->bytes;
    to->self += (double)a->total;
    to->cpu.count += (double)a->count;
    to->cpu.total += (double)a->total;
    to->cpu.max = double_max(to->cpu.max, (double)a->max);
}

static int keep_activities(struct reading *r, int side, uint32_t number) {
    struct snapshot *s = r->s;
    size_t most = (size_t)r->d->items + s->activity_count; /* items there can be */
    struct histogram **sum = scratch_array(&s->memory, most + 1, sizeof *sum);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        uint32_t at = 0;
        int left_out = find_activity_item(r->d, a, &at);
        if (left_out > 0) {
            continue;
        }
        if (left_out < 0 || sum_histogram(r, &sum[at], a->histogram)) {
            return -1;
        }
        sample_add_activity(&r->d->item[at].run[side][number], a);
    }
    for (uint32_t i = 0; i < r->d->items; ++i) {
        struct diff_times *to = &r->d->item[i].run[side][number].cpu;
        int is_known = sum[i] && !histogram_beyond(sum[i]) && !sum[i]->full;
        if (is_known && keep_buckets(r->d, &to->histogram, sum[i], 1)) {
            return -1;
        }
    }
    return 0;
}

static void sum_losses(struct diff_run *to, const struct snapshot *s) {
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        enum status_missing missing = status_text(i)->missing;
        if (missing && s->lost[i]) {
            to->lost = saturating_add(to->lost, s->lost[i]);
            to->missing += missing == STATUS_MISSING_ANY ? INFINITY : (double)s->lost[i];
        }
    }
}

static int keep_run(struct diff *d, int side, uint32_t number, struct run *run) {
    const struct arena_header *h = (const struct arena_header *)(const void *)run->snapshot.base;
    struct diff_run *to = &d->run[side][number];
    struct reading r;
    to->program = scratch_text(&d->memory, run->program, strlen(run->program));
    to->host = scratch_text(&d->memory, run->host, strlen(run->host));
    to->wall = (double)run->snapshot.wall_ns;
    to->at_least = run->at_least;
    sum_losses(to, &run->snapshot);
    to->reference = h->about.reference_ps;
    to->bytes = h->used;
    to->start_ticks = h->start.ticks;
    to->start_real_ns = h->start.real_ns;
    to->pid = h->pid;
    to->cpus = run->cpus;
    to->cpu = scratch_text(&d->memory, run->cpu, strlen(run->cpu));
    to->conditions = scratch_text(&d->memory, run->conditions, strlen(run->conditions));
    if (scratch_failed(&d->memory) || reading_start(&r, d, &run->snapshot)) {
        return -1;
    }
    for (uint32_t i = 0; i < r.rows.count; ++i) {
        if (keep_scope_row(&r, side, number, i)) {
            return -1;
        }
    }
    return keep_activities(&r, side, number);
}

int diff_read(struct diff *d, int side, uint32_t number, const char *path) {
    struct run run;
    if (run_open(&run, path)) {
        return -1;
    }
    int damaged = command_warn(&run) != COMMAND_GOOD;
    int failed = keep_run(d, side, number, &run);
    run_close(&run);
    if (failed) {
        log_error("%.500s: not enough memory to compare it", path);
        return -1;
    }
    return damaged;
}
