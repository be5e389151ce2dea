/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stint/stint.h>

static double pi_of(int terms, const char *note) {
    STINT_TIMER_INFO("pi_of", note); /* the slowest call keeps its note */
    double pi = 0;
    for (int i = 0; i < terms; ++i) {
        pi += (i % 2 == 0 ? 4.0 : -4.0) / (2 * i + 1);
    }
    return pi;
}

int main(void) {
    for (int i = 1; i <= 10; ++i) {
        STINT_TIMER("step"); /* closes with the block */
        printf("%.9f\n", pi_of(i * 100000, i < 10 ? "short" : "the longest"));
    }
    return printAllStatus();
}
