/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"
#include <stdio.h>
#include <stint/stint.h>

int main(void) {
    stint_stat stat = {0};
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("main.work");
        work(i);
    }
    stint_stat_get("main.work", &stat, sizeof(stat));
    printf("calls=%d\n", (int)stat.calls);
    return 0;
}
