/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that several unit tests need: reports as text, rows by name, a repeatable random
 * number. */
#ifndef STINT_TESTS_SUPPORT_H
#define STINT_TESTS_SUPPORT_H

#include "fake_clock.h"
#include "harness.h"
#include "interval/interval.h"
#include "model/rows.h"
#include "stint/stint.h"

HARNESS_FN void support_report(void *view) {
    CHECK(!stint_report(view));
}

HARNESS_FN void support_bad_report(void *view) {
    CHECK(stint_report(view) == -1);
}

/* Returns the text that stint_report(view) writes to stderr. */
HARNESS_FN char *report_of(const char *view) {
    return harness_capture(2, support_report, (void *)(uintptr_t)view);
}

HARNESS_FN unsigned lines_of(const char *text) {
    unsigned n = 0;
    for (; text && *text; ++text) {
        n += *text == '\n';
    }
    return n;
}

HARNESS_FN unsigned times_in(const char *text, const char *needle) {
    unsigned n = 0;
    for (; text && (text = strstr(text, needle)); text += strlen(needle)) {
        ++n;
    }
    return n;
}

/* The first row of that name in a set, NULL if there is none. */
HARNESS_FN const struct stint_row *row_in(const struct rows *rows, uint32_t set, const char *name) {
    for (uint32_t i = 0; i < rows->count; ++i) {
        if (rows->row[i].set == set && !strcmp(rows->row[i].name, name)) {
            return &rows->row[i];
        }
    }
    return NULL;
}

/* A copy of the row of that name as statistics are now, without numbers if there is none; until the
 * next call. */
HARNESS_FN const struct stint_row *row_now(const char *name) {
    static struct stint_row copy;
    static struct stint_row_extra extra;
    struct snapshot s;
    struct rows rows;
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, 0));
    const struct stint_row *r = row_in(&rows, 0, name);
    extra = r ? *r->extra : stint_row_no_extra;
    copy = r ? *r : (struct stint_row){0};
    copy.extra = &extra;
    interval_close(&s);
    return &copy;
}

/* Returns whether the row is valid for any report: no mean is outside its bounds. */
HARNESS_FN int row_is_sane(const struct stint_row *r) {
    return r->samples <= r->calls && r->samples * r->min_ns <= r->total_ns &&
           r->total_ns <= r->samples * r->max_ns && r->self_ns <= r->total_ns;
}

/* xorshift64*: the same numbers in every run. */
HARNESS_FN uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

HARNESS_FN stint_schedule schedule_make(uint32_t skip, uint32_t closed, uint32_t ready,
                                        uint32_t record, uint32_t repeat) {
    stint_schedule s = {skip, closed, ready, record, repeat};
    return s;
}

HARNESS_FN void timed(const char *name, uint64_t ns) {
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(ns);
}

#endif
