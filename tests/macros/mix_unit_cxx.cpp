// SPDX-License-Identifier: Apache-2.0
// The same in C++, with objects: on and off are two classes of one name and one layout.
#include <stint/stint.hpp>

#include <utility>
#include <vector>

#include "mix_unit.c"

#define MIX_OBJECT_(name) name##_object
#define MIX_OBJECT(name) MIX_OBJECT_(name)

extern "C" int MIX_OBJECT(MIX_NAME)(int calls);
extern "C" int MIX_OBJECT(MIX_NAME)(int calls) {
    const StatSet set("mix.objects");
    for (int i = 0; i < calls; ++i) {
        REGISTER_TIMER(MIX_TEXT(MIX_NAME) ".object", -1, set);
    }
    stint_stat stat = stint_stat();
    return set.getStat(MIX_TEXT(MIX_NAME) ".object", &stat) == 0 ? static_cast<int>(stat.calls)
                                                                 : -1;
}

// A struct of a shared header, with what a mixed program passes from unit to unit.
struct mix_job {
    stint::interval whole;
    int number;
    stint::scope part;
    char tail;
};
mix_job mix_cxx_on_passed(mix_job job);
mix_job mix_cxx_off_passed(mix_job job);
mix_job mix_cxx_inlined_passed(mix_job job);

#define MIX_OF_(name, what) name##_##what
#define MIX_OF(name, what) MIX_OF_(name, what)

mix_job MIX_OF(MIX_NAME, passed)(mix_job job) {
    std::vector<mix_job> jobs;
    for (int i = 0; i < 3; ++i) { // they move as it grows
        jobs.push_back(mix_job{{}, i, {}, 'x'});
    }
    jobs.push_back(std::move(job));
    jobs.erase(jobs.begin());
    std::swap(jobs[0], jobs[2]);
    return std::move(jobs[0]);
}

extern "C" void *MIX_OF(MIX_NAME, make)(void);
extern "C" void *MIX_OF(MIX_NAME, make)(void) {
    auto *jobs = new mix_job[3]{};
    TIMER_BEGIN(jobs[1].whole, "mix.whole");
    jobs[1].number = 42;
    jobs[1].part = stint::scope("mix.part");
    jobs[1].tail = 't';
    return jobs;
}

// Returns whether the rest of the job is what it was.
extern "C" int MIX_OF(MIX_NAME, pass)(void *made);
extern "C" int MIX_OF(MIX_NAME, pass)(void *made) {
    auto *jobs = static_cast<mix_job *>(made);
    jobs[1] = mix_cxx_on_passed(mix_cxx_inlined_passed(mix_cxx_off_passed(std::move(jobs[1]))));
    return jobs[0].number == 0 && jobs[1].number == 42 && jobs[1].tail == 't';
}

// Ends the objects by a call, by an assignment or with their life.
extern "C" void MIX_OF(MIX_NAME, end)(void *made, int how);
extern "C" void MIX_OF(MIX_NAME, end)(void *made, int how) {
    auto *jobs = static_cast<mix_job *>(made);
    {
        stint::interval whole(std::move(jobs[1].whole));
        stint::scope part(std::move(jobs[1].part));
        if (how == 0) {
            part.end();
            whole.end();
        } else if (how == 1) {
            part = stint::scope();
            whole = stint::interval();
        }
    }
    delete[] jobs;
}
