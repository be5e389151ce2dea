/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More names than there is room for: in the arena, and in the name table itself. The program's
 * scopes go on, what was there before is still recorded, every scope is accounted for, and memory
 * has a bound.
 */
#include "interval/interval.h"
#include "model/snapshot.h"
#include "recorded.h"

/* A name takes thirty times as long under a sanitizer. */
#define MILLION (SANITIZED ? 200000u : 1000000u)

static uint64_t calls_recorded(void) {
    struct snapshot s;
    uint64_t calls = 0;
    if (CHECK(!snapshot_take(&s))) {
        for (uint32_t i = 0; i < s.node_count; ++i) {
            calls += s.nodes[i].count + s.nodes[i].recursions;
        }
        snapshot_free(&s);
    }
    return calls;
}

static uint64_t rss(void) {
    unsigned long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    CHECK(f && fscanf(f, "%lu %lu", &size, &resident) == 2);
    if (f) {
        fclose(f);
    }
    return (uint64_t)resident * (uint64_t)getpagesize();
}

/* Returns what the program computes. */
static uint64_t many_names(unsigned from, unsigned count) {
    uint64_t sum = 0;
    char name[24];
    for (unsigned i = from; i < from + count; ++i) {
        snprintf(name, sizeof name, "name %u", i);
        REGISTER_TIMER_DYNAMIC(name);
        sum += i;
        fake_advance(1);
    }
    return sum;
}

static void known(void) {
    REGISTER_TIMER("known");
    fake_advance(1);
}

static void print_report(void *view) {
    CHECK(!stint_report((const char *)view));
}

/* The footer's lines. */
static char *footer(void) {
    return harness_capture(2, print_report, (void *)(uintptr_t) "table,top=1");
}

/* memory: what STINT_MEMORY says. */
static void a_million(const char *memory, uint64_t bound) {
    setenv("STINT_MEMORY", memory, 1);
    known();
    uint64_t before = rss();
    CHECK_EQ_U64(many_names(0, MILLION), (uint64_t)MILLION * (MILLION - 1) / 2);
    known();
    if (!SANITIZED) {
        CHECK(rss() - before < bound);
    }
    uint64_t unnamed = lost(STINT_STATUS_NO_NAME), unrecorded = lost(STINT_STATUS_NO_NODE);
    CHECK(unnamed + unrecorded > (uint64_t)MILLION / 2);
    CHECK_EQ_U64(calls_recorded() + unnamed + unrecorded, (uint64_t)MILLION + 2);
    CHECK_EQ_U64(calls_of("known"), 2);
    CHECK_EQ_U64(calls_of("name 1"), 1);
    char *text = footer();
    CHECK_CONTAINS(text, status_text(STINT_STATUS_NO_NAME)->text);
}

TEST(resources_names, a_million_in_one_mebibyte) {
    a_million("1M", (uint64_t)8 << 20);
}

/* The arena, and beside it the look-up tables: an edge of 16 bytes for an eighth of a place. */
TEST(resources_names, a_million_in_the_default_memory) {
    a_million(SANITIZED ? "12M" : "64M", (uint64_t)192 << 20);
}

/* So deep that they get a number and no node, or the test would take a gibibyte. */
static void deep(int depth) {
    REGISTER_TIMER_DYNAMIC(depth % 2 ? "odd" : "even");
    TIMER_BYTES(depth);
    if (depth) {
        deep(depth - 1);
        return;
    }
    many_names(0, ARENA_SITES + 1000);
    CHECK_EQ_U64(arena_header()->site_count, ARENA_SITES - 1);
}

static void new_name(void) {
    REGISTER_TIMER("one too many");
}

/* Names of 990 bytes until none fits. */
static void fill_names(void) {
    char name[1000];
    memset(name, 'x', sizeof name);
    for (int i = 0; i < 3000; ++i) {
        snprintf(name + 980, 20, "%d", i);
        REGISTER_TIMER_DYNAMIC(name);
    }
    CHECK(lost(STINT_STATUS_NO_NAME) > 1000);
}

#define LONG_(x) x x x x x x x x x x
#define LONG LONG_(LONG_("ten bytes "))

static void in_the_literal(void) {
    REGISTER_TIMER("literal " LONG);
    fake_advance(1);
    known();
}

static void every_kind(const char *name) {
    struct stint_timer handle;
    in_the_literal();
    { REGISTER_TIMER_DYNAMIC(name); }
    { REGISTER_TIMER_INFO("info " LONG, "info"); }
    { REGISTER_TIMER_SET("since " LONG, stint_now_us()); }
    { REGISTER_GPU_TIMER("gpu " LONG, NULL); }
    TIMER_BEGIN(handle, "handle " LONG);
    TIMER_END(handle);
    TIMER_MARK("mark " LONG);
    TIMER_VALUE("value " LONG, 1);
    CHECK(!stint_scope_begin(name));
    CHECK(!stint_scope_end(name));
    CHECK(stint_sample_add(name, 5) == STINT_ERROR_NOT_AVAILABLE);
}

/* Scopes, intervals, samples, marks: each is counted, at each call. */
TEST(resources_names, without_room_every_call_is_counted) {
    char name[1000];
    setenv("STINT_MEMORY", "1M", 1);
    setenv("STINT_TRACE", "16K", 1);
    for (int i = 0; i < STINT_IMPL_RAW + 1; ++i) {
        known(); /* its histogram, while there is memory */
    }
    fill_names();
    memset(name, 'y', sizeof name);
    name[990] = '\0';
    every_kind(name);
    uint64_t unnamed = lost(STINT_STATUS_NO_NAME), all = lost_in_all(), calls = calls_of("known");
    for (int i = 0; i < 1000; ++i) {
        every_kind(name);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_NO_NAME), unnamed + 10 * 1000);
    CHECK_EQ_U64(lost_in_all(), all + 10 * 1000);
    CHECK_EQ_U64(calls_of("known"), calls + 1000); /* what is inside is recorded */
    CHECK_EQ_U64(open_scopes(), 0);
}

TEST(resources_names, table_full) {
    if (SANITIZED) {
        SKIP("a sanitizer needs a minute for 2^20 names");
    }
    setenv("STINT_MEMORY", "128M", 1);
    known();
    deep(STINT_IMPL_DEPTH);
    uint64_t unnamed = lost(STINT_STATUS_NO_NAME);
    CHECK_EQ_U64(unnamed, ARENA_SITES + 1000 + 3 - (ARENA_SITES - 1));
    CHECK_EQ_U64(lost(STINT_STATUS_TOO_DEEP) + unnamed, ARENA_SITES + 1000);
    new_name();
    new_name(); /* known to have no number: counted again, as each call */
    known();
    many_names(7, 1);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_NAME), unnamed + 2);
    CHECK_EQ_U64(calls_of("known"), 2);
    CHECK_EQ_U64(calls_of("name 7"), 1);
    CHECK_EQ_U64(calls_of("one too many"), 0);
    char *text = footer();
    CHECK_CONTAINS(text, status_text(STINT_STATUS_NO_NAME)->text);
}
