/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of libstint-mem.so: blocks by their address, mappings, and the early memory that is
 * used before the next allocator is known. They are tested at their bounds, full, with several
 * threads, and with random calls against a plain model.
 */

#include "harness_threads.h"
#include "mem/block_table.h"
#include "mem/mappings.h"
#include "mem/next_calls.h"

/* Addresses are only numbers to the tables. */
static const void *at(uint64_t address) {
    return (const void *)(uintptr_t)address;
}

static void check_taken(uint64_t address, uint64_t size, uint32_t owner) {
    struct block b;
    if (CHECK(block_take(at(address), &b) == 1)) {
        CHECK_EQ_U64(b.size, size);
        CHECK_EQ_U64(b.owner, owner);
        CHECK(!b.is_inherited);
    }
    CHECK(block_take(at(address), &b) == 0);
}

TEST(block_table, sizes_at_every_bound) {
    static const uint64_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, (uint64_t)1 << 37};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        uint64_t address = 0x7f0000000010 + (uint64_t)i * 0x100000;
        struct block old;
        CHECK(block_put(at(address), sizes[i], (1u << 26) - 1 - i, &old) == 0);
        check_taken(address, sizes[i], (1u << 26) - 1 - i);
    }
}

TEST(block_table, neighbours) {
    struct block old;
    for (uint64_t i = 0; i < 70000; ++i) { /* more than a leaf */
        CHECK(block_put(at(0x550000000000 + 16 * i), 16, (uint32_t)i + 1, &old) == 0);
    }
    for (uint64_t i = 0; i < 70000; i += 2) {
        check_taken(0x550000000000 + 16 * i, 16, (uint32_t)i + 1);
    }
    for (uint64_t i = 1; i < 70000; i += 2) {
        check_taken(0x550000000000 + 16 * i, 16, (uint32_t)i + 1);
    }
    for (uint64_t i = 0; i < 3000; ++i) {
        CHECK(block_put(at(0x560000000010 + 4096 * i), 4096, (uint32_t)i + 1, &old) == 0);
    }
    for (uint64_t i = 0; i < 3000; ++i) {
        check_taken(0x560000000010 + 4096 * i, 4096, (uint32_t)i + 1);
    }
}

TEST(block_table, what_it_cannot_hold) {
    struct block b;
    CHECK(block_put(at(0x550000000008), 8, 1, &b) == -1);
    CHECK(block_put(at((uint64_t)1 << 48), 8, 1, &b) == -1);
    CHECK(block_put(at(0x550000000000), (uint64_t)1 << 38, 1, &b) == -1);
    CHECK(block_take(at(0x550000000008), &b) == 0);
    CHECK(block_take(at((uint64_t)1 << 48), &b) == 0);
    CHECK(block_take(at(0x550000000000), &b) == 0);
}

TEST(block_table, an_end_that_was_not_seen) {
    static const uint64_t sizes[] = {100, 5000};
    for (int first = 0; first < 2; ++first) {
        struct block old = {0};
        uint64_t address = 0x550000000010;
        CHECK(block_put(at(address), sizes[first], 7, &old) == 0);
        CHECK(block_put(at(address), 6000, 8, &old) == 1);
        CHECK_EQ_U64(old.size, sizes[first]);
        CHECK_EQ_U64(old.owner, 7);
        check_taken(address, 6000, 8);
    }
}

TEST(block_table, full) {
    struct block old;
    block_table_limit((uint64_t)1 << 20);
    int refused = 0;
    for (uint64_t i = 0; i < 10; ++i) {
        refused += block_put(at(0x550000000000 + (i << 20)), 16, 1, &old) < 0;
    }
    CHECK(refused > 0 && refused < 10);
    CHECK(block_put(at(0x550000000010), 16, 2, &old) == 0); /* a leaf that is there */
    check_taken(0x550000000010, 16, 2);
    struct block none;
    CHECK(block_take(at(0x550000000000 + (9 << 20)), &none) == 0);
}

TEST(block_table, of_the_parent) {
    static const uint64_t sizes[] = {100, 5000};
    for (uint64_t i = 0; i < 2; ++i) {
        struct block b;
        uint64_t address = 0x550000000010 + (i << 20);
        CHECK(block_put(at(address), sizes[i], 7, &b) == 0);
        block_table_inherit();
        if (CHECK(block_take(at(address), &b) == 1)) {
            CHECK_EQ_U64(b.size, sizes[i]);
            CHECK_EQ_U64(b.owner, 0);
            CHECK(b.is_inherited);
        }
        CHECK(block_put(at(address), sizes[i], 7, &b) == 0);
        check_taken(address, sizes[i], 7);
    }
}

/* ---- Mappings. */

static uint64_t removed_bytes[8], removed_inherited;
static uint32_t removed_parts;

static void removed(const struct mapping_part *part) {
    ++removed_parts;
    removed_bytes[part->owner] += part->length;
    removed_inherited += (uint64_t)part->is_inherited;
}

/* A call that succeeds. */
static uint64_t unmap(uint64_t from, uint64_t length) {
    uint64_t lost = 0;
    size_t bytes = mappings_take(at(from), length, &lost, &lost);
    mappings_drop(&lost, removed);
    return bytes;
}

static void check_removed(uint64_t from, uint64_t length, uint64_t bytes, uint32_t parts) {
    removed_parts = 0;
    CHECK_EQ_U64(unmap(from, length), bytes);
    CHECK_EQ_U64(removed_parts, parts);
}

TEST(mappings, in_parts) {
    CHECK(!mappings_add(at(0x10000), 0x8000, 1));
    check_removed(0x12000, 0x1000, 0x1000, 1); /* from the middle */
    check_removed(0x12000, 0x1000, 0, 0);
    check_removed(0xf000, 0x2000, 0x1000, 1);  /* from before its start */
    check_removed(0x17000, 0x5000, 0x1000, 1); /* to after its end */
    check_removed(0x10000, 0x8000, 0x5000, 2); /* both that are left */
    check_removed(0x10000, 0x8000, 0, 0);
    CHECK_EQ_U64(removed_bytes[1], 0x8000);
}

TEST(mappings, several_at_once) {
    CHECK(!mappings_add(at(0x10000), 0x1000, 1));
    CHECK(!mappings_add(at(0x20000), 0x2000, 2));
    mappings_inherit();
    CHECK(!mappings_add(at(0x30000), 0x4000, 3));
    check_removed(0, 0x32000, 0x5000, 3);
    CHECK_EQ_U64(removed_inherited, 2);
    check_removed(0, 0x40000, 0x2000, 1);
    CHECK_EQ_U64(removed_inherited, 2);
    CHECK_EQ_U64(removed_bytes[3], 0x4000);
}

TEST(mappings, full) {
    uint64_t added = 0;
    while (added < 100000 && !mappings_add(at(0x10000 + added * 0x2000), 0x1000, 1)) {
        ++added;
    }
    CHECK(added >= 1000 && added < 100000);
    check_removed(0x10000, 0x1000, 0x1000, 1);
    CHECK(!mappings_add(at(0x10000), 0x3000, 2)); /* in the place that is free again */
    uint64_t lost = 0;
    CHECK_EQ_U64(mappings_take(at(0x11000), 0x1000, &lost, &lost),
                 0x3000); /* no place for its ends */
    CHECK_EQ_U64(lost, 2);
}

/* The kernel has unmapped what begins below 0x20000. */
static int is_above(uintptr_t from, uintptr_t to) {
    CHECK(from < to);
    return from >= 0x20000;
}

TEST(mappings, a_call_that_fails) {
    uint64_t lost = 0;
    char call, other;
    CHECK(!mappings_add(at(0x10000), 0x8000, 1));
    CHECK(!mappings_add(at(0x20000), 0x8000, 2));
    CHECK_EQ_U64(mappings_take(at(0x12000), 0x1000, &call, &lost), 0x1000);
    CHECK_EQ_U64(mappings_take(at(0x11000), 0x3000, &other, &lost), 0x2000); /* what is left */
    mappings_put_back(&call, NULL);
    mappings_put_back(&other, NULL);
    check_removed(0x11000, 0x3000, 0x3000, 3);
    CHECK_EQ_U64(mappings_take(at(0x10000), 0x18000, &call, &lost), 0xd000);
    CHECK(!mappings_add(at(0x10000), 0x1000, 3)); /* another thread gets the addresses at once */
    mappings_put_back(&call, is_above);
    removed_parts = 0;
    mappings_drop(&call, removed);
    CHECK_EQ_U64(removed_parts, 2);
    check_removed(0x10000, 0x18000, 0x9000, 2);
    CHECK_EQ_U64(removed_bytes[1] + removed_bytes[2] + removed_bytes[3], 0x11000);
    CHECK_EQ_U64(lost, 0);
}

/* Random calls against a list of pages with their owners. */
#define PAGES 200u
#define PAGE 0x1000u

static uint64_t random_state;

static uint64_t random_below(uint64_t bound) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % bound;
}

static uint32_t model_owner[PAGES]; /* 0 = not mapped */
static uint64_t model_removed[8];

static void model_unmap(uint64_t from, uint64_t count) {
    for (uint64_t i = from; i < from + count; ++i) {
        model_removed[model_owner[i]] += PAGE;
        model_owner[i] = 0;
    }
}

static void random_map(uint64_t from, uint64_t count) {
    uint32_t owner = (uint32_t)random_below(7) + 1;
    unmap(from * PAGE, count * PAGE);
    model_unmap(from, count);
    CHECK(!mappings_add(at(from * PAGE), count * PAGE, owner));
    for (uint64_t i = from; i < from + count; ++i) {
        model_owner[i] = owner;
    }
}

TEST(mappings, random_calls_against_a_model) {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        uint64_t lost = 0, bytes = 0;
        random_state = seed;
        memset(model_owner, 0, sizeof model_owner);
        memset(model_removed, 0, sizeof model_removed);
        memset(removed_bytes, 0, sizeof removed_bytes);
        for (int step = 0; step < 300; ++step) {
            uint64_t from = random_below(PAGES - 20), count = random_below(20) + 1;
            switch (random_below(4)) {
            case 0:
            case 1:
                random_map(from, count);
                break;
            case 2:
                unmap(from * PAGE, count * PAGE);
                model_unmap(from, count);
                break;
            default:
                mappings_take(at(from * PAGE), count * PAGE, &lost, &lost);
                mappings_put_back(&lost, NULL);
            }
        }
        for (uint64_t i = 0; i < PAGES; ++i) {
            bytes += model_owner[i] ? PAGE : 0;
        }
        CHECK_EQ_U64(mappings_take(at(0), (uint64_t)PAGES * PAGE, &lost, &lost), bytes);
        mappings_drop(&lost, removed);
        model_unmap(0, PAGES);
        for (uint32_t owner = 1; owner < 8; ++owner) {
            CHECK_EQ_U64(removed_bytes[owner], model_removed[owner]);
        }
        CHECK_EQ_U64(lost, 0);
    }
}

#define MAPPERS 4
#define ROUNDS 20000

static uint64_t mapper_bytes; /* atomic */

static void count_bytes(const struct mapping_part *part) {
    __atomic_fetch_add(&mapper_bytes, part->length, __ATOMIC_RELAXED);
}

static void *map_and_unmap(void *number) {
    uint64_t from = (uint64_t)(uintptr_t)number * 0x100000, lost = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        CHECK(!mappings_add(at(from), 0x4000, 1));
        CHECK_EQ_U64(mappings_take(at(from + 0x1000), 0x1000, &lost, &lost), 0x1000);
        mappings_drop(&lost, count_bytes);
        CHECK_EQ_U64(mappings_take(at(from), 0x4000, &lost, &lost), 0x3000);
        mappings_drop(&lost, count_bytes);
    }
    return NULL;
}

/* A thread that waits is woken. */
TEST(mappings, threads) {
    pthread_t thread[MAPPERS];
    for (size_t i = 0; i < MAPPERS; ++i) {
        CHECK(!pthread_create(&thread[i], NULL, map_and_unmap, (void *)(uintptr_t)(i + 1)));
    }
    threads_join(thread, MAPPERS);
    CHECK_EQ_U64(mapper_bytes, (uint64_t)MAPPERS * ROUNDS * 0x4000);
}

/* ---- Memory for calls that come while the next functions are being found. */

static int is_zeroed(const char *block, size_t size) {
    size_t i = 0;
    while (i < size && !block[i]) {
        ++i;
    }
    return i == size;
}

TEST(early_memory, is_aligned_zeroed_and_its_own) {
    static const struct {
        size_t alignment, size;
    } asked[] = {{0, 1}, {0, 0}, {8, 100}, {64, 3}, {4096, 5000}, {16, 16}, {0, 0}, {256, 40}};
    char *last = NULL;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; ++i) {
        size_t alignment = asked[i].alignment > 16 ? asked[i].alignment : 16;
        char *block = next_calls_early(asked[i].alignment, asked[i].size);
        if (!CHECK(block != NULL)) {
            return;
        }
        CHECK_EQ_U64((uint64_t)(uintptr_t)block % alignment, 0);
        CHECK(block != last && is_zeroed(block, asked[i].size));
        CHECK(next_calls_is_early(block) >= asked[i].size);
        memset(block, 0xff, asked[i].size); /* the next one must not have it */
        last = block;
    }
}

TEST(early_memory, knows_what_is_not_of_it) {
    char here = 0;
    void *block = malloc(100);
    CHECK(!next_calls_is_early(&here) && !next_calls_is_early(block) && !next_calls_is_early(NULL));
    free(block);
    char *early = next_calls_early(0, 10);
    if (CHECK(early != NULL)) {
        size_t left = next_calls_is_early(early);
        CHECK(next_calls_is_early(early + left - 1) == 1 && !next_calls_is_early(early + left));
    }
}

TEST(early_memory, full) {
    CHECK(next_calls_early(0, (size_t)-1) == NULL);
    CHECK(next_calls_early((size_t)1 << 40, 1) == NULL);
    size_t blocks = 0;
    while (next_calls_early(0, 1024)) {
        ++blocks;
    }
    CHECK(blocks >= 32 && blocks <= 64);
    CHECK(next_calls_early(0, 1024) == NULL);
}
