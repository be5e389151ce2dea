/* SPDX-License-Identifier: Apache-2.0 */
/* A program that prints a table of its own: all statistics, a percentile, and the call tree. */
#include <stdio.h>
#include <stint/stint.h>

static unsigned work(unsigned n) {
    STINT_TIMER("work");
    unsigned sum = 0;
    for (unsigned i = 0; i < n * 1000; ++i) {
        sum += i * i;
    }
    return sum;
}

static unsigned step(unsigned n) {
    STINT_TIMER("step");
    return work(n) + work(n / 2);
}

/* A row of the table. */
static int print_row(void *rows, const char *name, const stint_stat *stat) {
    double p95 = (double)stint_stat_quantile(NULL, name, 950) / 1000;
    printf("%-8s %6llu %12.1f %12.1f\n", name, (unsigned long long)stat->calls,
           (double)stat->total_ns / 1000, p95);
    ++*(int *)rows;
    return 0; /* go on */
}

/* A row of the tree, indented. */
static int print_node(void *unused, const stint_tree_row *row) {
    (void)unused;
    printf("%*s%s: %llu\n", (int)row->depth * 2, "", row->name,
           (unsigned long long)row->stat->calls);
    return 0;
}

/* Prints how the durations of the calls are spread: a line per bucket of the histogram. */
static void print_spread(const char *name) {
    stint_bucket bucket[640];
    int n = stint_stat_histogram(NULL, name, bucket, 640);
    for (int i = 0; i < n; ++i) {
        printf("%10llu ns %6llu\n", (unsigned long long)bucket[i].low_ns,
               (unsigned long long)bucket[i].calls);
    }
}

int main(void) {
    unsigned sum = 0;
    int rows = 0;
    for (unsigned i = 0; i < 100; ++i) {
        sum += step(i);
    }
    printf("%-8s %6s %12s %12s\n", "name", "calls", "total us", "p95 us");
    int failed = stint_stat_each(NULL, print_row, &rows);
    failed |= stint_tree_each(print_node, NULL);
    print_spread("step");
    printf("%d rows, checksum %u\n", rows, sum);
    return failed;
}
