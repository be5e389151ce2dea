/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment variables and the settings that they make: valid values, and for each invalid
 * value one line on stderr and an unchanged setting.
 */
#include "session/env.h"

#include "support.h"
#include "system/config.h"

struct variable {
    const char *name, *value;
};

static void read_config(void *variable) {
    const struct variable *v = variable;
    setenv(v->name, v->value, 1);
    config_read_environment();
    unsetenv(v->name);
}

/* Sets and reads the variable; returns the output on stderr. */
static char *set(const char *name, const char *value) {
    struct variable v = {name, value};
    return harness_capture(2, read_config, &v);
}

#define GOOD(name, value, condition)                                                               \
    do {                                                                                           \
        char *said = set(name, value);                                                             \
        CHECK_STR_EQ(said, "");                                                                    \
        CHECK(condition);                                                                          \
        free(said);                                                                                \
    } while (0)

static void check_bad(const char *name, const char *value, const char *expected) {
    struct stint_config before = config;
    char *said = set(name, value), start[128];
    snprintf(start, sizeof start, "stint: %s=", name);
    CHECK_EQ_U64(lines_of(said), 1);
    CHECK(said && !strncmp(said, start, strlen(start)));
    CHECK_CONTAINS(said, expected);
    CHECK_CONTAINS(said, "; ignored\n");
    CHECK(!memcmp(&before, &config, sizeof config));
}

static void check_all_bad(const char *name, const char *const *values, const char *expected) {
    for (; *values; ++values) {
        check_bad(name, *values, expected);
    }
}
#define BAD(name, expected, ...)                                                                   \
    check_all_bad(name, (const char *const[]){__VA_ARGS__, NULL}, expected)

TEST(env, enable) {
    GOOD("STINT_ENABLE", "0", config.enable == 0);
    GOOD("STINT_ENABLE", "1", config.enable == 1);
    GOOD("STINT_ENABLE", "off", config.enable == 0);
    GOOD("STINT_ENABLE", "TRUE", config.enable == 1);
    GOOD("STINT_ENABLE", "No", config.enable == 0);
    GOOD("STINT_ENABLE", "yes", config.enable == 1);
    GOOD("STINT_ENABLE", "false", config.enable == 0);
    GOOD("STINT_ENABLE", "on", config.enable == 1);
    BAD("STINT_ENABLE", "expected 0|1", "2", "-1", "o", "onn", " 1", "1 ");
}

TEST(env, percentiles) {
    GOOD("STINT_PERCENTILES", "0", config.percentiles == 0);
    GOOD("STINT_PERCENTILES", "1", config.percentiles == 1);
    BAD("STINT_PERCENTILES", "expected 0|1", "50", "p99");
}

TEST(env, level) {
    GOOD("STINT_LEVEL", "0", config.level == 0);
    GOOD("STINT_LEVEL", "2", config.level == 2);
    BAD("STINT_LEVEL", "expected 0|1|2", "3", "-1", "x", "1x", "0x1", "99999999999999999999");
}

TEST(env, memory) {
    GOOD("STINT_MEMORY", "1048576", config.memory == 1 << 20);
    GOOD("STINT_MEMORY", "1024K", config.memory == 1 << 20);
    GOOD("STINT_MEMORY", "2m", config.memory == 2 << 20);
    GOOD("STINT_MEMORY", "1G", config.memory == 1 << 30);
    GOOD("STINT_MEMORY", "4095M", config.memory == (uint64_t)4095 << 20);
    BAD("STINT_MEMORY", "expected ", "1023K", "4096M", "4G", "0", "64MB", "64 M", "M", "-64M",
        "+1M", "1.5G", "99999999999999999999", "18446744073709551615G", "1T");
}

TEST(env, choices) {
    GOOD("STINT_UNIT", "ms", config.unit == CONFIG_UNIT_MS);
    GOOD("STINT_UNIT", "us", config.unit == CONFIG_UNIT_US);
    GOOD("STINT_UNIT", "ns", config.unit == CONFIG_UNIT_NS);
    GOOD("STINT_UNIT", "auto", config.unit == CONFIG_UNIT_AUTO);
    BAD("STINT_UNIT", "expected ms|us|ns|auto", "s", "m", "MS", "ms|us", "|", "auto ");
    GOOD("STINT_CLOCK", "tsc", config.clock == CONFIG_CLOCK_COUNTER);
    GOOD("STINT_CLOCK", "monotonic", config.clock == CONFIG_CLOCK_MONOTONIC);
    GOOD("STINT_CLOCK", "auto", config.clock == CONFIG_CLOCK_AUTO);
    BAD("STINT_CLOCK", "expected auto|tsc|monotonic", "hpet", "0");
    GOOD("STINT_LOG_PREFIX", "glog", config.log_prefix == 1);
    GOOD("STINT_LOG_PREFIX", "none", config.log_prefix == 0);
    BAD("STINT_LOG_PREFIX", "expected none|glog", "1", "GLOG");
}

TEST(env, report) {
    GOOD("STINT_REPORT", "legacy", !strcmp(config.report, "legacy"));
    GOOD("STINT_REPORT", "tree,sort=p99,top=3,threads", !strncmp(config.report, "tree,", 5));
    GOOD("STINT_REPORT", "none", !strcmp(config.report, "none"));
    config.report = NULL;
    BAD("STINT_REPORT", "expected none or legacy|table|tree|gpu|fluid|ranks|ranges[,sort=", "tabel",
        "table,", "table,top=0", "table,sort=name", "1", ",", "none,", "none,top=1");
}

TEST(env, filter) {
    GOOD("STINT_FILTER", "+a*,-ab", !strcmp(config.filter, "+a*,-ab"));
    config.filter = NULL;
    BAD("STINT_FILTER", "expected +glob,-glob", "+", ",", "a,");
}

TEST(env, output) {
    GOOD("STINT_OUTPUT", "stdout", !strcmp(config.output, "stdout"));
    GOOD("STINT_OUTPUT", "/tmp/a b.txt", !strcmp(config.output, "/tmp/a b.txt"));
}

TEST(env, empty_is_unset) {
    struct stint_config before = config;
    unsetenv("STINT_WAITS"); /* which the tests have off */
    const char *const names[] = {"STINT_ENABLE", "STINT_MEMORY", "STINT_REPORT", "STINT_FILE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        GOOD(names[i], "", !memcmp(&before, &config, sizeof config));
    }
}

TEST(env, durations) {
    GOOD("STINT_TRACE_MIN", "100us", config.trace_min_ns == 100000);
    GOOD("STINT_TRACE_MIN", "7", config.trace_min_ns == 7000);
    GOOD("STINT_TRACE_MIN", "3ns", config.trace_min_ns == 3);
    GOOD("STINT_TRACE_MIN", "2ms", config.trace_min_ns == 2000000);
    GOOD("STINT_TRACE_MIN", "1s", config.trace_min_ns == 1000000000);
    BAD("STINT_TRACE_MIN", "expected DURATION", "x", "-1", "1h", "1 us", "99999999999999999999s");
}

TEST(env, unknown_names_are_named) {
    static const struct variable wrong[] = {
        {"STINT_REPROT", "table"}, {"STINT_", "1"}, {"STINT_ENABLED", ""}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        char *said = set(wrong[i].name, wrong[i].value), want[96];
        snprintf(want, sizeof want, "stint: %s is not a variable of stint; ignored\n",
                 wrong[i].name);
        CHECK_STR_EQ(said, want);
    }
    GOOD("STINTED", "1", 1);
    GOOD("MY_STINT_REPORT", "1", 1);
}

TEST(env, a_name_of_before_says_what_to_use) {
    char *said = set("STINT_SAMPLE", "auto:1%");
    CHECK_STR_EQ(said, "stint: STINT_SAMPLE is no longer a variable of stint; instead use "
                       "STINT_FILTER or STINT_LEVEL, which leave scopes out\n");
}

TEST(env, trace) {
    GOOD("STINT_TRACE", "64M", config.trace.bytes == 64 << 20 && !config.trace.touch);
    GOOD("STINT_TRACE", "64M,touch", config.trace.bytes == 64 << 20 && config.trace.touch);
    GOOD("STINT_TRACE", "0,touch", config.trace.bytes == 0);
    BAD("STINT_TRACE", "expected 0..4094M[,touch]", "64M,", "64M,tuch", "64M,touch,touch", ",touch",
        "4095M", "touch");
}

TEST(env, values_outlive_the_environment) {
    GOOD("STINT_OUTPUT", "first", !strcmp(config.output, "first"));
    setenv("STINT_OUTPUT", "other", 1);
    CHECK_STR_EQ(config.output, "first");
}

TEST(env, a_value_too_long_to_keep) {
    static char text[20000];
    memset(text, 'x', sizeof text - 1);
    char *said = set("STINT_OUTPUT", text);
    CHECK(config.output == NULL);
    CHECK_EQ_U64(lines_of(said), 1);
    CHECK(said && strlen(said) < 1024);
}

TEST(env, a_message_is_one_line_whatever_the_value) {
    char *said = set("STINT_UNIT", "a\nb\x1b[31m");
    CHECK_EQ_U64(lines_of(said), 1);
    CHECK(said && !strchr(said, '\x1b'));
}

static void first_use(NO_ARG) {
    timed("a", 1);
    timed("a", 1);
}

TEST(env, read_once_and_said_once) {
    setenv("STINT_UNIT", "parsec", 1);
    setenv("STINT_LEVEL", "9", 1);
    char *said = harness_capture(2, first_use, NULL);
    CHECK_EQ_U64(lines_of(said), 2);
    CHECK_EQ_U64(times_in(said, "STINT_UNIT=parsec"), 1);
    CHECK_EQ_U64(times_in(said, "STINT_LEVEL=9"), 1);
}

TEST(env, a_call_wins) {
    stint_stat st;
    setenv("STINT_ENABLE", "0", 1);
    setenv("STINT_LEVEL", "0", 1);
    timed("a", 1);
    CHECK(stint_stat_get("a", &st, sizeof st) == -1);
    stint_timers_enable(1);
    timed("a", 1);
    CHECK(!stint_stat_get("a", &st, sizeof st) && st.calls == 1);
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER_DETAIL("detail", 1);
        stint_level_set(1);
    }
    CHECK(!stint_stat_get("detail", &st, sizeof st) && st.calls == 1);
}
