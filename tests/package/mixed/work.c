/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include <stint/stint.h>

void work_do(void) {
    REGISTER_TIMER("work");
}

uint64_t work_calls(void) {
    stint_stat stat = {0};
    stint_stat_get("work", &stat, sizeof stat);
    return stat.calls;
}
