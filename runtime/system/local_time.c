/* SPDX-License-Identifier: Apache-2.0 */
#include "local_time.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/errno_keep.h"

#define DAY 86400
#define STEP (7 * DAY)       /* no zone changes its offset to and fro in less */
#define STEPS (10 * 365 / 7) /* ten years; what comes after has the last offset */
#define CHANGES 64           /* most zones have two a year, Morocco has four */

/* Offset to UTC from a time on. Written at load, only read after it. */
static struct {
    time_t from;
    long offset;
} changes[CHANGES];
static size_t change_count;

static long offset_at(time_t when) {
    struct tm local;
    if (!localtime_r(&when, &local)) {
        return 0;
    }
    return local.tm_gmtoff;
}

/* The first second after `before` that has the offset of `after`. */
static time_t find_change(time_t before, time_t after) {
    long then = offset_at(after);
    while (after - before > 1) {
        time_t middle = before + (after - before) / 2;
        if (offset_at(middle) == then) {
            after = middle;
        } else {
            before = middle;
        }
    }
    return after;
}

static void add_change(time_t from, long offset) {
    changes[change_count].from = from;
    changes[change_count].offset = offset;
    ++change_count;
}

void local_time_read(time_t now) {
    ERRNO_KEEP;
    time_t at = now - STEP;
    change_count = 0;
    add_change(at, offset_at(at));
    for (int i = 0; i < STEPS && change_count < CHANGES; ++i) {
        time_t next = at + STEP;
        long offset = offset_at(next);
        if (offset != changes[change_count - 1].offset) {
            add_change(find_change(at, next), offset);
        }
        at = next;
    }
}

/* Gregorian, proleptic: eras of 400 years that begin on the first of March. */
static void set_date(long days, struct local_time *out) {
    long shifted = days + 719468; /* days from 0000-03-01 to 1970-01-01 */
    long era = shifted / 146097;
    if (shifted < 0) {
        era = (shifted - 146096) / 146097;
    }
    long of_era = shifted - era * 146097;
    long year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    long of_year = of_era - (365 * year + year / 4 - year / 100);
    long month = (5 * of_year + 2) / 153; /* 0 = March */
    out->day = (int)(of_year - (153 * month + 2) / 5 + 1);
    out->month = (int)((month + 2) % 12 + 1);
    out->year = (int)(year + era * 400 + (out->month <= 2));
}

void local_time_at(time_t when, struct local_time *out) {
    long offset = changes[0].offset; /* 0 where nothing was read */
    for (size_t i = 1; i < change_count && changes[i].from <= when; ++i) {
        offset = changes[i].offset;
    }
    long long local = (long long)when + offset;
    long days = (long)(local / DAY);
    int second = (int)(local % DAY);
    if (second < 0) {
        second += DAY;
        --days;
    }
    set_date(days, out);
    out->hour = second / 3600;
    out->minute = second / 60 % 60;
    out->second = second % 60;
}

/* The environment of a set-uid program is ignored, here as elsewhere (config/env.c). */
__attribute__((constructor)) static void read_at_load(void) {
    const char *prefix = secure_getenv("STINT_LOG_PREFIX");
    if (prefix && !strcmp(prefix, "glog")) {
        local_time_read(time(NULL));
    }
}
