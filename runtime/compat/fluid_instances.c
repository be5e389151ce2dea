/* SPDX-License-Identifier: Apache-2.0 */
#include "fluid_rows.h"

#include "base/order.h"

static int key_before(uint32_t type, uint32_t name, const struct fluid_instance *b) {
    if (type != b->type) {
        return type < b->type;
    }
    return name < b->name;
}

static int by_name(const void *what, uint32_t a, uint32_t b) {
    const struct fluid_instance *of = what;
    if (of[a].type == of[b].type && of[a].name == of[b].name) {
        return of[a].begin < of[b].begin;
    }
    return key_before(of[a].type, of[a].name, &of[b]);
}

static int by_time(const void *what, uint32_t a, uint32_t b) {
    const struct fluid_instance *of = what;
    if (of[a].type != of[b].type) {
        return of[a].type < of[b].type;
    }
    return of[a].begin < of[b].begin;
}

static int is_new(const struct fluid_instance *of, uint32_t count, const struct fluid_instance *i) {
    return !count || of[count - 1].type != i->type || of[count - 1].name != i->name;
}

int fluid_instances_number(struct fluid_instances *out, struct snapshot *s,
                           struct fluid_instance *found, uint32_t count) {
    uint32_t *order = order_by(&s->memory, count, by_name, found);
    out->count = 0;
    out->of = scratch_array(&s->memory, (size_t)count + 1, sizeof *out->of);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (is_new(out->of, out->count, &found[order[i]])) {
            out->of[out->count++] = found[order[i]];
        }
    }
    order = order_by(&s->memory, out->count, by_time, out->of);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0, number = 0; i < out->count; ++i, ++number) {
        struct fluid_instance *one = &out->of[order[i]];
        if (!i || out->of[order[i - 1]].type != one->type) {
            number = 0;
        }
        one->number = number;
    }
    return 0;
}

uint32_t fluid_instances_of(const struct fluid_instances *all, uint32_t type, uint32_t name) {
    uint32_t from = 0, end = all->count;
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        const struct fluid_instance *i = &all->of[middle];
        if (i->type == type && i->name == name) {
            return i->number;
        }
        if (key_before(type, name, i)) {
            end = middle;
        } else {
            from = middle + 1;
        }
    }
    return SNAPSHOT_NONE;
}
