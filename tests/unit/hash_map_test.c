/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash_map.h"

#include "harness.h"

static struct scratch memory;
static struct hash_map map;

static void start(uint64_t count) {
    memset(&memory, 0, sizeof memory);
    CHECK(!hash_map_start(&map, &memory, count));
}

TEST(hash_map, empty) {
    start(0);
    CHECK(hash_map_get(&map, 0) == HASH_MAP_NONE);
    CHECK(hash_map_get(&map, 7) == HASH_MAP_NONE);
    scratch_free(&memory);
}

TEST(hash_map, first_of_equal_keys_counts) {
    start(2);
    CHECK(!hash_map_set(&map, 7, 1) && !hash_map_set(&map, 7, 2) && !hash_map_set(&map, 0, 0));
    CHECK(hash_map_get(&map, 7) == 1);
    CHECK(hash_map_get(&map, 0) == 0);
    CHECK(map.count == 2);
    scratch_free(&memory);
}

TEST(hash_map, grows) {
    start(0);
    for (uint32_t i = 0; i < 100000; ++i) {
        CHECK(!hash_map_set(&map, i * 64, i));
    }
    for (uint32_t i = 0; i < 100000; ++i) {
        CHECK(hash_map_get(&map, i * 64) == i);
        CHECK(hash_map_get(&map, i * 64 + 1) == HASH_MAP_NONE);
    }
    CHECK(map.count == 100000 && (uint64_t)map.mask + 1 >= 200000);
    scratch_free(&memory);
}

TEST(hash_map, room_from_the_start) {
    start(1000);
    const struct hash_map_place *place = map.place;
    for (uint32_t i = 0; i < 1000; ++i) {
        CHECK(!hash_map_add(&map, i, i));
    }
    CHECK(map.place == place);
    scratch_free(&memory);
}

/* Each number of a key once, those of other keys never. */
TEST(hash_map, walk) {
    uint32_t seen[3] = {0};
    start(0);
    for (uint32_t i = 0; i < 3; ++i) {
        CHECK(!hash_map_add(&map, 42, i) && !hash_map_add(&map, 43 + i, 9));
    }
    struct hash_map_walk walk;
    uint32_t n = hash_map_first(&map, 42, &walk);
    for (; n != HASH_MAP_NONE; n = hash_map_next(&map, &walk)) {
        CHECK(n < 3);
        ++seen[n % 3];
    }
    CHECK(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
    scratch_free(&memory);
}

TEST(hash_map, numbers_in_order) {
    start(0);
    CHECK(hash_map_number(&map, 500) == 0);
    CHECK(hash_map_number(&map, 400) == 1);
    CHECK(hash_map_number(&map, 500) == 0);
    CHECK(hash_map_number(&map, 300) == 2);
    scratch_free(&memory);
}

TEST(hash_map, more_than_fits) {
    memset(&memory, 0, sizeof memory);
    CHECK(hash_map_start(&map, &memory, UINT64_MAX) == -1);
    CHECK(hash_map_start(&map, &memory, (uint64_t)1 << 31) == -1);
    scratch_free(&memory);
}

/* Half of the items have the hash of another one. */
TEST(hash_map, numbers_alone) {
    struct hash_numbers numbers = {.place = NULL};
    uint32_t at = 5;
    memset(&memory, 0, sizeof memory);
    CHECK(hash_numbers_next(&numbers, &at) == HASH_MAP_NONE);
    CHECK(!hash_numbers_start(&numbers, &memory, 1000));
    for (uint32_t i = 0; i < 1000; ++i) {
        hash_numbers_add(&numbers, i / 2 * 77, i);
    }
    for (uint32_t i = 0; i < 1000; ++i) {
        uint32_t number;
        at = i / 2 * 77;
        while ((number = hash_numbers_next(&numbers, &at)) != i && number != HASH_MAP_NONE) {
        }
        CHECK(number == i);
    }
    at = 1;
    while (hash_numbers_next(&numbers, &at) != HASH_MAP_NONE) {
    }
    scratch_free(&memory);
}
