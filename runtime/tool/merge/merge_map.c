/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a run to the merged file: ticks, the numbers of records, and the units of nodes and devices.
 * The files that add a part of a run call these.
 * - Ticks of one boot and kind of clock are the same in all processes and are copied unchanged.
 *   Those of another are converted by the time of day, as far as merge_align.c knows no better.
 * - Runs that are added up count in nanoseconds, whatever their clocks.
 */
#include <string.h>

#include "base/arithmetic.h"
#include "merge.h"

/* ---- Clocks. */

int merge_is_one_boot(const struct merge *m, const struct arena_header *from) {
    return from->boot_id[0] && !memcmp(from->boot_id, m->clock.boot_id, sizeof m->clock.boot_id);
}

static int is_one_clock(const struct merge *m, const struct arena_header *from) {
    if (m->keep != MERGE_KEEP_THREADS) {
        return 0;
    }
    return m->expected == 1 || (merge_is_one_boot(m, from) && from->clock_kind == m->clock.kind);
}

void merge_map_clock(const struct merge *m, struct merge_map *map) {
    const struct arena_header *h = map->from;
    double later = (double)(int64_t)(h->start.real_ns - m->clock.start.real_ns);
    map->one_clock = is_one_clock(m, h);
    map->rate = 1;
    if (!map->one_clock) {
        map->rate = map->run->snapshot.ns_per_tick / m->clock.ns_per_tick;
    }
    map->start_tick = (double)m->clock.start.ticks + later / m->clock.ns_per_tick;
    if (m->keep != MERGE_KEEP_THREADS && (m->expected == 1 || merge_is_one_boot(m, h))) {
        map->start_tick = (double)h->start.monotonic_ns;
    }
    if (m->align && !map->one_clock && !merge_align_clock(m->align, h, &later, &map->rate)) {
        map->start_tick = (double)m->clock.start.ticks + later / m->clock.ns_per_tick;
        map->rate /= m->clock.ns_per_tick;
    }
}

uint64_t merge_tick(const struct merge_map *map, uint64_t tick) {
    if (map->one_clock) {
        return tick;
    }
    double at = map->start_tick + (double)(int64_t)(tick - map->from->start.ticks) * map->rate;
    return (uint64_t)double_min(double_max(at, 1), 4e18); /* 0 means no tick */
}

uint64_t merge_length(const struct merge_map *map, uint64_t ticks) {
    if (map->one_clock) {
        return ticks;
    }
    return snapshot_whole((double)ticks * map->rate + 0.5);
}

uint64_t merge_ns_between(const struct merge *m, uint64_t from, uint64_t to) {
    if ((int64_t)(to - from) < 0) {
        return 0 - snapshot_whole((double)(from - to) * m->clock.ns_per_tick);
    }
    return snapshot_whole((double)(to - from) * m->clock.ns_per_tick);
}

/* ---- The numbers of records. */

static uint64_t map_number(const struct merge_map *map, const struct number_rule *rule,
                           uint64_t value) {
    if (rule->add == NUMBER_TICKS && value > INT64_MAX) { /* below 0 */
        return -merge_length(map, -value);
    }
    if (rule->unit == UNIT_MOMENT) {
        return merge_tick_or_none(map, value);
    }
    if (rule->add == NUMBER_TICKS || rule->unit == UNIT_TICKS) {
        return merge_length(map, value);
    }
    return value;
}

void merge_numbers(const struct merge_map *map, const struct record *r, uint64_t *number,
                   int in_ns) {
    for (uint32_t i = 0; i < r->count; ++i) {
        const struct number_rule *rule = &r->number[i];
        int is_none = rule->add == NUMBER_LEAST && number[i] == UINT64_MAX;
        if (!is_none && !(in_ns && rule->unit == UNIT_TICKS)) {
            number[i] = map_number(map, rule, number[i]);
        }
    }
}

#define NUMBERS_MOST ACTIVITY_NUMBERS
_Static_assert((int)NUMBERS_MOST >= (int)SCOPE_NUMBERS && (int)NUMBERS_MOST >= (int)LINE_NUMBERS &&
                   (int)NUMBERS_MOST >= (int)RANK_CELL_NUMBERS,
               "the most that a record has");

void merge_record_clear(const struct record *r, void *to) {
    u128 none[NUMBERS_MOST];
    uint64_t number[NUMBERS_MOST];
    numbers_clear(r, none);
    numbers_narrow(r, number, none);
    numbers_store(r, number, to);
}

int merge_record_fits(const struct record *r, const void *to, const uint64_t *number) {
    uint64_t have[NUMBERS_MOST];
    numbers_load(r, have, to);
    return numbers_fit(r, have, number);
}

void merge_record_add(const struct record *r, void *to, const uint64_t *number) {
    u128 sum[NUMBERS_MOST];
    uint64_t have[NUMBERS_MOST];
    numbers_load(r, have, to);
    numbers_widen(r, sum, have);
    numbers_add(r, sum, number, 0);
    numbers_narrow(r, have, sum);
    numbers_store(r, have, to);
}

/* ---- Units. */

uint32_t merge_device_at(const struct merge_map *map, uint32_t index) {
    return index == SNAPSHOT_NONE ? 0 : map->device[index];
}

uint32_t merge_node_at(const struct merge_map *map, uint32_t index) {
    return index == SNAPSHOT_NONE ? 0 : map->node[index];
}

uint32_t merge_node(const struct merge_map *map, uint32_t unit) {
    return merge_node_at(map, snapshot_node_of(&map->run->snapshot, unit));
}
