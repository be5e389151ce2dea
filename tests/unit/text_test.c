/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_clock.h"
#include "harness.h"
#include "stint/stint.h"

TEST(text, smoke) {
    stint_stat st;
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("a");
        fake_advance(1000);
    }
    CHECK(!stint_stat_get("a", &st));
    CHECK_EQ_U64(st.total_ns, 3000);
    stint_report("table");
    stint_report("legacy");
}
HARNESS_MAIN()
