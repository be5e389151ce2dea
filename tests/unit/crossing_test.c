/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes that end in another order than the reverse of that in which they began, as ranges of two
 * libraries may.
 */
#include "base/api.h"
#include "record/recorder.h"
#include "recorded.h"
#include "support.h"

static void open_scope(stint_impl_opened *guard, struct stint_impl_site *site) {
    recorder_begin_slow(guard, site, 0);
}

static void end_crossing(stint_impl_opened *guard) {
    CHECK(recorder_end_crossing((uint64_t)(uintptr_t)guard, *guard) == 0);
}

#define SITE(variable, name)                                                                       \
    static struct stint_impl_site variable = {name, "crossing", "", 1, 0, 0, 0, 0}

/* a and b in around: 10 of a alone, 20 of both, 40 of b alone, 80 of neither. */
TEST(crossing, both_have_their_whole_time_and_it_is_own_time_once) {
    SITE(around, "around");
    SITE(a, "a");
    SITE(b, "b");
    stint_impl_opened guards[3];
    open_scope(&guards[0], &around);
    open_scope(&guards[1], &a);
    fake_advance(10);
    open_scope(&guards[2], &b);
    fake_advance(20);
    end_crossing(&guards[1]);
    fake_advance(40);
    end_crossing(&guards[2]);
    fake_advance(80);
    end_crossing(&guards[0]);
    CHECK_EQ_U64(stat_of("a").total_ns, 30);
    CHECK_EQ_U64(stat_of("a").self_ns, 10);
    CHECK_EQ_U64(stat_of("b").total_ns, 60);
    CHECK_EQ_U64(stat_of("b").self_ns, 60);
    CHECK_EQ_U64(stat_of("around").total_ns, 150);
    CHECK_EQ_U64(stat_of("around").self_ns, 80);
    CHECK_EQ_U64(calls_of("a") + calls_of("b"), 2);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(open_scopes(), 0);
}

/* What ended inside b before the crossing is still no own time of b. */
TEST(crossing, what_was_nested_stays_so) {
    SITE(a, "a");
    SITE(b, "b");
    stint_impl_opened outer, inner;
    open_scope(&outer, &a);
    open_scope(&inner, &b);
    timed("c", 5);
    fake_advance(1);
    end_crossing(&outer);
    timed("d", 7);
    end_crossing(&inner);
    CHECK_EQ_U64(stat_of("a").total_ns, 6);
    CHECK_EQ_U64(stat_of("a").self_ns, 0);
    CHECK_EQ_U64(stat_of("b").total_ns, 13);
    CHECK_EQ_U64(stat_of("b").self_ns, 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(crossing, several_that_end_as_they_began) {
    static struct stint_impl_site sites[8];
    static char names[8][16];
    stint_impl_opened guards[8];
    for (int i = 0; i < 8; ++i) {
        snprintf(names[i], sizeof names[i], "s%d", i);
        sites[i] = (struct stint_impl_site){names[i], "crossing", "", 1, 0, 0, 0, 0};
        open_scope(&guards[i], &sites[i]);
        fake_advance(1);
    }
    uint64_t self = 0;
    for (int i = 0; i < 8; ++i) {
        end_crossing(&guards[i]);
        fake_advance(1);
        CHECK_EQ_U64(stat_of(names[i]).total_ns, 8);
        self += stat_of(names[i]).self_ns;
    }
    CHECK_EQ_U64(self, 15); /* from the first begin to the last end */
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(open_scopes(), 0);
}

TEST(crossing, a_recursive_call_among_them) {
    SITE(a, "a");
    SITE(b, "b");
    stint_impl_opened guards[3];
    open_scope(&guards[0], &a);
    fake_advance(1);
    open_scope(&guards[1], &b);
    fake_advance(2);
    open_scope(&guards[2], &a);
    fake_advance(4);
    end_crossing(&guards[1]);
    fake_advance(8);
    end_crossing(&guards[2]);
    fake_advance(16);
    end_crossing(&guards[0]);
    CHECK_EQ_U64(stat_of("a").total_ns, 31);
    CHECK_EQ_U64(calls_of("a"), 2);
    CHECK_EQ_U64(stat_of("b").total_ns, 6);
    CHECK_EQ_U64(stat_of("a").self_ns + stat_of("b").self_ns, 31);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(crossing, more_than_can_be_kept_are_abandoned_and_counted) {
    static struct stint_impl_site sites[40];
    static char names[40][16];
    stint_impl_opened guards[40];
    for (int i = 0; i < 40; ++i) {
        snprintf(names[i], sizeof names[i], "s%d", i);
        sites[i] = (struct stint_impl_site){names[i], "crossing", "", 1, 0, 0, 0, 0};
        open_scope(&guards[i], &sites[i]);
    }
    end_crossing(&guards[0]);
    CHECK_EQ_U64(calls_of("s0"), 1);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 39);
    CHECK_EQ_U64(open_scopes(), 0);
}

TEST(crossing, without_a_crossing_it_is_an_ordinary_end) {
    SITE(a, "a");
    stint_impl_opened guard;
    open_scope(&guard, &a);
    fake_advance(3);
    end_crossing(&guard);
    CHECK_EQ_U64(stat_of("a").total_ns, 3);
    CHECK(recorder_end_crossing((uint64_t)(uintptr_t)&guard, guard) == -1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

HARNESS_MAIN()
