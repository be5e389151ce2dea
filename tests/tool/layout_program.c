/* SPDX-License-Identifier: Apache-2.0 */
/* Prints where the stack of a program begins if addresses are not randomised: what the environment
 * and the directory do to its layout. Exit status 77 if that is not permitted. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <sys/personality.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int how = personality(0xffffffff);
    (void)argc;
    if (how < 0) {
        return 77;
    }
    if (!(how & ADDR_NO_RANDOMIZE)) {
        if (personality((unsigned long)how | ADDR_NO_RANDOMIZE) < 0) {
            return 77;
        }
        execv("/proc/self/exe", argv);
        return 77;
    }
    printf("%p\n", (void *)&argc);
    return 0;
}
