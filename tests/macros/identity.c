/* SPDX-License-Identifier: Apache-2.0 */
/* Off is nothing: this file, and this file with the marked lines blanked, give the same object. */
#include <stdint.h>
#include <stint/stint.h> /* gone */

extern stint_timer h; /* gone */
extern int work(int n);
extern const char *text(void);

static inline int helper(int n) {
    REGISTER_TIMER("helper"); /* gone */
    return n * 3;
}

int identity(int n, const char *info) {
    int sum = 0;
    REGISTER_TIMER("identity");                                                 /* gone */
    REGISTER_TIMER("identity.threshold", n);                                    /* gone */
    REGISTER_TIMER("identity.set", -1, stint_set_get(text()));                  /* gone */
    REGISTER_TIMER_INFO("identity.info", text());                               /* gone */
    REGISTER_TIMER_INFO("identity.slow", text(), work(n), stint_set_get(info)); /* gone */
    REGISTER_TIMER_SINCE("identity.early", (uint64_t)work(n));                  /* gone */
    REGISTER_TIMER_DYNAMIC_SINCE(text(), (uint64_t)work(n));                    /* gone */
    REGISTER_TIMER_UNDER("identity.under", stint_sender_here());                /* gone */
    REGISTER_TIMER_FUNC();                                                      /* gone */
    REGISTER_GPU_PROFILER("identity", info);                                    /* gone */
    REGISTER_PROFILER("All", NULL, text(), info);                               /* gone */
    TIMER_BEGIN(h, "interval");                                                 /* gone */
    for (int i = 0; i < n; ++i) {
        REGISTER_TIMER_SET("identity.since", (uint64_t)work(i), work(n)); /* gone */
        REGISTER_TIMER_DYNAMIC(text());                                   /* gone */
        REGISTER_TIMER_DYNAMIC_SET(info, (uint64_t)work(n++));            /* gone */
        sum += work(i) + helper(i);
        FOR_TIMING(sum += work(sum);)                        /* gone */
        REGISTER_GPU_TIMER("identity.gpu", text());          /* gone */
        REGISTER_GPU_TIMER_INFO("identity.gpu", &h, text()); /* gone */
        REGISTER_CL_TIMER_INFO("identity.cl", &h, text());   /* gone */
        TIMER_BYTES(work(i));                                /* gone */
        TIMER_MARK("identity.mark");                         /* gone */
        TIMER_VALUE("identity.value", work(i));              /* gone */
        TIMER_FLOPS(2.0 * work(i));                          /* gone */
        if (sum > 100) {
            REGISTER_TIMER_DETAIL("identity.detail", STINT_LEVEL_OP_DETAIL); /* gone */
            break;
        }
    }
    TIMER_END(h); /* gone */
    switch (sum) {
    case 1: {
        REGISTER_TIMER_ROLE("identity.role", STINT_ROLE_COPY); /* gone */
        return work(sum);
    }
    default:
        GPU_PROFILER_START(info); /* gone */
        sum -= work(4);
        GPU_PROFILER_STOP(); /* gone */
    }
    REGISTER_TIMER_OP("identity.op", info); /* gone */
    return sum;
}
