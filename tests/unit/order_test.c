/* SPDX-License-Identifier: Apache-2.0 */
#include "base/order.h"

#include "harness.h"

#define MAX 3000u

static uint32_t key[MAX];
static uint32_t compared;

static int is_before(const void *what, uint32_t a, uint32_t b) {
    const uint32_t *keys = what;
    ++compared;
    return keys[a] < keys[b];
}

static void fill(uint32_t count, uint32_t kinds) {
    uint32_t state = 12345;
    for (uint32_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        key[i] = (state >> 8) % kinds;
    }
}

static void check_sorted(const uint32_t *order, uint32_t count) {
    static unsigned char seen[MAX];
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < count; ++i) {
        CHECK(order[i] < count && !seen[order[i]]++);
        if (i) {
            CHECK(key[order[i - 1]] <= key[order[i]]);
            CHECK(key[order[i - 1]] < key[order[i]] || order[i - 1] < order[i]); /* stable */
        }
    }
}

TEST(order, any_count) {
    struct scratch memory = {0};
    for (uint32_t count = 0; count < 70; ++count) {
        fill(count, 10);
        check_sorted(order_by(&memory, count, is_before, key), count);
    }
    fill(MAX, 1000000);
    check_sorted(order_by(&memory, MAX, is_before, key), MAX);
    fill(MAX, 1);
    check_sorted(order_by(&memory, MAX, is_before, key), MAX);
    scratch_free(&memory);
}

TEST(order, memory_of_the_caller) {
    static uint32_t a[MAX], b[MAX];
    fill(MAX, 50);
    const uint32_t *order = order_in(a, b, MAX, is_before, key);
    CHECK(order == a || order == b);
    check_sorted(order, MAX);
}

TEST(order, what_is_in_order_is_compared_once) {
    struct scratch memory = {0};
    for (uint32_t i = 0; i < MAX; ++i) {
        key[i] = i;
    }
    compared = 0;
    check_sorted(order_by(&memory, MAX, is_before, key), MAX);
    CHECK(compared < MAX);
    scratch_free(&memory);
}
