/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three parts: a library (LATE) whose destructor has regions, one that needs it (MIDDLE), and the
 * program. The dynamic linker initialises what is needed last of all first, and so finalises it
 * after stint, which has written its report by then.
 */
#include <stdio.h>

void region(void);
void middle(void);

#ifdef LATE
static volatile int sink;

void region(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        ++sink;
    }
}

__attribute__((destructor)) static void last(void) {
    for (int i = 0; i < 100; ++i) {
        region();
    }
    printf("%d\n", sink);
}
#elif defined MIDDLE
void middle(void) {
    region();
}
#else
int main(void) {
    middle();
    return 0;
}
#endif
