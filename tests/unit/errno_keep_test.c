/* SPDX-License-Identifier: Apache-2.0 */
#include "base/errno_keep.h"

#include "harness.h"

static int keep(int change, int early) {
    ERRNO_KEEP;
    errno = change;
    if (early) {
        return -1;
    }
    errno = change + 1;
    return errno;
}

TEST(errno_keep, every_way_out) {
    errno = 1234;
    CHECK(keep(5, 1) == -1);
    CHECK(errno == 1234);
    CHECK(keep(5, 0) == 6); /* the value to return is computed first */
    CHECK(errno == 1234);
}
