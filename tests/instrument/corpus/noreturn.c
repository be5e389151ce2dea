/* SPDX-License-Identifier: Apache-2.0 */
/* A function that does not return. */
#include <stdlib.h>
static __attribute__((noreturn)) void leave(int n) {
    exit(n);
}
int corpus_noreturn(void) {
    volatile int never = 0;
    if (never)
        leave(1);
    return 2;
}
