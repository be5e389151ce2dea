/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of two ranks that knows nothing of stint: rank 1 arrives later at each barrier. Each
 * prints its rank and how long it waited in barriers at least, by the arrival of the last rank.
 * Both are on one machine, so they read one clock.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 10
#define LATE_MS 20
#define WORDS 1000

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_ms(int ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* A rank cannot leave the barrier before the last one has come. */
static int64_t barriers(int rank) {
    int64_t waited = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        pause_ms(rank ? LATE_MS : 1);
        int64_t came[2], mine = now();
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allgather(&mine, 1, MPI_INT64_T, came, 1, MPI_INT64_T, MPI_COMM_WORLD);
        int64_t last = came[0] > came[1] ? came[0] : came[1];
        waited += last - mine;
    }
    return waited;
}

/* The calls and their bytes are in the table of mpi_test.py. */
static void messages(int rank, int size) {
    static double data[2 * WORDS], more[2 * WORDS];
    int other = 1 - rank, flag = 0;
    MPI_Request requests[2];
    MPI_Status status;
    if (rank == 0) {
        MPI_Send(data, WORDS, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
    } else {
        /* The count of a receive is an upper bound. */
        MPI_Recv(data, 2 * WORDS, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &status);
    }
    MPI_Irecv(more, WORDS, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, WORDS, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(data, 3, MPI_INT, other, 3, more, WORDS, MPI_INT, other, 3, MPI_COMM_WORLD,
                 &status);
    MPI_Send(data, WORDS, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD); /* nothing is sent */
    MPI_Bcast(data, 7, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, data, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(data, 4, MPI_INT, more, 4, MPI_INT, MPI_COMM_WORLD); /* 4 for each rank */
    /* Only the root has the other counts and types. */
    if (rank == 0) {
        MPI_Scatter(data, 6, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, more, 6, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } else {
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, more, 6, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Gather(more, 6, MPI_DOUBLE, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    }
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status);
    if (flag || size != 2) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Makes a communicator with a name, one without, and one that may reuse a freed handle. */
static void communicators(int rank) {
    MPI_Comm named, alone, again;
    int compared;
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "pairs");
    MPI_Barrier(named);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
    MPI_Barrier(alone);
    MPI_Barrier(alone);
    MPI_Comm_compare(named, MPI_COMM_WORLD, &compared);
    MPI_Comm_free(&named);
    MPI_Comm_dup(alone, &again);
    MPI_Comm_set_name(again, "again");
    MPI_Barrier(again);
    MPI_Comm_free(&again);
    MPI_Comm_free(&alone);
}

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    return MPI_COMM_DUP_FN(comm, key, extra, in, out, flag);
}

/* A callback of MPI's own and one that calls it: neither is a call of the program. */
static void callbacks(void) {
    int own, theirs;
    static int value;
    MPI_Comm copy;
    MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &own, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &theirs, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, own, &value);
    MPI_Comm_set_attr(MPI_COMM_WORLD, theirs, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free_keyval(&own);
    MPI_Comm_free_keyval(&theirs);
}

int main(int argc, char **argv) {
    int rank, size, begun, ended;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Initialized(&begun); /* before MPI runs */
    MPI_Get_library_version(version, &length);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (size == 2) {
        printf("waited %lld\n", (long long)barriers(rank));
        messages(rank, size);
    }
    communicators(rank);
    callbacks();
    MPI_Finalize();
    MPI_Finalized(&ended); /* after it has ended */
    printf("rank %d\n", rank);
    return begun || !ended;
}
