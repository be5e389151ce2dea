/* SPDX-License-Identifier: Apache-2.0 */

#include "base/error_text.h"
#include "harness.h"

TEST(error_text, of_known_errors) {
    CHECK_STR_EQ(error_text(ENOENT), strerror(ENOENT));
    CHECK_STR_EQ(error_text(ENAMETOOLONG), strerror(ENAMETOOLONG));
    CHECK(error_text(EIO) == error_text(EIO));
}

TEST(error_text, of_unknown_errors) {
    CHECK(*error_text(123456));
    CHECK(*error_text(-1));
}
