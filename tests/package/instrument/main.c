/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <stint/stint.h>

int work_done(int n);

int main(void) {
    stint_stat work = {0};
    stint_stat left = {0};
    int calls = -1;
    for (int i = 1; i <= 3; ++i) {
        calls += work_done(i);
    }
    stint_stat_get("work_done", &work, sizeof work);
    stint_stat_get("work_left", &left, sizeof left);
    printf("calls=%d work=%d left=%d\n", calls, (int)work.calls, (int)left.calls);
    return 0;
}
