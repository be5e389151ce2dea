/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that locks its memory, as real-time ones do: with MCL_FUTURE the kernel fills every new
 * mapping at once, so what the library only may need some day must not be mapped for use.
 */
#include <sys/resource.h>

#include <stint/stint.h>

#include "harness.h"

/* STINT_MEMORY alone is 1 GiB. A report has room for records that are made meanwhile. */
#define SCOPE_KB 4096
#define REPORT_KB 16384

/* Peak of this process; VmHWM, as ru_maxrss is inherited over fork. */
static long peak_kb(void) {
    char line[256];
    long kb = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        if (!strncmp(line, "VmHWM:", 6)) {
            kb = strtol(line + 6, NULL, 10);
        }
    }
    if (status) {
        fclose(status);
    }
    return kb;
}

static void print(NO_ARG) {
    CHECK(!stint_report("table"));
}

static void check_peak(void) {
    if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
        SKIP("mlockall is not allowed here");
    }
    long before = peak_kb();
    { REGISTER_TIMER("locked"); }
    long scope = peak_kb();
    char *table = harness_capture(2, print, NULL);
    long report = peak_kb();
    CHECK_CONTAINS(table, "locked");
    printf("first scope %ld kB, report %ld kB\n", scope - before, report - scope);
    CHECK(before > 0 && scope - before < SCOPE_KB && report - scope < REPORT_KB);
}

TEST(mlock, a_first_scope_takes_what_it_uses) {
    check_peak();
}

TEST(mlock, with_a_run_file_too) {
    CHECK(!setenv("STINT_FILE", "mlock_test-%p.stint", 1));
    check_peak();
}

/* 4 times what is made usable at once. */
TEST(mlock, memory_grows_with_what_is_recorded) {
    char name[64];
    stint_stat s;
    if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
        SKIP("mlockall is not allowed here");
    }
    for (int i = 0; i < 1500; ++i) { /* 3 KB each */
        snprintf(name, sizeof name, "name %d", i);
        REGISTER_TIMER_DYNAMIC(name);
    }
    CHECK(!stint_stat_get("name 1499", &s, sizeof s) && s.calls == 1);
}
