/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps errno over a function that the program calls (or that interrupts it): at every return,
 * errno is set to what it was at ERRNO_KEEP. The value to return is computed before that. It is the
 * first line of the function:
 *
 *     void stint_reset(void) {
 *         ERRNO_KEEP;
 *         interval_reset(BASELINE_ALL_SETS);
 *     }
 */
#ifndef STINT_ERRNO_KEEP_H
#define STINT_ERRNO_KEEP_H

#include <errno.h>

static inline void errno_put_back(const int *kept) {
    errno = *kept;
}

#define ERRNO_KEEP __attribute__((cleanup(errno_put_back), unused)) const int errno_kept = errno

#endif
