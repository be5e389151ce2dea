/* SPDX-License-Identifier: Apache-2.0 */
#define HARNESS_SECONDS 1 /* bad.hangs should not take a minute; main's file decides */
#include "harness.h"

TEST(other, file) {
    CHECK(1);
}

HARNESS_MAIN()
