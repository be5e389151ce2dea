/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory: the level and its maximum, per scope and per device, from records of allocations
 * and frees. They arrive in any order, and frees of unknown blocks do not count.
 */
#include "activity_made.h"
#include "support.h"

static struct activity_record memory(uint32_t kind, uint32_t detail, uint64_t address,
                                     uint64_t bytes) {
    return (struct activity_record){
        .kind = kind, .detail = detail, .address = address, .bytes = bytes, .start = 7, .end = 7};
}

static void give(uint64_t address, uint64_t bytes) {
    add(memory(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, address, bytes));
}

/* Ends a block. The kind and bytes in the record of a block's end do not matter. */
static void take(uint64_t address) {
    add(memory(ACTIVITY_FREE, 0, address, 1));
}

static void check_level(uint64_t now, uint64_t most) {
    const struct arena_activity *a = row(ACTIVITY_MEMORY, 0, NULL);
    CHECK_EQ_U64(a->bytes, now);
    CHECK_EQ_U64(a->max_bytes, most);
}

TEST(activity_memory, now_and_at_most) {
    CHECK(!activity_open());
    give(64, 100);
    give(128, 50);
    check_level(150, 150);
    take(64);
    give(192, 20);
    check_level(70, 150);
    take(64);   /* twice */
    take(4096); /* from before */
    take(0);
    check_level(70, 150);
    const struct arena_activity *a = row(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, NULL);
    CHECK_EQ_U64(count_of(a), 3);
    CHECK_EQ_U64(a->bytes, 170);
    CHECK_EQ_U64(a->max_bytes, 100);
    a = row(ACTIVITY_FREE, ACTIVITY_MEMORY_DEVICE, NULL);
    CHECK_EQ_U64(count_of(a), 1);
    CHECK_EQ_U64(a->bytes, 100);
    CHECK_EQ_U64(rows_of(ACTIVITY_FREE), 1);
}

TEST(activity_memory, by_scope) {
    uint32_t giver, taker;
    struct activity_record r = memory(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, 64, 100);
    CHECK(!activity_open());
    {
        REGISTER_TIMER("gives");
        giver = node_here();
        activity_launch(r.correlation = 1);
        add(r);
    }
    {
        REGISTER_TIMER("takes");
        taker = node_here();
        r.kind = ACTIVITY_FREE;
        activity_launch(r.correlation = 2);
        add(r);
    }
    CHECK_EQ_U64(row(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, NULL)->node, giver);
    CHECK_EQ_U64(row(ACTIVITY_FREE, ACTIVITY_MEMORY_DEVICE, NULL)->node, taker);
}

/* A block's end was not seen, and its address is given again. */
TEST(activity_memory, given_twice) {
    CHECK(!activity_open());
    give(64, 100);
    give(64, 30);
    check_level(30, 100);
    take(64);
    check_level(0, 100);
}

TEST(activity_memory, of_the_host) {
    CHECK(!activity_open());
    add(memory(ACTIVITY_ALLOC, ACTIVITY_MEMORY_PINNED, 64, 100));
    add(memory(ACTIVITY_ALLOC, ACTIVITY_MEMORY_MANAGED, 128, 10));
    check_level(10, 10);
    take(64);
    CHECK_EQ_U64(row(ACTIVITY_FREE, ACTIVITY_MEMORY_PINNED, NULL)->bytes, 100);
    check_level(10, 10);
    struct activity_record r = memory(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, 192, 5);
    r.device = ACTIVITY_NO_DEVICE;
    add(r);
    check_level(10, 10);
    CHECK_EQ_U64(rows_of(ACTIVITY_MEMORY), 1);
}

TEST(activity_memory, each_device) {
    struct activity_record r = memory(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, 64, 100);
    CHECK(!activity_open());
    add(r);
    r.device = 3;
    r.address = 128;
    r.bytes = 7;
    add(r);
    CHECK_EQ_U64(rows_of(ACTIVITY_MEMORY), 2);
    CHECK_EQ_U64(row_newest()->bytes, 7);
    r.kind = ACTIVITY_FREE;
    r.device = 0; /* it is where it was given */
    add(r);
    CHECK_EQ_U64(row(ACTIVITY_FREE, ACTIVITY_MEMORY_DEVICE, NULL)->device,
                 row(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, NULL)->device);
}

/* The oracle is a table that keeps everything; addresses are near to each other, to collide. */
TEST(activity_memory, any_order_of_blocks) {
    static uint64_t model[3000];
    uint64_t seed = 3, now = 0, most = 0;
    CHECK(!activity_open());
    for (unsigned i = 0; i < 60000; ++i) {
        uint64_t at = random_next(&seed) % 3000, bytes = 1 + random_next(&seed) % 1000;
        if (random_next(&seed) % 2) {
            give((at + 1) << 9, bytes);
            now += bytes - model[at];
            model[at] = bytes;
        } else {
            take((at + 1) << 9);
            now -= model[at];
            model[at] = 0;
        }
        most = now > most ? now : most;
    }
    uint64_t level = row(ACTIVITY_MEMORY, 0, NULL)->bytes;
    CHECK_EQ_U64(level, now);
    CHECK(row(ACTIVITY_MEMORY, 0, NULL)->max_bytes >= most);
    for (unsigned at = 0; at < 3000; ++at) {
        take((uint64_t)(at + 1) << 9);
    }
    CHECK_EQ_U64(row(ACTIVITY_MEMORY, 0, NULL)->bytes, 0);
}

TEST(activity_memory, more_blocks_than_places) {
    CHECK(!activity_open());
    for (uint64_t i = 1; i <= 50000; ++i) {
        give(i * 256, 1);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_FULL), 50000 - 49152);
    check_level(49152, 49152);
    CHECK_EQ_U64(row(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, NULL)->bytes, 50000);
    CHECK_EQ_U64(row(ACTIVITY_MEMORY, 0, NULL)->min, 0);
    for (uint64_t i = 1; i <= 50000; ++i) {
        take(i * 256);
    }
    check_level(0, 49152);
    for (uint64_t i = 1; i <= 49152; ++i) { /* all of them are free again */
        give(i * 256, 2);
    }
    check_level(2 * 49152, 2 * 49152);
}
