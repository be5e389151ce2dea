/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include <stint/stint.h>

#include "work.h"

int main(void) {
    int timers = 0;
    FOR_TIMING(timers = 1;)
    REGISTER_TIMER("main");
    for (int i = 0; i < 3; ++i) {
        work_do();
    }
    printf("timers=%d calls=%" PRIu64 "\n", timers, work_calls());
    return 0;
}
