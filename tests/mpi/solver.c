/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ranks with two threads each, and timers of its own: the program of the picture in
 * docs/ranges.md. Rank 1 has more work, and so has the second thread. An argument is the number of
 * steps.
 */
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>

#include <stint/stint.h>

#define POINTS 2000000
static double field[2 * POINTS];

static void sweep(int rank) {
    STINT_TIMER("sweep");
#pragma omp parallel for schedule(static, 1) num_threads(2)
    for (int block = 0; block < 4; ++block) {
        int more = 1 + rank + block % 2;
        for (int i = 0; i < more * POINTS / 4; ++i) {
            field[block * POINTS / 4 + i % (POINTS / 4)] += sqrt((double)i);
        }
    }
}

static double norm(void) {
    STINT_TIMER("norm");
    double own = 0, all;
#pragma omp parallel for reduction(+ : own) num_threads(2)
    for (int i = 0; i < POINTS; ++i) {
        own += field[i] * field[i];
    }
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void exchange(int rank) {
    STINT_TIMER("exchange");
    MPI_Sendrecv(field, 1000, MPI_DOUBLE, 1 - rank, 0, field + POINTS, 1000, MPI_DOUBLE, 1 - rank,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int rank, steps = 40;
    double sum = 0;
    if (argc > 1) {
        steps = atoi(argv[1]);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < steps; ++step) {
        STINT_TIMER("step");
        sweep(rank);
        exchange(rank);
        sum += norm();
    }
    MPI_Finalize();
    return !(sum > 0);
}
