/* SPDX-License-Identifier: Apache-2.0 */
/* Records as a tracer would hand them over, and the rows that came of them. */
#ifndef STINT_TESTS_ACTIVITY_MADE_H
#define STINT_TESTS_ACTIVITY_MADE_H

#include "activity/activity.h"
#include "recorded.h"

#define MADE static inline __attribute__((unused))

MADE void add(struct activity_record r) {
    activity_begin();
    activity_add(&r);
    activity_end();
}

MADE struct activity_record kernel(const char *name, uint32_t correlation, uint64_t start,
                                   uint64_t end) {
    return (struct activity_record){.kind = ACTIVITY_KERNEL,
                                    .correlation = correlation,
                                    .context = 1,
                                    .stream = 7,
                                    .start = start,
                                    .end = end,
                                    .name = name,
                                    .grid = {1, 1, 1},
                                    .block = {32, 1, 1}};
}

MADE struct activity_record copy(uint32_t detail, uint32_t correlation, uint64_t start,
                                 uint64_t end, uint64_t bytes) {
    return (struct activity_record){.kind = ACTIVITY_COPY,
                                    .detail = detail,
                                    .correlation = correlation,
                                    .context = 1,
                                    .stream = 7,
                                    .start = start,
                                    .end = end,
                                    .bytes = bytes};
}

MADE struct activity_record call(const char *name, uint32_t correlation, uint64_t start,
                                 uint64_t end) {
    return (struct activity_record){.kind = ACTIVITY_API,
                                    .correlation = correlation,
                                    .device = ACTIVITY_NO_DEVICE,
                                    .start = start,
                                    .end = end,
                                    .name = name,
                                    .thread = 1};
}

MADE struct activity_record waiting(enum activity_waits waits, struct activity_record r) {
    r.waits = waits;
    return r;
}

MADE struct activity_record of_kind(uint32_t kind, struct activity_record r) {
    r.kind = kind;
    return r;
}

MADE struct activity_record on_stream(uint32_t stream, struct activity_record r) {
    r.stream = stream;
    return r;
}

MADE const struct arena_activity *row_next(const struct arena_activity *a) {
    return a->next ? arena_at(a->next) : NULL;
}

MADE const struct arena_activity *row_newest(void) {
    uint32_t unit = __atomic_load_n(&arena_header()->first_activity, __ATOMIC_ACQUIRE);
    return unit ? arena_at(unit) : NULL;
}

MADE const char *row_name(const struct arena_activity *a) {
    return a->name ? arena_text_at(a->name)->bytes : "";
}

/* The newest row of that kind, detail and name (NULL: any); an empty one if there is none. */
MADE const struct arena_activity *row(uint32_t kind, uint32_t detail, const char *name) {
    static const struct arena_activity none;
    const struct arena_activity *a = row_newest();
    while (a && (a->kind != kind || a->detail != detail || (name && strcmp(row_name(a), name)))) {
        a = row_next(a);
    }
    return a ? a : &none;
}

MADE uint64_t count_of(const struct arena_activity *a) {
    return a->seq / 2;
}

MADE unsigned rows_of(uint32_t kind) {
    unsigned n = 0;
    for (const struct arena_activity *a = row_newest(); a; a = row_next(a)) {
        n += a->kind == kind;
    }
    return n;
}

MADE uint32_t node_here(void) {
    return stint_impl_thread_here->top->node;
}

#endif
