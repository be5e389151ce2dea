// SPDX-License-Identifier: Apache-2.0
// harness.h in C++.
#include "harness.h"

#include <string>

TEST(harness_cxx, works_in_cxx) {
    std::string text("text");
    CHECK(text.size() == 4);
    CHECK_EQ_U64(text.size(), 4u);
    CHECK_STR_EQ(text.c_str(), "text");
}
