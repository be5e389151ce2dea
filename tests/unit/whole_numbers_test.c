/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a hostile file that no whole number holds: the nearest one, on every machine. */
#include <math.h>

#include "harness.h"
#include "model/snapshot.h"
#include "report/report_grid.h"

#define MOST (UINT64_MAX - 1) /* UINT64_MAX means none in places */

TEST(whole_numbers, the_nearest_there_is) {
    static const struct {
        double v;
        uint64_t whole;
    } cases[] = {{0, 0},         {-0.0, 0},    {-0.5, 0},     {-1e300, 0},
                 {-INFINITY, 0}, {0.9, 0},     {1.5, 1},      {9.3e18, 9300000000000000000u},
                 {1.8e19, MOST}, {2e19, MOST}, {1e300, MOST}, {INFINITY, MOST},
                 {NAN, MOST}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        CHECK_EQ_U64(snapshot_whole(cases[i].v), cases[i].whole);
    }
    struct snapshot s = {.ns_per_tick = 1e300};
    CHECK_EQ_U64(snapshot_ns(&s, 0), 0);
    CHECK_EQ_U64(snapshot_ns(&s, 1), MOST);
    CHECK_EQ_U64(snapshot_ns(&s, UINT64_MAX), MOST);
}

/* Checks the text that a table has for such a share. */
static void check_share(uint64_t part, uint64_t whole, const char *want) {
    static const char *const titles[] = {"name", "share", NULL};
    struct report_grid g;
    struct text t;
    text_start(&t);
    grid_start(&g, titles, 1);
    grid_add(&g, "x");
    grid_share(&g, part, whole);
    grid_add(&g, "end");
    CHECK(!grid_print(&g, &t, 0));
    CHECK_CONTAINS(t.data, want);
    text_free(&t);
}

TEST(whole_numbers, a_share_of_a_whole) {
    char most[TEXT_NUMBER];
    text_share(most, MOST);
    check_share(1, 2, " 50.0\n");
    check_share(0, UINT64_MAX, " 0.0\n");
    check_share(UINT64_MAX, 0, " -\n");
    check_share(UINT64_MAX, UINT64_MAX, " 100.0\n");
    check_share(UINT64_MAX, 1, most);
    check_share(UINT64_MAX, 1000000, most);
}
