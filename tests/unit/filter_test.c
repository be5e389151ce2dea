/* SPDX-License-Identifier: Apache-2.0 */
#include "system/filter.h"

#include "support.h"

static int allows(const char *list, const char *name) {
    CHECK(!filter_set(list));
    return filter_allows(name, strlen(name));
}

TEST(filter, nothing_allows_everything) {
    CHECK(allows(NULL, "a"));
    CHECK(allows("", "a"));
}

TEST(filter, the_last_rule_that_matches_decides) {
    CHECK(allows("-io*,+io.read", "io.read"));
    CHECK(!allows("-io*,+io.read", "io.write"));
    CHECK(!allows("+io.read,-io*", "io.read"));
    CHECK(allows("-*,+*", "x"));
}

TEST(filter, a_leading_plus_excludes_the_rest) {
    CHECK(!allows("+step", "load"));
    CHECK(!allows("step", "load")); /* no sign is a plus */
    CHECK(allows("step", "step"));
    CHECK(allows("-step", "load"));
}

TEST(filter, globs) {
    CHECK(allows("+a*c", "ac"));
    CHECK(allows("+a*c", "abbbc"));
    CHECK(!allows("+a*c", "abbbcd"));
    CHECK(allows("+a?c", "abc"));
    CHECK(!allows("+a?c", "ac"));
    CHECK(!allows("+a?c", "abbc"));
    CHECK(allows("+*", ""));
    CHECK(!allows("+?", ""));
    CHECK(allows("+*a*b*", "xxaxxbxx"));
    CHECK(!allows("+*a*b*", "xxbxxaxx"));
    CHECK(allows("+***x", "x"));
    CHECK(!allows("+A", "a"));
    CHECK(allows("+a.b[c]", "a.b[c]")); /* no other character means anything */
}

TEST(filter, many_stars_take_no_time) {
    static char list[2002] = "+", name[20001];
    for (int i = 0; i < 1000; ++i) {
        memcpy(list + 1 + 2 * i, "a*", 2);
    }
    list[2000] = 'b';
    memset(name, 'a', sizeof name - 1);
    CHECK(!allows(list, name)); /* exponential or cubic matchers hang here */
}

TEST(filter, a_bad_list_changes_nothing) {
    char many[200], long_list[5000];
    for (int i = 0; i < 65; ++i) {
        memcpy(many + 3 * i, "+a,", 3);
    }
    many[65 * 3 - 1] = '\0';
    memset(long_list, 'a', sizeof long_list - 1);
    long_list[sizeof long_list - 1] = '\0';
    const char *const bad[] = {"+", "-", ",", "+a,", "+a,,+b", ",+a", "+a,-", many, long_list};
    CHECK(!filter_set("-x"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        CHECK(filter_set(bad[i]) == -1);
        CHECK(!filter_allows("x", 1) && filter_allows("a", 1));
    }
    many[64 * 3 - 1] = '\0';
    CHECK(!filter_set(many));
}

TEST(filter, takes_effect_at_the_next_scope) {
    stint_stat st;
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("outer");
        {
            REGISTER_TIMER("inner");
            fake_advance(10);
        }
        if (!i) {
            CHECK(!stint_filter_set("-inner"));
        }
        fake_advance(1);
    }
    CHECK(!stint_stat_get("inner", &st, sizeof st) && st.calls == 1);
    CHECK(!stint_stat_get("outer", &st, sizeof st) && st.calls == 3);
    CHECK_EQ_U64(st.self_ns, 23); /* the time of what is filtered belongs to what is around it */
    CHECK(stint_filter_set("+") == -1);
    CHECK(!stint_filter_set(NULL));
    timed("inner", 5);
    CHECK(!stint_stat_get("inner", &st, sizeof st) && st.calls == 2);
}
