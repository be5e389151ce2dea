/* SPDX-License-Identifier: Apache-2.0 */
#include "screens.h"

static void plain(void) {
    training();
    stint_report("table");
}

static void units(void) {
    training();
    stint_report("table,top=2"); /* STINT_UNIT is the test's */
}

static void top(void) {
    training();
    stint_report("table,sort=calls,top=3");
    stint_report("table,sort=p99,top=1");
}

/* Threads that end hand their recorder to the next one: here three to the last. */
static void each_thread(void) {
    training();
    beside(training);
    on_a_thread(training);
    on_a_thread(training);
    on_a_thread(training);
    beside(training);
    stint_report("table,sort=self,threads,top=4");
}

static void names(void) {
    timed("two\nlines\tand 100%", 5 * MS);
    timed("\xe4\xbd\xa0\xe5\xa5\xbd \xe4\xb8\x96\xe7\x95\x8c", 4 * MS); /* hello world */
    timed("caf\xc3\xa9 \xf0\x9f\x9a\x80", 3 * MS);
    timed("broken \xff utf-8", 2 * MS);
    timed("std::vector<std::basic_string<char, std::char_traits<char>, std::allocator<char>>>::x",
          1 * MS);
    {
        REGISTER_TIMER_INFO("info", "caf\xc3\xa9\n\"quoted\"");
        fake_advance(500 * US);
    }
    stint_report("table");
}

static void sets(void) {
    stint_set *set = stint_set_get("caf\xc3\xa9");
    timed("request", 2 * MS);
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("request", -1, set);
        fake_advance(MS);
    }
    stint_report("table");
    stint_set_report(set, "table");
}

/* In the columns of nsys' nvtx_sum: the median of two samples is between them. */
static void ranges(void) {
    stint_set *domain = stint_set_get("domain");
    training();
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("request", -1, domain);
        fake_advance((uint64_t)(i + 1) * MS);
    }
    stint_report("ranges");
    stint_report("ranges,sort=calls,top=2");
    stint_set_report(domain, "ranges");
}

static void since_reset(void) {
    training();
    stint_reset();
    training();
    stint_report("table");
}

static void percentiles_off(void) {
    training();
    stint_report("table,top=2");
}

static void fall(int n) {
    REGISTER_TIMER("fall");
    fake_advance(MS);
    if (n > 1) {
        fall(n - 1);
    }
}

static void open_and_lost(void) {
    fall(10);
    REGISTER_TIMER("serve");
    fake_advance(2 * SEC);
    REGISTER_TIMER("request");
    fake_advance(300 * MS);
    stint_scope_end("never begun");
    stint_report("table");
}

static void empty(void) {
    stint_report("table");
}

const struct screen table_screens[] = {{"table", plain},
                                       {"table_unit_ms", units},
                                       {"table_unit_us", units},
                                       {"table_unit_ns", units},
                                       {"table_top", top},
                                       {"table_threads", each_thread},
                                       {"table_names_ascii", names},
                                       {"table_names_utf8", names},
                                       {"table_sets", sets},
                                       {"table_ranges", ranges},
                                       {"table_reset", since_reset},
                                       {"table_percentiles_off", percentiles_off},
                                       {"table_open", open_and_lost},
                                       {"table_empty", empty},
                                       {NULL, NULL}};
