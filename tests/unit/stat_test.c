/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that return a statistic: every field, sizes of structures, sets, unknown and long
 * names. The expected values are those of the fake clock.
 */
#include <math.h>

#include "gpu_activities.h"
#include "gpu_sums.h"
#include "recorded.h"
#include "support.h"

static stint_stat st;

static void print_row(void *name) {
    CHECK(!printStatus(name));
}

TEST(stat, every_field) {
    for (int i = 0; i < 100; ++i) {
        REGISTER_TIMER_INFO("a", i == 99 ? "the slowest" : "another");
        fake_advance(i == 0 ? 50 : (uint64_t)(i + 1) * 10);
        timed("inner", 1);
    }
    CHECK(!stint_stat_get("a", &st, sizeof st));
    CHECK_EQ_U64(st.calls, 100);
    CHECK_EQ_U64(st.samples, 100);
    CHECK_EQ_U64(st.total_ns, 50540 + 100);
    CHECK_EQ_U64(st.self_ns, st.total_ns - 100);
    CHECK_EQ_U64(st.min_ns, 21);
    CHECK_EQ_U64(st.max_ns, 1001);
    CHECK_EQ_U64(st.first_ns, 51);
    CHECK(st.p50_ns >= 485 && st.p50_ns <= 518);
    CHECK(st.p90_ns >= 872 && st.p90_ns <= 930);
    CHECK(st.p99_ns >= 959 && st.p99_ns <= 1001);
    CHECK(st.stddev_ns >= 279 && st.stddev_ns <= 297); /* 288, within 3 % */
    CHECK_EQ_U64(st.threads, 1);
    CHECK_STR_EQ(st.info, "the slowest");
}

TEST(stat, every_field_of_the_gpu) {
    for (uint64_t i = 1; i <= 100; ++i) {
        REGISTER_TIMER("a");
        gpu_took(0, i * 10);
        gpu_does(i, 2);
        fake_advance(1);
    }
    timed("cpu", 1);
    CHECK(!stint_stat_get("a", &st, sizeof st));
    CHECK_EQ_U64(st.calls, 100);
    CHECK_EQ_U64(st.total_ns, 100);
    CHECK_EQ_U64(st.gpu_calls, 100);
    CHECK_EQ_U64(st.gpu_total_ns, 50500);
    CHECK_EQ_U64(st.gpu_min_ns, 10);
    CHECK_EQ_U64(st.gpu_max_ns, 1000);
    CHECK(st.gpu_p50_ns >= 484 && st.gpu_p50_ns <= 516);
    CHECK(st.gpu_p99_ns >= 958 && st.gpu_p99_ns <= 1000);
    CHECK_EQ_U64(st.bytes, 5050);
    CHECK_EQ_U64(st.flops, 200);
    CHECK(!stint_stat_get("cpu", &st, sizeof st));
    CHECK_EQ_U64(st.gpu_calls + st.gpu_total_ns + st.gpu_min_ns + st.gpu_max_ns, 0);
    CHECK_EQ_U64(st.gpu_p50_ns + st.gpu_p99_ns + st.bytes + st.flops, 0);
}

/* Kernels, copies and fills, of what is nested in it, too; as in the table. */
TEST(stat, every_field_of_what_devices_did) {
    struct arena_activity *late;
    {
        REGISTER_TIMER("outer");
        gpu_activity_took(gpu_activity(ACTIVITY_KERNEL, 0, "k", 0, 7), 1000, 0);
        REGISTER_TIMER("inner");
        gpu_activity_took(gpu_activity(ACTIVITY_COPY, 0, "", 0, 7), 20, 64);
        gpu_activity_took(gpu_activity(ACTIVITY_API, 0, "cudaMemcpy", 0, 0), 5000, 0);
        late = gpu_activity(ACTIVITY_FILL, 0, "", 0, 7);
    }
    timed("cpu", 1);
    CHECK(!stint_stat_get("outer", &st, sizeof st));
    CHECK_EQ_U64(st.device_calls, 2);
    CHECK_EQ_U64(st.device_total_ns, 1020);
    CHECK(!stint_stat_get("inner", &st, sizeof st));
    CHECK_EQ_U64(st.device_calls, 1);
    CHECK_EQ_U64(st.device_total_ns, 20);
    CHECK(!stint_stat_get("cpu", &st, sizeof st));
    CHECK_EQ_U64(st.device_calls + st.device_total_ns, 0);
    stint_reset();
    gpu_activity_took(late, 3, 0); /* for a call of the interval before */
    CHECK(!stint_stat_get("inner", &st, sizeof st));
    CHECK_EQ_U64(st.calls, 0);
    CHECK_EQ_U64(st.device_calls, 1);
    CHECK_EQ_U64(st.device_total_ns, 3);
    CHECK(stint_stat_get("cpu", &st, sizeof st) == -1);
}

TEST(stat, infos_are_cut_to_fit) {
    char info[200];
    memset(info, 'i', sizeof info - 1);
    info[sizeof info - 1] = '\0';
    {
        REGISTER_TIMER_INFO("a", info);
        fake_advance(1);
    }
    CHECK(!stint_stat_get("a", &st, sizeof st));
    CHECK_EQ_U64(strlen(st.info), 63);
}

/* Amounts that are none are refused, as is one that the sum has no room for. */
TEST(stat, declared_amounts) {
    uint64_t evaluated = 0;
    {
        REGISTER_TIMER("declares");
        TIMER_BYTES(-1);
        TIMER_BYTES(INT64_MIN);
        TIMER_BYTES(-1.0);
        TIMER_BYTES(INFINITY);
        TIMER_BYTES(-INFINITY);
        TIMER_BYTES(NAN);
        TIMER_BYTES(1e30f);
        TIMER_BYTES((size_t)-1);
        CHECK_EQ_U64(lost(STINT_STATUS_BAD_AMOUNT), 8);
        TIMER_BYTES((uint64_t)1 << 63);
        TIMER_BYTES((signed char)100);
        TIMER_BYTES(0.9);
        TIMER_BYTES(++evaluated);
        TIMER_BYTES((uint64_t)1 << 63);
        CHECK_EQ_U64(lost(STINT_STATUS_BAD_AMOUNT), 9);
        TIMER_FLOPS(-1);
        TIMER_FLOPS(1e18L);
        TIMER_FLOPS(UINT64_MAX - 1000000000000000000u - 1);
    }
    stint_stat s = stat_of("declares");
    CHECK_EQ_U64(s.bytes, ((uint64_t)1 << 63) + 101);
    CHECK_EQ_U64(s.flops, UINT64_MAX - 1);
    CHECK_EQ_U64(lost(STINT_STATUS_BAD_AMOUNT), 10);
    CHECK_EQ_U64(evaluated, 1);
}

static void declare_much(void) {
    REGISTER_TIMER("declares");
    TIMER_FLOPS(((uint64_t)1 << 63) + 5);
    TIMER_BYTES((uint64_t)1 << 63);
}

/* Two places of the call tree, whose sums have more than 64 bits together. */
TEST(stat, sums_of_more_than_64_bits) {
    declare_much();
    {
        REGISTER_TIMER("around");
        declare_much();
    }
    stint_stat s = stat_of("declares");
    CHECK_EQ_U64(s.calls, 2);
    CHECK_EQ_U64(s.flops, UINT64_MAX);
    CHECK_EQ_U64(s.bytes, UINT64_MAX);
    CHECK_EQ_U64(lost(STINT_STATUS_BAD_AMOUNT), 0);
}

/* A program built with an older header has a smaller structure, one built with a newer a larger. */
TEST(stat, smaller_and_larger_structures) {
    struct {
        stint_stat known;
        uint64_t later[8];
    } larger;
    union {
        stint_stat stat;
        unsigned char byte[sizeof(stint_stat)];
    } smaller;
    const size_t size = offsetof(stint_stat, self_ns) + 4; /* in the middle of a member */
    timed("a", 7);
    CHECK(!stint_stat_get("a", &st, sizeof st));
    memset(&smaller, 0x5a, sizeof smaller);
    CHECK(!stint_stat_get("a", &smaller.stat, size));
    CHECK(!memcmp(&smaller, &st, size));
    for (size_t i = size; i < sizeof smaller; ++i) {
        CHECK_EQ_U64(smaller.byte[i], 0x5a);
    }
    memset(&larger, 0x5a, sizeof larger);
    CHECK(!stint_set_stat_get(NULL, "a", (stint_stat *)(void *)&larger, sizeof larger));
    CHECK(!memcmp(&larger.known, &st, sizeof st));
    for (size_t i = 0; i < sizeof larger.later / sizeof larger.later[0]; ++i) {
        CHECK_EQ_U64(larger.later[i], 0);
    }
    CHECK(!stint_stat_get("a", &st, 0));
}

TEST(stat, storage_of_the_thread_for_larger_structures) {
    timed("a", 7);
    const unsigned char *here = (const unsigned char *)stint_stat_here("a", 512);
    CHECK(here);
    for (size_t i = sizeof(stint_stat); here && i < 512; ++i) {
        CHECK_EQ_U64(here[i], 0);
    }
    CHECK(!stint_stat_here("a", 513));
}

TEST(stat, version_of_the_library) {
    char numbers[64];
    snprintf(numbers, sizeof numbers, "%d.%d.%d", STINT_VERSION_MAJOR, STINT_VERSION_MINOR,
             STINT_VERSION_PATCH);
    CHECK(!strcmp(STINT_VERSION, numbers));
    CHECK(!strcmp(stint_version(), STINT_VERSION));
}

TEST(stat, unknown_names) {
    memset(&st, 0x5a, sizeof st);
    CHECK(stint_stat_get("a", &st, sizeof st) == -1); /* before anything was recorded */
    timed("a", 1);
    CHECK(stint_stat_get("b", &st, sizeof st) == -1);
    CHECK(stint_stat_get(NULL, &st, sizeof st) == -1);
    CHECK(stint_stat_get("", &st, sizeof st) == -1);
    CHECK_EQ_U64(st.calls, 0x5a5a5a5a5a5a5a5a); /* nothing written */
    CHECK(stint_stat_get("a", NULL, sizeof(stint_stat)) == -1);
    CHECK(getStat("b") == NULL);
    CHECK(getStat(NULL) == NULL);
}

TEST(stat, here_is_overwritten_by_the_next_call) {
    timed("a", 1);
    timed("b", 2);
    const stint_stat *a = getStat("a");
    CHECK(a && a->total_ns == 1);
    const stint_stat *b = getStat("b");
    CHECK(b == a && b && b->total_ns == 2);
}

TEST(stat, of_a_set) {
    stint_set *set = stint_set_get("s");
    CHECK(set && set == stint_set_get("s"));
    {
        REGISTER_TIMER("a", -1, set);
        fake_advance(3);
    }
    CHECK(stint_stat_get("a", &st, sizeof st) == -1);
    CHECK(!stint_set_stat_get(set, "a", &st, sizeof st) && st.total_ns == 3);
    CHECK(stint_set_stat_get(NULL, "a", &st, sizeof st) == -1);
    CHECK(stint_set_get(NULL) == stint_set_get("GlobalStatInfo"));
}

TEST(stat, open_scopes_have_no_sample_yet) {
    REGISTER_TIMER("a");
    fake_advance(5);
    CHECK(stint_stat_get("a", &st, sizeof st) == -1);
}

/* Names are recorded by their length: one with a NUL is not the name before the NUL. */
TEST(stat, names_with_a_nul) {
    timed("a", 1);
    for (int i = 0; i < 3; ++i) {
        uint64_t guard = 0;
        static struct stint_impl_site site = {.name = ""};
        stint_impl_begin_dynamic(&guard, &site, 0, "a\0tenant", 8, UINT64_MAX);
        fake_advance(10);
        stint_impl_end_open(&guard);
    }
    CHECK(!stint_stat_get("a", &st, sizeof st));
    CHECK_EQ_U64(st.calls, 1);
    CHECK_EQ_U64(st.total_ns, 1);
    char *row = harness_capture(2, print_row, "a");
    CHECK_EQ_U64(lines_of(row), 1);
    CHECK_CONTAINS(row, "count=1");
    CHECK(stint_stat_get("", &st, sizeof st) == -1);
}

/* Long names are cut when recorded, and found by the name that the program has. */
TEST(stat, long_names) {
    char name[1501], other[1501];
    memset(name, 'x', 1500);
    name[1500] = '\0';
    memcpy(other, name, sizeof other);
    memcpy(other + 999, "\xe2\x82\xac", 3); /* would be cut in two */
    timed(name, 7);
    timed(other, 8);
    CHECK(!stint_stat_get(name, &st, sizeof st));
    CHECK_EQ_U64(st.total_ns, 7);
    CHECK(!stint_stat_get(other, &st, sizeof st));
    CHECK_EQ_U64(st.total_ns, 8);
    CHECK(!stint_scope_begin(name) && !stint_scope_end(name) && !stint_sample_add(name, 3));
    CHECK(!stint_stat_get(name, &st, sizeof st));
    CHECK_EQ_U64(st.calls, 3);
    CHECK_CONTAINS(harness_capture(2, print_row, name), "count=3");
    name[1000] = '\0';
    CHECK(!stint_stat_get(name, &st, sizeof st));
    name[999] = '\0';
    CHECK(!stint_stat_get(name, &st, sizeof st));
    CHECK_EQ_U64(st.total_ns, 8);
    name[998] = '\0';
    CHECK(stint_stat_get(name, &st, sizeof st) == -1);
}

TEST(stat, without_percentiles) {
    setenv("STINT_PERCENTILES", "0", 1);
    timed("a", 10);
    timed("a", 20);
    CHECK(!stint_stat_get("a", &st, sizeof st));
    CHECK_EQ_U64(st.p50_ns + st.p90_ns + st.p99_ns + st.stddev_ns, 0);
    CHECK_EQ_U64(st.total_ns, 30);
    stint_reset();
    timed("a", 15);
    CHECK(!stint_stat_get("a", &st, sizeof st));
    CHECK_EQ_U64(st.total_ns, 15);
    CHECK(st.min_ns <= 15 && st.max_ns >= 15);
}

TEST(stat, now_is_in_microseconds) {
    uint64_t us = stint_now_us();
    fake_advance(2500);
    CHECK_EQ_U64(stint_now_us() - us, 2);
    {
        REGISTER_TIMER_SET("since", us);
        fake_advance(500);
    }
    CHECK(!stint_stat_get("since", &st, sizeof st));
    CHECK_EQ_U64(st.total_ns, 3000);
}

TEST(stat, errno_is_kept) {
    errno = 44;
    stint_stat_get("a", &st, sizeof st);
    stint_reset();
    stint_now_us();
    CHECK_EQ_U64((uint64_t)errno, 44);
}
