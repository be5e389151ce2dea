/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and marks of ITT: metadata, counters and markers go to the trace. Pause and resume are
 * the switch of stint.
 */
#include "itt.h"

#include <string.h>

#include "range_tables.h"

struct itt_counter {
    const char *name;
    int64_t value; /* of inc and dec, atomic */
    int type;      /* of set_value */
    uint64_t made; /* how often it was created, less how often destroyed. Atomic */
};

static void counter_fill(void *body, struct range_name name) {
    struct itt_counter *c = body;
    c->name = name.bytes;
}

static const struct range_shape counter_shape = {0x6974742d636f756e, sizeof(struct itt_counter),
                                                 counter_fill};

struct itt_counter *itt_counter_create_typed(const char *name, const char *domain, int type) {
    struct itt_counter *c = range_thing_or(&counter_shape, name, NULL);
    if (c) {
        c->type = type;
        __atomic_fetch_add(&c->made, 1, __ATOMIC_RELAXED);
    }
    return c;
}

struct itt_counter *itt_counter_create(const char *name, const char *domain) {
    return itt_counter_create_typed(name, domain, ITT_U64);
}

/* 0: it is none, or was destroyed by all that created it. */
static int itt_counter_is(const struct itt_counter *counter) {
    return range_thing_is(&counter_shape, counter) &&
           __atomic_load_n(&counter->made, __ATOMIC_RELAXED);
}

/* The next counter of the name begins at 0. */
void itt_counter_destroy(struct itt_counter *counter) {
    if (itt_counter_is(counter) && !__atomic_sub_fetch(&counter->made, 1, __ATOMIC_RELAXED)) {
        __atomic_store_n(&counter->value, 0, __ATOMIC_RELAXED);
    }
}

static double itt_number(int type, const void *data) {
    union {
        uint64_t u64; /* first: all of it is set */
        int64_t s64;
        uint32_t u32;
        int32_t s32;
        uint16_t u16;
        int16_t s16;
        float real4;
        double real8;
    } from = {0};
    static const unsigned char sizes[] = {0, 8, 8, 4, 4, 2, 2, 4, 8};
    memcpy(&from, data, sizes[type]);
    const double all[] = {0,        (double)from.u64, (double)from.s64,   from.u32,  from.s32,
                          from.u16, from.s16,         (double)from.real4, from.real8};
    return all[type];
}

static void itt_value(const char *name, int type, const void *data) {
    if (data && type >= ITT_U64 && type <= ITT_DOUBLE) {
        stint_impl_value_named(name, UINT64_MAX, itt_number(type, data));
    }
}

void itt_metadata_add(const struct itt_domain *domain, struct itt_id id,
                      const struct itt_string *key, int type, size_t count, const void *data) {
    if (itt_domain_check(domain) && count) {
        itt_value(itt_name_of(key, "metadata").bytes, type, data);
    }
}

void itt_counter_set(struct itt_counter *counter, const void *data) {
    if (itt_counter_is(counter)) {
        itt_value(counter->name, counter->type, data);
    }
}

void itt_counter_add(struct itt_counter *counter, uint64_t more) {
    if (itt_counter_is(counter)) {
        int64_t now = __atomic_add_fetch(&counter->value, (int64_t)more, __ATOMIC_RELAXED);
        stint_impl_value_named(counter->name, UINT64_MAX, (double)now);
    }
}

void itt_counter_inc(struct itt_counter *counter) {
    itt_counter_add(counter, 1);
}

void itt_counter_take(struct itt_counter *counter, uint64_t less) {
    itt_counter_add(counter, 0 - less);
}

void itt_counter_dec(struct itt_counter *counter) {
    itt_counter_take(counter, 1);
}

/* A counter without a handle: that of the name. */
void itt_counter_add_named(const struct itt_domain *domain, const struct itt_string *name,
                           uint64_t more) {
    if (itt_domain_check(domain)) {
        itt_counter_add(itt_counter_create(itt_name_of(name, "counter").bytes, NULL), more);
    }
}

void itt_counter_inc_named(const struct itt_domain *domain, const struct itt_string *name) {
    itt_counter_add_named(domain, name, 1);
}

void itt_marker(const struct itt_domain *domain, struct itt_id id, const struct itt_string *name,
                int scope) {
    if (itt_domain_check(domain)) {
        stint_impl_mark_named(itt_name_of(name, "marker").bytes, UINT64_MAX);
    }
}

void itt_pause(void) {
    stint_timers_enable(0);
}

void itt_resume(void) {
    stint_timers_enable(1);
}
