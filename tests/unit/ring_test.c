/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of a trace: their size and place, and events while they are overwritten. A reader at
 * any instruction must see only whole events.
 */
#include "record/ring.h"

#include <pthread.h>

#include "stepping.h"
#include "support.h"
#include "system/config.h"
#include "traced.h"

#define MIB ((size_t)1 << 20)

static const struct clock_stamp start = {11, 22, 33};

static void open_with(size_t bytes, uint64_t trace) {
    config.trace.bytes = trace;
    CHECK(!arena_open(bytes, NULL, &start));
    arena_give_trace(ring_room(trace));
}

static uint64_t places(uint32_t unit) {
    return unit ? ring_at(unit)->mask + 1 : 0;
}

TEST(ring, each_gets_a_part_of_what_is_left) {
    open_with(4 * MIB, MIB);
    uint64_t bytes = 0, last = UINT64_MAX;
    unsigned rings = 0;
    for (uint32_t unit; (unit = ring_new()) != 0; ++rings) {
        uint64_t n = places(unit);
        CHECK(n <= last && n >= 256);
        CHECK_EQ_U64(n & (n - 1), 0);
        if (rings == 0) {
            CHECK_EQ_U64(n * 16, MIB / 4);
        }
        bytes += n * 16;
        last = n;
    }
    CHECK(rings > 30);
    CHECK_EQ_U64(last, 256);
    CHECK(bytes <= ring_room(MIB) && bytes > MIB - 8192);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_TRACE), 1);
}

/* -1: the kernel does not say. */
static long pages_missing(uint32_t unit) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)ring_at(unit) / page * page;
    uintptr_t end = (uintptr_t)(stint_impl_ring_event(ring_at(unit), 0) + places(unit));
    size_t count = (end - from + page - 1) / page;
    unsigned char there[1024];
    long missing = 0;
    if (count > sizeof there || mincore((void *)from, end - from, there)) {
        return -1;
    }
    for (size_t i = 0; i < count; ++i) {
        missing += !(there[i] & 1);
    }
    return missing;
}

/* The test skips if the kernel makes all pages of a ring available at once. */
TEST(ring, touched_beforehand) {
    open_with(8 * MIB, 2 * MIB);
    uint32_t plain = ring_new();
    config.trace.touch = 1;
    uint32_t touched = ring_new();
    CHECK(places(touched) * 16 >= MIB / 8);
    if (pages_missing(plain) < 1) {
        SKIP("mincore does not tell which pages are missing");
    }
    CHECK_EQ_U64((uint64_t)pages_missing(touched), 0);
    CHECK_EQ_U64(ring_at(touched)->head, 0);
}

TEST(ring, the_least_is_one_of_256) {
    open_with(MIB, 4096);
    CHECK_EQ_U64(places(ring_new()), 256);
    CHECK_EQ_U64(ring_new(), 0);
}

TEST(ring, less_than_that_is_none) {
    open_with(MIB, 4095);
    CHECK_EQ_U64(ring_new(), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_TRACE), 1);
}

/* However large: what is for names and nodes stays theirs, and the other way round. */
TEST(ring, takes_nothing_from_the_rest) {
    open_with(33 * MIB, 16 * MIB);
    uint64_t used = arena_used();
    while (arena_get(4096, ARENA_RECORD)) {
    }
    CHECK(arena_used() > 16 * MIB && arena_used() <= 17 * MIB);
    uint64_t records = arena_used() - used;
    while (ring_new()) {
    }
    CHECK(arena_used() - used - records > 16 * MIB - 8192);
    CHECK_EQ_U64(arena_get(4096, ARENA_RECORD), 0);
    CHECK(arena_used() <= 33 * MIB);
}

TEST(ring, rings_first_leave_room_for_histograms) {
    open_with(33 * MIB, 32 * MIB);
    while (ring_new()) {
    }
    CHECK_EQ_U64(arena.trace, 33 * MIB / 2); /* half of it at most */
    CHECK(arena_get(sizeof(struct stint_impl_histogram), ARENA_HISTOGRAM) != 0);
}

TEST(ring, places_in_a_row) {
    open_with(MIB, 4096);
    struct stint_impl_ring *r = ring_at(ring_new());
    CHECK_EQ_U64(stint_impl_ring_take(r, 1), 0);
    CHECK_EQ_U64(stint_impl_ring_take(r, 2), 1);
    CHECK_EQ_U64(stint_impl_ring_take(r, 1), 3);
    CHECK_EQ_U64(r->head, 4);
    stint_impl_ring_put(r, 256 + 3, 77, 88);
    CHECK_EQ_U64(stint_impl_ring_event(r, 3)->at, 77);
    CHECK_EQ_U64(stint_impl_ring_event(r, 3)->what, 88);
}

TEST(ring, spans_of_any_length) {
    open_with(MIB, 4096);
    struct stint_impl_ring *r = ring_at(ring_new());
    uint32_t node = (1u << STINT_IMPL_NODE_BITS) - 1;
    ring_add_span(r, node, 5, STINT_IMPL_SPAN_LONG - 1);
    ring_add_span(r, node, 6, STINT_IMPL_SPAN_LONG);
    CHECK_EQ_U64(r->head, 3);
    CHECK_EQ_U64(stint_impl_ring_event(r, 0)->at, 5);
    CHECK_EQ_U64(stint_impl_ring_event(r, 0)->what, UINT64_MAX - 1);
    CHECK_EQ_U64(stint_impl_ring_event(r, 1)->at >> STINT_IMPL_EVENT_KIND,
                 STINT_IMPL_EVENT_PAYLOAD);
    CHECK_EQ_U64(stint_impl_ring_event(r, 1)->what, STINT_IMPL_SPAN_LONG);
    CHECK_EQ_U64(stint_impl_ring_event(r, 2)->at, 6);
    CHECK_EQ_U64(stint_impl_ring_event(r, 2)->what, UINT64_MAX);
}

/* An added sample longer than the machine is up. */
TEST(ring, span_from_before_the_first_tick) {
    open_with(MIB, 4096);
    struct stint_impl_ring *r = ring_at(ring_new());
    ring_add_span(r, 9, (uint64_t)0 - 50, 150);
    CHECK_EQ_U64(stint_impl_ring_event(r, 0)->at, 1);
    CHECK_EQ_U64(stint_impl_ring_event(r, 0)->what, stint_impl_span(9, 99));
}

TEST(ring, room_for_two_hundred_threads) {
    open_with(128 * MIB, 64 * MIB);
    for (int i = 0; i < 200; ++i) {
        CHECK(places(ring_new()) >= 256);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_NO_TRACE), 0);
}

/* ---- Reading while writing, by the rule for readers: `at` before and after `what`. */

static struct {
    struct stint_impl_ring head;
    struct stint_impl_event events[2];
} small = {.head = {.mask = 1}};
static int stop;

static uint64_t belongs_to(uint64_t at) {
    return at * 0x9e3779b97f4a7c15u;
}

static void *writes(void *unused) {
    for (uint64_t at = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++at) {
        stint_impl_ring_add(&small.head, at, belongs_to(at));
    }
    return unused;
}

TEST(ring, no_event_is_half_another) {
    pthread_t writer;
    uint64_t whole = 0, torn = 0;
    CHECK(!pthread_create(&writer, NULL, writes, NULL));
    for (unsigned i = 0; i < 100000000 && whole < (SANITIZED ? 500000 : 20000000); ++i) {
        const struct stint_impl_event *e = &small.events[i & 1];
        uint64_t at = __atomic_load_n(&e->at, __ATOMIC_ACQUIRE);
        uint64_t what = __atomic_load_n(&e->what, __ATOMIC_ACQUIRE);
        if (at && __atomic_load_n(&e->at, __ATOMIC_RELAXED) == at) {
            ++whole;
            torn += what != belongs_to(at);
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(writer, NULL);
    CHECK(whole > 1000);
    CHECK_EQ_U64(torn, 0);
}

/* ---- What a reader finds if the thread is stopped for good, after any instruction. */

#define STEPPED_PLACES 4u

static struct {
    struct stint_impl_ring head;
    struct stint_impl_event events[STEPPED_PLACES];
} stepped = {.head = {.mask = STEPPED_PLACES - 1}};
static unsigned looked, wrong, halves;

static int is_event(const struct stint_impl_event *e, uint64_t number) {
    return e->at == number + 1 && e->what == belongs_to(number + 1);
}

/* The newest place may be empty, or still have the event of the round before, as a whole. */
static int is_newest(const struct stint_impl_event *e, uint64_t number) {
    if (e->at == 0) {
        ++halves;
        return 1;
    }
    return is_event(e, number) ||
           (number >= STEPPED_PLACES && is_event(e, number - STEPPED_PLACES));
}

static void look(int number) {
    uint64_t head = stepped.head.head;
    (void)number;
    ++looked;
    for (uint64_t i = 1; i <= STEPPED_PLACES; ++i) {
        if (head < i) {
            wrong += stepped.events[STEPPED_PLACES - i + head].at != 0; /* not taken yet */
            continue;
        }
        const struct stint_impl_event *e = stint_impl_ring_event(&stepped.head, head - i);
        if (i == 1) {
            wrong += !is_newest(e, head - i);
        } else {
            wrong += !is_event(e, head - i);
        }
    }
}

TEST(ring, every_event_before_the_newest_is_whole_at_every_instruction) {
    NEEDS_STEPPING(look);
    stepping(1);
    for (uint64_t at = 1; at <= 50; ++at) {
        stint_impl_ring_add(&stepped.head, at, belongs_to(at));
    }
    stepping(0);
    CHECK_EQ_U64(stepped.head.head, 50);
    CHECK(looked > 50 * 4 && halves >= 50);
    CHECK_EQ_U64(wrong, 0);
}
