/* SPDX-License-Identifier: Apache-2.0 */
/* A unit of the mixed program; MIX_NAME is its function, the switches are its own. */
#include "mix.h"

#define MIX_TEXT_(name) #name
#define MIX_TEXT(name) MIX_TEXT_(name)

#ifdef __cplusplus
extern "C" {
#endif
extern int MIX_NAME(int calls);
#ifdef __cplusplus
}
#endif

/* Returns whether its timers are on. */
int MIX_NAME(int calls) {
    int on = 0;
    for (int i = 0; i < calls; ++i) {
        REGISTER_TIMER(MIX_TEXT(MIX_NAME));
        REGISTER_TIMER("mix.set", -1, stint_set_get("mix"));
        REGISTER_TIMER_DYNAMIC(MIX_TEXT(MIX_NAME) ".dynamic");
        REGISTER_GPU_PROFILER("mix.capture", MIX_TEXT(MIX_NAME));
        (void)mix_shared(i);
    }
    FOR_TIMING(on = 1;)
    return on;
}
