/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arithmetic.h"

#include "harness.h"

TEST(arithmetic, saturates) {
    CHECK(saturating_add(1, 2) == 3);
    CHECK(saturating_multiply(0, UINT64_MAX) == 0);
    CHECK(saturating_multiply(3, 5) == 15);
    CHECK(saturating_multiply((uint64_t)1 << 32, (uint64_t)1 << 32) == UINT64_MAX);
    CHECK(saturating_add(UINT64_MAX, 0) == UINT64_MAX);
    CHECK(saturating_add(UINT64_MAX - 1, 1) == UINT64_MAX);
    CHECK(saturating_add(UINT64_MAX, 1) == UINT64_MAX);
    CHECK(saturating_add(UINT64_MAX / 2 + 1, UINT64_MAX / 2 + 1) == UINT64_MAX);
    CHECK(saturating_subtract(3, 2) == 1);
    CHECK(saturating_subtract(2, 2) == 0);
    CHECK(saturating_subtract(2, UINT64_MAX) == 0);
}

TEST(arithmetic, sums) {
    u128 word = (u128)1 << 64;
    CHECK(u128_narrow(7) == 7 && u128_narrow(word - 1) == UINT64_MAX);
    CHECK(u128_narrow(word) == UINT64_MAX && u128_narrow(~(u128)0) == UINT64_MAX);
    CHECK(u128_subtract(word, 1) == UINT64_MAX && u128_subtract(1, word) == 0);
    CHECK(u128_min(word, 2) == 2 && u128_max(word, 2) == word);
}

TEST(arithmetic, bounds) {
    CHECK(u64_min(1, 2) == 1 && u64_min(2, 1) == 1);
    CHECK(u64_max(1, UINT64_MAX) == UINT64_MAX && u64_max(2, 1) == 2);
    CHECK(u64_clamp(1, 5, 9) == 5 && u64_clamp(7, 5, 9) == 7 && u64_clamp(10, 5, 9) == 9);
}
