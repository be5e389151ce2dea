/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint::interval: TIMER_BEGIN and TIMER_END as an object.
 */
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "recorded.hpp"

static_assert(!std::is_copy_constructible<stint::interval>::value, "an interval ends once");
static_assert(!std::is_copy_assignable<stint::interval>::value, "an interval ends once");
static_assert(std::is_nothrow_move_constructible<stint::interval>::value, "containers may move it");
static_assert(std::is_nothrow_move_assignable<stint::interval>::value, "containers may move it");
static_assert(!std::is_convertible<const char *, stint::interval>::value, "never by accident");

TEST(interval_cpp, ends_with_its_life_or_before) {
    {
        stint::interval a("a");
        CHECK(a.running());
        fake_advance(3);
        stint::interval b(std::string("b"));
        fake_advance(4);
        b.end();
        CHECK(!b.running());
        fake_advance(5);
    }
    CHECK_EQ_U64(stat_of("a").total_ns, 12);
    CHECK_EQ_U64(stat_of("b").total_ns, 4);
    CHECK_EQ_U64(calls_of("b"), 1);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(interval_cpp, begins_and_ends_by_the_macros) {
    stint::interval a;
    CHECK(!a.running());
    a.end(); /* nothing */
    TIMER_BEGIN(a, "a");
    fake_advance(7);
    TIMER_END(a);
    CHECK(!a.running());
    a.end();
    CHECK_EQ_U64(calls_of("a"), 1);
    CHECK_EQ_U64(stat_of("a").total_ns, 7);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(interval_cpp, moved_it_goes_on) {
    stint::interval a("a");
    fake_advance(1);
    stint::interval b(std::move(a));
    CHECK(!a.running() && b.running()); /* NOLINT: moved from is not running, by contract */
    fake_advance(2);
    a.end();
    stint::interval c;
    c = std::move(b);
    CHECK(!b.running() && c.running()); /* NOLINT */
    fake_advance(4);
    c.end();
    c.end();
    CHECK_EQ_U64(calls_of("a"), 1);
    CHECK_EQ_U64(stat_of("a").total_ns, 7);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(interval_cpp, assigned_to_it_ends_the_one_it_held) {
    stint::interval a("a"), b("b");
    fake_advance(10);
    a = std::move(b);
    CHECK_EQ_U64(stat_of("a").total_ns, 10);
    CHECK_EQ_U64(calls_of("b"), 0);
    fake_advance(5);
    stint::interval &same = a;
    a = std::move(same);
    CHECK(a.running());
    a = stint::interval();
    CHECK_EQ_U64(stat_of("b").total_ns, 15);
    CHECK_EQ_U64(calls_of("a") + calls_of("b"), 2);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(interval_cpp, lives_in_containers) {
    {
        std::vector<stint::interval> all;
        for (int i = 0; i < 100; ++i) {
            all.emplace_back("all");
            fake_advance(1);
        }
        all.erase(all.begin(), all.begin() + 50);
    }
    CHECK_EQ_U64(calls_of("all"), 100);
    CHECK_EQ_U64(stat_of("all").total_ns, 100 * 101 / 2);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(interval_cpp, ends_on_another_thread) {
    stint::interval a("a");
    fake_advance(5);
    {
        REGISTER_TIMER("around");
        std::thread(
            [](stint::interval taken) {
                fake_advance(5);
                taken.end();
            },
            std::move(a))
            .join();
    }
    CHECK_EQ_U64(stat_of("a").total_ns, 10);
    CHECK_EQ_U64(stat_of("around").self_ns, 5); /* an interval is the child of no scope */
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(interval_cpp, those_that_have_not_ended_are_said) {
    stint::interval a("a");
    stint_timer b = {};
    TIMER_BEGIN(b, "b");
    CHECK_STR_EQ(footer().c_str(), "open: 2 intervals, begun and not ended\n");
    std::thread([](stint::interval taken) { taken.end(); }, std::move(a)).join();
    CHECK_STR_EQ(footer().c_str(), "open: 1 interval, begun and not ended\n");
    TIMER_BEGIN(b, "b"); /* the first one never ends */
    TIMER_END(b);
    CHECK_STR_EQ(footer().c_str(), "open: 1 interval, begun and not ended\n");
}

TEST(interval_cpp, without_a_name_it_does_not_run) {
    stint::interval a(static_cast<const char *>(nullptr)), b(std::string{});
    CHECK(!a.running() && !b.running());
    CHECK_STR_EQ(footer().c_str(), "lost: 2 samples rejected, name NULL or empty\n");
}

TEST(interval_cpp, filtered_it_is_not_recorded) {
    stint_filter_set("-a");
    {
        stint::interval a("a"), b("b");
        fake_advance(1);
    }
    CHECK_EQ_U64(calls_of("a"), 0);
    CHECK_EQ_U64(calls_of("b"), 1);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(interval_cpp, errno_is_kept) {
    errno = 1234;
    { stint::interval a("first use"); }
    CHECK(errno == 1234);
}
