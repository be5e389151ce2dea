/* SPDX-License-Identifier: Apache-2.0 */
#include "system/local_time.h"

#include "harness.h"

#define HOUR 3600
#define YEAR (365 * 24 * (time_t)HOUR)

static void expect_same(time_t when) {
    struct tm want;
    struct local_time have;
    CHECK(localtime_r(&when, &want) != NULL);
    local_time_at(when, &have);
    CHECK(have.year == want.tm_year + 1900 && have.month == want.tm_mon + 1 &&
          have.day == want.tm_mday);
    CHECK(have.hour == want.tm_hour && have.minute == want.tm_min && have.second == want.tm_sec);
}

/* Rules instead of names: they need no files. */
TEST(local_time, as_the_c_library_says) {
    static const char *const zones[] = {"UTC0",
                                        "CET-1CEST,M3.5.0,M10.5.0/3",
                                        "NZST-12NZDT,M9.5.0,M4.1.0/3",
                                        "PST8PDT,M3.2.0,M11.1.0",
                                        "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
                                        "IST-5:30"};
    const time_t now = 1700000000;
    for (size_t z = 0; z < sizeof zones / sizeof *zones; ++z) {
        setenv("TZ", zones[z], 1);
        tzset();
        local_time_read(now);
        for (time_t at = now; at < now + 9 * YEAR; at += 5 * HOUR + 1777) {
            expect_same(at);
        }
    }
}

TEST(local_time, to_the_second) {
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    local_time_read(1700000000);
    for (time_t at = 1711846800 - 3; at < 1711846800 + 3; ++at) { /* 2024-03-31 01:00 UTC */
        expect_same(at);
    }
}

TEST(local_time, utc_before_it_was_read) {
    struct local_time have;
    local_time_at(951782399, &have); /* 2000-02-28 23:59:59 */
    CHECK(have.year == 2000 && have.month == 2 && have.day == 28 && have.hour == 23);
    local_time_at(951782400, &have);
    CHECK(have.month == 2 && have.day == 29 && have.hour == 0 && have.minute == 0);
    local_time_at(-1, &have);
    CHECK(have.year == 1969 && have.month == 12 && have.day == 31 && have.second == 59);
}
