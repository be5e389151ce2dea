/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu.h"

#include "harness.h"
#include "system/config.h"

/* An H200 as its attributes describe it. */
static const struct gpu_device hopper = {.major = 9,
                                         .multiprocessors = 132,
                                         .clock_khz = 1980000,
                                         .memory_clock_khz = 3201000,
                                         .memory_bus_bits = 6144};
#define HOPPER_BYTES UINT64_C(4916736000000)
#define HOPPER_FLOPS UINT64_C(66908160000000)

static uint64_t bytes, flops;

static void ask(void *device) {
    gpu_peak(device, &bytes, &flops);
}

static void ask_with(const char *setting, const struct gpu_device *device) {
    config.gpu_peak = setting;
    gpu_peak(device, &bytes, &flops);
}

TEST(gpu_peak, from_the_attributes) {
    ask_with(NULL, &hopper);
    CHECK_EQ_U64(bytes, HOPPER_BYTES);
    CHECK_EQ_U64(flops, HOPPER_FLOPS);
}

TEST(gpu_peak, half_the_lanes) {
    struct gpu_device d = hopper;
    d.major = 8;
    ask_with(NULL, &d);
    CHECK_EQ_U64(flops, HOPPER_FLOPS / 2);
}

TEST(gpu_peak, of_devices_that_cuda_13_added) {
    static const uint32_t added[][2] = {{8, 8}, {11, 0}};
    for (int i = 0; i < 2; ++i) {
        struct gpu_device d = hopper;
        d.major = added[i][0];
        d.minor = added[i][1];
        ask_with(NULL, &d);
        CHECK_EQ_U64(flops, HOPPER_FLOPS);
    }
}

TEST(gpu_peak, unknown) {
    struct gpu_device d = hopper;
    d.minor = 77;
    d.memory_clock_khz = 0;
    ask_with("", &d);
    CHECK_EQ_U64(bytes, 0);
    CHECK_EQ_U64(flops, 0);
}

TEST(gpu_peak, nothing_overflows) {
    static const struct gpu_device d = {.memory_clock_khz = UINT32_MAX, .memory_bus_bits = 1 << 16};
    ask_with(NULL, &d);
    CHECK_EQ_U64(bytes, (uint64_t)UINT32_MAX * 1000 * 2 * (1 << 13));
}

TEST(gpu_peak, by_the_environment) {
    static const struct {
        const char *setting;
        uint64_t bytes, flops;
    } rows[] = {{"4.8T,67T", 4800000000000, 67000000000000},
                {",1.979P", HOPPER_BYTES, 1979000000000000},
                {"900G", 900000000000, HOPPER_FLOPS},
                {"336.5G,", 336500000000, HOPPER_FLOPS},
                {"7,3K", 7, 3000},
                {"2M,.5M", 2000000, 500000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ask_with(rows[i].setting, &hopper);
        CHECK_EQ_U64(bytes, rows[i].bytes);
        CHECK_EQ_U64(flops, rows[i].flops);
    }
}

TEST(gpu_peak, a_bad_setting_is_named_once_and_ignored) {
    static const char *const bad[] = {"fast", "4.8T,67T,1", "4.8TB", "-1",  "0",       "4.8T,x",
                                      "1e12", "99999999P",  ".",     "4 T", "4.8T;67T"};
    config.gpu_peak = bad[0];
    char *said = harness_capture(2, ask, (void *)(uintptr_t)&hopper);
    CHECK_STR_EQ(said, "stint: STINT_GPU_PEAK=fast: expected BYTES_PER_S[,FLOP_PER_S], as 4.8T,67T;"
                       " ignored\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        config.gpu_peak = bad[i];
        said = harness_capture(2, ask, (void *)(uintptr_t)&hopper);
        CHECK_STR_EQ(said, "");
        CHECK_EQ_U64(bytes, HOPPER_BYTES);
        CHECK_EQ_U64(flops, HOPPER_FLOPS);
    }
}
