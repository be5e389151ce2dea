/* SPDX-License-Identifier: Apache-2.0 */
#include <cinttypes>
#include <cstdio>

#include <stint/stint.hpp>

int main() {
    int timers = 0;
    stint_stat stat = {};
    FOR_TIMING(timers = 1;)
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("consumer");
    }
    globalStat.getStat("consumer", &stat);
    std::printf("timers=%d calls=%" PRIu64 "\n", timers, stat.calls);
    return 0;
}
