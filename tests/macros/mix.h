/* SPDX-License-Identifier: Apache-2.0 */
/* One header with a timer in an inline function, for units that disagree about timers. */
#ifndef MIX_H
#define MIX_H

#include <stint/stint.h>

#ifdef __cplusplus
#define MIX_INLINE inline
#else
#define MIX_INLINE static inline
#endif

MIX_INLINE int mix_shared(int n) {
    REGISTER_TIMER("mix.shared");
    REGISTER_TIMER_INFO("mix.shared.info", "info");
    return n + 1;
}

#endif
