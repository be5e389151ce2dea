/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_MIN_MAX_H
#define STINT_MIN_MAX_H

#include <stdint.h>

static inline uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

#endif
