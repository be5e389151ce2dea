/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resource usage of the calling thread, for real: what must have been counted at least, as
 * other programs share the machine.
 */
#include "counters/usage.h"

#include <sys/resource.h>

#include "harness_threads.h"

static void read_both(uint64_t *values) {
    CHECK(!usage_read_counts(values));
    CHECK(!usage_read_times(values, 0));
}

static void touch_pages(size_t pages) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *fresh =
        mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(fresh != MAP_FAILED);
    madvise(fresh, pages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; ++i) {
        ((volatile char *)fresh)[i * page] = 1;
    }
    munmap(fresh, pages * page);
}

TEST(usage, page_faults) {
    uint64_t before[USAGE_VALUES], after[USAGE_VALUES];
    read_both(before);
    touch_pages(100);
    read_both(after);
    CHECK(after[USAGE_MINOR] >= before[USAGE_MINOR] + 100);
    CHECK(after[USAGE_MAJOR] >= before[USAGE_MAJOR]);
}

TEST(usage, waiting_is_a_switch_and_takes_no_cpu_time) {
    uint64_t before[USAGE_VALUES], after[USAGE_VALUES];
    read_both(before);
    for (int i = 0; i < 3; ++i) {
        usleep(1000);
    }
    read_both(after);
    CHECK(after[USAGE_VOLUNTARY] >= before[USAGE_VOLUNTARY] + 3);
    CHECK(after[USAGE_INVOLUNTARY] >= before[USAGE_INVOLUNTARY]);
}

static void *touch(void *unused) {
    touch_pages(5000);
    return unused;
}

/* getrusage of the process would count them. */
TEST(usage, of_this_thread_alone) {
    uint64_t before[USAGE_VALUES], after[USAGE_VALUES];
    struct rusage process[2];
    read_both(before);
    getrusage(RUSAGE_SELF, &process[0]);
    thread_run(touch, NULL);
    getrusage(RUSAGE_SELF, &process[1]);
    read_both(after);
    CHECK(process[1].ru_minflt - process[0].ru_minflt >= 5000);
    CHECK(after[USAGE_MINOR] - before[USAGE_MINOR] < 5000);
}

/* The CPU time is read within the wall time. The fake clock does not move. */
TEST(usage, cpu_time_grows_with_work) {
    uint64_t before[USAGE_VALUES], after[USAGE_VALUES];
    CHECK(!usage_read_times(before, 0));
    do {
        CHECK(!usage_read_times(after, 1));
    } while (after[USAGE_CPU] < before[USAGE_CPU] + 1000000);
    CHECK_EQ_U64(after[USAGE_WALL], before[USAGE_WALL]);
}
