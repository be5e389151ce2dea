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

/* Scopes have the most records, and what is done to one is compiled for their table: without a
 * loop, and each rule is known. */
#define INLINE static inline __attribute__((always_inline))
#define EACH_SCOPE_NUMBER(i) _Pragma("GCC unroll 16") for (uint32_t i = 0; i < SCOPE_NUMBERS; ++i)
_Static_assert(SCOPE_NUMBERS <= 16, "all are unrolled");

INLINE uint64_t number_load(const struct number_rule *n, const void *record) {
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

/* The number of a record as a sum of one. */
INLINE u128 number_widen(const struct number_rule *n, uint64_t value) {
    if (n->add == NUMBER_TICKS) {
        return (u128)(i128)(int64_t)value;
    }
    return value;
}

/* The largest number that a record has room for. */
static uint64_t number_most(const struct number_rule *n) {
    return n->unit == UNIT_SAMPLES ? UINT64_MAX / 2 : UINT64_MAX;
}

/* The nearest number that a record has room for. */
static uint64_t number_narrow(const struct number_rule *n, u128 sum) {
    if (n->add == NUMBER_TICKS) {
        i128 ticks = (i128)sum;
        if (ticks < INT64_MIN) {
            return (uint64_t)INT64_MIN;
        }
        return ticks > INT64_MAX ? INT64_MAX : (uint64_t)ticks;
    }
    return (uint64_t)u128_min(sum, number_most(n));
}

/* Whether `to` becomes `from`, of a number that is one or the other. */
INLINE int number_is_taken(const struct number_rule *n, u128 to, u128 from) {
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

INLINE u128 number_sum(const struct number_rule *n, u128 a, u128 b) {
    switch (n->add) {
    case NUMBER_SUM:
    case NUMBER_STATE:
    case NUMBER_TICKS:
        return a + b;
    case NUMBER_SQUARES:
        return bits_of_double(double_of_bits((uint64_t)a) + double_of_bits((uint64_t)b));
    default:
        return number_is_taken(n, a, b) ? b : a;
    }
}

void numbers_load(const struct record *r, uint64_t *to, const void *from) {
    if (r == &record_scope) {
        EACH_SCOPE_NUMBER(i) {
            to[i] = number_load(&scope_numbers[i], from);
        }
        return;
    }
    for (uint32_t i = 0; i < r->count; ++i) {
        to[i] = number_load(&r->number[i], from);
    }
}

void numbers_store(const struct record *r, const uint64_t *from, void *to) {
    for (uint32_t i = 0; i < r->count; ++i) {
        number_store(&r->number[i], from[i], to);
    }
}

void numbers_clear(const struct record *r, u128 *to) {
    for (uint32_t i = 0; i < r->count; ++i) {
        to[i] = r->number[i].add == NUMBER_LEAST ? UINT64_MAX : 0;
    }
}

/* Adds number i of a record or a sum; leader: the one that it is taken with, if there is one. The
 * larger one belongs to the earliest of two leaders that are equal: the call that is around the
 * other one, in whichever order they are added. */
INLINE void number_add(const struct number_rule *rules, uint32_t i, u128 *to, u128 more,
                       u128 leader) {
    const struct number_rule *n = &rules[i], *with = &rules[n->with];
    if (n->add != NUMBER_WITH) {
        to[i] = number_sum(n, to[i], more);
    } else if (number_is_taken(with, to[n->with], leader) ||
               (with->add == NUMBER_EARLIEST && to[n->with] == leader && more > to[i])) {
        to[i] = more;
    }
}

INLINE void number_add_from(const struct number_rule *rules, uint32_t i, u128 *to,
                            const uint64_t *from, unsigned without) {
    if (!(rules[i].of & without)) {
        number_add(rules, i, to, number_widen(&rules[i], from[i]), from[rules[i].with]);
    }
}

void numbers_add(const struct record *r, u128 *to, const uint64_t *from, unsigned without) {
    if (r == &record_scope) {
        EACH_SCOPE_NUMBER(i) {
            number_add_from(scope_numbers, i, to, from, without);
        }
        return;
    }
    for (uint32_t i = 0; i < r->count; ++i) {
        number_add_from(r->number, i, to, from, without);
    }
}

void numbers_add_sums(const struct record *r, u128 *to, const u128 *from) {
    for (uint32_t i = 0; i < r->count; ++i) {
        number_add(r->number, i, to, from[i], from[r->number[i].with]);
    }
}

void numbers_widen(const struct record *r, u128 *to, const uint64_t *from) {
    for (uint32_t i = 0; i < r->count; ++i) {
        to[i] = number_widen(&r->number[i], from[i]);
    }
}

void numbers_narrow(const struct record *r, uint64_t *to, const u128 *from) {
    for (uint32_t i = 0; i < r->count; ++i) {
        to[i] = number_narrow(&r->number[i], from[i]);
    }
}

static int number_fits(const struct number_rule *n, uint64_t a, uint64_t b) {
    u128 sum = number_sum(n, number_widen(n, a), number_widen(n, b));
    return number_widen(n, number_narrow(n, sum)) == sum;
}

int numbers_fit(const struct record *r, const uint64_t *a, const uint64_t *b) {
    uint32_t i = 0;
    while (i < r->count && number_fits(&r->number[i], a[i], b[i])) {
        ++i;
    }
    return i == r->count;
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
    if (!m->groups) {
        return 0;
    }
    while (group < MEASURE_GROUP_COUNT && !measures_have(m, group)) {
        ++group;
    }
    return group < MEASURE_GROUP_COUNT;
}

void measures_add(uint32_t *groups, u128 *to, const struct measures *from, unsigned without) {
    for (uint32_t group = 0; group < MEASURE_GROUP_COUNT; ++group) {
        struct measure_list list = measure_list_of(group);
        unsigned bit = 1u << group;
        if (!measures_have(from, group)) {
            continue;
        }
        for (uint32_t i = 0; i < list.count; ++i) {
            const struct number_rule *n = &measure_rules[list.number[i]];
            u128 more = number_widen(n, from->measure[list.number[i]]);
            u128 *sum = &to[list.number[i]];
            if (n->of & without) {
                continue;
            }
            *sum = *groups & bit ? number_sum(n, *sum, more) : more;
        }
        *groups |= bit;
    }
}

void measures_narrow(struct measures *to, const struct measure_sums *from) {
    to->groups = from->groups;
    numbers_narrow(&record_measures, to->measure, from->measure);
}

void measures_group_add(struct measures *to, enum measure_group group,
                        const struct measures *more) {
    struct measure_list list = measure_list_of(group);
    int is_new = !measures_have(to, group);
    for (uint32_t i = 0; i < list.count; ++i) {
        uint16_t at = list.number[i];
        const struct number_rule *n = &measure_rules[at];
        u128 sum = number_widen(n, more->measure[at]);
        if (!is_new) {
            sum = number_sum(n, number_widen(n, to->measure[at]), sum);
        }
        to->measure[at] = number_narrow(n, sum);
    }
    to->groups |= 1u << group;
}

int measures_group_fits(const struct measures *to, enum measure_group group,
                        const struct measures *more) {
    struct measure_list list = measure_list_of(group);
    uint32_t i = 0;
    while (i < list.count &&
           number_fits(&measure_rules[list.number[i]], to->measure[list.number[i]],
                       more->measure[list.number[i]])) {
        ++i;
    }
    return i == list.count || !measures_have(to, group);
}

void measures_subtract(struct measures *from, const struct measures *then) {
    numbers_subtract(&record_measures, from->measure, then->measure);
}
