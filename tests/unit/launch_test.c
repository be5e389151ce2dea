/* SPDX-License-Identifier: Apache-2.0 */
#include "system/launch.h"

#include "support.h"

static const char *const variables[] = {
    "STINT_RANK",           "RANK",           "WORLD_SIZE",    "LOCAL_RANK",
    "TORCHELASTIC_RUN_ID",  "PMIX_NAMESPACE", "PMIX_RANK",     "PMI_RANK",
    "OMPI_COMM_WORLD_RANK", "PMI_SIZE",       "SLURM_PROCID",  "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS",   "SLURM_LOCALID", "MPI_LOCALRANKID",
    "SLURM_JOB_ID",         "SLURM_STEP_ID"};

/* Only these are set. */
static struct launch launch_with(const char *const *set) {
    struct launch out;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
        unsetenv(variables[i]);
    }
    for (; *set; set += 2) {
        setenv(set[0], set[1], 1);
    }
    launch_read(&out);
    return out;
}
#define LAUNCH_WITH(...) launch_with((const char *const[]){__VA_ARGS__, NULL})

static void check_launch(const struct launch *l, int64_t rank, int64_t local, uint32_t size,
                         const char *job) {
    CHECK_EQ_U64((uint64_t)l->rank, (uint64_t)rank);
    CHECK_EQ_U64((uint64_t)l->local, (uint64_t)local);
    CHECK_EQ_U64(l->size, size);
    CHECK_STR_EQ(l->job, job);
}

TEST(launch, no_launcher) {
    struct launch l = LAUNCH_WITH("SLURM_JOB_ID", "17");
    check_launch(&l, -1, -1, 0, "");
    CHECK_STR_EQ(l.wrong, "");
}

TEST(launch, each_launcher) {
    struct launch l = LAUNCH_WITH("OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "64",
                                  "OMPI_COMM_WORLD_LOCAL_RANK", "1", "PMIX_NAMESPACE", "prte-7@1");
    check_launch(&l, 3, 1, 64, "prte-7@1");
    l = LAUNCH_WITH("PMI_RANK", "5", "PMI_SIZE", "8", "MPI_LOCALRANKID", "2");
    check_launch(&l, 5, 2, 8, "");
    l = LAUNCH_WITH("SLURM_PROCID", "0", "SLURM_NTASKS", "4", "SLURM_LOCALID", "0", "SLURM_JOB_ID",
                    "17", "SLURM_STEP_ID", "2");
    check_launch(&l, 0, 0, 4, "17.2");
    l = LAUNCH_WITH("RANK", "6", "WORLD_SIZE", "8", "LOCAL_RANK", "2", "TORCHELASTIC_RUN_ID",
                    "none", "SLURM_PROCID", "1", "SLURM_JOB_ID", "9");
    check_launch(&l, 6, 2, 8, "9");
    CHECK_STR_EQ(l.wrong, "");
}

TEST(launch, rank_alone_is_not_of_torchrun) {
    struct launch l = LAUNCH_WITH("RANK", "6");
    check_launch(&l, -1, -1, 0, "");
    l = LAUNCH_WITH("RANK", "x", "WORLD_SIZE", "8");
    CHECK_STR_EQ(l.wrong, "");
}

TEST(launch, given_rank_wins) {
    struct launch l = LAUNCH_WITH("STINT_RANK", "3/64", "SLURM_PROCID", "1", "SLURM_JOB_ID", "9");
    check_launch(&l, 3, -1, 64, "9");
    l = LAUNCH_WITH("STINT_RANK", "12");
    check_launch(&l, 12, -1, 0, "");
}

TEST(launch, bad_values_are_named) {
    struct launch l = LAUNCH_WITH("RANK", "abc", "WORLD_SIZE", "8", "LOCAL_RANK", "2");
    check_launch(&l, -1, -1, 0, "");
    CHECK_STR_EQ(l.wrong, "RANK=abc: expected a number; ignored");
    l = LAUNCH_WITH("PMI_RANK", "8", "PMI_SIZE", "8");
    check_launch(&l, 8, -1, 0, "");
    CHECK_STR_EQ(l.wrong,
                 "rank 8 is not below the size of the job, PMI_SIZE=8; the size is ignored");
    l = LAUNCH_WITH("SLURM_PROCID", "-1", "SLURM_NTASKS", "4");
    check_launch(&l, -1, -1, 0, "");
    CHECK_STR_EQ(l.wrong, "SLURM_PROCID=-1: expected a number; ignored");
    static const char *const bad[] = {"3/", "/4", "3/0", "3/x", "x", "3 ", "99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        l = LAUNCH_WITH("STINT_RANK", bad[i]);
        check_launch(&l, -1, -1, 0, "");
        CHECK_CONTAINS(l.wrong, "expected RANK or RANK/SIZE");
    }
    l = LAUNCH_WITH("PMI_RANK", "1", "PMI_SIZE", "0");
    check_launch(&l, 1, -1, 0, "");
    CHECK_STR_EQ(l.wrong, "PMI_SIZE=0: expected a number above 0; ignored");
}

TEST(launch, place) {
    char place[LAUNCH_PLACE_BYTES];
    launch_place(place, 0, 1, 4, "x");
    CHECK_STR_EQ(place, "");
    launch_place(place, 4, 2, 64, "17");
    CHECK_STR_EQ(place, "rank 3 of 64, local rank 1, job 17");
    launch_place(place, 1, 0, 0, "");
    CHECK_STR_EQ(place, "rank 0");
}
