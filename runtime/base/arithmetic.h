/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of counts and times that never wraps around: a sum too large is the largest number
 * (512 threads have more ticks in five months than 64 bits hold), a difference below 0 is 0. Sums
 * of records have 128 bits, and no number of records that memory holds is too large for them.
 */
#ifndef STINT_ARITHMETIC_H
#define STINT_ARITHMETIC_H

#include <float.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t saturating_add(uint64_t a, uint64_t b) {
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Whether the sum needs no more than 64 bits. */
static inline int u64_sum_fits(uint64_t a, uint64_t b) {
    return b <= UINT64_MAX - a;
}

static inline uint64_t saturating_multiply(uint64_t a, uint64_t b) {
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static inline uint64_t saturating_subtract(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

static inline uint64_t u64_min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t u64_max(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

/* The number in 64 bits, or the largest one that these hold. */
static inline uint64_t u128_narrow(u128 v) {
    return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

static inline u128 u128_subtract(u128 a, u128 b) {
    return a > b ? a - b : 0;
}

static inline u128 u128_min(u128 a, u128 b) {
    return a < b ? a : b;
}

static inline u128 u128_max(u128 a, u128 b) {
    return a > b ? a : b;
}

static inline double double_min(double a, double b) {
    return a < b ? a : b;
}

static inline double double_max(double a, double b) {
    return a > b ? a : b;
}

static inline double double_square(double v) {
    return v * v;
}

/* The number of these bits, which may be damaged: 0 for those that are not a sum of anything. */
static inline double double_of_bits(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    if (v >= 0 && v <= DBL_MAX) {
        return v;
    }
    return 0;
}

static inline uint64_t bits_of_double(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline uint64_t u64_clamp(uint64_t v, uint64_t low, uint64_t high) {
    if (v < low) {
        return low;
    }
    return u64_min(v, high);
}

#endif
