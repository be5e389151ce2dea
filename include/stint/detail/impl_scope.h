/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the timer primitives when on: argument helpers and, in C++, the guard classes. Not
 * for users.
 */
#ifndef STINT_IMPL_SCOPE_H
#define STINT_IMPL_SCOPE_H

#include "impl_record.h"

STINT_IMPL_INLINED uint32_t stint_impl_set_id(const stint_set *set) {
    return set ? set->id : 0;
}

STINT_IMPL_INLINED void stint_impl_open_under(void *guard, struct stint_impl_site *site,
                                              stint_sender sender) {
#ifdef STINT_IMPL_MSAN
    *(stint_impl_opened *)guard = 0;
#endif
    stint_impl_begin_under(guard, site, sender.word[0], sender.word[1]);
}

/* Negative: never. Capped so that the product with ticks_per_us cannot wrap. */
STINT_IMPL_INLINED int64_t stint_impl_threshold(int64_t us) {
    return us > ((int64_t)1 << 40) ? -1 : us;
}

#ifdef __cplusplus
namespace stint_impl {
#ifdef STINT_IMPL_AT_SITES
inline namespace inlined {
#else
inline namespace copied {
#endif

struct from_info {};
struct from_start {};
struct from_name {};

class scope {
  public:
    STINT_IMPL_HERE scope(stint_impl_site *site, const stint_set *set)
        : opened_(stint_impl_begin(this, site, stint_impl_set_id(set))) {}
    STINT_IMPL_HERE scope(stint_impl_site *site, stint_sender sender) : opened_(0) {
        stint_impl_open_under(this, site, sender);
    }
    STINT_IMPL_HERE ~scope() { stint_impl_end(this); }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

  protected: /* never read here: private, clang calls it unused */
    stint_impl_opened opened_;
};

class scope_with {
  public:
    STINT_IMPL_HERE scope_with(from_info, stint_impl_site *site, const char *info,
                               int64_t threshold_us, const stint_set *set)
        : call_{0, info, stint_impl_threshold(threshold_us)} {
        call_.opened = stint_impl_begin(this, site, stint_impl_set_id(set));
    }
    STINT_IMPL_UNSEEN scope_with(from_start, stint_impl_site *site, uint64_t start_us,
                                 int64_t threshold_us, const stint_set *set)
        : call_{0, nullptr, stint_impl_threshold(threshold_us)} {
        stint_impl_begin_since(this, site, stint_impl_set_id(set), start_us);
    }
    STINT_IMPL_UNSEEN scope_with(from_name, stint_impl_site *site, const char *name,
                                 uint64_t start_us, int64_t threshold_us, const stint_set *set)
        : call_{0, nullptr, stint_impl_threshold(threshold_us)} {
        stint_impl_begin_dynamic(this, site, stint_impl_set_id(set), name, UINT64_MAX, start_us);
    }
    /* std::string, std::string_view and what looks like them. */
    template <typename Text, typename = decltype(static_cast<const Text *>(nullptr)->data()),
              typename = decltype(static_cast<const Text *>(nullptr)->size())>
    STINT_IMPL_UNSEEN scope_with(from_name, stint_impl_site *site, const Text &name,
                                 uint64_t start_us, int64_t threshold_us, const stint_set *set)
        : call_{0, nullptr, stint_impl_threshold(threshold_us)} {
        stint_impl_begin_dynamic(this, site, stint_impl_set_id(set), name.data(), name.size(),
                                 start_us);
    }
    STINT_IMPL_HERE ~scope_with() { stint_impl_end_with(&call_); }
    scope_with(const scope_with &) = delete;
    scope_with &operator=(const scope_with &) = delete;

  private:
    stint_impl_call call_;
};

} /* inline namespace */
} /* namespace stint_impl */
#endif

#endif
