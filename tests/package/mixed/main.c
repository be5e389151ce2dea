/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "work.h"

#if __has_include(<stint/stint.h>)
#include <stint/stint.h>
#else /* it knows nothing of stint */
#define FOR_TIMING(statement)
#define REGISTER_TIMER(name)
#endif

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
