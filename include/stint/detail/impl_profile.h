/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler's block, on. The guard is its address, as with capture ranges. Not for users.
 */
#ifndef STINT_IMPL_PROFILE_H
#define STINT_IMPL_PROFILE_H

#include "impl_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

#define stint_impl_profiler_begin STINT_IMPL_ABI_NAME(stint_impl_profiler_begin)
#define stint_impl_profiler_end STINT_IMPL_ABI_NAME(stint_impl_profiler_end)

extern void stint_impl_profiler_begin(void *guard, const char *state, const char *option,
                                      const char *sorted_key, const char *path);
extern void stint_impl_profiler_end(void *guard);

#ifdef __cplusplus
} /* extern "C" */

namespace stint_impl {
class profile {
  public:
    STINT_IMPL_UNSEEN profile(const char *state, const char *option, const char *sorted_key,
                              const char *path)
        : address_(0) {
        stint_impl_profiler_begin(this, state, option, sorted_key, path);
    }
    STINT_IMPL_UNSEEN ~profile() { stint_impl_profiler_end(this); }
    profile(const profile &) = delete;
    profile &operator=(const profile &) = delete;

  protected:           /* never read: private, clang calls it unused */
    uint16_t address_; /* 2-aligned, as the other guards */
};
} /* namespace stint_impl */
#endif

#endif
