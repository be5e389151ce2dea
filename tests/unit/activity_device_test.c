/* SPDX-License-Identifier: Apache-2.0 */

#include "activity_made.h"
#include "gpu/event_sums.h"
#include "harness_threads.h"

static const struct gpu_device h200 = {.name = "NVIDIA H200",
                                       .major = 9,
                                       .multiprocessors = 132,
                                       .threads_per_mp = 2048,
                                       .blocks_per_mp = 32,
                                       .registers_per_mp = 65536,
                                       .shared_per_mp = 233472,
                                       .reserved_shared = 1024};

static unsigned device_count(void) {
    unsigned n = 0;
    for (uint32_t unit = __atomic_load_n(&arena_header()->first_device, __ATOMIC_ACQUIRE); unit;
         unit = ((const struct arena_device *)arena_at(unit))->next) {
        ++n;
    }
    return n;
}

static void describe(uint32_t number) {
    activity_begin();
    activity_device(number, &h200);
    activity_end();
}

static int is_known(uint32_t number) {
    activity_begin();
    int known = activity_knows_device(number);
    activity_end();
    return known;
}

static void check_h200(const struct arena_device *d, uint32_t number) {
    CHECK_STR_EQ(d->name, "NVIDIA H200");
    CHECK_EQ_U64(d->number, number);
    CHECK_EQ_U64(d->major, 9);
    CHECK_EQ_U64(d->multiprocessors, 132);
    CHECK_EQ_U64(d->threads_per_mp, 2048);
    CHECK_EQ_U64(d->blocks_per_mp, 32);
    CHECK_EQ_U64(d->registers_per_mp, 65536);
    CHECK_EQ_U64(d->shared_per_mp, 233472);
    CHECK_EQ_U64(d->reserved_shared, 1024);
}

TEST(activity_device, described_before_and_after) {
    struct activity_record r = kernel("k", 1, 10, 20);
    CHECK(!activity_open());
    CHECK(!is_known(1));
    describe(1);
    CHECK(is_known(1));
    add(r); /* of device 0 */
    CHECK(!is_known(0));
    const struct arena_device *d = arena_at(row_newest()->device);
    CHECK_STR_EQ(d->name, "GPU 0");
    describe(0);
    CHECK(is_known(0));
    check_h200(d, 0);
    r.device = 1;
    add(r);
    check_h200(arena_at(row_newest()->device), 1);
    CHECK_EQ_U64(device_count(), 2);
}

/* GPU timers know the device, too: one record for both. */
TEST(activity_device, shared_with_timers) {
    CHECK(!activity_open());
    uint32_t unit = event_sums_device(0, NULL, &h200);
    add(kernel("k", 1, 10, 20));
    CHECK_EQ_U64(row_newest()->device, unit);
    describe(0);
    check_h200(arena_at(unit), 0);
    CHECK_EQ_U64(device_count(), 1);
}

TEST(activity_device, too_many) {
    struct activity_record r = kernel("k", 1, 10, 20);
    CHECK(!activity_open());
    for (r.device = 0; r.device < 70; ++r.device) {
        add(r);
    }
    CHECK_EQ_U64(device_count(), 64);
    CHECK_EQ_U64(count_of(row_newest()), 6);
    CHECK_EQ_U64(row_newest()->device, 0);
    activity_settle();
    CHECK_EQ_U64(rows_of(ACTIVITY_BUSY), 128); /* any and kernels, of 64 */
}

TEST(activity_device, nothing_of_a_device) {
    struct activity_record r = of_kind(ACTIVITY_SYNC, call(NULL, 1, 10, 20));
    CHECK(!activity_open());
    add(r);
    CHECK_EQ_U64(row_newest()->device, 0);
    CHECK_EQ_U64(device_count(), 0);
}

#define NUMBERS 40

static void *make(void *first) {
    for (int i = 0; i < NUMBERS; ++i) {
        event_sums_device((int)((i + (intptr_t)first) % NUMBERS), NULL, &h200);
    }
    return NULL;
}

/* Threads make devices under two locks at once; each number is made once. */
TEST(activity_device, two_threads_make_them) {
    for (int round = 0; round < 20; ++round) {
        pthread_t threads[3];
        pid_t child = fork();
        int status = 1;
        if (child) {
            CHECK(waitpid(child, &status, 0) == child && !status);
            continue;
        }
        if (!CHECK(!activity_open())) {
            _exit(1);
        }
        for (intptr_t i = 0; i < 3; ++i) {
            CHECK(!pthread_create(&threads[i], NULL, make, (void *)(i * 3)));
        }
        threads_join(threads, 3);
        CHECK_EQ_U64(device_count(), NUMBERS);
        _exit(0);
    }
}
