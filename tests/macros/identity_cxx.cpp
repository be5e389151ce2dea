// SPDX-License-Identifier: Apache-2.0
// The C++ counterpart of identity.c, for stint.hpp.
#include <stint/stint.hpp> /* gone */

#include <string>
#include <vector>

extern stint_timer h; /* gone */
extern int work(int n);
std::string make_name(int n);

namespace {
class Engine {
  public:
    explicit Engine(int n) : n_(n) {
        REGISTER_TIMER_FUNC(); /* gone */
        work(n_);
    }
    ~Engine() {
        REGISTER_TIMER("engine.end"); /* gone */
        work(n_);
    }
    template <typename T> int step(const T &values) {
        REGISTER_TIMER("engine.step");                              /* gone */
        REGISTER_TIMER_DYNAMIC(label_);                             /* gone */
        REGISTER_TIMER_DYNAMIC_SET(label_, stint_now_us());         /* gone */
        REGISTER_TIMER_INFO("engine.info", label_.c_str());         /* gone */
        REGISTER_TIMER("engine.set", -1, nullptr);                  /* gone */
        REGISTER_TIMER_SET("engine.since", stint_now_us(), -1);     /* gone */
        REGISTER_TIMER_OP("engine.op", label_);                     /* gone */
        REGISTER_TIMER_DETAIL("engine.op2", STINT_LEVEL_OP_DETAIL); /* gone */
        REGISTER_TIMER_ROLE("engine.role", STINT_ROLE_DATA);        /* gone */
        int sum = 0;
        for (const auto &value : values) {
            REGISTER_TIMER("engine.value", value); /* gone */
            sum += work(value);
        }
        FOR_TIMING(label_ += make_name(sum);) /* gone */
        return sum;
    }

  private:
    int n_;
    std::string label_ = "engine";
};
} // namespace

int identity_cxx(const std::vector<int> &values) {
    REGISTER_GPU_PROFILER("identity", "C++");                            /* gone */
    GPU_PROFILER_START("identity");                                      /* gone */
    REGISTER_PROFILER("All", "OpDetail", make_name(2).c_str(), nullptr); /* gone */
    TIMER_BEGIN(h, "interval");                                          /* gone */
    REGISTER_GPU_TIMER("identity", &h);                                  /* gone */
    REGISTER_CL_TIMER("identity", &h);                                   /* gone */
    TIMER_BYTES(values.size());                                          /* gone */
    Engine engine(3);
    const auto run = [&engine](const std::vector<int> &v) {
        REGISTER_TIMER("lambda"); /* gone */
        return engine.step(v);
    };
    const int sum = run(values);
    TIMER_END(h);        /* gone */
    GPU_PROFILER_STOP(); /* gone */
    return sum;
}
