/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++20 coroutines that are begun on one thread and finished on another: their frames come from the
 * allocator, which hands out the same address again and again.
 */
#include <coroutine>
#include <functional>
#include <semaphore>
#include <thread>
#include <utility>

#include "recorded.hpp"

namespace {

struct task {
    struct promise_type {
        task get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
        /* There is one frame at a time, always at the same address. */
        static void *operator new(size_t bytes) {
            static char place[4096] __attribute__((aligned(64)));
            CHECK(bytes <= sizeof place);
            return place;
        }
        static void operator delete(void *) {}
    };
    std::coroutine_handle<promise_type> handle;

    void finish() {
        handle.resume();
        handle.destroy();
    }
};

task disk() {
    REGISTER_TIMER("disk");
    co_await std::suspend_always{};
}

task parse() {
    REGISTER_TIMER("parse");
    co_await std::suspend_always{};
}

task timed_by_an_interval() {
    stint::interval whole("whole");
    {
        REGISTER_TIMER("before");
        fake_advance(1);
    }
    co_await std::suspend_always{};
    {
        REGISTER_TIMER("after");
        fake_advance(2);
    }
}

task sends_before_it_is_handed_over() {
    stint_sender sender;
    {
        REGISTER_TIMER("request");
        sender = stint_sender_here();
        fake_advance(3);
    }
    co_await std::suspend_always{};
    REGISTER_TIMER_UNDER("work", sender);
    fake_advance(7);
}

/* Its scope is open when the other thread begins work under it. */
task sends_from_an_open_scope(stint_sender *sender) {
    REGISTER_TIMER("request");
    *sender = stint_sender_here();
    co_await std::suspend_always{};
}

/* Returns whether the tree has that row at that depth. */
bool tree_has(const char *name, unsigned depth) {
    char *tree = harness_capture(
        2, [](void *) { stint_report("tree"); }, nullptr);
    std::string line = "\n" + std::string(2 * depth, ' ') + name + ' ';
    bool found = strstr(tree, line.c_str()) != nullptr;
    return found;
}

/* A thread that does one thing after the other, as told, and keeps its open scopes in between. */
class worker {
  public:
    worker() : thread_([this] { work(); }) {}
    ~worker() {
        does(nullptr);
        thread_.join();
    }
    void does(std::function<void()> what) {
        what_ = std::move(what);
        told_.release();
        done_.acquire();
    }

  private:
    void work() {
        for (;;) {
            told_.acquire();
            if (what_) {
                what_();
            }
            bool last = !what_;
            done_.release();
            if (last) {
                return;
            }
        }
    }

    std::function<void()> what_;
    std::binary_semaphore told_{0}, done_{0};
    std::thread thread_;
};

} // namespace

TEST(threads_coroutines, finished_on_the_same_thread_it_is_a_sample) {
    task d = disk();
    fake_advance(5);
    d.finish();
    CHECK_EQ_U64(stat_of("disk").total_ns, 5);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(threads_coroutines, no_sample_of_a_wrong_name_or_length) {
    worker other;
    task d = disk();
    fake_advance(1000000);
    task p{};
    other.does([&] {
        d.finish();
        p = parse();
    });
    fake_advance(300000000);
    p.finish();
    CHECK_EQ_U64(calls_of("disk"), 0);
    CHECK_EQ_U64(calls_of("parse"), 0);
    CHECK_STR_EQ(footer().c_str(), "lost: 2 scopes that ended on another thread than they began "
                                   "on, as in coroutines: no sample\n");
}

TEST(threads_coroutines, a_thousand_handed_over_either_way) {
    worker other;
    for (int i = 0; i < 1000; ++i) {
        task d{};
        if (i % 2) {
            other.does([&] { d = disk(); });
            fake_advance(1);
            d.finish();
        } else {
            d = disk();
            fake_advance(1);
            other.does([&] { d.finish(); });
        }
        REGISTER_TIMER("between");
        fake_advance(1);
    }
    CHECK_EQ_U64(calls_of("disk"), 0);
    CHECK_EQ_U64(stat_of("between").total_ns, 1000);
    CHECK_STR_EQ(footer().c_str(), "lost: 1000 scopes that ended on another thread than they began "
                                   "on, as in coroutines: no sample\n");
}

TEST(threads_coroutines, an_interval_goes_with_its_coroutine) {
    worker other;
    for (int i = 0; i < 10; ++i) {
        task t = timed_by_an_interval();
        fake_advance(10);
        other.does([&] { t.finish(); });
    }
    CHECK_EQ_U64(calls_of("whole"), 10);
    CHECK_EQ_U64(stat_of("whole").total_ns, 130);
    CHECK_EQ_U64(stat_of("before").total_ns, 10);
    CHECK_EQ_U64(stat_of("after").total_ns, 20);
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(threads_coroutines, a_sender_goes_with_its_coroutine) {
    worker other;
    for (int i = 0; i < 10; ++i) {
        task t = sends_before_it_is_handed_over();
        fake_advance(20);
        other.does([&] { t.handle.resume(); });
        t.handle.destroy();
    }
    CHECK_EQ_U64(stat_of("request").self_ns, 30);
    CHECK_EQ_U64(calls_of("work"), 10);
    CHECK_EQ_U64(stat_of("work").total_ns, 70);
    CHECK(tree_has("request", 0) && tree_has("work", 1) && !tree_has("work", 0));
    CHECK_STR_EQ(footer().c_str(), "");
}

TEST(threads_coroutines, work_under_a_scope_that_is_open_in_a_coroutine) {
    worker other;
    stint_sender sender;
    task t = sends_from_an_open_scope(&sender);
    other.does([&] {
        REGISTER_TIMER_UNDER("work", sender);
        fake_advance(7);
    });
    t.finish();
    CHECK_EQ_U64(stat_of("request").total_ns, 7);
    CHECK_EQ_U64(stat_of("request").self_ns, 7);
    CHECK_EQ_U64(stat_of("work").total_ns, 7);
    CHECK(tree_has("work", 1) && !tree_has("work", 0));
    CHECK_STR_EQ(footer().c_str(), "");
}
