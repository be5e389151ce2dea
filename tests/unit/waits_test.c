/* SPDX-License-Identifier: Apache-2.0 */
#include "record/waits.h"

#include "harness_threads.h"

TEST(waits, in_the_order_in_which_they_came) {
    for (uint32_t i = 0; i < WAITS_MOST + 3; ++i) {
        waits_add(i + 10);
    }
    CHECK_EQ_U64(waits_count(), WAITS_MOST);
    CHECK_EQ_U64(waits_node(0), 10);
    CHECK_EQ_U64(waits_node(WAITS_MOST - 1), WAITS_MOST + 9);
    CHECK_EQ_U64(waits_left_out(), 3);
    uint32_t age = waits_age();
    waits_forget();
    CHECK_EQ_U64(waits_count(), 0);
    CHECK_EQ_U64(waits_node(0), 0);
    CHECK(waits_age() != age);
}

static void *add_many(void *first) {
    for (uint32_t i = 0; i < 100; ++i) {
        waits_add(*(uint32_t *)first + i);
    }
    return NULL;
}

TEST(waits, from_several_threads) {
    static uint32_t first[] = {1, 101, 201, 301};
    uint64_t sum = 0;
    threads_run(4, add_many, first, sizeof *first);
    for (uint32_t i = 0; i < waits_count(); ++i) {
        sum += waits_node(i);
    }
    CHECK_EQ_U64(sum, 400 * 401 / 2);
}
