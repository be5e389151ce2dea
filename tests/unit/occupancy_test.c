/* SPDX-License-Identifier: Apache-2.0 */
/* The values are those that NVIDIA's cuda_occupancy.h (13.0) gives for these configurations. */
#include "harness.h"
#include "model/occupancy.h"

static const struct snapshot_device p100 = {.major = 6,
                                            .minor = 0,
                                            .threads_per_mp = 2048,
                                            .blocks_per_mp = 32,
                                            .registers_per_mp = 65536,
                                            .shared_per_mp = 65536};
static const struct snapshot_device t4 = {.major = 7,
                                          .minor = 5,
                                          .threads_per_mp = 1024,
                                          .blocks_per_mp = 16,
                                          .registers_per_mp = 65536,
                                          .shared_per_mp = 65536};
static const struct snapshot_device a100 = {.major = 8,
                                            .minor = 0,
                                            .threads_per_mp = 2048,
                                            .blocks_per_mp = 32,
                                            .registers_per_mp = 65536,
                                            .shared_per_mp = 167936,
                                            .reserved_shared = 1024};
static const struct snapshot_device h100 = {.major = 9,
                                            .minor = 0,
                                            .threads_per_mp = 2048,
                                            .blocks_per_mp = 32,
                                            .registers_per_mp = 65536,
                                            .shared_per_mp = 233472,
                                            .reserved_shared = 1024};

static void is(const struct snapshot_device *d, uint32_t threads, uint32_t registers,
               uint32_t shared, uint32_t blocks, uint32_t permille, const char *limiter) {
    struct snapshot_activity a = {.block = {threads, 1, 1},
                                  .registers = registers,
                                  .shared_static = shared / 2,
                                  .shared_dynamic = shared - shared / 2};
    struct occupancy o;
    if (CHECK(!occupancy_of(&o, d, &a))) {
        CHECK_EQ_U64(o.blocks, blocks);
        CHECK_EQ_U64(o.permille, permille);
        CHECK_STR_EQ(o.limiter, limiter);
    }
}

TEST(occupancy, of_known_configurations) {
    is(&p100, 256, 32, 0, 8, 1000, "");
    is(&p100, 256, 40, 0, 6, 750, "registers");
    is(&p100, 64, 16, 0, 32, 1000, "");
    is(&p100, 96, 32, 0, 21, 984, "block size");
    is(&p100, 192, 48, 4096, 7, 656, "registers");
    is(&p100, 256, 32, 49152, 1, 125, "shared memory");
    is(&t4, 256, 32, 0, 4, 1000, "");
    is(&t4, 256, 40, 0, 4, 1000, "");
    is(&t4, 32, 16, 0, 16, 500, "blocks");
    is(&t4, 768, 32, 0, 1, 750, "block size");
    is(&t4, 192, 48, 4096, 5, 937, "block size");
    is(&t4, 128, 64, 16384, 4, 500, "shared memory");
    is(&t4, 320, 100, 1, 1, 312, "registers");
    is(&a100, 256, 32, 0, 8, 1000, "");
    is(&a100, 256, 40, 0, 6, 750, "registers");
    is(&a100, 768, 32, 0, 2, 750, "block size");
    is(&a100, 256, 255, 0, 1, 125, "registers");
    is(&a100, 192, 48, 4096, 6, 562, "registers");
    is(&a100, 256, 32, 49152, 3, 375, "shared memory");
    is(&a100, 128, 64, 16384, 8, 500, "registers");
    is(&a100, 128, 32, 100000, 1, 62, "shared memory");
    is(&a100, 640, 24, 0, 3, 937, "block size");
    is(&h100, 256, 32, 0, 8, 1000, "");
    is(&h100, 256, 40, 0, 6, 750, "registers");
    is(&h100, 128, 32, 0, 16, 1000, "");
    is(&h100, 32, 16, 0, 32, 500, "blocks");
    is(&h100, 1024, 33, 0, 1, 500, "registers");
    is(&h100, 96, 32, 0, 21, 984, "block size");
    is(&h100, 192, 48, 4096, 6, 562, "registers");
    is(&h100, 256, 32, 49152, 4, 500, "shared memory");
    is(&h100, 512, 128, 0, 1, 250, "registers");
    is(&h100, 33, 20, 0, 32, 1000, "");
    is(&h100, 128, 32, 100000, 2, 125, "shared memory");
    is(&h100, 320, 100, 1, 1, 156, "registers");
    is(&h100, 1024, 64, 0, 1, 500, "registers");
    is(&h100, 256, 0, 0, 8, 1000, "");
}

TEST(occupancy, blocks_have_three_dimensions) {
    struct snapshot_activity a = {.block = {8, 8, 4}, .registers = 64};
    struct occupancy o;
    CHECK(!occupancy_of(&o, &h100, &a));
    CHECK_EQ_U64(o.blocks, 4);
    CHECK_EQ_U64(o.permille, 500);
}

TEST(occupancy, unknown_is_said) {
    struct snapshot_activity a = {.block = {256, 1, 1}, .registers = 32};
    struct snapshot_device d = h100;
    struct occupancy o;
    d.blocks_per_mp = 0;
    CHECK(occupancy_of(&o, &d, &a) == -1);
    d = h100;
    d.major = 3;
    CHECK(occupancy_of(&o, &d, &a) == -1);
    a.block[1] = 0;
    CHECK(occupancy_of(&o, &h100, &a) == -1);
    a.block[1] = 1;
    a.registers = 512; /* no kernel has so many */
    CHECK(occupancy_of(&o, &h100, &a) == -1);
    a.registers = 32;
    a.shared_static = 233472; /* with the reserved part it does not fit */
    CHECK(occupancy_of(&o, &h100, &a) == -1);
}
