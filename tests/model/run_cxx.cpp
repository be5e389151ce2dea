// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "stint/stint.h"

namespace {

struct out {};

// Ends after the scope that is declared after it, with an exception too.
class told {
  public:
    told(runner *r, void (*closed)(runner *, const void *, uint64_t)) : r_(r), closed_(closed) {}
    ~told() { closed_(r_, guard, opening); }
    const void *guard = nullptr;
    uint64_t opening = 0;

  private:
    runner *r_;
    void (*closed_)(runner *, const void *, uint64_t);
};

} // namespace

extern "C" void run_catch(void (*body)(runner *), runner *r) {
    try {
        body(r);
    } catch (const out &) {
    }
}

extern "C" void run_throw(void) {
    throw out();
}

extern "C" void run_cxx_scope(runner *r, stint_impl_site *site, uint32_t set,
                              uint64_t (*opened)(runner *, const void *), void (*body)(runner *),
                              void (*closed)(runner *, const void *, uint64_t)) {
    stint_set which = {set};
    told after(r, closed);
    stint_impl::scope guard(site, &which);
    after.guard = &guard;
    after.opening = opened(r, &guard);
    body(r);
}
