/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "recorded.h"

TEST(hash, takes_every_byte) {
    char text[] = "0123456789012345678901234567890123456789";
    for (size_t length = 1; length < sizeof text; ++length) {
        uint64_t h = hash_bytes(text, length);
        for (size_t i = 0; i < length; ++i) {
            text[i] ^= 1;
            CHECK(hash_bytes(text, length) != h);
            text[i] ^= 1;
        }
        CHECK(hash_bytes(text, length - 1) != h);
    }
}

/* Any number of 16-byte names that share one hash, for who knows the key: the first half is free,
 * the second undoes what the hash has made of it. */
static void colliding_name(char name[16], uint64_t number) {
    uint64_t half = (number + 1) * 0xd1342543de82ef95u;
    memcpy(name, &half, sizeof half);
    half = hash_mix((hash_key.start + 16) ^ half) ^ 0x1234567812345678u;
    memcpy(name + 8, &half, sizeof half);
}

#define COLLIDING 1000
static char colliding[COLLIDING][16];
static uint64_t hashes[COLLIDING];

static int compare_hashes(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static unsigned different_hashes(void) {
    unsigned different = 1;
    for (unsigned i = 0; i < COLLIDING; ++i) {
        hashes[i] = hash_bytes(colliding[i], 16);
    }
    qsort(hashes, COLLIDING, sizeof hashes[0], compare_hashes);
    for (unsigned i = 1; i < COLLIDING; ++i) {
        different += hashes[i] != hashes[i - 1];
    }
    return different;
}

TEST(hash, names_cannot_be_chosen_to_collide) {
    struct hash_key unseeded = hash_key;
    for (unsigned i = 0; i < COLLIDING; ++i) {
        colliding_name(colliding[i], i);
    }
    CHECK_EQ_U64(different_hashes(), 1);
    hash_seed_program();
    CHECK(hash_key.start != unseeded.start && hash_key.factor != unseeded.factor);
    CHECK_EQ_U64(hash_key.factor & 1, 1);
    CHECK_EQ_U64(different_hashes(), COLLIDING);
}

TEST(hash, the_key_is_made_of_every_random_byte) {
    unsigned char random[16] = "0123456789abcde";
    hash_seed(random);
    struct hash_key first = hash_key;
    for (unsigned i = 0; i < sizeof random; ++i) {
        random[i] ^= 0x80;
        hash_seed(random);
        CHECK(hash_key.start != first.start || hash_key.factor != first.factor);
        random[i] ^= 0x80;
    }
}

/* Numbers of a run file, too: those whose products with the old fixed factor ended in the same
 * bits. */
TEST(hash, numbers_cannot_be_chosen_to_collide) {
    unsigned together = 0;
    hash_seed_program();
    for (unsigned i = 0; i < COLLIDING; ++i) {
        together += (hash_number((uint64_t)i << 16) & 0xffff) == (hash_number(0) & 0xffff);
    }
    CHECK(together < 10);
}

/* A table is seeded in two ways: by the library's first use, and by the tool. */
TEST(hash, the_first_use_of_the_library_makes_the_key) {
    struct hash_key unseeded = hash_key;
    REGISTER_TIMER_DYNAMIC("a");
    CHECK(hash_key.start != unseeded.start && hash_key.factor != unseeded.factor);
}
