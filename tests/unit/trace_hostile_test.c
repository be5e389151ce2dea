/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading trusts no byte: copies of a small run with everything in it, spoilt byte by byte, cut at
 * every length, and made worse by hand. What is read may be nonsense; it is finite, in bounds, and
 * no more than the file can hold.
 */
#include <math.h>

#include "arena_copy.h"
#include "gpu_sums.h"
#include "harness_threads.h"
#include "record/ring.h"
#include "traced.h"

static void add_lane(const char *device, uint64_t stream) {
    uint32_t unit = arena_get(sizeof(struct arena_lane), ARENA_RECORD);
    struct arena_lane *l = (struct arena_lane *)arena_at(unit);
    l->ring = ring_new();
    l->device = gpu_sums_device(device, 1000, 0);
    l->number = ++arena_header()->lane_count;
    l->stream = stream;
    l->next = arena_header()->first_lane;
    arena_header()->first_lane = unit;
    struct stint_impl_ring *r = ring_at(l->ring);
    uint32_t node = stint_impl_thread_here->top->node;
    ring_add_span(r, node, fake_now, 10);
    ring_add_span(r, node, fake_now + 5, 10); /* overlaps */
    ring_add_span(r, node, fake_now + 30, STINT_IMPL_SPAN_LONG + 7);
}

static void *other(void *unused) {
    timed("thread", 5);
    return unused;
}

static void record(void) {
    stint_timer t = {{0, 0}};
    setenv("STINT_PERCENTILES", "0", 1);
    setenv("STINT_TRACE", "20K", 1);
    {
        REGISTER_TIMER_INFO("open", "info");
        TIMER_BEGIN(t, "interval");
        timed("inner", 3);
        TIMER_MARK("mark");
        TIMER_VALUE("value", 1.5);
        gpu_took(gpu_sums_device("GPU", 1, 2), 50);
        add_lane("GPU", 1);
        add_lane("GPU", 77);
        fake_advance(1);
        TIMER_END(t);
    }
    thread_run(other, NULL);
    copy_arena();
}

static void check_events(const struct traced *t, uint64_t size) {
    const struct trace *r = &t->t;
    uint64_t in_lanes = 0;
    CHECK(r->event_count <= size / sizeof(struct stint_impl_event));
    for (uint32_t i = 0; i < r->lane_count; ++i) {
        CHECK(memchr(r->lanes[i].name, 0, sizeof r->lanes[i].name) != NULL);
        in_lanes += r->lanes[i].count;
    }
    CHECK_EQ_U64(in_lanes, r->event_count);
    for (uint64_t i = 0; i < r->event_count; ++i) {
        const struct trace_event *e = &t->events[i];
        CHECK(isfinite(e->value) && e->site <= t->s.site_count);
        CHECK(e->start_ns + e->duration_ns >= e->start_ns);
        CHECK(e->kind == TRACE_SPAN ? e->node < t->s.node_count : e->node == SNAPSHOT_NONE);
    }
}

/* Events found, or 0 when nothing can be read. */
static uint64_t read_all(uint64_t size) {
    struct traced t;
    if (snapshot_read(&t.s, copy, size, FAKE_START, &now)) {
        return 0;
    }
    CHECK(!traced_read(&t));
    uint64_t events = t.t.event_count;
    check_events(&t, size);
    snapshot_free(&t.s);
    return events;
}

TEST(trace_hostile, the_copy_itself) {
    record();
    /* inner, mark, value, interval, open; thread; three of each lane */
    CHECK_EQ_U64(read_all(used), 5 + 1 + 2 * 3);
    CHECK(used < 120000);
}

static void flip(uint64_t from, uint64_t step) {
    static const unsigned char mask[] = {0xff, 0x01, 0x80};
    static const char zero[STINT_IMPL_UNIT];
#if defined(__SANITIZE_THREAD__)
    step *= 16; /* one thread alone: nothing for it to find */
#elif !defined(__SANITIZE_ADDRESS__)
    step *= 4; /* AddressSanitizer, which has the whole of it, sees what others read and survive */
#endif
    record();
    for (uint64_t i = from; i < used; i += step) {
        const char *line = copy + i / STINT_IMPL_UNIT * STINT_IMPL_UNIT;
        char was = copy[i];
        int empty = !memcmp(line, zero, sizeof zero);
        for (unsigned m = 0; m < (was ? 3 : !empty || i / STINT_IMPL_UNIT % 8 == 0 ? 1 : 0); ++m) {
            copy[i] = (char)(was ^ mask[m]);
            read_all(used);
        }
        copy[i] = was;
    }
}

TEST(trace_hostile, every_second_byte_flipped) {
    flip(0, 2);
}
TEST(trace_hostile, every_other_byte_flipped) {
    flip(1, 2);
}

TEST(trace_hostile, cut_at_every_length) {
    record();
    char *whole = copy;
    for (uint64_t size = 0; size <= used; size += SANITIZED ? 5 : 1) {
        copy = (char *)aligned_alloc(STINT_IMPL_UNIT, STINT_IMPL_UNIT * ((size + 63) / 64 + 1));
        copy = (char *)realloc(copy, size ? size : 1);
        if ((uintptr_t)copy % STINT_IMPL_UNIT == 0) {
            memcpy(copy, whole, size);
            read_all(size);
        }
        free(copy);
    }
    copy = whole;
}

static struct arena_lane *lane_at(uint32_t unit) {
    return (struct arena_lane *)(void *)(copy + (size_t)unit * STINT_IMPL_UNIT);
}

static struct stint_impl_ring *ring_of(uint32_t unit) {
    return (struct stint_impl_ring *)(void *)(copy + (size_t)unit * STINT_IMPL_UNIT);
}

static struct stint_impl_ring *first_ring(void) {
    return ring_of(lane_at(header()->first_lane)->ring);
}

/* One ring named a million times is read once. */
TEST(trace_hostile, lists_that_are_circles) {
    record();
    struct arena_lane *l = lane_at(header()->first_lane);
    uint64_t events = read_all(used);
    lane_at(l->next)->next = header()->first_lane;
    CHECK(read_all(used) < 400 * events);
    l->next = header()->first_lane;
    CHECK(read_all(used) < 400 * events);
    header()->first_lane = UINT32_MAX;
    CHECK_EQ_U64(read_all(used), 6);
}

TEST(trace_hostile, rings_of_any_size) {
    static const uint64_t masks[] = {UINT64_MAX, 0,       1,       2,      254,
                                     256,        511,     1023,    0xffff, UINT64_MAX / 2,
                                     1ull << 63, 1 << 20, 0xffffff};
    record();
    struct stint_impl_ring *r = first_ring(), good = *r;
    for (size_t i = 0; i < sizeof masks / sizeof *masks; ++i) {
        for (unsigned h = 0; h < 3; ++h) {
            r->mask = masks[i];
            r->head = h == 0 ? good.head : h == 1 ? UINT64_MAX : masks[i];
            read_all(used);
        }
    }
    *r = good;
    lane_at(header()->first_lane)->ring = (uint32_t)(used / STINT_IMPL_UNIT) - 1;
    read_all(used);
}

TEST(trace_hostile, rings_of_garbage) {
    uint64_t state = 5;
    record();
    struct stint_impl_ring *r = first_ring();
    uint32_t node = (uint32_t)(stint_impl_ring_event(r, 0)->what >> STINT_IMPL_SPAN_BITS);
    for (int round = 0; round < 500; ++round) {
        r->head = round % 2 ? UINT64_MAX : r->mask + 1;
        for (uint64_t i = 0; i <= r->mask; ++i) {
            struct stint_impl_event *e = stint_impl_ring_event(r, i);
            e->at = random_next(&state) >> random_next(&state) % 64;
            e->what = random_next(&state) >> random_next(&state) % 64;
            if (i % 3 == 0) { /* a known node or site, and any time */
                e->what = round % 4 ? (uint64_t)node << STINT_IMPL_SPAN_BITS | e->what >> 26 : 1;
            }
        }
        read_all(used);
    }
}

TEST(trace_hostile, values_that_are_no_numbers) {
    static const double values[] = {NAN, INFINITY, -INFINITY, -0.0, 5e-324};
    uint64_t at = (uint64_t)STINT_IMPL_EVENT_VALUE << STINT_IMPL_EVENT_KIND | FAKE_START;
    record();
    struct stint_impl_ring *r = first_ring();
    r->head = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        ring_add_pair(r, at, 1, bits);
    }
    stint_impl_ring_add(r, at, 1); /* without its payload */
    CHECK_EQ_U64(read_all(used), 9 + 2);
}

/* Ever deeper, and all of them overlapping. */
TEST(trace_hostile, towers) {
    setenv("STINT_TRACE", "4M", 1);
    timed("scope", 1);
    struct stint_impl_ring *r = stint_impl_thread_here->ring;
    uint32_t node = (uint32_t)(stint_impl_ring_event(r, 0)->what >> STINT_IMPL_SPAN_BITS);
    struct traced t;
    for (uint64_t i = 0; i < 5000; ++i) {
        ring_add_span(r, node, FAKE_START + i, 20000 - 2 * i);
    }
    traced_take(&t);
    CHECK_EQ_U64(t.t.event_count, 5001);
    check_events(&t, t.s.size);
    traced_free(&t);
    for (uint64_t i = 0; i < 5000; ++i) {
        ring_add_span(r, node, FAKE_START + i, 20000);
    }
    traced_take(&t);
    check_events(&t, t.s.size);
    CHECK(traced_overwritten(&t) > 4000);
    CHECK_EQ_U64(t.t.event_count + traced_overwritten(&t), 10001);
    traced_free(&t);
}
