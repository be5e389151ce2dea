/* SPDX-License-Identifier: Apache-2.0 */
/* A function of a program compiled for uftrace, with -pg or -finstrument-functions. */
#include "compare.h"

#define UNTIMED __attribute__((no_instrument_function))

static __attribute__((noinline)) void function_timed(void) {
    __asm__ volatile("");
}

UNTIMED void compare_begin(void) {
}

UNTIMED void compare_loop(long n) {
    for (long i = 0; i < n; ++i) {
        function_timed();
    }
}

UNTIMED int compare_recording(void) {
    return -1;
}
