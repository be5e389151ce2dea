/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INLINE_H
#define INLINE_H

#include <stint/stint.h>

static inline void run_inline(void) {
    REGISTER_TIMER("inline");
}

#endif
