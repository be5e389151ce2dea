/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of MPI as the wrappers' table of communicators asks for: communicators that a test makes
 * of ranks. What the functions return is that of the MPI standard 4.0: groups and their ranks in
 * chapter 7.3, names in 7.8, the two groups of an intercommunicator in 7.6.1.
 */
#ifndef STINT_TESTS_FAKE_MPI_H
#define STINT_TESTS_FAKE_MPI_H

#include <stdio.h>

struct fake_group {
    const int *rank; /* in the job; MPI_UNDEFINED: of another one */
    int size;
};

struct fake_comm {
    const char *name;
    struct fake_group local, remote; /* remote of no size: an intracommunicator */
};

typedef const struct fake_comm *MPI_Comm;
typedef const struct fake_group *MPI_Group;
typedef int MPI_Datatype;
typedef long long MPI_Count;

static struct fake_comm fake_world;
#define MPI_COMM_WORLD (&fake_world)
#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_DATATYPE_NULL 0
#define MPI_IN_PLACE ((void *)1)
#define MPI_MAX_OBJECT_NAME 64
#define MPI_PROC_NULL (-1)
#define MPI_UNDEFINED (-32766)
#define MPI_SUCCESS 0

static int fake_asked; /* calls that ask for members */

#define FAKE(name, parameters, what)                                                               \
    static inline int PMPI_##name parameters {                                                     \
        what;                                                                                      \
        return MPI_SUCCESS;                                                                        \
    }
FAKE(Initialized, (int *flag), *flag = 1)
FAKE(Finalized, (int *flag), *flag = 0)
FAKE(Comm_size, (MPI_Comm comm, int *size), *size = comm->local.size)
FAKE(Comm_test_inter, (MPI_Comm comm, int *flag), *flag = comm->remote.size > 0)
FAKE(Comm_get_name, (MPI_Comm comm, char *name, int *n), *n = sprintf(name, "%s", comm->name))
FAKE(Comm_group, (MPI_Comm comm, MPI_Group *group), *group = &comm->local)
FAKE(Comm_remote_size, (MPI_Comm comm, int *size), *size = comm->remote.size)
FAKE(Comm_remote_group, (MPI_Comm comm, MPI_Group *group), *group = &comm->remote)
FAKE(Group_free, (MPI_Group * group), *group = NULL)
FAKE(Type_size_x, (MPI_Datatype type, MPI_Count *size), *size = type)

/* The ranks of the world are those of the job. */
static inline int PMPI_Group_translate_ranks(MPI_Group from, int count, const int *rank,
                                             MPI_Group to, int *out) {
    (void)to;
    ++fake_asked;
    for (int i = 0; i < count; ++i) {
        out[i] = from->rank[rank[i]];
    }
    return MPI_SUCCESS;
}

#endif
