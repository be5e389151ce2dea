/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that no program writes, merged: the smallest that lead in a circle, or whose times lie
 * so far apart that no whole number holds them.
 */
#include <math.h>

#include "harness.h"
#include "tool/merge/merge.h"

#define MOST (UINT64_MAX - 1) /* what snapshot_whole makes of more */

enum { LANE = sizeof(struct arena_header) / STINT_IMPL_UNIT + 1 };

static _Alignas(STINT_IMPL_UNIT) struct {
    struct arena_header header;
    char rest[STINT_IMPL_UNIT - sizeof(struct arena_header) % STINT_IMPL_UNIT];
    struct arena_lane lane;
} file;

_Static_assert(offsetof(__typeof__(file), lane) == LANE * STINT_IMPL_UNIT, "at a unit");

static struct run run;
static struct merge merge;
static char folder[64];

/* Makes of that file a run that begins at that tick, and a merge that counts in its clock. */
static void begin(uint64_t start) {
    struct clock_stamp now = {start + 1000, 2000, 2000};
    char path[96];
    snprintf(folder, sizeof folder, "/tmp/stint-merge-hostile-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/out", folder);
    file.header = (struct arena_header){.abi = ARENA_FORMAT,
                                        .header_bytes = sizeof file.header,
                                        .size = sizeof file,
                                        .used = sizeof file,
                                        .start = {start, 1000, 1000},
                                        .ticks_per_us = 1000 << 8};
    memcpy(file.header.magic, ARENA_MAGIC, sizeof file.header.magic);
    run = (struct run){.path = "hostile",
                       .program = "",
                       .command = "",
                       .host = "",
                       .cpu = "",
                       .compiler = "",
                       .clock = "",
                       .gpu = "",
                       .job = "",
                       .clocks = ""};
    CHECK(!snapshot_read(&run.snapshot, (const char *)&file, sizeof file, 1000, &now));
    CHECK(!merge_start(&merge, path, 1, 64 << 20, &run, MERGE_KEEP_THREADS));
}

static void end(void) {
    merge_end(&merge);
    snapshot_free(&run.snapshot);
    CHECK(!rmdir(folder));
}

TEST(merge_hostile, a_circle_of_streams_has_as_many_as_the_file_has_room_for) {
    begin(1000);
    file.header.first_lane = file.lane.next = LANE;
    CHECK(!merge_add(&merge, &run));
    CHECK_EQ_U64(merge_file_header(&merge.file)->lane_count, sizeof file / STINT_IMPL_UNIT);
    end();
}

/* The start of the merge's only activity, which began 10 ns into its run. */
static uint64_t first_at(void) {
    const struct arena_activity *a =
        merge_file_at(&merge.file, merge_file_header(&merge.file)->first_activity);
    return a->first_at;
}

static void check_moment(uint64_t start, double ns_per_tick, uint64_t later, uint64_t finished) {
    struct snapshot_activity a = {
        .count = 1, .first_at = 10, .name = "", .node = SNAPSHOT_NONE, .device = SNAPSHOT_NONE};
    begin(start);
    merge.clock.start.ticks = 1000; /* that of another run */
    merge.clock.ns_per_tick = ns_per_tick;
    run.snapshot.activities = &a;
    run.snapshot.activity_count = 1;
    CHECK(!merge_add(&merge, &run));
    CHECK_EQ_U64(first_at(), 10 + later);
    merge.start.ticks = 400; /* that of the first of all */
    merge_activities_finish(&merge);
    CHECK_EQ_U64(first_at(), 10 + later + finished);
    end();
}

TEST(merge_hostile, activities_of_runs_that_lie_far_apart) {
    check_moment(5000, 2, 8000, 1200);
    check_moment(500, 2, 0 - UINT64_C(1000), 1200);
    check_moment(5000, 1e300, MOST, MOST);
    check_moment(500, 1e300, 0 - MOST, MOST);
    check_moment(5000, (double)NAN, MOST, MOST);
    check_moment(1000 + UINT64_MAX / 2, 1e9, MOST, 600000000000);
}
