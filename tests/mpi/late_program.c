/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks of which one works longer than the others in each round, and so comes last to the barrier:
 * late_program FOLDER [kill]. Each writes the times that it measured itself to FOLDER/times-RANK,
 * inside and around its scopes: what stint says lies between the two, however busy the machine is.
 * "kill": the last rank kills itself in the middle, before it comes to a barrier.
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <stint/stint.h>

#define ROUNDS 30
#define KILLED_ROUND 5
#define LATE_RANK 2
#define WORK_MS 10
#define LATE_MS 50

/* Nanoseconds of a scope, measured inside and around it. */
struct bounds {
    int64_t inside;
    int64_t around;
};

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void work(struct bounds *sum, int ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    int64_t begin = now();
    {
        STINT_TIMER("work");
        int64_t inner = now();
        nanosleep(&t, NULL);
        sum->inside += now() - inner;
    }
    sum->around += now() - begin;
}

static void barrier(struct bounds *sum) {
    int64_t begin = now();
    {
        STINT_TIMER_ROLE("barrier", STINT_ROLE_WAITING);
        int64_t inner = now();
        MPI_Barrier(MPI_COMM_WORLD);
        sum->inside += now() - inner;
    }
    sum->around += now() - begin;
}

static int write_times(const char *folder, int rank, const struct bounds *worked,
                       const struct bounds *waited) {
    char path[1000];
    snprintf(path, sizeof path, "%s/times-%d", folder, rank);
    FILE *f = fopen(path, "w");
    if (!f) {
        return 1;
    }
    fprintf(f, "%lld %lld %lld %lld\n", (long long)worked->inside, (long long)worked->around,
            (long long)waited->inside, (long long)waited->around);
    return fclose(f) != 0;
}

int main(int argc, char **argv) {
    int rank, size;
    struct bounds worked = {0, 0}, waited = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int killed = argc > 2 && !strcmp(argv[2], "kill") && rank == size - 1;
    for (int i = 0; i < ROUNDS; ++i) {
        if (killed && i == KILLED_ROUND) {
            raise(SIGKILL);
        }
        work(&worked, rank == LATE_RANK ? LATE_MS : WORK_MS);
        barrier(&waited);
        stint_step();
    }
    int failed = write_times(argv[1], rank, &worked, &waited);
    MPI_Finalize();
    return failed;
}
