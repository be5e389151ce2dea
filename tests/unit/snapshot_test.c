/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot trusts no byte of what it reads. The test spoils copies of a real arena: truncations,
 * circles, references outside, flipped bytes, garbage. Reading must end, stay inside, and give
 * valid rows.
 */
#include "model/snapshot.h"

#include <pthread.h>

#include "arena_copy.h"
#include "compat/report_legacy.h"
#include "gpu_sums.h"
#include "model/columns.h"
#include "report/report.h"
#include "system/config.h"

static const struct report_about nowhere;
static void *other_thread(void *unused) {
    (void)unused;
    REGISTER_TIMER("thread");
    timed("inner", 5);
    return NULL;
}

static void record(void) {
    pthread_t thread;
    stint_timer h = {{0, 0}};
    REGISTER_TIMER_INFO("open", "info");
    TIMER_BEGIN(h, "handle");
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("outer", -1, stint_set_get("set"));
        fake_advance(3);
        timed("inner", 10);
        timed("second", 20);
    }
    TIMER_END(h);
    stint_scope_begin("outer");
    stint_scope_end("outer");
    stint_sample_add("added", 77);
    gpu_sums_record();
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    copy_arena();
}

static struct arena_thread *thread_at(uint32_t unit) {
    return (struct arena_thread *)at(unit);
}

static struct stint_impl_node *node_at(uint32_t unit) {
    return (struct stint_impl_node *)at(unit);
}

/* The main thread is the oldest. */
static struct arena_thread *main_thread(void) {
    struct arena_thread *t = thread_at(header()->first_thread);
    while (t->next) {
        t = thread_at(t->next);
    }
    return t;
}

static void print_views(struct snapshot *s) {
    for (int view = 0; view < REPORT_VIEWS; ++view) {
        struct text out;
        struct report_options o = {.view = (enum report_view)view,
                                   .sort = report_column_find("total", 5),
                                   .threads = view == 1,
                                   .set = view == REPORT_LEGACY ? 0 : REPORT_ALL_SETS};
        struct report r = {s, &o, &out, &(struct report_cost){.timed = 1000}, &nowhere};
        text_start(&out);
        report_header(&r);
        report_legacy(&(struct report){s, &(struct report_options){.set = 0}, &out, 0, &nowhere});
        CHECK(!(view ? view == 1 ? report_table(&r) : report_tree(&r) : report_legacy(&r)));
        report_footer(&r);
        text_free(&out);
    }
}

/* Reads `size` bytes of the copy and everything a report reads of them; the nodes found. */
static uint32_t read_all(uint64_t size) {
    struct snapshot s;
    struct rows rows;
    if (snapshot_read(&s, copy, size, FAKE_START, &now)) {
        return 0;
    }
    uint32_t count = s.node_count;
    CHECK(!rows_flat(&rows, &s, 1));
    print_views(&s);
    snapshot_free(&s);
    return count;
}

TEST(snapshot, reads_a_copy_like_the_original) {
    struct snapshot s;
    struct rows rows;
    record();
    CHECK(!snapshot_read(&s, copy, used, FAKE_START, &now));
    CHECK_EQ_U64(s.thread_count, 2);
    CHECK_EQ_U64(s.threads[0].open_count, 1);
    CHECK_EQ_U64(s.set_count, 2);
    CHECK_STR_EQ(s.sets[1], "set");
    CHECK(!rows_flat(&rows, &s, 0));
    CHECK_EQ_U64(row_in(&rows, 0, "inner")->calls, 4);
    CHECK_EQ_U64(row_in(&rows, 0, "inner")->total_ns, 35);
    CHECK_EQ_U64(row_in(&rows, 1, "outer")->total_ns, 99);
    CHECK_EQ_U64(row_in(&rows, 1, "outer")->self_ns, 9);
    snapshot_free(&s);
}

/* New records precede older ones in the lists: if they were out of bounds, they would hide them. */
TEST(snapshot, has_room_for_what_is_recorded_meanwhile) {
    struct snapshot s;
    char name[16];
    record();
    CHECK(!snapshot_take(&s));
    for (int i = 0; i < 1000; ++i) {
        snprintf(name, sizeof name, "new %d", i);
        timed(name, 1);
    }
    CHECK(s.size >= arena_header()->used && s.size <= arena.size);
    snapshot_free(&s);
}

TEST(snapshot, no_arena_is_refused) {
    record();
    header()->magic[3] ^= 1;
    CHECK_EQ_U64(read_all(used), 0);
    header()->magic[3] ^= 1;
    header()->abi += 1;
    CHECK_EQ_U64(read_all(used), 0);
    header()->abi -= 1;
    CHECK_EQ_U64(read_all(sizeof(struct arena_header) - 1), 0);
    CHECK_EQ_U64(read_all(0), 0);
    CHECK(read_all(used) > 0);
}

TEST(snapshot, every_truncation) {
    uint64_t step = 37; /* odd sizes too */
    char *whole;
    record();
    whole = copy;
    for (uint64_t size = sizeof(struct arena_header); size <= used; size += step) {
        copy = aligned_alloc(STINT_IMPL_UNIT, (size + 63) / 64 * 64);
        copy = realloc(copy, size);
        if ((uintptr_t)copy % STINT_IMPL_UNIT == 0) {
            memcpy(copy, whole, size);
            read_all(size);
        }
        free(copy);
    }
    copy = whole;
}

TEST(snapshot, text_at_the_very_end) {
    record();
    uint32_t *chunk = (uint32_t *)(void *)(copy + (size_t)header()->set_chunk[0] * STINT_IMPL_UNIT);
    chunk[0] = (uint32_t)(used / 8);
    read_all(used);
    chunk[0] = (uint32_t)(used / 8) - 1;
    memset(copy + used - 8, 0xff, 8); /* a length beyond everything */
    read_all(used);
    memset(copy + used - 8, 0, 4); /* no byte, and no NUL either */
    read_all(used);
    chunk[0] = UINT32_MAX;
    read_all(used);
}

/* The default set's name reaches from `at` to its NUL: whatever cuts it makes it unknown. */
TEST(snapshot, text_cut_anywhere) {
    record();
    uint32_t *chunk = (uint32_t *)(void *)(copy + (size_t)header()->set_chunk[0] * STINT_IMPL_UNIT);
    uint64_t at = (used - 32) / 8 * 8;
    uint32_t length = 5;
    memcpy(copy + at, &length, sizeof length);
    memcpy(copy + at + sizeof length, "hello", 6);
    chunk[0] = (uint32_t)(at / 8);
    for (uint64_t size = at; size <= at + sizeof length + 6; ++size) {
        struct snapshot s;
        CHECK(!snapshot_read(&s, copy, size, FAKE_START, &now));
        CHECK_STR_EQ(s.sets[0], size == at + sizeof length + 6 ? "hello" : "?");
        snapshot_free(&s);
    }
}

TEST(snapshot, counts_too_large) {
    record();
    header()->site_count = UINT32_MAX;
    read_all(used);
    header()->site_count = 0;
    read_all(used);
    header()->set_count = UINT32_MAX;
    read_all(used);
    header()->set_count = 0;
    read_all(used);
    header()->thread_count = UINT32_MAX;
    header()->used = UINT64_MAX;
    read_all(used);
}

/* No node is listed twice, wherever a list leads. */
TEST(snapshot, cycles_end) {
    record();
    uint32_t nodes = read_all(used);
    struct arena_thread *t = main_thread();
    struct stint_impl_node *root = node_at(t->root), *first = node_at(root->child);
    uint32_t child = root->child, sibling = first->sibling, below = first->child;
    first->sibling = child; /* its own */
    CHECK(read_all(used) <= nodes);
    first->sibling = sibling;
    first->child = child; /* its own child */
    CHECK(read_all(used) <= nodes);
    first->child = t->root;
    CHECK(read_all(used) <= nodes);
    first->child = below;
    root->sibling = t->root;
    root->child = t->root;
    CHECK(read_all(used) <= nodes);
    root->child = child;
    t->next = header()->first_thread;
    CHECK(read_all(used) <= nodes);
}

TEST(snapshot, references_outside) {
    static const uint32_t bad[] = {1, UINT32_MAX, UINT32_MAX / 64, 0x04000000};
    record();
    struct arena_thread *t = main_thread();
    struct arena_thread good_thread = *t;
    struct stint_impl_node *n = node_at(node_at(t->root)->child), good = *n;
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; ++i) {
        uint32_t unit = i < 4 ? bad[i] : (uint32_t)(used / STINT_IMPL_UNIT) - 1;
        n->child = unit;
        read_all(used);
        *n = good;
        n->sibling = unit;
        read_all(used);
        *n = good;
        n->histogram = unit;
        n->site = unit;
        n->set = (uint16_t)unit;
        n->kind = (uint16_t)unit;
        n->measures = unit;
        read_all(used);
        *n = good;
        t->root = unit;
        read_all(used);
        *t = good_thread;
        t->frames = unit;
        t->alive = 1;
        read_all(used);
        *t = good_thread;
        t->next = unit;
        read_all(used);
        *t = good_thread;
        header()->site_chunk[0] = unit;
        header()->set_chunk[0] = unit;
        read_all(used);
        memcpy(copy, arena.base, sizeof(struct arena_header));
    }
}

TEST(snapshot, frames_of_nonsense) {
    record();
    struct arena_thread *t = main_thread();
    struct stint_impl_frame *f =
        (struct stint_impl_frame *)(void *)(copy + (size_t)t->frames * STINT_IMPL_UNIT);
    t->alive = 7;
    memset(f, 0xff, STINT_IMPL_FRAMES * sizeof *f);
    read_all(used);
    for (int i = 0; i < STINT_IMPL_FRAMES; ++i) {
        f[i].guard = 2;
        f[i].start = i % 2 ? 0 : UINT64_MAX;
        f[i].node = t->root;
        f[i].recursive = i % 3 ? 0 : 5;
    }
    read_all(used);
}

/* Replaces libc's sched_yield. */
static unsigned yields;

int sched_yield(void) {
    ++yields;
    return 0;
}

TEST(snapshot, an_odd_sequence_is_at_most_one_sample_off) {
    struct snapshot s;
    struct rows rows;
    record();
    struct stint_impl_node *root = node_at(main_thread()->root);
    for (uint32_t unit = root->child; unit; unit = node_at(unit)->sibling) {
        node_at(unit)->seq += 1; /* killed in the middle */
    }
    CHECK(!snapshot_read(&s, copy, used, FAKE_START, &now));
    CHECK(!rows_flat(&rows, &s, 0));
    const struct stint_row *r = row_in(&rows, 0, "added");
    CHECK(r && (r->calls == 1 || r->calls == 2));
    CHECK(row_is_sane(r));
    CHECK_EQ_U64(yields, 0); /* a copy has no writer to wait for */
    snapshot_free(&s);
    CHECK(!snapshot_read_live(&s, copy, used, FAKE_START, &now));
    CHECK(yields > 0);
    snapshot_free(&s);
}

static int line_is_empty(uint64_t at) {
    static const char zero[STINT_IMPL_UNIT];
    return !memcmp(copy + at / STINT_IMPL_UNIT * STINT_IMPL_UNIT, zero, sizeof zero);
}

/* Bytes that hold something are flipped three ways; the zeros beside them once; of lines that hold
 * nothing one in sixteen: most of them are buckets and sites to come. */
static void flip(uint64_t from, uint64_t step) {
    static const unsigned char mask[] = {0xff, 0x01, 0x80};
#if defined(__SANITIZE_THREAD__)
    step *= 16; /* one thread alone: nothing for it to find, and it takes ten times as long */
#elif !defined(__SANITIZE_ADDRESS__)
    step *= 4; /* AddressSanitizer, which has the whole of it, sees what others read and survive */
#endif
    record();
    for (uint64_t i = from; i < used; i += step) {
        char was = copy[i];
        unsigned times = was ? 3 : !line_is_empty(i) || i / STINT_IMPL_UNIT % 16 == 0;
        for (unsigned m = 0; m < times; ++m) {
            copy[i] = (char)(was ^ mask[m]);
            read_all(used);
        }
        copy[i] = was;
    }
}

TEST(snapshot, every_fourth_byte_flipped) {
    flip(0, 4);
}
TEST(snapshot, every_fourth_byte_and_one_flipped) {
    flip(1, 4);
}
TEST(snapshot, every_fourth_byte_and_two_flipped) {
    flip(2, 4);
}
TEST(snapshot, every_fourth_byte_and_three_flipped) {
    flip(3, 4);
}

TEST(snapshot, random_garbage_in_every_record) {
    uint64_t state = 99;
    record();
    char *good = malloc(used);
    memcpy(good, copy, used);
    for (int round = 0; round < 300; ++round) {
        for (int i = 0; i < 200; ++i) {
            uint64_t at = 16 + random_next(&state) % (used - 24);
            uint64_t value = random_next(&state) >> random_next(&state) % 64;
            memcpy(copy + at / 4 * 4, &value, 4);
        }
        read_all(used);
        memcpy(copy, good, used);
    }
    free(good);
}
