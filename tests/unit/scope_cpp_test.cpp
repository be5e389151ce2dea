/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of stint.hpp beside intervals: scopes that are moved, statistics to iterate over,
 * texts.
 */
#include <thread>
#include <type_traits>
#include <utility>

#include "recorded.hpp"

static_assert(!std::is_copy_constructible<stint::scope>::value, "a scope ends once");
static_assert(std::is_nothrow_move_constructible<stint::scope>::value, "containers may move it");
static_assert(std::is_nothrow_move_assignable<stint::scope>::value, "containers may move it");
static_assert(!std::is_convertible<const char *, stint::scope>::value, "never by accident");

/* A class with the members of std::string_view, in C++11. */
struct view {
    const char *bytes;
    size_t length;
    const char *data() const { return bytes; }
    size_t size() const { return length; }
};

static stint::scope make(const char *name) {
    stint::scope made(name);
    fake_advance(1);
    return made;
}

TEST(scope_cpp, is_in_the_call_tree_and_ends_early) {
    stint::scope outer(view{"outer and more", 5});
    fake_advance(1);
    {
        stint::scope moved = make("inner");
        REGISTER_TIMER("innermost");
        fake_advance(2);
    }
    fake_advance(4);
    outer.end();
    CHECK(!outer.running());
    outer.end();
    fake_advance(8);
    CHECK_EQ_U64(stat_of("outer").total_ns, 8);
    CHECK_EQ_U64(stat_of("outer").self_ns, 5);
    CHECK_EQ_U64(stat_of("inner").total_ns, 3);
    CHECK_EQ_U64(stat_of("inner").self_ns, 1);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(scope_cpp, assigned_to_it_ends_what_it_held) {
    stint::scope a("a");
    fake_advance(1);
    stint::scope empty;
    CHECK(!empty.running());
    a = std::move(empty);
    CHECK(!a.running());
    a = make("b");
    CHECK(a.running());
    fake_advance(2);
    stint::scope b(std::move(a));
    CHECK(!a.running()); /* NOLINT: moved from is not running, by contract */
    b.end();
    CHECK_EQ_U64(stat_of("a").total_ns, 1);
    CHECK_EQ_U64(stat_of("b").total_ns, 3);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(scope_cpp, of_one_name_are_recursive_calls) {
    stint::scope a("a");
    fake_advance(1);
    stint::scope b("a");
    fake_advance(2);
    b.end();
    a.end();
    CHECK_EQ_U64(stat_of("a").calls, 2);
    CHECK_EQ_U64(stat_of("a").samples, 1);
    CHECK_EQ_U64(stat_of("a").total_ns, 3);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(scope_cpp, on_another_thread_it_is_lost_and_counted) {
    stint::scope a("a");
    std::thread other([&a] {
        { stint::scope first("first"); }
        a.end();
    });
    other.join();
    CHECK(!a.running());
    CHECK(footer().find("1 ") != std::string::npos);
}

TEST(scope_cpp, bad_names_are_counted) {
    stint::scope a(static_cast<const char *>(nullptr)), b(""), c(view{nullptr, 0});
    CHECK(!a.running() && !b.running() && !c.running());
    CHECK(footer().find("3 ") != std::string::npos);
}

static void record(const char *name, uint64_t ns) {
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(ns);
}

TEST(scope_cpp, statistics_are_iterated_in_order) {
    std::string names;
    uint64_t total = 0;
    for (int i = 0; i < 40; ++i) {
        record(("n" + std::to_string(10 + i)).c_str(), 1);
    }
    stint::statistics all;
    stint_reset();
    CHECK(all.result() == STINT_OK);
    CHECK_EQ_U64(all.size(), 40);
    for (const stint::statistic &row : all) {
        names += row.name();
        total += row.total_ns + row.calls;
    }
    CHECK_EQ_U64(total, 80);
    CHECK(names.compare(0, 9, "n10n11n12") == 0 && names.size() == 120);
    CHECK_EQ_U64(stint::statistics().size(), 0);
    stint::StatSet other(view{"other set", 5});
    { REGISTER_TIMER("in it", -1, other); }
    CHECK_EQ_U64(stint::statistics(other).size(), 1);
    CHECK_STR_EQ(stint::statistics(stint::StatSet("other")).begin()->name(), "in it");
}

TEST(scope_cpp, texts) {
    stint_stat s;
    record("a", 1);
    CHECK(stint_stat_get(stint::text(view{"abc", 1}), &s, sizeof s) == STINT_OK);
    CHECK(stint_stat_get(stint::text(std::string("a")), &s, sizeof s) == STINT_OK);
    CHECK(stint_stat_get(stint::text("a"), &s, sizeof s) == STINT_OK);
    CHECK(stint_stat_get(stint::text(view{nullptr, 0}), &s, sizeof s) == STINT_ERROR_UNKNOWN);
    CHECK(stint::StatSet().getStat(std::string("a"), &s) == STINT_OK);
    CHECK_EQ_U64(stint::StatSet().quantile("a", 1000), 1);
    std::string longer(5000, 'x');
    record(longer.c_str(), 1);
    CHECK(stint_stat_get(stint::text(longer), &s, sizeof s) == STINT_OK); /* both cut alike */
    CHECK_EQ_U64(std::string(stint::text(longer)).size(), 4199);
}

/* Longer than what a string holds in itself, so that the sanitizer sees the memory's end. */
static std::string note_of(int n) {
    return "note " + std::to_string(n) + " in memory of its own";
}

TEST(note_cpp, a_temporary_lives_until_the_block_ends) {
    int made = 0;
    std::string lasting = note_of(2);
    {
        STINT_TIMER_INFO("string", note_of(++made));
        STINT_TIMER_INFO("reference", lasting);
        STINT_TIMER_INFO("text", stint::text(note_of(3)));
        STINT_GPU_TIMER_INFO("gpu", nullptr, made ? note_of(4) : "none");
        STINT_TIMER_INFO("none", NULL);
        std::string other(100, 'x');
        fake_advance(1);
    }
    CHECK_EQ_U64((uint64_t)made, 1);
    CHECK_STR_EQ(stat_of("string").info, note_of(1).c_str());
    CHECK_STR_EQ(stat_of("reference").info, lasting.c_str());
    CHECK_STR_EQ(stat_of("text").info, note_of(3).c_str());
    CHECK_STR_EQ(stat_of("gpu").info, note_of(4).c_str());
    CHECK_STR_EQ(stat_of("none").info, "");
}
