/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that know nothing of stint and wait for each other in each of STEPS steps: steps_program
 * WAY [RANK...]. The ranks that are given work longer. The ways: "all", MPI_Allreduce of all ranks;
 * "groups", of communicators without a name, of four ranks each; "root", MPI_Bcast of rank 1 and
 * MPI_Reduce to rank 0. Each rank writes when it came to each step to FOLDER-RANK, with FOLDER from
 * ARRIVALS: one clock, as all are on one machine.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS 64
#define WORK_US 2000
#define LATE_US 20000

static void work(int is_late, FILE *arrivals) {
    struct timespec t = {0, (WORK_US + is_late * LATE_US) * 1000};
    nanosleep(&t, NULL);
    clock_gettime(CLOCK_MONOTONIC, &t);
    fprintf(arrivals, "%lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
}

static FILE *open_arrivals(int rank) {
    char path[1000];
    snprintf(path, sizeof path, "%s-%d", getenv("ARRIVALS"), rank);
    return fopen(path, "w");
}

static void step(const char *way, MPI_Comm comm) {
    double own = 1, all;
    if (!strcmp(way, "root")) {
        MPI_Bcast(&own, 1, MPI_DOUBLE, 1, comm);
        MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    } else {
        MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    }
}

int main(int argc, char **argv) {
    int rank, is_late = 0;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    FILE *arrivals = open_arrivals(rank);
    if (!arrivals) {
        MPI_Abort(comm, 1);
    }
    for (int i = 2; i < argc; ++i) {
        is_late |= atoi(argv[i]) == rank;
    }
    if (!strcmp(argv[1], "groups")) {
        MPI_Comm_split(MPI_COMM_WORLD, rank / 4, rank, &comm);
    }
    for (int i = 0; i < STEPS; ++i) {
        work(is_late, arrivals);
        step(argv[1], comm);
    }
    MPI_Finalize();
    return fclose(arrivals) != 0;
}
