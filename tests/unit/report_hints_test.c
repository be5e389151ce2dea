/* SPDX-License-Identifier: Apache-2.0 */
/* Every hint with the row that proves it, and none without. */
#include "activities.h"

#define HTOD(from, async)                                                                          \
    ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_HTOD, from, ACTIVITY_MEMORY_DEVICE, async)

static void kernels(uint64_t total) {
    struct snapshot_activity *k = did(ACTIVITY_KERNEL, 0, "store", 100, total, 0);
    k->name = "matmul";
    k->name_length = 6;
    for (int i = 0; i < 3; ++i) {
        k->grid[i] = k->block[i] = 1;
    }
    k->grid[0] = 1000;
    k->block[0] = 256;
    k->registers = 32;
}

TEST(report_hints, none_without_a_gpu_at_work) {
    scopes_and_one_gpu();
    CHECK_STR_EQ(said(report_hints), "");
}

TEST(report_hints, one_scope) {
    scopes_and_one_gpu();
    kernels(1000000);
    const char *text = said(report_hints);
    CHECK(strstr(text, "one scope has 70.0 % of all scopes' own time"));
    CHECK(strstr(text, "     load: 1 call, 7.000 ms of its own, 7.000 ms in all\n"));
}

TEST(report_hints, many_small_copies) {
    scopes_and_one_gpu();
    kernels(1000000);
    did(ACTIVITY_COPY, HTOD(ACTIVITY_MEMORY_PINNED, 1), "load", 1200, 2000000, 1200 * 4096);
    const char *text = said(report_hints);
    CHECK(strstr(text, "many small copies: 1200, 66.7 % of the devices' work"));
    CHECK(strstr(text, "     [CUDA memcpy HtoD] in main > step > load: 1200 calls, 2.000 ms, "
                       "4.9 MB, 4.1 kB each"));
    activities[1].count = 99;
    CHECK(!strstr(said(report_hints), "small copies"));
    activities[1].count = 1200;
    activities[1].bytes = (uint64_t)1200 * 70000;
    CHECK(!strstr(said(report_hints), "small copies"));
}

TEST(report_hints, pageable_and_slow) {
    scopes_and_one_gpu();
    kernels(1000000);
    did(ACTIVITY_COPY, HTOD(ACTIVITY_MEMORY_PAGEABLE, 0), "load", 10, 10000000, 30000000);
    CHECK(strstr(said(report_hints), "copies of pageable memory: 30.0 MB"));
    CHECK(!strstr(said(report_hints), "PCIe"));
    activities[1].detail = HTOD(ACTIVITY_MEMORY_PINNED, 1);
    CHECK(strstr(said(report_hints), "large copies below 6.0 GB/s"));
    CHECK(strstr(said(report_hints), "3.0 GB/s\n"));
    activities[1].total = 2000000; /* 15 GB/s */
    CHECK(!strstr(said(report_hints), "PCIe") && !strstr(said(report_hints), "pageable"));
}

TEST(report_hints, no_overlap) {
    scopes_and_one_gpu();
    kernels(5000000);
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_KERNEL, NULL, 1, 5000000, 0);
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_COPY, NULL, 1, 2000000, 0);
    CHECK(strstr(said(report_hints), "copies and kernels take turns on GPU 0"));
    CHECK(strstr(said(report_hints), "     kernels 5.000 ms, copies 2.000 ms, both at once 0 ns"));
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_OVERLAP, NULL, 1, 1500000, 0);
    CHECK(!strstr(said(report_hints), "take turns"));
}

TEST(report_hints, unified_memory) {
    scopes_and_one_gpu();
    kernels(5000000);
    did(ACTIVITY_UNIFIED, ACTIVITY_UNIFIED_HTOD, NULL, 30, 2000000, 30000000);
    did(ACTIVITY_UNIFIED, ACTIVITY_UNIFIED_GPU_FAULT, NULL, 20, 1000000, 0);
    did(ACTIVITY_UNIFIED, ACTIVITY_UNIFIED_CPU_FAULT, NULL, 5, 0, 0);
    CHECK(strstr(said(report_hints),
                 "unified memory: 30.0 MB moved, with 25 page faults, in 3.000 ms; "));
    CHECK(strstr(said(report_hints), "     unified migration HtoD"));
    activities[1].total = activities[2].total = 100;
    CHECK(!strstr(said(report_hints), "unified"));
}

/* Most of the kernels' time is overlapped already: more copies cannot be. */
TEST(report_hints, overlap_of_short_kernels) {
    scopes_and_one_gpu();
    kernels(5000000);
    did(ACTIVITY_COPY, HTOD(ACTIVITY_MEMORY_PINNED, 1), "load", 10, 90000000, 900000000);
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_KERNEL, NULL, 1, 5000000, 0);
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_COPY, NULL, 1, 90000000, 0);
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_OVERLAP, NULL, 1, 4000000, 0);
    CHECK(!strstr(said(report_hints), "take turns"));
}

TEST(report_hints, host_late) {
    scopes_and_one_gpu();
    kernels(5000000);
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL, 1, 5000000, 0);
    did(ACTIVITY_GAP, ACTIVITY_GAP_HOST_LATE, "load", 10, 3000000, 0)->max = 900000;
    CHECK(strstr(said(report_hints), "the GPU waits for the host: 3.000 ms in 10 gaps"));
    CHECK(strstr(said(report_hints),
                 "     before main > step > load: 10 gaps, 3.000 ms, the longest 900.0 us\n"));
    activities[2].detail = ACTIVITY_GAP_UNKNOWN;
    CHECK(!strstr(said(report_hints), "waits for the host"));
}

TEST(report_hints, synchronisation_in_steps) {
    scopes_and_one_gpu();
    kernels(5000000);
    did(ACTIVITY_SYNC, ACTIVITY_SYNC_STREAM, "step", 20, 4000000, 0);
    CHECK(!strstr(said(report_hints), "a step"));
    did(ACTIVITY_STEP, ACTIVITY_STEP_WALL, NULL, 10, 10000000, 0)->device = SNAPSHOT_NONE;
    CHECK(strstr(said(report_hints), "2.0 synchronisations a step, 4.000 ms waited"));
    activities[1].detail = ACTIVITY_SYNC_STREAM_WAIT; /* of a stream, the host goes on */
    CHECK(!strstr(said(report_hints), "a step"));
}

TEST(report_hints, low_occupancy) {
    scopes_and_one_gpu();
    kernels(5000000);
    CHECK(!strstr(said(report_hints), "low occupancy"));
    activities[0].registers = 255;
    CHECK(strstr(said(report_hints), "low occupancy: at most 12.5 %"));
    CHECK(strstr(said(report_hints), "registers"));
    CHECK(strstr(said(report_hints), "     blocks of 256x1x1 threads, 255 registers a thread"));
}
