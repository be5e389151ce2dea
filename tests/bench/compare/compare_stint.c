/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include <stint/stint.h>

static uint64_t scopes;

void compare_begin(void) {
}

void compare_loop(long n) {
    for (long i = 0; i < n; ++i) {
        REGISTER_TIMER("compare");
        __asm__ volatile("");
    }
    scopes += (uint64_t)n;
}

int compare_recording(void) {
    stint_stat stat;
    return !stint_stat_get("compare", &stat, sizeof stat) && stat.calls == scopes;
}
