/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_bench TAPE [RECORDS]: what a record of a tape costs the thread that delivers it,
 * from the buffer to the rows, in ns: the tape is repeated until there are that many (64 000).
 * Prints the lowest of five deliveries and their median, in CPU time; it is not a test, as it
 * depends on the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stint/stint.h"
#include "tape_play.h"

#define ROUNDS 5

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    double ns[ROUNDS];
    long count = argc > 1 ? tape_load(argv[1]) : -1;
    long wanted = argc > 2 ? atol(argv[2]) : 64000;
    if (count < 1 || wanted < 1) {
        fprintf(stderr, "tape_bench TAPE [RECORDS]\n");
        return 2;
    }
    setenv("STINT_CUPTI_LIB", TAPE_PLAYER, 1);
    stint_profiler_start("All", "Default");
    unsigned times = (unsigned)((wanted + count - 1) / count);
    for (int i = 0; i < ROUNDS; ++i) {
        double begun = seconds();
        uint64_t delivered = tape_deliver(times);
        ns[i] = (seconds() - begun) * 1e9 / (double)(delivered ? delivered : 1);
        if (!delivered) {
            fprintf(stderr, "tape_bench: nothing was delivered\n");
            return 1;
        }
    }
    qsort(ns, ROUNDS, sizeof *ns, compare_numbers);
    printf("%ld records, %u times: %.0f ns a record, median of %d: %.0f ns\n", count, times, ns[0],
           ROUNDS, ns[ROUNDS / 2]);
    return 0;
}
