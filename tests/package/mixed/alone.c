/* SPDX-License-Identifier: Apache-2.0 */
/* Knows nothing of stint. */
#include <inttypes.h>
#include <stdio.h>

#include "work.h"

int main(void) {
    for (int i = 0; i < 3; ++i) {
        work_do();
    }
    printf("calls=%" PRIu64 "\n", work_calls());
    return 0;
}
