/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room that a merge plans for its result, from the sizes of the files.
 */
#include <fcntl.h>
#include <unistd.h>

#include "arena/arena.h"
#include "harness.h"
#include "tool/merge/merge.h"

#define NAMES 1000000u /* of each run; the files have no blocks */

static char folder[64];

static void make_file(char path[96], int number) {
    snprintf(path, 96, "%s/%d", folder, number);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK(!ftruncate(fd, (off_t)(NAMES * sizeof(struct stint_impl_node))));
    close(fd);
}

TEST(merge_inputs, there_is_room_for_a_histogram_and_the_ranks_of_each_name) {
    const uint64_t node = sizeof(struct stint_impl_node);
    const uint64_t histogram = sizeof(struct stint_impl_histogram);
    const uint64_t cells = 2 * sizeof(struct arena_rank_cell);
    char path[2][96];
    char *paths[2] = {path[0], path[1]};
    struct run_inputs in;
    snprintf(folder, sizeof folder, "/tmp/stint-merge-inputs-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    for (int i = 0; i < 2; ++i) {
        make_file(path[i], i);
    }
    CHECK(!run_inputs_take(&in, "merge", "", 2, paths));
    CHECK_EQ_U64(in.count, 2);
    CHECK(merge_inputs_bytes(&in) >= 2 * NAMES * node);
    CHECK(merge_inputs_growth(&in) >= 2 * NAMES * (histogram + cells)); /* no name in both */
    run_inputs_free(&in);
    for (int i = 0; i < 2; ++i) {
        CHECK(!unlink(path[i]));
    }
    CHECK(!rmdir(folder));
}
