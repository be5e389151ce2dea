/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `stint run --mpi`: the library with timers for the functions of MPI is preloaded.
 */
#ifndef STINT_RUN_MPI_H
#define STINT_RUN_MPI_H

/* which: "openmpi", "mpich", the path of a library, or NULL: that of the program, or of the one
 * that the command starts. 0, or -1 after one line. */
int run_mpi_set(const char *which, char **command);

#endif
