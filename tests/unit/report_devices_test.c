/* SPDX-License-Identifier: Apache-2.0 */
#include "activities.h"

TEST(report_devices, nothing_without_a_device_at_work) {
    scopes_and_one_gpu();
    CHECK_STR_EQ(said(report_devices), "");
}

TEST(report_devices, busy_idle_and_steps) {
    scopes_and_one_gpu();
    struct snapshot_activity *any = did(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL, 1, 6000000, 0);
    any->first_at = 500000;
    any->last_at = 10500000;
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_KERNEL, NULL, 1, 5000000, 0);
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_COPY, NULL, 1, 2000000, 0);
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_OVERLAP, NULL, 1, 1000000, 0);
    did(ACTIVITY_GAP, ACTIVITY_GAP_HOST_LATE, "load", 10, 3000000, 0)->max = 900000;
    did(ACTIVITY_GAP, ACTIVITY_GAP_UNKNOWN, NULL, 4, 1000000, 0)->max = 400000;
    did(ACTIVITY_STEP, ACTIVITY_STEP_WALL, NULL, 10, 10000000, 0)->device = SNAPSHOT_NONE;
    did(ACTIVITY_STEP, ACTIVITY_STEP_BUSY, NULL, 10, 6000000, 0);
    CHECK_STR_EQ(
        said(report_devices),
        "Devices, each from its first work to its last\n"
        "device              seen      busy  % busy   kernels    copies   overlap      idle\n"
        "GPU 0 Test GPU  10.00 ms  6.000 ms    60.0  5.000 ms  2.000 ms  1.000 ms  4.000 ms\n"
        "\n"
        "Idle time of the devices, and whom to ask\n"
        "% idle      idle  gaps   longest  device  why        scope that launched next\n"
        "  75.0  3.000 ms    10  900.0 us  GPU 0   host late  main > step > load\n"
        "  25.0  1.000 ms     4  400.0 us  GPU 0   unknown    -\n"
        "\n"
        "Steps: 10\n"
        "of a step   on average      %     least      most\n"
        "wall          1.000 ms  100.0  1.000 ms  1.000 ms\n"
        "GPU 0 busy    600.0 us   60.0  600.0 us  600.0 us\n"
        "GPU 0 idle    400.0 us   40.0         -         -\n"
        "\n");
}

/* The recorder names a device of which nothing is known by its number. */
TEST(report_devices, device_without_a_name) {
    scopes_and_one_gpu();
    snprintf(snapshot.devices[0].name, sizeof snapshot.devices[0].name, "GPU 0");
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL, 1, 1000, 0)->last_at = 1000;
    CHECK(strstr(said(report_devices), "\nGPU 0 "));
    CHECK(!strstr(said(report_devices), "GPU 0 GPU 0"));
}

/* A row of idle time may be of a device that nothing else is known of. */
TEST(report_devices, trusts_no_number) {
    scopes_and_one_gpu();
    struct snapshot_activity *any =
        did(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL, 1, UINT64_MAX - 5, 0);
    any->first_at = UINT64_MAX;
    did(ACTIVITY_GAP, 77, NULL, UINT64_MAX, UINT64_MAX, 0)->device = SNAPSHOT_NONE;
    did(ACTIVITY_STEP, ACTIVITY_STEP_WALL, NULL, 1, 1, 0)->device = SNAPSHOT_NONE;
    did(ACTIVITY_STEP, ACTIVITY_STEP_BUSY, NULL, 1, UINT64_MAX, 0);
    CHECK(strstr(said(report_devices), "unknown"));
    CHECK(strstr(said(report_devices), "100.0"));
}

TEST(report_devices, at_most_so_many_gaps) {
    scopes_and_one_gpu();
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL, 1, 1000, 0)->last_at = 1000;
    for (int i = 0; i < 30; ++i) {
        did(ACTIVITY_GAP, ACTIVITY_GAP_SYNC, "store", 1, 1000 + (uint64_t)i, 0);
    }
    CHECK(strstr(said(report_devices), "(10 more)"));
}
