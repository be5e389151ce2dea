/* SPDX-License-Identifier: Apache-2.0 */
/* One program of C and C++ units with timers on and off, and the three ways to compile them. */
#include "harness.h"

#include <stint/stint.h>

#define C_UNITS(X)                                                                                 \
    X(mix_c_on, 1)                                                                                 \
    X(mix_c_off, 0)                                                                                \
    X(mix_c_spelled, 1)                                                                            \
    X(mix_c_inlined, 1)                                                                            \
    X(mix_c_timer_only, 1)                                                                         \
    X(mix_c_capture_only, 0)
#ifdef MIX_WITH_CXX
#define CXX_UNITS(X)                                                                               \
    X(mix_cxx_on, 1)                                                                               \
    X(mix_cxx_off, 0)                                                                              \
    X(mix_cxx_inlined, 1)
#else
#define CXX_UNITS(X)
#endif

#define DECLARE(name, on) extern int name(int calls);
#define DECLARE_JOB(name, on) extern void *name##_job(void *made, char what);
C_UNITS(DECLARE)
CXX_UNITS(DECLARE)
CXX_UNITS(DECLARE_JOB)

#define CALLS 5

static uint64_t calls_of(const char *name) {
    stint_stat stat;
    return stint_stat_get(name, &stat, sizeof stat) == 0 ? stat.calls : 0;
}

static void run_unit(const char *name, int (*unit)(int), int on) {
    char dynamic[64];
    snprintf(dynamic, sizeof dynamic, "%s.dynamic", name);
    CHECK_EQ_U64((uint64_t)unit(CALLS), (uint64_t)on);
    CHECK_EQ_U64(calls_of(name), on ? CALLS : 0);
    CHECK_EQ_U64(calls_of(dynamic), on ? CALLS : 0);
}

#define RUN(name, on) run_unit(#name, name, on);
#define COUNT(name, on) +(on)

static void run_all(NO_ARG){C_UNITS(RUN) CXX_UNITS(RUN)}

TEST(mixing, each_unit_is_what_it_was_built_as) {
    harness_capture(2, run_all, NULL);
}

TEST(mixing, the_same_set_for_all) {
    stint_stat stat = {0};
    harness_capture(2, run_all, NULL);
    CHECK(stint_set_stat_get(stint_set_get("mix"), "mix.set", &stat, sizeof stat) == 0);
    CHECK_EQ_U64(stat.calls, CALLS * (0 C_UNITS(COUNT) CXX_UNITS(COUNT)));
}

/* Each C unit has its own copy of the function. The linker keeps one for all C++ units, on or off
 * as it happens: it counts the calls of all C++ units or of none. */
TEST(mixing, inline_function_of_a_shared_header) {
    const uint64_t in_c = CALLS * (0 C_UNITS(COUNT));
    const uint64_t in_cxx_at_most = CALLS * 4;
    harness_capture(2, run_all, NULL);
    CHECK(calls_of("mix.shared") >= in_c && calls_of("mix.shared") <= in_c + in_cxx_at_most);
    CHECK_EQ_U64(calls_of("mix.shared.info"), calls_of("mix.shared"));
}

static void report(NO_ARG) {
    stint_report("table");
}

#ifdef MIX_WITH_CXX
#define JOB(name, on) {name##_job, on},
static const struct {
    void *(*job)(void *made, char what);
    int on;
} unit[] = {CXX_UNITS(JOB)};
enum { UNITS = sizeof unit / sizeof *unit, WAYS = UNITS * UNITS * UNITS };

/* Job number i: which units make, pass and end it, and how. Adds to the numbers of those begun and
 * ended in a unit that is on. */
static void run_job(int i, uint64_t *begun, uint64_t *ended) {
    int make = i % UNITS, pass = i / UNITS % UNITS, end = i / UNITS / UNITS % UNITS;
    REGISTER_TIMER("mix.around");
    void *made = unit[make].job(NULL, 'm');
    CHECK(unit[pass].job(made, 'p') && unit[end].job(made, "cal"[i / WAYS]));
    *begun += (uint64_t)unit[make].on;
    *ended += (uint64_t)(unit[make].on & unit[end].on);
}

/* In a unit that is off, objects that are open are lost. */
TEST(mixing, objects_pass_through_units_that_are_off) {
    uint64_t begun = 0, ended = 0;
    stint_stat stat = {0};
    for (int i = 0; i < 3 * WAYS; ++i) {
        run_job(i, &begun, &ended);
    }
    CHECK(begun == 54 && ended == 36);
    CHECK_EQ_U64(calls_of("mix.whole"), ended);
    CHECK(stint_stat_get("mix.part", &stat, sizeof stat) == 0);
    CHECK(stat.samples == ended && stat.calls == begun);
    CHECK(stint_set_stat_get(stint_set_get("mix.objects"), "made", &stat, sizeof stat) == 0);
    CHECK_EQ_U64(stat.calls, begun);
    char *text = harness_capture(2, report, NULL);
    CHECK_CONTAINS(text, "lost: 18 scopes left open");
    CHECK_CONTAINS(text, "open: 18 intervals, begun and not ended");
    CHECK(!strstr(text, "ends without a begin"));
}
#endif

TEST(mixing, report_has_the_units_that_are_on) {
    char *text;
    harness_capture(2, run_all, NULL);
    text = harness_capture(2, report, NULL);
    CHECK_CONTAINS(text, "mix_c_on");
    CHECK_CONTAINS(text, "mix_c_timer_only");
    CHECK(!strstr(text, "mix_c_off") && !strstr(text, "mix_c_capture_only"));
}

TEST(mixing, capture_lines_of_the_units_that_have_it) {
    char *text = harness_capture(2, run_all, NULL);
    CHECK_CONTAINS(text, "Enable GPU Profiler Stat: [mix.capture] \"mix_c_on\"");
    CHECK_CONTAINS(text, "Enable GPU Profiler Stat: [mix.capture] \"mix_c_capture_only\"");
    CHECK(!strstr(text, "\"mix_c_off\"") && !strstr(text, "\"mix_c_timer_only\""));
}
