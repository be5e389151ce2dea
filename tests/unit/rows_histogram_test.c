/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"
#include "read/rows.h"

#include "support.h"

/* The bucket's count of the histogram at a value; 1 tick is 1 ns on the fake clock. */
static uint64_t at(const struct histogram *h, uint64_t ticks) {
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        if (histogram_low(i) <= ticks && ticks < histogram_low(i + 1)) {
            return h->bucket[i];
        }
    }
    return 0;
}

TEST(rows_histogram, is_that_of_the_row) {
    static struct snapshot s;
    static struct histogram h;
    struct rows rows;
    for (int i = 0; i < 5; ++i) {
        timed("a", i < 3 ? 10 : 5000);
        timed("b", 20);
    }
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, 0));
    const struct stint_row *a = row_in(&rows, 0, "a"), *b = row_in(&rows, 0, "b");
    if (CHECK(a && b)) {
        CHECK(!rows_histogram(&h, &rows, (uint32_t)(a - rows.row), 0));
        CHECK_EQ_U64(histogram_count(&h), 5);
        CHECK_EQ_U64(at(&h, 10), 3);
        CHECK_EQ_U64(at(&h, 5000), 2);
        CHECK(!rows_histogram(&h, &rows, (uint32_t)(b - rows.row), 0));
        CHECK_EQ_U64(at(&h, 20), 5);
        CHECK(rows_histogram(&h, &rows, (uint32_t)(b - rows.row), 1) == -1); /* not on a GPU */
    }
    CHECK(rows_histogram(&h, &rows, rows.count, 0) == -1);
    CHECK(!rows_tree(&rows, &s));
    CHECK(rows_histogram(&h, &rows, 0, 0) == -1);
    interval_close(&s);
}

HARNESS_MAIN()
