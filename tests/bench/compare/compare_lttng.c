/* SPDX-License-Identifier: Apache-2.0 */
/* Two tracepoints without payload, the cheapest that LTTng has. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "compare_lttng_provider.h"

#include "compare.h"

void compare_begin(void) {
}

void compare_loop(long n) {
    for (long i = 0; i < n; ++i) {
        lttng_ust_tracepoint(stint_compare, enter);
        __asm__ volatile("");
        lttng_ust_tracepoint(stint_compare, leave);
    }
}

int compare_recording(void) {
    return lttng_ust_tracepoint_enabled(stint_compare, enter) &&
           lttng_ust_tracepoint_enabled(stint_compare, leave);
}
