/* SPDX-License-Identifier: Apache-2.0 */
/* A consumer that says what it was compiled and linked with. */
#include <inttypes.h>
#include <stdio.h>

#include <stint/stint.h>

int main(void) {
    int timers = 0;
    int profiler = 0;
    stint_stat stat = {0};
    FOR_TIMING(timers = 1;)
#ifdef WITH_PROFILER
    profiler = 1;
#endif
    REGISTER_GPU_PROFILER("consumer");
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("consumer");
    }
    stint_stat_get("consumer", &stat, sizeof stat);
    printf("timers=%d profiler=%d calls=%" PRIu64 "\n", timers, profiler, stat.calls);
    return 0;
}
