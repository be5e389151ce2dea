/* SPDX-License-Identifier: Apache-2.0 */
#include "record/set.h"

#include "recorded.h"

TEST(set, default_is_number_zero) {
    CHECK_EQ_U64(stint_set_get("GlobalStatInfo")->id, 0);
    CHECK(stint_set_get(NULL) == stint_set_get("GlobalStatInfo"));
    CHECK(stint_set_get("") == stint_set_get("GlobalStatInfo"));
}

TEST(set, numbered_in_order_and_found_again) {
    stint_set *a = stint_set_get("a"), *b = stint_set_get("b");
    CHECK(a && a->id == 1);
    CHECK(b && b->id == 2);
    char copy[] = "a";
    CHECK(stint_set_get(copy) == a);
    CHECK_EQ_U64(arena_header()->set_count, 3);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(set, keeps_its_statistics_apart) {
    stint_set *a = stint_set_get("a");
    stint_stat s;
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("scope", -1, a);
        fake_advance(10);
    }
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("scope");
        fake_advance(1);
    }
    CHECK(stint_set_stat_get(a, "scope", &s, sizeof s) == 0);
    CHECK_EQ_U64(s.calls, 3);
    CHECK_EQ_U64(s.total_ns, 30);
    CHECK(stint_set_stat_get(NULL, "scope", &s, sizeof s) == 0);
    CHECK_EQ_U64(s.calls, 2);
    CHECK_EQ_U64(s.total_ns, 2);
    CHECK(stint_set_stat_get(stint_set_get("b"), "scope", &s, sizeof s) == -1);
}

TEST(set, one_site_in_two_sets_nested) {
    stint_set *sets[2] = {stint_set_get("a"), stint_set_get("b")};
    stint_stat s;
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("outer", -1, sets[i]);
        REGISTER_TIMER("inner", -1, sets[1 - i]);
        fake_advance(7);
    }
    for (int i = 0; i < 2; ++i) {
        CHECK(stint_set_stat_get(sets[i], "outer", &s, sizeof s) == 0);
        CHECK(s.calls == 1 && s.total_ns == 7 && s.self_ns == 0);
        CHECK(stint_set_stat_get(sets[i], "inner", &s, sizeof s) == 0);
        CHECK(s.calls == 1 && s.total_ns == 7);
    }
}

TEST(set, a_site_that_takes_turns) {
    stint_set *sets[3] = {NULL, stint_set_get("a"), stint_set_get("b")};
    stint_stat s;
    for (int i = 0; i < 18; ++i) { /* of each set twice in a row */
        int set = i / 2 % 3;
        REGISTER_TIMER("turns", -1, sets[set]);
        fake_advance(1 + (uint64_t)set);
    }
    for (uint64_t set = 0; set < 3; ++set) {
        CHECK(stint_set_stat_get(sets[set], "turns", &s, sizeof s) == 0);
        CHECK_EQ_U64(s.calls, 6);
        CHECK_EQ_U64(s.total_ns, 6 * (1 + set));
    }
}

TEST(set, reset_of_one_leaves_the_other) {
    stint_set *a = stint_set_get("a");
    stint_stat s;
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("scope", -1, a);
        REGISTER_TIMER("scope");
        fake_advance(5);
    }
    stint_set_reset(a);
    CHECK(stint_set_stat_get(a, "scope", &s, sizeof s) == -1 || s.calls == 0);
    CHECK_EQ_U64(stat_of("scope").calls, 2);
}

TEST(set, names_are_bounded) {
    char name[5000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    stint_set *a = stint_set_get(name);
    CHECK(a && a->id == 1);
    name[2000] = '\0';
    CHECK(stint_set_get(name) == a);
}

TEST(set, refused_when_there_are_too_many) {
    char name[16];
    for (int i = 1; i < 16383; ++i) {
        snprintf(name, sizeof name, "%d", i);
        stint_set *s = stint_set_get(name);
        CHECK(s && s->id == (uint32_t)i);
    }
    errno = 1234;
    CHECK(stint_set_get("one more") == NULL);
    CHECK(stint_set_get("16382") != NULL);
    CHECK(errno == 1234);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_NAME), 1);
    { REGISTER_TIMER("scope", -1, stint_set_get("one more")); /* NULL: the default set */ }
    CHECK_EQ_U64(calls_of("scope"), 1);
}
static void alternate(stint_set *const sets[2], int depth) {
    REGISTER_TIMER("alternate", -1, sets[depth & 1]);
    fake_advance(1);
    if (depth) {
        alternate(sets, depth - 1);
    }
}

/* A call in the other set is not a recursive call: it is timed, too. */
TEST(set, a_site_inside_itself_in_two_sets) {
    stint_set *sets[2] = {stint_set_get("a"), stint_set_get("b")};
    for (int i = 0; i < 3; ++i) {
        alternate(sets, 3);
    }
    for (int i = 0; i < 2; ++i) {
        stint_stat s;
        CHECK(stint_set_stat_get(sets[i], "alternate", &s, sizeof s) == 0);
        CHECK_EQ_U64(s.calls, 6);
        CHECK_EQ_U64(s.samples, 3);
        CHECK_EQ_U64(s.total_ns, 3 * (3 + (uint64_t)i));
    }
}
