/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sets of communicators and roots that the wrappers of MPI find (gen/instrument/wrap_mpi.h), on
 * a double of MPI: two communicators have one set if they have the same name and members. The
 * double is as much of MPI as the wrappers' table asks for. Its functions return what the MPI
 * standard 4.0 says: groups and their ranks in chapter 7.3, names in 7.8, the two groups of an
 * intercommunicator in 7.6.1.
 */

#include "harness.h"
#include "recorded.h"
#include "support.h"

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

#define STINT_WRAP_SET "mpi"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../../gen/instrument/wrap_mpi.h"

struct found_name {
    const stint_set *set;
    char name[400];
};

static int keep_name(void *data, const char *name, stint_set *set) {
    struct found_name *f = data;
    if (set == f->set) {
        snprintf(f->name, sizeof f->name, "%s", name);
    }
    return 0;
}

static const char *name_of(const stint_set *set) {
    static struct found_name f;
    memset(&f, 0, sizeof f);
    f.set = set;
    stint_set_each(keep_name, &f);
    return f.name;
}

static struct fake_comm comm_of(const char *name, const int *rank, int size) {
    return (struct fake_comm){.name = name, .local = {rank, size}};
}

static void check_set(MPI_Comm comm, const char *expected) {
    CHECK_STR_EQ(name_of(stint_mpi_comm_find(comm)->set), expected);
    stint_mpi_comms_change(comm); /* the address is another communicator's next time */
}

static void check_ranks(const char *name, const int *rank, int size, const char *expected) {
    struct fake_comm c = comm_of(name, rank, size);
    check_set(&c, expected);
}
#define RANKS(name, expected, ...)                                                                 \
    check_ranks(name, (const int[]){__VA_ARGS__}, (int)(sizeof(int[]){__VA_ARGS__} / sizeof(int)), \
                expected)

TEST(mpi_sets, have_the_members_in_the_name) {
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    fake_world = comm_of("MPI_COMM_WORLD", all, 8);
    check_set(MPI_COMM_WORLD, "mpi/MPI_COMM_WORLD");
    RANKS("", "mpi/8 ranks 0-7", 0, 1, 2, 3, 4, 5, 6, 7);
    RANKS("", "mpi/4 ranks 0-3", 2, 0, 3, 1); /* in another order */
    RANKS("row", "mpi/row 4-7", 4, 5, 6, 7);
    RANKS("", "mpi/5 ranks 0-1,4,6,8", 0, 1, 4, 6, 8);
    RANKS("", "mpi/1 ranks", 5); /* no one waits for another */
    RANKS("MPI_COMM_SELF", "mpi/MPI_COMM_SELF", 5);
    RANKS("", "mpi/3 ranks 2 and 2 others", 2, MPI_UNDEFINED, MPI_UNDEFINED);
}

TEST(mpi_sets, have_both_groups_of_an_intercommunicator) {
    static const int low[] = {0, 1}, high[] = {2, 5, 7};
    struct fake_comm here = {"", {low, 2}, {high, 3}}, there = {"", {high, 3}, {low, 2}};
    check_set(&here, "mpi/5 ranks between 0-2,5,7");
    check_set(&there, "mpi/5 ranks between 0-2,5,7");
}

/* Two that have the same size and beginning, but another member; in any order. */
TEST(mpi_sets, tell_long_lists_apart) {
    int rank[300] = {0};
    struct fake_comm c = comm_of("", rank, 300);
    for (int i = 0; i < 300; ++i) {
        rank[i] = 2 * (299 - i);
    }
    const stint_set *first = stint_mpi_comm_find(&c)->set;
    CHECK(strlen(name_of(first)) < 80);
    stint_mpi_comms_change(&c);
    rank[0] = 0;
    rank[299] = 598;
    CHECK(stint_mpi_comm_find(&c)->set == first);
    stint_mpi_comms_change(&c);
    rank[299] = 599;
    CHECK(stint_mpi_comm_find(&c)->set != first);
}

TEST(mpi_sets, have_their_roots) {
    static const int members[] = {4, 0, 2};
    struct fake_comm c = comm_of("", members, 3);
    struct stint_mpi_comm *found = stint_mpi_comm_find(&c);
    CHECK_STR_EQ(name_of(stint_mpi_root_set(found, 0)), "mpi/3 ranks 0,2,4, root 4");
    CHECK_STR_EQ(name_of(stint_mpi_root_set(found, 1)), "mpi/3 ranks 0,2,4, root 0");
    CHECK_STR_EQ(name_of(stint_mpi_root_set(found, 0)), "mpi/3 ranks 0,2,4, root 4");
    int asked = fake_asked;
    CHECK(stint_mpi_root_set(found, 0) == stint_mpi_root_set(found, 0));
    CHECK(fake_asked == asked);
    CHECK(stint_mpi_root_set(found, -7) == found->set); /* MPI_ROOT, and mistakes */
    CHECK(stint_mpi_root_set(found, 3) == found->set);
}

TEST(mpi_sets, are_bounded) {
    int rank[2] = {0, 1};
    struct fake_comm c = comm_of("", rank, 2);
    for (; rank[0] < STINT_MPI_SETS + 100; ++rank[0], ++rank[1]) {
        struct stint_mpi_comm *found = stint_mpi_comm_find(&c);
        const char *name = name_of(found->set);
        int is_full = rank[0] >= STINT_MPI_SETS / 2; /* one, and one for its root */
        CHECK((strcmp(name, "mpi/other communicators") == 0) == is_full);
        CHECK((stint_mpi_root_set(found, 0) == found->set) == is_full);
        stint_mpi_comms_change(&c);
    }
    rank[0] = 0; /* one of the first is found again */
    rank[1] = 1;
    check_set(&c, "mpi/2 ranks 0-1");
}
