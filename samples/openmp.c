/* SPDX-License-Identifier: Apache-2.0 */
/* A parallel loop with a scope in its body: one row a thread shows how evenly the work fell. */
#include <stdio.h>
#include <stint/stint.h>

enum { WIDTH = 512, HEIGHT = 512, LIMIT = 256 };

/* Points of one row that stay in the Mandelbrot set for LIMIT steps. */
static long row(int y) {
    STINT_TIMER("row");
    long inside = 0;
    for (int x = 0; x < WIDTH; ++x) {
        const double re = 3.0 * x / (double)WIDTH - 2.25;
        const double im = 3.0 * y / (double)HEIGHT - 1.5;
        double a = 0;
        double b = 0;
        int step = 0;
        while (step < LIMIT && a * a + b * b < 4) {
            const double next = a * a - b * b + re;
            b = 2 * a * b + im;
            a = next;
            ++step;
        }
        inside += step == LIMIT;
    }
    return inside;
}

static long picture(void) {
    STINT_TIMER("picture");
    long inside = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : inside)
    for (int y = 0; y < HEIGHT; ++y) {
        inside += row(y);
    }
    return inside;
}

int main(void) {
    printf("%ld of %d points are inside\n", picture(), WIDTH * HEIGHT);
    setThreadInfo(1);
    return printAllStatus();
}
