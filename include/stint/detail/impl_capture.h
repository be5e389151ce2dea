/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture ranges, on. The guard is its address, as with timers. Not for users.
 */
#ifndef STINT_IMPL_CAPTURE_H
#define STINT_IMPL_CAPTURE_H

#include "impl_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

#define stint_impl_capture_begin STINT_IMPL_ABI_NAME(stint_impl_capture_begin)
#define stint_impl_capture_end STINT_IMPL_ABI_NAME(stint_impl_capture_end)
#define stint_impl_capture_start STINT_IMPL_ABI_NAME(stint_impl_capture_start)
#define stint_impl_capture_stop STINT_IMPL_ABI_NAME(stint_impl_capture_stop)

extern void stint_impl_capture_begin(void *guard, const char *name, const char *info);
extern void stint_impl_capture_end(void *guard);
extern void stint_impl_capture_start(const char *name);
extern void stint_impl_capture_stop(void);

#ifdef __cplusplus
} /* extern "C" */

namespace stint_impl {
class capture {
  public:
    STINT_IMPL_UNSEEN explicit capture(const char *name, const char *info) : address_(0) {
        stint_impl_capture_begin(this, name, info);
    }
    STINT_IMPL_UNSEEN ~capture() { stint_impl_capture_end(this); }
    capture(const capture &) = delete;
    capture &operator=(const capture &) = delete;

  protected:           /* never read: private, clang calls it unused */
    uint16_t address_; /* 2-aligned, as the tag bit wants */
};
} /* namespace stint_impl */
#endif

#endif
