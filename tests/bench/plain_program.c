/* SPDX-License-Identifier: Apache-2.0 */
/* One scope in a loop, for plain_factor.py, which compiles it as C and as C++, with and without
 * optimisation. Prints as instructions_bench does. */
#include <stdio.h>

#include <stint/stint.h>

#define WARM 8192

static void loop(long n) {
    for (long i = 0; i < n; ++i) {
        STINT_TIMER("one");
    }
}

#ifdef __cplusplus
extern "C" {
#endif
void instructions_counted(long n);
#ifdef __cplusplus
}
#endif

__attribute__((noinline)) void instructions_counted(long n) {
    loop(n);
    __asm__ volatile("" ::: "memory");
}

int main(void) {
    printf("%s\n", __VERSION__);
    loop(WARM);
    for (int i = 0; i < 25; ++i) {
        for (long n = 128; n <= 256; n += 128) {
            instructions_counted(n);
            printf("all one %ld\n", n);
        }
    }
    return 0;
}
