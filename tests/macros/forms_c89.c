/* SPDX-License-Identifier: Apache-2.0 */
/* The macros in a C89 program: comments, declarations first, no <stdint.h>. Never run. */
#include <stint/stint.h>

extern int c89_work(int n, stint_set *set);

int c89_work(int n, stint_set *set) {
    int sum = n, i;
    static stint_timer timer;
    REGISTER_TIMER("c89");
    REGISTER_TIMER("c89.slow", 1000);
    REGISTER_TIMER("c89.set", -1, set);
    REGISTER_TIMER_INFO("c89.info", "batch=32");
    REGISTER_TIMER_SET("c89.since", stint_now_us());
    REGISTER_TIMER_SET("c89.since.set", 0, -1, set);
    REGISTER_TIMER_DYNAMIC("c89.dynamic");
    REGISTER_TIMER_DYNAMIC("c89.dynamic", 1000, set);
    REGISTER_TIMER_DYNAMIC_SET("c89.dynamic.since", 1);
    REGISTER_TIMER_DETAIL("c89.detail", STINT_LEVEL_OP_DETAIL);
    REGISTER_TIMER_ROLE("c89.role", STINT_ROLE_DATA);
    REGISTER_TIMER_OP("c89.op", "instance");
    REGISTER_TIMER_UNDER("c89.under", stint_sender_here());
    REGISTER_TIMER_FUNC();
    REGISTER_GPU_TIMER("c89.gpu", NULL);
    REGISTER_GPU_PROFILER("c89.range", "batch=32");
    REGISTER_PROFILER("CPU", "Default", NULL, NULL);
    FOR_TIMING(sum += 0;)
    for (i = 0; i < n; ++i) {
        int square = i * i;
        REGISTER_TIMER("c89.loop");
        TIMER_BYTES(n);
        TIMER_VALUE("c89.value", square);
        TIMER_MARK("c89.mark");
        sum += square;
    }
    TIMER_BEGIN(timer, "c89.handle");
    TIMER_END(timer);
    return sum + printAllStatus();
}
