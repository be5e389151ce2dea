/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

TEST(other, file) {
    CHECK(1);
}
