// SPDX-License-Identifier: Apache-2.0
// The forms that only C++ can have. They are compiled, and never run.
#include <stint/stint.hpp>

#include "forms_header.h"
#include <algorithm>
#include <string>
#include <utility>
#include <vector>
#if __cplusplus >= 201703L
#include <string_view>
#endif

namespace forms {

// Members with the names of our functions.
class Device {
  public:
    explicit Device(int id) : id_(id) { REGISTER_TIMER("constructor"); }
    ~Device() { REGISTER_TIMER_FUNC(); }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    int printStatus(int bus, int address) const { return bus + address + id_; }
    int printAllStatus() const { return printStatus(1, 2); }
    static int getStat() { return 3; }
    void resetStatus(int to) { id_ = to; }
    void setThreadInfo(int thread, const std::string &) { id_ = thread; }
    int operator()(int n) const noexcept {
        REGISTER_TIMER("call operator");
        return n + id_;
    }
    virtual void step() { REGISTER_TIMER_INFO("virtual", label_.c_str()); }

  private:
    int id_;
    std::string label_;
};

struct Base {
    stint_timer timer{};
    void begin() { TIMER_BEGIN(timer, "member"); }
    void end() { TIMER_END(this->timer); }
};

class Job {
  public:
    explicit Job(const std::string &name) : named_(name) { TIMER_BEGIN(waiting_, "job waits"); }
    void take() { TIMER_END(waiting_); }
    bool finish() {
        named_.end();
        return named_.running();
    }

  private:
    stint::interval waiting_, named_;
};

Job twice_moved(const char *name);
Job twice_moved(const char *name) {
    stint::interval by_pointer(name), other;
    other = std::move(by_pointer);
    Job job(name);
    return job;
}

template <typename T> T twice(T value) {
    REGISTER_TIMER("template");
    REGISTER_TIMER_DYNAMIC(std::string("template ") + std::to_string(sizeof(T)));
    return static_cast<T>(value + value);
}

template <typename T, int N> struct Holder {
    T member() {
        REGISTER_TIMER("template member");
        REGISTER_TIMER_INFO("template member info", name.c_str());
        REGISTER_TIMER_SET("template member set", start);
        REGISTER_TIMER_DYNAMIC(name, N);
        TIMER_BEGIN(handle, "template member interval");
        TIMER_END(handle);
        return T{};
    }
    template <typename U> void inner(const U &text) {
        REGISTER_TIMER_DYNAMIC(text);
        REGISTER_TIMER_OP("template op", text);
        REGISTER_TIMER("template set", -1, set);
        REGISTER_GPU_PROFILER("template capture");
        REGISTER_PROFILER("CPU", nullptr, nullptr, nullptr);
    }
    std::string name;
    uint64_t start = 0;
    stint_timer handle{};
    StatSet set;
};

static std::string make_name(int n) {
    return "made " + std::to_string(n);
}

void names(const std::string &name, std::string own, const char *text, stint_set *raw);
void names(const std::string &name, std::string own, const char *text, stint_set *raw) {
    const uint64_t start = stint_now_us();
    static const StatSet server("server");
    REGISTER_TIMER("set", -1, server);
    REGISTER_TIMER("set.global", -1, globalStat);
    REGISTER_TIMER("set.raw", -1, raw);
    REGISTER_TIMER("set.nullptr", -1, nullptr);
    REGISTER_TIMER("set.temporary", -1, StatSet("temporary"));
    REGISTER_TIMER_SET("set.start", start, -1, server);
    REGISTER_TIMER_SINCE("since.start", start, -1, server);
    REGISTER_TIMER_DYNAMIC(name);
    REGISTER_TIMER_DYNAMIC(own);
    REGISTER_TIMER_DYNAMIC(text);
    REGISTER_TIMER_DYNAMIC(nullptr);
    REGISTER_TIMER_DYNAMIC(name.c_str());
    REGISTER_TIMER_DYNAMIC(make_name(3));
    REGISTER_TIMER_DYNAMIC("literal " + own);
    REGISTER_TIMER_DYNAMIC(std::string(text, 3), 1000);
    REGISTER_TIMER_DYNAMIC(name, -1, server);
    REGISTER_TIMER_DYNAMIC_SET(name, start);
    REGISTER_TIMER_DYNAMIC_SINCE(name, start);
    REGISTER_TIMER_DYNAMIC_SET(make_name(4), start, 1000);
    REGISTER_TIMER_DYNAMIC_SET(name, start, -1, server);
    REGISTER_TIMER_UNDER("under", stint_sender_here());
    GPU_PROFILER_STOP();
    REGISTER_TIMER_OP("op", name);
    REGISTER_TIMER_OP("op.made", make_name(5));
    REGISTER_TIMER_OP("op.text", text);
    REGISTER_TIMER_INFO("info", name.c_str());
    REGISTER_TIMER_INFO("info", name);
    REGISTER_TIMER_INFO("info.made", make_name(1) + own, 5);
    REGISTER_TIMER_INFO("info.both", own.empty() ? name : "none", -1, server);
    REGISTER_TIMER_INFO("info.either", own.empty() ? text : nullptr);
    REGISTER_GPU_TIMER_INFO("gpu.info", raw, make_name(3));
    REGISTER_CL_TIMER_INFO("cl.info", raw, std::move(own));
    REGISTER_GPU_PROFILER(name.c_str(), own.c_str());
    REGISTER_GPU_PROFILER(make_name(4), name);
    GPU_PROFILER_START(name + "5");
    REGISTER_PROFILER("All", "Default", "total", nullptr);
    REGISTER_PROFILER(make_name(6), name, make_name(7).c_str(), own);
    REGISTER_PROFILER("CPU", nullptr, name.c_str(), own.c_str());
#if __cplusplus >= 201703L
    const std::string_view view = std::string_view(name).substr(0, 2);
    REGISTER_TIMER_DYNAMIC(view);
    REGISTER_TIMER_DYNAMIC(std::string_view("temporary view"));
    REGISTER_TIMER_DYNAMIC_SET(view, start);
    REGISTER_TIMER_OP("op.view", view);
#endif
}

int lambdas(std::vector<int> values);
int lambdas(std::vector<int> values) {
    REGISTER_TIMER("lambdas");
    const std::string captured = make_name(1);
    const auto plain = [](int n) {
        REGISTER_TIMER("lambda");
        return n + 1;
    };
    std::sort(values.begin(), values.end(), [&captured](int a, int b) {
        REGISTER_TIMER("lambda.compare");
        REGISTER_TIMER_DYNAMIC(captured);
        return a < b;
    });
    auto nested = [&] {
        REGISTER_TIMER("outer");
        return [captured] {
            REGISTER_TIMER("inner");
            REGISTER_TIMER_INFO("inner.info", captured.c_str());
            return 1;
        };
    };
#if __cplusplus >= 201402L
    const auto generic = [](auto value) {
        REGISTER_TIMER("lambda.generic");
        REGISTER_TIMER_DYNAMIC(std::to_string(value));
        return static_cast<int>(value);
    };
    (void)generic(1.5);
#endif
    for (const int value : values) {
        REGISTER_TIMER("range for");
        if (value > 3) {
            REGISTER_TIMER("throwing");
#ifdef __EXCEPTIONS
            throw value;
#endif
        }
    }
    return plain(2) + nested()();
}

static const int at_namespace_scope = [] {
    REGISTER_TIMER("before main");
    return 3;
}();

int catches();
#ifdef __EXCEPTIONS
int catches() try {
    REGISTER_TIMER("try");
    return lambdas({1, 2, at_namespace_scope});
} catch (int value) {
    REGISTER_TIMER("catch");
    return value;
}
#else
int catches() {
    return lambdas({1, 2, at_namespace_scope});
}
#endif

stint::scope objects(const std::string &name);
stint::scope objects(const std::string &name) {
    stint::scope by_pointer("scope"), by_text(name), empty;
    empty = std::move(by_pointer);
    empty.end();
    uint64_t total = 0;
    for (const stint::statistic &row : stint::statistics(StatSet(name))) {
        total += row.total_ns + static_cast<uint64_t>(row.name()[0]);
    }
    if (stint_report(stint::text(name)) != 0 || total == 7) {
        return stint::scope();
    }
    return by_text;
}

int all();
int all() {
    Device device(1);
    Base base;
    Holder<int, 7> holder;
    base.begin();
    base.end();
    holder.inner(make_name(2));
    holder.inner("text");
    device.resetStatus(2);
    device.setThreadInfo(1, "text");
    device.step();
    StatSet set("all");
    stint_stat stat;
    set.setThreadInfo(true);
    set.reset();
    FOR_TIMING(std::vector<int> a{1, 2}, b{3, 4}; (void)twice(a[0] + b[0]);)
    return set.printAllStatus() + set.printStatus("x") + set.getStat("x", &stat) +
           set.report("table") + globalStat.printAllStatus() + device(1) +
           device.printStatus(1, 2) + device.printAllStatus() + Device::getStat() + twice(1) +
           static_cast<int>(twice(1.5)) + holder.member() + forms_inline(1, 0);
}

} // namespace forms

extern "C" int forms_c_linkage(void);
int forms_c_linkage(void) {
    REGISTER_TIMER("c linkage");
    return forms::all() + forms::catches() + forms::objects("objects").running();
}
