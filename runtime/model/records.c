/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads, adds, subtracts and writes the numbers of records by their rules, in loops over the tables
 * that gen/records.ini is made into. Called by all that has such numbers: the reader, the baseline,
 * the rows and the merge.
 */
#include "records.h"

#include "arena/arena.h"
#include "base/api.h"
#include "base/arithmetic.h"
#include "stint/lines.h"

#include "record_table.inc"

static uint64_t number_load(const struct number_rule *n, const void *record) {
    const char *at = (const char *)record + n->at;
    uint64_t value = __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
    if (n->unit == UNIT_SAMPLES) {
        return value / 2 + (value & 1);
    }
    if (n->add == NUMBER_SQUARES) {
        return bits_of_double(double_of_bits(value));
    }
    return value;
}

static void number_store(const struct number_rule *n, uint64_t value, void *record) {
    if (n->unit == UNIT_SAMPLES) {
        value = 2 * u64_min(value, UINT64_MAX / 2);
    }
    *(uint64_t *)(void *)((char *)record + n->at) = value;
}

/* Whether `to` becomes `from`, of a number that is one or the other. */
static int number_is_taken(const struct number_rule *n, uint64_t to, uint64_t from) {
    switch (n->add) {
    case NUMBER_MOST:
        return from > to;
    case NUMBER_LEAST:
        return from < to;
    case NUMBER_EARLIEST:
        return from && (!to || from < to);
    default:
        return 0;
    }
}

static uint64_t number_sum(const struct number_rule *n, uint64_t a, uint64_t b) {
    switch (n->add) {
    case NUMBER_SUM:
    case NUMBER_STATE:
        return saturating_add(a, b);
    case NUMBER_TICKS:
        return a + b;
    case NUMBER_SQUARES:
        return bits_of_double(double_of_bits(a) + double_of_bits(b));
    default:
        return number_is_taken(n, a, b) ? b : a;
    }
}

void numbers_load(const struct record *r, uint64_t *to, const void *from) {
    for (uint32_t i = 0; i < r->count; ++i) {
        to[i] = number_load(&r->number[i], from);
    }
}

void numbers_store(const struct record *r, const uint64_t *from, void *to) {
    for (uint32_t i = 0; i < r->count; ++i) {
        number_store(&r->number[i], from[i], to);
    }
}

void numbers_clear(const struct record *r, uint64_t *to) {
    for (uint32_t i = 0; i < r->count; ++i) {
        to[i] = r->number[i].add == NUMBER_LEAST ? UINT64_MAX : 0;
    }
}

void numbers_add(const struct record *r, uint64_t *to, const uint64_t *from, unsigned without) {
    for (uint32_t i = 0; i < r->count; ++i) {
        const struct number_rule *n = &r->number[i];
        if (n->of & without) {
            continue;
        }
        if (n->add != NUMBER_WITH) {
            to[i] = number_sum(n, to[i], from[i]);
        } else if (number_is_taken(&r->number[n->with], to[n->with], from[n->with])) {
            to[i] = from[i];
        }
    }
}

void numbers_subtract(const struct record *r, uint64_t *from, const uint64_t *then) {
    for (uint32_t i = 0; i < r->count; ++i) {
        switch (r->number[i].add) {
        case NUMBER_SUM:
            from[i] = saturating_subtract(from[i], then[i]);
            break;
        case NUMBER_TICKS:
            from[i] -= then[i];
            break;
        case NUMBER_SQUARES:
            from[i] =
                bits_of_double(double_max(double_of_bits(from[i]) - double_of_bits(then[i]), 0));
            break;
        default:
            break;
        }
    }
}

/* ---- Groups. */

uint64_t measure_sum(enum measure m, uint64_t a, uint64_t b) {
    return number_sum(&measure_rules[m], a, b);
}

void measures_load(struct measures *to, enum measure_group group, const void *from,
                   uint32_t count) {
    struct measure_list list = measure_list_of(group);
    to->groups |= 1u << group;
    for (uint32_t i = 0; i < list.count && i < count; ++i) {
        to->measure[list.number[i]] = number_load(&measure_rules[list.number[i]], from);
    }
}

void measures_store(const struct measures *from, enum measure_group group, void *to) {
    struct measure_list list = measure_list_of(group);
    for (uint32_t i = 0; i < list.count; ++i) {
        number_store(&measure_rules[list.number[i]], from->measure[list.number[i]], to);
    }
}

int measures_have(const struct measures *m, enum measure_group group) {
    struct measure_list list = measure_list_of(group);
    if (!(m->groups & 1u << group)) {
        return 0;
    }
    return list.place == MEASURES_IN_BLOCK || m->measure[list.number[0]] ||
           m->measure[list.number[1]];
}

int measures_any(const struct measures *m) {
    uint32_t group = 0;
    while (group < MEASURE_GROUP_COUNT && !measures_have(m, group)) {
        ++group;
    }
    return group < MEASURE_GROUP_COUNT;
}

void measures_add(uint32_t *groups, uint64_t *to, const struct measures *from, unsigned without) {
    for (uint32_t group = 0; group < MEASURE_GROUP_COUNT; ++group) {
        struct measure_list list = measure_list_of(group);
        unsigned bit = 1u << group;
        if (!measures_have(from, group)) {
            continue;
        }
        for (uint32_t i = 0; i < list.count; ++i) {
            const struct number_rule *n = &measure_rules[list.number[i]];
            uint64_t more = from->measure[list.number[i]], *sum = &to[list.number[i]];
            if (n->of & without) {
                continue;
            }
            *sum = *groups & bit ? number_sum(n, *sum, more) : more;
        }
        *groups |= bit;
    }
}

void measures_subtract(struct measures *from, const struct measures *then) {
    numbers_subtract(&record_measures, from->measure, then->measure);
}
