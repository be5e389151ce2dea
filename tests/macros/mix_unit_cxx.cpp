// SPDX-License-Identifier: Apache-2.0
// The same in C++, with objects: on and off are two classes of one name and one layout.
#include <stint/stint.hpp>

#include <utility>
#include <vector>

#include "mix_unit.c"

#define MIX_OF_(name, what) name##_##what
#define MIX_OF(name, what) MIX_OF_(name, what)

// A struct of a shared header, with objects that pass from unit to unit.
struct mix_job {
    stint::interval whole;
    int number;
    stint::scope part;
    char tail;
};
mix_job mix_cxx_on_passed(mix_job job);
mix_job mix_cxx_off_passed(mix_job job);
mix_job mix_cxx_inlined_passed(mix_job job);

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

static mix_job *make() {
    const StatSet set("mix.objects");
    { REGISTER_TIMER("made", -1, set); }
    auto *jobs = new mix_job[3]{};
    TIMER_BEGIN(jobs[1].whole, "mix.whole");
    jobs[1].number = 42;
    jobs[1].part = stint::scope("mix.part");
    jobs[1].tail = 't';
    return jobs;
}

// By a call, by an assignment or with their life.
static void end(stint::interval whole, stint::scope part, char how) {
    if (how == 'c') {
        part.end();
        whole.end();
    } else if (how == 'a') {
        part = stint::scope();
        whole = stint::interval();
    }
}

// Makes jobs, passes the middle one through all units, or ends it. nullptr: it is not what it was.
extern "C" void *MIX_OF(MIX_NAME, job)(void *made, char what);
extern "C" void *MIX_OF(MIX_NAME, job)(void *made, char what) {
    auto *jobs = static_cast<mix_job *>(made);
    if (what == 'm') {
        jobs = make();
    } else if (what == 'p') {
        jobs[1] = mix_cxx_on_passed(mix_cxx_inlined_passed(mix_cxx_off_passed(std::move(jobs[1]))));
    } else {
        end(std::move(jobs[1].whole), std::move(jobs[1].part), what);
    }
    bool right = jobs[0].number == 0 && jobs[1].number == 42 && jobs[1].tail == 't';
    if (what != 'm' && what != 'p') {
        delete[] jobs;
    }
    return right ? jobs : nullptr;
}
