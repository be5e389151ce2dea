/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena: sizes, pieces, classes and texts, and what happens when memory is refused. Expected
 * sizes and offsets are exact; losses before the arena opens must be kept.
 */
#include "arena/arena.h"

#include <sys/resource.h>

#include "recorded.h"

#define MIB ((size_t)1 << 20)

static const struct clock_stamp start = {11, 22, 33};

TEST(arena, header_says_what_it_is) {
    CHECK(arena_open(MIB, NULL, &start) == 0);
    const struct arena_header *h = arena_header();
    CHECK(!memcmp(h->magic, "STINTRUN", 8));
    CHECK_EQ_U64(h->abi, ARENA_FORMAT);
    CHECK_EQ_U64(h->header_bytes, sizeof *h);
    CHECK_EQ_U64(h->size, MIB);
    CHECK_EQ_U64(h->pid, (uint64_t)getpid());
    CHECK_EQ_U64(h->parent_pid, (uint64_t)getppid());
    CHECK_EQ_U64(h->start.ticks, 11);
    CHECK_EQ_U64(h->start.real_ns, 33);
    CHECK_EQ_U64(h->used % STINT_IMPL_UNIT, 0);
    CHECK(h->used >= sizeof *h);
    arena_drop(NULL, 0);
    CHECK(arena.base == NULL && arena.size == 0);
    CHECK_EQ_U64(arena_get(64, ARENA_RECORD), 0);
}

TEST(arena, pieces_are_whole_zeroed_lines_in_a_row) {
    CHECK(arena_open(MIB, NULL, &start) == 0);
    uint32_t first = arena_get(1, ARENA_RECORD);
    uint32_t second = arena_get(65, ARENA_RECORD);
    uint32_t third = arena_get(64, ARENA_HISTOGRAM);
    CHECK(first != 0);
    CHECK_EQ_U64(second, first + 1);
    CHECK_EQ_U64(third, second + 2);
    for (int i = 0; i < 256; ++i) {
        CHECK(((char *)arena_at(first))[i] == 0);
    }
}

static uint64_t fill(enum arena_class use) {
    while (arena_get(64, use)) {
    }
    return arena_used();
}

TEST(arena, classes_fill_it_so_far) {
    CHECK(arena_open(MIB, NULL, &start) == 0);
    uint64_t before = arena_used();
    CHECK_EQ_U64(fill(ARENA_TRACE), before);
    CHECK_EQ_U64(fill(ARENA_HISTOGRAM), MIB / 4 * 3);
    CHECK_EQ_U64(fill(ARENA_RECORD), MIB);
    CHECK_EQ_U64(arena_get(1, ARENA_RECORD), 0);
}

/* Each class has its part, whatever the order of requests. */
TEST(arena, traces_have_a_part_of_their_own) {
    CHECK(arena_open(MIB, NULL, &start) == 0);
    arena_give_trace(MIB / 4);
    CHECK_EQ_U64(fill(ARENA_HISTOGRAM), MIB / 16 * 9);
    CHECK_EQ_U64(fill(ARENA_TRACE), MIB / 16 * 13);
    CHECK_EQ_U64(arena_trace_share(), 0);
    CHECK_EQ_U64(fill(ARENA_HISTOGRAM), MIB / 16 * 13);
    CHECK_EQ_U64(fill(ARENA_RECORD), MIB);
    arena_drop(NULL, 0);
    CHECK(arena_open(MIB, NULL, &start) == 0);
    arena_give_trace(2 * MIB);
    CHECK_EQ_U64(arena_trace_share(), MIB / 8);
    CHECK(fill(ARENA_RECORD) <= MIB / 2);
    CHECK_EQ_U64(fill(ARENA_TRACE), MIB);
}

TEST(arena, too_large_a_piece_takes_nothing) {
    CHECK(arena_open(MIB, NULL, &start) == 0);
    uint64_t used = arena_used();
    CHECK_EQ_U64(arena_get(2 * MIB, ARENA_RECORD), 0);
    CHECK_EQ_U64(arena_get(MIB - used + 1, ARENA_RECORD), 0);
    CHECK_EQ_U64(arena_used(), used);
    CHECK(arena_get(MIB - used, ARENA_RECORD) != 0);
}

/* Limits the process to the memory that is mapped now and `more` bytes. */
static void limit_memory(size_t more) {
    struct rlimit r = {harness_mapped() + more, RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_AS, &r) == 0);
}

TEST(arena, smaller_when_memory_is_refused) {
    if (SANITIZED) {
        SKIP("a sanitizer maps terabytes");
    }
    limit_memory(20 * MIB);
    CHECK(arena_open(64 * MIB, NULL, &start) == 0);
    CHECK_EQ_U64(arena.size, 4 * MIB); /* it leaves three quarters to the program */
    CHECK_EQ_U64(arena_header()->size, 4 * MIB);
    void *p = malloc(14 * MIB);
    CHECK(p != NULL);
    free(p);
}

TEST(arena, none_when_all_is_refused) {
    if (SANITIZED) {
        SKIP("a sanitizer maps terabytes");
    }
    limit_memory(MIB / 2);
    errno = 1234;
    CHECK(arena_open(64 * MIB, NULL, &start) == -1);
    CHECK(arena.base == NULL);
    for (int i = 0; i < 10; ++i) {
        REGISTER_TIMER("nowhere"); /* the program goes on */
    }
    stint_stat s;
    CHECK(stint_stat_get("nowhere", &s, sizeof s) == STINT_ERROR_NO_MEMORY);
    CHECK(errno == 1234);
}

TEST(arena, below_the_least_size_there_is_none) {
    CHECK(arena_open(MIB - 1, NULL, &start) == -1);
    CHECK(arena_open(0, NULL, &start) == -1);
}

TEST(arena, texts_are_packed) {
    CHECK(arena_open(MIB, NULL, &start) == 0);
    uint32_t a = arena_text_put("abc", 3);
    uint32_t b = arena_text_put("", 0);
    uint32_t c = arena_text_put("12345678", 8);
    CHECK_EQ_U64(b, a + 1); /* 4 + 3 + 1 bytes are one place of 8 */
    CHECK_EQ_U64(c, b + 1);
    CHECK_STR_EQ(arena_text_at(a)->bytes, "abc");
    CHECK_STR_EQ(arena_text_at(b)->bytes, "");
    CHECK_STR_EQ(arena_text_at(c)->bytes, "12345678");
    CHECK_EQ_U64(arena_text_at(c)->length, 8);
}

TEST(arena, texts_share_a_piece_and_may_be_long) {
    static char text[10000];
    CHECK(arena_open(MIB, NULL, &start) == 0);
    arena_text_put("x", 1);
    uint64_t used = arena_used();
    for (int i = 1; i < 512; ++i) {
        CHECK(arena_text_put("x", 1) != 0);
    }
    CHECK_EQ_U64(arena_used(), used); /* 512 places of 8 in 4096 bytes */
    memset(text, 'y', sizeof text);
    uint32_t t = arena_text_put(text, sizeof text);
    CHECK(t && !memcmp(arena_text_at(t)->bytes, text, sizeof text));
    CHECK(arena_text_at(t)->bytes[sizeof text] == '\0');
}

TEST(arena, texts_use_the_last_bytes) {
    CHECK(arena_open(MIB, NULL, &start) == 0);
    while (arena_get(4096, ARENA_RECORD)) {
    }
    uint64_t left = MIB - arena_used(), texts = 0;
    while (arena_text_put("1234567", 7)) {
        ++texts; /* a line of 64 each, now that a whole piece cannot be had */
    }
    CHECK_EQ_U64(texts, left / 64);
    CHECK_EQ_U64(arena_used(), MIB);
}

TEST(arena, losses_before_it_opens_are_kept) {
    arena_lose(STINT_STATUS_STRAY_END, 3);
    arena_lose(STINT_STATUS_STRAY_END, 4);
    CHECK(arena_open(MIB, NULL, &start) == 0);
    CHECK_EQ_U64(lost(STINT_STATUS_STRAY_END), 7);
    arena_lose(STINT_STATUS_STRAY_END, 1);
    CHECK_EQ_U64(lost(STINT_STATUS_STRAY_END), 8);
    CHECK_EQ_U64(lost_in_all(), 8);
}
/* The pages after the last one that was given out have memory before they are touched. */
TEST(arena, pages_get_memory_in_batches) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), batch = (size_t)64 << 10;
    unsigned char resident = 0;
    void *tried = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(tried != MAP_FAILED);
    int can = !madvise(tried, page, 23) && !mincore(tried, page, &resident) && resident & 1;
    munmap(tried, page);
    if (!can || page > 4096) {
        SKIP("needs MADV_POPULATE_WRITE of Linux 5.14 and pages of 4 KB");
    }
    CHECK(arena_open(4 * MIB, NULL, &start) == 0);
    CHECK(arena_get(batch, ARENA_RECORD) != 0);
    do {
        CHECK(arena_get(1024, ARENA_RECORD) != 0);
    } while (arena_header()->used % batch < 4096 || arena_header()->used % batch > batch / 2);
    char *ahead = arena.base + arena_header()->used / page * page + 4 * page;
    CHECK(!mincore(ahead, page, &resident));
    CHECK(resident & 1);
    char *far = arena.base + 3 * MIB;
    CHECK(mincore(far, page, &resident) || !(resident & 1));
}
