/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heat in a plate: a 2-D stencil whose parts are spread over the ranks of MPI, with an exchange of
 * halos and a sum over all ranks in each step. One rank is slow. Two ways tell which one, and what
 * it costs the others.
 *
 *     mpicc -O2 -DWITH_TIMER mpi_stencil.c $(pkg-config --cflags --libs stint) -lm -o mpi_stencil
 *
 * With files, also of a job that was killed:
 *     STINT_FILE='run-%r.stint' mpirun -np 4 ./mpi_stencil
 *     stint merge run-*.stint -o all.stint
 *     stint report --view ranks all.stint
 *
 * In the program, at its end and without files; stint calls no MPI, it is given a function:
 *     mpirun -np 4 ./mpi_stencil --summary
 */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include <stint/stint.h>

#define WIDTH 256 /* points of a part in each direction, without its halo */
#define ROW (WIDTH + 2)
#define STEPS 60
#define SLOW_TIMES 100 /* how often the slow rank does its work */

static double plate[2][ROW * ROW];

/* The neighbours of this rank's part; MPI_PROC_NULL at the edges of the plate. */
struct part {
    MPI_Comm comm;
    int rank;
    int size;
    int north, south, west, east;
    MPI_Datatype column;
};

static void part_make(struct part *p) {
    int dims[2] = {0, 0}, periods[2] = {0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    MPI_Dims_create(p->size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &p->comm);
    MPI_Comm_rank(p->comm, &p->rank);
    MPI_Cart_shift(p->comm, 0, 1, &p->north, &p->south);
    MPI_Cart_shift(p->comm, 1, 1, &p->west, &p->east);
    MPI_Type_vector(WIDTH, 1, ROW, MPI_DOUBLE, &p->column);
    MPI_Type_commit(&p->column);
}

static void part_free(struct part *p) {
    MPI_Type_free(&p->column);
    MPI_Comm_free(&p->comm);
}

/* Sends the outermost points to the neighbours, and gets theirs as the halo. */
static void exchange_halo(const struct part *p, double *now) {
    STINT_TIMER_ROLE("exchange", STINT_ROLE_COMM);
    MPI_Sendrecv(&now[ROW + 1], WIDTH, MPI_DOUBLE, p->north, 0, &now[(WIDTH + 1) * ROW + 1], WIDTH,
                 MPI_DOUBLE, p->south, 0, p->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[WIDTH * ROW + 1], WIDTH, MPI_DOUBLE, p->south, 1, &now[1], WIDTH, MPI_DOUBLE,
                 p->north, 1, p->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[ROW + 1], 1, p->column, p->west, 2, &now[ROW + WIDTH + 1], 1, p->column,
                 p->east, 2, p->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[ROW + WIDTH], 1, p->column, p->east, 3, &now[ROW], 1, p->column, p->west, 3,
                 p->comm, MPI_STATUS_IGNORE);
}

/* The next state of this part; returns the sum of the squared changes. */
static double sweep_part(const double *now, double *next) {
    STINT_TIMER_ROLE("sweep", STINT_ROLE_COMPUTE);
    double changes = 0;
    for (int y = 1; y <= WIDTH; ++y) {
        for (int x = 1; x <= WIDTH; ++x) {
            const double *at = &now[y * ROW + x];
            double value = 0.25 * (at[-ROW] + at[ROW] + at[-1] + at[1]);
            changes += (value - *at) * (value - *at);
            next[y * ROW + x] = value;
        }
    }
    return changes;
}

/* All ranks leave it together, so the last one waits shortest. */
static double sum_changes(const struct part *p, double own) {
    STINT_TIMER_ROLE("residual", STINT_ROLE_WAITING);
    double all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, p->comm);
    return sqrt(all);
}

/* For stint_job_report. */
static int reduce_numbers(void *comm, int op, uint64_t *values, size_t n) {
    const MPI_Op ops[] = {
        [STINT_REDUCE_SUM] = MPI_SUM, [STINT_REDUCE_MIN] = MPI_MIN, [STINT_REDUCE_MAX] = MPI_MAX};
    return MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_UINT64_T, ops[op], *(MPI_Comm *)comm);
}

int main(int argc, char **argv) {
    struct part part;
    double residual = 1;
    int failed = 0;
    MPI_Init(&argc, &argv);
    part_make(&part);
    int times = part.rank == part.size / 2 ? SLOW_TIMES : 1;
    for (int y = 0; y < ROW && part.north == MPI_PROC_NULL; ++y) {
        plate[0][y] = plate[1][y] = 100; /* the upper edge is hot */
    }
    for (int step = 0; step < STEPS; ++step) {
        STINT_TIMER_ROLE("step", STINT_ROLE_STEP);
        double changes = 0;
        exchange_halo(&part, plate[step % 2]);
        for (int i = 0; i < times; ++i) {
            changes = sweep_part(plate[step % 2], plate[(step + 1) % 2]);
        }
        residual = sum_changes(&part, changes);
        stint_step();
    }
    if (argc > 1 && !strcmp(argv[1], "--summary")) {
        failed =
            stint_job_report((uint32_t)part.rank, (uint32_t)part.size, reduce_numbers, &part.comm);
    }
    part_free(&part);
    MPI_Finalize();
    return failed || !(residual > 0);
}
