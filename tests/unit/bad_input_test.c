/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input that no program should give and some will: it is bounded, escaped and counted, and the
 * program goes on.
 */
#include <sys/resource.h>

#include "recorded.h"

static void scope(const char *name) {
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(1);
}

static void print_all(NO_ARG) {
    printAllStatus();
}

TEST(bad_input, a_million_names_in_one_megabyte) {
    char name[32];
    setenv("STINT_MEMORY", "1M", 1);
    for (int i = 0; i < 1000000; ++i) {
        snprintf(name, sizeof name, "request-%d", i);
        scope(name);
    }
    CHECK(arena_used() <= 1 << 20);
    uint64_t recorded = calls_of("request-0");
    CHECK_EQ_U64(recorded, 1);
    uint64_t names = arena_header()->site_count;
    CHECK(names > 500 && names < 20000);
    CHECK_EQ_U64(names + lost(STINT_STATUS_NO_NAME), 1000000);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_HISTOGRAM), 0); /* nodes keep their first samples */
    CHECK_EQ_U64(open_scopes(), 0);
    scope("request-0"); /* what is known stays known */
    CHECK_EQ_U64(calls_of("request-0"), 2);
    for (int i = 0; i < 100; ++i) {
        scope("request-0");
    }
    CHECK_EQ_U64(calls_of("request-0"), 102);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_HISTOGRAM), 1);
}

TEST(bad_input, a_million_samples_under_new_names) {
    char name[32];
    int refused = 0;
    setenv("STINT_MEMORY", "1M", 1);
    for (int i = 0; i < 1000000; ++i) {
        snprintf(name, sizeof name, "sample-%d", i);
        refused += stint_sample_add(name, 1) != 0;
    }
    CHECK_EQ_U64(lost(STINT_STATUS_NO_NAME) + lost(STINT_STATUS_NO_NODE), (uint64_t)refused);
    CHECK(refused > 900000 && refused < 1000000);
}

TEST(bad_input, names_that_reports_must_escape) {
    static const char *const names[] = {
        "\"quoted\"",  "two\nlines",      "100%s%n%d",   "tab\there",
        "\x1b[31mred", "\xff\xfe broken", "back\\slash", " "};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        scope(names[i]);
        CHECK_EQ_U64(calls_of(names[i]), 1);
    }
    char *text = harness_capture(2, print_all, NULL);
    CHECK_CONTAINS(text, "two\\nlines");
    CHECK_CONTAINS(text, "100%s%n%d");
    CHECK_CONTAINS(text, "\"quoted\"");
    CHECK(text && !strchr(text, '\x1b') && !strchr(text, '\xff'));
}

TEST(bad_input, four_kilobytes_of_utf8) {
    char name[4097];
    for (size_t i = 0; i < 4095; i += 3) {
        memcpy(name + i, "\xe2\x82\xac", 3);
    }
    name[4095] = '\0';
    for (int i = 0; i < 3; ++i) {
        scope(name);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_NAME_CUT), 3);
    name[999] = '\0'; /* 333 whole characters: what was kept */
    CHECK_EQ_U64(calls_of(name), 3);
    CHECK_CONTAINS(harness_capture(2, print_all, NULL), "3 names longer than 1000 bytes, cut");
}

static void unknown_name(void *result) {
    errno = 1234;
    *(int *)result = printStatus("no such\nname");
    CHECK(errno == 1234);
}

TEST(bad_input, unknown_names) {
    int result = 0;
    stint_stat s;
    scope("known");
    char *text = harness_capture(2, unknown_name, &result);
    CHECK(result != 0);
    CHECK(text && strstr(text, "no such") && strchr(text, '\n') == text + strlen(text) - 1);
    CHECK(stint_stat_get("unknown", &s, sizeof s) == -1);
    CHECK(stint_stat_get(NULL, &s, sizeof s) == -1);
    CHECK(stint_stat_get("known", NULL, sizeof(stint_stat)) == -1);
    CHECK(getStat("unknown") == NULL);
    CHECK(getStat("known") != NULL && getStat("known")->calls == 1);
    CHECK(stint_report("nonsense") == -1);
}

static void bad_environment(NO_ARG) {
    scope("scope");
}

TEST(bad_input, environment) {
    setenv("STINT_MEMORY", "lots", 1);
    setenv("STINT_LEVEL", "7", 1);
    setenv("STINT_CLOCK", "sundial", 1);
    setenv("STINT_ENABLE", "perhaps", 1);
    setenv("STINT_FILTER", "+", 1);
    char *text = harness_capture(2, bad_environment, NULL);
    int lines = 0;
    for (const char *p = text; p && (p = strchr(p, '\n')); ++p) {
        ++lines;
    }
    CHECK_EQ_U64((uint64_t)lines, 5);
    CHECK_CONTAINS(text, "STINT_MEMORY=lots: ");
    CHECK_CONTAINS(text, "STINT_FILTER=+: ");
    CHECK_EQ_U64(calls_of("scope"), 1); /* ignored: on, level 0, 1 GiB */
    CHECK_EQ_U64(arena.size, 1 << 30);
}

static void direct(int depth) {
    REGISTER_TIMER("direct");
    if (depth > 1) {
        direct(depth - 1);
    }
    fake_advance(1);
}

static void ping(int depth);

static void pong(int depth) {
    REGISTER_TIMER("pong");
    if (depth > 1) {
        ping(depth - 1);
    }
    fake_advance(1);
}

static void ping(int depth) {
    REGISTER_TIMER("ping");
    if (depth > 1) {
        pong(depth - 1);
    }
    fake_advance(1);
}

#define DEEP 100000

/* Needs some 30 MiB of stack under a sanitizer; the soft limit is 8 MiB on most systems. */
static int enough_stack(void) {
    struct rlimit r;
    return !SANITIZED && !getrlimit(RLIMIT_STACK, &r) &&
           (r.rlim_cur == RLIM_INFINITY || r.rlim_cur >= 8u << 20);
}

TEST(bad_input, recursion_a_hundred_thousand_deep) {
    if (!enough_stack()) {
        SKIP("not enough stack");
    }
    direct(DEEP);
    stint_stat s = stat_of("direct");
    CHECK_EQ_U64(s.calls, DEEP);
    CHECK_EQ_U64(s.samples, 1);
    CHECK_EQ_U64(s.total_ns, DEEP);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(open_scopes(), 0);
}

TEST(bad_input, mutual_recursion_a_hundred_thousand_deep) {
    if (!enough_stack()) {
        SKIP("not enough stack");
    }
    ping(DEEP);
    stint_stat a = stat_of("ping"), b = stat_of("pong");
    CHECK_EQ_U64(a.calls, DEEP / 2);
    CHECK_EQ_U64(b.calls, DEEP / 2);
    CHECK_EQ_U64(a.total_ns, DEEP);
    CHECK_EQ_U64(b.total_ns, DEEP - 1);
    CHECK_EQ_U64(a.self_ns + b.self_ns, DEEP);
    CHECK_EQ_U64(lost_in_all(), 0);
}
