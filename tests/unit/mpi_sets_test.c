/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sets of communicators and roots that the wrappers of MPI find (gen/instrument/wrap_mpi.h), on
 * a double of MPI: two communicators have one set if they have the same name and members.
 */
#include <stdlib.h>
#include <string.h>

#include "fake_mpi.h"
#include "harness.h"
#include "recorded.h"
#include "support.h"

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

HARNESS_MAIN()
